import { decode, decodeEscapes } from './charset';

/** `; name=value`; a quoted value may hold quotes and semicolons. */
const PARAMETER = /;\s*([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;]*))/gs;
/** What programs write for a quote and a line break in a name (RFC 7578; browsers and curl). */
const ESCAPED = /\\(["\\])|%(22|0D|0A)/gi;
/** `filename*=UTF-8''J%C3%B3.pdf` (RFC 8187). */
const EXTENDED = /^([^']*)'[^']*'(.*)$/s;

function plainValue(quoted: string): string {
	return quoted.replace(ESCAPED, (_, character: string | undefined, hexadecimal: string) => {
		return character ?? String.fromCharCode(parseInt(hexadecimal, 16));
	});
}

/**
 * The parameters of a header such as Content-Type or Content-Disposition, by their names in small
 * letters. The first of a name counts; `filename*` counts more than `filename`.
 */
export function parametersOf(header: string): Map<string, string> {
	const plain = new Map<string, string>();
	const extended = new Map<string, string>();
	for (const [, written = '', quoted, unquoted = ''] of header.matchAll(PARAMETER)) {
		const name = written.toLowerCase();
		const value = quoted ?? unquoted.trim();
		const [, charset, escaped] = EXTENDED.exec(value) ?? [];
		if (name.endsWith('*') && escaped !== undefined) {
			extended.set(name.slice(0, -1), decodeEscapes(escaped, charset));
		} else if (!plain.has(name)) {
			plain.set(name, plainValue(value));
		}
	}
	return new Map([...plain, ...extended]);
}

/** The text of headers: senders write UTF-8, or the bytes of their own charset. */
export function decodeHeaders(bytes: Buffer): string {
	try {
		return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
	} catch {
		return decode(bytes, 'windows-1252');
	}
}

/** The headers of a part, by their names in small letters; a line that begins with a blank goes on with the last. */
export function parseHeaders(text: string): Map<string, string> {
	const headers = new Map<string, string>();
	for (const line of text.replace(/\r\n[ \t]+/g, ' ').split(/[\r\n]+/)) {
		const colon = line.indexOf(':');
		if (colon !== -1) headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
	}
	return headers;
}
