import { NodeHelpers } from 'n8n-workflow';
import { PayApi } from '../../credentials/PayApi.credentials';
import { parseSecrets, readAccount } from '../../nodes/Pay/credential/connection';
import { refusalOf } from '../refusal';

const BASE = { baseUrl: 'https://api.example.com', accessToken: 'abc' };
const CLIENT = {
	baseUrl: 'https://api.example.com',
	authentication: 'clientCredentials',
	tokenUrl: 'https://id.example.com/token?tenant=1',
	clientId: ' shop ',
	clientSecret: ' secret ',
};

test('a credential of the document’s own fields: scheme name pay, a pasted token', () => {
	expect(readAccount(BASE)).toStrictEqual({
		baseUrl: 'https://api.example.com',
		schemeName: 'pay',
		token: { pasted: 'abc' },
		externalIdHeader: undefined,
		postbackUrl: undefined,
		postbackSecret: undefined,
		checksServiceSignature: false,
		limits: {},
	});
});

test.each([
	['Idempotency-Key', 'Idempotency-Key'],
	[' X-Request-Id\n', 'X-Request-Id'],
	['', undefined],
])('the header for the External ID %p is %p', (externalIdHeader, expected) => {
	expect(readAccount({ ...BASE, describeService: true, externalIdHeader }).externalIdHeader).toBe(
		expected,
	);
});

test('what stands behind Describe the Service is not in force while that is off', () => {
	const hidden = { schemeName: 'fast', externalIdHeader: 'Idempotency-Key' };
	expect(readAccount({ ...BASE, ...hidden, describeService: false })).toMatchObject({
		schemeName: 'pay',
		externalIdHeader: undefined,
	});
});

test.each(['describeService', 'schemeName', 'externalIdHeader', 'resultField', 'postbackSecret'])(
	'an expression that gives nothing in %s is refused: its default would stand there',
	(field) => {
		for (const nothing of [undefined, null]) {
			const credential = { ...BASE, describeService: true, [field]: nothing };
			expect(refusalOf(() => readAccount(credential))).toMatchObject({
				field,
				message: expect.stringContaining('is an expression that gives nothing'),
			});
		}
	},
);

const NO_NAME = /must be the name of a header/;
test.each<[string, RegExp]>([
	['Idempotency Key', /must be the name of a header, without a colon or spaces/],
	...['Idempotency-Key:', 'Schlüssel', 'a\r\nb'].map((name): [string, RegExp] => [name, NO_NAME]),
	['Host', /must not be Host, which has another meaning/],
	...`Authorization content-type Proxy-Authorization Cookie If-Match Accept-Encoding Content-Length
		X-Forwarded-For Expect User-Agent`
		.split(/\s+/)
		.map((name): [string, RegExp] => [name, new RegExp(`not be ${name}, which has another`)]),
])('the header for the External ID %p is refused', (externalIdHeader, words) => {
	expect(
		refusalOf(() => readAccount({ ...BASE, describeService: true, externalIdHeader })),
	).toMatchObject({
		field: 'externalIdHeader',
		message: expect.stringMatching(words),
	});
});

test.each([
	['abc', 'abc'],
	[' abc\n', 'abc'],
	['Bearer abc', 'abc'],
	['bearer  abc', 'abc'],
	['Bearerabc', 'Bearerabc'],
	['abcBearer', 'abcBearer'],
	['abcBearer=', 'abcBearer='],
])('the pasted token %p is sent as %p', (accessToken, pasted) => {
	expect(readAccount({ ...BASE, accessToken }).token).toStrictEqual({ pasted });
});

test('client credentials: spaces around them go, and the header is the default', () => {
	const client = { clientId: 'shop', clientSecret: 'secret', scope: '', sendIn: 'header' };
	const { tokenUrl } = CLIENT;
	expect(readAccount(CLIENT).token).toStrictEqual({ clientCredentials: { tokenUrl, ...client } });
});

test.each<[string, object, object]>([
	['a number that an expression gives as the client ID', { clientId: 42 }, { clientId: '42' }],
	['scopes with spaces around them', { scope: ' a b\n' }, { scope: 'a b' }],
	['secrets sent in the body', { clientAuthentication: 'body' }, { sendIn: 'body' }],
])('client credentials: %s', (_what, more, expected) => {
	const { token } = readAccount({ ...CLIENT, ...more });
	expect(token).toMatchObject({ clientCredentials: expected });
});

test.each<[string, object, string]>([
	['the base URL', BASE, 'baseUrl'],
	['the token URL', CLIENT, 'tokenUrl'],
])('%s: http: is for this machine, or with Allow HTTP', (_what, credential, field) => {
	const read = (address: string, allowHttp?: boolean) =>
		readAccount({ ...credential, [field]: address, allowHttp });
	expect(() => read('http://pay.internal/x')).toThrow(/URL .*unencrypted/);
	expect(() => read('http://pay.internal/x', false)).toThrow(/URL .*unencrypted/);
	expect(() => read('http://localhost:1/x')).not.toThrow();
	expect(() => read('http://pay.internal/x', true)).not.toThrow();
});

const SECRET = 'the postback secret of the test';
const SHORT = { postbackSecret: SECRET, previousPostbackSecret: 'abc' };

test.each<[string, object, string, RegExp]>([
	['of fifteen letters', { postbackSecret: 'fifteen letters' }, 'postbackSecret', /at least 16/],
	['of spaces', { postbackSecret: ' '.repeat(20) }, 'postbackSecret', /at least 16/],
	['that is a number', { postbackSecret: 12345 }, 'postbackSecret', /at least 16/],
	['that lost digits', { postbackSecret: 1e20 }, 'postbackSecret', /too large to keep/],
	['that is not text', { postbackSecret: ['x'] }, 'postbackSecret', /must be text, but is a list/],
	['before it of three letters', SHORT, 'previousPostbackSecret', /^The Previous .* at least 16/],
	['before it alone', { previousPostbackSecret: SECRET }, 'postbackSecret', /Secret .*is empty/],
])('a Postback Secret %s is refused', (_what, fields, field, words) => {
	const refusal = refusalOf(() => readAccount({ ...BASE, ...fields } as never));
	expect(refusal).toMatchObject({ field, message: expect.stringMatching(words) });
});

const [A, B] = ['a', 'b'].map((which) => `the secret of the test: ${which}`) as [string, string];
test.each<[string, object, { current: string; accepted: string[] }]>([
	['both', { postbackSecret: A, previousPostbackSecret: B }, { current: A, accepted: [A, B] }],
	['the new one alone', { postbackSecret: A }, { current: A, accepted: [A] }],
	['the previous one alone', { previousPostbackSecret: B }, { current: '', accepted: [B] }],
	['empty ones', { postbackSecret: '', previousPostbackSecret: '' }, { current: '', accepted: [] }],
])('a trigger takes what was signed with %s of its secrets', (_which, fields, expected) => {
	expect(parseSecrets(fields as never)).toStrictEqual(expected);
});

test('a Postback Secret of sixteen letters is taken, and a number of sixteen digits', () => {
	expect(readAccount({ ...BASE, postbackSecret: 'x'.repeat(16) }).postbackSecret).toHaveLength(16);
	const given = { ...BASE, postbackSecret: 1234567890123456 } as never;
	expect(readAccount(given).postbackSecret).toBe('1234567890123456');
});

test('the Postback URL and Secret of the credential are handed on; empty ones are none', () => {
	const given = { postbackUrl: 'https://n8n.example.com/webhook/1', postbackSecret: SECRET };
	expect(readAccount({ ...BASE, ...given })).toMatchObject(given);
	const none = { postbackUrl: undefined, postbackSecret: undefined };
	expect(readAccount({ ...BASE, postbackUrl: '', postbackSecret: '' })).toMatchObject(none);
});

const IN_QUERY = { ...CLIENT, clientAuthentication: 'query' };
const WITH_PASSWORD = { ...CLIENT, tokenUrl: 'https://a:b@id.example.com' };
test.each<[string, object, string, RegExp]>([
	['no access token', { ...BASE, accessToken: undefined }, 'accessToken', /is empty/],
	['an access token of spaces', { ...BASE, accessToken: ' \n' }, 'accessToken', /is empty/],
	['"Bearer" for an access token', { ...BASE, accessToken: 'Bearer' }, 'accessToken', /is empty/],
	['an access token of two words', { ...BASE, accessToken: 'a b' }, 'accessToken', /a space/],
	['no token URL', { ...CLIENT, tokenUrl: undefined }, 'tokenUrl', /is empty/],
	['no client ID', { ...CLIENT, clientId: undefined }, 'clientId', /is empty/],
	['a client ID that is a list', { ...CLIENT, clientId: ['shop'] }, 'clientId', /is empty/],
	['a client secret of spaces', { ...CLIENT, clientSecret: ' ' }, 'clientSecret', /is empty/],
	['secrets in the query', IN_QUERY, 'clientAuthentication', /./],
	['a token URL with a password', WITH_PASSWORD, 'tokenUrl', /password/],
	['another way of authentication', { ...BASE, authentication: 'basic' }, 'authentication', /./],
])('%s is refused, and the field named', (_what, credential, field, message) => {
	const refusal = refusalOf(() => readAccount(credential as never));
	const expected = { name: 'InputError', field, message: expect.stringMatching(message) };
	expect(refusal).toMatchObject(expected);
});

const PASTED = 'sk-l1ve-t0ken';
test.each([
	['as the base URL', { ...BASE, baseUrl: PASTED }],
	['as the base URL, with a colon', { ...BASE, baseUrl: `${PASTED}:x` }],
	['as the base URL, behind a colon', { ...BASE, baseUrl: `x:${PASTED}` }],
	['as the password of the base URL', { ...BASE, baseUrl: `https://a:${PASTED}@example.com` }],
	['in the query of the base URL', { ...BASE, baseUrl: `https://example.com?token=${PASTED}` }],
	['as the token URL', { ...CLIENT, tokenUrl: `${PASTED}:x` }],
	['as the scheme name', { ...BASE, describeService: true, schemeName: `${PASTED}/` }],
	['with a word behind it', { ...BASE, accessToken: `${PASTED} x` }],
	['as the way of authentication', { ...BASE, authentication: PASTED }],
	['as the way to send it', { ...CLIENT, clientAuthentication: PASTED }],
])('a secret that was pasted %s is in no error', (_where, credential) => {
	const { message, advice, field } = refusalOf(() => readAccount(credential))!;
	expect([message, advice, field].join()).not.toContain(PASTED);
});

/** What n8n hands over of a credential as it was saved: nothing of a field that the form hides. */
const handedOver = (saved: Record<string, string | boolean>) =>
	NodeHelpers.getNodeParameters(new PayApi().properties, saved, true, false, null, null);

const BY_CLIENT = { baseUrl: 'https://a.example', authentication: 'clientCredentials' };
const TOKENS = { tokenUrl: 'http://10.0.0.7/token' };
test.each<[string, Record<string, string>, true | undefined]>([
	['an http: address', { baseUrl: 'http://10.0.0.7' }, true],
	['one in capitals, after a space', { baseUrl: ' HTTP://10.0.0.7' }, true],
	['an address by expression', { baseUrl: '={{ $vars.address }}' }, true],
	['an https: address with tokens from an http: one', { ...BY_CLIENT, ...TOKENS }, true],
	['tokens that nobody fetches', { baseUrl: 'https://a.example', ...TOKENS }, undefined],
	['an https: address', { baseUrl: 'https://a.example' }, undefined],
])('Allow HTTP for %s: %j comes as %s', (_what, saved, expected) => {
	expect(handedOver({ ...saved, allowHttp: true })?.allowHttp).toBe(expected);
});
