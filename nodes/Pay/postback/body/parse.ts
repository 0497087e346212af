import { isTooDeep, jsonOrText } from '../../json';
import { nestFields } from './brackets';
import { decodeText } from './charset';
import { parametersOf } from './header';
import { readMultipart, type PostedFile } from './multipart';
import { readParsedForm, type FileOnDisk, type ParsedForm } from './parsedForm';
import { MULTIPART, URL_ENCODED } from './types';
import { parseUrlEncoded } from './urlEncoded';
import { parseXmlBody } from './xml';

/** A body as its sender meant it. */
export interface Body {
	body: unknown;
	/** Its text as it came; empty for a multipart form, which may hold files. */
	rawBody: string;
	/** What the event's id is a hash of, beside the files. */
	eventContent: string | Buffer;
	files: PostedFile[];
	/** Those of a form that n8n has parsed. */
	filesOnDisk: FileOnDisk[];
}

/**
 * In characters. A longer XML document would hold n8n for seconds (2 MB took one); so would a form whose parts
 * are XML or JSON, so all of them together have this room.
 */
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
	if (typeof document === 'object' || !URL_ENCODED.test(contentType)) return document;
	// No escape stands for half a character, so a form in UTF-16 is ASCII text once it is decoded.
	if (/^utf-?16/i.test(charset ?? '')) return parseUrlEncoded(Buffer.from(text));
	return parseUrlEncoded(bytes, charset);
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
	return { body, rawBody: '', eventContent: JSON.stringify(body), files, filesOnDisk: [] };
}

function bodyOfParsedForm(form: ParsedForm): Body {
	const { body, files } = readParsedForm(form);
	return { body, rawBody: '', eventContent: JSON.stringify(body), files: [], filesOnDisk: files };
}

/**
 * Reads a body of any type. Throws for a multipart form that is broken or has too many parts.
 * @param content its bytes, or the form that n8n has made of it
 */
export function parseBody(content: Buffer | ParsedForm, contentType: string): Body {
	if (!Buffer.isBuffer(content)) return bodyOfParsedForm(content);
	if (MULTIPART.test(contentType)) return parseMultipart(content, contentType);
	const charset = charsetOf(content, contentType);
	const rawBody = decodeText(content, charset);
	return {
		body: parseText(content, rawBody, contentType, charset),
		rawBody,
		eventContent: content,
		files: [],
		filesOnDisk: [],
	};
}
