// What the rows of each identifier say together. The book keeps facts: rows are added, and none is
// replaced. Whoever reads this makes the sentence from the rows as they are now.
const items = $input.all().map(({ json }) => json);
const rows = items.filter((row) => row.external_id && row.error === undefined);

const byIdentifier = new Map();
for (const row of rows)
	byIdentifier.set(row.external_id, [...(byIdentifier.get(row.external_id) ?? []), row]);

const payments = [...byIdentifier].map(([external_id, found]) => {
	const reports = found.filter(isReport);
	const sent = found.filter((row) => !isReport(row));
	return { external_id, reports, open: [], ...whatCounts(sent, reports) };
});
const failed = items.find((item) => item.error !== undefined);
return [{ json: { payments, problem: failed ? sentence(failed.error) : '' } }];

/** A row that a postback wrote. It may come before the row of its payment, and in any order. */
function isReport({ outcome }) {
	const isOfPay = ['accepted', 'rejected', 'duplicate', 'notSent', 'unknown'].includes(outcome);
	return Boolean(outcome) && !isOfPay;
}

/** The strongest first: that money was sent is never outvoted, whichever row says so. */
function whatCounts(sent, reports) {
	const decided = [...sent, ...reports].filter(decisionOf);
	const paid = decided.find((row) => decisionOf(row) === 'It was paid');
	if (paid) return { state: 'paid', row: paid };

	const known = whatWasSent(sent) ?? { state: 'not known', row: reports[0] };
	const reported = new Set(reports.map(({ outcome }) => outcome));
	// A word that nobody knows here is for a person, as another amount and a refund are.
	const isOdd = reports.some(({ outcome }) => !['paid', 'failed', 'other'].includes(outcome));
	if (isOdd || (reported.has('paid') && reported.has('failed'))) {
		const isNotPaid = decided.length > 0;
		return { state: isNotPaid ? 'not paid' : 'odd', row: decided[0] ?? known.row };
	}
	if (reported.has('paid')) return { state: 'paid', row: known.row };
	if (!reported.has('failed') || known.state === 'not paid') return known;
	// It may be about the try that was rejected.
	const wasRejected = sent.some(({ outcome }) => outcome === 'rejected');
	if (!wasRejected) return { state: 'not paid', row: known.row };
	if (known.state !== 'accepted') return known;
	return { state: 'in doubt', row: known.row, open: [known.row] };
}

/** What the rows of the lists say, and a person's decisions; undefined where there are none. */
function whatWasSent(sent) {
	const open = sent.filter(isInDoubt);
	const accepted = sent.find((row) => row.outcome === 'accepted' && !decisionOf(row));
	if (accepted) return { state: 'accepted', row: accepted, open };
	// A row of "unknown" has what was sent. One of "duplicate" has what the list said later.
	const inDoubt = open.find(({ outcome }) => outcome === 'unknown') ?? open[0];
	if (inDoubt) return { state: 'in doubt', row: inDoubt, open };
	const notPaid = sent.find((row) => decisionOf(row) === 'It was not paid');
	if (notPaid) return { state: 'not paid', row: notPaid };
	return sent.length === 0 ? undefined : { state: 'free', row: sent.at(-1) };
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
