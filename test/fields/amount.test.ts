import fc from 'fast-check';
import assert from 'node:assert/strict';
import {
	amountField,
	type DecimalSign,
	readAmount,
	readDecimalSign,
} from '../../nodes/Pay/fields/amount';
import { unitsInWords, unitsOf } from '../../nodes/Pay/service/amounts';
import { refusalOf } from '../refusal';
import { runs } from '../runs';

/** What is said of an amount that is refused; undefined where it is taken. */
const refusal = (value: unknown, decimalSign?: DecimalSign) =>
	refusalOf(() => readAmount(value, amountField, { decimalSign }));

describe('an amount', () => {
	test.each<{ value: unknown; amount: number }>([
		{ value: ' 10.50 ', amount: 10.5 },
		{ value: '49.9', amount: 49.9 },
		{ value: '999999999999999', amount: 999_999_999_999_999 },
		{ value: 1.234, amount: 1.234 },
		{ value: 0.0001, amount: 0.0001 },
		{ value: 1.2345, amount: 1.2345 },
		// A database gives a column with six decimals like this.
		{ value: '12.500000', amount: 12.5 },
	])('$value is taken as $amount', ({ value, amount }) => {
		expect(readAmount(value, amountField)).toBe(amount);
	});

	test.each<[unknown, string]>([
		[' ', 'it is blank'],
		[true, 'it is a switch'],
		[{}, 'it is an object'],
		['0', 'it is not above 0'],
		['-0', 'it is not above 0'],
		[-1e-7, 'it is not above 0'],
		['1e3', 'it has an exponent'],
		['+5', 'it has a plus'],
		['0x10', 'it is hexadecimal'],
		['007', 'it has leading zeros'],
		['.5', 'a digit is missing'],
		['5.', 'a digit is missing'],
		['$5', 'it has a currency sign'],
		['1 000', 'it has a space'],
		['١٢', 'its digits are others'],
		[`0.${'0'.repeat(330)}12345`, 'it has more than 15 digits'],
		[5e-324, 'it has more than 15 digits'],
		[1234567890123456, 'it has more than 15 digits'],
		['1234567890123456', 'it has more than 15 digits'],
		['12345678901234.56', 'it has more than 15 digits'],
		['33.333333333333', 'it has more than four decimals'],
		[100 / 3, 'it has more than four decimals'],
		[12.34567, 'it has more than four decimals'],
		[0.00001, 'it has more than four decimals'],
		[1e-14, 'it has more than four decimals'],
		['', 'it is missing'],
		[undefined, 'it is missing'],
		[null, 'it is missing'],
		['ten', 'it is a word'],
		['{{ $json.total }}', 'it is an expression as plain text'],
		[[1], 'it is a list'],
		[NaN, 'it is no number'],
		[0, 'it is not above 0'],
		['-5', 'it is not above 0'],
		[33.333333333333, 'it has more than four decimals'],
		[0.1 + 0.2, 'it has more than four decimals'],
		[1e-16, 'it has more than four decimals'],
		[1e21, 'it has more than 15 digits'],
	])('%p is refused: %s', (value) => {
		expect(refusal(value)?.field).toBe('amount');
	});

	test.each([
		['10,50', 'Write 10.50.'],
		['0,5', 'Write 0.5.'],
		['1 000', 'Write 1000.'],
		['1\u00a0000,50', 'Write 1000.50.'],
		['1 234 567.8', 'Write 1234567.8.'],
	])('%s is refused, and its own number offered: %s', (text, advice) => {
		expect(refusal(text)?.advice).toBe(advice);
	});

	const sign = fc.constantFrom('point' as const, 'comma' as const);
	const written = fc.string({
		unit: fc.constantFrom('0', '1', '2', '5', '.', ',', ' ', '-', '$'),
		minLength: 1,
		maxLength: 9,
	});
	test('a number that is offered has the digits of the text, and is taken', () => {
		let offers = 0;
		fc.assert(
			fc.property(written, sign, (text, decimalSign) => {
				const { advice = '' } = refusal(text, decimalSign) ?? {};
				const [, offered] = /^Write ([\d.,]+)\.(?: If|$)/.exec(advice) ?? [];
				if (offered === undefined) return;
				offers++;
				expect(offered.replace(/\D/g, '')).toBe(text.replace(/\D/g, ''));
				// Zero is refused however it is written.
				if (/[1-9]/.test(offered)) expect(refusal(offered, decimalSign)).toBeUndefined();
			}),
			// Not fewer for mutants: offers are rare.
			{ numRuns: 3000 },
		);
		expect(offers).toBeGreaterThan(0);
	});

	test.each([
		'1234,5678',
		'123.456,7',
		'1.234.567,89',
		'12.345.678',
		'12,345.5',
		'12,345,678',
		'007',
		'10 50',
		'1 0000',
		'x1,5',
		'1,5x',
		'x10,500',
		'10,500x',
		'x1.234,5',
		'1.234,5x',
		'1234.567,8',
		'x12.345.678',
		'12.345.678x',
		'1.2.3',
		'1.234.5678',
		'x1,234.5',
		'1,234.5x',
		'x12,345,678',
		'12,345,678x',
	])('%s is not plainly one number, so none is offered', (text) => {
		expect(refusal(text)?.advice).toBe(refusal('ten')?.advice);
	});

	test.each([
		['1.000', '1000', '1'],
		['1,000', '1000', '1'],
		['1.050', '1050', '1.05'],
		['1.234', '1234', '1.2340'],
		['0,500', '500', '0.5'],
		['10,500', '10500', '10.5'],
	])('%s can be two amounts: %s and %s are offered, and taken', (text, one, other) => {
		expect(refusal(text)?.advice).toBe(`Write ${one} or ${other}, whichever is meant.`);
		for (const each of [one, other]) expect(readAmount(each, amountField)).toBe(Number(each));
	});

	test.each([
		['10,50', true],
		['1.234,56', true],
		['1,234.56', false],
	])('%s, where the sign can be chosen: the comma is offered: %s', (text, isOffered) => {
		const { advice = '' } = refusal(text, 'point') ?? {};
		expect(advice.includes('Decimal Sign')).toBe(isOffered);
		expect(refusal(text)?.advice).not.toContain('Decimal Sign');
	});
});

describe('an amount with a decimal comma', () => {
	const read = (value: unknown) => readAmount(value, amountField, { decimalSign: 'comma' });

	test.each<[unknown, number]>([
		['10,50', 10.5],
		[' 10,5 ', 10.5],
		['0,5', 0.5],
		['1234', 1234],
		['1234,5678', 1234.5678],
		['1.000', 1000],
		['12.345', 12345],
		['1.234,56', 1234.56],
		['1.234.567', 1234567],
		['1.234.567,89', 1234567.89],
		['1.234,567', 1234.567],
		[10.5, 10.5],
		[1.234, 1.234],
		[1000, 1000],
	])('%p is read as %p', (value, amount) => {
		expect(read(value)).toBe(amount);
	});

	const POINT =
		'If all your numbers are written with a point, choose Point as Decimal Sign under Options of the Pay node.';
	const DIGITS =
		'Write only digits and, if needed, a decimal comma, for example 10,50, without a currency sign, separators or an exponent.';
	test.each([
		['10.50', `${DIGITS} ${POINT}`],
		['1.0', `${DIGITS} ${POINT}`],
		['1234.5678', `${DIGITS} ${POINT}`],
		['1,000', 'Write 1000 or 1, whichever is meant.'],
		['1,234', 'Write 1234 or 1,2340, whichever is meant.'],
		['0.500', 'Write 500 or 0,5, whichever is meant.'],
		['1234.567', 'Write 1234567 or 1234,5670, whichever is meant.'],
		['1,234.56', `${DIGITS} ${POINT}`],
		['1,234,567', `${DIGITS} ${POINT}`],
		['1 000,50', 'Write 1000,50.'],
		['1.00,50', DIGITS],
		['0.123,45', DIGITS],
		['R$ 10,50', DIGITS],
		['10,50,00', DIGITS],
		['1.23.456', DIGITS],
	])('%s is refused: %s', (text, advice) => {
		expect(refusal(text, 'comma')?.advice).toBe(advice);
	});

	test.each(['1.00,50', '0.123,45', 'R$ 10,50', '10,50,00', '1.23.456'])(
		'%s is no number, so none is offered',
		(text) => {
			expect(refusal(text, 'comma')?.advice).toBe(refusal('ten', 'comma')?.advice);
		},
	);

	test.each(['-1,5', '0,00', '123456789012345,6', '', undefined, [1]])(
		'%p is refused as with a point',
		(value) => {
			expect(refusal(value, 'comma')?.field).toBe('amount');
		},
	);
});

describe('a percentage', () => {
	const percentage = { name: 'percentageSplit', displayName: 'Percentage' };
	const read = (value: unknown) => readAmount(value, percentage, { isPercentage: true });

	test('may be 0, and -0 is that', () => {
		expect(read(0)).toBe(0);
		expect(read(-0)).toBe(0);
		for (const below of [-1, '-0']) expect(refusalOf(() => read(below))).toBeDefined();
	});

	test('keeps its decimals, as far as 15 digits', () => {
		expect(read(33.333333333333)).toBe(33.333333333333);
		expect(read('33.333333333333')).toBe(33.333333333333);
		expect(refusalOf(() => read(100 / 3))?.field).toBe('percentageSplit');
	});
});

describe('units', () => {
	test.each<{ amount: number; units: bigint; words: string }>([
		{ amount: 0, units: 0n, words: '0' },
		{ amount: 100, units: 10n ** 16n, words: '100' },
		{ amount: 10.5, units: 105n * 10n ** 13n, words: '10.5' },
		{ amount: 1e-14, units: 1n, words: '0.00000000000001' },
		{
			amount: 999_999_999_999_999,
			units: 999_999_999_999_999n * 10n ** 14n,
			words: '999999999999999',
		},
		{ amount: 1e21, units: 10n ** 35n, words: '1000000000000000000000' },
		{ amount: 1.25e-7, units: 12_500_000n, words: '0.000000125' },
		{ amount: 1.5e21, units: 15n * 10n ** 34n, words: '1500000000000000000000' },
	])('$amount is $units units, and is written $words', ({ amount, units, words }) => {
		expect(unitsOf(amount)).toBe(units);
		expect(unitsInWords(units)).toBe(words);
	});

	test('have exact sums where numbers have not', () => {
		expect(0.1 + 0.2).not.toBe(0.3);
		expect(unitsOf(0.1) + unitsOf(0.2)).toBe(unitsOf(0.3));
	});
});

describe('Decimal Sign', () => {
	test.each<{ options: unknown; expected: string }>([
		{ options: undefined, expected: 'point' },
		{ options: {}, expected: 'point' },
		{ options: { decimalSign: 'point' }, expected: 'point' },
		{ options: { decimalSign: 'comma' }, expected: 'comma' },
	])('of the options $options is the $expected', ({ options, expected }) => {
		expect(readDecimalSign((name) => (name === 'options' ? options : undefined))).toBe(expected);
	});

	test.each([',', null, 7])('%p is refused', (decimalSign) => {
		const read = () => readDecimalSign(() => ({ decimalSign }));
		expect(refusalOf(read)?.field).toBe('decimalSign');
	});
});

// By chance. Beside the tables above, since no table thinks of everything.

const RUNS = { numRuns: runs(2000) };
const digits = (min: number, max: number) =>
	fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: min, maxLength: max });

/** The amount of a text, undefined where it is refused. */
function taken(value: unknown, decimalSign?: DecimalSign): number | undefined {
	return refusal(value, decimalSign) === undefined
		? readAmount(value, amountField, { decimalSign })
		: undefined;
}

/** A decimal text without what does not change its value. */
const canonical = (text: string) => (text.includes('.') ? text.replace(/\.?0+$/, '') : text);

test.each([
	['10.50', '10.5'],
	['10.00', '10'],
	['100', '100'],
])('the canonical form of %s is %s', (text, form) => {
	expect(canonical(text)).toBe(form);
});

test('whatever text is taken is sent as the number it says', () => {
	const plain = fc.tuple(digits(1, 12), fc.option(digits(1, 6))).map(([whole, fraction]) => {
		const shown = whole.replace(/^0+(?=\d)/, '');
		return fraction === null ? shown : `${shown}.${fraction}`;
	});
	fc.assert(
		fc.property(plain, (text) => {
			const amount = taken(text);
			if (amount === undefined) return;
			const sent = JSON.stringify(amount);
			// Tiny numbers are written with an exponent, which says the same.
			const written = sent.includes('e') ? amount.toFixed(20) : sent;
			assert.equal(canonical(written), canonical(text));
		}),
		RUNS,
	);
});

test('texts and numbers of up to 15 digits are taken', () => {
	const long = fc
		.tuple(fc.integer({ min: 1, max: 15 }), fc.constantFrom(0, 1, 2, 4))
		.filter(([count, decimals]) => count > decimals)
		.chain(([count, decimals]) =>
			fc.tuple(
				fc.constantFrom(...'123456789'),
				digits(count - decimals - 1, count - decimals - 1),
				digits(decimals, decimals),
			),
		);
	fc.assert(
		fc.property(long, ([first, rest, decimals]) => {
			const text = first + rest + (decimals && `.${decimals}`);
			assert.equal(taken(text), Number(text));
			assert.equal(taken(Number(text)), Number(text));
		}),
		{ ...RUNS, examples: [[['9', '999999999999', '99']]] },
	);
});

test('anything that is no plain positive number is refused, never coerced', () => {
	const other = fc
		.oneof(fc.string(), fc.array(fc.anything()), fc.object(), fc.boolean(), fc.double({ max: 0 }))
		.filter((value) => typeof value !== 'string' || !/^\s*\d+(\.\d+)?\s*$/.test(value));
	fc.assert(
		fc.property(other, (value) => assert.equal(taken(value), undefined)),
		RUNS,
	);
});

test('what one sign takes, the other never takes as another amount', () => {
	const separators = fc.constantFrom('.', ',', '');
	const typed = fc
		.tuple(digits(1, 5), separators, digits(0, 4), separators, digits(0, 4))
		.map((parts) => parts.join(''));
	let takenByBoth = 0;
	fc.assert(
		fc.property(typed, (text) => {
			const [withPoint, withComma] = [taken(text), taken(text, 'comma')];
			if (withPoint === undefined || withComma === undefined) return;
			takenByBoth += 1;
			assert.equal(withComma, withPoint);
		}),
		RUNS,
	);
	expect(takenByBoth).toBeGreaterThan(0);
});
