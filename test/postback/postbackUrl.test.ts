import { readPostbackUrl, postbackUrlHint, testPathOf } from '../../nodes/Pay/postback/target';
import { refusalOf } from '../refusal';

test('a postback URL goes out as it was written, with http: too', () => {
	expect(readPostbackUrl(' https://A.example/Ü?b=%7e ')).toBe('https://A.example/Ü?b=%7e');
	expect(readPostbackUrl('http://a.example/')).toBe('http://a.example/');
});

test('a test URL gets a hint, and one of a trigger elsewhere none', () => {
	expect(postbackUrlHint('https://n8n.example.com/webhook-test/1', true)).toBe(
		'The postback URL is a test URL: it works only while the editor is listening. For postbacks that arrive later, publish the workflow and use the Production URL.',
	);
	expect(postbackUrlHint('http://192.168.1.5/webhook/1', true)).toBe(
		'The postback URL points to 192.168.1.5, which only this machine or its own network can reach. A service on the internet cannot deliver postbacks there.',
	);
	expect(postbackUrlHint('https://n8n.example.com/webhook/1', true)).toBeUndefined();
});

test.each(['', ' ', 5, null])('%j is empty as a postback URL', (value) => {
	expect(refusalOf(() => readPostbackUrl(value))).toMatchObject({
		field: 'postbackUrl',
		message: 'The postback URL is empty',
	});
});

test.each(['/webhook/1', 'n8n.example.com', 'here'])('"%s" is no absolute URL', (value) => {
	expect(refusalOf(() => readPostbackUrl(value))).toMatchObject({
		field: 'postbackUrl',
		message: `The postback URL must be an absolute URL: "${value}"`,
	});
});

test('of a long text that is no URL, 200 characters are repeated', () => {
	const refusal = refusalOf(() => readPostbackUrl('x'.repeat(300)));
	expect(refusal?.message).toBe(`The postback URL must be an absolute URL: "${'x'.repeat(200)}"`);
});

test.each([
	{ url: 'ftp://a.example', scheme: 'ftp:' },
	{ url: 'javascript:alert(1)', scheme: 'javascript:' },
])('$url is refused for its scheme', ({ url, scheme }) => {
	expect(refusalOf(() => readPostbackUrl(url))).toMatchObject({
		field: 'postbackUrl',
		message: `The postback URL must start with https:// or http://, but starts with "${scheme}"`,
	});
});

test('an expression that n8n left as text is refused: the service would call another address', () => {
	const read = () => readPostbackUrl('https://example.com/hook?order={{ $json.id }}');
	expect(refusalOf(read)).toMatchObject({
		field: 'postbackUrl',
		message: 'The postback URL contains an expression as plain text',
	});
});

test('a URL that holds a proof is refused: two signatures prove nothing', () => {
	const url = 'https://a.example/?pay_proof=x';
	expect(refusalOf(() => readPostbackUrl(url))).toMatchObject({
		field: 'postbackUrl',
		message: 'The postback URL already contains pay_proof, which this node adds itself',
	});
});

const hintFor = (host: string, serviceIsLoopback = false) =>
	postbackUrlHint(`http://${host}/`, true, serviceIsLoopback);

// Which names are of this machine: test/loopback.test.ts.
test.each(['localhost', '127.1.2.3', '[::1]'])(
	'%s, which is on this machine, gets a hint unless the service is there too',
	(host) => {
		expect(hintFor(host)).toBeDefined();
		expect(hintFor(host, true)).toBeUndefined();
	},
);

test.each([
	'0.0.0.0',
	'[::]',
	'n8n.local',
	'n8n.internal',
	'localhost.internal',
	'10.20.30.40',
	'192.168.127.5',
	'172.16.0.1',
	'172.31.0.1',
	'169.254.10.20',
	'[fc00::1]',
	'[fd12:3456::1]',
	'[fe80::1]',
	'[feb0::1]',
])('%s, which is on its own network, gets a hint wherever the service is', (host) => {
	expect(hintFor(host)).toBeDefined();
	expect(hintFor(host, true)).toBeDefined();
});

test.each([
	'localhost.example.com',
	'mylocalhost',
	'local',
	'n8n.local.example.com',
	'110.0.0.1',
	'11.0.0.1',
	'172.15.0.1',
	'172.32.0.1',
	'192.169.0.1',
	'169.253.0.1',
	'128.0.0.1',
	'[2001:db8::fc]',
	'[ff02::1]',
	'[fec0::1]',
])('%s, which may be anywhere, gets no hint', (host) => {
	expect(hintFor(host)).toBeUndefined();
});

test('an unsigned URL of a Pay Trigger gets a hint, and no other path is one', () => {
	const hint = (path: string, isSigned = false) =>
		postbackUrlHint(`https://n8n.example.com${path}`, isSigned);
	expect(hint('/webhook/1a-2b/postback')).toBe(
		'The postback URL is not signed, because the Pay API credential has no Postback Secret. A Pay Trigger whose Authentication is Signed URL refuses unsigned postbacks.',
	);
	expect(hint('/webhook/1/postback/')).toBeDefined();
	expect(hint('/webhook/1a-2b/postback', true)).toBeUndefined();
	for (const path of ['/paid', '/webhook/1/postback/2', '/webhook/1/2/postback']) {
		expect(hint(path)).toBeUndefined();
	}
});

const OWN = 'https://n8n.example.com/auto/hook-try';
test.each([
	{ testUrls: OWN, url: `${OWN}/1`, isTest: true },
	{ testUrls: OWN, url: 'https://n8n.example.com/webhook-test/1', isTest: true },
	{ testUrls: OWN, url: 'https://n8n.example.com/auto/hook/1', isTest: false },
	{ testUrls: undefined, url: 'https://n8n.example.com/webhook-test/1', isTest: true },
])('of an n8n whose test URLs begin with $testUrls, $url is one: $isTest', (row) => {
	const { testUrls, url, isTest } = row;
	const context = { getNode: () => ({}), additionalData: { webhookTestBaseUrl: testUrls } };
	const hint = postbackUrlHint(url, true, false, testPathOf(context as never));
	expect(hint !== undefined).toBe(isTest);
});
