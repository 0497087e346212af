import { parse } from 'lossless-json';

/** A digit run that can be an integer beyond 2^53; shorter ones are safe with JSON.parse. */
const LONG_INTEGER = /\d{16}/;

function parseNumber(text: string): number | string {
	const value = Number(text);
	const rounded = /^-?\d+$/.test(text) && !Number.isSafeInteger(value);
	return rounded || !Number.isFinite(value) ? text : value;
}

/**
 * Parses JSON without losing digits: integers beyond 2^53 become strings, everything else is as
 * JSON.parse gives it.
 * @throws SyntaxError when the text is no JSON; the message names the position.
 */
function parseJsonExactly(text: string): unknown {
	if (!LONG_INTEGER.test(text)) return JSON.parse(text);
	return parse(text, undefined, { parseNumber, onDuplicateKey: ({ newValue }) => newValue });
}

/** n8n 1 needs minutes for an item of some thousand levels; nobody's payload has a hundred. */
const MAX_LEVELS = 100;

function hasLevels(value: unknown, levels: number): boolean {
	if (typeof value !== 'object' || value === null) return false;
	return levels === 0 || Object.values(value).some((member) => hasLevels(member, levels - 1));
}

/**
 * Parses JSON as {@link parseJsonExactly}. Text that is no JSON, or nested beyond all use, comes
 * back as it is.
 */
export function jsonOrText(text: string): unknown {
	try {
		const value = parseJsonExactly(text);
		return hasLevels(value, MAX_LEVELS) ? text : value;
	} catch {
		return text;
	}
}

function exactNumber(text: string): number {
	const value = parseNumber(text);
	if (typeof value === 'number') return value;
	throw new SyntaxError(`the number ${text} is too large to keep all its digits; write it as text`);
}

/**
 * Parses JSON that a person typed, to be sent.
 * @returns the value, or the mistake with its position, which JSON.parse does not always name
 */
export function parseTypedJson(text: string): { parsed?: unknown; mistake?: string } {
	try {
		return { parsed: parse(text, undefined, { parseNumber: exactNumber }) };
	} catch (error) {
		return { mistake: error instanceof Error ? error.message : String(error) };
	}
}
