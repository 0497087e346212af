import { NodeHelpers } from 'n8n-workflow';
import { PayApi } from '../../credentials/PayApi.credentials';
import { readIdForHeader, readPostbackSecrets, readAccount } from '../../nodes/Pay/account/account';
import { refusalOf } from '../refusal';

const BASE = { baseUrl: 'https://api.example.com', accessToken: 'abc' };
const CLIENT = {
	baseUrl: 'https://api.example.com',
	authentication: 'clientCredentials',
	tokenUrl: 'https://id.example.com/token?tenant=1',
	clientId: ' shop ',
	clientSecret: ' secret ',
};

test('a credential of the document’s own fields has the scheme name pay and a pasted token', () => {
	expect(readAccount(BASE)).toStrictEqual({
		baseUrl: 'https://api.example.com',
		schemeName: 'pay',
		token: { pasted: 'abc' },
		externalIdHeader: undefined,
		postbackUrl: undefined,
		postbackSecret: undefined,
		checksSender: false,
		limits: {},
	});
});

test.each([
	{ externalIdHeader: 'Idempotency-Key', expected: 'Idempotency-Key' },
	{ externalIdHeader: ' X-Request-Id\n', expected: 'X-Request-Id' },
	{ externalIdHeader: '', expected: undefined },
])(
	'the header for the External ID $externalIdHeader is $expected',
	({ externalIdHeader, expected }) => {
		expect(readAccount({ ...BASE, describeService: true, externalIdHeader }).externalIdHeader).toBe(
			expected,
		);
	},
);

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
			expect(refusalOf(() => readAccount(credential))?.field).toBe(field);
		}
	},
);

test.each(['Idempotency Key', 'Idempotency-Key:', 'Schlüssel', 'a\r\nb'])(
	'the header for the External ID %p is refused: it is no name of a header',
	(externalIdHeader) => {
		const credential = { ...BASE, describeService: true, externalIdHeader };
		expect(refusalOf(() => readAccount(credential))?.field).toBe('externalIdHeader');
	},
);

test.each(['Authorization', 'Host', 'content-type', 'Proxy-Authorization', 'X-Forwarded-For'])(
	'the header for the External ID %p is refused: it has another meaning',
	(externalIdHeader) => {
		const credential = { ...BASE, describeService: true, externalIdHeader };
		expect(refusalOf(() => readAccount(credential))?.field).toBe('externalIdHeader');
	},
);

test.each([
	{ accessToken: 'abc', pasted: 'abc' },
	{ accessToken: ' abc\n', pasted: 'abc' },
	{ accessToken: 'Bearer abc', pasted: 'abc' },
	{ accessToken: 'bearer  abc', pasted: 'abc' },
	{ accessToken: 'Bearerabc', pasted: 'Bearerabc' },
	{ accessToken: 'abcBearer', pasted: 'abcBearer' },
	{ accessToken: 'abcBearer=', pasted: 'abcBearer=' },
])('the pasted token $accessToken is sent as $pasted', ({ accessToken, pasted }) => {
	expect(readAccount({ ...BASE, accessToken }).token).toStrictEqual({ pasted });
});

describe('the header for the External ID', () => {
	const withHeader = { describeService: true, externalIdHeader: 'Idempotency-Key' };
	const withTheHeader = readAccount({ ...BASE, ...withHeader });

	test.each(['order-1', 'order 1~', '!'])('carries %s', (externalId) => {
		expect(() => readIdForHeader(withTheHeader, externalId)).not.toThrow();
	});

	test.each(['é', 'order-é', 'é-order', 'or\tder', ''])('cannot carry %j', (externalId) => {
		const refusal = refusalOf(() => readIdForHeader(withTheHeader, externalId));
		expect(refusal?.field).toBe('external_id');
	});

	test('is not asked for where the account has none', () => {
		expect(() => readIdForHeader(readAccount(BASE), 'é')).not.toThrow();
	});
});

test('client credentials lose the spaces around them, and go in the header by default', () => {
	const client = { clientId: 'shop', clientSecret: 'secret', scope: '', sendIn: 'header' };
	const { tokenUrl } = CLIENT;
	expect(readAccount(CLIENT).token).toStrictEqual({ clientCredentials: { tokenUrl, ...client } });
});

test.each<{ what: string; more: object; expected: object }>([
	{
		what: 'a number that an expression gives as the client ID',
		more: { clientId: 42 },
		expected: { clientId: '42' },
	},
	{ what: 'scopes with spaces around them', more: { scope: ' a b\n' }, expected: { scope: 'a b' } },
	{
		what: 'secrets sent in the body, where an ID may have a colon',
		more: { clientAuthentication: 'body', clientId: 'shop:1' },
		expected: { sendIn: 'body', clientId: 'shop:1' },
	},
])('client credentials with $what are read as $expected', ({ more, expected }) => {
	const { token } = readAccount({ ...CLIENT, ...more });
	expect(token).toMatchObject({ clientCredentials: expected });
});

test.each<{ what: string; credential: object; field: string }>([
	{ what: 'the base URL', credential: BASE, field: 'baseUrl' },
	{ what: 'the token URL', credential: CLIENT, field: 'tokenUrl' },
])('$what may be http: for this machine, or with Allow HTTP', ({ credential, field }) => {
	const read = (address: string, allowHttp?: boolean) =>
		readAccount({ ...credential, [field]: address, allowHttp });
	expect(() => read('http://pay.internal/x')).toThrow('unencrypted');
	expect(() => read('http://pay.internal/x', false)).toThrow('unencrypted');
	expect(() => read('http://localhost:1/x')).not.toThrow();
	expect(() => read('http://pay.internal/x', true)).not.toThrow();
});

const SECRET = 'the postback secret of the test';
const SHORT = { postbackSecret: SECRET, previousPostbackSecret: 'abc' };

test.each<{ what: string; fields: object; field: string }>([
	{
		what: 'of fifteen letters',
		fields: { postbackSecret: 'fifteen letters' },
		field: 'postbackSecret',
	},
	{ what: 'of spaces', fields: { postbackSecret: ' '.repeat(20) }, field: 'postbackSecret' },
	{ what: 'that is a number', fields: { postbackSecret: 12345 }, field: 'postbackSecret' },
	{ what: 'that lost digits', fields: { postbackSecret: 1e20 }, field: 'postbackSecret' },
	{ what: 'that is not text', fields: { postbackSecret: ['x'] }, field: 'postbackSecret' },
	{ what: 'before it of three letters', fields: SHORT, field: 'previousPostbackSecret' },
	{ what: 'before it alone', fields: { previousPostbackSecret: SECRET }, field: 'postbackSecret' },
])('a Postback Secret $what is refused', ({ fields, field }) => {
	expect(refusalOf(() => readAccount({ ...BASE, ...fields } as never))?.field).toBe(field);
});

const [A, B] = ['a', 'b'].map((which) => `the secret of the test: ${which}`) as [string, string];
test.each<{ which: string; fields: object; expected: { current: string; accepted: string[] } }>([
	{
		which: 'both',
		fields: { postbackSecret: A, previousPostbackSecret: B },
		expected: { current: A, accepted: [A, B] },
	},
	{
		which: 'the new one alone',
		fields: { postbackSecret: A },
		expected: { current: A, accepted: [A] },
	},
	{
		which: 'the previous one alone',
		fields: { previousPostbackSecret: B },
		expected: { current: '', accepted: [B] },
	},
	{
		which: 'empty ones',
		fields: { postbackSecret: '', previousPostbackSecret: '' },
		expected: { current: '', accepted: [] },
	},
])('a trigger takes what was signed with $which of its secrets', ({ fields, expected }) => {
	expect(readPostbackSecrets(fields as never)).toStrictEqual(expected);
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
test.each<{ what: string; credential: object; field: string }>([
	{
		what: 'no access token',
		credential: { ...BASE, accessToken: undefined },
		field: 'accessToken',
	},
	{
		what: 'an access token of spaces',
		credential: { ...BASE, accessToken: ' \n' },
		field: 'accessToken',
	},
	{
		what: '"Bearer" for an access token',
		credential: { ...BASE, accessToken: 'Bearer' },
		field: 'accessToken',
	},
	{
		what: 'an access token of two words',
		credential: { ...BASE, accessToken: 'a b' },
		field: 'accessToken',
	},
	{ what: 'no client ID', credential: { ...CLIENT, clientId: undefined }, field: 'clientId' },
	{
		what: 'a client ID that is a list',
		credential: { ...CLIENT, clientId: ['shop'] },
		field: 'clientId',
	},
	{
		what: 'a client secret of spaces',
		credential: { ...CLIENT, clientSecret: ' ' },
		field: 'clientSecret',
	},
	{ what: 'secrets in the query', credential: IN_QUERY, field: 'clientAuthentication' },
	...['header', 'headerJson'].map((clientAuthentication) => ({
		what: `a client ID with a colon, sent as ${clientAuthentication}`,
		credential: { ...CLIENT, clientAuthentication, clientId: 'shop:1' },
		field: 'clientId',
	})),
	{
		what: 'another way of authentication',
		credential: { ...BASE, authentication: 'basic' },
		field: 'authentication',
	},
])('$what is refused, and the field named', ({ credential, field }) => {
	expect(refusalOf(() => readAccount(credential as never))?.field).toBe(field);
});

test.each([undefined, 'https://a:b@id.example.com'])(
	'the Token URL %p is refused, as a Base URL is',
	(tokenUrl) => {
		const refusal = refusalOf(() => readAccount({ ...CLIENT, tokenUrl }));
		expect(refusal?.field).toBe('tokenUrl');
	},
);

const PASTED = 'sk-l1ve-t0ken';
test.each([
	{ where: 'as the base URL', credential: { ...BASE, baseUrl: PASTED } },
	{ where: 'as the base URL, with a colon', credential: { ...BASE, baseUrl: `${PASTED}:x` } },
	{ where: 'as the base URL, behind a colon', credential: { ...BASE, baseUrl: `x:${PASTED}` } },
	{
		where: 'as the password of the base URL',
		credential: { ...BASE, baseUrl: `https://a:${PASTED}@example.com` },
	},
	{
		where: 'in the query of the base URL',
		credential: { ...BASE, baseUrl: `https://example.com?token=${PASTED}` },
	},
	{ where: 'as the token URL', credential: { ...CLIENT, tokenUrl: `${PASTED}:x` } },
	{
		where: 'as the scheme name',
		credential: { ...BASE, describeService: true, schemeName: `${PASTED}/` },
	},
	{ where: 'with a word behind it', credential: { ...BASE, accessToken: `${PASTED} x` } },
	{ where: 'as the way of authentication', credential: { ...BASE, authentication: PASTED } },
	{ where: 'as the way to send it', credential: { ...CLIENT, clientAuthentication: PASTED } },
])('a secret that was pasted $where is in no error', ({ credential }) => {
	const { message, advice, field } = refusalOf(() => readAccount(credential))!;
	expect([message, advice, field].join()).not.toContain(PASTED);
});

/** What n8n hands over of a credential as it was saved: nothing of a field that the form hides. */
const handedOver = (saved: Record<string, string | boolean>) =>
	NodeHelpers.getNodeParameters(new PayApi().properties, saved, true, false, null, null);

const BY_CLIENT = { baseUrl: 'https://a.example', authentication: 'clientCredentials' };
const TOKENS = { tokenUrl: 'http://10.0.0.7/token' };
test.each<{ what: string; saved: Record<string, string>; expected: true | undefined }>([
	{ what: 'an http: address', saved: { baseUrl: 'http://10.0.0.7' }, expected: true },
	{
		what: 'one in capitals, after a space',
		saved: { baseUrl: ' HTTP://10.0.0.7' },
		expected: true,
	},
	{ what: 'an address by expression', saved: { baseUrl: '={{ $vars.address }}' }, expected: true },
	{
		what: 'an https: address with tokens from an http: one',
		saved: { ...BY_CLIENT, ...TOKENS },
		expected: true,
	},
	{
		what: 'tokens that nobody fetches',
		saved: { baseUrl: 'https://a.example', ...TOKENS },
		expected: undefined,
	},
	{ what: 'an https: address', saved: { baseUrl: 'https://a.example' }, expected: undefined },
])('Allow HTTP for $what: $saved comes as $expected', ({ saved, expected }) => {
	expect(handedOver({ ...saved, allowHttp: true })?.allowHttp).toBe(expected);
});
