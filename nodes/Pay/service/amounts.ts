import { BoundedMap } from '../base/boundedMap';

/* Amounts as numbers, and as services write them. What a person types is read by fields/amount. */

/** The decimal form without an exponent or its sign; String() writes 1e21 and 1e-7 for such numbers. */
export function plainForm(value: number): string {
	const [mantissa = '', exponent] = String(value).split('e');
	if (exponent === undefined) return mantissa;
	const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
	const shift = Number(exponent);
	return shift > 0
		? whole + fraction.padEnd(shift, '0')
		: `0.${'0'.repeat(-shift - whole.length)}${whole}${fraction}`;
}

/** A double carries 15 decimal digits faithfully; more is float noise or a rounded value. */
export const MOST_DIGITS = 15;

/** 15 digits have no more decimal places. */
const MOST_PLACES = MOST_DIGITS - 1;

/** Units of a plain decimal text without a sign; undefined where it has more places than an amount. */
function unitsOfText(plain: string): bigint | undefined {
	const [whole = '', decimals = ''] = plain.split('.');
	const fraction = decimals.replace(/0+$/, '');
	if (fraction.length > MOST_PLACES) return undefined;
	return BigInt(whole + fraction.padEnd(MOST_PLACES, '0'));
}

/** An amount in units of the last decimal place that one can have: only integers add up exactly. */
export function unitsOf(amount: number): bigint {
	const [whole = '', fraction = ''] = plainForm(amount).split('.');
	return BigInt(whole + fraction.padEnd(MOST_PLACES, '0'));
}

/** A sum of such units as a person writes it. */
export function unitsInWords(units: bigint): string {
	const digits = String(units).padStart(MOST_PLACES + 1, '0');
	return `${digits.slice(0, -MOST_PLACES)}.${digits.slice(-MOST_PLACES)}`.replace(/\.?0+$/, '');
}

export const AMOUNT_UNITS = ['same', 'hundredths'] as const;

/** What an amount of a postback counts: the unit of requests, or hundredths of it. */
export type AmountUnit = (typeof AMOUNT_UNITS)[number];

/** How many of them one unit of a request has. */
const PARTS: Record<AmountUnit, bigint> = { same: 1n, hundredths: 100n };

/** Longer texts are no amounts; BigInt needs seconds for a text of millions of digits. */
const MOST_CHARACTERS = 40;
/** A currency before or behind an amount: its code, its sign, or letters with its sign, as "R$". */
const CURRENCY = /^(?:[A-Z]{1,3}\p{Sc}|[A-Z]{3}|\p{Sc})\s*|\s*(?:[A-Z]{3}|\p{Sc})$/gu;
const POINT_ALONE = /^\+?(\d+(?:\.\d+)?)$/;
/** "12,50". With three digits behind it a comma may stand between thousands: "1,250" has two readings. */
const COMMA_ALONE = /^(\d+),(\d{1,2}|\d{4,})$/;
const POINTS_THEN_COMMA = /^\d{1,3}(\.\d{3})+,\d+$/;
const COMMAS_THEN_POINT = /^\d{1,3}(,\d{3})+\.\d+$/;
const COMMAS_ALONE = /^\d{1,3}(,\d{3}){2,}$/;

/** The one decimal number that a text stands for, with a point; undefined where it is none, or may be two. */
function inAnyNotation(text: string): string | undefined {
	if (text.length > MOST_CHARACTERS) return undefined;
	const number = text.trim().replace(CURRENCY, '');
	const [, plain] = POINT_ALONE.exec(number) ?? [];
	if (plain !== undefined) return plain;
	if (COMMA_ALONE.test(number)) return number.replace(',', '.');
	if (POINTS_THEN_COMMA.test(number)) return number.replaceAll('.', '').replace(',', '.');
	if (COMMAS_THEN_POINT.test(number)) return number.replaceAll(',', '');
	if (COMMAS_ALONE.test(number)) return number.replaceAll(',', '');
	return undefined;
}

/** More currencies than accounts have. The signs of one that was thrown out are looked up again. */
const MOST_CURRENCIES = 100;

/** The signs of each currency, by its code: a list of amounts asks again and again. */
const signsByCode = new BoundedMap<string, string[]>(MOST_CURRENCIES);

/** The signs of a currency, such as "$" and "US$" of USD; none of what is no code. */
function signsOf(code: string): string[] {
	const known = signsByCode.get(code);
	if (known !== undefined) return known;
	const signs: string[] = [];
	for (const locale of ['en', 'en-CA']) {
		for (const currencyDisplay of ['symbol', 'narrowSymbol'] as const) {
			const format = new Intl.NumberFormat(locale, {
				style: 'currency',
				currency: code,
				currencyDisplay,
			});
			const sign = format.formatToParts(0).find(({ type }) => type === 'currency');
			if (sign !== undefined) signs.push(sign.value);
		}
	}
	signsByCode.set(code, signs);
	return signs;
}

/** @param name a code or sign, as an amount's text has it */
function isOneOfCurrencies(name: string, currencies: string[]): boolean {
	return currencies.some((each) => {
		const code = each.toUpperCase();
		if (name === code) return true;
		return /^[A-Z]{3}$/.test(code) && isSignOf(code, name.normalize('NFKC'));
	});
}

/** A sign may have the beginning of its code before it: AU$ of AUD, S$ of SGD. */
function isSignOf(code: string, text: string): boolean {
	const signs = signsOf(code);
	const letters = /^[A-Z]*/.exec(text)?.[0] ?? '';
	return (
		signs.includes(text) || (code.startsWith(letters) && signs.includes(text.slice(letters.length)))
	);
}

/**
 * Whether an amount's text names another currency than some, before or behind the number.
 * @param currencies codes such as EUR; upper and lower case do not count
 */
export function namesOtherCurrency(value: unknown, currencies: string[]): boolean {
	if (typeof value !== 'string' || value.length > MOST_CHARACTERS) return false;
	const names = value.trim().match(CURRENCY) ?? [];
	return names.some((name) => !isOneOfCurrencies(name.trim(), currencies));
}

/** What a value of a service stands for, as `unitsOf` has it; undefined where it is no amount, or may be two. */
function unitsIn(value: unknown): bigint | undefined {
	if (typeof value === 'number') {
		return Number.isFinite(value) && value >= 0 ? unitsOfText(plainForm(value)) : undefined;
	}
	const plain = typeof value === 'string' ? inAnyNotation(value) : undefined;
	return plain === undefined ? undefined : unitsOfText(plain);
}

/**
 * Whether a value of a service says an amount of a request. A point is the decimal sign ("10.500" is 10.5),
 * unless a comma makes the text plain: "12,50", "1.250,00", "R$ 12,50".
 */
export function isSameAmount(value: unknown, amount: number, unit: AmountUnit = 'same'): boolean {
	return unitsIn(value) === unitsOf(amount) * PARTS[unit];
}

/** The amount, in the unit of requests, that a value of a service says; undefined where it is none, or may be two. */
export function amountIn(value: unknown, unit: AmountUnit = 'same'): number | undefined {
	const units = unitsIn(value);
	if (units === undefined) return undefined;
	const parts = PARTS[unit];
	if (units % parts !== 0n) return undefined;
	const amount = Number(unitsInWords(units / parts));
	// What no number carries exactly is no amount of a request.
	const isExact = unitsOfText(plainForm(amount)) === units / parts;
	return isExact ? amount : undefined;
}
