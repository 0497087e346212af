import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { example } from '../../dev/demo';

/* Three nodes of three workflows read the service's own number: n8n has no place that workflows share. */

interface Given {
	/** What Settings name. */
	field: string;
	/** What Pay gave. */
	pay: object;
}

/** n8n's `$`, for a node that follows Pay and Settings. */
function earlierNodes({ field }: Given) {
	return (name: string) => {
		const json = name === 'Settings' ? { paymentNumberField: field } : {};
		return { item: { json }, first: () => ({ json }), all: () => [{ json }] };
	};
}

/** The number that the node "Write what became of it" of a workflow gives the register. */
function numberOfRegister(workflow: string, given: Given): unknown {
	const write = example(workflow).nodes.find(({ name }) => name === 'Write what became of it')!;
	const { options } = write.parameters as { options: { queryReplacement: string } };
	const [, expression = ''] = /^=\{\{ (.*) \}\}$/s.exec(options.queryReplacement) ?? [];
	const evaluate = new Function('$', '$json', '$execution', `return ${expression}`) as (
		...values: unknown[]
	) => unknown[];
	return evaluate(earlierNodes(given), given.pay, { id: '1' })[6];
}

/** The number that "What became of it" of the example "payouts" gives the book. */
function numberOfBook(given: Given): unknown {
	const path = join(__dirname, '..', '..', 'examples', 'payouts', 'What became of it.js');
	const node = new Function('$', '$input', '$now', '$execution', readFileSync(path, 'utf8')) as (
		...values: unknown[]
	) => Array<{ json: { number: unknown } }>;
	const input = { all: () => [{ json: given.pay }] };
	const now = { toISO: () => 'now' };
	return node(earlierNodes(given), input, now, { id: '1' })[0]!.json.number;
}

const response = {
	text: ' tx-17 ',
	digits: '12345678901234567890',
	whole: 17,
	zero: 0,
	negative: -17,
	half: 17.5,
	// n8n and JSON round it.
	rounded: 2 ** 53,
	yes: true,
	nothing: null,
	empty: '  ',
	line: 'a\nb',
	hidden: 'a\u200bb',
	long: 'x'.repeat(200),
	tooLong: 'x'.repeat(201),
	object: { id: 'inner' },
	list: [{ id: 'first' }],
};

test.each<[field: string, number: string]>([
	['text', 'tx-17'],
	[' text ', 'tx-17'],
	['digits', '12345678901234567890'],
	['whole', '17'],
	['zero', '0'],
	['negative', '-17'],
	['object.id', 'inner'],
	['list.0.id', 'first'],
	['long', response.long],
	['half', ''],
	['rounded', ''],
	['yes', ''],
	['nothing', ''],
	['nothing.id', ''],
	['empty', ''],
	['line', ''],
	['hidden', ''],
	['tooLong', ''],
	['object', ''],
	['list', ''],
	['missing.id', ''],
	['', ''],
])(
	'the field "%s" is the number "%s" for the register, for "Pay once" and for the book',
	(field, number) => {
		for (const pay of [
			{ outcome: 'accepted', response },
			{ error: { outcome: 'unknown', response } },
		]) {
			const given = { field, pay };
			expect([
				numberOfRegister('payout-register', given),
				numberOfRegister('pay-once', given),
				numberOfBook(given),
			]).toStrictEqual([number, number, number]);
		}
		const without = { field, pay: { error: { outcome: 'notSent' } } };
		expect(numberOfRegister('payout-register', without)).toBe('');
		expect(numberOfRegister('pay-once', without)).toBe('');
		expect(numberOfBook(without)).toBe('');
	},
);
