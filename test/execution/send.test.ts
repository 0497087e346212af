import type { IExecuteFunctions, INode } from 'n8n-workflow';
import type { Account } from '../../nodes/Pay/credential/connection';
import type { Records } from '../../nodes/Pay/execution/memory/RunRecords';
import type { Ready } from '../../nodes/Pay/execution/item';
import { cancelled } from '../../nodes/Pay/execution/words/refusal';
import { readSettings } from '../../nodes/Pay/execution/read';
import type { Run } from '../../nodes/Pay/execution/runState';
import { sendBatch } from '../../nodes/Pay/execution/send';
import { openTally } from '../../nodes/Pay/execution/report/tally';
import { AccountGate } from '../../nodes/Pay/credential/accountGate';
import type { HttpRequest } from '../../nodes/Pay/service/exchange';
import { OPERATIONS, type Kind } from '../serviceOperations';
import { ledgerOf } from './ledgerOf';

const PASTED = { pasted: 'token-of-the-test' };
let clients = 0;
const client = (): Account['token'] => ({
	clientCredentials: {
		tokenUrl: 'https://id.test/token',
		clientId: `client of send ${++clients}`,
		clientSecret: 'secret',
		scope: '',
		sendIn: 'header',
	},
});

/** The gate of an execution that is alone. */
const newGate = () =>
	new AccountGate({ executionId: undefined, identity: {}, countShortWaits: () => 0 });

let items = 0;
const ready = (external_id: string, token: Account['token'] = PASTED): Ready => ({
	index: ++items,
	request: { amount: 1, external_id },
	account: {
		baseUrl: 'https://a.test',
		schemeName: 'fast',
		token,
		checksSender: false,
		limits: {},
	},
	accountId: 'account',
	tokenId: 'token',
	fingerprint: `of ${external_id}`,
	membersMayChange: false,
	finish: async () => undefined,
});

/** n8n's error for a status, from the service through TLS, or from a proxy outside of it. */
const status =
	(statusCode: number, from: 'service' | 'proxy' = 'service'): HttpRequest =>
	async () => {
		const request = { path: '/', socket: { encrypted: from === 'service' } };
		throw Object.assign(new Error(), { request, response: { status: statusCode, data: '{}' } });
	};
const ok: HttpRequest = async () => ({ statusCode: 200, body: '{"success":true}' });
const lost: HttpRequest = async () => {
	throw Object.assign(new Error(), { code: 'ECONNRESET' });
};

interface Calls {
	requests: string[];
	tokens: number;
	recorded: string[];
	removed: string[][];
}

interface Faked {
	kind?: Kind;
	whenRecorded?: () => void;
	goesOn?: boolean;
	signal?: AbortSignal;
}

/** A run over fakes that write down what they are asked for. */
function runOf(
	httpRequest: HttpRequest,
	{ kind = 'payment', whenRecorded, goesOn = true, signal }: Faked = {},
) {
	const calls: Calls = { requests: [], tokens: 0, recorded: [], removed: [] };
	const records: Records = {
		claimPassage: async () => 'ours',
		record: async (ids) => {
			calls.recorded.push(...ids);
			whenRecorded?.();
			return new Set(ids.filter((id) => id.startsWith('known')));
		},
		remove: async (ids) => {
			calls.removed.push([...ids]);
			return { remembered: [] };
		},
		keepAll: () => undefined,
		close: async () => [],
	};
	const operation = { ...OPERATIONS[kind], description: [], batchSize: 10 };
	const run: Run = {
		context: {} as IExecuteFunctions,
		operation,
		settings: readSettings({}, 10),
		ledger: ledgerOf({}, { operation }),
		isSuperseded: false,
		gate: newGate(),
		expectations: {},
		records: kind === 'payment' ? records : undefined,
		httpRequest: async (request) => {
			calls.requests.push((request.headers as { Authorization: string }).Authorization);
			return await httpRequest(request);
		},
		postTokenRequest: async () => {
			const body = { access_token: `token-${++calls.tokens}`, expires_in: 3600 };
			return { statusCode: 200, body };
		},
		signal,
		tally: openTally({ name: 'Pay' } as INode, operation, 1, goesOn),
	};
	return { run, asked: calls };
}

/** Waits until something has come about. */
async function until(isSo: () => boolean): Promise<void> {
	while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}

const outcomes = (done: Awaited<ReturnType<typeof sendBatch>>) =>
	done.map(({ result }) => [result.external_id, result.outcome]);

describe('a batch', () => {
	test('removes exactly what was rejected or not sent', async () => {
		const answers: Record<string, HttpRequest> = {
			a: ok,
			b: status(422),
			c: lost,
			d: status(502, 'proxy'),
		};
		const { run, asked } = runOf(async (request) => {
			const { external_id } = JSON.parse(String(request.body)) as { external_id: string };
			return await answers[external_id]!(request);
		});
		const items = ['a', 'b', 'c', 'd', 'known'].map((id) => ready(id));
		const done = await sendBatch(run, items);
		expect(outcomes(done)).toStrictEqual([
			['known', 'duplicate'],
			['a', 'accepted'],
			['b', 'rejected'],
			['c', 'unknown'],
			['d', 'notSent'],
		]);
		expect(asked.removed).toStrictEqual([['b', 'd']]);
	});

	test('takes nothing back where nothing was refused', async () => {
		const { run, asked } = runOf(ok);
		await sendBatch(run, [ready('a')]);
		expect(asked.removed).toStrictEqual([]);
	});
});

test('under "stop" an item whose token comes after another one failed does not start', async () => {
	const { run, asked } = runOf(status(422), { goesOn: false });
	const slow = client();
	run.postTokenRequest = async () => {
		await until(() => run.tally.isStopping);
		return { statusCode: 200, body: { access_token: 'late' } };
	};
	const done = await sendBatch(run, [ready('late', slow), ready('failing')]);
	expect(outcomes(done)).toStrictEqual([['failing', 'rejected']]);
	expect(asked.requests).toHaveLength(1);
	expect(asked.removed).toStrictEqual([['late', 'failing']]);
});

describe('a cancelled execution', () => {
	test('does not touch the records when a batch begins', async () => {
		const { run, asked } = runOf(ok, { signal: AbortSignal.abort() });
		expect(outcomes(await sendBatch(run, [ready('a')]))).toStrictEqual([['a', undefined]]);
		expect(asked).toStrictEqual({ ...asked, requests: [], recorded: [], removed: [] });
	});

	test('sends nothing after the duplicate check, and takes the records back', async () => {
		const cancel = new AbortController();
		const more = { signal: cancel.signal, whenRecorded: () => cancel.abort() };
		const { run, asked } = runOf(ok, more);
		expect(outcomes(await sendBatch(run, [ready('a')]))).toStrictEqual([['a', undefined]]);
		expect(asked).toStrictEqual({ ...asked, requests: [], recorded: ['a'], removed: [['a']] });
	});

	test('asks for no other token after a 401', async () => {
		const token = client();
		let answer = ok;
		const cancel = new AbortController();
		const { run, asked } = runOf(async (request) => await answer(request), {
			kind: 'qrCode',
			signal: cancel.signal,
		});
		await sendBatch(run, [ready('a', token)]);
		answer = async (request) => {
			cancel.abort();
			return await status(401)(request);
		};
		expect(outcomes(await sendBatch(run, [ready('b', token)]))).toStrictEqual([['b', 'rejected']]);
		expect(asked.requests).toStrictEqual(['Bearer token-1', 'Bearer token-1']);
	});
});

describe('with a token that was kept', () => {
	/** Two batches with one token, the second of which meets an answer; what went out for it. */
	async function second(kind: 'payment' | 'qrCode', refused: HttpRequest) {
		const token = client();
		let answer = ok;
		const { run, asked } = runOf(async (request) => await answer(request), { kind });
		await sendBatch(run, [ready('a', token)]);
		answer = refused;
		const [done] = await sendBatch(run, [ready('b', token)]);
		const { result } = done!;
		return { run, asked, token, result, requests: asked.requests.slice(1) };
	}

	test.each<{ what: string; times: number; refused: HttpRequest }>([
		{
			what: 'a 401',
			times: 2,
			refused: status(401),
		},
		{
			what: 'a 400',
			times: 1,
			refused: status(400),
		},
		{
			what: 'a 403',
			times: 1,
			refused: status(403),
		},
		{
			what: 'a 422',
			times: 1,
			refused: status(422),
		},
		{
			what: 'a 500',
			times: 1,
			refused: status(500),
		},
		{
			what: "a proxy's 401",
			times: 1,
			refused: status(401, 'proxy'),
		},
		{
			what: 'a lost answer',
			times: 1,
			refused: lost,
		},
	])(
		'$what to a QR code: $times requests, each with a token of its own',
		async ({ times, refused }) => {
			const { requests, asked } = await second('qrCode', refused);
			expect(requests).toStrictEqual(['Bearer token-1', 'Bearer token-2'].slice(0, times));
			expect(asked.tokens).toBe(times);
		},
	);

	test('a 401 to a payment: one request, it is rejected, and the next item has a new token', async () => {
		const { run, requests, result, token, asked } = await second('payment', status(401));
		expect(requests).toStrictEqual(['Bearer token-1']);
		expect(result).toMatchObject({ outcome: 'rejected', statusCode: 401 });
		run.httpRequest = async (request) => {
			asked.requests.push((request.headers as { Authorization: string }).Authorization);
			return await ok(request);
		};
		expect(outcomes(await sendBatch(run, [ready('c', token)]))).toStrictEqual([['c', 'accepted']]);
		expect(asked.requests.at(-1)).toBe('Bearer token-2');
	});

	test('a token that was just fetched and is refused: not asked again in this run, and it is discarded, too', async () => {
		const token = client();
		const { run, asked } = runOf(status(401), { kind: 'qrCode' });
		await sendBatch(run, [ready('a', token)]);
		await sendBatch(run, [ready('b', token)]);
		expect(asked.requests).toStrictEqual(['Bearer token-1']);
		run.gate = newGate();
		await sendBatch(run, [ready('c', token)]);
		expect(asked.requests).toStrictEqual(['Bearer token-1', 'Bearer token-2']);
	});

	test('a 401 to a QR code, then no connection: what is told is the request that arrived', async () => {
		let count = 0;
		const gone = Object.assign(new Error(), { code: 'ECONNREFUSED', syscall: 'connect' });
		const { requests, result } = await second('qrCode', async (request) => {
			if (++count === 1) return await status(401)(request);
			throw gone;
		});
		expect(requests).toHaveLength(2);
		expect(result).toMatchObject({ outcome: 'rejected', statusCode: 401 });
	});

	test('a 401 to a QR code, then a lost answer: nobody knows', async () => {
		let count = 0;
		const { result } = await second('qrCode', async (request) =>
			++count === 1 ? await status(401)(request) : await lost(request),
		);
		expect(result.outcome).toBe('unknown');
	});
});

describe('two runs of one execution at once, as an agent makes them', () => {
	/** Runs of two tools over one ledger; the first has no response before the second was sent or refused. */
	async function both(first: Ready, second: Ready, nodes: [string, string]) {
		let isSecondDone = false;
		const [one, two] = [
			runOf(async (request) => {
				await until(() => isSecondDone);
				return await ok(request);
			}),
			runOf(ok),
		];
		const store = {};
		one.run.ledger = ledgerOf(store, { isTool: true, node: nodes[0] });
		two.run.ledger = ledgerOf(store, { isTool: true, node: nodes[1] });
		const firstSent = sendBatch(one.run, [first]);
		const ofSecond = await sendBatch(two.run, [second]);
		isSecondDone = true;
		const done = [...(await firstSent), ...ofSecond];
		return { done, sent: one.asked.requests.length + two.asked.requests.length, two };
	}

	const limited = (item: Ready): Ready => ({
		...item,
		account: { ...item.account, limits: { highestSum: 1.5 } },
	});
	const [a, b] = [ready('a'), ready('b')];
	const likeA = { ...b, fingerprint: a.fingerprint };
	test.each<[string, [Ready, Ready], string, string, string[]]>([
		['one id by two tools: the record stays', [a, ready('a')], 'Refund', 'a unknown', []],
		['one request by one tool: the second id is free', [a, likeA], 'Pay', 'a unknown', ['b']],
		[
			'two above the sum: the second is free',
			[limited(a), limited(b)],
			'Refund',
			'b notSent',
			['b'],
		],
		['the control: two payments are two', [a, b], 'Pay', 'b accepted', []],
	])('%s', async (_what, [first, second], secondTool, told, free) => {
		const { done, sent, two } = await both(first, second, ['Pay', secondTool]);
		const ends = outcomes(done).map((each) => each.join(' '));
		expect(ends).toStrictEqual(['a accepted', told]);
		expect(sent).toBe(told === 'b accepted' ? 2 : 1);
		expect(two.asked.removed.flat()).toStrictEqual(free);
	});
});

test('a run that waits for the token of another run keeps its own time-out and cancel signal', async () => {
	const token = client();
	let hang = () => {};
	const first = runOf(ok);
	first.run.postTokenRequest = async () =>
		await new Promise((resolve) => (hang = () => resolve({ reason: { is: 'timedOut' } })));
	const long = sendBatch(first.run, [ready('a', token)]);
	const short = runOf(ok);
	short.run.settings.timeout = 30;
	const [late] = await sendBatch(short.run, [ready('b', token)]);
	expect(late?.result).toMatchObject({ outcome: 'notSent', field: 'tokenUrl' });
	const cancel = new AbortController();
	const stopped = runOf(ok, { signal: cancel.signal });
	const waiting = sendBatch(stopped.run, [ready('c', token)]);
	await until(() => stopped.asked.recorded.length > 0);
	cancel.abort();
	const [done] = await waiting;
	expect(done?.result).toMatchObject({ outcome: undefined, message: cancelled().message });
	expect([short, stopped].map(({ asked }) => asked.removed)).toStrictEqual([[['b']], [['c']]]);
	expect([short, stopped].flatMap(({ asked }) => asked.requests)).toStrictEqual([]);
	hang();
	expect(outcomes(await long)).toStrictEqual([['a', 'notSent']]);
});

test('answers are kept up to 50 million characters of all of them', async () => {
	const { run } = runOf(async () => ({ statusCode: 200, body: 'x'.repeat(100) }));
	run.tally.responseLength = 50_000_000 - 250;
	const done = await sendBatch(run, [ready('a'), ready('b'), ready('c')]);
	const left = '(left out: the responses of this run are too large to keep)';
	expect(done.map(({ result }) => result.response === left)).toStrictEqual([false, false, true]);
});
