import type { InputError } from '../inputError';
import { valueAt } from '../json';

/** That a field has one of some values. */
export interface FieldMatch {
	/** A path as `valueAt` takes it. */
	field: string;
	values: string[];
}

const isScalar = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value);
const isBlank = (value: unknown) => String(value ?? '').trim() === '';

/** The values of a list, or of a text with one a line, without the blank ones. */
function valuesIn(entered: unknown): unknown[] {
	const values: unknown[] = [];
	for (const value of [entered].flat()) {
		const lines: unknown[] = typeof value === 'string' ? value.split(/[\r\n]+/) : [value].flat();
		for (const line of lines) {
			if (!isBlank(line)) values.push(line);
		}
	}
	return values;
}

/** Whether a person entered neither a field nor a value. */
export const isUnset = (field: unknown, values: unknown) =>
	isBlank(field) && valuesIn(values).length === 0;

/**
 * Reads what a person entered as field and values; spaces around them count for nothing. Throws what
 * it is given to refuse with where one is missing, or several values were typed as one.
 */
export function readFieldMatch(
	field: unknown,
	values: unknown,
	refusal: (what: string, advice: string) => InputError,
): FieldMatch {
	const list = valuesIn(values);
	if (isBlank(field) || typeof field !== 'string' || list.length === 0 || !list.every(isScalar)) {
		throw refusal(
			'and its values must both be there, as text',
			'Enter the field to look at, for example data.status, and at least one value, for example paid.',
		);
	}
	const texts = list.map((value) => String(value).trim());
	const several = texts.find((value) => value.includes(','));
	if (several === undefined) return { field: field.trim(), values: texts };
	throw refusal(
		`cannot have the value ${JSON.stringify(several)}, which holds a comma`,
		'Enter each value by itself.',
	);
}

/** A form has data[status] where n8n reads the same query as data.status; capitals do not count. */
const plain = (name: string) => name.toLowerCase().replace(/\[([^[\]]+)\]/g, '.$1');

/**
 * Why a field does not match, in words for a log, which never hold the value that is there. What
 * counts is the first of some sources that has the field at all; upper and lower case do not.
 * @returns undefined where it has one of the values
 */
export function mismatchOf({ field, values }: FieldMatch, ...sources: unknown[]) {
	let value: unknown;
	for (const source of sources) {
		value = valueAt(source, field) ?? valueAt(source, plain(field), plain);
		if (value !== undefined && value !== null) break;
	}
	const shown = JSON.stringify(field);
	if (value === undefined || value === null) {
		const inList = `, and the first entry of the list would be ${JSON.stringify(`0.${field}`)}`;
		return `the field ${shown} is missing${Array.isArray(sources[0]) ? inList : ''}`;
	}
	if (!isScalar(value)) return `the field ${shown} is not a single value`;
	const text = String(value).trim().toLowerCase();
	const isOne = values.some((wanted) => wanted.toLowerCase() === text);
	return isOne ? undefined : `the field ${shown} has another value`;
}
