// Decides for each line whether it goes to Pay. "why" is empty where it does; else it says what
// keeps it back, and Report has the sentence for it.
const [first, ...more] = $('Lines')
	.all()
	.map(({ json }) => json);
const { payments, problem } = $('What the book says').first().json;
if (first.problem || problem)
	return [{ json: { problem: first.problem || problem, isAnythingToPay: false } }];

const { decimalSign = 'point' } = $('Pay').params.options ?? {};

// "plain" is the amount as the book keeps it; empty where it is no amount.
const lines = [first, ...more].map((line) => ({ ...line, plain: plainAmount(line.amount) }));
const byIdentifier = new Map();
for (const line of lines) {
	if (!byIdentifier.has(line.external_id)) byIdentifier.set(line.external_id, []);
	byIdentifier.get(line.external_id).push(line);
}
const lastWithAmount = lines.findLast(({ amount }) => !isBlank(amount));
const inTheBook = new Map(payments.map((payment) => [payment.external_id, payment]));
const verdicts = lines.map(verdict);
const isAnythingToPay = verdicts.some(({ why }) => why === '');
return lines.map((line, index) => ({ json: { ...line, ...verdicts[index], isAnythingToPay } }));

function verdict(line, index) {
	if (line.isEmpty) return { why: 'empty' };
	for (const [name, value] of [
		['identifier', line.external_id],
		['amount', line.amount],
		['recipient', line.recipient],
	])
		if (isBlank(value)) return { why: 'incomplete', lacks: name };
	if (line.isShifted) return { why: 'shifted' };
	if (line.recipientIsNumber) return { why: 'recipient is a number' };

	// The same identifier twice: once where the lines say the same, not at all where they differ.
	const same = byIdentifier.get(line.external_id);
	if (same.some((other) => !isAlike(other, line)))
		return { why: 'lines differ', lines: same.map((other) => other.line) };
	if (same[0] !== line) return { why: 'repeated', lines: [same[0].line] };

	if (isTotal(line, index)) return { why: 'total' };

	const before = inTheBook.get(line.external_id);
	if (before === undefined || before.state === 'free') return { why: '' };
	// The book may lack what a row was about, as one of a postback does: then there is nothing to compare.
	const isKnown = !isBlank(before.row.amount) && !isBlank(before.row.recipient);
	const differs = isKnown && !isAlike(asLine(before.row), line);
	return { why: differs && before.state !== 'not paid' ? 'differs' : 'in the book', before };
}

/** A last line whose amount is the sum of those above it is more likely their total. */
function isTotal(line, index) {
	if (line !== lastWithAmount) return false;
	const above = lines.slice(0, index).filter(({ external_id }) => !isBlank(external_id));
	const sum = above.reduce((total, { plain }) => total + numberOf(plain), 0);
	return above.length > 1 && Math.abs(sum - numberOf(line.plain)) < 1e-6;
}

/** A row of the book beside the lines: its amount is plain already, or as it was typed. */
function asLine({ amount, recipient }) {
	return { amount, recipient, plain: isPlain(String(amount)) ? String(amount) : '' };
}

function isAlike(one, other) {
	const isTyped = String(one.amount).trim() === String(other.amount).trim();
	const isSameAmount =
		one.plain === '' || other.plain === ''
			? isTyped
			: numberOf(one.plain) === numberOf(other.plain);
	return isSameAmount && one.recipient === other.recipient;
}

/** An amount as Pay reads it, with a point; empty where it is none. Pay is given what was typed. */
function plainAmount(amount) {
	if (typeof amount === 'number') return String(amount);
	const text = String(amount).trim();
	if (decimalSign === 'point') return isPlain(text) ? text : '';
	const isAmount = /^(\d+|\d{1,3}(\.\d{3})+)(,\d+)?$/.test(text);
	return isAmount ? text.replaceAll('.', '').replace(',', '.') : '';
}

function isPlain(text) {
	return /^\d+(\.\d+)?$/.test(text);
}

function numberOf(plain) {
	return plain === '' ? NaN : Number(plain);
}

function isBlank(value) {
	return String(value ?? '').trim() === '';
}
