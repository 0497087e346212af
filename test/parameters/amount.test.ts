import assert from 'node:assert/strict';
import fc from 'fast-check';
import { parseAmount } from '../../nodes/Pay/parameters/amount';
import { InputError, inWords } from '../../nodes/Pay/inputError';
import { refusalOf } from '../refusal';
import { runs } from '../runs';

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
		return parseAmount(value, 'amount');
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
		...[' ', true, {}, '0', '1e3', '+5', '0x10', '007', '.5', '5.', '$5', '1 000', '١٢'],
		...[`0.${'0'.repeat(330)}12345`, 5e-324, 1234567890123456, '1234567890123456'],
		...['12345678901234.56', -1e-7, -1.5e-9, 1e-15, 1.5e-14],
	])('%p is refused', (value) => {
		expect(accepts(value)).toBeUndefined();
	});

	const told = (value: unknown) => inWords(refusalOf(() => parseAmount(value, 'amount')));

	const DIGITS = /Write digits with an optional decimal point/;
	const TOO_MANY = /more than 15 digits: .*[Rr]ound.* where it comes from/;
	test.each<[unknown, RegExp]>([
		['10,50', /is "10,50"\. Write 10\.50, with a decimal point\./],
		['1234,5678', /Write 1234\.5678, with a decimal point\./],
		['x1,5', DIGITS],
		['1,5x', DIGITS],
		['10,500', /Write 10500 or 10\.5000, whichever is meant/],
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
		expect(parseAmount(value, 'amount')).toBe(amount);
	});

	test.each([
		['1.000', '1000', '1'],
		['1,000', '1000', '1'],
		['1.234', '1234', '1.2340'],
		['0,500', '500', '0.5000'],
	])('%p can be two amounts: both spellings are offered, and no formula', (text, one, other) => {
		expect(told(text)).toContain(`Write ${one} or ${other}, whichever is meant`);
		expect(told(text)).not.toMatch(/\{\{/);
		expect([accepts(one), accepts(other)]).toStrictEqual([Number(one), Number(other)]);
	});

	/** What the expression that the error offers makes of a value, as n8n evaluates it. */
	const formula = (amount: unknown): unknown => {
		const [, code = ''] = /\{\{ (.*) \}\}/.exec(told('10,50')) ?? [];
		return new Function('$json', `return ${code}`)({ amount });
	};

	test('the text "-5" is told that it must be above 0', () => {
		expect(told('-5')).toMatch(/ must be above 0, but is "-5"/);
		expect(accepts('-0')).toBeUndefined();
	});

	test.each(['10,50', '1.234,56', '12.345.678,9'])('%p is told the formula', (text) => {
		expect(told(text)).toContain(/\{\{.*\}\}/.exec(told('10,50'))![0]);
		expect(accepts(formula(text))).toBe(Number(text.replaceAll('.', '').replace(',', '.')));
	});

	test.each<[unknown, number | undefined]>([
		...[12.5, 7, 0.01, 1234.56].map((each): [number, number] => [each, each]),
		['10.50', 10.5],
		[' 10,50 ', 10.5],
		...[
			...['1.000', '1,000', '1,234.56', '1,234,567', 'R$ 5', '', null, undefined],
			...['10.50,00', '10.5,0', '1.2.3,4', '1234,5678'],
		].map((each): [unknown, undefined] => [each, undefined]),
	])('in the same list, the formula makes of %p %p', (value, amount) => {
		expect(accepts(formula(value))).toBe(amount);
	});

	test('only an amount is told the formula, which reads an item’s', () => {
		for (const field of ['highestPayment', 'split.recipient.percentageSplit']) {
			const refusal = inWords(refusalOf(() => parseAmount('2,5', field)));
			expect(refusal).toMatch(/Write 2\.5, with a decimal point\.$/);
		}
		expect(told('1234,5678')).not.toMatch(/\{\{/);
		expect(told(formula(null))).toMatch(/is missing/);
	});

	test('whatever formula is offered, it gives the right amount for every text or a refusal', () => {
		const separators = fc.constantFrom('.', ',', '');
		const typed = fc
			.tuple(fc.integer({ min: 1, max: 999 }), separators, fc.nat(999), separators, fc.nat(99))
			.map(([a, one, b, two, c]) => ({
				text: `${a}${one}${String(b).padStart(3, '0')}${two}${two && String(c).padStart(2, '0')}`,
				// Grouped where a separator stands before three digits, decimal where before two.
				meant: Number(`${a}${String(b).padStart(3, '0')}.${two && String(c).padStart(2, '0')}`),
			}));
		fc.assert(
			fc.property(typed, ({ text, meant }) => {
				const sent = accepts(formula(text));
				if (sent !== undefined) expect(sent).toBe(meant);
			}),
			RUNS,
		);
	});

	test('a percentage may be 0', () => {
		expect(parseAmount(0, 'percentageSplit', '0 or more')).toBe(0);
		// What JSON makes of it.
		expect(parseAmount(-0, 'percentageSplit', '0 or more')).toBe(0);
		for (const below of [-1, '-0']) {
			expect(() => parseAmount(below, 'percentageSplit', '0 or more')).toThrow(InputError);
		}
	});
});
