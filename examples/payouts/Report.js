// One report: what happened to each line, and what to do about it. What needs a person comes first.
const hasList = $('Check the list').isExecuted;
const page = $('Columns').first().json.page;
const numberField = $('Settings').first().json.paymentNumberField.trim();
const written = $('What became of it').isExecuted ? $('What became of it').all() : [];
const outcomes = new Map(written.map(({ json }) => [json.external_id, json]));

/** What became of a payment, by what the book says of it. */
const BECAME = {
	accepted: 'Accepted',
	unknown: 'Unknown',
	duplicate: 'Sent before',
	rejected: 'Rejected',
	notSent: 'Not sent',
	// What a postback reported.
	paid: 'Reported as paid',
	failed: 'Reported as failed',
	otherAmount: 'Reported with another amount',
	refunded: 'Reported as refunded',
};

/** The parts of the report in their order, each with one piece of advice for all its lines. */
const PARTS = [
	{
		name: 'differs',
		title: 'Not what was sent before',
		advice:
			'Nothing was sent now. If the line is another payment, such as the next month’s, give it ' +
			'an identifier of its own. If the first one was wrong, settle that with whoever got it.',
	},
	{
		name: 'in doubt',
		hasSum: true,
		title: 'In doubt',
		advice:
			'It may have been paid: do not pay it in another way now. Ask the service whether it was, ' +
			'then say so on this page:',
	},
	{
		name: 'ask first',
		hasSum: true,
		title: `${BECAME.rejected}, perhaps paid`,
		advice:
			'It may have been paid all the same. Ask the service whether it has the payment. If it has, ' +
			'say so on this page: each line has a link. If it has not, correct the token in the Pay API ' +
			'credential (or the service’s list of allowed addresses) and upload the list again.',
	},
	{
		name: 'odd',
		hasSum: true,
		title: 'Reported, and not simply as paid',
		advice:
			'Nothing was sent now. Ask the service what became of the payment, then say so on this page: ' +
			'each line has a link.',
	},
	{
		name: 'refused',
		title: 'Not paid',
		advice:
			'Read why. If the service says that it has the payment already, it may be paid: ask it first. ' +
			'Otherwise correct the line and upload the list again. What was accepted is not sent again.',
	},
	{
		name: 'decided',
		title: 'Not paid, as a person decided or the service reported',
		advice: 'To pay it, give the line a new identifier.',
	},
	{
		name: 'no payout',
		title: 'No payout',
		advice: 'Nothing was sent for these lines. If one is a payout, correct it and upload again.',
	},
	{
		name: 'accepted',
		hasSum: true,
		title: 'Accepted now',
		advice: 'The service took them. Its statement says which of them were paid.',
	},
	{
		name: 'before',
		hasSum: true,
		title: 'Sent before, and not again',
		advice: 'Nothing is to be done. A new payment needs an identifier of its own.',
	},
];

const report = hasList ? aboutList() : aboutDecision();
return [{ json: { ...report, page, html: asHtml(report), text: asText(report) } }];

function aboutList() {
	const lines = $('Check the list')
		.all()
		.map(({ json }) => json);
	const [{ problem }] = lines;
	if (problem) return { title: `Nothing was paid. ${problem}`, parts: [] };
	const happened = lines.map((line) => ({ ...line, ...whatHappened(line) }));
	const accepted = happened.filter(({ part }) => part === 'accepted');
	const sum = sumOf(accepted.map(({ external_id }) => outcomes.get(external_id).amount));
	const inDoubt = happened.filter(({ part }) => part === 'in doubt').length;
	const toAsk = happened.filter(({ part }) => part === 'ask first').length;
	const title =
		`${accepted.length} of ${happened.length} ${happened.length === 1 ? 'line' : 'lines'} accepted now: ${sum} in all.` +
		(inDoubt === 0 ? '' : ` ${inDoubt} in doubt.`) +
		(toAsk === 0 ? '' : ` ${toAsk} to ask the service about.`) +
		bookProblem();
	return { title, parts: inParts(happened) };
}

/** Where the book was not written, the next run calls in doubt what this one paid. */
function bookProblem() {
	const failure = failureOf('Write it into the book');
	return failure && ` The book could not be written: keep this report. n8n says: ${failure}`;
}

function failureOf(name) {
	const failed = $(name).isExecuted
		? $(name)
				.all()
				.find(({ json }) => json.error)
		: undefined;
	return failed ? String(failed.json.error.message ?? failed.json.error) : '';
}

/** After a decision, or where there was no list: what is still in doubt. */
function aboutDecision() {
	const { said } = $('Decision').first().json;
	const book = $('What the book says').first().json;
	if (book.problem) return { title: said, parts: [] };
	const now = new Set(
		$('Decision')
			.all()
			.map(({ json }) => json.decision && json.external_id),
	);
	const open = $('What the book says')
		.first()
		.json.payments.filter(
			({ state, external_id }) => ['in doubt', 'odd'].includes(state) && !now.has(external_id),
		);
	const told = open.map(({ external_id, state, row, reports }) => ({
		...row,
		external_id,
		part: state,
		what: whatTheBookKnows(row, reports),
	}));
	const inDoubt = told.filter(({ part }) => part === 'in doubt').length;
	const count = inDoubt === 0 ? 'Nothing is in doubt.' : `${inDoubt} in doubt.`;
	const title = [said, count].filter(Boolean).join(' ');
	return { title, parts: inParts(told) };
}

function inParts(told) {
	return PARTS.map((part) => {
		const lines = told.filter((line) => line.part === part.name);
		// Where an amount is no plain number, and of lines that are no payouts, a sum says nothing.
		const sum = part.hasSum ? sumOf(lines.map(({ plain, amount }) => plain || amount)) : 'NaN';
		return { ...part, lines, count: lines.length + (sum === 'NaN' ? '' : `, ${sum} in all`) };
	}).filter(({ lines }) => lines.length > 0);
}

function whatHappened({ why, lacks, lines, cells, before, external_id }) {
	if (why === 'empty') return { part: 'no payout', what: 'The line is empty.' };
	if (why === 'incomplete') return { part: 'no payout', what: `It has no ${lacks}.` };
	if (why === 'shifted')
		return {
			part: 'refused',
			what:
				`It has ${cells} cells, and the first line has another number. Put an amount with a ` +
				'comma in quotes, or divide the cells by semicolons.',
		};
	if (why === 'total')
		return {
			part: 'no payout',
			what:
				'Its amount is the sum of the lines above: a total? If it is a payout, upload it in a ' +
				'list of its own.',
		};
	if (why === 'repeated')
		return { part: 'no payout', what: `It says the same as line ${lines[0]}, which counts.` };
	if (why === 'lines differ')
		return {
			part: 'refused',
			what: `Lines ${lines.join(' and ')} have this identifier and do not say the same.`,
		};
	if (why === 'recipient is a number')
		return {
			part: 'refused',
			what:
				'The recipient is a number in the sheet, and a sheet drops the zeros at its start. ' +
				'Format the column as text and enter it again.',
		};
	if (before) return whatTheBookSays(why, before);

	const became = outcomes.get(external_id) ?? { outcome: 'unknown' };
	const { outcome, message, advice, lacksNumber, tokenRejected } = became;
	const sentence = [message, advice].filter(Boolean).map(withStop).join(' ');
	if (outcome === 'accepted')
		return {
			part: 'accepted',
			what: lacksNumber ? `Its response has no number of the service in "${numberField}".` : '',
		};
	// A wrong token at the first upload is the most common mistake of all, so it does not block the line.
	if (tokenRejected) return { part: 'ask first', what: sentence };
	if (outcome === 'rejected' || outcome === 'notSent') return { part: 'refused', what: sentence };
	return { part: 'in doubt', what: sentence };
}

function whatTheBookSays(why, { state, row, reports }) {
	const what = whatTheBookKnows(row, reports);
	if (why === 'differs')
		return {
			part: 'differs',
			what: `The book has ${payoutOf(row)} under this identifier. ${what}`,
			doubt: state === 'in doubt' || state === 'odd',
		};
	if (state === 'odd') return { part: 'odd', what };
	if (state === 'in doubt') return { part: 'in doubt', what };
	if (state === 'not paid') return { part: 'decided', what };
	return { part: 'before', what };
}

/** A payment's row and what postbacks reported of it, each as a sentence. */
function whatTheBookKnows(row, reports) {
	const others = reports.filter((report) => report !== row);
	return [row, ...others].map(whatRowSays).filter(Boolean).join(' ');
}

/** A row as a sentence, made from what it says now. */
function whatRowSays({ outcome, decision, source, at, execution }) {
	const day = at
		? ` on ${DateTime.fromISO(at).toFormat('d LLL yyyy')} (execution ${execution})`
		: '';
	const first = outcome ? `${BECAME[outcome] ?? outcome}${day}.` : '';
	if (!decision) return first;
	const isDecision = /^it was (not )?paid$/i.test(decision.trim());
	const second = isDecision ? `${decision.trim()} (${source}).` : `"${decision}" is no decision.`;
	return [first, second].filter(Boolean).join(' ');
}

function payoutOf({ amount, recipient }) {
	return `${money(amount)} to ${recipient}`;
}

function linkFor({ external_id }) {
	return `${page}?${encodeURIComponent('Payment in doubt')}=${encodeURIComponent(external_id)}`;
}

function nameOf(line) {
	const number = line.line === undefined ? '' : `Line ${line.line}: `;
	if (line.why === 'empty') return number;
	const amount = isBlank(line.amount) ? '' : `, ${money(line.amount)}`;
	const recipient = isBlank(line.recipient) ? '' : ` to ${line.recipient}`;
	return `${number}${line.external_id || '(no identifier)'}${amount}${recipient}. `;
}

function asText({ title, parts }) {
	const blocks = parts.map(({ name, title: heading, advice, lines, count }) => {
		const head = `${heading}: ${count}. ${advice}`;
		const rows = lines.map((line) => {
			const link = page && needsPage(line) ? ` ${linkFor(line)}` : '';
			return `- ${nameOf(line)}${line.what}${link}`.trim();
		});
		return [name === 'in doubt' ? `${head} ${page}` : head, ...rows].join('\n');
	});
	return [title, ...blocks].join('\n\n');
}

/** The form shows this in its own place. Whatever comes from the list or the service is escaped. */
function asHtml({ title, parts }) {
	const blocks = parts.map(({ name, title: heading, advice, lines, count }) => {
		const rows = lines.map((line) => {
			const link = needsPage(line) ? ` <a href="${escaped(linkFor(line))}">Decide</a>` : '';
			return `<li>${escaped(nameOf(line) + line.what)}${link}</li>`;
		});
		const address = name === 'in doubt' ? ` <a href="${escaped(page)}">${escaped(page)}</a>` : '';
		return `<h2>${escaped(heading)}: ${count}</h2><p>${escaped(advice)}${address}</p><ul>${rows.join('')}</ul>`;
	});
	const style =
		'<style>main { font: 16px/1.5 system-ui, sans-serif; color: #222; max-width: 46rem; ' +
		'margin: 2rem auto; padding: 0 1.5rem } h1 { font-size: 1.4rem } h2 { font-size: 1.1rem; ' +
		'margin: 1.5rem 0 0 } li { margin: 0.4rem 0 } main > p { margin: 0.4rem 0 }</style>';
	const back = `<p><a href="${escaped(page)}">Back to the form</a></p>`;
	return `${style}<main><h1>${escaped(title)}</h1>${blocks.join('')}${back}</main>`;
}

function needsPage({ part, doubt }) {
	return ['in doubt', 'odd', 'ask first'].includes(part) || doubt === true;
}

function sumOf(amounts) {
	const sum = amounts.reduce((total, each) => total + Number(each), 0);
	return money(Math.round(sum * 1e6) / 1e6);
}

/** 10.5 reads 10.50. A text that is no plain number stays as it was typed. */
function money(amount) {
	const isPlain = /^\d+(\.\d?)?$/.test(String(amount));
	return isPlain ? Number(amount).toFixed(2) : String(amount);
}

function withStop(sentence) {
	return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}

function isBlank(value) {
	return String(value ?? '').trim() === '';
}

function escaped(text) {
	return String(text)
		.replaceAll('&', '&amp;')
		.replaceAll('<', '&lt;')
		.replaceAll('>', '&gt;')
		.replaceAll('"', '&quot;');
}
