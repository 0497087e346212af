import type { IExecuteFunctions, INode } from 'n8n-workflow';
import type { Account } from '../../nodes/Pay/credential/connection';
import type { Records } from '../../nodes/Pay/execution/duplicateCheck';
import { openLedger } from '../../nodes/Pay/execution/ledger';
import { readSettings, type Ready } from '../../nodes/Pay/execution/read';
import { sendBatch, type Run } from '../../nodes/Pay/execution/send';
import { openTally } from '../../nodes/Pay/execution/tally';
import type { HttpRequest } from '../../nodes/Pay/service/client';

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

const ready = (external_id: string, token: Account['token'] = PASTED): Ready<'payment'> => ({
	index: 3,
	request: { amount: 1, external_id, creditParty: { key: 'k' } },
	account: { baseUrl: 'https://a.test', schemeName: 'fast', token },
	fingerprint: `of ${external_id}`,
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

interface Asked {
	requests: string[];
	tokens: number;
	recorded: string[];
	takenBack: string[][];
	hints: string[];
}

/** A run over fakes that write down what they are asked for. */
function runOf(
	httpRequest: HttpRequest,
	{
		kind = 'payment',
		options = {},
		remembered = [],
		reason,
		doubt,
		goesOn = true,
		isCancelled = () => false,
	}: {
		kind?: 'payment' | 'qrCode';
		options?: object;
		remembered?: string[];
		reason?: string;
		doubt?: string;
		goesOn?: boolean;
		isCancelled?: () => boolean;
	} = {},
) {
	const asked: Asked = { requests: [], tokens: 0, recorded: [], takenBack: [], hints: [] };
	const records: Records = {
		record: async (ids) => {
			asked.recorded.push(...ids);
			return new Set(ids.filter((id) => id.startsWith('known')));
		},
		takeBack: async (ids) => {
			asked.takenBack.push([...ids]);
			return { remembered, reason };
		},
		lookAgain: async () => doubt,
	};
	const operation = { kind, batchSize: 10 } as Run<'payment'>['operation'];
	const run: Run<'payment'> = {
		context: {} as IExecuteFunctions,
		operation,
		settings: readSettings(options, 10),
		ledger: openLedger({}, kind, 'Pay, run 0'),
		records: kind === 'payment' ? records : undefined,
		httpRequest: async (request) => {
			asked.requests.push((request.headers as { Authorization: string }).Authorization);
			return await httpRequest(request);
		},
		postForm: async () => {
			const body = { access_token: `token-${++asked.tokens}`, expires_in: 3600 };
			return { statusCode: 200, body };
		},
		hint: (text) => void asked.hints.push(text),
		isCancelled,
		tally: openTally({ name: 'Pay' } as INode, 1, goesOn),
	};
	return { run, asked };
}

const outcomes = (done: Awaited<ReturnType<typeof sendBatch>>) =>
	done.map(({ result }) => [result.external_id, result.outcome]);

describe('a batch', () => {
	test('takes back exactly what was rejected or not sent', async () => {
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
		const done = await sendBatch(
			run,
			['a', 'b', 'c', 'd', 'known'].map((id) => ready(id)),
		);
		expect(outcomes(done)).toStrictEqual([
			['known', 'duplicate'],
			['a', 'accepted'],
			['b', 'rejected'],
			['c', 'unknown'],
			['d', 'notSent'],
		]);
		expect(asked.takenBack).toStrictEqual([['b', 'd']]);
		expect(done.map((item) => 'finish' in item)).toStrictEqual([false, true, false, false, false]);
	});

	test('takes nothing back where nothing was refused', async () => {
		const { run, asked } = runOf(ok);
		await sendBatch(run, [ready('a')]);
		expect(asked.takenBack).toStrictEqual([]);
	});

	test('says of which id the record stays, and why', async () => {
		const { run } = runOf(status(422), { remembered: ['b'], reason: 'the disk is full' });
		const [a, b] = await sendBatch(run, [ready('a'), ready('b')]);
		const words =
			'The duplicate check still remembers "b", because the disk is full: to pay it, use a new External ID.';
		expect(a?.result).not.toMatchObject({ description: expect.stringContaining('remembers') });
		expect(b?.result).toMatchObject({ description: expect.stringContaining(words) });
	});

	test('a rejected QR code has no record, and none is looked for', async () => {
		const { run } = runOf(status(422), { kind: 'qrCode' });
		expect(outcomes(await sendBatch(run, [ready('a')]))).toStrictEqual([['a', 'rejected']]);
	});

	test('what the look at the records cannot make sure is a hint', async () => {
		const { run, asked } = runOf(ok, { doubt: 'n8n may forget "a"' });
		await sendBatch(run, [ready('a')]);
		expect(asked.hints).toStrictEqual(['n8n may forget "a"']);
	});

	test('a duplicate under "stop": the others do not start, and are free again', async () => {
		const { run, asked } = runOf(ok, { goesOn: false });
		const done = await sendBatch(run, [ready('known'), ready('a')]);
		expect(outcomes(done)).toStrictEqual([['known', 'duplicate']]);
		expect(asked).toStrictEqual({ ...asked, requests: [], takenBack: [['a']] });
	});
});

describe('a cancelled execution', () => {
	test('does not touch the records when a batch begins', async () => {
		const { run, asked } = runOf(ok, { isCancelled: () => true });
		expect(outcomes(await sendBatch(run, [ready('a')]))).toStrictEqual([['a', 'notSent']]);
		expect(asked).toStrictEqual({ ...asked, requests: [], recorded: [], takenBack: [] });
	});

	test('sends nothing after the duplicate check, and takes the records back', async () => {
		let looks = 0;
		const { run, asked } = runOf(ok, { isCancelled: () => ++looks > 1 });
		expect(outcomes(await sendBatch(run, [ready('a')]))).toStrictEqual([['a', 'notSent']]);
		expect(asked).toStrictEqual({ ...asked, requests: [], recorded: ['a'], takenBack: [['a']] });
	});

	test('asks for no other token after a 401', async () => {
		const token = client();
		let answer = ok;
		let cancelled = false;
		const { run, asked } = runOf(async (request) => await answer(request), {
			isCancelled: () => cancelled,
		});
		await sendBatch(run, [ready('a', token)]);
		answer = async (request) => {
			cancelled = true;
			return await status(401)(request);
		};
		expect(outcomes(await sendBatch(run, [ready('b', token)]))).toStrictEqual([['b', 'rejected']]);
		expect(asked).toStrictEqual({
			...asked,
			requests: ['Bearer token-1', 'Bearer token-1'],
			tokens: 1,
		});
	});
});

describe('with a token that was kept', () => {
	test.each<[string, number, HttpRequest]>([
		['a 401', 2, status(401)],
		['a 400', 1, status(400)],
		['a 403', 1, status(403)],
		['a 422', 1, status(422)],
		['a 500', 1, status(500)],
		["a proxy's 401", 1, status(401, 'proxy')],
		['a lost answer', 1, lost],
	])('%s: %i requests go out, each with a token of its own', async (_what, times, refused) => {
		const token = client();
		let answer = ok;
		const { run, asked } = runOf(async (request) => await answer(request));
		await sendBatch(run, [ready('a', token)]);
		answer = refused;
		await sendBatch(run, [ready('b', token)]);
		expect(asked.requests.slice(1)).toStrictEqual(
			['Bearer token-1', 'Bearer token-2'].slice(0, times),
		);
		expect(asked.tokens).toBe(times);
	});
});

describe('Accepted When Field', () => {
	const options = { acceptedField: 'success', acceptedValues: ['true'] };

	test.each<[string, string, HttpRequest]>([
		['a 2xx that confirms', 'accepted', ok],
		['a 2xx that does not', 'unknown', async () => ({ statusCode: 200, body: '{}' })],
		['a 422', 'rejected', status(422)],
		["a proxy's 502", 'notSent', status(502, 'proxy')],
	])('%s is %s, here and in the ledger', async (_what, outcome, answer) => {
		const { run } = runOf(answer, { options });
		expect(outcomes(await sendBatch(run, [ready('a')]))).toStrictEqual([['a', outcome]]);
		expect(Object.values(run.ledger.attempts)).toMatchObject([
			{ by: 'Pay, run 0, item 3', outcome },
		]);
	});
});

test('answers are kept up to 50 million characters of all of them', async () => {
	const { run } = runOf(async () => ({ statusCode: 200, body: 'x'.repeat(100) }));
	run.tally.kept = 50_000_000 - 250;
	const done = await sendBatch(run, [ready('a'), ready('b'), ready('c')]);
	const left = '(left out: the answers of this run are too large to keep)';
	expect(done.map(({ result }) => result.response === left)).toStrictEqual([false, false, true]);
});
