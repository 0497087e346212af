import { parseBaseUrl, parseSchemeName } from '../../nodes/Pay/credential/baseUrl';
import { refusalOf } from '../refusal';

test.each([
	['https://api.example.com', 'https://api.example.com'],
	[' https://api.example.com/// ', 'https://api.example.com'],
	['https://api.example.com/v2/pay/qrcode', 'https://api.example.com'],
	['https://api.example.com/v2', 'https://api.example.com/v2'],
	['https://gw.example.com/v2/tenant', 'https://gw.example.com/v2/tenant'],
	['https://gw.example.com/v2/tenant/v2/pay/qrcode', 'https://gw.example.com/v2/tenant'],
	['https://api.example.com/bank/v2/pay/payment/', 'https://api.example.com/bank'],
	['https://api.example.com:8443/v20', 'https://api.example.com:8443/v20'],
	['http://localhost:8787', 'http://localhost:8787'],
	['http://127.0.0.1:8787/', 'http://127.0.0.1:8787'],
	['http://127.100.20.255', 'http://127.100.20.255'],
	['http://pay.localhost', 'http://pay.localhost'],
	['https://api.example.com/v2/pay/qrcode/more', 'https://api.example.com/v2/pay/qrcode/more'],
	['http://[::1]:8787', 'http://[::1]:8787'],
])('%p is used as %p', (given, used) => {
	expect(parseBaseUrl(given, false, 'pay')).toBe(used);
});

test.each([
	['', /empty/],
	[' \n', /empty/],
	[undefined, /empty/],
	['api.example.com', /must be an absolute URL/],
	['/v2/pay', /must be an absolute URL/],
	['ftp://api.example.com', /https:/],
	['file:///etc/passwd', /https:/],
	['http://api.example.com', /unencrypted/],
	['http://127.0.0.1.example.com', /unencrypted/],
	['http://localhost.example.com', /unencrypted/],
	['http://localhost.', /unencrypted/],
	['http://127.0.0.1.nip.example', /unencrypted/],
	['https://user:word@api.example.com', /user name/],
	['https://user@api.example.com', /user name/],
	['https://:word@api.example.com', /password/],
	['https://api.example.com/#a', /fragment/],
	['https://api.example.com/?a=1', /query/],
])('%p is refused', (given, why) => {
	expect(refusalOf(() => parseBaseUrl(given, false, 'pay'))).toMatchObject({
		field: 'baseUrl',
		message: expect.stringMatching(why),
	});
});

test('http: to another host needs the person to allow it', () => {
	expect(parseBaseUrl('http://sandbox:8787', true, 'pay')).toBe('http://sandbox:8787');
});

test.each([
	['https://api.example.com/v2/other/qrcode', 'pay', 'other'],
	['https://api.example.com/v2/pay/payment', 'other', 'pay'],
])('%p with the scheme name %p says to enter %p', (given, schemeName, right) => {
	expect(() => parseBaseUrl(given, false, schemeName)).toThrow(
		expect.objectContaining({ field: 'schemeName', advice: expect.stringContaining(`"${right}"`) }),
	);
	expect(parseBaseUrl(given, false, right)).toBe('https://api.example.com');
});

test.each([
	[undefined, 'pay'],
	['pay', 'pay'],
	[' other-1 ', 'other-1'],
])('the scheme name %p is %p', (given, used) => {
	expect(parseSchemeName(given)).toBe(used);
});

test.each(['', ' ', '..', '.', 'a/b', 'a b', 'a?b', 'a#b', 'ä', '%2e%2e', {}])(
	'the scheme name %p is refused, since it is no segment of a path',
	(given) => {
		expect(refusalOf(() => parseSchemeName(given))?.field).toBe('schemeName');
	},
);
