import { valueAt } from '../json';
import { wrongField } from './label';

/** That a field has one of some values. */
export interface FieldMatch {
	/** A path as `valueAt` takes it. */
	field: string;
	values: string[];
}

const isScalar = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value);
const isBlank = (value: unknown) => String(value ?? '').trim() === '';

/** Whether a person entered neither a field nor a value. */
export const isUnset = (field: unknown, values: unknown) =>
	isBlank(field) && [values].flat().every(isBlank);

/**
 * Reads what a person entered as field and values; spaces around them count for nothing. Throws an
 * InputError for the parameter of that name when one is missing, or several values were typed as one.
 */
export function readFieldMatch(field: unknown, values: unknown, name: string): FieldMatch {
	const given = [values].flat().filter((value) => !isBlank(value));
	if (isBlank(field) || typeof field !== 'string' || given.length === 0 || !given.every(isScalar)) {
		throw wrongField(
			name,
			'and its values must both be there, as text',
			'Enter the field to look at, for example data.status, and at least one value, for example paid.',
		);
	}
	const texts = given.map((value) => String(value).trim());
	const several = texts.find((value) => value.includes(','));
	if (several === undefined) return { field: field.trim(), values: texts };
	throw wrongField(
		name,
		`cannot have the value ${JSON.stringify(several)}, which holds a comma`,
		'Enter each value by itself: press Add Value for the next one.',
	);
}

/** The value at a path in lower case, whatever its names are in; of several, the first. */
function looselyAt(value: unknown, path: string): unknown {
	if (typeof value !== 'object' || value === null) return undefined;
	for (const [name, member] of Object.entries(value)) {
		const key = name.toLowerCase();
		const isOnTheWay = path.startsWith(`${key}.`);
		const found = isOnTheWay ? looselyAt(member, path.slice(key.length + 1)) : undefined;
		if (found !== undefined) return found;
		if (key === path) return member;
	}
	return undefined;
}

/**
 * Why a field does not match, in words for a log, which never hold the value that is there. What
 * counts is the first of some sources that has the field at all; upper and lower case do not.
 * @returns undefined where it has one of the values
 */
export function mismatchOf({ field, values }: FieldMatch, ...sources: unknown[]) {
	let value: unknown;
	for (const source of sources) {
		value = valueAt(source, field) ?? looselyAt(source, field.toLowerCase());
		if (value !== undefined && value !== null) break;
	}
	const shown = JSON.stringify(field);
	if (value === undefined || value === null) return `the field ${shown} is missing`;
	if (!isScalar(value)) return `the field ${shown} is not a single value`;
	const text = String(value).trim().toLowerCase();
	const isOne = values.some((wanted) => wanted.toLowerCase() === text);
	return isOne ? undefined : `the field ${shown} has another value`;
}
