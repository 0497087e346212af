import { valueAt } from '../json';

/** That a field has one of some values. */
export interface FieldMatch {
	/** A path as `valueAt` takes it, or several, one a line: the first that is there counts. */
	field: string;
	values: string[];
}

/** Whether a value can be compared with a text. */
export function isScalar(value: unknown): value is string | number | boolean {
	return ['string', 'number', 'boolean'].includes(typeof value);
}

/** A name as paths are compared: in small letters, and `data[status]`, as forms write it, as `data.status`. */
const normalName = (name: string) => name.toLowerCase().replace(/\[([^[\]]+)\]/g, '.$1');

/**
 * The value of the first path of a field that is there, in the first of some sources that has it. A
 * member with the very name goes before one that only reads alike. An object is nothing that can be
 * compared: a later path counts more.
 */
export function firstValue(
	field: string,
	sources: unknown[],
): { path: string; value: unknown } | undefined {
	let firstObject: { path: string; value: unknown } | undefined;
	for (const path of field.split('\n')) {
		for (const source of sources) {
			const value = valueAt(source, path) ?? valueAt(source, normalName(path), normalName);
			if (value === undefined || value === null) continue;
			if (isScalar(value)) return { path, value };
			firstObject ??= { path, value };
		}
	}
	return firstObject;
}

/** Says that none of a field's paths is there. */
export function missingInWords(field: string, sources: unknown[]): string {
	const paths = field.split('\n').map((path) => JSON.stringify(path));
	if (paths.length > 1) return `the fields ${paths.join(' and ')} are missing`;
	const text = `the field ${paths[0]} is missing`;
	if (!Array.isArray(sources[0])) return text;
	return `${text}, and the first entry of the list would be ${JSON.stringify(`0.${field}`)}`;
}

/** Whether a value is one of some words; upper and lower case do not count. */
export function isOneOf(value: unknown, words: string[]): boolean {
	const text = String(value).trim().toLowerCase();
	return words.some((word) => word.toLowerCase() === text);
}

/**
 * Why a field does not match, in words for a log, which never hold the value that is there.
 * @returns undefined where it has one of the values
 */
export function mismatchOf(
	{ field, values }: FieldMatch,
	...sources: unknown[]
): string | undefined {
	const found = firstValue(field, sources);
	if (found === undefined) return missingInWords(field, sources);
	const path = JSON.stringify(found.path);
	if (!isScalar(found.value)) return `the field ${path} is not a single value`;
	return isOneOf(found.value, values) ? undefined : `the field ${path} has another value`;
}
