import type { INodeProperties } from 'n8n-workflow';
import type { InputError } from '../inputError';
import { wrongField } from './label';

/** `amount` (sections 2.1 and 2.2). Text: a browser's number input makes 1050 of 10,50. */
export const amountField: INodeProperties = {
	displayName: 'Amount',
	name: 'amount',
	type: 'string',
	default: '',
	required: true,
	placeholder: 'e.g. 49.90',
	description:
		'Value of the transaction, above 0, with a decimal point. The unit is not documented by the service: ask it whether 10.50 or 1050 means ten and a half.',
};

/** A double carries 15 decimal digits faithfully; more is float noise or a rounded value. */
const MAX_DIGITS = 15;

const PLAIN_NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?$/;
/** "1.000": a thousand where the point groups digits, one where it is the decimal point. */
const THREE_DECIMALS = /^(\d+)\.(\d{3})$/;

/** The decimal form without an exponent or its sign; String() writes 1e21 and 1e-7 for such numbers. */
function plainForm(value: number): string {
	const [mantissa = '', exponent] = String(value).split('e');
	if (exponent === undefined) return mantissa;
	const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
	const shift = Number(exponent);
	return shift > 0
		? whole + fraction.padEnd(shift, '0')
		: `0.${'0'.repeat(-shift - whole.length)}${whole}${fraction}`;
}

const countDigits = (plain: string) => plain.replace(/\D/g, '').length;

function quote(value: unknown): string {
	if (typeof value === 'string') return `"${value.slice(0, 60)}"`;
	// What JSON makes of a bigint depends on which libraries n8n has loaded.
	if (typeof value === 'number' || typeof value === 'bigint') return String(value);
	try {
		return JSON.stringify(value).slice(0, 60);
	} catch {
		return `a value of type ${typeof value}`;
	}
}

/** The two numbers that digits in front of and behind one separator can mean, three of them behind. */
function bothReadings(whole: string, thousandths: string): string {
	const decimal = thousandths === '000' ? whole : `${whole}.${thousandths}0`;
	return `Write ${Number(whole + thousandths)} or ${decimal}, whichever is meant.`;
}

/**
 * Right for a whole column of numbers, "10.50", "10,50" and "1.234,56": it drops points only where three
 * digits or another group stand before a comma. What it makes of any other text ("1,000", "1,234.56",
 * "10.50,00", "R$ 5") is refused here.
 */
const FORMULA =
	'{{ String($json.amount ?? "").trim().replace(/\\.(?=(\\d{3}\\.)*\\d{3},)/g, "").replace(/,(?=\\d{1,2}$)/, ".") }}';

const GROUPED_BY_POINTS = /^\d{1,3}(\.\d{3})+,\d+$|^\d{1,3}(\.\d{3}){2,}$/;
const GROUPED_BY_COMMAS = /^\d{1,3}(,\d{3})+\.\d+$|^\d{1,3}(,\d{3}){2,}$/;

/** A number whose thousands are plainly grouped, with a decimal point alone. */
function withoutGroups(text: string): string | undefined {
	if (GROUPED_BY_POINTS.test(text)) return text.replaceAll('.', '').replace(',', '.');
	if (GROUPED_BY_COMMAS.test(text)) return text.replaceAll(',', '');
	return undefined;
}

/** How to write a text that is not a plain number; a list has amounts, and no other field of ours. */
function spelling(text: string, field: string): string {
	const isInList = field === 'amount' && /,\d{1,2}$/.test(text);
	const forList = isInList ? ` For a whole list, enter ${FORMULA} as an expression.` : '';
	const [, whole, thousandths] = /^(\d+),(\d{3})$/.exec(text) ?? [];
	if (whole !== undefined && thousandths !== undefined) return bothReadings(whole, thousandths);
	if (/^\d+,\d+$/.test(text)) {
		return `Write ${text.replace(',', '.')}, with a decimal point.${forList}`;
	}
	const plain = withoutGroups(text);
	if (plain === undefined) {
		return 'Write digits with an optional decimal point, for example 10.50: no currency sign, no separators, no exponent.';
	}
	return `Write ${plain}, with a decimal point and without separators between thousands.${forList}`;
}

type Bound = 'above 0' | '0 or more';

/**
 * Reads an amount, in the service's own unit, which is not documented (section 2.3): a finite number
 * of at most 15 digits, or a text that is plainly one ("10.50"). Throws an InputError for all else.
 */
export function parseAmount(value: unknown, field: string, bound: Bound = 'above 0'): number {
	if (value === undefined || value === null || value === '') throw missing(field, bound);
	if (typeof value === 'number') return checkNumber(value, plainForm(value), value, field, bound);
	if (typeof value === 'string') return parseTypedAmount(value, field, bound);
	const advice = 'Use an expression that gives one number, for example {{ $json.amount }}.';
	throw notANumber(field, value, advice);
}

function parseTypedAmount(typed: string, field: string, bound: Bound): number {
	const text = typed.trim();
	if (!PLAIN_NUMBER.test(text)) throw notANumber(field, typed, spelling(text, field));
	const amount = checkNumber(Number(text), text, typed, field, bound);
	const [, whole, thousandths] = THREE_DECIMALS.exec(text) ?? [];
	if (whole !== undefined && thousandths !== undefined) {
		const what = `can be read in two ways: ${quote(typed)}`;
		throw wrongField(field, what, bothReadings(whole, thousandths));
	}
	return amount;
}

/**
 * Gives an amount back if it is finite, of at most 15 digits, and within its bound.
 * @param plain its decimal form
 * @param value what was entered, for the error
 */
function checkNumber(
	amount: number,
	plain: string,
	value: unknown,
	field: string,
	bound: Bound,
): number {
	if (!Number.isFinite(amount)) {
		throw notANumber(field, value, 'Check the calculation that gives this value.');
	}
	if (countDigits(plain) > MAX_DIGITS) {
		throw wrongField(
			field,
			`has more than ${MAX_DIGITS} digits: ${quote(value)}`,
			'If it comes from a calculation such as 0.1 + 0.2, round it, for example {{ Number($json.amount).round(2) }}. Else check the value and where it comes from.',
		);
	}
	const isNegative = amount < 0 || plain.startsWith('-');
	if (isNegative || (amount === 0 && bound === 'above 0')) {
		throw wrongField(
			field,
			`must be ${bound}, but is ${quote(value)}`,
			'Check the value and where it comes from.',
		);
	}
	// JSON knows no -0.
	return amount + 0;
}

function missing(field: string, bound: Bound): InputError {
	const number = bound === 'above 0' ? 'a number above 0' : 'a number';
	return wrongField(
		field,
		'is missing',
		`Enter ${number}. If it comes from an expression, check that the input item has the value the expression asks for.`,
	);
}

function notANumber(field: string, value: unknown, advice: string): InputError {
	return wrongField(field, `must be a number, but is ${quote(value)}`, advice);
}

/** 15 digits have no more decimal places. */
const MAX_PLACES = MAX_DIGITS - 1;

/** An amount in units of the last decimal place that one can have: only integers add up exactly. */
export function unitsOf(amount: number): bigint {
	const [whole = '', fraction = ''] = plainForm(amount).split('.');
	return BigInt(whole + fraction.padEnd(MAX_PLACES, '0'));
}

/** A sum of such units as a person writes it. */
export function unitsInWords(units: bigint): string {
	const digits = String(units).padStart(MAX_PLACES + 1, '0');
	return `${digits.slice(0, -MAX_PLACES)}.${digits.slice(-MAX_PLACES)}`.replace(/\.?0+$/, '');
}
