import { exampleNames } from '../dev/examples';
import { example } from '../dev/demo';
import { STATES } from '../nodes/Pay/service/state';

/*
 * Every state that a postback can have, and one that nobody knows yet, through the expressions of the examples:
 * goods are sent for "paid" alone, and what an example does not know is for a person.
 */

const KNOWN: Array<{ state: string; hasMoneyMoved: boolean }> = [...STATES];
const ALL = [...KNOWN, { state: 'disputed', hasMoneyMoved: true }];

interface Condition {
	leftValue: string;
	rightValue: string;
	operator: { operation: string };
}

/** What an expression gives of an item. */
function evaluate(expression: string, json: object): unknown {
	const code = expression.replace(/^=\{\{/, '').replace(/\}\}$/, '');
	return new Function('$json', `return (${code})`)(json);
}

function parametersOf(name: string, node: string): Record<string, unknown> {
	const found = example(name).nodes.find((each) => each.name === node);
	return found?.parameters as Record<string, unknown>;
}

/** Whether a condition of an IF or Switch node holds; upper and lower case do not count in these examples. */
function holds({ leftValue, rightValue, operator }: Condition, json: object): boolean {
	const left = evaluate(leftValue, json);
	if (operator.operation === 'notExists') return left === undefined || left === null;
	if (operator.operation === 'true') return left === true;
	return String(left).toLowerCase() === rightValue.toLowerCase();
}

/** Whether an example goes on as paid with an item, by its node "Is it paid?". */
function isPaid(name: string, json: object): boolean {
	const { conditions } = parametersOf(name, 'Is it paid?') as {
		conditions: { conditions: Condition[] };
	};
	return conditions.conditions.every((condition) => holds(condition, json));
}

/** Where postbacks-without-repeats goes with a postback of a charge. */
function endOfPostback(postback: object): string {
	const { assignments } = parametersOf('postbacks-without-repeats', 'The order') as {
		assignments: { assignments: Array<{ name: string; value: string }> };
	};
	const item: Record<string, unknown> = { ...postback };
	for (const { name, value } of assignments.assignments) item[name] = evaluate(value, postback);
	const passes = (node: string) => {
		const { conditions } = parametersOf('postbacks-without-repeats', node) as {
			conditions: { conditions: Condition[] };
		};
		return conditions.conditions.every((condition) => holds(condition, item));
	};
	if (passes('A paid charge?')) return 'credited';
	return passes('Must a person look?') ? 'a person' : 'nobody';
}

const REFERENCE = { external_id: 'order-1', kind: 'qrCode', amount: 49.9 };

test.each(ALL)('get-paid and checkout, $state: goods are sent for "paid" alone', ({ state }) => {
	expect(isPaid('get-paid', { postback: { state } })).toBe(state === 'paid');
	expect(isPaid('checkout', { state })).toBe(state === 'paid');
});

test('nor are goods sent where no postback came', () => {
	expect(isPaid('get-paid', {})).toBe(false);
	expect(isPaid('checkout', { state: 'over' })).toBe(false);
});

test.each(ALL)('postbacks-without-repeats, $state: a person hears what is no step', ({ state }) => {
	const own: Record<string, string> = { paid: 'credited', other: 'nobody' };
	expect(endOfPostback({ state, reference: REFERENCE, body: {} })).toBe(own[state] ?? 'a person');
	// What became of a payment is a matter of another workflow.
	const payment = { ...REFERENCE, kind: 'payment' };
	expect(endOfPostback({ state, reference: payment, body: {} })).toBe('nobody');
});

test.each([
	{ body: { status: 'PAID' }, end: 'credited' },
	{ body: { status: 'paid', amount: 0.01 }, end: 'a person' },
	{ body: { status: 'Refunded' }, end: 'a person' },
	{ body: { status: 'waiting' }, end: 'nobody' },
	{ body: {}, end: 'nobody' },
])(
	'postbacks-without-repeats, before the credential has words: $body goes to $end',
	({ body, end }) => {
		expect(endOfPostback({ reference: REFERENCE, body })).toBe(end);
	},
);

test('no other example names a state', () => {
	const names = exampleNames().filter((name) => /otherAmount/i.test(JSON.stringify(example(name))));
	expect(names.sort()).toStrictEqual(['postbacks-without-repeats']);
});
