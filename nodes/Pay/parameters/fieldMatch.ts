import type { InputError } from '../inputError';
import { valueAt } from '../json';

/** That a field has one of some values. */
export interface FieldMatch {
	/** A path as `valueAt` takes it, or several, one a line: the first that is there counts. */
	field: string;
	values: string[];
}

/** Refuses what was entered, in words that follow its label. */
type RefuseEntry = (what: string, advice: string) => InputError;

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

/** Whether a line can be a path: nobody names a member by nothing, and a comma stands between two. */
function isPath(line: string): boolean {
	return line.split('.').every((name) => name !== '') && !/[,{}$]/.test(line);
}

/**
 * Reads the paths that a person entered, one a line.
 * @returns them as {@link FieldMatch} has them; none as an empty text
 */
export function readPaths(entered: unknown, refusal: RefuseEntry): string {
	if (isBlank(entered)) return '';
	if (typeof entered !== 'string') throw refusal('must be text', 'Enter one path a line.');
	const lines = entered.split(/\r\n|\r|\n/);
	const paths: string[] = [];
	for (const [index, line] of lines.entries()) {
		const path = line.trim();
		if (path === '') continue;
		if (!isPath(path)) {
			throw refusal(
				`cannot be read in line ${index + 1}, ${JSON.stringify(path)}`,
				'Enter one path a line, with dots between the levels, for example data.status.',
			);
		}
		paths.push(path);
	}
	return paths.join('\n');
}

/** Reads values that a person entered; spaces around them count for nothing. */
export function readValues(entered: unknown, refusal: RefuseEntry): string[] {
	return valuesIn(entered).map((value) => {
		if (!isScalar(value)) {
			throw refusal('can have texts and numbers as values only', 'Enter one value a line.');
		}
		const text = String(value).trim();
		if (!text.includes(',')) return text;
		throw refusal(
			`cannot have the value ${JSON.stringify(text)}, which holds a comma`,
			'Enter each value by itself.',
		);
	});
}

/**
 * Reads what a person entered as field and values. Throws what it is given to refuse with where one is
 * missing, or cannot be read.
 */
export function readFieldMatch(field: unknown, values: unknown, refusal: RefuseEntry): FieldMatch {
	if (isBlank(field) || typeof field !== 'string' || valuesIn(values).length === 0) {
		throw refusal(
			'and its values must both be there, as text',
			'Enter the field to look at, for example data.status, and at least one value, for example paid.',
		);
	}
	return { field: readPaths(field, refusal), values: readValues(values, refusal) };
}

/** A form has data[status] where n8n reads the same query as data.status; capitals do not count. */
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
	let group: { path: string; value: unknown } | undefined;
	for (const path of field.split('\n')) {
		for (const source of sources) {
			const value = valueAt(source, path) ?? valueAt(source, normalName(path), normalName);
			if (value === undefined || value === null) continue;
			if (isScalar(value)) return { path, value };
			group ??= { path, value };
		}
	}
	return group;
}

/** That none of a field's paths is there, in words. */
export function missing(field: string, sources: unknown[]): string {
	const shown = field.split('\n').map((path) => JSON.stringify(path));
	const inList = `, and the first entry of the list would be ${JSON.stringify(`0.${field}`)}`;
	if (shown.length > 1) return `the fields ${shown.join(' and ')} are missing`;
	return `the field ${shown[0]} is missing${Array.isArray(sources[0]) ? inList : ''}`;
}

/** Whether a value is one of some words; upper and lower case do not count. */
function isOneOf(value: unknown, words: string[]): boolean {
	const text = String(value).trim().toLowerCase();
	return words.some((word) => word.toLowerCase() === text);
}

/**
 * Why a field does not match, in words for a log, which never hold the value that is there.
 * @returns undefined where it has one of the values
 */
export function mismatchOf({ field, values }: FieldMatch, ...sources: unknown[]) {
	const found = firstValue(field, sources);
	if (found === undefined) return missing(field, sources);
	const shown = JSON.stringify(found.path);
	if (!isScalar(found.value)) return `the field ${shown} is not a single value`;
	return isOneOf(found.value, values) ? undefined : `the field ${shown} has another value`;
}

/** The first word that stands in two lists. */
export const inBoth = (one: string[], other: string[]) => one.find((word) => isOneOf(word, other));
