import fc from 'fast-check';
import { amountInCode } from '../../nodes/Pay/qr/schemes';
import { crc16 } from '../../nodes/Pay/qr/emv';
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
