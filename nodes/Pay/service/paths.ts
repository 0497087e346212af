import { jsonOrText, valueAt } from '../base/json';

/*
 * One service says `{ "data": { "status": "paid" } }`: the path data.status leads to one value. Another one says
 * `{ "live": true, "pix": [{ "txid": "a", "status": "paid" }, { "txid": "b", "status": "pending" }] }`: the path
 * pix[].status leads to one value in each entry, and live to one beside the list, which holds for all of them.
 * What tells entries apart (pix[].txid) has to be an entry's own, unless that entry is alone.
 */

/**
 * Where a field of a response or postback is looked for, each a path as `valueAt` takes it: the first that is
 * there counts. One of a postback may go through a list, `pix[].status`.
 */
export type Paths = readonly string[];

/** That a field has one of some values. */
export interface FieldMatch {
	field: Paths;
	/** {@link ANYTHING} among them stands for whatever is not empty. */
	values: string[];
}

/** Among values: the field is there, and not empty. */
export const ANYTHING = '*';

/** Behind a list's name in a path: each of its entries. */
export const EACH = '[]';

/** Whether a value can be compared with a text. */
export function isScalar(value: unknown): value is string | number | boolean {
	return ['string', 'number', 'boolean'].includes(typeof value);
}

/** One spelling of what looks alike: without spaces around it, in Unicode's form NFC. */
export const inOneForm = (text: string) => text.trim().normalize('NFC');

/** A name as paths are compared: in small letters, and `data[status]`, as forms write it, as `data.status`. */
const normalName = (name: string) => name.toLowerCase().replace(/\[([^[\]]+)\]/g, '.$1');

/** A path taken apart: the list that it goes through, and what is looked for in an entry. */
function takeApart(path: string): { list?: string; rest: string } {
	const at = path.indexOf(EACH);
	if (at === -1) return { rest: path };
	return { list: path.slice(0, at), rest: path.slice(at + EACH.length).replace(/^\./, '') };
}

/** A path in one spelling: small letters, and without what the panel shows before a field of the body. */
export const normalPath = (path: string) =>
	normalName(path).replace(/^(?:postback\.)?(?:body(?:\.|(?=\[)))?/, '');

/** A path that looks at something else than a body. */
const BESIDE_BODY = /^(?:postback\.)?(headers|query)(?:[.[](.*))?$/i;

/** The header or query parameter that a path looks at, in small letters; undefined where it looks at the body. */
export function besideBody(path: string): { part: 'headers' | 'query'; name: string } | undefined {
	const [, part, name = ''] = BESIDE_BODY.exec(path) ?? [];
	if (part === undefined) return undefined;
	return {
		part: part.toLowerCase() === 'query' ? 'query' : 'headers',
		// A path may have it in brackets: headers[x-event].
		name: name.toLowerCase().replace(/\]$/, ''),
	};
}

/** The lists that the paths of a field go through, in one spelling. */
export function listsOf(field: Paths): string[] {
	const lists: string[] = [];
	for (const path of field) {
		const { list } = takeApart(normalPath(path));
		if (list !== undefined) lists.push(list);
	}
	return lists;
}

/** A text that holds a JSON object or list as what it holds; any other value as it is. */
function opened(value: unknown): unknown {
	if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value;
	return jsonOrText(value);
}

/** A question about a value, under a name: what it says of one path is kept. */
interface ValueTest {
	name: string;
	isMet: (value: unknown) => boolean;
}

/** One entry of a list of a postback. */
export interface Entry {
	list: object;
	/** Its place in the list, from 0 on. */
	at: number;
	value: unknown;
	/** Whether the postback has no other one: then what stands beside the list is about it, too. */
	isAlone: boolean;
}

/** A value, and the path at which it was found. */
interface Found {
	path: string;
	value: unknown;
}

/**
 * Where the fields of a postback or response are looked for: its parts, in the order in which they count.
 * What was found is kept, and a text is parsed once. Of 500 charges and 500 refunds in a body of 90,000 members
 * (0.3 s) it took 32 s without the values that were found, 480 s without the lists, and 7 s without the answers
 * of tests, where one of them was about a long text.
 */
export class Sources {
	readonly #parts: unknown[];
	readonly #found = new Map<string, unknown>();
	readonly #lists = new Map<string, object | undefined>();
	readonly #parsed = new Map<string, unknown>();
	readonly #met = new Map<string, boolean>();

	constructor(...parts: unknown[]) {
		this.#parts = parts;
	}

	/** Whether the first part is a list. */
	get isList(): boolean {
		return Array.isArray(this.#parts[0]);
	}

	/** The value in a branch. A member with the very name goes before one that only reads alike. */
	valueIn(branch: unknown, path: string): unknown {
		const open = (value: unknown) => this.open(value);
		if (path === '') return branch;
		return (
			valueAt(branch, path, undefined, open) ?? valueAt(branch, normalName(path), normalName, open)
		);
	}

	/** A text that holds JSON as what it holds. */
	open(value: unknown): unknown {
		if (typeof value !== 'string') return value;
		if (!this.#parsed.has(value)) this.#parsed.set(value, opened(value));
		return this.#parsed.get(value);
	}

	/** The value at a path without a list, in the first part that has one; one that can be compared goes first. */
	valueAt(path: string): unknown {
		if (!this.#found.has(path)) this.#found.set(path, this.#lookFor(path));
		return this.#found.get(path);
	}

	#lookFor(path: string): unknown {
		let firstObject: unknown;
		for (const part of this.#parts) {
			const value = this.valueIn(part, path);
			if (isScalar(value)) return value;
			firstObject ??= value;
		}
		return firstObject;
	}

	/** The list at a path. One object in its place is the list's only entry: so XML writes a list of one. */
	listAt(path: string): object | undefined {
		if (!this.#lists.has(path)) this.#lists.set(path, this.#lookForList(path));
		return this.#lists.get(path);
	}

	#lookForList(path: string): object | undefined {
		if (path === '') {
			const body = this.open(this.#parts[0]);
			return Array.isArray(body) ? body : undefined;
		}
		for (const part of this.#parts) {
			const list = this.open(this.valueIn(part, path));
			if (typeof list === 'object' && list !== null) return list;
		}
		return undefined;
	}

	/**
	 * Whether a value at a path passes a test; of lists, that of any entry. It is asked once: each entry of
	 * one list with each of another one would take minutes.
	 */
	isMetAt(path: string, { name, isMet }: ValueTest): boolean {
		const key = JSON.stringify([path, name]);
		const known = this.#met.get(key);
		if (known !== undefined) return known;
		const isMetSomewhere = this.#valuesAt(path).some(isMet);
		this.#met.set(key, isMetSomewhere);
		return isMetSomewhere;
	}

	#valuesAt(path: string): unknown[] {
		const { list, rest } = takeApart(path);
		if (list === undefined) return [this.valueAt(rest)];
		const found = this.listAt(list);
		const entries: unknown[] = Array.isArray(found) ? found : [found];
		return entries.flatMap((entry) => this.valuesIn(entry, rest));
	}

	/** The values in a branch; of a list inside it, those of all its entries. */
	valuesIn(branch: unknown, path: string): unknown[] {
		const { list, rest } = takeApart(path);
		if (list === undefined) return [this.valueIn(branch, rest)];
		const inside = this.open(this.valueIn(branch, list));
		if (typeof inside !== 'object' || inside === null) return [];
		const entries: unknown[] = Array.isArray(inside) ? inside : [inside];
		return entries.flatMap((entry) => this.valuesIn(entry, rest));
	}

	/** The names that are there, for a person who looks for a field: dots between levels, at most `most`. */
	names(most: number): string[] {
		const names: string[] = [];
		const branches: Array<[string, unknown]> = [['', this.#parts[0]]];
		for (const [before, value] of branches) {
			const branch = this.open(value);
			if (typeof branch !== 'object' || branch === null) continue;
			if (Array.isArray(branch)) {
				const first: unknown = this.open(branch[0]);
				const path = `${before}${EACH}`;
				if (typeof first === 'object' && first !== null) branches.push([path, first]);
				// A form that has a name twice makes such a list.
				else names.push(path);
				continue;
			}
			for (const [name, member] of Object.entries(branch)) {
				if (names.length + branches.length > 2 * most) break;
				const path = before === '' ? name : `${before}.${name}`;
				const inside = this.open(member);
				const isBranch = typeof inside === 'object' && inside !== null;
				if (isBranch) branches.push([path, inside]);
				else names.push(path);
			}
		}
		return names.slice(0, most);
	}
}

/** The entries of the lists that some fields go through, of those lists that a postback has. */
export function entriesOf(paths: Paths, sources: Sources): Entry[] {
	const lists = new Set<object>();
	for (const path of paths) {
		const { list } = takeApart(path);
		const found = list === undefined ? undefined : sources.listAt(list);
		if (found !== undefined) lists.add(found);
	}
	const entries: Array<Omit<Entry, 'isAlone'>> = [];
	for (const list of lists) {
		const values: unknown[] = Array.isArray(list) ? list : [list];
		for (const [at, value] of values.entries()) entries.push({ list, at, value });
	}
	return entries.map((entry) => ({ ...entry, isAlone: entries.length === 1 }));
}

/** The value at a path, for one entry: what goes through a different list is not there. */
function valueFor(path: string, sources: Sources, entry: Entry | undefined): unknown {
	const { list, rest } = takeApart(path);
	if (list === undefined) return sources.valueAt(rest);
	if (entry === undefined || sources.listAt(list) !== entry.list) return undefined;
	return sources.valueIn(entry.value, rest);
}

/**
 * The value of the first path of a field that is there. An object is nothing that can be compared: a later
 * path counts more.
 * @param entry the one that is read, where a path goes through a list
 */
export function firstValue(field: Paths, sources: Sources, entry?: Entry): Found | undefined {
	let firstObject: Found | undefined;
	for (const path of field) {
		const value = valueFor(path, sources, entry);
		if (value === undefined || value === null) continue;
		if (isScalar(value)) return { path, value };
		firstObject ??= { path, value };
	}
	return firstObject;
}

/**
 * As {@link firstValue}, for what tells one entry from the others: where there are others, what stands
 * beside their list is not one entry's own.
 */
export function ownValue(field: Paths, sources: Sources, entry?: Entry): Found | undefined {
	const isOneOfMany = entry !== undefined && !entry.isAlone;
	const own = isOneOfMany ? field.filter((path) => path.includes(EACH)) : field;
	return firstValue(own, sources, entry);
}

/** Whether a field tells the entries of a list apart: one of its paths goes through that list. */
export function tellsApart(field: Paths, { list }: Entry, sources: Sources): boolean {
	return field.some((path) => {
		const { list: name } = takeApart(path);
		return name !== undefined && sources.listAt(name) === list;
	});
}

/**
 * A longer text is no word that a person entered, and not empty. Each of 1,000 entries asks about what stands beside
 * their list: 8 MB of zeros there took eight minutes.
 */
const MOST_WORD_CHARACTERS = 1000;

export const isLongText = (value: unknown): boolean =>
	typeof value === 'string' && value.length > MOST_WORD_CHARACTERS;

/** Texts that say that there is nothing, as forms and queries write it. */
const NOTHING_IN_WORDS = ['false', 'null', 'undefined'];

/** Whether a value is there and says something: no null, false, 0, blank text, empty list or object. */
export function isThere(value: unknown): boolean {
	if (isLongText(value)) return true;
	const content = opened(value);
	if (typeof content === 'object' && content !== null) return Object.keys(content).length > 0;
	// A text may be a number: of "0.00", "0,00" and "0000-00-00" nothing is left without the zeros.
	const text = String(content ?? '').trim();
	const saysSomething = /[\p{L}\p{N}]/u.test(text.replaceAll('0', ''));
	return saysSomething && !NOTHING_IN_WORDS.includes(text.toLowerCase());
}

/**
 * The first path of a field at which a value passes a test. Of the entry's own list that entry is asked; of a
 * list inside it, and of any other one, all entries.
 */
export function pathMeeting(
	field: Paths,
	test: ValueTest,
	sources: Sources,
	entry?: Entry,
): string | undefined {
	return field.find((path) => {
		const { list, rest } = takeApart(path);
		const isOwn = entry !== undefined && list !== undefined && sources.listAt(list) === entry.list;
		if (!isOwn) return sources.isMetAt(path, test);
		return sources.valuesIn(entry.value, rest).some(test.isMet);
	});
}

/** Says that none of a field's paths is there. */
export function missingInWords(field: Paths, sources: Sources): string {
	const paths = field.map((path) => JSON.stringify(path));
	if (paths.length > 1) return `the fields ${paths.join(' and ')} are missing`;
	const [path = ''] = field;
	const text = `the field ${JSON.stringify(path)} is missing`;
	if (!sources.isList || path.startsWith(EACH)) return text;
	return `${text}, and the body is a list, whose entries are read with ${JSON.stringify(`${EACH}.${path}`)}`;
}

/** Whether a value is one of some words; upper and lower case do not count. */
export function isOneOf(value: unknown, words: string[]): boolean {
	if (isLongText(value)) return false;
	const text = String(value).trim().toLowerCase();
	return words.some((word) => word.toLowerCase() === text);
}

/** Whether a value is one of those of a {@link FieldMatch}. */
export function isAmong(value: unknown, values: string[]): boolean {
	if (values.includes(ANYTHING) && isThere(value)) return true;
	return isScalar(value) && isOneOf(value, values);
}

/**
 * Why a field does not match, in words for a log, which never hold the value that is there.
 * @returns undefined where it has one of the values
 */
export function mismatchOf(
	{ field, values }: FieldMatch,
	sources: Sources,
	entry?: Entry,
): string | undefined {
	const found = firstValue(field, sources, entry);
	if (found === undefined) return missingInWords(field, sources);
	if (isAmong(found.value, values)) return undefined;
	const path = JSON.stringify(found.path);
	if (values.includes(ANYTHING)) return `the field ${path} is empty`;
	if (!isScalar(found.value)) return `the field ${path} is not a single value`;
	return `the field ${path} has another value`;
}
