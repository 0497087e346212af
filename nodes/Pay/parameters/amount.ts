import { InputError } from '../inputError';

/** A double carries 15 decimal digits faithfully; more is float noise or a rounded value. */
const MAX_DIGITS = 15;

const PLAIN_NUMBER = /^(0|[1-9]\d*)(\.\d+)?$/;
const DECIMAL_COMMA = /^-?[\d.\s]*,\d+$|^-?\d[\d.]*,\d/;

function significantDigits(plain: string): number {
	const digits = plain.replace(/e.*$/i, '').replace('-', '');
	const [whole = '', fraction = ''] = digits.split('.');
	const trimmedFraction = fraction.replace(/0+$/, '');
	const all = (whole + trimmedFraction).replace(/^0+/, '');
	return trimmedFraction === '' ? all.replace(/0+$/, '').length : all.length;
}

function quote(value: unknown): string {
	if (typeof value === 'string') return `"${value.slice(0, 60)}"`;
	if (typeof value === 'number') return String(value);
	if (value === undefined) return 'nothing (undefined)';
	try {
		return JSON.stringify(value).slice(0, 60);
	} catch {
		return `a value of type ${typeof value}`;
	}
}

/**
 * Reads an amount, in the service's own unit, which is not documented (section 2.3).
 *
 * Takes a finite number with at most 15 significant digits, or a string that is plainly one
 * ("10.50"). Nothing is coerced: n8n hands over whatever an expression gave, and a guessed amount
 * is a wrong payment.
 * @param field the parameter's name, for the message
 * @param zeroAllowed true for percentages, where 0 means something
 * @throws InputError that quotes what came in and says how to correct it
 */
export function parseAmount(value: unknown, field: string, zeroAllowed = false): number {
	const refuse = (advice: string) =>
		new InputError(field, `${field} must be a number, but is ${quote(value)}`, advice);

	if (value === undefined || value === null || value === '') {
		throw new InputError(
			field,
			`${field} is missing`,
			`Enter a number${zeroAllowed ? '' : ' above 0'}. If it comes from an expression, check that the input item has the value the expression asks for.`,
		);
	}
	if (typeof value !== 'number' && typeof value !== 'string') {
		throw refuse('Use an expression that gives one number, for example {{ $json.amount }}.');
	}
	const text = String(value).trim();
	if (typeof value === 'string' && !PLAIN_NUMBER.test(text)) {
		throw refuse(
			DECIMAL_COMMA.test(text)
				? 'Write it with a decimal point and without thousands separators, for example 1234.56. In an expression: {{ $json.amount.replaceAll(".", "").replace(",", ".") }}.'
				: 'Write digits with an optional decimal point, for example 10.50: no currency sign, no separators, no exponent.',
		);
	}
	const amount = Number(text);
	if (!Number.isFinite(amount)) throw refuse('Check the calculation that gives this value.');
	if (significantDigits(text) > MAX_DIGITS) {
		throw new InputError(
			field,
			`${field} has more digits than a number can carry: ${quote(value)}`,
			'This is usually the noise of a calculation such as 0.1 + 0.2. Round it, for example {{ $json.amount.round(2) }}.',
		);
	}
	if (amount < 0 || (amount === 0 && !zeroAllowed)) {
		throw new InputError(
			field,
			`${field} must be ${zeroAllowed ? '0 or more' : 'above 0'}, but is ${quote(value)}`,
			'Check the value and where it comes from.',
		);
	}
	return amount;
}
