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
 * @throws InputError when either is missing
 */
export function readFieldMatch(field: unknown, values: unknown, name: string): FieldMatch {
	const match = {
		field: String(field ?? '').trim(),
		values: [values ?? []]
			.flat()
			.map((value) => String(value).trim())
			.filter((value) => value !== ''),
	};
	if (match.field === '' || match.values.length === 0) {
		throw new InputError(
			name,
			'The field or its values are missing',
			'Enter the field to look at, for example data.status, and at least one value, for example paid.',
		);
	}
	return match;
}

/**
 * Whether the field has one of the values in the first of some sources that has the field at all:
 * a postback's body, then its query. Upper and lower case count.
 */
export function isMatch({ field, values }: FieldMatch, ...sources: unknown[]): boolean {
	const value = sources
		.map((source) => valueAt(source, field))
		.find((found) => found !== undefined && found !== null);
	const isScalar = ['string', 'number', 'boolean'].includes(typeof value);
	return isScalar && values.includes(String(value).trim());
}
