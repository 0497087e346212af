import 'reflect-metadata';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { ICredentialTestFunctions } from 'n8n-workflow';
import { testPayCredential } from '../../nodes/Pay/credential/credentialTest';
import { Sandbox } from '../../sandbox/service';
import type { Fault } from '../../sandbox/faults';
import { credentialRequest } from '../wire/requestHelper';

/** n8n's own request function, as the credential test calls it. */
const request = credentialRequest(join(__dirname, '../../node_modules'));

const SECRET = 'the secret: of+the/shop=';
let sandbox: Sandbox;
let client: Record<string, unknown>;
beforeAll(async () => {
	const clientId = randomUUID();
	sandbox = await Sandbox.start({
		schemeName: 'fast',
		clientCredentials: { clientId, clientSecret: SECRET, scope: 'pay' },
	});
	client = {
		describeService: true,
		schemeName: 'fast',
		baseUrl: sandbox.url,
		authentication: 'clientCredentials',
		tokenUrl: sandbox.tokenUrl,
		clientId,
		clientSecret: SECRET,
	};
});
afterAll(async () => await sandbox.close());
beforeEach(() => {
	sandbox.faultFor = sandbox.tokenFaultFor = undefined;
	sandbox.received.length = sandbox.tokenRequests.length = 0;
});

async function verdict(data: Record<string, unknown>, how: unknown = request) {
	const context = { helpers: { request: how } } as unknown as ICredentialTestFunctions;
	const credential = { id: '1', name: 'Pay API', type: 'payApi', data };
	const { status, message } = await testPayCredential.call(context, credential as never);
	return `${status}: ${message}`;
}

const status = (number: number, more: Partial<Fault> = {}): Fault =>
	({ kind: 'status', status: number, ...more }) as Fault;

test('a good credential: one token, one empty request, and nothing is made', async () => {
	expect(await verdict(client)).toBe('OK: The service accepts the access token');
	expect(sandbox.tokenRequests).toHaveLength(1);
	expect(sandbox.received.map(({ path, body }) => `${path} ${body}`)).toStrictEqual([
		'/v2/fast/qrcode {}',
	]);
	expect(sandbox.transactions).toStrictEqual([]);
});

test.each<[string, string | undefined, string, RegExp]>([
	['fewer scopes', 'pay.read', 'pay.read pay.write', /^Error: .*did not grant pay\.write:/],
	['others', 'openid,pay.read', 'a pay.read  b', /^Error: .*did not grant a and b:/],
	['more', 'pay.write openid pay.read', 'pay.read pay.write', /rejected the access token/],
	['the same, which it need not say', undefined, 'pay.read pay.write', /rejected the access token/],
])('a token endpoint that grants %s', async (_what, granted, scope, words) => {
	const body = JSON.stringify({ access_token: randomUUID(), scope: granted });
	sandbox.tokenFaultFor = () => status(200, { body });
	expect(await verdict({ ...client, clientId: randomUUID(), scope })).toMatch(words);
});

const ON_HTTPS =
	'<h1>400 Bad Request</h1><center>The plain HTTP request was sent to HTTPS port</center><hr><center>nginx/1.22.1</center>';
const USE_HTTPS =
	'takes only https: (HTTP 400, on a page of nginx): write https:// at the start of the Base URL';
const OF_HAPROXY =
	'<html><body><h1>503 Service Unavailable</h1>\nNo server is available.\n</body></html>\n';
test.each([
	['plain HTTP at a port of HTTPS', 400, ON_HTTPS, USE_HTTPS],
	['a page of HAProxy', 503, OF_HAPROXY, 'is failing (HTTP 503, on a page of HAProxy)'],
])('%s is told', async (_what, code, body, words) => {
	sandbox.faultFor = () => status(code, { body });
	expect(await verdict(client)).toBe(`Error: The service ${words}`);
});

test.each([
	[{ statusField: 'status' }, /^Error: The Status Field of .* must both be there, as text\. \S/],
	[{ resultField: 'ok' }, /^Error: The Result Field of .* must both be there/],
	[{ statusField: 'status', paidValues: 'paid\n' }, /^OK/],
])('a description of the service is read too: %j', async (fields, words) => {
	expect(await verdict({ ...client, describeService: true, ...fields })).toMatch(words);
	expect(sandbox.received).toHaveLength(words.source.includes('OK') ? 1 : 0);
});

test('a proxy in front of the token endpoint that asks for its own password is told as that', async () => {
	sandbox.tokenFaultFor = () => status(407);
	expect(await verdict(client)).toMatch(/a proxy on the way asks for its own name and password/);
});

test('a token that is kept is not what is tested: a client that is refused by now is told', async () => {
	expect(await verdict(client)).toMatch(/^OK/);
	sandbox.tokenFaultFor = () => status(401, { body: '{"error":"invalid_client"}' });
	expect(await verdict(client)).toMatch(/rejected the client \(HTTP 401, invalid_client\)/);
	sandbox.tokenFaultFor = undefined;
	sandbox.revokeTokens();
	expect(await verdict(client)).toMatch(/^OK/);
});

const UNREGISTERED = '{"message":"The requested webhook \\"POST v2\\" is not registered."}';
const NO_WORKFLOW =
	/^Error: n8n answered: no workflow is published at this address \(HTTP 404\)\. Publish/;
const LOGIN = { body: '<html><title>Log in</title>', contentType: 'text/html' };
const NO_PAGE = { body: '{}', contentType: 'text/html' };
test.each<[string, Fault, RegExp]>([
	['400', status(400), /^OK: The service accepts the access token$/],
	['422', status(422), /^OK/],
	['200', status(200), /^OK: The service accepts the access token$/],
	['401', status(401), /^Error: The service rejected the access token \(HTTP 401\).*allow-list/],
	['403', status(403), /^Error: The service rejected the access token \(HTTP 403\).*allow-list/],
	['n8n without such a workflow', status(404, { body: UNREGISTERED }), NO_WORKFLOW],
	['404', status(404), /^Error: .*Base URL is wrong, or the Scheme Name/],
	['405', status(405), /^Error: .*Base URL is wrong, or the Scheme Name/],
	['407', status(407), /^Error: A proxy on the way asks for its own password/],
	['408', status(408), /^Error: The service is failing \(HTTP 408\)/],
	['499', status(499), /^Error: The service is failing \(HTTP 499\)/],
	['429', status(429), /^Error: .*takes no more requests for now \(HTTP 429\)/],
	['302', status(302, { location: '/elsewhere' }), /^Error: .*redirects elsewhere \(HTTP 302\)/],
	['300', status(300), /^Error: .*redirects elsewhere/],
	['399', status(399), /^Error: .*redirects elsewhere/],
	['308', status(308, { location: '/elsewhere' }), /^Error: .*redirects elsewhere/],
	['500', status(500), /^Error: The service is failing \(HTTP 500\)/],
	['503', status(503), /^Error: The service is failing/],
	['a page', status(200, LOGIN), /^Error: .* web page titled "Log in" \(HTTP 200\)/],
	['a page as JSON', status(400, { body: '\n <!DOCTYPE html>' }), /^Error: .* web page/],
	['a text as a page', status(400, { ...NO_PAGE, body: 'Hi' }), /^Error: .* web page/],
	['JSON as a page', status(400, NO_PAGE), /^OK/],
	['JSON that quotes a page', status(400, { body: '{"not":"<html>"}' }), /^OK/],
	['no answer', { kind: 'reset-after-body' }, /^Error: The service cannot be reached/],
])('the service answers with %s', async (_what, fault, expected) => {
	sandbox.faultFor = () => fault;
	expect(await verdict(client)).toMatch(expected);
	const pasted = {
		describeService: true,
		schemeName: 'fast',
		baseUrl: sandbox.url,
		accessToken: 'x',
	};
	expect(await verdict(pasted)).toMatch(expected);
	// Redirects are not followed, and nothing is tried twice.
	expect(sandbox.received).toHaveLength(2);
});

const NOWHERE = 'http://127.0.0.1:1';
const NOT_THERE = /endpoint cannot be reached: the connection was refused \(ECONNREFUSED\)\./;
const IN_DOCKER =
	/: Nothing answers at 127\.0\.0\.1:1\. If n8n runs in Docker, that address is the container itself: use host\.docker\.internal and turn on Allow HTTP\.$/;
const OWN_PORT =
	/: Nothing answers at 127\.0\.0\.1:1\. A webhook of this n8n .* N8N_PORT says otherwise/;
const NO_TLS = /: The address does not speak https\. Is it http:\/\/…\?$/;
const PASTED = { authentication: 'accessToken', accessToken: 'x' };
test.each<[string, Record<string, unknown>, RegExp]>([
	['nothing', { baseUrl: '' }, /Base URL .* is empty/],
	[
		'another scheme',
		{ schemeName: 'slow' },
		/is wrong, or the Scheme Name in Paths under Describe/,
	],
	['a scheme name of two segments', { schemeName: 'a/b' }, /one segment of a path/],
	['a tail of another', { baseUrl: 'https://x.example.com/v2/slow/qrcode' }, /"slow".*"fast"/],
	['a wrong secret', { clientSecret: 'wrong' }, /rejected the client/],
	['no secret', { clientSecret: '' }, /Client Secret .* is empty/],
	['a short postback secret', { postbackSecret: 'abc' }, /Postback Secret .* at least 16/],
	['a previous one alone', { previousPostbackSecret: SECRET }, /Postback Secret .* is empty/],
	['a wrong scope', { scope: 'all' }, /rejected the scope/],
	['no token endpoint there', { tokenUrl: NOWHERE }, NOT_THERE],
	['a pasted token that is none', PASTED, /rejected the access token/],
	['a service that is not there', { baseUrl: NOWHERE }, IN_DOCKER],
	['a webhook at another port', { baseUrl: `${NOWHERE}/webhook` }, OWN_PORT],
	['https: for a service that speaks http:', { baseUrl: '$SANDBOX' }, NO_TLS],
])('entered is %s', async (_what, change, expected) => {
	const entered = { ...client, ...change } as { baseUrl: string };
	const baseUrl = entered.baseUrl.replace('$SANDBOX', sandbox.url.replace('http:', 'https:'));
	const said = await verdict({ ...entered, baseUrl });
	expect(said).toMatch(/^Error: /);
	expect(said).toMatch(expected);
});

test.each([
	['https://service.example.com', 'ENOTFOUND', 'the host name is not known (ENOTFOUND)'],
	['https://service.example.com', 'ECONNREFUSED', 'the connection was refused (ECONNREFUSED)'],
	['https://service.example.com', 'ETIMEDOUT', 'the time-out passed (ETIMEDOUT)'],
	['http://localhost:8787', 'ECONNRESET', 'the connection was broken (ECONNRESET)'],
])('%s that fails with %s is told in the words of a run', async (baseUrl, code, words) => {
	const fails = async () => await Promise.reject(Object.assign(new Error('x'), { code }));
	expect(await verdict({ baseUrl, accessToken: 'abc' }, fails)).toBe(
		`Error: The service cannot be reached: ${words}. Check the Base URL and the network.`,
	);
});

test('what a request function throws is told without what it holds', async () => {
	const error = (members: object) => Object.assign(new Error(SECRET), members);
	for (const thrown of [
		...[SECRET, `EPROTO ${SECRET}`, `${SECRET} EPROTO`].map((code) => error({ code })),
		error({ cause: { code: SECRET } }),
		SECRET,
		undefined,
		{ code: 5 },
	]) {
		const fails = async () => await Promise.reject(thrown as Error);
		for (const data of [client, { ...client, ...PASTED }]) {
			const said = await verdict({ ...data, clientId: randomUUID() }, fails);
			expect(said).toMatch(/^Error: .*cannot be reached.*the connection failed/);
			expect(said).not.toContain(SECRET);
		}
	}
});

test('a credential that cannot be read is told, without what it holds', async () => {
	const data = Object.defineProperty({}, 'baseUrl', {
		get: () => {
			throw new Error(SECRET);
		},
	});
	expect(await verdict(data)).toBe('Error: The credential could not be read');
});

test('a credential without data is told, not thrown', async () => {
	expect(await verdict(undefined as never)).toMatch(/^Error: The Base URL .* is empty/);
});

test('a limit that cannot be read fails the test of the credential, before any request', async () => {
	const limits = { limitPayments: true, highestPayment: '1.000,00' };
	expect(await verdict({ ...client, ...limits })).toMatch(
		/^Error: No money goes out, because a limit of the Pay API credential cannot be read: Highest Payment \(highestPayment\) must be a number, but is "1\.000,00"\. Write 1000\.00/,
	);
	expect([sandbox.received, sandbox.tokenRequests]).toStrictEqual([[], []]);
});
