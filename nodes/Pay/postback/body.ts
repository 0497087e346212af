import { isTooDeep, jsonOrText } from '../json';
import { MAX_FIELDS, nestFields, readMultipart, type PostedFile } from './form';
import { parseXmlBody } from './xml';

/** A body as its sender meant it. */
export interface Body {
	body: unknown;
	/** Its text as it came; empty for a multipart form. */
	rawBody: string;
	/** What makes it this one and no other, files apart. */
	content: string | Buffer;
	files: PostedFile[];
}

/** What a text may begin with, and the charset that it says. */
const BYTE_ORDER_MARKS = [
	{ mark: Buffer.from([0xef, 0xbb, 0xbf]), charset: 'utf-8' },
	{ mark: Buffer.from([0xff, 0xfe]), charset: 'utf-16le' },
	{ mark: Buffer.from([0xfe, 0xff]), charset: 'utf-16be' },
];
const MULTIPART = /^multipart\/form-data\b/i;
const FORM = /^application\/x-www-form-urlencoded\b/i;
const XML = /^[^;]+[/+]xml\s*(;|$)/i;
const JSON_TYPE = /^([^;]+[/+-])?json\s*(;|$)/i;
const CHARSET = /;\s*charset\s*=\s*"?([^\s;"]+)/i;
const XML_ENCODING = /^<\?xml\s[^>]*?\sencoding\s*=\s*["']([\w.:-]+)/;

/** The charset that a type names, or an XML document itself. */
function charsetOf(bytes: Buffer, contentType: string): string | undefined {
	const named = CHARSET.exec(contentType)?.[1];
	if (named !== undefined || !XML.test(contentType)) return named;
	return XML_ENCODING.exec(bytes.toString('latin1', 0, 200))?.[1];
}

/** The decoder of a charset's name; one that nobody knows, or that only its sender does, is UTF-8. */
function decoderOf(charset?: string) {
	try {
		return new TextDecoder(charset);
	} catch {
		return new TextDecoder();
	}
}

/** The text of a body: as its byte order mark says, else as its charset does. */
function bodyText(bytes: Buffer, charset: string | undefined): string {
	const known = BYTE_ORDER_MARKS.find(({ mark }) => bytes.subarray(0, mark.length).equals(mark));
	return decoderOf(known?.charset ?? charset).decode(bytes);
}

/**
 * The bytes of an ASCII text with percent signs. The letters count too: in Shift_JIS, GBK and others
 * the second byte of a character may be a letter, which is sent as it is.
 */
function unescapeBytes(text: string): Buffer {
	const bytes = Buffer.from(text, 'latin1');
	const digit = (at: number) => parseInt(text.charAt(at), 16);
	let length = 0;
	for (let at = 0; at < text.length; at++) {
		const byte = text[at] === '%' ? 16 * digit(at + 1) + digit(at + 2) : NaN;
		bytes[length++] = Number.isNaN(byte) ? bytes[at]! : byte;
		if (!Number.isNaN(byte)) at += 2;
	}
	return bytes.subarray(0, length);
}

/** Names and values of a form, whose percent signs stand for bytes in its charset. */
function parseForm(text: string, charset = 'utf-8'): Record<string, unknown> {
	// No percent sign stands for half a character.
	const decoder = decoderOf(/^utf-?16/i.test(charset) ? 'utf-8' : charset);
	const plain = (coded: string) =>
		coded
			.replaceAll('+', ' ')
			.replace(/[^\u0080-\uffff]+/g, (run) =>
				run.includes('%') ? decoder.decode(unescapeBytes(run)) : run,
			);
	// One more than may be, and an empty one before the first &.
	const pairs = text.split(/&+/, MAX_FIELDS + 2).filter((pair) => pair !== '');
	return nestFields(
		pairs.map((pair) => {
			const [, name = '', value = ''] = /^([^=]*)=?(.*)$/s.exec(pair) ?? [];
			return [plain(name), plain(value)];
		}),
	);
}

function parseText(text: string, contentType: string, charset?: string): unknown {
	const value = jsonOrText(text);
	// Services name JSON in many ways: as text, as a form, not at all.
	if (typeof value === 'object' && value !== null) return value;
	if (JSON_TYPE.test(contentType) || contentType === '') return value;
	if (FORM.test(contentType)) return parseForm(text, charset);
	const xml = XML.test(contentType) ? parseXmlBody(text) : undefined;
	return xml === undefined || isTooDeep(xml) ? text : xml;
}

/** Reads a body of any type. Throws for a multipart form that is broken or has too many parts. */
export function parseBody(bytes: Buffer, contentType: string): Body {
	if (MULTIPART.test(contentType)) {
		const { fields, files } = readMultipart(bytes, contentType, (part, type) => {
			const text = bodyText(part, charsetOf(part, type) ?? charsetOf(part, contentType));
			return JSON_TYPE.test(type) || XML.test(type) ? parseText(text, type) : text;
		});
		const body = nestFields(fields);
		return { body, rawBody: '', content: JSON.stringify(body), files };
	}
	const charset = charsetOf(bytes, contentType);
	const rawBody = bodyText(bytes, charset);
	return { body: parseText(rawBody, contentType, charset), rawBody, content: bytes, files: [] };
}
