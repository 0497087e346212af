import assert from 'node:assert/strict';
import fc from 'fast-check';
import { amountField, parseAmount, readDecimalSign } from '../../nodes/Pay/parameters/amount';
import { unitsInWords, unitsOf } from '../../nodes/Pay/service/amounts';
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

	const refusalInWords = (value: unknown) =>
		inWords(refusalOf(() => parseAmount(value, amountField)));

	const DIGITS =
		'Write digits with an optional decimal point, for example 10.50: no currency sign, no separators, no exponent.';

	test.each([
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
		'a.bcd.efg',
		'1.234.5678',
		'x1,234.5',
		'1,234.5x',
		'x12,345,678',
		'12,345,678x',
		'ten',
	])('the text "%s" is no number: it is told to write digits', (text) => {
		expect(refusalInWords(text)).toBe(`Amount must be a number, but is "${text}". ${DIGITS}`);
		expect(accepts(text)).toBeUndefined();
	});

	test('of a long text 60 characters are repeated', () => {
		expect(refusalInWords('x'.repeat(100))).toBe(
			`Amount must be a number, but is "${'x'.repeat(60)}". ${DIGITS}`,
		);
	});

	test('of a long list 60 characters are repeated', () => {
		expect(refusalInWords(Array(50).fill(7))).toBe(
			`Amount must be a number, but is [${'7,'.repeat(29)}7. Use an expression that gives one number, for example {{ $json.amount }}.`,
		);
	});

	test.each([
		{
			value: '10,50',
			words: 'Amount must be a number, but is "10,50". Write 10.50, with a decimal point.',
		},
		{
			value: '1234,5678',
			words: 'Amount must be a number, but is "1234,5678". Write 1234.5678, with a decimal point.',
		},
		{
			value: '10,500',
			words: 'Amount must be a number, but is "10,500". Write 10500 or 10.5, whichever is meant.',
		},
		{
			value: '123.456,7',
			words:
				'Amount must be a number, but is "123.456,7". Write 123456.7, with a decimal point and without separators between thousands.',
		},
		{
			value: '1.234.567,89',
			words:
				'Amount must be a number, but is "1.234.567,89". Write 1234567.89, with a decimal point and without separators between thousands.',
		},
		{
			value: '12.345.678',
			words:
				'Amount must be a number, but is "12.345.678". Write 12345678, with a decimal point and without separators between thousands.',
		},
		{
			value: '12,345.5',
			words:
				'Amount must be a number, but is "12,345.5". Write 12345.5, with a decimal point and without separators between thousands.',
		},
		{
			value: '1,234,567.8',
			words:
				'Amount must be a number, but is "1,234,567.8". Write 1234567.8, with a decimal point and without separators between thousands.',
		},
		{
			value: '12,345,678',
			words:
				'Amount must be a number, but is "12,345,678". Write 12345678, with a decimal point and without separators between thousands.',
		},
		{
			value: '',
			words:
				'Amount is missing. Enter a number above 0. If it comes from an expression, check that the input item has the value the expression asks for.',
		},
		{
			value: undefined,
			words:
				'Amount is missing. Enter a number above 0. If it comes from an expression, check that the input item has the value the expression asks for.',
		},
		{
			value: null,
			words:
				'Amount is missing. Enter a number above 0. If it comes from an expression, check that the input item has the value the expression asks for.',
		},
		{
			value: NaN,
			words: 'Amount must be a number, but is NaN. Check the calculation that gives this value.',
		},
		{
			value: Infinity,
			words:
				'Amount must be a number, but is Infinity. Check the calculation that gives this value.',
		},
		{
			value: [1],
			words:
				'Amount must be a number, but is [1]. Use an expression that gives one number, for example {{ $json.amount }}.',
		},
		{
			value: 10n,
			words:
				'Amount must be a number, but is 10. Use an expression that gives one number, for example {{ $json.amount }}.',
		},
		{
			value: () => 1,
			words:
				'Amount must be a number, but is a value of type function. Use an expression that gives one number, for example {{ $json.amount }}.',
		},
		{
			value: -1,
			words: 'Amount must be above 0, but is -1. Check the value and where it comes from.',
		},
		{
			value: 0,
			words: 'Amount must be above 0, but is 0. Check the value and where it comes from.',
		},
		{
			value: 0.1 + 0.2,
			words:
				'Amount has more than 15 digits: 0.30000000000000004. If it comes from a calculation such as 0.1 + 0.2, round it, for example {{ Number($json.amount).round(2) }}. Else check the value and where it comes from.',
		},
		{
			value: 1234567890.1234567,
			words:
				'Amount has more than 15 digits: 1234567890.1234567. If it comes from a calculation such as 0.1 + 0.2, round it, for example {{ Number($json.amount).round(2) }}. Else check the value and where it comes from.',
		},
		{
			value: 123456789012345.67,
			words:
				'Amount has more than 15 digits: 123456789012345.67. If it comes from a calculation such as 0.1 + 0.2, round it, for example {{ Number($json.amount).round(2) }}. Else check the value and where it comes from.',
		},
		{
			value: 1e-16,
			words:
				'Amount has more than 15 digits: 1e-16. If it comes from a calculation such as 0.1 + 0.2, round it, for example {{ Number($json.amount).round(2) }}. Else check the value and where it comes from.',
		},
		{
			value: 1e21,
			words:
				'Amount has more than 15 digits: 1e+21. If it comes from a calculation such as 0.1 + 0.2, round it, for example {{ Number($json.amount).round(2) }}. Else check the value and where it comes from.',
		},
	])('of $value it is told what is wrong and how to correct it', ({ value, words }) => {
		expect(refusalInWords(value)).toBe(words);
		expect(accepts(value)).toBeUndefined();
	});

	test.each([
		{
			value: ' 10.50 ',
			amount: 10.5,
		},
		{
			value: 1.234,
			amount: 1.234,
		},
		{
			value: 1e-7,
			amount: 1e-7,
		},
		{
			value: 1e-14,
			amount: 1e-14,
		},
		{
			value: 1.5e-13,
			amount: 1.5e-13,
		},
	])('$value is the amount $amount', ({ value, amount }) => {
		expect(parseAmount(value, amountField)).toBe(amount);
	});

	test.each([
		{
			text: '1.000',
			one: '1000',
			other: '1',
		},
		{
			text: '1,000',
			one: '1000',
			other: '1',
		},
		{
			text: '1.050',
			one: '1050',
			other: '1.05',
		},
		{
			text: '1.234',
			one: '1234',
			other: '1.2340',
		},
		{
			text: '0,500',
			one: '500',
			other: '0.5',
		},
	])('$text can be two amounts: both spellings are offered', ({ text, one, other }) => {
		expect(refusalInWords(text)).toContain(`Write ${one} or ${other}, whichever is meant`);
		expect([accepts(one), accepts(other)]).toStrictEqual([Number(one), Number(other)]);
	});

	test('the text "-5" is told that it must be above 0', () => {
		expect(refusalInWords('-5')).toBe(
			'Amount must be above 0, but is "-5". Check the value and where it comes from.',
		);
		expect(accepts('-0')).toBeUndefined();
	});

	test('a field that reads a Decimal Sign names it, and no other does', () => {
		const choose =
			'If all are written with a comma, choose it as Decimal Sign under Options of the Pay node.';
		const refusal = (text: string) =>
			inWords(refusalOf(() => parseAmount(text, amountField, { decimalSign: 'point' })));
		expect(refusal('10,50')).toContain(`Write 10.50, with a decimal point. ${choose}`);
		expect(refusal('1.234,56')).toContain(
			`Write 1234.56, with a decimal point and without separators between thousands. ${choose}`,
		);
		expect(refusal('1,234.56')).toBe(
			'Amount must be a number, but is "1,234.56". Write 1234.56, with a decimal point and without separators between thousands.',
		);
		expect(refusalInWords('10,50')).toBe(
			'Amount must be a number, but is "10,50". Write 10.50, with a decimal point.',
		);
	});

	describe('with a decimal comma', () => {
		const read = (value: unknown) => parseAmount(value, amountField, { decimalSign: 'comma' });
		const refusal = (value: unknown) => inWords(refusalOf(() => read(value)));

		test.each<{ value: unknown; amount: number }>([
			{
				value: '10,50',
				amount: 10.5,
			},
			{
				value: ' 10,5 ',
				amount: 10.5,
			},
			{
				value: '0,5',
				amount: 0.5,
			},
			{
				value: '10',
				amount: 10,
			},
			{
				value: '1234',
				amount: 1234,
			},
			{
				value: '1234,5678',
				amount: 1234.5678,
			},
			{
				value: '1.000',
				amount: 1000,
			},
			{
				value: '12.345',
				amount: 12345,
			},
			{
				value: '1.234,56',
				amount: 1234.56,
			},
			{
				value: '1.234.567',
				amount: 1234567,
			},
			{
				value: '1.234.567,89',
				amount: 1234567.89,
			},
			{
				value: '1.234,567',
				amount: 1234.567,
			},
			{
				value: 10.5,
				amount: 10.5,
			},
			{
				value: 1.234,
				amount: 1.234,
			},
			{
				value: 1000,
				amount: 1000,
			},
		])('$value is $amount', ({ value, amount }) => {
			expect(read(value)).toBe(amount);
		});

		test.each([
			{
				text: '10.50',
				words: 'Write 1050 or 10,5, whichever is meant. If all are written with a point,',
			},
			{
				text: '1.0',
				words: 'Write 10 or 1, whichever is meant.',
			},
			{
				text: '1234.5678',
				words: 'Write 12345678 or 1234,5678, whichever is meant.',
			},
			{
				text: '1,000',
				words: 'Write 1000 or 1, whichever is meant.',
			},
			{
				text: '1,234',
				words: 'Write 1234 or 1,2340, whichever is meant.',
			},
			{
				text: '0.500',
				words: 'Write 500 or 0,5, whichever is meant.',
			},
			{
				text: '1234.567',
				words: 'Write 1234567 or 1234,5670, whichever is meant.',
			},
			{
				text: '1,234.56',
				words: 'Write 1234,56, with a decimal comma and without separators',
			},
			{
				text: '1,234,567',
				words: 'Write 1234567, with a decimal comma and without separators',
			},
			{
				text: '1.00,50',
				words: 'Write digits with an optional decimal comma, for example 10,50',
			},
			{
				text: '0.123,45',
				words: 'Write digits with an optional decimal comma',
			},
			{
				text: 'R$ 10,50',
				words: 'Write digits with an optional decimal comma',
			},
			{
				text: '10,50,00',
				words: 'Write digits with an optional decimal comma',
			},
			{
				text: '1.23.456',
				words: 'Write digits with an optional decimal comma',
			},
		])('$text is refused: $words', ({ text, words }) => {
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

test.each<{ amount: number; units: bigint; words: string }>([
	{
		amount: 0,
		units: 0n,
		words: '0',
	},
	{
		amount: 1,
		units: 10n ** 14n,
		words: '1',
	},
	{
		amount: 100,
		units: 10n ** 16n,
		words: '100',
	},
	{
		amount: 10.5,
		units: 105n * 10n ** 13n,
		words: '10.5',
	},
	{
		amount: 0.07,
		units: 7n * 10n ** 12n,
		words: '0.07',
	},
	{
		amount: 1e-14,
		units: 1n,
		words: '0.00000000000001',
	},
	{
		amount: 999_999_999_999_999,
		units: 999_999_999_999_999n * 10n ** 14n,
		words: '999999999999999',
	},
	{
		amount: 1e21,
		units: 10n ** 35n,
		words: '1000000000000000000000',
	},
	{
		amount: 1.25e-7,
		units: 12_500_000n,
		words: '0.000000125',
	},
	{
		amount: 1.5e21,
		units: 15n * 10n ** 34n,
		words: '1500000000000000000000',
	},
])(
	'the amount $amount is so many units, and is written so as a sum',
	({ amount, units, words }) => {
		expect(unitsOf(amount)).toBe(units);
		expect(unitsInWords(units)).toBe(words);
	},
);

test('sums of units are exact where sums of numbers are not', () => {
	expect(0.1 + 0.2).not.toBe(0.3);
	expect(unitsOf(0.1) + unitsOf(0.2)).toBe(unitsOf(0.3));
});

test.each<{ options: unknown; expected: string }>([
	{
		options: undefined,
		expected: 'point',
	},
	{
		options: {},
		expected: 'point',
	},
	{
		options: { decimalSign: 'point' },
		expected: 'point',
	},
	{
		options: { decimalSign: 'comma' },
		expected: 'comma',
	},
])('of the options $options the decimal sign is the $expected', ({ options, expected }) => {
	expect(readDecimalSign((name) => (name === 'options' ? options : undefined))).toBe(expected);
});

test.each<{ decimalSign: unknown; shown: string }>([
	{
		decimalSign: ',',
		shown: '","',
	},
	{
		decimalSign: null,
		shown: 'null',
	},
	{
		decimalSign: 7,
		shown: '7',
	},
	{
		decimalSign: 'x'.repeat(61),
		shown: `"${'x'.repeat(60)}"`,
	},
	{
		decimalSign: { a: 'x'.repeat(60) },
		shown: `{"a":"${'x'.repeat(54)}`,
	},
])('the decimal sign $decimalSign is refused', ({ decimalSign, shown }) => {
	expect(refusalOf(() => readDecimalSign(() => ({ decimalSign })))).toMatchObject({
		field: 'decimalSign',
		message: `Decimal Sign (decimalSign) must be one of point, comma, but is ${shown}`,
		advice: 'Choose one from the list under Options.',
	});
});
