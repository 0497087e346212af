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
	'',
	' \n',
	undefined,
	'api.example.com',
	'/v2/pay',
	'ftp://api.example.com',
	'file:///etc/passwd',
	'http://api.example.com',
	'http://127.0.0.1.example.com',
	'http://localhost.example.com',
	'http://localhost.',
	'http://127.0.0.1.nip.example',
	'https://user:word@api.example.com',
	'https://user@api.example.com',
	'https://:word@api.example.com',
	'https://api.example.com/#a',
	'https://api.example.com/?a=1',
])('%p is refused', (given) => {
	expect(refusalOf(() => readBaseUrl(given, false, 'pay'))?.field).toBe('baseUrl');
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
