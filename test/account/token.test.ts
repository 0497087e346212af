import { createHash } from 'node:crypto';
import type { Account, ClientCredentials } from '../../nodes/Pay/account/account';
import { bearerToken as fetchOrKeep, forgetToken } from '../../nodes/Pay/account/token';
import { InputError } from '../../nodes/Pay/base/inputError';
import type { TokenPost, TokenResponse } from '../../nodes/Pay/service/client';
import { reasonInWords } from '../../nodes/Pay/service/reasons';

const SECRET = 'sEcr3t/+of=the:client é';

const bearerToken = async (who: Account, post: TokenPost) =>
	await fetchOrKeep(who, post, { timeout: 30_000 });

/** The token after one that the service refused. */
async function renewed(who: Account, post: TokenPost, refused: string) {
	forgetToken(who, refused);
	return await bearerToken(who, post);
}

let accounts = 0;
/** An account of its own for each test, since tokens are kept by what is in it. */
function account(more: Partial<ClientCredentials> = {}): Account {
	const clientCredentials: ClientCredentials = {
		tokenUrl: 'https://id.example.com/token',
		clientId: `client ${++accounts}`,
		clientSecret: SECRET,
		scope: '',
		sendIn: 'header',
		...more,
	};
	const token = { clientCredentials };
	return {
		baseUrl: 'https://api.example.com',
		schemeName: 'pay',
		checksSender: false,
		limits: {},
		token,
	};
}

interface Posted {
	url: string;
	headers: Record<string, string>;
	body: string;
}

/** A token endpoint that gives token-1, token-2 … unless it is told what to answer. */
function endpoint(respond: (count: number) => unknown = () => ({ expires_in: 3600 })) {
	const posted: Posted[] = [];
	const post = async (url: string, headers: Record<string, string>, body: string) => {
		posted.push({ url, headers, body });
		const given = respond(posted.length) as Record<string, unknown>;
		await new Promise((resolve) => setImmediate(resolve));
		if ('reason' in given || 'statusCode' in given) return given as TokenResponse;
		const members = { access_token: `token-${posted.length}`, token_type: 'Bearer', ...given };
		return { statusCode: 200, body: JSON.stringify(members) };
	};
	return { post, posted };
}

let now: number;
beforeEach(() => {
	now = 1_000_000;
	jest.spyOn(performance, 'now').mockImplementation(() => now);
});
afterEach(() => jest.restoreAllMocks());

describe('one token for all who ask', () => {
	test('1000 that ask at once make one request and get the same token, none of them a kept one', async () => {
		const [who, { post, posted }] = [account(), endpoint()];
		const got = await Promise.all(
			Array.from({ length: 1000 }, async () => await bearerToken(who, post)),
		);
		expect(posted).toHaveLength(1);
		expect(new Set(got.map(({ accessToken }) => accessToken))).toStrictEqual(new Set(['token-1']));
		expect(got.every(({ isFromEarlier }) => !isFromEarlier)).toBe(true);
		expect(await bearerToken(who, post)).toStrictEqual({
			accessToken: 'token-1',
			isFromEarlier: true,
		});
	});

	test.each<{ what: string; other: Partial<ClientCredentials> }>([
		{ what: 'the address', other: { tokenUrl: 'https://id.example.com/other' } },
		{ what: 'the secret', other: { clientSecret: 'other' } },
		{ what: 'the scope', other: { scope: 'other' } },
		{ what: 'how it authenticates', other: { sendIn: 'body' } },
	])(
		'$what alone makes it another credential, with a token of its own',
		async ({ what, other }) => {
			const { post } = endpoint();
			const first = account({ clientId: `same ${what}` });
			const second = account({ clientId: `same ${what}`, ...other });
			expect((await bearerToken(first, post)).accessToken).toBe('token-1');
			expect((await bearerToken(second, post)).accessToken).toBe('token-2');
			expect((await bearerToken(first, post)).accessToken).toBe('token-1');
		},
	);

	test('a pasted token is given as it is, and nobody is asked', async () => {
		const { post, posted } = endpoint();
		const pasted = { ...account(), token: { pasted: 'abc' } };
		const got = { accessToken: 'abc', isFromEarlier: false };
		expect(await bearerToken(pasted, post)).toStrictEqual(got);
		expect(await renewed(pasted, post, 'abc')).toStrictEqual(got);
		expect(posted).toStrictEqual([]);
	});
});

describe('how long a token is used', () => {
	test.each<[unknown, number]>([
		[3600, 3540],
		['3600', 3540],
		[120, 60],
		[60, 30],
		[2, 1],
		[undefined, 60],
		[null, 60],
		[0, 60],
		[-1, 60],
		['one hour', 60],
		[1e999, 60],
	])('one of a life of %p is used for %d s', async (life, seconds) => {
		const [who, { post, posted }] = [account(), endpoint(() => ({ expires_in: life }))];
		await bearerToken(who, post);
		now += seconds * 1000 - 1;
		expect((await bearerToken(who, post)).accessToken).toBe('token-1');
		now += 1;
		expect((await bearerToken(who, post)).accessToken).toBe('token-2');
		expect(posted).toHaveLength(2);
	});

	test('the clock runs from the request on, however long the answer takes', async () => {
		const { post, posted } = endpoint(() => {
			now += 90_000;
			return { expires_in: 120 };
		});
		const who = account();
		expect((await bearerToken(who, post)).isFromEarlier).toBe(false);
		expect((await bearerToken(who, post)).isFromEarlier).toBe(false);
		expect(posted).toHaveLength(2);
	});
});

describe('a token that the service refused', () => {
	test('is replaced once, however many of its users report it and whenever', async () => {
		const [who, { post, posted }] = [account(), endpoint()];
		await bearerToken(who, post);
		const together = await Promise.all(
			Array.from({ length: 20 }, async () => await renewed(who, post, 'token-1')),
		);
		const late = await renewed(who, post, 'token-1');
		expect([...together, late].map(({ accessToken }) => accessToken)).toStrictEqual(
			Array(21).fill('token-2'),
		);
		expect(posted).toHaveLength(2);
	});

	test('who asks while it is being replaced waits for the new one', async () => {
		const [who, { post, posted }] = [account(), endpoint()];
		await bearerToken(who, post);
		const [, other] = await Promise.all([renewed(who, post, 'token-1'), bearerToken(who, post)]);
		expect(other).toStrictEqual({ accessToken: 'token-2', isFromEarlier: false });
		expect(posted).toHaveLength(2);
	});
});

describe('failures', () => {
	test('are told to all who wait, and not remembered', async () => {
		const down = (count: number) =>
			count === 1 ? { statusCode: 503, body: '' } : { expires_in: 60 };
		const [who, { post, posted }] = [account(), endpoint(down)];
		const waiting = await Promise.allSettled(
			Array.from({ length: 10 }, async () => await bearerToken(who, post)),
		);
		expect(waiting.map(({ status }) => status)).toStrictEqual(Array(10).fill('rejected'));
		expect(posted).toHaveLength(1);
		expect((await bearerToken(who, post)).accessToken).toBe('token-2');
	});

	test('of a replacement leave no token behind that was refused', async () => {
		const down = (count: number) =>
			count === 2 ? { statusCode: 503, body: '' } : { expires_in: 60 };
		const [who, { post }] = [account(), endpoint(down)];
		await bearerToken(who, post);
		await expect(renewed(who, post, 'token-1')).rejects.toThrow(InputError);
		expect((await bearerToken(who, post)).accessToken).toBe('token-3');
	});

	const failureOf = async (who: Account, post: TokenPost) => {
		const failure = await bearerToken(who, post).catch((error: unknown) => error);
		expect(failure).toBeInstanceOf(InputError);
		return failure as InputError;
	};

	test('an endpoint that cannot be reached is told with the reason', async () => {
		const reason = { is: 'connectionFailed', code: 'ECONNREFUSED' } as const;
		const { post } = endpoint(() => ({ reason }));
		expect(await failureOf(account(), post)).toMatchObject({
			field: 'tokenUrl',
			message: `Could not get an access token: the token endpoint cannot be reached: ${reasonInWords(reason)}`,
		});
	});

	const CLIENT = 'the token endpoint rejected the client';
	const REQUEST = 'the token endpoint rejected the request';
	const REDIRECTS = 'the token endpoint redirects elsewhere';
	const FAILING = 'the token endpoint is failing';
	const NONE = 'there is no token endpoint at this address';
	test.each<[number, string, string, string]>([
		[101, '', 'tokenUrl', `${FAILING} (HTTP 101)`],
		[300, '', 'tokenUrl', `${REDIRECTS} (HTTP 300)`],
		[399, '', 'tokenUrl', `${REDIRECTS} (HTTP 399)`],
		[400, '', 'clientAuthentication', `${REQUEST} (HTTP 400)`],
		[400, 'invalid_grant', 'clientAuthentication', `${REQUEST} (HTTP 400, invalid_grant)`],
		[400, 'invalid_request', 'clientAuthentication', `${REQUEST} (HTTP 400, invalid_request)`],
		[400, 'unauthorized_client', 'clientSecret', `${CLIENT} (HTTP 400, unauthorized_client)`],
		[
			400,
			'invalid_scope',
			'scope',
			'the token endpoint rejected the scope (HTTP 400, invalid_scope)',
		],
		[401, '', 'clientSecret', `${CLIENT} (HTTP 401)`],
		[401, 'invalid_client', 'clientSecret', `${CLIENT} (HTTP 401, invalid_client)`],
		[403, '', 'clientSecret', `${CLIENT} (HTTP 403)`],
		[404, '', 'tokenUrl', `${NONE} (HTTP 404)`],
		[405, '', 'tokenUrl', `${NONE} (HTTP 405)`],
		[408, '', 'tokenUrl', `${FAILING} (HTTP 408)`],
		[429, '', 'tokenUrl', `${FAILING} (HTTP 429)`],
		[499, '', 'clientAuthentication', `${REQUEST} (HTTP 499)`],
		[500, '', 'tokenUrl', `${FAILING} (HTTP 500)`],
	])('%d %s: the field %s is named', async (statusCode, code, field, words) => {
		const body = code === '' ? '' : JSON.stringify({ error: code });
		const { post } = endpoint(() => ({ statusCode, body }));
		expect(await failureOf(account(), post)).toMatchObject({
			field,
			message: `Could not get an access token: ${words}`,
		});
	});

	test.each([
		{ what: 'a page', statusCode: 200, body: '<html>' },
		{ what: 'nothing', statusCode: 204, body: '' },
		{ what: 'a list', statusCode: 200, body: '[]' },
		{ what: 'null', statusCode: 200, body: 'null' },
		{ what: 'an empty token', statusCode: 200, body: '{"access_token":""}' },
		{ what: 'a token that is a number', statusCode: 200, body: '{"access_token":5}' },
		{ what: 'a token with a line end', statusCode: 200, body: '{"access_token":"a\\r\\nX: y"}' },
	])('a response that is $what holds no token', async ({ statusCode, body }) => {
		const { post } = endpoint(() => ({ statusCode, body }));
		expect(await failureOf(account(), post)).toMatchObject({
			field: 'tokenUrl',
			message: `Could not get an access token: the response of the token endpoint contains no access_token (HTTP ${statusCode})`,
		});
	});

	test.each([undefined, null, 'BEARER', 'Access', 7])(
		'a token of type %p is taken',
		async (type) => {
			const { post } = endpoint(() => ({ token_type: type }));
			expect((await bearerToken(account(), post)).accessToken).toBe('token-1');
		},
	);

	test.each<{ what: string; members: object }>([
		{ what: 'access_token', members: { access_token: 't-1' } },
		{ what: 'accessToken', members: { accessToken: 't-1' } },
		{ what: 'access_token within data', members: { success: true, data: { access_token: 't-1' } } },
		{
			what: 'accessToken within data',
			members: { data: { accessToken: 't-1', expires_in: 3600 } },
		},
	])('a token is read from $what', async ({ members }) => {
		const answer = () => ({ statusCode: 200, body: JSON.stringify(members) });
		expect((await bearerToken(account(), endpoint(answer).post)).accessToken).toBe('t-1');
	});

	test.each<{ what: string; body: unknown; words: string }>([
		{
			what: 'error_description',
			body: { error: 'x', error_description: 'Send JSON' },
			words: '"Send JSON"',
		},
		{ what: 'message', body: { message: ' Send\nJSON ' }, words: '"Send JSON"' },
		{
			what: 'a message within error',
			body: { error: { code: 7, message: 'Send JSON' } },
			words: '"Send JSON"',
		},
		{ what: 'text', body: 'Send JSON', words: '"Send JSON"' },
		{
			what: 'what may be a token',
			body: { message: 'No eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9' },
			words: '"No ***"',
		},
	])('the words of the endpoint are told: $what', async ({ body, words }) => {
		const { post } = endpoint(() => ({ statusCode: 415, body }));
		expect((await failureOf(account(), post)).advice).toBe(
			`The endpoint said: ${words}. Check Client ID and Client Secret of the Pay API credential. The credential sends them with Client Authentication set to "Header". If they are right, choose another one: "Body", "Header and JSON Body" or "JSON Body". For a secret with + or %, try "Body" first.`,
		);
	});

	test.each<{ statusCode: number; sendIn: ClientCredentials['sendIn']; others: string }>([
		{ statusCode: 400, sendIn: 'body', others: '"Header", "Header and JSON Body" or "JSON Body"' },
		{ statusCode: 401, sendIn: 'headerJson', others: '"Body", "Header" or "JSON Body"' },
		{ statusCode: 415, sendIn: 'json', others: '"Body", "Header" or "Header and JSON Body"' },
	])('$statusCode: the other choices are named', async ({ statusCode, sendIn, others }) => {
		const { post } = endpoint(() => ({ statusCode, body: '' }));
		const { advice } = await failureOf(account({ sendIn }), post);
		expect(advice).toContain(`If they are right, choose another one: ${others}.`);
	});

	test('what no other choice mends names none', async () => {
		for (const statusCode of [302, 404, 429, 500]) {
			const { post } = endpoint(() => ({ statusCode, body: '' }));
			const { advice } = await failureOf(account(), post);
			expect(advice).not.toContain('Client Authentication');
		}
	});

	test('an endpoint that repeats what it was sent gets neither secret nor token into an error', async () => {
		let echoed = '';
		for (const sendIn of ['header', 'body', 'json', 'headerJson'] as const) {
			for (const statusCode of [200, 302, 400, 401, 404, 500]) {
				const repeating = async (_url: string, headers: object, body: string) => {
					echoed = `${SECRET} t0ken-of-it ${JSON.stringify(headers)} ${body}`;
					const members = { error: echoed, error_description: echoed, token_type: echoed };
					return { statusCode, body: { ...members, access_token: 't0ken-of-it and more' } };
				};
				const who = account({ sendIn });
				const failure = await failureOf(who, repeating);
				// The control: the secret was there to be repeated.
				expect(echoed).toContain(SECRET);
				const { message, advice, field } = failure;
				const everythingSaid = JSON.stringify([message, advice, field, failure]);
				for (const secret of [...secretsOf(who), 't0ken']) {
					expect(everythingSaid).not.toContain(secret);
				}
			}
		}
	});
});

const btoaUtf8 = (text: string) => Buffer.from(text).toString('base64');

function secretsOf({ token }: Account): string[] {
	if (!('clientCredentials' in token)) return [];
	const { clientId, clientSecret } = token.clientCredentials;
	const encoded = new URLSearchParams({ '': clientSecret }).toString().slice(1);
	return [clientSecret, encoded, btoaUtf8(`${clientId}:${clientSecret}`)];
}

describe('the request (RFC 6749, section 4.4.2)', () => {
	test('has ID and secret in the header as they are, as n8n and other clients send them', async () => {
		const { post, posted } = endpoint();
		await bearerToken(account({ clientId: 'a b+c==', scope: 'one two' }), post);
		const [{ url, headers, body }] = posted as [Posted];
		expect(url).toBe('https://id.example.com/token');
		expect(headers).toStrictEqual({
			'Content-Type': 'application/x-www-form-urlencoded',
			Accept: 'application/json',
			Authorization: `Basic ${btoaUtf8(`a b+c==:${SECRET}`)}`,
		});
		expect(Object.fromEntries(new URLSearchParams(body))).toStrictEqual({
			grant_type: 'client_credentials',
			scope: 'one two',
		});
	});

	test('is the example of RFC 7617, section 2, in the header', async () => {
		const { post, posted } = endpoint();
		await bearerToken(account({ clientId: 'Aladdin', clientSecret: 'open sesame' }), post);
		expect(posted[0]?.headers.Authorization).toBe('Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==');
	});

	test('has all of it in a JSON body, and no header holds it', async () => {
		const { post, posted } = endpoint();
		await bearerToken(account({ clientId: 'a&b=c', scope: 'one two', sendIn: 'json' }), post);
		const [{ headers, body }] = posted as [Posted];
		expect(headers).toStrictEqual({
			'Content-Type': 'application/json',
			Accept: 'application/json',
		});
		expect(JSON.parse(body)).toStrictEqual({
			grant_type: 'client_credentials',
			scope: 'one two',
			client_id: 'a&b=c',
			client_secret: SECRET,
		});
	});

	test('has ID and secret in the header as they are, beside the grant as JSON', async () => {
		const { post, posted } = endpoint();
		const client = { clientId: 'a b', sendIn: 'headerJson' } as const;
		await bearerToken(account(client), post);
		await bearerToken(account({ ...client, scope: 'one two' }), post);
		const headers = {
			'Content-Type': 'application/json',
			Accept: 'application/json',
			Authorization: `Basic ${btoaUtf8(`a b:${SECRET}`)}`,
		};
		expect(posted.map((each) => each.headers)).toStrictEqual([headers, headers]);
		expect(posted.map(({ body }) => body)).toStrictEqual([
			'{"grant_type":"client_credentials"}',
			'{"grant_type":"client_credentials","scope":"one two"}',
		]);
	});

	test('has ID and secret as members of its form, and no header holds them', async () => {
		const { post, posted } = endpoint();
		await bearerToken(account({ clientId: 'a&b=c', sendIn: 'body' }), post);
		const [{ headers, body }] = posted as [Posted];
		expect(headers.Authorization).toBeUndefined();
		expect(Object.fromEntries(new URLSearchParams(body))).toStrictEqual({
			grant_type: 'client_credentials',
			client_id: 'a&b=c',
			client_secret: SECRET,
		});
	});
});

test('tokens of the last 200 credentials are kept, and those of older ones are forgotten', async () => {
	const { post, posted } = endpoint();
	const all = Array.from({ length: 201 }, () => account());
	for (const each of all) await bearerToken(each, post);
	expect(posted).toHaveLength(201);
	for (const each of all.slice(1)) expect((await bearerToken(each, post)).isFromEarlier).toBe(true);
	expect(posted).toHaveLength(201);
	expect((await bearerToken(all[0]!, post)).isFromEarlier).toBe(false);
});

test('no client secret is what tokens are found by', async () => {
	const set = jest.spyOn(Map.prototype, 'set');
	const who = account();
	await bearerToken(who, endpoint().post);
	const keys = JSON.stringify(set.mock.calls.map(([key]) => key));
	const { clientCredentials } = who.token as { clientCredentials: ClientCredentials };
	// The positive control: the name tokens are kept under is among the keys that were seen.
	expect(keys).toContain(
		createHash('sha256').update(JSON.stringify(clientCredentials)).digest('base64'),
	);
	expect(keys).not.toContain(SECRET);
});
