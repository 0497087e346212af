import type { ICredentialTestFunctions } from 'n8n-workflow';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import 'reflect-metadata';
import { readAccount, readLimits } from '../../nodes/Pay/account/account';
import { readDescription } from '../../nodes/Pay/account/describe';
import { testPayCredential } from '../../nodes/Pay/account/credentialTest';
import type { InputError } from '../../nodes/Pay/base/inputError';
import { reasonInWords } from '../../nodes/Pay/service/reasons';
import type { Fault } from '../../sandbox/faults';
import { Sandbox } from '../../sandbox/service';
import { refusalOf } from '../refusal';
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

const OK = 'OK: The service accepts the access token';

test('a good credential takes one token and one empty request, and nothing is made', async () => {
	expect(await verdict(client)).toBe(OK);
	expect(sandbox.tokenRequests).toHaveLength(1);
	expect(sandbox.received.map(({ path, body }) => `${path} ${body}`)).toStrictEqual([
		'/v2/fast/qrcode {}',
	]);
	expect(sandbox.transactions).toStrictEqual([]);
});

test.each<{ what: string; granted: string | undefined; scope: string; words: string }>([
	{
		what: 'fewer scopes',
		granted: 'pay.read',
		scope: 'pay.read pay.write',
		words:
			'Error: The token endpoint did not grant pay.write: ask the service for it, or remove it from Scope',
	},
	{
		what: 'others',
		granted: 'openid,pay.read',
		scope: 'a pay.read  b',
		words:
			'Error: The token endpoint did not grant a and b: ask the service for it, or remove it from Scope',
	},
	{
		what: 'more',
		granted: 'pay.write openid pay.read',
		scope: 'pay.read pay.write',
		words:
			'Error: The service rejected the access token (HTTP 401). If the token is right, the service may accept requests only from addresses on an allow-list',
	},
	{
		what: 'the same, which it need not say',
		granted: undefined,
		scope: 'pay.read pay.write',
		words:
			'Error: The service rejected the access token (HTTP 401). If the token is right, the service may accept requests only from addresses on an allow-list',
	},
])(
	'a token endpoint that grants $what is compared with what was asked of it',
	async ({ granted, scope, words }) => {
		const body = JSON.stringify({ access_token: randomUUID(), scope: granted });
		sandbox.tokenFaultFor = () => status(200, { body });
		expect(await verdict({ ...client, clientId: randomUUID(), scope })).toBe(words);
	},
);

const ON_HTTPS =
	'<h1>400 Bad Request</h1><center>The plain HTTP request was sent to HTTPS port</center><hr><center>nginx/1.22.1</center>';
const USE_HTTPS =
	'accepts only https (HTTP 400, on a page of nginx): write https:// at the start of the Base URL';
const OF_HAPROXY =
	'<html><body><h1>503 Service Unavailable</h1>\nNo server is available.\n</body></html>\n';
test.each([
	{ what: 'plain HTTP at a port of HTTPS', code: 400, body: ON_HTTPS, words: USE_HTTPS },
	{
		what: 'a page of HAProxy',
		code: 503,
		body: OF_HAPROXY,
		words: 'is failing (HTTP 503, on a page of HAProxy)',
	},
])('$what is told', async ({ code, body, words }) => {
	sandbox.faultFor = () => status(code, { body });
	expect(await verdict(client)).toBe(`Error: The service ${words}`);
});

test('a whole description of the service is taken', async () => {
	const described = { ...client, statusField: 'status', paidValues: 'paid\n' };
	expect(await verdict(described)).toBe(OK);
	expect(sandbox.received).toHaveLength(1);
});

test('a proxy in front of the token endpoint that asks for its own password is told as that', async () => {
	sandbox.tokenFaultFor = () => status(407);
	expect(await verdict(client)).toMatch(/a proxy on the way asks for its own name and password/);
});

test('a token that is kept is not what is tested: a client that is refused by now is told', async () => {
	expect(await verdict(client)).toBe(OK);
	sandbox.tokenFaultFor = () => status(401, { body: '{"error":"invalid_client"}' });
	expect(await verdict(client)).toMatch(/^Error: .*invalid_client/);
	sandbox.tokenFaultFor = undefined;
	sandbox.revokeTokens();
	expect(await verdict(client)).toBe(OK);
});

const UNREGISTERED = '{"message":"The requested webhook \\"POST v2\\" is not registered."}';
const LOGIN = { body: '<html><title>Log in</title>', contentType: 'text/html' };
const NO_PAGE = { body: '{}', contentType: 'text/html' };
test.each<{ what: string; fault: Fault; expected: string }>([
	{ what: '422', fault: status(422), expected: OK },
	{ what: '200', fault: status(200), expected: OK },
	{
		what: '401',
		fault: status(401),
		expected:
			'Error: The service rejected the access token (HTTP 401). If the token is right, the service may accept requests only from addresses on an allow-list',
	},
	{
		what: '403',
		fault: status(403),
		expected:
			'Error: The service rejected the access token (HTTP 403). If the token is right, the service may accept requests only from addresses on an allow-list',
	},
	{
		what: 'n8n without such a workflow',
		fault: status(404, { body: UNREGISTERED }),
		expected:
			'Error: n8n responded: no workflow is published at this address (HTTP 404). Publish the workflow that acts as the service (on n8n 1, switch it to Active)',
	},
	{
		what: '404',
		fault: status(404),
		expected:
			'Error: The service does not know this address (HTTP 404): either the Base URL is wrong, or the Scheme Name in Paths under Describe the Service',
	},
	{
		what: '405',
		fault: status(405),
		expected:
			'Error: The service does not know this address (HTTP 405): either the Base URL is wrong, or the Scheme Name in Paths under Describe the Service',
	},
	{
		what: '407',
		fault: status(407),
		expected: 'Error: A proxy on the way asks for its own password (HTTP 407)',
	},
	{ what: '499', fault: status(499), expected: 'Error: The service is failing (HTTP 499)' },
	{
		what: '429',
		fault: status(429),
		expected:
			'Error: The service accepts no more requests for now (HTTP 429): test again in a while',
	},
	{
		what: '302',
		fault: status(302, { location: '/elsewhere' }),
		expected: 'Error: The service redirects elsewhere (HTTP 302): the Base URL is wrong',
	},
	{
		what: '300',
		fault: status(300),
		expected: 'Error: The service redirects elsewhere (HTTP 300): the Base URL is wrong',
	},
	{
		what: '399',
		fault: status(399),
		expected: 'Error: The service redirects elsewhere (HTTP 399): the Base URL is wrong',
	},
	{ what: '500', fault: status(500), expected: 'Error: The service is failing (HTTP 500)' },
	{
		what: 'a page',
		fault: status(200, LOGIN),
		expected: `Error: The response is a web page titled "Log in" (HTTP 200), not a response from the service, so the Base URL is wrong`,
	},
	{
		what: 'a page as JSON',
		fault: status(400, { body: '\n <!DOCTYPE html>' }),
		expected:
			'Error: The response is a web page (HTTP 400), not a response from the service, so the Base URL is wrong',
	},
	{
		what: 'a text as a page',
		fault: status(400, { ...NO_PAGE, body: 'Hi' }),
		expected:
			'Error: The response is a web page (HTTP 400), not a response from the service, so the Base URL is wrong',
	},
	{ what: 'JSON as a page', fault: status(400, NO_PAGE), expected: OK },
	{
		what: 'JSON that quotes a page',
		fault: status(400, { body: '{"not":"<html>"}' }),
		expected: OK,
	},
	{
		what: 'no answer',
		fault: { kind: 'reset-after-body' },
		expected:
			'Error: The service cannot be reached: the connection was broken (ECONNRESET). Check the Base URL and the network.',
	},
])('the service answers with $what', async ({ fault, expected }) => {
	sandbox.faultFor = () => fault;
	expect(await verdict(client)).toBe(expected);
	const pasted = {
		describeService: true,
		schemeName: 'fast',
		baseUrl: sandbox.url,
		accessToken: 'x',
	};
	expect(await verdict(pasted)).toBe(expected);
	// Redirects are not followed, and nothing is tried twice.
	expect(sandbox.received).toHaveLength(2);
});

test.each<{ what: string; change: Record<string, unknown> }>([
	{ what: 'no address', change: { baseUrl: '' } },
	{ what: 'a scheme name of two segments', change: { schemeName: 'a/b' } },
	{ what: 'a tail of another scheme', change: { baseUrl: 'https://x.example.com/v2/slow/qrcode' } },
	{ what: 'no secret', change: { clientSecret: '' } },
	{ what: 'a short postback secret', change: { postbackSecret: 'abc' } },
	{ what: 'a status field without its values', change: { statusField: 'status' } },
	{ what: 'a result field without its values', change: { resultField: 'ok' } },
])('where $what is entered it says what a run would say, and sends nothing', async ({ change }) => {
	const data = { ...client, ...change };
	const refusal = refusalOf(() => {
		readAccount(data);
		readDescription(data);
	});
	expect(await verdict(data)).toBe(`Error: ${refusal?.message}. ${refusal?.advice}`);
	expect([sandbox.received, sandbox.tokenRequests]).toStrictEqual([[], []]);
});

test('a limit that cannot be read is told before any request', async () => {
	const data = { ...client, limitPayments: true, highestPayment: '1.000,00' };
	const { message, advice } = readLimits(data, data) as InputError;
	expect(await verdict(data)).toBe(`Error: ${message}. ${advice}`);
	expect([sandbox.received, sandbox.tokenRequests]).toStrictEqual([[], []]);
});

const NOWHERE = 'http://127.0.0.1:1';
test.each([
	{ what: 'a wrong secret', change: { clientSecret: 'wrong' }, told: 'invalid_client' },
	{ what: 'a wrong scope', change: { scope: 'all' }, told: 'invalid_scope' },
	{ what: 'no token endpoint there', change: { tokenUrl: NOWHERE }, told: 'ECONNREFUSED' },
])('where $what is entered, $told is told and nothing sent', async ({ change, told }) => {
	const words = await verdict({ ...client, ...change });
	expect(words).toMatch(/^Error: /);
	expect(words).toContain(told);
	expect(sandbox.received).toStrictEqual([]);
});

const PASTED = { authentication: 'accessToken', accessToken: 'x' };
test.each<{ what: string; change: Record<string, unknown>; expected: string }>([
	{
		what: 'another scheme',
		change: { schemeName: 'slow' },
		expected:
			'Error: The service does not know this address (HTTP 404): either the Base URL is wrong, or the Scheme Name in Paths under Describe the Service',
	},
	{
		what: 'a pasted token that is none',
		change: PASTED,
		expected:
			'Error: The service rejected the access token (HTTP 401). If the token is right, the service may accept requests only from addresses on an allow-list',
	},
	{
		what: 'a service that is not there',
		change: { baseUrl: NOWHERE },
		expected:
			'Error: Nothing answers at 127.0.0.1:1. If n8n runs in Docker, that address is the container itself: use host.docker.internal and turn on Allow HTTP.',
	},
	{
		what: 'a webhook at another port',
		change: { baseUrl: `${NOWHERE}/webhook` },
		expected:
			'Error: Nothing answers at 127.0.0.1:1. To call a webhook of this n8n, use the port that n8n itself listens on: 5678, unless N8N_PORT says otherwise. It can differ from the one in your browser.',
	},
	{
		what: 'https: for a service that speaks http:',
		change: { baseUrl: '$SANDBOX' },
		expected: 'Error: The address does not use https. Should it be http://…?',
	},
])('where $what is entered, the test says what is wrong', async ({ change, expected }) => {
	const entered = { ...client, ...change } as { baseUrl: string };
	const baseUrl = entered.baseUrl.replace('$SANDBOX', sandbox.url.replace('http:', 'https:'));
	expect(await verdict({ ...entered, baseUrl })).toBe(expected);
});

test.each([
	['https://service.example.com', 'ECONNREFUSED'],
	['http://localhost:8787', 'ECONNRESET'],
])('%s that fails with %s is told in the words of a run', async (baseUrl, code) => {
	const fails = async () => await Promise.reject(Object.assign(new Error('x'), { code }));
	const words = reasonInWords({ is: 'connectionFailed', code });
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
			const words = await verdict({ ...data, clientId: randomUUID() }, fails);
			expect(words).toContain(' cannot be reached: no response came. ');
			expect(words).not.toContain(SECRET);
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
	expect(await verdict(undefined as never)).toMatch(
		/^Error: The Base URL of the Pay API credential /,
	);
});
