// Decides for each line whether it goes to Pay. "why" is empty where it does; else it says what
// keeps it back, and Report has the sentence for it.
const [first, ...more] = $('Lines')
	.all()
	.map(({ json }) => json);
const { payments, problem } = $('What the book says').first().json;
if (first.problem || problem)
	return [{ json: { problem: first.problem || problem, isAnythingToPay: false } }];

const lines = [first, ...more];
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
	const same = lines.filter(({ external_id }) => external_id === line.external_id);
	if (same.some((other) => !isAlike(other, line)))
		return { why: 'lines differ', lines: same.map((other) => other.line) };
	if (same[0] !== line) return { why: 'repeated', lines: [same[0].line] };

	if (isTotal(line, index)) return { why: 'total' };

	const before = inTheBook.get(line.external_id);
	if (before === undefined || before.state === 'free') return { why: '' };
	// The book may lack what a row was about: then there is nothing to compare.
	const differs = !isBlank(before.row.amount) && !isAlike(before.row, line);
	return { why: differs && before.state !== 'not paid' ? 'differs' : 'in the book', before };
}

/** A last line whose amount is the sum of those above it is more likely their total. */
function isTotal(line, index) {
	const above = lines.slice(0, index).filter(({ external_id }) => !isBlank(external_id));
	const isLast = lines.slice(index + 1).every(({ amount }) => isBlank(amount));
	const sum = above.reduce((total, { amount }) => total + numberOf(amount), 0);
	return isLast && above.length > 1 && Math.abs(sum - numberOf(line.amount)) < 1e-6;
}

function isAlike(one, other) {
	const isSameAmount =
		String(one.amount).trim() === String(other.amount).trim() ||
		numberOf(one.amount) === numberOf(other.amount);
	return isSameAmount && one.recipient === other.recipient;
}

/** An amount as Pay reads it, to compare with another. What Pay is given stays as it was typed. */
function numberOf(amount) {
	if (typeof amount === 'number') return amount;
	const hasComma = $('Pay').params.options?.decimalSign === 'comma';
	const text = hasComma ? amount.replaceAll('.', '').replace(',', '.') : amount;
	return text.trim() === '' ? NaN : Number(text);
}

function isBlank(value) {
	return String(value ?? '').trim() === '';
}
