// What the rows of each identifier say together. The book keeps facts: rows are added, and none is
// replaced. Whoever reads this makes the sentence from the rows as they are now.
const items = $input.all().map(({ json }) => json);
const rows = items.filter((row) => row.external_id && row.error === undefined);

const byIdentifier = new Map();
for (const row of rows)
	byIdentifier.set(row.external_id, [...(byIdentifier.get(row.external_id) ?? []), row]);

const payments = [...byIdentifier].map(([external_id, found]) => ({
	external_id,
	...whatCounts(found),
	open: found.filter(isInDoubt),
}));
const failed = items.find((item) => item.error !== undefined);
return [{ json: { payments, problem: failed ? sentence(failed.error) : '' } }];

/** The strongest row first: that money was sent is never outvoted, whichever row says so. */
function whatCounts(found) {
	const paid = found.find((row) => decisionOf(row) === 'It was paid');
	if (paid) return { state: 'paid', row: paid };
	const accepted = found.find((row) => row.outcome === 'accepted' && !decisionOf(row));
	if (accepted) return { state: 'accepted', row: accepted };
	// A row of "unknown" has what was sent. One of "duplicate" has what the list said later.
	const inDoubt = found.find((row) => isInDoubt(row) && row.outcome === 'unknown');
	if (inDoubt) return { state: 'in doubt', row: inDoubt };
	const duplicate = found.find(isInDoubt);
	if (duplicate) return { state: 'in doubt', row: duplicate };
	const notPaid = found.find((row) => decisionOf(row) === 'It was not paid');
	if (notPaid) return { state: 'not paid', row: notPaid };
	return { state: 'free', row: found.at(-1) };
}

function isInDoubt(row) {
	return ['unknown', 'duplicate'].includes(row.outcome) && !decisionOf(row);
}

/** Other words, typed by hand into the table, are no decision. */
function decisionOf(row) {
	const words = String(row.decision ?? '')
		.trim()
		.toLowerCase();
	return ['It was paid', 'It was not paid'].find((each) => each.toLowerCase() === words);
}

function sentence(error) {
	const message = String(error.message ?? error);
	// n8n's words, which name all that are missing. A table without identifiers is another one.
	const [, missing = ''] = /Column\(s\) "([^"]+)" do not exist/.exec(message) ?? [];
	if (missing !== '' && !missing.split(', ').includes('external_id'))
		return (
			'The book was made before it had all of its columns. Open it under Data tables and add, ' +
			`with the type String: ${missing}. Its rows stay as they are. Then do this again.`
		);
	return (
		'The book could not be opened. On n8n 1, make a data table from the file ' +
		'book-of-payouts.csv. Then open this workflow and choose the table in the node Open the book, ' +
		'above the right end of the note "The book". On n8n 2, the data table ' +
		`"Book of payouts" must have the columns of that file. n8n says: ${message}`
	);
}
