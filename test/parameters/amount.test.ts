import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
	amountField,
	parseAmount,
	readDecimalSign,
	unitsInWords,
	unitsOf,
} from '../../nodes/Pay/parameters/amount';
import { InputError, inWords } from '../../nodes/Pay/inputError';
import { refusalOf } from '../refusal';
import { runs } from '../runs';

const PERCENTAGE = { name: 'percentageSplit', displayName: 'Percentage' };

const RUNS = { numRuns: runs(2000) };
const digits = (min: number, max: number) =>
	fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: min, maxLength: max });
const plain = fc
	.tuple(digits(1, 12), fc.option(digits(1, 8)))
	.map(
		([whole, fraction]) =>
			whole.replace(/^0+(?=\d)/, '') + (fraction === null ? '' : `.${fraction}`),
	);

/** A decimal text without what does not change its value. */
const canonical = (text: string) => (text.includes('.') ? text.replace(/\.?0+$/, '') : text);

function accepts(value: unknown): number | undefined {
	try {
		return parseAmount(value, amountField);
	} catch (error) {
		expect(error).toBeInstanceOf(InputError);
		return undefined;
	}
}

describe('amounts', () => {
	test('a text is sent as the number it says, or refused', () => {
		fc.assert(
			fc.property(plain, (text) => {
				const amount = accepts(text);
				if (amount === undefined) return;
				const sent = JSON.stringify(amount);
				// Tiny numbers are written with an exponent, which says the same.
				const written = sent.includes('e') ? amount.toFixed(20) : sent;
				assert.equal(canonical(written), canonical(text));
			}),
			RUNS,
		);
	});

	test('texts and numbers of up to 15 digits are accepted', () => {
		const drawn = new Set<number>();
		const long = fc
			.tuple(fc.integer({ min: 1, max: 15 }), fc.constantFrom(0, 1, 2, 4, 8))
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
				drawn.add(text.replace('.', '').length);
				assert.equal(accepts(text), Number(text));
				assert.equal(accepts(Number(text)), Number(text));
				assert.equal(canonical(accepts(text)!.toFixed(decimals.length)), canonical(text));
			}),
			{ ...RUNS, examples: [[['9', '999999999999', '99']]] },
		);
		expect(Math.max(...drawn)).toBe(15);
	});

	test('anything that is no plain positive number is refused, never coerced', () => {
		const other = fc
			.oneof(fc.string(), fc.array(fc.anything()), fc.object(), fc.boolean(), fc.double({ max: 0 }))
			.filter((value) => typeof value !== 'string' || !/^\s*\d+(\.\d+)?\s*$/.test(value));
		fc.assert(
			fc.property(other, (value) => assert.equal(accepts(value), undefined)),
			RUNS,
		);
	});

	// What else is refused stands below, with the words for it.
	test.each([
		' ',
		true,
		{},
		'0',
		'1e3',
		'+5',
		'0x10',
		'007',
		'.5',
		'5.',
		'$5',
		'1 000',
		'١٢',
		`0.${'0'.repeat(330)}12345`,
		5e-324,
		1234567890123456,
		'1234567890123456',
		'12345678901234.56',
		-1e-7,
		-1.5e-9,
		1e-15,
		1.5e-14,
	])('%p is refused', (value) => {
		expect(accepts(value)).toBeUndefined();
	});

	const told = (value: unknown) => inWords(refusalOf(() => parseAmount(value, amountField)));

	const DIGITS = /Write digits with an optional decimal point/;
	const TOO_MANY = /more than 15 digits: .*[Rr]ound.* where it comes from/;
	test.each<[unknown, RegExp]>([
		['10,50', /is "10,50"\. Write 10\.50, with a decimal point\./],
		['1234,5678', /Write 1234\.5678, with a decimal point\./],
		['x1,5', DIGITS],
		['1,5x', DIGITS],
		['10,500', /Write 10500 or 10\.5, whichever is meant/],
		['x10,500', DIGITS],
		['10,500x', DIGITS],
		['123.456,7', /Write 123456\.7, with/],
		['1.234.567,89', /Write 1234567\.89, with/],
		['x1.234,5', DIGITS],
		['1.234,5x', DIGITS],
		['1234.567,8', DIGITS],
		['12.345.678', /Write 12345678, with/],
		['x12.345.678', DIGITS],
		['12.345.678x', DIGITS],
		['1.2.3', DIGITS],
		['a.bcd.efg', DIGITS],
		['1.234.5678', DIGITS],
		['12,345.5', /Write 12345\.5, with/],
		['1,234,567.8', /Write 1234567\.8, with/],
		['x1,234.5', DIGITS],
		['1,234.5x', DIGITS],
		['12,345,678', /Write 12345678, with/],
		['x12,345,678', DIGITS],
		['12,345,678x', DIGITS],
		['ten', DIGITS],
		['x'.repeat(100), new RegExp(`is "${'x'.repeat(60)}"\\.`)],
		['', /is missing\. Enter a number above 0/],
		[undefined, /is missing/],
		[null, /is missing/],
		[NaN, /is NaN\. Check the calculation/],
		[Infinity, /is Infinity\. Check the calculation/],
		[[1], /is \[1\]\. Use an expression that gives one number/],
		[Array(50).fill(7), new RegExp(`is \\[${'7,'.repeat(29)}7\\. Use`)],
		[10n, /is 10\. Use an expression that gives one number/],
		[() => 1, /is a value of type function/],
		[-1, /must be above 0, but is -1/],
		[0, /must be above 0, but is 0/],
		[0.1 + 0.2, /more than 15 digits: 0\.30000000000000004.*[Rr]ound/],
		[1234567890.1234567, TOO_MANY],
		[123456789012345.67, TOO_MANY],
		[1e-16, TOO_MANY],
		[1e21, TOO_MANY],
	])('of %p it is told what is wrong and how to correct it', (value, words) => {
		expect(told(value)).toMatch(words);
		expect(accepts(value)).toBeUndefined();
	});

	test.each([
		[' 10.50 ', 10.5],
		[1.234, 1.234],
		[1e-7, 1e-7],
		[1e-14, 1e-14],
		[1.5e-13, 1.5e-13],
	])('%p is the amount %p', (value, amount) => {
		expect(parseAmount(value, amountField)).toBe(amount);
	});

	test.each([
		['1.000', '1000', '1'],
		['1,000', '1000', '1'],
		['1.050', '1050', '1.05'],
		['1.234', '1234', '1.2340'],
		['0,500', '500', '0.5'],
	])('%p can be two amounts: both spellings are offered', (text, one, other) => {
		expect(told(text)).toContain(`Write ${one} or ${other}, whichever is meant`);
		expect([accepts(one), accepts(other)]).toStrictEqual([Number(one), Number(other)]);
	});

	test('the text "-5" is told that it must be above 0', () => {
		expect(told('-5')).toMatch(/ must be above 0, but is "-5"/);
		expect(accepts('-0')).toBeUndefined();
	});

	test('a field that reads a Decimal Sign names it, and no other does', () => {
		const choose = 'If all are written with a comma, choose it as Decimal Sign under Options.';
		const refusal = (text: string) =>
			inWords(refusalOf(() => parseAmount(text, amountField, { decimalSign: 'point' })));
		expect(refusal('10,50')).toContain(`Write 10.50, with a decimal point. ${choose}`);
		expect(refusal('1.234,56')).toContain(
			`Write 1234.56, with a decimal point and without separators between thousands. ${choose}`,
		);
		expect(refusal('1,234.56')).toMatch(/separators between thousands\.$/);
		expect(told('10,50')).toMatch(/Write 10\.50, with a decimal point\.$/);
	});

	describe('with a decimal comma', () => {
		const read = (value: unknown) => parseAmount(value, amountField, { decimalSign: 'comma' });
		const refusal = (value: unknown) => inWords(refusalOf(() => read(value)));

		test.each<[unknown, number]>([
			['10,50', 10.5],
			[' 10,5 ', 10.5],
			['0,5', 0.5],
			['10', 10],
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
		])('%p is %p', (value, amount) => {
			expect(read(value)).toBe(amount);
		});

		test.each([
			['10.50', 'Write 1050 or 10,5, whichever is meant. If all are written with a point,'],
			['1.0', 'Write 10 or 1, whichever is meant.'],
			['1234.5678', 'Write 12345678 or 1234,5678, whichever is meant.'],
			['1,000', 'Write 1000 or 1, whichever is meant.'],
			['1,234', 'Write 1234 or 1,2340, whichever is meant.'],
			['0.500', 'Write 500 or 0,5, whichever is meant.'],
			['1234.567', 'Write 1234567 or 1234,5670, whichever is meant.'],
			['1,234.56', 'Write 1234,56, with a decimal comma and without separators'],
			['1,234,567', 'Write 1234567, with a decimal comma and without separators'],
			['1.00,50', 'Write digits with an optional decimal comma, for example 10,50'],
			['0.123,45', 'Write digits with an optional decimal comma'],
			['R$ 10,50', 'Write digits with an optional decimal comma'],
			['10,50,00', 'Write digits with an optional decimal comma'],
			['1.23.456', 'Write digits with an optional decimal comma'],
		])('%p is refused: %s', (text, words) => {
			expect(refusal(text)).toContain(words);
		});

		test.each(['-1,5', '0,00', '123456789012345,6', '', undefined, [1]])(
			'%p is refused as with a point',
			(value) => {
				expect(() => read(value)).toThrow(InputError);
			},
		);

		test('what one sign takes, the other never takes as another amount', () => {
			const separators = fc.constantFrom('.', ',', '');
			const typed = fc
				.tuple(digits(1, 5), separators, digits(0, 4), separators, digits(0, 4))
				.map((parts) => parts.join(''));
			const both = { asPoint: 0, same: 0 };
			fc.assert(
				fc.property(typed, (text) => {
					const asPoint = accepts(text);
					if (asPoint === undefined) return;
					both.asPoint += 1;
					let asComma: number | undefined;
					try {
						asComma = read(text);
					} catch {
						return;
					}
					both.same += 1;
					assert.equal(asComma, asPoint);
				}),
				RUNS,
			);
			expect(both.same).toBeGreaterThan(0);
			expect(both.asPoint).toBeGreaterThan(both.same);
		});
	});

	test('a percentage may be 0', () => {
		expect(parseAmount(0, PERCENTAGE, { bound: '0 or more' })).toBe(0);
		// What JSON makes of it.
		expect(parseAmount(-0, PERCENTAGE, { bound: '0 or more' })).toBe(0);
		for (const below of [-1, '-0']) {
			expect(() => parseAmount(below, PERCENTAGE, { bound: '0 or more' })).toThrow(InputError);
		}
	});
});

test.each<[number, bigint, string]>([
	[0, 0n, '0'],
	[1, 10n ** 14n, '1'],
	[100, 10n ** 16n, '100'],
	[10.5, 105n * 10n ** 13n, '10.5'],
	[0.07, 7n * 10n ** 12n, '0.07'],
	[1e-14, 1n, '0.00000000000001'],
	[999_999_999_999_999, 999_999_999_999_999n * 10n ** 14n, '999999999999999'],
	[1e21, 10n ** 35n, '1000000000000000000000'],
	[1.25e-7, 12_500_000n, '0.000000125'],
	[1.5e21, 15n * 10n ** 34n, '1500000000000000000000'],
])('the amount %d is so many units, and is written so as a sum', (amount, units, words) => {
	expect(unitsOf(amount)).toBe(units);
	expect(unitsInWords(units)).toBe(words);
});

test('sums of units are exact where sums of numbers are not', () => {
	expect(0.1 + 0.2).not.toBe(0.3);
	expect(unitsOf(0.1) + unitsOf(0.2)).toBe(unitsOf(0.3));
});

test.each<[unknown, string]>([
	[undefined, 'point'],
	[{}, 'point'],
	[{ decimalSign: 'point' }, 'point'],
	[{ decimalSign: 'comma' }, 'comma'],
])('of the options %j the decimal sign is the %s', (options, expected) => {
	expect(readDecimalSign((name) => (name === 'options' ? options : undefined))).toBe(expected);
});

test.each<[unknown, string]>([
	[',', '","'],
	[null, 'null'],
	[7, '7'],
	['x'.repeat(61), `"${'x'.repeat(60)}"`],
	[{ a: 'x'.repeat(60) }, `{"a":"${'x'.repeat(54)}`],
])('the decimal sign %j is refused', (decimalSign, shown) => {
	expect(refusalOf(() => readDecimalSign(() => ({ decimalSign })))).toMatchObject({
		field: 'decimalSign',
		message: `Decimal Sign (decimalSign) must be one of point, comma, but is ${shown}`,
		advice: 'Choose one from the list under Options.',
	});
});
