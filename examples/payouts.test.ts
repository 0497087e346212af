import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const CODE = readFileSync(join(__dirname, 'payouts/Check each line.js'), 'utf8');

interface Checked {
	problem: string;
	count?: number;
	sum?: string;
	lines?: object[];
}

/** What the node makes of the lines that n8n has read from a file. */
function check(rows: object[], amounts = '10.50'): Checked {
	const json = { 'Amounts are written as': amounts };
	const $ = () => ({ first: () => ({ json }) });
	const $input = { all: () => rows.map((row) => ({ json: row })) };
	// eslint-disable-next-line @typescript-eslint/no-implied-eval
	const run = new Function('$', '$input', CODE) as (
		...values: unknown[]
	) => Array<{ json: Checked }>;
	return run($, $input)[0]!.json;
}
const line = (amount: string, external_id = 'a', key = 'k') => ({ external_id, key, amount });

test('the sum is that of the very texts that are sent', () => {
	const rows = [line('0.10', 'a'), line(' 0.2 ', 'b'), line('9007199254740993', 'c')];
	expect(check(rows)).toStrictEqual({
		problem: '',
		count: 3,
		sum: '9007199254740993.30',
		lines: [
			{ external_id: 'a', key: 'k', amount: '0.10' },
			{ external_id: 'b', key: 'k', amount: '0.2' },
			{ external_id: 'c', key: 'k', amount: '9007199254740993' },
		],
	});
	expect(check([line('0,05')], '10,50')).toMatchObject({
		sum: '0.05',
		lines: [{ amount: '0.05' }],
	});
});

test.each([
	['10.50', '10,50'],
	['10.50', '1,000.50'],
	['10.50', '1.000'],
	['10.50', '1e3'],
	['10.50', '-5'],
	['10.50', '0'],
	['10.50', '0.00'],
	['10.50', ''],
	['10.50', 'R$ 5'],
	['10,50', '10.50'],
	['10,50', '1.234,50'],
	['10,50', '1.234'],
])('where amounts are written as %s, "%s" is not plainly one', (amounts, amount) => {
	expect(check([line('1'), line(amount, 'b')], amounts)).toStrictEqual({
		problem: `Line 3 has an amount that is not a plain number: "${amount}"`,
	});
});

test.each([
	{ rows: [{}], says: 'no column external_id, key, amount' },
	{ rows: [{ error: 'Not CSV' }], says: 'could not be read as CSV: Not CSV' },
	{ rows: [line('1', '')], says: 'Line 2 lacks an identifier or a key' },
	{ rows: [line('1', 'a', ' ')], says: 'Line 2 lacks an identifier or a key' },
	{
		rows: [line('1'), line('2', 'b'), line('1')],
		says: 'Lines 2 and 4 have the same identifier: a',
	},
	{ rows: [line('1', 'a', 'J\uFFFDo')], says: 'not in UTF-8' },
])('a list is stopped: $says', ({ rows, says }) => {
	const checked = check(rows);
	expect(checked.problem).toContain(says);
	expect(checked.lines).toBeUndefined();
});
