// The rows that a person's answer is written into. Where there is nothing to write, "said" says why.
const form = $('Payouts').first().json;
const { payments, problem } = $('What the book says').first().json;
const external_id = String(form['Payment in doubt'] ?? '')
	.trim()
	.normalize('NFC');
const decision = form['Was it paid?'] ?? '';
const source = String(form['How do you know?'] ?? '').trim();
const payment = payments.find((each) => each.external_id === external_id);

if (problem) return say(problem);
if (external_id === '' && decision === '' && source === '') return say('');
if (!payment) return say(`Nothing was written down: the book has no payment "${external_id}".`);
if (!['It was paid', 'It was not paid'].includes(decision) || source === '')
	return say('Nothing was written down. Choose whether it was paid, and say how you know.');
if (payment.state === 'paid')
	return say(
		`Nothing was written down. "${external_id}": it was paid (${payment.row.source || 'the service reported it'}).`,
	);
if (payment.state === 'accepted')
	return say(`Nothing was written down: "${external_id}" was accepted and is not in doubt.`);
// "It was paid" is written down about these too: the service may have said no to what it had paid.
if (payment.state === 'free' && decision === 'It was not paid')
	return say(
		`Nothing was written down: "${external_id}" was not accepted, so it is sent when the list is ` +
			'uploaded again. If it is not to be paid, take its line out of the list.',
	);
if (payment.state === 'not paid' && decision === 'It was not paid')
	return say(`Nothing was written down: that is what the book says of "${external_id}".`);

// Where no row is in doubt, "It was paid" gets a row of its own: no row is 0.
const rows = payment.open.length > 0 ? payment.open : [{ ...payment.row, id: 0 }];
return rows.map((row) => ({
	json: {
		id: row.id,
		external_id,
		amount: row.amount ?? '',
		recipient: row.recipient ?? '',
		execution: String(row.execution ?? ''),
		decision,
		source,
		said: `Written down about "${external_id}": ${decision}.`,
	},
}));

function say(said) {
	return [{ json: { said } }];
}
