import { Readable } from 'node:stream';
import { postRequest, type ResponseWords, tokenPoster } from '../../nodes/Pay/service/client';
import type { HttpRequest } from '../../nodes/Pay/service/exchange';
import { OPERATIONS } from '../serviceOperations';
import { hideSecrets } from '../../nodes/Pay/postback/proof';
import type { Outcome } from '../../nodes/Pay/service/outcome';
import type { Reason } from '../../nodes/Pay/service/reasons';

const CONNECTION = {
	baseUrl: 'https://a.test',
	schemeName: 'pay',
	accessToken: 'token-of-the-test',
	timeout: 5_000,
	hide: (response: unknown) =>
		hideSecrets(response, ['token-of-the-test'], 'https://a.test/?pay_proof=ref.mac-of-it'),
};
const BODY = { amount: 1, external_id: 'x' };
type More = Partial<Parameters<typeof postRequest>[1]>;
const post = async (httpRequest: HttpRequest, more: More = {}) =>
	await postRequest(httpRequest, { ...CONNECTION, ...more }, OPERATIONS.payment, BODY);

const never = async () => await new Promise<unknown>(() => undefined);
const throws = (error: unknown) => async () => {
	throw error;
};
const boom = () => {
	throw new Error('no property of this can be read');
};
const hostile = new Proxy({}, { get: boom });

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
	['an error at once, not a promise', boom],
];

async function* broken() {
	yield '{"id":';
	throw new Error('broken');
}

test.each(ODD)(
	'whatever the request helper gives, nothing is thrown: %s is unknown',
	async (_, odd) => {
		expect(await post(odd)).toMatchObject({ outcome: 'unknown' });
	},
);

const NOT_SENT = { outcome: 'notSent' };
const UNKNOWN = { outcome: 'unknown' };
test('a request that cannot be written was not sent', async () => {
	let asked = 0;
	const count = async () => asked++;
	expect(await post(count, { timeout: NaN })).toMatchObject(NOT_SENT);
	expect(asked).toBe(0);
});

test('a request helper that never settles is ended by the clock, as unknown', async () => {
	let given: AbortSignal | undefined;
	const httpRequest: HttpRequest = async (options) => {
		given = options.abortSignal as AbortSignal;
		return await never();
	};
	const reason = { is: 'timedOut' };
	expect(await post(httpRequest, { timeout: 20 })).toStrictEqual({ ...UNKNOWN, reason });
	expect(given?.aborted).toBe(true);
});

test('a body that cannot even be destroyed ends with the clock, as unknown', async () => {
	const body = { [Symbol.asyncIterator]: () => ({ next: never }), destroy: boom };
	const result = await post(async () => ({ statusCode: 201, body }), { timeout: 20 });
	expect(result).toMatchObject({ outcome: 'unknown', reason: { is: 'timedOut' } });
});

describe('what a response says counts beside its status', () => {
	const NO: Reason = { is: 'saidNo', path: 'ok' };
	const YES: Reason = { is: 'saidYes', path: 'ok' };
	const UNCONFIRMED: Reason = { is: 'notConfirmed', field: ['ok'] };
	/** The words of an account, by what they make of the body `{"ok":1}`. */
	const WORDS: Record<string, ResponseWords | undefined> = {
		nothing: undefined,
		yes: { field: ['ok'], accepted: ['1'], rejected: [] },
		no: { field: ['ok'], accepted: [], rejected: ['1'] },
		'neither of its words': { field: ['ok'], accepted: ['2'], rejected: [] },
	};

	test.each<{
		statusCode: number;
		says: string;
		outcome: Outcome;
		reason: Reason | undefined;
	}>([
		{ statusCode: 200, says: 'nothing', outcome: 'accepted', reason: undefined },
		{ statusCode: 200, says: 'yes', outcome: 'accepted', reason: undefined },
		{ statusCode: 200, says: 'no', outcome: 'rejected', reason: NO },
		{ statusCode: 200, says: 'neither of its words', outcome: 'unknown', reason: UNCONFIRMED },
		{ statusCode: 422, says: 'nothing', outcome: 'rejected', reason: undefined },
		// A gateway that says no in front of a service that says yes.
		{ statusCode: 422, says: 'yes', outcome: 'unknown', reason: YES },
		{ statusCode: 422, says: 'no', outcome: 'rejected', reason: NO },
		{ statusCode: 422, says: 'neither of its words', outcome: 'rejected', reason: undefined },
		{ statusCode: 409, says: 'no', outcome: 'rejected', reason: NO },
		{ statusCode: 409, says: 'yes', outcome: 'unknown', reason: undefined },
		{ statusCode: 499, says: 'no', outcome: 'rejected', reason: NO },
		{ statusCode: 500, says: 'no', outcome: 'unknown', reason: undefined },
		{ statusCode: 503, says: 'yes', outcome: 'unknown', reason: undefined },
	])(
		'status $statusCode and a body that says $says: $outcome',
		async ({ statusCode, says, outcome, reason }) => {
			const respond = async () => ({ statusCode, body: '{"ok":1}' });
			const { reason: told, ...result } = await post(respond, { responseWords: WORDS[says] });
			expect(result).toStrictEqual({ outcome, statusCode, response: { ok: 1 } });
			expect(told).toStrictEqual(reason);
		},
	);

	test('and not that of a proxy, which asks for its own password', async () => {
		const respond = async () => ({ statusCode: 407, body: '{"ok":1}' });
		expect(await post(respond, { responseWords: WORDS.no })).toStrictEqual({
			outcome: 'notSent',
			statusCode: 407,
			response: { ok: 1 },
			reason: { is: 'stoppedByProxy', statusCode: 407 },
		});
	});

	test('before secrets are taken out of it', async () => {
		const respond = async () => ({ statusCode: 200, body: '{"status":"accepted-for-good"}' });
		const responseWords = { field: ['status'], accepted: ['accepted-for-good'], rejected: [] };
		const hide = (value: unknown) => hideSecrets(value, ['accepted-for-good']);
		expect(await post(respond, { hide, responseWords })).toStrictEqual({
			outcome: 'accepted',
			statusCode: 200,
			response: { status: '***' },
		});
	});

	test.each([
		['text/html', '<p>OK</p>'],
		['application/json', 'OK'],
	])('a word for yes in a 200 that looks like nothing (%s, %s) is a yes', async (type, body) => {
		const respond = async () => ({ statusCode: 200, body, headers: { 'content-type': type } });
		const responseWords = { field: ['response'], accepted: [body], rejected: [] };
		expect(await post(respond, { responseWords })).toStrictEqual({
			outcome: 'accepted',
			statusCode: 200,
			response: body,
		});
		expect(await post(respond)).toMatchObject(UNKNOWN);
	});

	test('a web page confirms nothing, and its title repeats no secret', async () => {
		const body = '<html><head><title>token-of-the-test</title></head></html>';
		expect(await post(async () => ({ statusCode: 200, body }))).toStrictEqual({
			outcome: 'unknown',
			statusCode: 200,
			response: '<html><head><title>***</title></head></html>',
			reason: { is: 'webPage', title: '***' },
		});
		expect(await post(async () => ({ statusCode: 422, body }))).toMatchObject({
			outcome: 'rejected',
		});
	});
});

// To which addresses which statuses are handed over as errors: exchange.test.ts.
test('what goes to the request helper is this and nothing else', async () => {
	const requests: unknown[] = [];
	await post(async (options) => {
		requests.push(options);
		return { statusCode: 200, body: '{}' };
	});
	expect(requests).toStrictEqual([
		{
			method: 'POST',
			url: 'https://a.test/v2/pay/payment',
			headers: {
				Authorization: 'Bearer token-of-the-test',
				'Content-Type': 'application/json',
				Accept: 'application/json',
				'Accept-Encoding': 'identity',
			},
			body: '{"amount":1,"external_id":"x"}',
			encoding: 'stream',
			returnFullResponse: true,
			ignoreHttpStatusErrors: { ignore: true, except: expect.any(Array) },
			disableFollowRedirect: true,
			timeout: 0,
			abortSignal: expect.any(AbortSignal),
		},
	]);
});

const thrown = (members: object) => throws(Object.assign(new Error('x'), members));

test.each<{ what: string; error: object; reason: Reason }>([
	{
		what: 'a code of its own',
		error: { code: 'ECONNRESET' },
		reason: { is: 'connectionFailed', code: 'ECONNRESET' },
	},
	{
		what: 'a code of its cause',
		error: { cause: { code: 'EPIPE' } },
		reason: { is: 'connectionFailed', code: 'EPIPE' },
	},
	{ what: 'no code', error: {}, reason: { is: 'connectionFailed' } },
	{ what: "n8n's guard", error: { name: 'SsrfBlockedIpError' }, reason: { is: 'hostBlocked' } },
])('of a failure with $what the reason is kept', async ({ error, reason }) => {
	expect((await post(thrown(error))).reason).toStrictEqual(reason);
});

const TLS = { baseUrl: 'https://a.test' };
const PLAIN = { baseUrl: 'http://127.0.0.1:1' };
const [flushed, unflushed] = [{ writableFinished: true }, { writableFinished: false }];
const [encrypted, shaking] = [{ encrypted: true }, { encrypted: true, secureConnecting: true }];
const VIA_PROXY = { path: 'https://a.test/', socket: {}, ...flushed };
test.each<{ what: string; where: object; request: object; outcome: string }>([
	{
		what: 'TLS, not yet a secure connection',
		where: TLS,
		request: { socket: { secureConnecting: true } },
		outcome: 'notSent',
	},
	{
		what: 'TLS, the handshake under way',
		where: TLS,
		request: { socket: shaking, ...flushed },
		outcome: 'notSent',
	},
	{
		what: 'TLS, outside of the tunnel',
		where: TLS,
		request: { path: '/', socket: {}, ...flushed },
		outcome: 'notSent',
	},
	{ what: 'TLS, in plain text to a proxy', where: TLS, request: VIA_PROXY, outcome: 'unknown' },
	{
		what: 'TLS, not flushed',
		where: TLS,
		request: { socket: encrypted, ...unflushed },
		outcome: 'unknown',
	},
	{
		what: 'TLS, flushed',
		where: TLS,
		request: { socket: encrypted, ...flushed },
		outcome: 'unknown',
	},
	{
		what: 'TLS, no socket, not flushed',
		where: TLS,
		request: { socket: null, ...unflushed },
		outcome: 'notSent',
	},
	{
		what: 'TLS, no socket, flushed',
		where: TLS,
		request: { socket: null, ...flushed },
		outcome: 'unknown',
	},
	{
		what: 'plain, not flushed',
		where: PLAIN,
		request: { socket: {}, ...unflushed },
		outcome: 'notSent',
	},
	{
		what: 'plain, no socket, not flushed',
		where: PLAIN,
		request: { socket: null, ...unflushed },
		outcome: 'notSent',
	},
	{ what: 'plain, flushed', where: PLAIN, request: { socket: {}, ...flushed }, outcome: 'unknown' },
	{ what: 'plain, nothing known', where: PLAIN, request: {}, outcome: 'unknown' },
])('a request that failed is $outcome: $what', async ({ where, request, outcome }) => {
	expect(await post(thrown({ code: 'EX', request }), where)).toMatchObject({ outcome });
});

test.each<{ what: string; error: object; outcome: string }>([
	{ what: 'syscall of its own', error: { syscall: 'connect' }, outcome: 'notSent' },
	{ what: 'syscall of its cause', error: { cause: { syscall: 'connect' } }, outcome: 'notSent' },
	{
		what: 'syscall that proves nothing before that of its cause',
		error: { syscall: 'read' },
		outcome: 'unknown',
	},
])('what a failure was doing is read: a $what', async ({ error, outcome }) => {
	expect(await post(thrown(error))).toMatchObject({ outcome });
});

describe('an answer that n8n 2 hands over as an error', () => {
	const responseOf = (
		status: unknown,
		socket: object | null,
		data: unknown = '{"id":1}',
		path = '/v2/pay/payment',
	) => thrown({ request: { path, socket }, response: { status, data } });

	test.each([502, 407])(
		'with status %d from outside of the tunnel was not sent',
		async (statusCode) => {
			const reason = { is: 'stoppedByProxy', statusCode };
			const expected = { ...NOT_SENT, statusCode, response: { id: 1 }, reason };
			expect(await post(responseOf(statusCode, {}))).toStrictEqual(expected);
		},
	);

	test('to a request that went to a proxy in plain text may be the answer of the service', async () => {
		const whole = 'https://a.test/v2/pay/payment';
		expect(await post(responseOf(201, {}, '{}', whole))).toMatchObject({ outcome: 'accepted' });
		expect(await post(responseOf(502, {}, '{}', whole))).toMatchObject({ outcome: 'unknown' });
	});

	test('to an http: address nobody can tell who gave it', async () => {
		expect(await post(responseOf(502, {}), PLAIN)).toMatchObject({ ...UNKNOWN, statusCode: 502 });
		expect(await post(responseOf(502, null))).toMatchObject({ ...UNKNOWN, statusCode: 502 });
	});

	test('without a status is none', async () => {
		const reason = { is: 'connectionFailed' };
		expect(await post(responseOf('500', {}, ''))).toStrictEqual({ ...NOT_SENT, reason });
	});
});

describe('a body', () => {
	const stream = (...chunks: Array<string | Buffer>) => ({
		destroyed: 0,
		destroy() {
			this.destroyed++;
		},
		async *[Symbol.asyncIterator]() {
			for (const chunk of chunks) {
				await Promise.resolve();
				yield chunk;
			}
		},
	});
	const of = async (body: unknown, statusCode = 201) =>
		await post(async () => ({ statusCode, body }));

	test.each([
		{ what: 'nothing', body: undefined, response: '' },
		{ what: 'null', body: null, response: '' },
		{ what: 'a text', body: '{"a":1}', response: { a: 1 } },
		{ what: 'bytes', body: Buffer.from('{"a":1}'), response: { a: 1 } },
		{ what: 'what n8n parsed', body: { a: 1 }, response: { a: 1 } },
		{ what: 'a stream of texts', body: stream('{"a"', ':1}'), response: { a: 1 } },
		{ what: 'a byte order mark', body: stream(Buffer.from('\ufeff{"a":1}')), response: { a: 1 } },
		{
			what: 'a letter cut in two',
			body: stream(Buffer.from([0xc3]), Buffer.from([0xa9])),
			response: 'é',
		},
	])('of $what is read as it comes', async ({ body, response }) => {
		expect(await of(body)).toStrictEqual({ outcome: 'accepted', statusCode: 201, response });
	});

	test('of ten million characters is read', async () => {
		const { outcome, response } = await of(stream('x'.repeat(10_000_000)));
		expect([outcome, (response as string).length]).toStrictEqual(['accepted', 10_000_000]);
	});

	test('that is too long is left, and its connection ended', async () => {
		const body = stream('x'.repeat(10_000_000), 'x');
		const reason = { is: 'tooLong', statusCode: 201 };
		expect(await of(body)).toStrictEqual({ ...UNKNOWN, reason });
		expect(body.destroyed).toBeGreaterThan(0);
	});

	test('that breaks off leaves it unknown, whatever its status was', async () => {
		const reason = { is: 'brokeOff', statusCode: 422 };
		expect(await of(Readable.from(broken()), 422)).toStrictEqual({ ...UNKNOWN, reason });
		const reset = Object.assign(stream('{}'), { req: { socket: { errored: new Error('x') } } });
		expect(await of(reset, 422)).toStrictEqual({ ...UNKNOWN, reason });
	});
});

describe('a form to a token endpoint', () => {
	const URL = 'https://id.test/token';
	const ask = async (httpRequest: HttpRequest, timeout = 5_000) =>
		await tokenPoster(httpRequest, timeout)(URL, { A: 'b' }, 'a=1');

	test('goes out as it is given, uncompressed', async () => {
		const requests: object[] = [];
		const result = await ask(async (options) => {
			requests.push(options);
			return { statusCode: 200, body: '{"access_token":"t"}' };
		});
		expect(result).toStrictEqual({
			statusCode: 200,
			body: '{"access_token":"t"}',
			retryAfter: undefined,
		});
		const headers = { A: 'b', 'Accept-Encoding': 'identity' };
		expect(requests).toMatchObject([{ method: 'POST', url: URL, headers, body: 'a=1' }]);
	});

	const asksForPassword: HttpRequest = async () => ({ statusCode: 407, body: '' });
	const doesNotConnect = thrown({
		request: { path: '/', socket: {} },
		response: { status: 502, data: '' },
	});
	const breaksOff: HttpRequest = async () => ({ statusCode: 200, body: Readable.from(broken()) });
	test.each<{ what: string; httpRequest: HttpRequest; reason: Reason }>([
		{
			what: 'a proxy',
			httpRequest: asksForPassword,
			reason: { is: 'stoppedByProxy', statusCode: 407 },
		},
		{
			what: 'another',
			httpRequest: doesNotConnect,
			reason: { is: 'stoppedByProxy', statusCode: 502 },
		},
		{
			what: 'an answer that breaks off',
			httpRequest: breaksOff,
			reason: { is: 'brokeOff', statusCode: 200 },
		},
		{
			what: 'no connection',
			httpRequest: thrown({ code: 'EPIPE' }),
			reason: { is: 'connectionFailed', code: 'EPIPE' },
		},
	])('that did not go well says why: $what', async ({ httpRequest, reason }) => {
		expect(await ask(httpRequest)).toStrictEqual({ reason });
	});

	test('has an end, whoever never answers', async () => {
		expect(await ask(never, 20)).toStrictEqual({ reason: { is: 'timedOut' } });
	});
});
