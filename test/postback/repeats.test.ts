import { createHmac, randomUUID } from 'node:crypto';
import { signUrl } from '../../nodes/Pay/postback/proof';
import { claimStarts } from '../../nodes/Pay/postback/repeats';
import { STATES } from '../../nodes/Pay/service/state';
import { lineInLog, webhookNode } from '../engine/webhook';
import { webhookContext } from '../contexts';

const SECRET = 'the secret of the test: repeats';
const CREDENTIAL = {
	postbackSecret: SECRET,
	describeService: true,
	statusField: 'status',
	paidValues: 'paid',
	failedValues: 'failed',
};

type Setting = Parameters<typeof webhookNode>[0];

/** A trigger that skips repeats, unless told otherwise, and what calls it. */
function trigger(setting: Setting = {}, skipRepeats = true) {
	const parameters = { startWhen: 'any', options: { skipRepeats } };
	const credential = () => ({ ...CREDENTIAL });
	return webhookNode({ credential, parameters, workflowId: randomUUID(), ...setting });
}

function urlOf(external_id: string, kind = 'qrCode', amount = 1) {
	const bare = 'https://n8n.example.com/webhook/x/postback';
	return signUrl(bare, { external_id, kind, amount }, SECRET);
}

type Called = Awaited<ReturnType<ReturnType<typeof webhookNode>['post']>>;
const isStart = ({ result }: Called) => result.workflowData !== undefined;
const paid = (attempt: number) => ({ status: 'paid', attempt });

afterEach(() => jest.restoreAllMocks());

test('of 20 pairs at the same instant each starts the workflow once; the other gets 409', async () => {
	const node = trigger({ answered: new Promise(() => undefined) });
	const urls = Array.from({ length: 20 }, () => urlOf(randomUUID()));
	const calls = await Promise.all(
		urls.flatMap((url) => [node.post(url, paid(1)), node.post(url, paid(2))]),
	);
	expect(calls.filter(isStart)).toHaveLength(20);
	const others = calls.filter((call) => !isStart(call));
	const message = 'The same postback is already starting the workflow';
	expect(others.map(({ status, body }) => ({ status, body }))).toStrictEqual(
		Array(20).fill({ status: 409, body: { message } }),
	);
});

test('what was answered is answered again and starts nothing, and the log names the charge', async () => {
	const node = trigger({ workflowId: 'workflow-1' });
	const url = urlOf('named');
	expect(isStart(await node.post(url, paid(1)))).toBe(true);
	const { result, status, log } = await node.post(url, paid(2));
	const why = 'it repeats a postback from the last ten minutes';
	expect([status, result]).toStrictEqual([
		undefined,
		{ webhookResponse: `This postback does not start the workflow: ${why}` },
	]);
	expect(log).toStrictEqual([
		lineInLog(`Pay received a postback, but the workflow does not continue with it: ${why}`, {
			external_id: 'named',
		}),
	]);
});

test('what lacks a required value is no repeat, and hides nothing: the real "paid" starts the workflow', async () => {
	const credential = () => ({ ...CREDENTIAL, requiredValues: 'livemode = true' });
	const node = trigger({ credential });
	const url = urlOf('live');
	const stateOf = async (body: object) =>
		(await node.post(url, body)).result.workflowData?.[0]?.[0]?.json.state;
	expect(await stateOf({ ...paid(1), livemode: false })).toBe('other');
	expect(await stateOf({ ...paid(2), livemode: true })).toBe('paid');
	expect(await stateOf({ ...paid(3), livemode: true })).toBeUndefined();
});

test.each([...STATES])(
	'a second $state of the same charge, in other words, is a repeat: $isOncePerCharge',
	async ({ state, isOncePerCharge }) => {
		const node = trigger({
			credential: () => ({ ...CREDENTIAL, refundField: 'back', amountField: 'amount' }),
		});
		const bodies = {
			paid: { status: 'paid', amount: 1 },
			failed: { status: 'failed' },
			refunded: { status: 'paid', amount: 1, back: true },
			otherAmount: { status: 'paid', amount: 0.5 },
			other: { status: 'open' },
		};
		const url = urlOf(`twice-${state}`);
		const first = await node.post(url, { ...bodies[state], attempt: 1 });
		expect(first.result.workflowData?.[0]?.[0]?.json.state).toBe(state);
		const second = await node.post(url, { ...bodies[state], attempt: 2 });
		expect(isStart(second)).toBe(!isOncePerCharge);
	},
);

test('of a list each entry is asked for: one that started no workflow yet starts one', async () => {
	const parameters = { authentication: 'sender', startWhen: 'any', options: { skipRepeats: true } };
	const credential = () => ({
		...CREDENTIAL,
		statusField: 'charges[].status',
		idField: 'charges[].id',
		senderCheck: 'secretHeader',
		secretHeaderName: 'x-secret',
		secretHeaderValue: 'what the service sends',
	});
	const node = trigger({ parameters, credential });
	const headers = { 'x-secret': 'what the service sends' };
	const post = async (...charges: object[]) => {
		const rawBody = Buffer.from(JSON.stringify({ charges }));
		const { result } = await node.call({ method: 'POST', query: {}, headers, rawBody });
		const items = result.workflowData?.[0] ?? [];
		return items.map(({ json }) => [
			(json.claimed as { external_id: string }).external_id,
			json.state,
		]);
	};
	const first = { id: 'first', status: 'paid' };
	expect(
		await post(first, { id: 'open', status: 'open' }, { id: 'late', status: 'open' }),
	).toStrictEqual([
		['first', 'paid'],
		['open', 'other'],
		['late', 'other'],
	]);
	expect(await post(first, { id: 'late', status: 'paid' })).toStrictEqual([['late', 'paid']]);
	expect(await post(first, { id: 'late', status: 'paid' })).toStrictEqual([]);
});

describe('of what says no External ID', () => {
	/** Gives what the items say, each postback signed by the service with a key that the trigger knows. */
	function signedBy(credential: object) {
		const key = 'the key of the service';
		const node = trigger({
			parameters: {
				authentication: 'sender',
				startWhen: 'any',
				options: { skipRepeats: true },
			},
			credential: () => ({
				...CREDENTIAL,
				senderCheck: 'signature',
				signatureHeader: 'x-signature',
				signatureSecret: key,
				...credential,
			}),
		});
		return async (signed: string, body: object, sent: object = {}) => {
			const rawBody = Buffer.from(JSON.stringify(body));
			const hmac = createHmac('sha256', key).update(signed).update(rawBody).digest('hex');
			const request = { method: 'POST', query: {}, headers: {}, ...sent };
			const headers = { ...request.headers, 'x-signature': hmac };
			const { result } = await node.call({ ...request, headers, rawBody });
			return result.workflowData?.[0]?.map(({ json }) => json.state);
		};
	}

	test('a signed body is a repeat whatever its method and query are: anybody can change those', async () => {
		const post = signedBy({});
		expect(await post('', { status: 'open' })).toStrictEqual(['other']);
		expect(await post('', { status: 'open' }, { query: { try: '2' } })).toBeUndefined();
		expect(await post('', { status: 'open' }, { method: 'PUT' })).toBeUndefined();
	});

	test('"paid" is no repeat of "pending" that differs in a signed header alone', async () => {
		const post = signedBy({
			signedContent: 'template',
			signedTemplate: '{header:x-event}.{body}',
			statusField: 'headers.x-event',
		});
		const send = async (event: string) =>
			await post(`${event}.`, { id: 1 }, { headers: { 'x-event': event } });
		expect(await send('pending')).toStrictEqual(['other']);
		expect(await send('paid')).toStrictEqual(['paid']);
		expect(await send('paid')).toBeUndefined();
	});
});

describe('of what postbacks claim', () => {
	const HEADERS = { 'x-secret': 'what the service sends' };
	/** A trigger for an address in a dashboard. */
	const LISTS: Setting = {
		parameters: { authentication: 'sender', startWhen: 'paid', options: { skipRepeats: true } },
		credential: () => ({
			...CREDENTIAL,
			statusField: 'charges[].status\nstatus',
			idField: 'charges[].id\nid',
			amountField: 'charges[].amount\namount',
			senderCheck: 'secretHeader',
			secretHeaderName: 'x-secret',
			secretHeaderValue: HEADERS['x-secret'],
		}),
	};
	/** Gives what an item is about, and the log. */
	function claims() {
		const node = trigger(LISTS);
		return async (body: object) => {
			const rawBody = Buffer.from(JSON.stringify(body));
			const { result, log } = await node.call({
				method: 'POST',
				query: {},
				headers: HEADERS,
				rawBody,
			});
			const items = result.workflowData?.[0] ?? [];
			return { claimed: items.map(({ json }) => json.claimed), log };
		};
	}
	const part = (amount: number, of = 'a') => ({ id: of, status: 'paid', amount });

	test('two parts of a charge are two payments, and each is one once', async () => {
		const post = claims();
		expect((await post(part(4))).claimed).toStrictEqual([{ external_id: 'a', amount: 4 }]);
		expect((await post(part(6))).claimed).toStrictEqual([{ external_id: 'a', amount: 6 }]);
		expect((await post(part(6))).claimed).toStrictEqual([]);
	});

	test('a list with one that is still under way gets 409, so that no entry is lost', async () => {
		let fail = () => {};
		const answered = new Promise<void>((resolve) => (fail = resolve));
		const node = trigger({ ...LISTS, answered, statusOfN8n: 500 });
		const post = async (...charges: object[]) => {
			const rawBody = Buffer.from(JSON.stringify({ charges }));
			return await node.call({ method: 'POST', query: {}, headers: HEADERS, rawBody });
		};
		const [a, b] = [part(4, 'a'), part(4, 'b')];
		expect(isStart(await post(a, a))).toBe(true);
		expect(await post(b, a)).toMatchObject({ status: 409, result: { noWebhookResponse: true } });
		// The workflow that "a" started fails, and the sender has to send the list again.
		fail();
		await answered;
		expect((await post(b, a)).result.workflowData?.[0]).toHaveLength(2);
	});

	test('the log names each that is skipped, beside others that start', async () => {
		const post = claims();
		await post(part(4));
		const charges = [part(4), part(4, 'b'), part(4, 'b')];
		const { claimed, log } = await post({ charges });
		expect(claimed).toStrictEqual([{ external_id: 'b', amount: 4 }]);
		expect(log).toHaveLength(2);
		expect(log[0]).toContain('"external_id":"a"');
		expect(log[1]).toContain('"external_id":"b"');
	});
});

test('of a long list Node.js is asked once when the response is out: it warns at eleven times', async () => {
	const once = jest.fn();
	const context = webhookContext({
		getWorkflow: () => ({ id: randomUUID() }),
		getResponseObject: () => ({ once }),
	});
	const events = Array.from({ length: 11 }, (_, eventId) => ({ reference: null, eventId }));
	expect(claimStarts(context, events)).toStrictEqual(Array(11).fill(true));
	expect(once).toHaveBeenCalledTimes(1);
});

test('where n8n answers that it failed, the next one starts the workflow', async () => {
	const node = trigger({ statusOfN8n: 500 });
	const url = urlOf('a');
	expect(isStart(await node.post(url, paid(1)))).toBe(true);
	expect(isStart(await node.post(url, paid(1)))).toBe(true);
});

test('after ten minutes it starts the workflow again', async () => {
	let now = 1_000_000;
	jest.spyOn(performance, 'now').mockImplementation(() => now);
	const node = trigger();
	const url = urlOf('a');
	await node.post(url, paid(1));
	now += 599_999;
	expect(isStart(await node.post(url, paid(1)))).toBe(false);
	now += 1;
	expect(isStart(await node.post(url, paid(1)))).toBe(true);
});

test.each<{ name: string; first: object; second: object; starts: boolean }>([
	{ name: 'paid too, whatever else it says', first: paid(1), second: paid(2), starts: false },
	{ name: 'failed, behind paid', first: paid(1), second: { status: 'failed' }, starts: true },
	{
		name: 'of another state, the same event',
		first: { status: 'part', sum: 1 },
		second: { status: 'part', sum: 1 },
		starts: false,
	},
	{
		name: 'of another state, another event',
		first: { status: 'part', sum: 1 },
		second: { status: 'part', sum: 2 },
		starts: true,
	},
])('a second one that is $name starts the workflow again: $starts', async (row) => {
	const { first, second, starts } = row;
	const node = trigger();
	const url = urlOf('a');
	expect(isStart(await node.post(url, first))).toBe(true);
	expect(isStart(await node.post(url, second))).toBe(starts);
});

test('another charge, kind or workflow is no repeat; the same charge with another amount is', async () => {
	const node = trigger();
	await node.post(urlOf('a'), paid(1));
	expect(isStart(await node.post(urlOf('b'), paid(1)))).toBe(true);
	expect(isStart(await node.post(urlOf('a', 'payment'), paid(1)))).toBe(true);
	expect(isStart(await trigger().post(urlOf('a'), paid(1)))).toBe(true);
	expect(isStart(await node.post(urlOf('a', 'qrCode', 2), paid(1)))).toBe(false);
});

test('without a status in the credential it goes by the event', async () => {
	const node = trigger({ credential: () => ({ postbackSecret: SECRET }) });
	const url = urlOf('a');
	await node.post(url, paid(1));
	expect(isStart(await node.post(url, paid(1)))).toBe(false);
	expect(isStart(await node.post(url, paid(2)))).toBe(true);
});

test.each<{ name: string; make: () => ReturnType<typeof trigger> }>([
	{ name: 'while the editor listens', make: () => trigger({ mode: 'manual' }) },
	{ name: 'without the option', make: () => trigger({}, false) },
])('$name every postback starts the workflow', async ({ make }) => {
	const node = make();
	const url = urlOf('a');
	await node.post(url, paid(1));
	expect(isStart(await node.post(url, paid(1)))).toBe(true);
});

test('a process remembers the last 50,000 starts', () => {
	const workflowId = randomUUID();
	const context = webhookContext({ getWorkflow: () => ({ id: workflowId }) });
	const claim = (eventId: number) => claimStarts(context, [{ reference: null, eventId }]);
	for (let id = 0; id <= 50_000; id++) claim(id);
	expect(claim(1)).toBeUndefined();
	expect(claim(0)).toStrictEqual([true]);
});
