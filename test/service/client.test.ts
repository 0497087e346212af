import { Readable } from 'node:stream';
import { tokenPoster, postRequest, type Judgement } from '../../nodes/Pay/service/client';
import type { HttpRequest } from '../../nodes/Pay/service/exchange';
import { OPERATIONS } from '../serviceOperations';
import { hideSecrets } from '../../nodes/Pay/postback/proof';
import type { Outcome } from '../../nodes/Pay/service/outcome';
import { reasonInWords, type Reason } from '../../nodes/Pay/service/reason';

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

const ACCEPTED = { outcome: 'accepted', statusCode: 201, response: { id: 1 } };
test.each([
	['a text', '{"id":1}'],
	['bytes', Buffer.from('{"id":1}')],
	['a stream', Readable.from([Buffer.from('{"id"'), Buffer.from(':1}')])],
	['what n8n parsed', { id: 1 }],
])('a body is read as it comes: %s', async (_, body) => {
	expect(await post(async () => ({ statusCode: 201, body }))).toStrictEqual(ACCEPTED);
});

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
	const answer = await post(async () => ({ statusCode: 201, body }), { timeout: 20 });
	expect(answer).toMatchObject({ outcome: 'unknown', reason: { is: 'timedOut' } });
});

describe('what a response says counts beside its status', () => {
	const SAID_NO: Judgement = { means: 'rejected', reason: { is: 'saidNo', path: 'ok' } };
	const SAID_YES: Judgement = { means: 'confirmed', reason: { is: 'saidYes', path: 'ok' } };
	const NOT_CONFIRMED: Judgement = {
		means: 'notConfirmed',
		reason: { is: 'notConfirmed', field: 'ok' },
	};

	test.each<[number, Judgement | undefined, Outcome, Reason | undefined]>([
		[200, undefined, 'accepted', undefined],
		[200, SAID_YES, 'accepted', undefined],
		[200, SAID_NO, 'rejected', SAID_NO.reason],
		[200, NOT_CONFIRMED, 'unknown', NOT_CONFIRMED.reason],
		[422, undefined, 'rejected', undefined],
		// A gateway that says no in front of a service that says yes.
		[422, SAID_YES, 'unknown', SAID_YES.reason],
		[422, SAID_NO, 'rejected', SAID_NO.reason],
		[422, NOT_CONFIRMED, 'rejected', undefined],
		[409, SAID_NO, 'rejected', SAID_NO.reason],
		[409, SAID_YES, 'unknown', undefined],
		[499, SAID_NO, 'rejected', SAID_NO.reason],
		[500, SAID_NO, 'unknown', undefined],
		[503, SAID_YES, 'unknown', undefined],
	])('status %d and %j', async (statusCode, judgement, outcome, reason) => {
		const respond = async () => ({ statusCode, body: '{"ok":1}' });
		const { reason: told, ...result } = await post(respond, { judge: () => judgement });
		expect(result).toStrictEqual({ outcome, statusCode, response: { ok: 1 } });
		expect(told).toStrictEqual(reason);
	});

	test('and not that of a proxy, which asks for its own password', async () => {
		const respond = async () => ({ statusCode: 407, body: '{"ok":1}' });
		expect(await post(respond, { judge: () => SAID_NO })).toStrictEqual({
			outcome: 'notSent',
			statusCode: 407,
			response: { ok: 1 },
			reason: { is: 'stoppedByProxy', statusCode: 407 },
		});
	});

	test('before secrets are taken out of it', async () => {
		const respond = async () => ({ statusCode: 200, body: '{"status":"accepted-for-good"}' });
		const judge = jest.fn(() => undefined);
		const hide = (value: unknown) => hideSecrets(value, ['accepted-for-good']);
		expect(await post(respond, { hide, judge })).toStrictEqual({
			outcome: 'accepted',
			statusCode: 200,
			response: { status: '***' },
		});
		expect(judge.mock.calls).toStrictEqual([[{ status: 'accepted-for-good' }]]);
	});

	test.each([
		['text/html', 'OK'],
		['text/html', '<p>OK</p>'],
		['application/json', 'OK'],
	])('a word for yes in a 200 that looks like nothing (%s, %s) is a yes', async (type, body) => {
		const respond = async () => ({ statusCode: 200, body, headers: { 'content-type': type } });
		expect(await post(respond, { judge: () => SAID_YES })).toStrictEqual({
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

describe('the header for the External ID', () => {
	const headersOf = async (identifier: 'its own' | 'of something else', more: More = {}) => {
		const ask = jest.fn(async (_options: Parameters<HttpRequest>[0]) => ({
			statusCode: 200,
			body: '{}',
		}));
		const operation = { ...OPERATIONS.payment, identifier };
		await postRequest(ask, { ...CONNECTION, ...more }, operation, BODY);
		return ask.mock.calls[0]?.[0].headers;
	};
	const OWN = {
		Authorization: 'Bearer token-of-the-test',
		'Content-Type': 'application/json',
		Accept: 'application/json',
		'Accept-Encoding': 'identity',
	};

	test('carries the identifier that a request has of its own, and only where it is named', async () => {
		const externalIdHeader = 'Idempotency-Key';
		expect(await headersOf('its own', { externalIdHeader })).toStrictEqual({
			...OWN,
			'Idempotency-Key': 'x',
		});
		expect(await headersOf('of something else', { externalIdHeader })).toStrictEqual(OWN);
		expect(await headersOf('its own')).toStrictEqual(OWN);
	});
});

test('a 409 leaves a payment unknown, and says nothing of a QR code but that it is refused', async () => {
	const conflict = async () => ({ statusCode: 409, body: '{}' });
	expect((await post(conflict)).outcome).toBe('unknown');
	const charge = await postRequest(conflict, CONNECTION, OPERATIONS.qrCode, BODY);
	expect(charge.outcome).toBe('rejected');
});

// To which addresses which statuses are handed over as errors: exchange.test.ts.
test('what goes to the request helper is this and nothing else', async () => {
	const asked: unknown[] = [];
	await post(async (options) => {
		asked.push(options);
		return { statusCode: 200, body: '{}' };
	});
	expect(asked).toStrictEqual([
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

test.each<[string, object, string]>([
	['a name that is not known', { code: 'ENOTFOUND' }, 'the host name is not known (ENOTFOUND)'],
	['a connection that broke', { code: 'ECONNRESET' }, 'the connection was broken (ECONNRESET)'],
	['a time-out', { code: 'ECONNABORTED' }, 'the time-out passed (ECONNABORTED)'],
	['another time-out', { code: 'ETIMEDOUT' }, 'the time-out passed (ETIMEDOUT)'],
	['an end too early', { code: 'ERR_BAD_RESPONSE' }, 'the response broke off (ERR_BAD_RESPONSE)'],
	['a cancelled request', { code: 'ERR_CANCELED' }, 'the request was cancelled (ERR_CANCELED)'],
	['a code without words', { code: 'EWHATEVER' }, 'the connection failed (EWHATEVER)'],
	['what is no code', { code: 'token of someone' }, 'the connection failed'],
	['a code in small letters', { code: 'xECONNRESET' }, 'the connection failed'],
	['a code with more behind it', { code: 'ECONNRESET!' }, 'the connection failed'],
	['no code', {}, 'the connection failed'],
	['a code of its cause', { cause: { code: 'EPIPE' } }, 'the connection was broken (EPIPE)'],
	["n8n's guard", { name: 'SsrfBlockedIpError' }, 'this n8n is not allowed to reach that host'],
])('%s is told in words, without anything secret', async (_what, error, reason) => {
	expect(reasonInWords((await post(thrown(error))).reason!)).toBe(reason);
});

const TLS = { baseUrl: 'https://a.test' };
const PLAIN = { baseUrl: 'http://127.0.0.1:1' };
const [flushed, unflushed] = [{ writableFinished: true }, { writableFinished: false }];
const [encrypted, shaking] = [{ encrypted: true }, { encrypted: true, secureConnecting: true }];
const VIA_PROXY = { path: 'https://a.test/', socket: {}, ...flushed };
test.each<[string, object, object, string]>([
	['TLS, not yet a secure connection', TLS, { socket: { secureConnecting: true } }, 'notSent'],
	['TLS, the handshake under way', TLS, { socket: shaking, ...flushed }, 'notSent'],
	['TLS, outside of the tunnel', TLS, { path: '/', socket: {}, ...flushed }, 'notSent'],
	['TLS, in plain text to a proxy', TLS, VIA_PROXY, 'unknown'],
	['TLS, not flushed', TLS, { socket: encrypted, ...unflushed }, 'unknown'],
	['TLS, flushed', TLS, { socket: encrypted, ...flushed }, 'unknown'],
	['TLS, no socket, not flushed', TLS, { socket: null, ...unflushed }, 'notSent'],
	['TLS, no socket, flushed', TLS, { socket: null, ...flushed }, 'unknown'],
	['plain, not flushed', PLAIN, { socket: {}, ...unflushed }, 'notSent'],
	['plain, no socket, not flushed', PLAIN, { socket: null, ...unflushed }, 'notSent'],
	['plain, flushed', PLAIN, { socket: {}, ...flushed }, 'unknown'],
	['plain, nothing known', PLAIN, {}, 'unknown'],
])('a request that failed, %s', async (_what, where, request, outcome) => {
	expect(await post(thrown({ code: 'EX', request }), where)).toMatchObject({ outcome });
});

test.each<[string, object, string]>([
	['syscall of its own', { syscall: 'connect' }, 'notSent'],
	['syscall of its cause', { cause: { syscall: 'connect' } }, 'notSent'],
	['syscall that proves nothing before that of its cause', { syscall: 'read' }, 'unknown'],
])('what a failure was doing is read: a %s', async (_what, error, outcome) => {
	expect(await post(thrown(error))).toMatchObject({ outcome });
});

describe('an answer that n8n 2 hands over as an error', () => {
	const answer = (
		status: unknown,
		socket: object | null,
		data: unknown = '{"id":1}',
		path = '/v2/pay/payment',
	) => thrown({ request: { path, socket }, response: { status, data } });

	test.each([502, 407])(
		'with status %d from outside of the tunnel was not sent',
		async (statusCode) => {
			const reason = { is: 'stoppedByProxy', statusCode };
			const said = { ...NOT_SENT, statusCode, response: { id: 1 }, reason };
			expect(await post(answer(statusCode, {}))).toStrictEqual(said);
		},
	);

	test('to a request that went to a proxy in plain text may be the answer of the service', async () => {
		const whole = 'https://a.test/v2/pay/payment';
		expect(await post(answer(201, {}, '{}', whole))).toMatchObject({ outcome: 'accepted' });
		expect(await post(answer(502, {}, '{}', whole))).toMatchObject({ outcome: 'unknown' });
	});

	test('to an http: address nobody can tell who gave it', async () => {
		expect(await post(answer(502, {}), PLAIN)).toMatchObject({ ...UNKNOWN, statusCode: 502 });
		expect(await post(answer(502, null))).toMatchObject({ ...UNKNOWN, statusCode: 502 });
	});

	test('without a status is none', async () => {
		const reason = { is: 'connectionFailed' };
		expect(await post(answer('500', {}, ''))).toStrictEqual({ ...NOT_SENT, reason });
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
		['nothing', undefined, ''],
		['null', null, ''],
		['a byte order mark before it', stream(Buffer.from('\ufeff{"a":1}')), { a: 1 }],
		['a letter cut in two', stream(Buffer.from([0xc3]), Buffer.from([0xa9])), 'é'],
		['texts', stream('{"a"', ':1}'), { a: 1 }],
		['ten million characters', stream('x'.repeat(10_000_000)), 'x'.repeat(10_000_000)],
	])('of %s', async (_what, body, response) => {
		const answer = await of(body);
		expect(answer.outcome).toBe('accepted');
		expect(answer.response === response || answer.response).toStrictEqual(
			typeof response === 'string' ? true : response,
		);
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
		const asked: object[] = [];
		const answer = await ask(async (options) => {
			asked.push(options);
			return { statusCode: 200, body: '{"access_token":"t"}' };
		});
		expect(answer).toStrictEqual({ statusCode: 200, body: '{"access_token":"t"}' });
		const headers = { A: 'b', 'Accept-Encoding': 'identity' };
		expect(asked).toMatchObject([{ method: 'POST', url: URL, headers, body: 'a=1' }]);
	});

	const asksForPassword: HttpRequest = async () => ({ statusCode: 407, body: '' });
	const doesNotConnect = thrown({
		request: { path: '/', socket: {} },
		response: { status: 502, data: '' },
	});
	const breaksOff: HttpRequest = async () => ({ statusCode: 200, body: Readable.from(broken()) });
	test.each<[string, HttpRequest, Reason]>([
		['a proxy', asksForPassword, { is: 'stoppedByProxy', statusCode: 407 }],
		['another', doesNotConnect, { is: 'stoppedByProxy', statusCode: 502 }],
		['an answer that breaks off', breaksOff, { is: 'brokeOff', statusCode: 200 }],
		['no connection', thrown({ code: 'EPIPE' }), { is: 'connectionFailed', code: 'EPIPE' }],
	])('%s is told', async (_what, httpRequest, reason) => {
		expect(await ask(httpRequest)).toStrictEqual({ reason });
	});

	test('has an end, whoever never answers', async () => {
		expect(await ask(never, 20)).toStrictEqual({ reason: { is: 'timedOut' } });
	});
});
