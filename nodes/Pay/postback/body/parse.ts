import { isTooDeep, jsonOrText } from '../../json';
import { nestFields } from './brackets';
import { decodeText } from './charset';
import { parseForm } from './form';
import { parametersOf } from './header';
import { readMultipart, type PostedFile } from './multipart';
import { readParsedForm, type FileOnDisk, type ParsedForm } from './parsedForm';
import { FORM, MULTIPART } from './types';
import { parseXmlBody } from './xml';

/** A body as its sender meant it. */
export interface Body {
	body: unknown;
	/** Its text as it came; empty for a multipart form, which may hold files. */
	rawBody: string;
	/** What makes it this one and no other, files apart. */
	content: string | Buffer;
	files: PostedFile[];
	/** Those of a form that n8n has parsed. */
	filesOnDisk: FileOnDisk[];
}

/** A longer XML document would hold n8n for seconds (2 MB took one), and so would a form whose parts are; in characters. */
const MAX_XML_LENGTH = 1_000_000;
const XML = /^[^;]+[/+]xml\s*(;|$)/i;
const JSON_TYPE = /^([^;]+[/+-])?json\s*(;|$)/i;
const XML_ENCODING = /^\s*<\?xml\s[^>]*?\sencoding\s*=\s*["']([\w.:-]+)/;

/** The charset that a type names, or an XML document itself. */
function charsetOf(bytes: Buffer, contentType: string): string | undefined {
	const named = parametersOf(contentType).get('charset');
	if (named !== undefined || !XML.test(contentType)) return named;
	return XML_ENCODING.exec(bytes.toString('latin1', 0, 200))?.[1];
}

/** JSON or XML, by its type; other text stays text. */
function parseDocument(text: string, contentType: string): unknown {
	const value = jsonOrText(text);
	// Services name JSON in many ways: as text, as a form, not at all.
	if (typeof value === 'object' && value !== null) return value;
	if (JSON_TYPE.test(contentType) || contentType === '') return value;
	if (!XML.test(contentType) || text.length > MAX_XML_LENGTH) return text;
	const xml = parseXmlBody(text);
	return xml === undefined || isTooDeep(xml) ? text : xml;
}

function parseText(bytes: Buffer, text: string, contentType: string, charset?: string): unknown {
	const document = parseDocument(text, contentType);
	if (typeof document === 'object' || !FORM.test(contentType)) return document;
	// No escape stands for half a character, so a form in UTF-16 is ASCII text once it is decoded.
	if (/^utf-?16/i.test(charset ?? '')) return parseForm(Buffer.from(text));
	return parseForm(bytes, charset);
}

function parseMultipart(bytes: Buffer, contentType: string): Body {
	const formCharset = charsetOf(bytes, contentType);
	// So many characters of all its parts are read as JSON or XML; the rest stays text.
	let left = MAX_XML_LENGTH;
	const { fields, files } = readMultipart(bytes, contentType, (part, type) => {
		const text = decodeText(part, charsetOf(part, type) ?? formCharset);
		if (!JSON_TYPE.test(type) && !XML.test(type)) return text;
		left -= text.length;
		return left < 0 ? text : parseDocument(text, type);
	});
	const body = nestFields(fields);
	return { body, rawBody: '', content: JSON.stringify(body), files, filesOnDisk: [] };
}

function parseReadForm(form: ParsedForm): Body {
	const { body, files } = readParsedForm(form);
	return { body, rawBody: '', content: JSON.stringify(body), files: [], filesOnDisk: files };
}

/**
 * Reads a body of any type. Throws for a multipart form that is broken or has too many parts.
 * @param bytes the body, or the form that n8n has made of it
 */
export function parseBody(bytes: Buffer | ParsedForm, contentType: string): Body {
	if (!Buffer.isBuffer(bytes)) return parseReadForm(bytes);
	if (MULTIPART.test(contentType)) return parseMultipart(bytes, contentType);
	const charset = charsetOf(bytes, contentType);
	const rawBody = decodeText(bytes, charset);
	return {
		body: parseText(bytes, rawBody, contentType, charset),
		rawBody,
		content: bytes,
		files: [],
		filesOnDisk: [],
	};
}
