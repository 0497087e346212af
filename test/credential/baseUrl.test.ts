import { BaseUrlError, parseBaseUrl } from '../../nodes/Pay/credential/baseUrl';

test.each([
	['https://api.example.com', 'https://api.example.com'],
	[' https://api.example.com/// ', 'https://api.example.com'],
	['https://api.example.com/v2/pay/qrcode', 'https://api.example.com'],
	['https://api.example.com/v2', 'https://api.example.com'],
	['https://api.example.com/bank/v2/pay/payment/', 'https://api.example.com/bank'],
	['https://api.example.com:8443/v20', 'https://api.example.com:8443/v20'],
	['http://localhost:8787', 'http://localhost:8787'],
	['http://127.0.0.1:8787/', 'http://127.0.0.1:8787'],
	['http://[::1]:8787', 'http://[::1]:8787'],
])('%p is used as %p', (given, used) => {
	expect(parseBaseUrl(given, false)).toBe(used);
});

test.each([
	['', /empty/],
	[undefined, /empty/],
	['api.example.com', /no absolute URL/],
	['/v2/pay', /no absolute URL/],
	['ftp://api.example.com', /https:/],
	['file:///etc/passwd', /https:/],
	['http://api.example.com', /unencrypted/],
	['http://127.0.0.1.example.com', /unencrypted/],
	['http://localhost.example.com', /unencrypted/],
	['https://user:word@api.example.com', /user name/],
	['https://api.example.com/?a=1', /query/],
])('%p is refused', (given, why) => {
	expect(() => parseBaseUrl(given, false)).toThrow(BaseUrlError);
	expect(() => parseBaseUrl(given, false)).toThrow(why);
});

test('http: to another host needs the person to allow it', () => {
	expect(parseBaseUrl('http://sandbox:8787', true)).toBe('http://sandbox:8787');
});
