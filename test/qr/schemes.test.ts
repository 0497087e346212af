import fc from 'fast-check';
import { amountInCode, amountTextIn, schemeOf, SCHEMES } from '../../nodes/Pay/qr/code';
import { crc16, emvAmount, isEmv } from '../../nodes/Pay/qr/emv';
import { brCode } from '../../sandbox/brCode';
import { read } from '../markdown';
import { EXAMPLES } from './schemes';

test.each(EXAMPLES)('the published example of $scheme is its own, and has its amount', (row) => {
	const { scheme, example, amount } = row;
	const own = SCHEMES.filter(({ isCode }) => isCode(example));
	expect(own.map(({ name }) => name)).toStrictEqual([scheme]);
	expect(example.startsWith(own[0]!.begins)).toBe(true);
	expect(amountInCode(example)).toBe(amount);
});

test('the document lists these schemes', () => {
	const document = read('docs/service.md');
	const table = document.slice(document.indexOf('| Code '), document.indexOf('_`test/qr/schemes'));
	const rows = table.split('\n').slice(2).filter(Boolean);
	const cells = rows.map((row) => row.split('|').map((cell) => cell.trim()));
	expect(cells.map((row) => row.slice(1, 3))).toStrictEqual(
		SCHEMES.map(({ name, begins }) => [name, `\`${begins}\``]),
	);
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
	{ what: 'an EMV code without an amount', code: emv('0002015802BR') },
	{ what: 'an EMV code whose lengths do not add up', code: emv('0002015499') },
	{ what: '54 inside of another field', code: emv('000201260854041.00') },
	{ what: 'an EMV code with a wrong checksum', code: '000201540541.0063040000' },
	{ what: 'UPI with "null"', code: 'upi://pay?pa=a@b&am=null' },
	{ what: 'UPI without', code: 'upi://pay?pa=a@b&mam=10' },
	{ what: 'SEPA without', code: 'BCD\n002\n1\nSCT\nB\nName\nBE72\n\nCHAR' },
	{ what: 'Swiss without', code: `SPC\n0200\n1\nCH44${'\n'.repeat(15)}\nCHF` },
	{ what: 'SPD without', code: 'SPD*1.0*ACC:CZ58*CC:CZK' },
	{ what: 'a link', code: 'https://qr.alipay.com/bavh4wjlxf12tper3a' },
	{ what: 'any text', code: '54' },
])('$what asks for no amount', ({ code }) => {
	expect(amountInCode(code)).toBeUndefined();
});

test.each([
	{ what: 'without its beginning', body: `00020254${'0'.repeat(8)}6304` },
	{ what: 'without the field of its checksum', body: '0002016304XX' },
])('a code $what is no EMV code, though its checksum is right', ({ body }) => {
	expect(isEmv(`${body}${crc16(body)}`)).toBe(false);
});

test('the checksum of an EMV code may be in small letters', () => {
	const code = emv('0002015802BR');
	expect(isEmv(code)).toBe(true);
	expect(isEmv(code.slice(0, -4) + code.slice(-4).toLowerCase())).toBe(true);
});

test.each([
	{ what: 'whose second length is no number', code: '00020154x41.00' },
	{ what: 'whose length has one digit', code: '0002015 4' },
	{ what: 'that ends within a field', code: '00020154051.0' },
])('an EMV code $what has no amount', ({ code }) => {
	expect(emvAmount(code)).toBeUndefined();
});

test('of two amounts of one EMV code the first counts', () => {
	expect(emvAmount('00020154041.0054042.00')).toBe('1.00');
});

const SWISS = ['SPC', '0200', '1', 'CH4431999123000889012', ''];
const NSPK = 'https://qr.nspk.ru/AS10003P3RH0LJ2A9ROO038L6NT5RU1M';
const PAYCONIQ = 'https://payconiq.com/pay/2/5bdb1685b93d1c000bde96f2';
test.each([
	{ what: 'UPI in capitals', code: 'UPI://PAY?pa=a@b', scheme: 'UPI (India)' },
	{ what: 'UPI whose payee comes late', code: 'upi://pay?am=1&pa=a@b', scheme: 'UPI (India)' },
	{ what: 'UPI behind a word', code: 'x upi://pay?pa=a@b', scheme: undefined },
	{ what: 'UPI with a blank', code: 'upi://pay? pa=a@b&pa=c', scheme: undefined },
	{
		what: 'SEPA with lines of Windows',
		code: 'BCD\r\n001\r\n8\r\nINST\r\nB',
		scheme: 'SEPA credit transfer (EPC069-12)',
	},
	{ what: 'SEPA behind a word', code: 'x BCD\n001\n1\nSCT\n', scheme: undefined },
	{ what: 'a Swiss bill with lines of Unix', code: SWISS.join('\n'), scheme: 'Swiss QR-bill' },
	{ what: 'a Swiss bill with lines of Windows', code: SWISS.join('\r\n'), scheme: 'Swiss QR-bill' },
	{ what: 'a Swiss bill behind a word', code: `x ${SWISS.join('\n')}`, scheme: undefined },
	{
		what: 'SPD of a later version',
		code: 'SPD*10.12*X-VS:1*ACC:CZ58',
		scheme: 'Short Payment Descriptor (Czechia)',
	},
	{ what: 'SPD behind a word', code: 'x SPD*1.0*ACC:CZ58', scheme: undefined },
	{ what: 'SPD with half a check number', code: 'SPD*1.0*ACC:CZ5', scheme: undefined },
	{ what: 'GOST behind a word', code: 'x ST00012|Name=a|PersonalAcc=1', scheme: undefined },
	{ what: 'IPS behind a word', code: `x K:PR|V:01|C:1|R:${'1'.repeat(18)}|`, scheme: undefined },
	{ what: 'an SBP link', code: NSPK, scheme: 'SBP link (Russia)' },
	{ what: 'an SBP link with a query', code: `${NSPK}?type=02`, scheme: 'SBP link (Russia)' },
	{ what: 'an SBP link with more behind it', code: `${NSPK}/more`, scheme: undefined },
	{ what: 'an SBP link behind a word', code: `x ${NSPK}`, scheme: undefined },
	{
		what: 'an Alipay link with more behind it',
		code: 'https://qr.alipay.com/bavh4wjlxf12/more',
		scheme: undefined,
	},
	{
		what: 'an Alipay link behind a word',
		code: 'x https://qr.alipay.com/bavh4wjlxf12',
		scheme: undefined,
	},
	{
		what: 'a WeChat link with a blank',
		code: 'weixin://wxpay/bizpayurl?pr=a b',
		scheme: undefined,
	},
	{
		what: 'a WeChat link behind a word',
		code: 'x weixin://wxpay/bizpayurl?pr=a',
		scheme: undefined,
	},
	{
		what: 'a Payconiq link with a query',
		code: `${PAYCONIQ}?r=https://a.test`,
		scheme: 'Payconiq link',
	},
	{ what: 'a Payconiq link with more behind it', code: `${PAYCONIQ}0`, scheme: undefined },
	{ what: 'a Payconiq link behind a word', code: `x ${PAYCONIQ}`, scheme: undefined },
	{ what: 'a sentence about a scheme', code: 'upi://pay is not offered here', scheme: undefined },
	{ what: 'a link without who is paid', code: 'upi://pay?am=10&tn=pa=x@y', scheme: undefined },
	{ what: 'the word of a scheme', code: 'BCD', scheme: undefined },
	{
		what: 'a bank code of the same letters',
		code: 'SPC\n0200\n1\nDE89370400440532013000\n',
		scheme: undefined,
	},
	{ what: 'the word of another', code: 'SPD*1.0*MSG:hello', scheme: undefined },
	{ what: 'a price list', code: 'ST00012|Name=a', scheme: undefined },
	{ what: 'a page of a wallet', code: 'https://qr.alipay.com/', scheme: undefined },
	{ what: 'a page about a wallet', code: 'https://payconiq.com/pay/2/help', scheme: undefined },
])('$what is a code of the scheme $scheme', ({ code, scheme }) => {
	expect(schemeOf(code)?.name).toBe(scheme);
});

test('a code has as many characters as a QR code holds, and no more', () => {
	const upi = (length: number) => 'upi://pay?pa=a@'.padEnd(length, 'b');
	expect(schemeOf(upi(7089))?.name).toBe('UPI (India)');
	expect(schemeOf(upi(7090))).toBeUndefined();
});

test.each([
	{ what: 'EUR', code: 'BCD\n002\n1\nSCT\nB\nName\nBE72\nEUR\nCHAR', expected: undefined },
	{
		what: 'another currency',
		code: 'BCD\n002\n1\nSCT\nB\nName\nBE72\nCHF5\nCHAR',
		expected: undefined,
	},
	{ what: 'no line for it', code: 'BCD\n002\n1\nSCT\nB', expected: undefined },
	{ what: 'words', code: 'BCD\n002\n1\nSCT\nB\nName\nBE72\nEURa\nCHAR', expected: 'a' },
])('the amount of a SEPA code with $what, as it stands there', ({ code, expected }) => {
	expect(amountTextIn(code)).toBe(expected);
	expect(amountInCode(code)).toBeUndefined();
});
