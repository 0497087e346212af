import type { INodeProperties } from 'n8n-workflow';
import type { InputError } from '../base/inputError';
import { MOST_DIGITS, plainForm } from '../service/amounts';
import { CHOOSE_UNDER_OPTIONS, readChoice, type ReadParameter } from './expressions';
import { type NamedField, quoted, wrongField } from './label';
import { refuseTypedExpression } from './text';

/** `amount` (sections 2.1 and 2.2). A text field, because a browser's number input turns 10,50 into 1050. */
export const amountField: INodeProperties = {
	displayName: 'Amount',
	name: 'amount',
	type: 'string',
	default: '',
	required: true,
	placeholder: 'e.g. 49.90',
	description:
		'Amount above 0, written with a decimal point. To write a comma, see Decimal Sign under Options. The service does not document the unit, so ask it whether 10.50 or 1050 means ten and a half.',
};

const DECIMAL_SIGNS = ['point', 'comma'] as const;

/** What stands between the whole number and its fraction in a text. */
export type DecimalSign = (typeof DECIMAL_SIGNS)[number];

/** How amounts are written that come as text. */
export const decimalSignOption: INodeProperties = {
	displayName: 'Decimal Sign',
	name: 'decimalSign',
	type: 'options',
	noDataExpression: true,
	options: [
		{ name: 'Comma', value: 'comma', description: 'As in 10,50 and 1.234,56' },
		{ name: 'Point', value: 'point', description: 'As in 10.50 and 1234.56' },
	],
	default: 'point',
	description:
		'How amounts and shares are written when they come as text. Numbers are not affected.',
};

export function readDecimalSign(read: ReadParameter): DecimalSign {
	const { decimalSign = 'point' } = (read('options') ?? {}) as { decimalSign?: unknown };
	return readChoice(decimalSign, decimalSignOption, DECIMAL_SIGNS, CHOOSE_UNDER_OPTIONS);
}

/** Reads the amount of an item, with its Decimal Sign. */
export function readAmountOfItem(read: ReadParameter): number {
	return readAmount(read('amount'), amountField, { decimalSign: readDecimalSign(read) });
}

interface AmountRules {
	/** A percentage may be 0, and may have any number of decimals, as a third of 100 does. */
	isPercentage?: boolean;
	/** Undefined where nobody can choose it; then it is the point. */
	decimalSign?: DecimalSign;
}

/** How a number is written with each decimal sign; the other sign may stand between thousands. */
const NOTATIONS = {
	point: {
		pattern: /^-?(0|[1-9]\d*|[1-9]\d{0,2}(,\d{3})+)(\.\d+)?$/,
		decimal: '.',
		group: ',',
		example: '10.50',
		other: 'comma',
	},
	comma: {
		pattern: /^-?(0|[1-9]\d*|[1-9]\d{0,2}(\.\d{3})+)(,\d+)?$/,
		decimal: ',',
		group: '.',
		example: '10,50',
		other: 'point',
	},
} as const;

/** No currency has more decimals. A division leaves more: 33.333333333333 was once sent as it is. */
const MOST_DECIMALS = 4;

/** Zeros at the end do not count: a database writes 12.500000. */
const countDecimals = (plain: string) => (plain.split('.')[1] ?? '').replace(/0+$/, '').length;

const countDigits = (plain: string) => plain.replace(/\D/g, '').length;

/**
 * Reads an amount, in the service's own unit, which is not documented (section 2.3), or a percentage: a
 * finite number of at most 15 digits, or a text that is plainly one ("10.50"). An amount has at most four
 * decimals. Throws an InputError for anything else.
 */
export function readAmount(value: unknown, field: NamedField, rules: AmountRules = {}): number {
	if (value === undefined || value === null || value === '') throw missing(field, rules);
	if (typeof value === 'number') return readNumber(value, plainForm(value), value, field, rules);
	if (typeof value === 'string') return readTypedAmount(value, field, rules);
	const advice = 'Use an expression that returns one number, for example {{ $json.amount }}.';
	throw notANumber(field, value, advice);
}

function readTypedAmount(typed: string, field: NamedField, rules: AmountRules): number {
	const text = typed.trim();
	refuseTypedExpression(text, field);
	const { decimalSign = 'point' } = rules;
	const plain = inNotation(text, decimalSign);
	// Unless somebody chose the comma, the point is the decimal sign. To take a comma for thousands would be a guess.
	const isGuess = decimalSign === 'point' && text.includes(',');
	if (plain === undefined || isGuess) {
		throw notANumber(field, typed, adviceFor(text, rules));
	}
	const amount = readNumber(Number(plain), plain, typed, field, rules);
	// "1.000" may be a thousand where the point is the decimal sign.
	const readings = twoReadings(text, decimalSign);
	if (readings === undefined || !text.includes(NOTATIONS[decimalSign].decimal)) return amount;
	throw wrongField(field, `can be read in two ways: ${quoted(typed)}`, readings);
}

/** A text as a plain decimal number with a point; undefined if it is not written with this decimal sign. */
function inNotation(text: string, sign: DecimalSign): string | undefined {
	const { pattern, decimal, group } = NOTATIONS[sign];
	if (!pattern.test(text)) return undefined;
	return text.replaceAll(group, '').replace(decimal, '.');
}

/** The two numbers that "1.050" and "1,050" can mean, to choose from; undefined for all other texts. */
function twoReadings(text: string, sign: DecimalSign): string | undefined {
	const [, whole, thousandths] = /^(\d+)[.,](\d{3})$/.exec(text) ?? [];
	if (whole === undefined || thousandths === undefined) return undefined;
	let decimals = thousandths.replace(/0+$/, '');
	// With three of them, it could be read in two ways again.
	if (decimals.length === 3) decimals += '0';
	const decimal = decimals === '' ? whole : `${whole}${NOTATIONS[sign].decimal}${decimals}`;
	return `Write ${Number(whole + thousandths)} or ${decimal}, whichever is meant.`;
}

/** A price as people write it: "10,50", "1 000", "1 000,50". Not "1.234,50". */
const PRICE = /^(0|[1-9]\d{0,2}(?:\s\d{3})+|[1-9]\d*)([.,]\d{1,2})?$/;

/** What to do about a text that is refused. It names a number only where no other can be meant. */
function adviceFor(text: string, { decimalSign }: AmountRules): string {
	const sign = decimalSign ?? 'point';
	const readings = twoReadings(text, sign);
	if (readings !== undefined) return readings;
	const { decimal, example, other } = NOTATIONS[sign];
	const [, whole, cents = ''] = PRICE.exec(text) ?? [];
	// "10.50" in a list that writes commas: a price with a point, or 1050 with a point gone astray.
	const isPlain = whole !== undefined && !(sign === 'comma' && cents.startsWith('.'));
	const advice = isPlain
		? `Write ${whole.replace(/\s/g, '')}${cents.replace(/[.,]/, decimal)}.`
		: `Write only digits and, if needed, a decimal ${sign}, for example ${example}, without a currency sign, separators or an exponent.`;
	// Only if the decimal sign can be chosen.
	const mayBeOther = decimalSign !== undefined && inNotation(text, other) !== undefined;
	if (!mayBeOther) return advice;
	return `${advice} If all your numbers are written with a ${other}, choose ${other === 'point' ? 'Point' : 'Comma'} as Decimal Sign under Options of the Pay node.`;
}

/**
 * Gives an amount back if it is finite, has no more decimals and digits than it may, and is not too low.
 * @param plain its decimal form
 * @param value what was entered, for the error
 */
function readNumber(
	amount: number,
	plain: string,
	value: unknown,
	field: NamedField,
	{ isPercentage = false }: AmountRules,
): number {
	if (!Number.isFinite(amount)) {
		throw notANumber(field, value, 'Check the calculation that gives this value.');
	}
	if (!isPercentage && countDecimals(plain) > MOST_DECIMALS) {
		throw wrongField(
			field,
			`has more than ${MOST_DECIMALS} decimals: ${quoted(value)}`,
			'No currency has that many. Extra decimals usually come from a division, or from a sum such as 0.1 + 0.2. Round the amount, for example {{ Number($json.amount).round(2) }}, and check that rounded parts still add up to their total.',
		);
	}
	if (countDigits(plain) > MOST_DIGITS) {
		throw wrongField(
			field,
			`has more than ${MOST_DIGITS} digits: ${quoted(value)}`,
			'If it comes from a calculation such as 0.1 + 0.2, round it, for example {{ Number($json.amount).round(2) }}. Otherwise check the value and where it comes from.',
		);
	}
	const isNegative = amount < 0 || plain.startsWith('-');
	if (isNegative || (amount === 0 && !isPercentage)) {
		throw wrongField(
			field,
			`must be ${isPercentage ? '0 or more' : 'above 0'}, but is ${quoted(value)}`,
			'Check the value and where it comes from.',
		);
	}
	// The sum of -0 and 0 is 0, which is what JSON writes for -0.
	return amount + 0;
}

function missing(field: NamedField, { isPercentage = false }: AmountRules): InputError {
	const number = isPercentage ? 'a number' : 'a number above 0';
	return wrongField(
		field,
		'is missing',
		`Enter ${number}. If it comes from an expression, check that the input item has the value that the expression reads.`,
	);
}

function notANumber(field: NamedField, value: unknown, advice: string): InputError {
	return wrongField(field, `must be a number, but is ${quoted(value)}`, advice);
}
