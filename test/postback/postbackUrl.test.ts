import { InputError } from '../../nodes/Pay/inputError';
import { parsePostbackUrl, postbackUrlHint } from '../../nodes/Pay/postback/postbackUrl';

test.each(['', 'n8n.example.com', '/webhook/1', 'ftp://a.example', 'javascript:alert(1)', null, 5])(
	'%p is no postback URL',
	(value) => {
		expect(() => parsePostbackUrl(value)).toThrow(InputError);
	},
);

test('a URL that is signed already is refused, since two signatures prove nothing', () => {
	expect(() => parsePostbackUrl('https://a.example/?pay_proof=x')).toThrow(
		/already holds pay_proof/,
	);
});

test('goes out as it was written', () => {
	expect(parsePostbackUrl(' https://A.example/Ü?b=%7e ')).toBe('https://A.example/Ü?b=%7e');
});

test.each([
	['https://n8n.example.com/webhook-test/1', /test URL/],
	['http://localhost:5678/webhook/1', /localhost/],
	['http://127.0.0.1/webhook/1', /127/],
	['http://192.168.1.5/webhook/1', /192\.168/],
	['http://172.20.0.1/webhook/1', /172/],
	['http://[::1]/webhook/1', /\[::1\]/],
])('%p gets a hint', (url, hint) => {
	expect(postbackUrlHint(url, true)).toMatch(hint);
});

test.each(['https://n8n.example.com/webhook/1', 'https://172.32.0.1/', 'https://100.example.com/'])(
	'%p gets none',
	(url) => {
		expect(postbackUrlHint(url, true)).toBeUndefined();
	},
);

test('an unsigned URL of a Pay Trigger gets a hint, any other unsigned URL none', () => {
	expect(postbackUrlHint('https://n8n.example.com/webhook/1a-2b/postback', false)).toMatch(
		/unsigned/,
	);
	expect(postbackUrlHint('https://n8n.example.com/webhook/1a-2b/postback', true)).toBeUndefined();
	expect(postbackUrlHint('https://shop.example.com/paid', false)).toBeUndefined();
});

test.each([
	['http://localhost:5678/webhook/1', undefined],
	['http://127.0.0.1/webhook/1', undefined],
	['http://192.168.1.5/webhook/1', /192\.168/],
])('where the service is on this machine too, %p', (url, hint) => {
	const given = postbackUrlHint(url, true, true);
	if (hint === undefined) expect(given).toBeUndefined();
	else expect(given).toMatch(hint);
});
