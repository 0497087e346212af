// Each line must plainly be a payment. One that is not stops the whole list.
const hasComma = $('Payouts').first().json['Amounts are written as'] === '10,50';
const plainAmount = hasComma ? /^\d+(,\d{1,2})?$/ : /^\d+(\.\d{1,2})?$/;
const columns = ['external_id', 'key', 'amount'];
const stop = (problem) => [{ json: { problem } }];

const rows = $input.all().map(({ json }) => json);
if (rows[0].error) return stop(`The file could not be read as CSV: ${rows[0].error}`);
const missing = columns.filter((name) => !Object.hasOwn(rows[0], name));
if (missing.length > 0) {
	return stop(
		`No line was found, or no column ${missing.join(', ')}. The first line must name the columns, separated as you chose.`,
	);
}

const lines = [];
const lineOf = new Map();
let hundredths = 0n;
for (const [index, row] of rows.entries()) {
	// The first line names the columns. Empty lines do not count.
	const number = index + 2;
	const [external_id, key, amount] = columns.map((name) => row[name].trim());
	const text = [external_id, key, amount].join(', ');
	if (external_id === '' || key === '')
		return stop(`Line ${number} lacks an identifier or a key: ${text}`);
	if (text.includes('\uFFFD'))
		return stop(`Line ${number} is not in UTF-8. Save the list as "CSV UTF-8".`);
	if (lineOf.has(external_id))
		return stop(
			`Lines ${lineOf.get(external_id)} and ${number} have the same identifier: ${external_id}`,
		);
	if (!plainAmount.test(amount) || /^[0.,]+$/.test(amount))
		return stop(`Line ${number} has an amount that is not a plain number: "${amount}"`);
	lineOf.set(external_id, number);
	const sent = amount.replace(',', '.');
	const [whole, fraction = ''] = sent.split('.');
	hundredths += BigInt(whole + fraction.padEnd(2, '0'));
	lines.push({ external_id, key, amount: sent });
}
const sum = String(hundredths).padStart(3, '0').replace(/..$/, '.$&');
return [{ json: { problem: '', count: lines.length, sum, lines } }];
