import {
	errorOf,
	FIELDS,
	ids,
	itemsFor,
	pay,
	runByItself,
	sandbox,
	storeHooks,
	withSandbox,
} from './engine';

withSandbox();

const MAY_PAY = { allowAiPayments: true };
const CODE = {
	resource: 'qrCode',
	amount: "={{ $fromAI('amount', 'x', 'string') }}",
	external_id: "={{ $fromAI('order', 'x', 'string') }}",
	postback: 'none',
};

const resultsOfCall = async (...call: Parameters<typeof runByItself>) =>
	(await runByItself(...call)).map(({ json }) => json);

test("n8n's own Agents create a QR code", async () => {
	const [id = ''] = ids(1);
	const said = { amount: '12.50', order: id };
	expect(await resultsOfCall(CODE, said)).toMatchObject([
		{ outcome: 'accepted', external_id: id, amount: 12.5 },
	]);
	expect(sandbox.bodies('qrcode')).toMatchObject([{ external_id: id, amount: 12.5 }]);
});

test('another call there makes another QR code: each has a ledger of its own', async () => {
	const [id = ''] = ids(1);
	const said = { amount: '12.50', order: id };
	await runByItself(CODE, said);
	await runByItself(CODE, said);
	expect(sandbox.bodies('qrcode')).toHaveLength(2);
});

test.each([
	['allowed', MAY_PAY],
	['not allowed', {}],
])('a payment that is %s there is refused in words that lead to a workflow', async (_, options) => {
	const parameters = { amount: '1', external_id: 'order-1', options };
	const [result] = await resultsOfCall(parameters);
	const { message, description } = result?.error as Record<string, string>;
	expect(result?.outcome).toBe('notSent');
	expect(`${message} ${description}`).toContain('Let the Agent call a workflow');
	expect(`${message} ${description}`).not.toMatch(/Allow Payments|Save the workflow/);
	expect(sandbox.received).toStrictEqual([]);
});

test('a QR code there that asks for its postback to resume the execution is refused', async () => {
	const [result] = await resultsOfCall(
		{ ...CODE, postback: 'resume' },
		{ amount: '1', order: 'order-1' },
	);
	expect(result).toMatchObject({ outcome: 'notSent', error: { field: 'postback' } });
	expect(sandbox.received).toStrictEqual([]);
});

test('a wait there says that no execution waits', async () => {
	const wait = { resource: 'postback', operation: 'wait', external_id: 'order-1' };
	const [result] = await resultsOfCall(wait);
	expect((result?.error as { message: string }).message).toContain('no execution');
});

test('a workflow that was not saved keeps its own words', async () => {
	const [id = ''] = ids(1);
	storeHooks.before = () => {
		throw Object.assign(new Error(), { code: 'ERR_ASSERTION' });
	};
	const run = await pay(itemsFor(id), { parameters: FIELDS });
	expect(errorOf(run)?.message).toContain('the workflow has not been saved');
	expect(sandbox.received).toStrictEqual([]);
});
