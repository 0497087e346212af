import type { IDataObject, IRun } from 'n8n-workflow';
import {
	arrived,
	CHARGE,
	CONTINUE,
	errorOf,
	faultOnce,
	FIELDS as ITEM,
	pay as payItems,
	payNode,
	resultsOf,
	RETRY,
	sandbox,
	sourceNode,
	to,
	withSandbox,
	type RunOptions,
} from './engine';

withSandbox();

const FIELDS = {
	...ITEM,
	creditParty: { key: '={{ $json.key ?? "ana" }}', keyType: '={{ $json.keyType ?? "" }}' },
};
const limited = (limits: IDataObject): IDataObject => ({
	limitPayments: true,
	highestPayment: '',
	highestSum: '',
	onlyRecipients: '',
	...limits,
});
/** Items with these amounts and the ids a, b, c … */
const amounts = (...list: unknown[]) =>
	list.map((amount, index): IDataObject => ({ id: 'abcdef'[index], amount: amount as number }));
const pay = async (limits: IDataObject, items: IDataObject[], more: Partial<RunOptions> = {}) =>
	await payItems(items, { credential: limited(limits), parameters: FIELDS, ...more });
const outcomesWithFields = (run: IRun, node = 'Pay', round = 0) =>
	resultsOf(run, node, round).map(({ outcome, field }) =>
		field === undefined ? outcome : `${String(outcome)}: ${String(field)}`,
	);
// What each limit refuses: test/run/limits.test.ts. How one is read: test/account/limits.test.ts.
test.each<{ name: string; limits: IDataObject; items: IDataObject[]; fields: string[] }>([
	{
		name: 'an amount above the highest payment',
		limits: { highestPayment: '10.50' },
		items: amounts('10.51'),
		fields: ['amount'],
	},
	{
		name: 'a list above the sum, whole, by the last decimal',
		limits: { highestSum: '3' },
		items: amounts(3, '0.0001'),
		fields: Array(2).fill('amount'),
	},
])('$name is neither sent nor recorded', async ({ limits, items, fields }) => {
	const run = await pay(limits, items, { settings: CONTINUE });
	expect(outcomesWithFields(run)).toStrictEqual(fields.map((field) => `notSent: ${field}`));
	expect(arrived()).toStrictEqual([]);
	// With the limits gone the same ids go out: nothing remembers them.
	const again = await pay({ limitPayments: false }, amounts(...items.map(() => 1)));
	expect(outcomesWithFields(again)).toStrictEqual(items.map(() => 'accepted'));
});

test.each<{ name: string; limits: IDataObject; items: IDataObject[] }>([
	{
		name: 'what is within all limits',
		limits: { highestPayment: '10.50', highestSum: '0.3', onlyRecipients: 'bob\r\n\r\n ana \r\n' },
		items: amounts(0.1, 0.2),
	},
	{
		name: 'what is above limits that are off',
		limits: { limitPayments: false, highestSum: '1,5' },
		items: amounts(9, 9),
	},
])('$name is sent', async ({ limits, items }) => {
	const run = await pay(limits, items);
	expect(outcomesWithFields(run)).toStrictEqual(items.map(() => 'accepted'));
});

test.each([
	['that an expression gives', '={{ $json.more }}', ['notSent: additionalMembers']],
	['inside the recipient', '{ "creditParty": { "account": "0" } }', ['notSent: additionalMembers']],
	['that a person typed', '{ "clabe": "0", "contactName": "Ana" }', ['accepted']],
])(
	'where only some recipients may be paid, additional members %s, %s, come to %j',
	async (_, additionalMembers, expected) => {
		const parameters = { ...FIELDS, options: { additionalMembers } };
		const items = [{ id: 'a', amount: 1, more: '{ "clabe": "0" }' }];
		const run = await pay({ onlyRecipients: 'ana' }, items, { parameters, settings: CONTINUE });
		expect(outcomesWithFields(run)).toStrictEqual(expected);
		expect(arrived()).toHaveLength(expected.includes('accepted') ? 1 : 0);
	},
);

test.each([
	{ taxId: '123.456', expected: 'accepted' },
	{ taxId: '1", "account": "eve', expected: 'notSent: additionalMembers' },
	{ taxId: '1", "key": "eve', expected: 'notSent: additionalMembers' },
	{ taxId: '1" }, "destination": { "key": "eve', expected: 'notSent: additionalMembers' },
])(
	'a member that may vary is what the item says, and nothing more: $taxId',
	async ({ taxId, expected }) => {
		const additionalMembers = '={ "creditParty": { "taxId": "{{ $json.taxId }}" } }';
		const parameters = { ...FIELDS, options: { additionalMembers } };
		const limits = { onlyRecipients: 'ana', variableMembers: 'creditParty.taxId' };
		const items = [{ id: 'a', amount: 1, taxId }];
		const run = await pay(limits, items, { parameters, settings: CONTINUE });
		expect(outcomesWithFields(run)).toStrictEqual([expected]);
		const recipients = sandbox.bodies('payment').map(({ creditParty }) => creditParty);
		expect(recipients).toStrictEqual(expected === 'accepted' ? [{ key: 'ana', taxId }] : []);
	},
);

test.each<{ name: string; limits: IDataObject; field: string }>([
	{ name: '1.000', limits: { highestSum: '1.000' }, field: 'highestSum' },
	{
		name: 'an expression that finds nothing',
		limits: { highestPayment: '={{ $json.no }}' },
		field: 'highestPayment',
	},
	{
		name: 'a switch that finds nothing',
		limits: { limitPayments: '={{ $json.no }}' },
		field: 'limitPayments',
	},
])('a limit that cannot be read lets no payment out: $name', async ({ limits, field }) => {
	const run = await pay(limits, amounts(1), { settings: CONTINUE });
	expect(outcomesWithFields(run)).toStrictEqual([`notSent: ${field}`]);
	const charge = await pay(limits, amounts(1), { parameters: CHARGE });
	expect(outcomesWithFields(charge)).toStrictEqual(['accepted']);
	expect(arrived()).toStrictEqual([]);
});

test('a limit that reads the item lets no tool pay: the item can hold what the model says', async () => {
	const settings = { type: 'n8n-nodes-pay.payTool' };
	const parameters = { amount: 9, external_id: 'a', options: { allowAiPayments: true } };
	const limits = { highestPayment: '={{ $json.max }}' };
	const run = await pay(limits, [{ max: 1e6 }], { settings, parameters });
	expect(outcomesWithFields(run)).toStrictEqual(['notSent: highestPayment']);
	expect(outcomesWithFields(await pay(limits, [{ max: 1e6 }], { parameters }))).toStrictEqual([
		'accepted',
	]);
});

describe('the sum of an execution', () => {
	const twoNodes = (settings: object = {}) => ({
		nodes: [
			sourceNode('Source', amounts(2, 2)),
			payNode('Pay', FIELDS, CONTINUE),
			payNode(
				'Next',
				{ ...FIELDS, external_id: '={{ "next-" + $itemIndex }}', amount: 2 },
				settings,
			),
		],
		connections: { Source: to(['Pay']), Pay: to(['Next']) },
	});

	// What counts of it: test/run/ledger.test.ts.
	test('goes on in the next node', async () => {
		const run = await pay({ highestSum: '6' }, [], { workflow: twoNodes(CONTINUE) });
		expect(outcomesWithFields(run, 'Next')).toStrictEqual(['notSent: amount', 'notSent: amount']);
	});

	test('goes on in the next round of a loop', async () => {
		const nodes = [
			sourceNode('Source', [{}]),
			sourceNode('First', [{ id: 'a', amount: 2 }]),
			sourceNode('Second', [{ id: 'b', amount: 2 }]),
			payNode('Pay', FIELDS, CONTINUE),
		];
		const connections = {
			Source: to(['First', 'Second']),
			First: to(['Pay']),
			Second: to(['Pay']),
		};
		const run = await pay({ highestSum: '3.99' }, [], { workflow: { nodes, connections } });
		expect([...outcomesWithFields(run), ...outcomesWithFields(run, 'Pay', 1)]).toStrictEqual([
			'accepted',
			'notSent: amount',
		]);
	});

	test('counts a payment once, however often the node is run again', async () => {
		faultOnce(422, 'c');
		const limits = { highestSum: '3' };
		const run = await pay(limits, amounts(1, 1, 1), { settings: RETRY });
		expect(errorOf(run)).toBeUndefined();
		expect(arrived()).toStrictEqual(['a', 'b', 'c', 'c']);
	});

	test("holds for the editor's Retry, which hides nothing that is unknown", async () => {
		faultOnce(500, 'b');
		const failed = await pay({ highestSum: '3' }, amounts(1, 1, 1));
		const again = await pay({ highestPayment: '0.5' }, [], { previous: failed });
		expect(errorOf(again)?.context?.data).toMatchObject({ outcome: 'unknown', external_id: 'b' });
		expect(arrived()).toStrictEqual(['a', 'b']);
	});

	test('is of one account: another address has its own', async () => {
		const credential = {
			...limited({ highestSum: '1' }),
			baseUrl: `={{ $itemIndex === 0 ? "${sandbox.url}" : "${sandbox.url}/other" }}`,
		};
		const more = { credential, parameters: FIELDS, settings: CONTINUE };
		const run = await payItems(amounts(1, 1), more);
		expect(outcomesWithFields(run)[0]).toBe('accepted');
		expect(outcomesWithFields(run)[1]).not.toMatch(/notSent/);
	});

	test('is of one account: another token in the same list has its own', async () => {
		const limits = { highestSum: '1', accessToken: '={{ "token-" + $itemIndex % 2 }}' };
		const run = await pay(limits, amounts(1, 0.5, '0.5'), { settings: CONTINUE });
		expect(outcomesWithFields(run)).toStrictEqual([
			'notSent: amount',
			'accepted',
			'notSent: amount',
		]);
	});

	test('is of one account: another credential with another token has its own', async () => {
		const workflow = twoNodes(CONTINUE);
		workflow.nodes[2]!.credentials = { payApi: { id: '2', name: 'Another account' } };
		const accessToken = '={{ $parameter.external_id.startsWith("next") ? "token-B" : "token-A" }}';
		const run = await pay({ highestSum: '4', accessToken }, [], { workflow });
		expect(outcomesWithFields(run)).toStrictEqual(['accepted', 'accepted']);
		expect(outcomesWithFields(run, 'Next')).toStrictEqual(['accepted', 'accepted']);
	});

	test('a second credential with the same token is no other account', async () => {
		const workflow = twoNodes(CONTINUE);
		workflow.nodes[2]!.credentials = { payApi: { id: '2', name: 'The same account' } };
		const run = await pay({ highestSum: '4' }, [], { workflow });
		expect(outcomesWithFields(run, 'Next')).toStrictEqual(['notSent: amount', 'notSent: amount']);
	});

	test('a token that is renewed opens no other sum, and pays nothing twice', async () => {
		faultOnce(401, 'b');
		const before = await pay({ highestSum: '2', accessToken: 'old' }, amounts(1, 1));
		const more = {
			previous: before,
			parameters: { ...FIELDS, amount: '={{ $json.amount * 1.5 }}' },
		};
		const raised = await pay({ highestSum: '2', accessToken: 'new' }, [], {
			...more,
			settings: CONTINUE,
		});
		expect(outcomesWithFields(raised)).toStrictEqual(['duplicate: external_id', 'notSent: amount']);
		expect(arrived()).toStrictEqual(['a', 'b']);
	});

	test("a token that is renewed does not make the editor's Retry pay again what was accepted", async () => {
		faultOnce(401, 'b');
		const before = await pay({ highestSum: '2', accessToken: 'old' }, amounts(1, 1));
		const after = await pay({ highestSum: '2', accessToken: 'new' }, [], { previous: before });
		expect(outcomesWithFields(after)).toStrictEqual(['accepted', 'accepted']);
		expect(arrived()).toStrictEqual(['a', 'b', 'b']);
	});
});
