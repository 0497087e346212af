import { InputError } from '../inputError';
import { valueAt } from '../json';

/** That a field has one of some values. */
export interface FieldMatch {
	/** A path as `valueAt` takes it. */
	field: string;
	values: string[];
}

/**
 * Reads what a person entered as field and values; spaces around them count for nothing.
 * @param name the parameter that holds the field
 * @throws InputError when either is missing, or several values were typed as one
 */
export function readFieldMatch(field: unknown, values: unknown, name: string): FieldMatch {
	const match = {
		field: String(field ?? '').trim(),
		values: [values ?? []]
			.flat()
			.map((value) => String(value).trim())
			.filter((value) => value !== ''),
	};
	const several = match.values.find((value) => value.includes(','));
	if (several !== undefined) {
		throw new InputError(
			name,
			`The value ${JSON.stringify(several)} holds a comma`,
			'Enter each value by itself: press Add Value for the next one.',
		);
	}
	if (match.field === '' || match.values.length === 0) {
		throw new InputError(
			name,
			'The field or its values are missing',
			'Enter the field to look at, for example data.status, and at least one value, for example paid.',
		);
	}
	return match;
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
	if (!['string', 'number', 'boolean'].includes(typeof value)) {
		return `the field ${shown} is not a single value`;
	}
	const text = String(value).trim().toLowerCase();
	const isOne = values.some((wanted) => wanted.toLowerCase() === text);
	return isOne ? undefined : `the field ${shown} has another value`;
}
