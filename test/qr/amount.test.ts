import fc from 'fast-check';
import { amountInCode, amountTextIn, schemeOf } from '../../nodes/Pay/qr/schemes';
import { crc16, emvAmount, isEmv } from '../../nodes/Pay/qr/emv';
import { brCode } from '../../sandbox/brCode';
import { EXAMPLES } from './schemes';

/** The amount of the example that each scheme publishes; the others hold none, or in another unit. */
const AMOUNTS: Record<string, number> = {
	'UPI (India)': 10,
	'SEPA credit transfer (EPC069-12)': 1,
	'Swiss QR-bill': 1949.75,
	'Short Payment Descriptor (Czechia)': 450,
};

test.each(EXAMPLES)('the amount of the published example: $scheme', ({ scheme, example }) => {
	expect(amountInCode(example)).toBe(AMOUNTS[scheme]);
});

const emv = (fields: string) => `${fields}6304${crc16(`${fields}6304`)}`;

test('the checksum is that of its published check value', () => {
	expect(crc16('123456789')).toBe('29B1');
});

test('an EMV code has its amount under 54, wherever it stands', () => {
	fc.assert(
		fc.property(fc.uuid(), fc.integer({ min: 1, max: 99_999_999 }), (id, cents) => {
			expect(amountInCode(brCode(id, cents / 100))).toBe(cents / 100);
		}),
	);
	expect(amountInCode(emv('0002015303986540541.005802BR'))).toBe(41);
	expect(amountInCode(emv('0002015303986540441.05802BR'))).toBe(41);
	expect(amountInCode(emv('000201530398654040.415802BR'))).toBe(0.41);
});

test('a code of a later version of its scheme has its amount in the same place', () => {
	expect(amountInCode('BCD\n003\n1\nSCT\nB\nName\nBE72\nEUR12.50\nCHAR')).toBe(12.5);
	expect(amountInCode('upi://pay?am=7&tn=x')).toBe(7);
});

test('a length is counted in characters or in bytes', () => {
	expect(amountInCode(emv('0002015904José540512.34'))).toBe(12.34);
	expect(amountInCode(emv('0002015905José540512.34'))).toBe(12.34);
});

test.each([
	['an EMV code without an amount', emv('0002015802BR')],
	['an EMV code whose lengths do not add up', emv('0002015499')],
	['54 inside of another field', emv('000201260854041.00')],
	['an EMV code with a wrong checksum', '000201540541.0063040000'],
	['UPI with "null"', 'upi://pay?pa=a@b&am=null'],
	['UPI without', 'upi://pay?pa=a@b&mam=10'],
	['SEPA without', 'BCD\n002\n1\nSCT\nB\nName\nBE72\n\nCHAR'],
	['Swiss without', `SPC\n0200\n1\nCH44${'\n'.repeat(15)}\nCHF`],
	['SPD without', 'SPD*1.0*ACC:CZ58*CC:CZK'],
	['a link', 'https://qr.alipay.com/bavh4wjlxf12tper3a'],
	['any text', '54'],
])('none: %s', (_what, code) => {
	expect(amountInCode(code)).toBeUndefined();
});

test.each([
	['without its beginning', `00020254${'0'.repeat(8)}6304`],
	['without the field of its checksum', '0002016304XX'],
])('a code %s is no EMV code, though its checksum is right', (_what, body) => {
	expect(isEmv(`${body}${crc16(body)}`)).toBe(false);
});

test('the checksum of an EMV code may be in small letters', () => {
	const code = emv('0002015802BR');
	expect(isEmv(code)).toBe(true);
	expect(isEmv(code.slice(0, -4) + code.slice(-4).toLowerCase())).toBe(true);
});

test.each([
	['whose second length is no number', '00020154x41.00'],
	['whose length has one digit', '0002015 4'],
	['that ends within a field', '00020154051.0'],
])('an EMV code %s has no amount', (_what, code) => {
	expect(emvAmount(code)).toBeUndefined();
});

test('of two amounts of one EMV code the first counts', () => {
	expect(emvAmount('00020154041.0054042.00')).toBe('1.00');
});

const SWISS = ['SPC', '0200', '1', 'CH4431999123000889012', ''];
const NSPK = 'https://qr.nspk.ru/AS10003P3RH0LJ2A9ROO038L6NT5RU1M';
const PAYCONIQ = 'https://payconiq.com/pay/2/5bdb1685b93d1c000bde96f2';
test.each([
	['UPI in capitals', 'UPI://PAY?pa=a@b', 'UPI (India)'],
	['UPI whose payee comes late', 'upi://pay?am=1&pa=a@b', 'UPI (India)'],
	['UPI behind a word', 'x upi://pay?pa=a@b', undefined],
	['UPI with a blank', 'upi://pay? pa=a@b&pa=c', undefined],
	[
		'SEPA with lines of Windows',
		'BCD\r\n001\r\n8\r\nINST\r\nB',
		'SEPA credit transfer (EPC069-12)',
	],
	['SEPA behind a word', 'x BCD\n001\n1\nSCT\n', undefined],
	['a Swiss bill with lines of Unix', SWISS.join('\n'), 'Swiss QR-bill'],
	['a Swiss bill with lines of Windows', SWISS.join('\r\n'), 'Swiss QR-bill'],
	['a Swiss bill behind a word', `x ${SWISS.join('\n')}`, undefined],
	['SPD of a later version', 'SPD*10.12*X-VS:1*ACC:CZ58', 'Short Payment Descriptor (Czechia)'],
	['SPD behind a word', 'x SPD*1.0*ACC:CZ58', undefined],
	['SPD with half a check number', 'SPD*1.0*ACC:CZ5', undefined],
	['GOST behind a word', 'x ST00012|Name=a|PersonalAcc=1', undefined],
	['IPS behind a word', `x K:PR|V:01|C:1|R:${'1'.repeat(18)}|`, undefined],
	['an SBP link', NSPK, 'SBP link (Russia)'],
	['an SBP link with a query', `${NSPK}?type=02`, 'SBP link (Russia)'],
	['an SBP link with more behind it', `${NSPK}/more`, undefined],
	['an SBP link behind a word', `x ${NSPK}`, undefined],
	['an Alipay link with more behind it', 'https://qr.alipay.com/bavh4wjlxf12/more', undefined],
	['an Alipay link behind a word', 'x https://qr.alipay.com/bavh4wjlxf12', undefined],
	['a WeChat link with a blank', 'weixin://wxpay/bizpayurl?pr=a b', undefined],
	['a WeChat link behind a word', 'x weixin://wxpay/bizpayurl?pr=a', undefined],
	['a Payconiq link with a query', `${PAYCONIQ}?r=https://a.test`, 'Payconiq link'],
	['a Payconiq link with more behind it', `${PAYCONIQ}0`, undefined],
	['a Payconiq link behind a word', `x ${PAYCONIQ}`, undefined],
])('the scheme of %s', (_what, code, scheme) => {
	expect(schemeOf(code)?.name).toBe(scheme);
});

test('a code has as many characters as a QR code holds, and no more', () => {
	const upi = (length: number) => 'upi://pay?pa=a@'.padEnd(length, 'b');
	expect(schemeOf(upi(7089))?.name).toBe('UPI (India)');
	expect(schemeOf(upi(7090))).toBeUndefined();
});

test.each([
	['EUR', 'BCD\n002\n1\nSCT\nB\nName\nBE72\nEUR\nCHAR', undefined],
	['another currency', 'BCD\n002\n1\nSCT\nB\nName\nBE72\nCHF5\nCHAR', undefined],
	['no line for it', 'BCD\n002\n1\nSCT\nB', undefined],
	['words', 'BCD\n002\n1\nSCT\nB\nName\nBE72\nEURa\nCHAR', 'a'],
])('the amount of a SEPA code with %s, as it stands there', (_what, code, expected) => {
	expect(amountTextIn(code)).toBe(expected);
	expect(amountInCode(code)).toBeUndefined();
});
