import { isSafeNumber, parse } from 'lossless-json';

/** A digit run that can be an integer beyond 2^53; shorter ones are safe with JSON.parse. */
const LONG_INTEGER = /\d{16}/;

function parseNumber(text: string): number | string {
	const value = Number(text);
	const rounded = /^-?\d+$/.test(text) && !Number.isSafeInteger(value);
	return rounded || !Number.isFinite(value) ? text : value;
}

/** An object with members, not a list. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** n8n 1 needs minutes for an item of some thousand levels; nobody's payload has a hundred. */
const MOST_LEVELS = 100;

/** Whether a value is nested in more levels, by default beyond all use. */
export function isTooDeep(value: unknown, levels = MOST_LEVELS): boolean {
	if (typeof value !== 'object' || value === null) return false;
	return levels === 0 || Object.values(value).some((member) => isTooDeep(member, levels - 1));
}

/** A list of eight million numbers held n8n for 26 s; nobody's payload has so many members. */
const MOST_MEMBERS = 100_000;

/** Whether a JSON text is nested too deep or has too many members: JSON.parse needs seconds for a million levels. */
function isBeyondUse(text: string): boolean {
	let levels = 0;
	let members = 0;
	let isInString = false;
	for (let at = 0; at < text.length; at++) {
		const character = text[at];
		if (character === '\\') at++;
		else if (character === '"') isInString = !isInString;
		else if (isInString) continue;
		else if (character === ',') members++;
		else if (character === '[' || character === '{') levels++;
		else if (character === ']' || character === '}') levels--;
		if (levels > MOST_LEVELS || members > MOST_MEMBERS) return true;
	}
	return false;
}

/** Parses JSON, integers beyond 2^53 as strings; other text, or JSON of too many levels or members, stays text. */
export function jsonOrText(text: string): unknown {
	if (isBeyondUse(text)) return text;
	try {
		return LONG_INTEGER.test(text)
			? parse(text, undefined, { parseNumber, onDuplicateKey: ({ newValue }) => newValue })
			: JSON.parse(text);
	} catch {
		return text;
	}
}

function exactNumber(text: string): number {
	if (isSafeNumber(text)) return Number(text);
	throw new SyntaxError(
		`the number ${text} has too many digits to keep them all; write it as text`,
	);
}

/** Parses JSON that a person typed: gives the value, or the mistake with its position. */
export function readTypedJson(text: string): { parsed?: unknown; mistake?: string } {
	try {
		return { parsed: parse(text, undefined, { parseNumber: exactNumber }) };
	} catch (error) {
		return { mistake: error instanceof Error ? error.message : String(error) };
	}
}

/**
 * The value at a path like "data.0.status", looking at own members only. Keys may hold dots: in
 * `{"a.b": 1, "a": {"b": 2}}` the path `a.b` leads to 1, because the longest key goes first.
 * @param nameInPath how the path writes a name
 * @param open gives what a value on the way holds
 */
export function valueAt(
	value: unknown,
	path: string,
	nameInPath = (name: string) => name,
	open = (member: unknown) => member,
): unknown {
	const branch = open(value);
	if (typeof branch !== 'object' || branch === null || path === '') return undefined;
	const onTheWay: Array<[string, unknown]> = [];
	for (const [name, member] of Object.entries(branch)) {
		const key = nameInPath(name);
		if (key === path || path.startsWith(`${key}.`)) onTheWay.push([key, member]);
	}
	onTheWay.sort(([a], [b]) => b.length - a.length);
	for (const [key, member] of onTheWay) {
		const rest = path.slice(key.length + 1);
		const found = key === path ? member : valueAt(member, rest, nameInPath, open);
		if (found !== undefined) return found;
	}
	return undefined;
}
