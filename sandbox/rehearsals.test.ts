import { slowness } from '../test/busy';
import { Sandbox } from './service';
import { REHEARSALS, SEQUELS } from './rehearsals';
import { click, send, startReceiver, stateOf, stateWhen, type Receiver } from './caller';

let sandbox: Sandbox;
let receiver: Receiver;
beforeEach(async () => {
	sandbox = await Sandbox.start({ amountsAct: true, settlePaymentsAfter: 20, silence: 50 });
	receiver = await startReceiver();
});
afterEach(async () => {
	receiver.close();
	await sandbox.close();
});

/** What the caller sees: a status, or that there was none (within a time, for what never comes). */
async function seen(external_id: string, amount: number): Promise<number | 'nothing'> {
	try {
		const response = await fetch(`${sandbox.url}/v2/pay/payment`, {
			method: 'POST',
			redirect: 'manual',
			headers: { 'Content-Type': 'application/json', Authorization: 'Bearer x' },
			body: JSON.stringify({ amount, external_id, postbackUrl: receiver.url }),
			signal: AbortSignal.timeout(external_id === 'no-response' ? 500 * slowness() : 200_000),
		});
		await response.text();
		return response.status;
	} catch {
		return 'nothing';
	}
}

/** What each rehearsal does, and whether the payment is made. */
const EFFECTS: Array<[name: string, status: number | 'nothing', made: boolean]> = [
	['reject-422', 422, false],
	['token-401', 401, false],
	['says-no', 200, false],
	['unavailable-503', 503, false],
	['no-response', 'nothing', true],
	['cut-off', 'nothing', true],
	['other-code', 201, true],
];

test.each(EFFECTS)(
	'%s, ordered for the next request, is seen as %s, made: %s; the request after it is normal',
	async (name, status, made) => {
		expect(await click(sandbox, `/next/${name}`)).toBe(202);
		expect((await stateOf(sandbox)).orderedRehearsal).toBe(name);
		expect(await seen(name, 7)).toBe(status);
		expect(sandbox.transactions.map(({ external_id }) => external_id)).toStrictEqual(
			made ? [name] : [],
		);
		// An unknown payment that was made is reported, as the real one would be.
		if (made) await receiver.count(1);
		expect((await stateOf(sandbox)).orderedRehearsal).toBe('normal');
		expect(await seen('after', 7)).toBe(201);
	},
);

test.each([
	['reject-422', 422, 0],
	['cut-off', 'nothing', 1],
] as const)('%s, ordered by the amount, is seen as %s: made %d', async (name, status, made) => {
	const { amount } = REHEARSALS.find((known) => known.name === name)!;
	expect(await seen(name, amount)).toBe(status);
	expect(sandbox.transactions).toHaveLength(made);
});

test('a payment whose response is to have another code has no code at all', async () => {
	await click(sandbox, '/next/other-code');
	const payment = { amount: 7, external_id: 'a' };
	const { body } = await send(sandbox, '/v2/pay/payment', payment);
	expect(body).toMatchObject({ external_id: 'a', amount: 7 });
	expect(body).not.toHaveProperty('qrCode');
});

describe('a request that is rejected by itself leaves what was ordered to the next one', () => {
	const payment = { amount: 7, external_id: 'a' };

	test.each<{
		name: string;
		path: string;
		body: object;
		headers: Record<string, string>;
		status: number;
	}>([
		{ name: 'another path', path: '/v2/pay/other', body: payment, headers: {}, status: 404 },
		{
			name: 'no token',
			path: '/v2/pay/payment',
			body: payment,
			headers: { Authorization: '' },
			status: 401,
		},
		{
			name: 'a body that breaks the contract',
			path: '/v2/pay/payment',
			body: {},
			headers: {},
			status: 422,
		},
	])('$name leaves it', async ({ path, body, headers, status }) => {
		await click(sandbox, '/next/unavailable-503');
		expect((await send(sandbox, path, body, headers)).status).toBe(status);
		expect((await stateOf(sandbox)).orderedRehearsal).toBe('unavailable-503');
		expect((await send(sandbox, '/v2/pay/payment', payment)).status).toBe(503);
		expect((await stateOf(sandbox)).orderedRehearsal).toBe('normal');
	});

	test('an address that is not allowed leaves it', async () => {
		const closed = await Sandbox.start({ allowedAddresses: ['192.0.2.7'] });
		await click(closed, '/next/unavailable-503');
		expect((await send(closed, '/v2/pay/payment', payment)).status).toBe(403);
		expect((await stateOf(closed)).orderedRehearsal).toBe('unavailable-503');
		await closed.close();
	});
});

test.each([
	{ amount: 1.01, statuses: ['paid'] },
	{ amount: 1.02, statuses: ['failed'] },
	{ amount: 1.03, statuses: ['paid', 'paid'] },
	{ amount: 1.05, statuses: ['paid'] },
])('the amount $amount reports $statuses of a QR code by itself', async ({ amount, statuses }) => {
	const body = { amount, external_id: 'by-itself', postbackUrl: receiver.url };
	expect((await send(sandbox, '/v2/pay/qrcode', body)).status).toBe(201);
	if (amount === 1.05) expect(receiver.came).toHaveLength(1);
	await receiver.count(statuses.length);
	const reported = receiver.came.map((text) => (JSON.parse(text) as { status: string }).status);
	expect(reported).toStrictEqual(statuses);
	expect(new Set(receiver.came).size).toBe(1);
});

test('the amount 1.06 is never reported, where a usual payment is reported at once', async () => {
	const service = await Sandbox.start({ amountsAct: true, settlePaymentsAfter: 20 });
	for (const amount of [1.06, 7]) {
		const body = { amount, external_id: `${amount}`, postbackUrl: receiver.url };
		await send(service, '/v2/pay/payment', body);
	}
	await receiver.count(1);
	const amounts = receiver.came.map((text) => (JSON.parse(text) as { amount: number }).amount);
	expect(amounts).toStrictEqual([7]);
	await service.close();
});

test('amounts mean nothing unless that is asked for', async () => {
	const plain = await Sandbox.start();
	for (const { amount } of [...REHEARSALS, ...SEQUELS]) {
		const body = { amount, external_id: `${amount}`, postbackUrl: receiver.url };
		expect((await send(plain, '/v2/pay/payment', body)).status).toBe(201);
	}
	expect(receiver.came).toStrictEqual([]);
	await plain.close();
});

describe('a postback', () => {
	const charge = async () => {
		const body = { amount: 5, external_id: 'order-1', postbackUrl: receiver.url };
		await send(sandbox, '/v2/pay/qrcode', body);
		return sandbox.transactions[0]!;
	};

	test.each([
		{ act: 'pay', status: 'paid' },
		{ act: 'fail', status: 'failed' },
	])('$act on the page reports $status, with the response that came', async ({ act, status }) => {
		const { id } = await charge();
		expect(await click(sandbox, `/transactions/${id}/${act}`)).toBe(202);
		const { transactions } = await stateWhen(
			sandbox,
			(state) => state.transactions[0]?.postbacks[0]?.tries.length === 1,
		);
		expect(transactions[0]).toMatchObject({
			status,
			postbacks: [{ tries: [{ response: 200, text: '{"message":"Workflow was started"}' }] }],
		});
		const data = { id, external_id: 'order-1', amount: 5, status };
		expect(JSON.parse(receiver.came[0]!)).toStrictEqual({ event: `qrCode.${status}`, ...data });
	});

	test.each([
		{ how: 'again', more: 1 },
		{ how: 'twice', more: 2 },
	])('sent $how arrives $more more times, the same bytes', async ({ how, more }) => {
		const { id } = await charge();
		await sandbox.settle(id, 'paid');
		expect(await click(sandbox, `/transactions/${id}/postbacks/0/${how}`)).toBe(202);
		await receiver.count(1 + more);
		expect(receiver.came).toStrictEqual(Array(1 + more).fill(receiver.came[0]));
	});

	test('nobody is told of a charge without a postback URL', async () => {
		await send(sandbox, '/v2/pay/qrcode', { amount: 5, external_id: 'order-1' });
		await sandbox.settle(sandbox.transactions[0]!.id, 'paid');
		const state = { status: 'paid', postbacks: [] };
		expect(sandbox.transactions[0]).toMatchObject(state);
	});
});
