import { readBaseUrl, readSchemeName } from '../../nodes/Pay/account/account';
import { refusalOf } from '../refusal';

test.each([
	{ given: 'https://api.example.com', used: 'https://api.example.com' },
	{ given: ' https://api.example.com/// ', used: 'https://api.example.com' },
	{ given: 'https://api.example.com/v2/pay/qrcode', used: 'https://api.example.com' },
	{ given: 'https://api.example.com/v2', used: 'https://api.example.com' },
	{ given: 'https://api.example.com/bank/v2/', used: 'https://api.example.com/bank' },
	{ given: 'https://api.example.com/v2/v2/pay/qrcode', used: 'https://api.example.com/v2' },
	{ given: 'https://api.example.com/apiv2', used: 'https://api.example.com/apiv2' },
	{ given: 'https://gw.example.com/v2/tenant', used: 'https://gw.example.com/v2/tenant' },
	{
		given: 'https://gw.example.com/v2/tenant/v2/pay/qrcode',
		used: 'https://gw.example.com/v2/tenant',
	},
	{ given: 'https://api.example.com/bank/v2/pay/payment/', used: 'https://api.example.com/bank' },
	{ given: 'https://api.example.com:8443/v20', used: 'https://api.example.com:8443/v20' },
	{ given: 'http://localhost:8787', used: 'http://localhost:8787' },
	{ given: 'http://127.0.0.1:8787/', used: 'http://127.0.0.1:8787' },
	{ given: 'http://127.100.20.255', used: 'http://127.100.20.255' },
	{ given: 'http://pay.localhost', used: 'http://pay.localhost' },
	{
		given: 'https://api.example.com/v2/pay/qrcode/more',
		used: 'https://api.example.com/v2/pay/qrcode/more',
	},
	{ given: 'http://[::1]:8787', used: 'http://[::1]:8787' },
])('$given is used as $used', ({ given, used }) => {
	expect(readBaseUrl(given, false, 'pay')).toBe(used);
});

test.each([
	{ given: '', why: 'The Base URL of the Pay API credential is empty' },
	{ given: ' \n', why: 'The Base URL of the Pay API credential is empty' },
	{ given: undefined, why: 'The Base URL of the Pay API credential is empty' },
	{
		given: 'api.example.com',
		why: 'The Base URL of the Pay API credential must be an absolute URL',
	},
	{ given: '/v2/pay', why: 'The Base URL of the Pay API credential must be an absolute URL' },
	{
		given: 'ftp://api.example.com',
		why: 'The Base URL of the Pay API credential must start with https://',
	},
	{
		given: 'file:///etc/passwd',
		why: 'The Base URL of the Pay API credential must start with https://',
	},
	{
		given: 'http://api.example.com',
		why: 'The Base URL of the Pay API credential uses http:, which would send secrets unencrypted to api.example.com',
	},
	{
		given: 'http://127.0.0.1.example.com',
		why: 'The Base URL of the Pay API credential uses http:, which would send secrets unencrypted to 127.0.0.1.example.com',
	},
	{
		given: 'http://localhost.example.com',
		why: 'The Base URL of the Pay API credential uses http:, which would send secrets unencrypted to localhost.example.com',
	},
	{
		given: 'http://localhost.',
		why: 'The Base URL of the Pay API credential uses http:, which would send secrets unencrypted to localhost.',
	},
	{
		given: 'http://127.0.0.1.nip.example',
		why: 'The Base URL of the Pay API credential uses http:, which would send secrets unencrypted to 127.0.0.1.nip.example',
	},
	{
		given: 'https://user:word@api.example.com',
		why: 'The Base URL of the Pay API credential must hold no user name, password or fragment',
	},
	{
		given: 'https://user@api.example.com',
		why: 'The Base URL of the Pay API credential must hold no user name, password or fragment',
	},
	{
		given: 'https://:word@api.example.com',
		why: 'The Base URL of the Pay API credential must hold no user name, password or fragment',
	},
	{
		given: 'https://api.example.com/#a',
		why: 'The Base URL of the Pay API credential must hold no user name, password or fragment',
	},
	{
		given: 'https://api.example.com/?a=1',
		why: 'The Base URL of the Pay API credential must hold no query',
	},
])('$given is refused', ({ given, why }) => {
	expect(refusalOf(() => readBaseUrl(given, false, 'pay'))).toMatchObject({
		field: 'baseUrl',
		message: why,
	});
});

test('http: to another host needs the person to allow it', () => {
	expect(readBaseUrl('http://sandbox:8787', true, 'pay')).toBe('http://sandbox:8787');
});

test.each([
	{ given: 'https://api.example.com/v2/other/qrcode', schemeName: 'pay', right: 'other' },
	{ given: 'https://api.example.com/v2/pay/payment', schemeName: 'other', right: 'pay' },
])(
	'$given with the scheme name $schemeName says to enter $right',
	({ given, schemeName, right }) => {
		expect(() => readBaseUrl(given, false, schemeName)).toThrow(
			expect.objectContaining({
				field: 'schemeName',
				advice: expect.stringContaining(`"${right}"`),
			}),
		);
		expect(readBaseUrl(given, false, right)).toBe('https://api.example.com');
	},
);

test.each([
	{ given: undefined, used: 'pay' },
	{ given: 'pay', used: 'pay' },
	{ given: ' other-1 ', used: 'other-1' },
])('the scheme name $given is $used', ({ given, used }) => {
	expect(readSchemeName(given)).toBe(used);
});

test.each(['', ' ', '..', '.', 'a/b', 'a b', 'a?b', 'a#b', 'ä', '%2e%2e', {}])(
	'the scheme name %p is refused, since it is no segment of a path',
	(given) => {
		expect(refusalOf(() => readSchemeName(given))?.field).toBe('schemeName');
	},
);
