import { Readable } from 'node:stream';
import { postRequest, type HttpRequest } from '../../nodes/Pay/service/client';
import { runs } from '../runs';

const CONNECTION = {
	baseUrl: 'https://a.test',
	path: '/v2/pay/payment',
	accessToken: 'token-of-the-test',
	timeout: 5_000,
};
const BODY = { amount: 1, external_id: 'x' };
const post = async (httpRequest: HttpRequest, more: object = {}, signal?: AbortSignal) =>
	await postRequest(httpRequest, { ...CONNECTION, ...more }, BODY, signal);

const never = async () => await new Promise<unknown>(() => undefined);
const throws = (error: unknown) => async () => {
	throw error;
};
const hostile = new Proxy(
	{},
	{
		get: () => {
			throw new Error('no property of this can be read');
		},
	},
);

const ODD: Array<[string, HttpRequest]> = [
	['nothing', async () => undefined],
	['null', async () => null],
	['a text', async () => '{"id":1}'],
	['an object without a status', async () => ({ body: '{}' })],
	['a status that is no number', async () => ({ statusCode: 'OK', body: '{}' })],
	['an object that cannot be read', async () => hostile],
	['a body that cannot be read', async () => ({ statusCode: 201, body: hostile })],
	['a body that breaks off', async () => ({ statusCode: 201, body: Readable.from(broken()) })],
	['an error', throws(new Error('x'))],
	['undefined, thrown', throws(undefined)],
	['a text, thrown', throws('x')],
	['an error that cannot be read', throws(hostile)],
	[
		'an error at once, not a promise',
		() => {
			throw new Error('x');
		},
	],
];

async function* broken() {
	yield '{"id":';
	throw new Error('broken');
}

test.each(ODD)(
	'whatever the request helper gives, nothing is thrown: %s is unknown',
	async (_, odd) => {
		expect(await post(odd)).toMatchObject({ outcome: 'unknown', sent: 'whole' });
	},
);

test.each([
	['a text', '{"id":1}'],
	['bytes', Buffer.from('{"id":1}')],
	['a stream', Readable.from([Buffer.from('{"id"'), Buffer.from(':1}')])],
	['what n8n parsed', { id: 1 }],
])('a body is read as it comes: %s', async (_, body) => {
	const answer = await post(async () => ({ statusCode: 201, body }));
	expect(answer).toEqual({
		outcome: 'accepted',
		sent: 'whole',
		statusCode: 201,
		response: { id: 1 },
	});
});

test('a request that cannot be written was not sent', async () => {
	let asked = 0;
	const count = async () => asked++;
	expect(await post(count, { timeout: NaN })).toMatchObject({
		outcome: 'notSent',
		sent: 'nothing',
	});
	expect(asked).toBe(0);
});

test('cancelled before the request began: nothing is sent', async () => {
	let asked = 0;
	const answer = await post(async () => asked++, {}, AbortSignal.abort());
	expect([answer.outcome, answer.sent, asked]).toEqual(['notSent', 'nothing', 0]);
});

test.each([
	['the clock', { timeout: 20 }, 'the time-out passed'],
	['a cancelled execution', {}, 'the execution was cancelled'],
])('a request helper that never settles is ended by %s, as unknown', async (_, more, reason) => {
	const execution = new AbortController();
	let given: AbortSignal | undefined;
	const running = post(
		async (options) => {
			given = options.abortSignal as AbortSignal;
			if (!('timeout' in more)) execution.abort();
			return await never();
		},
		more,
		execution.signal,
	);
	expect(await running).toEqual({ outcome: 'unknown', sent: 'whole', reason });
	expect(given?.aborted).toBe(true);
});

test('a body that cannot even be destroyed ends with the clock, as unknown', async () => {
	const body = {
		[Symbol.asyncIterator]: () => ({ next: never }),
		destroy: () => {
			throw new Error('x');
		},
	};
	const answer = await post(async () => ({ statusCode: 201, body }), { timeout: 20 });
	expect(answer).toMatchObject({ outcome: 'unknown', reason: 'the time-out passed' });
});

test('what was cancelled before a byte left is notSent on proof', async () => {
	const execution = new AbortController();
	const answer = await post(
		async ({ abortSignal }) =>
			await new Promise((_, reject) => {
				abortSignal?.addEventListener?.('abort', () =>
					reject(
						Object.assign(new Error(), { request: { writableFinished: false, socket: null } }),
					),
				);
				execution.abort();
			}),
		{},
		execution.signal,
	);
	expect(answer).toEqual({
		outcome: 'notSent',
		sent: 'nothing',
		reason: 'the execution was cancelled',
	});
});

test('10,000 requests of one execution leave no listener behind', async () => {
	const { signal } = new AbortController();
	const [add, remove] = [
		signal.addEventListener.bind(signal),
		signal.removeEventListener.bind(signal),
	];
	let [added, removed] = [0, 0];
	signal.addEventListener = (...args: Parameters<typeof add>) => {
		added++;
		add(...args);
	};
	signal.removeEventListener = (...args: Parameters<typeof remove>) => {
		removed++;
		remove(...args);
	};
	const requests = runs(10_000);
	for (let count = 0; count < requests; count++) {
		await post(async () => ({ statusCode: 201, body: '{}' }), {}, signal);
	}
	expect([added, removed]).toEqual([requests, requests]);
}, 60_000);
