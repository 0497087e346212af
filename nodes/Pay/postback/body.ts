import { jsonOrText } from '../base/json';
import { within } from '../base/time';

/** What a request has beyond n8n's types. */
export interface RawRequest {
	/** What n8n made of the body, where it read it before the node. */
	body?: unknown;
	/** False until the request's end has come, and for good where the connection was cut before. */
	complete?: boolean;
	headers?: Record<string, unknown>;
	on?: (event: string, listener: () => void) => void;
	rawBody?: Buffer;
	/** Keeps to n8n's limit of size, also for what it unzips. */
	readRawBody?: () => Promise<void>;
}

/** The codings that n8n undoes: each by its names in the header, with the name that n8n knows. */
const UNDONE_BY_N8N = new Map([
	['gzip', 'gzip'],
	['x-gzip', 'gzip'],
	['deflate', 'deflate'],
]);
/** The other content codings that IANA has registered. Anything else in the header is none. */
const OTHER_CODINGS = new Set([
	'aes128gcm',
	'br',
	'compress',
	'dcb',
	'dcz',
	'exi',
	'pack200-gzip',
	'x-compress',
	'zstd',
]);

/**
 * The coding of a body by the name that n8n undoes it by; "" where there is none. Senders also write
 * charsets or "none" there (`UTF-8`, `8bit`), whose bodies are as they are.
 */
function codingOf(contentEncoding: string): string {
	const codings: string[] = [];
	for (const label of contentEncoding.toLowerCase().split(',')) {
		const name = label.trim();
		if (UNDONE_BY_N8N.has(name) || OTHER_CODINGS.has(name)) codings.push(name);
	}
	const [first = ''] = codings;
	if (codings.length > 1 || OTHER_CODINGS.has(first)) {
		throw new BodyError(
			415,
			`A body in the content coding "${codings.join(', ').slice(0, 40)}" cannot be read: send it as gzip or deflate, or uncompressed`,
		);
	}
	return UNDONE_BY_N8N.get(first) ?? '';
}

/**
 * Has n8n read a body. n8n looks at the header before its first pause, and knows a coding in small letters
 * only; so for that moment the header is put into that form.
 */
async function readRawBody(request: RawRequest, coding: string): Promise<void> {
	const { headers = {} } = request;
	const sent = headers['content-encoding'];
	if (sent === undefined) return await request.readRawBody?.();
	headers['content-encoding'] = coding;
	const reading = request.readRawBody?.();
	headers['content-encoding'] = sent;
	await reading;
}

/** Fails where the connection ends before the body: n8n never learns that a zipped body was cut. */
async function cutOff(request: RawRequest): Promise<never> {
	return await new Promise<never>((_, reject) => {
		request.on?.('close', () => {
			if (request.complete === false) reject(new Error('The body was cut off'));
		});
	});
}

/**
 * Reads the bytes of a body, unzipped.
 * @param contentEncoding the header of that name; "" where there is none
 * @param ms how long the body may take, in milliseconds
 */
export async function readBytes(
	request: RawRequest,
	contentEncoding: string,
	ms: number,
): Promise<Buffer> {
	const coding = codingOf(contentEncoding);
	const isReadByN8n = request.rawBody !== undefined;
	if (isReadByN8n && coding !== '' && contentEncoding !== coding) {
		// n8n knows only this spelling, and has left the body packed.
		throw new BodyError(415, `Send the header Content-Encoding as "${coding}"`);
	}
	if (!isReadByN8n) {
		const reading = readRawBody(request, coding);
		if (request.complete === false) {
			const late = () => new BodyError(408, 'The body took too long');
			await within(Promise.race([reading, cutOff(request)]), ms, late);
		} else {
			await reading;
		}
	}
	return request.rawBody ?? Buffer.alloc(0);
}

/** A body as its sender meant it. */
export interface Body {
	body: unknown;
	/** Its text as it came; empty for a multipart form. */
	rawBody: string;
	/** The part of it that the event's id is a hash of. */
	eventContent: string | Buffer;
	/** Whether it is a form with files, which are not read. */
	hasFiles: boolean;
}

/**
 * Reads a body of any type. Rejects with a BodyError where a form, or the charset, cannot be read, so that
 * its sender hears of it: nothing is taken and lost.
 * @param content its bytes, or the form that n8n has made of it
 */
export async function parseBody(content: Buffer | FormOfN8n, contentType: string): Promise<Body> {
	if (!Buffer.isBuffer(content)) {
		return bodyOfForm(content.data, Object.keys(content.files).length > 0);
	}
	if (MULTIPART.test(contentType) && content.length > 0) {
		return await readMultipart(content, contentType);
	}
	const text = decodeText(content, charsetOf(contentType));
	return {
		body: parseText(content, text, contentType),
		rawBody: text,
		eventContent: content,
		hasFiles: false,
	};
}

/** A multipart form has a new boundary each time it is sent, so its event is told by its fields. */
function bodyOfForm(fields: Record<string, unknown>, hasFiles: boolean): Body {
	if (hasFiles && Object.keys(fields).length === 0) {
		throw new BodyError(415, 'The form has nothing but files, send its fields as text or as JSON');
	}
	return { body: fields, rawBody: '', eventContent: JSON.stringify(fields), hasFiles };
}

/** A multipart form as n8n gives it where it reads the body before the node. Its bytes are gone. */
export interface FormOfN8n {
	data: Record<string, unknown>;
	files: Record<string, unknown>;
}

/** The form that n8n made of a request's body; undefined where it parsed none. */
export function formOfN8n(body: unknown): FormOfN8n | undefined {
	const { data, files } = (body ?? {}) as Partial<FormOfN8n>;
	return typeof data === 'object' && typeof files === 'object' ? { data, files } : undefined;
}

/** An encoded part of a form, which Node.js does not decode, or not in every version. */
const TRANSFER_ENCODING = /\r\ncontent-transfer-encoding:[ \t]*(base64|quoted-printable)/i;

/** Parsing a million fields takes seconds; nobody's form has so many. */
const MOST_FIELDS = 1000;

/** Reads the text fields of a multipart form, which Node.js takes for UTF-8. */
async function readMultipart(bytes: Buffer, contentType: string): Promise<Body> {
	if (TRANSFER_ENCODING.test(bytes.toString('latin1'))) {
		throw new BodyError(415, 'A multipart form with a transfer encoding cannot be read');
	}
	const headers = { 'content-type': contentType };
	// Node.js refuses a broken form, and some spellings that few programs use.
	const form = await new Response(bytes, { headers }).formData().catch(() => {
		throw new BodyError(415, 'The multipart form cannot be read: send it as JSON');
	});
	const fields: Array<[string, string]> = [];
	let hasFiles = false;
	let count = 0;
	for (const [name, value] of form) {
		count++;
		if (typeof value === 'string') fields.push([name, value]);
		// A browser sends an empty one for a file that nobody chose.
		else if (value.name !== '' || value.size > 0) hasFiles = true;
	}
	if (count > MOST_FIELDS) throw new BodyError(413, 'The form has too many fields');
	return bodyOfForm(fieldsByName(fields), hasFiles);
}

/** Puts the values of one name together; the names stay as they are, `data[status]` too. */
function fieldsByName(fields: Iterable<[string, string]>): Record<string, unknown> {
	// A map: a field may be called like a member of every object.
	const values = new Map<string, string[]>();
	for (const [name, value] of fields) {
		const before = values.get(name);
		if (before === undefined) values.set(name, [value]);
		else before.push(value);
	}
	const members: Array<[string, unknown]> = [];
	for (const [name, list] of values) members.push([name, list.length === 1 ? list[0] : list]);
	return Object.fromEntries(members);
}

/** Reads JSON, whatever its type is called; else a URL-encoded form; else the text as it is. */
function parseText(bytes: Buffer, text: string, contentType: string): unknown {
	const value = jsonOrText(text);
	// Services name JSON in many ways: as text, as a form, not at all.
	if (typeof value === 'object' && value !== null) return value;
	if (JSON_TYPE.test(contentType) || contentType === '') return value;
	return URL_ENCODED.test(contentType) ? readUrlEncoded(bytes) : text;
}

/**
 * Reads a URL-encoded form, `a=1&b=J%C3%B3`, as UTF-8, whatever charset it names. A name in another charset loses its
 * accents, but identifiers, words and amounts are ASCII, and no byte of it swallows the & after it.
 */
function readUrlEncoded(bytes: Buffer): Record<string, unknown> {
	// In UTF-16 every second byte is 0.
	if (bytes.includes(0)) {
		throw new BodyError(415, 'A form in this charset cannot be read: send UTF-8');
	}
	const text = decode(bytes);
	// Up to one too many, and an empty one before the first & and after the last.
	const pairs = text.split(/&+/, MOST_FIELDS + 3).filter((pair) => pair !== '');
	if (pairs.length > MOST_FIELDS) throw new BodyError(413, 'The form has too many fields');
	return fieldsByName(new URLSearchParams(text));
}

/** The bytes that a text may begin with, and the charset that they mean. */
const BYTE_ORDER_MARKS = [
	{ mark: Buffer.from([0xef, 0xbb, 0xbf]), charset: 'utf-8' },
	{ mark: Buffer.from([0xff, 0xfe]), charset: 'utf-16le' },
	{ mark: Buffer.from([0xfe, 0xff]), charset: 'utf-16be' },
];

/** Decodes a whole body by its byte order mark, or else by its charset. */
function decodeText(bytes: Buffer, charset: string | undefined): string {
	const marked = BYTE_ORDER_MARKS.find(({ mark }) => bytes.subarray(0, mark.length).equals(mark));
	return decode(bytes, marked?.charset ?? charset);
}

/** The text of bytes in a charset, by default UTF-8. Throws a BodyError where the platform does not know it. */
export function decode(bytes: Buffer, charset = 'utf-8'): string {
	const decoder = decoderOf(charset);
	if (decoder === undefined) {
		// In UTF-8 a byte of another charset could swallow the quote after it.
		const name = JSON.stringify(charset.slice(0, 40));
		throw new BodyError(415, `The charset ${name} cannot be read: send UTF-8`);
	}
	const text = decoder.decode(bytes);
	if (decoder.encoding !== 'windows-1252') return text;
	return text.replace(/[\x80-\x9f]/g, (character) =>
		WINDOWS_1252.charAt(character.charCodeAt(0) - 0x80),
	);
}

function decoderOf(charset: string) {
	try {
		// Java writes x-windows-949.
		return new TextDecoder(charset.replace(/^x-windows-/i, 'windows-'));
	} catch {
		return undefined;
	}
}

/**
 * The characters 80 to 9F of Windows-1252, of which some versions of Node.js, 20.20 among them, make control
 * characters. Then "€ 49,90" is no amount, and what was paid with it would not be "paid".
 */
const WINDOWS_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';

/** The types of JSON: `application/json`, `application/vnd.pay+json`, `text/json`, and `json` alone. */
const JSON_TYPE = /^([^;]+[/+-])?json\s*(;|$)/i;
/** The type of a form as one line, `a=1&b=2`. */
const URL_ENCODED = /^application\/x-www-form-urlencoded\b/i;
/** The type of a form in several parts, which may hold files. */
const MULTIPART = /^multipart\/form-data\b/i;

const CHARSET = /;\s*charset\s*=\s*"?([^\s;",]+)/i;
const BOUNDARY = /;\s*boundary\s*=\s*(?:"([^"]+)"|([^\s;]+))/i;

/** The charset that a type names. */
const charsetOf = (contentType: string) => CHARSET.exec(contentType)?.[1];

/** The boundary between the parts of a form; "" where its type does not name one. */
function boundaryOf(contentType: string): string {
	const [, quoted, plain] = BOUNDARY.exec(contentType) ?? [];
	return quoted ?? plain ?? '';
}

/** Charsets in which one byte is one character, so that no signed quote or brace can vanish or appear. */
const ONE_BYTE =
	/^(utf-?8|(us-)?ascii|latin-?\d|iso-?8859-\d{1,2}|windows-(874|125\d)|koi8-[ru]|macintosh)$/i;

/** True for a body that is a URL-encoded form and nothing else. A text around one has spaces or line breaks. */
const isUrlEncoded = (bytes: Buffer) =>
	/^[\w*.+%&=~!$'(),;:@/?[\]\x80-\xff-]*$/.test(bytes.toString('latin1'));

/**
 * The type of a body whose signature was verified, by what the body begins with. The signature is over the
 * bytes and not over the headers: with another Content-Type, somebody who repeats a signed "pending" could
 * have a text inside it read as a form.
 */
export function typeOfSigned(bytes: Buffer, contentType: string): string {
	const charset = charsetOf(contentType) ?? '';
	const suffix = ONE_BYTE.test(charset) ? `; charset=${charset}` : '';
	const head = decodeText(bytes.subarray(0, 200), undefined);
	const [first] = head.trimStart();
	if (first === '{' || first === '[') return `application/json${suffix}`;
	const boundary = boundaryOf(contentType);
	const isMultipart = head.replace(/^(\r\n)+/, '').startsWith(`--${boundary}\r\n`);
	if (MULTIPART.test(contentType) && isMultipart) {
		return `multipart/form-data; boundary="${boundary}"`;
	}
	if (URL_ENCODED.test(contentType) && isUrlEncoded(bytes)) {
		return `application/x-www-form-urlencoded${suffix}`;
	}
	return `text/plain${suffix}`;
}

/** Why a body is not taken, with the status that its sender gets. */
class BodyError extends Error {
	override readonly name = 'BodyError';
	constructor(
		readonly statusCode: number,
		message: string,
	) {
		super(message);
	}
}
