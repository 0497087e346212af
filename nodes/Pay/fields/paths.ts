import {
	besideBody,
	EACH,
	type FieldMatch,
	isOneOf,
	isScalar,
	normalPath,
	type Paths,
} from '../service/paths';
import { CREDENTIAL_HEADERS, SECRET_HEADER, SECRET_PARAMETER } from '../service/redact';
import type { RequiredValue } from '../service/state';
import { type NamedField, wrongField } from './label';
import { refuseTypedExpression } from './text';

/* What a person enters who says which field of a response or postback counts, and with which values. */

const isBlank = (value: unknown) => String(value ?? '').trim() === '';

/** The values of a list, or of a text with one a line, without the blank ones. */
function valuesIn(entered: unknown): unknown[] {
	const values: unknown[] = [];
	// A field of several values holds a list, and an expression in one of them may give a list too.
	for (const value of [entered].flat()) {
		const lines: unknown[] = typeof value === 'string' ? value.split(/[\r\n]+/) : [value].flat();
		for (const line of lines) {
			if (!isBlank(line)) values.push(line);
		}
	}
	return values;
}

/** True if a person entered neither a field nor a value. */
export const isUnset = (paths: unknown, values: unknown) =>
	isBlank(paths) && valuesIn(values).length === 0;

export interface PathRules {
	/** True for a field of a postback: it may go through a list, `pix[].status`, because that may hold several charges. */
	mayHaveLists: boolean;
	/** True if it may also go through a list inside an entry, `pix[].refunds[].status`. */
	mayHaveListsInside?: boolean;
}

/**
 * The fault of a line that is no path; undefined if it is one. No name of a path is empty, a comma would be between
 * two paths, and braces and $ belong to an expression.
 */
function faultOfPath(
	line: string,
	{ mayHaveLists, mayHaveListsInside = false }: PathRules,
): 'form' | 'list' | 'hidden' | undefined {
	if (/[,{}$]/.test(line)) return 'form';
	const names = line.split('.');
	if (names.includes('')) return 'form';
	// Only a postback has headers and a query.
	if (mayHaveLists && isHidden(line)) return 'hidden';
	const lists = names.filter((name) => name.includes(EACH));
	if (lists.length === 0) return undefined;
	if (!mayHaveLists || lists.length > (mayHaveListsInside ? 2 : 1)) return 'list';
	return lists.every((name) => name.indexOf(EACH) === name.length - EACH.length)
		? undefined
		: 'list';
}

/** True for a path at which a postback shows `***` or nothing, which no value could equal. */
function isHidden(path: string): boolean {
	const beside = besideBody(path);
	if (beside === undefined) return false;
	if (beside.part === 'query') return SECRET_PARAMETER.test(beside.name);
	return CREDENTIAL_HEADERS.has(beside.name) || SECRET_HEADER.test(beside.name);
}

const ADVICE = {
	form: 'Enter one path a line, with dots between the levels, for example data.status.',
	list: 'Put [] after the name of a list to look at each of its entries, as in pix[].status. You can use it once (twice in the Refund Field), and only in fields of a postback. A number names one entry, as in pix.0.status.',
	hidden:
		'A header or parameter of this name is a secret, so postbacks are read without it. To compare a secret that the service sends in a header, set Check the Sender to Secret Header in the credential.',
};

/** Reads the paths that a person entered, one per line; none where nothing was entered. */
export function readPaths(
	entered: unknown,
	field: NamedField,
	rules: PathRules = { mayHaveLists: false },
): Paths {
	if (isBlank(entered)) return [];
	if (typeof entered !== 'string') {
		throw wrongField(field, 'must be text', 'Enter one path a line.');
	}
	const lines = entered.split(/\r\n|\r|\n/);
	const paths: string[] = [];
	for (const [index, line] of lines.entries()) {
		const path = line.trim();
		if (path === '') continue;
		const fault = faultOfPath(path, rules);
		if (fault !== undefined) {
			throw wrongField(
				field,
				`cannot be read in line ${index + 1}, ${JSON.stringify(path)}`,
				ADVICE[fault],
			);
		}
		paths.push(path);
	}
	return paths;
}

/**
 * Refuses a number in place of the `[]` that other fields have: with `pix.0.status` beside `pix[].txid`, the first
 * entry's "paid" would be that of every charge in the list.
 * @param lists the lists that those fields go through
 */
export function refuseOneEntry(paths: Paths, lists: readonly string[], field: NamedField): void {
	for (const path of paths) {
		if (!lists.some((list) => namesOneEntry(path, list))) continue;
		throw wrongField(
			field,
			`cannot contain ${JSON.stringify(path)}, which names one entry of a list and would decide for all the others`,
			'Write [] instead of the number.',
		);
	}
}

/** As pix.0.status does of the list pix. */
function namesOneEntry(path: string, list: string): boolean {
	const start = list === '' ? '' : `${list}.`;
	const normal = normalPath(path);
	return normal.startsWith(start) && /^\d+(\.|$)/.test(normal.slice(start.length));
}

/** Reads values that a person entered, without the spaces around them. */
export function readValues(entered: unknown, field: NamedField): string[] {
	return valuesIn(entered).map((value) => {
		if (!isScalar(value)) {
			throw wrongField(
				field,
				'can have only texts and numbers as values',
				'Enter one value a line.',
			);
		}
		const text = String(value).trim();
		refuseTypedExpression(text, field);
		if (!text.includes(',')) return text;
		throw wrongField(
			field,
			`cannot have the value ${JSON.stringify(text)}, which contains a comma`,
			'Enter each value separately.',
		);
	});
}

/**
 * Reads the paths of a field, and its values. Both have to be there.
 * @param field what the person entered the paths in
 */
export function readFieldMatch(
	paths: unknown,
	values: unknown,
	field: NamedField,
	rules?: PathRules,
): FieldMatch {
	if (isBlank(paths) || typeof paths !== 'string' || valuesIn(values).length === 0) {
		throw wrongField(
			field,
			'and its values must both be entered, as text',
			'Enter both: the field to look at, and at least one of its values.',
		);
	}
	return { field: readPaths(paths, field, rules), values: readValues(values, field) };
}

/** The first word that is in both lists. */
export const inBoth = (one: string[], other: string[]) => one.find((word) => isOneOf(word, other));

/** Comparisons that a person may write, although none of them is made. */
const OTHER_COMPARISON = /==|!=|<|>/;

/** What is wrong with a line as a required value, and what to do; undefined where it is one. */
function faultOfRequired(
	line: string,
	path: string,
	value: string | undefined,
): string | undefined {
	if (OTHER_COMPARISON.test(line) || value === undefined) {
		return 'Enter one path = value a line, for example success = true. No other comparison is possible.';
	}
	const fault = faultOfPath(path, { mayHaveLists: true });
	if (fault !== undefined) return ADVICE[fault];
	if (value === '') return 'Enter the value after =, or * for any value that is not empty.';
	if (value.includes(',')) return 'Enter one value after =, without a comma.';
	if (/^(["'`]).*\1$/.test(value)) return 'Enter the value without quotes.';
	return undefined;
}

/**
 * Reads lines of `path = value`, none where nothing was entered. A path can have only one value.
 */
export function readRequiredValues(entered: unknown, field: NamedField): RequiredValue[] {
	if (isBlank(entered)) return [];
	if (typeof entered !== 'string') {
		throw wrongField(field, 'must be text', 'Enter one path = value a line.');
	}
	const required: RequiredValue[] = [];
	for (const [index, text] of entered.split(/\r\n|\r|\n/).entries()) {
		const line = text.trim();
		if (line === '') continue;
		refuseTypedExpression(line, field);
		const at = line.indexOf('=');
		const path = at === -1 ? line : line.slice(0, at).trim();
		const value = at === -1 ? undefined : line.slice(at + 1).trim();
		const advice = faultOfRequired(line, path, value);
		if (value === undefined || advice !== undefined) {
			const what = `cannot be read in line ${index + 1}, ${JSON.stringify(line)}`;
			throw wrongField(field, what, advice ?? '');
		}
		if (required.some((other) => normalPath(other.path) === normalPath(path))) {
			throw wrongField(
				field,
				`contain the path ${JSON.stringify(path)} twice`,
				'All lines must hold, and a path has only one value. Remove one of the two.',
			);
		}
		required.push({ path, value });
	}
	return required;
}
