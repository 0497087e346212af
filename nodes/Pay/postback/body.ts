import { jsonOrText } from '../base/json';
import { within } from '../base/time';

/** What n8n and Node.js give of a request beside what n8n's types name. */
export interface RawRequest {
	/** What n8n made of the body, where it read it before the node. */
	body?: unknown;
	/** False until the request's end has come, and for good where the connection was cut before. */
	complete?: boolean;
	headers?: Record<string, unknown>;
	on?: (event: string, listener: () => void) => void;
	rawBody?: Buffer;
	/** Keeps n8n's limit of size, of what is unzipped too. */
	readRawBody?: () => Promise<void>;
}

/** The codings that n8n undoes: each by its names in the header, with the name that n8n knows. */
const UNDONE_BY_N8N = new Map([
	['gzip', 'gzip'],
	['x-gzip', 'gzip'],
	['deflate', 'deflate'],
]);
/** The other content codings that IANA has registered. What else stands in the header is no coding. */
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
			`A body in the content coding "${codings.join(', ').slice(0, 40)}" cannot be read, send it in gzip, deflate or as it is`,
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
		// n8n by itself knows no other spelling, and has left it packed.
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
	/** Its text as it came; empty for a multipart form, which may hold files. */
	rawBody: string;
	/** What the event's id is a hash of, beside the files. */
	eventContent: string | Buffer;
	files: PostedFile[];
}

/** A multipart form has another boundary each time it is sent, so its fields stand for it. */
function bodyOf({ fields, files }: PostedForm): Body {
	return {
		body: fields,
		rawBody: '',
		eventContent: JSON.stringify(fields),
		files,
	};
}

/** JSON of any type that may hold it; a URL-encoded form; else the text. */
function parseText(bytes: Buffer, text: string, contentType: string): unknown {
	const value = jsonOrText(text);
	// Services name JSON in many ways: as text, as a form, not at all.
	if (typeof value === 'object' && value !== null) return value;
	if (JSON_TYPE.test(contentType) || contentType === '') return value;
	if (URL_ENCODED.test(contentType)) return readUrlEncoded(bytes, charsetOf(contentType));
	return text;
}

/**
 * Reads a body of any type. Rejects with a BodyError where a form, or the charset, cannot be read, so that
 * its sender hears of it: nothing is taken and lost.
 * @param content its bytes, or the form that n8n has made of it
 */
export async function parseBody(content: Buffer | FormOfN8n, contentType: string): Promise<Body> {
	if (!Buffer.isBuffer(content)) return bodyOf(readFormOfN8n(content));
	if (MULTIPART.test(contentType) && content.length > 0) {
		return bodyOf(await readMultipart(content, contentType));
	}
	const text = decodeText(content, charsetOf(contentType));
	return {
		body: parseText(content, text, contentType),
		rawBody: text,
		eventContent: content,
		files: [],
	};
}

/** A file of a form. */
export interface PostedFile {
	/** Its field's name. */
	name: string;
	filename: string;
	type?: string;
	/** Its bytes, or where n8n has put it: it lies there until the response has gone out. */
	content: Buffer | { path: string };
}

/** A form as its sender meant it: a name that comes several times has a list of values. */
interface PostedForm {
	fields: Record<string, unknown>;
	files: PostedFile[];
}

/** As many fields as n8n takes from a query. */
const MAX_FIELDS = 1000;

/** Puts the values of one name together; the names stay as they are, `data[status]` too. */
function fieldsByName(fields: Array<[string, string]>): Record<string, unknown> {
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

/** Reads a URL-encoded form, `a=1&b=J%C3%B3`, whose escapes stand for bytes in its charset. Throws a BodyError. */
function readUrlEncoded(bytes: Buffer, charset?: string): Record<string, unknown> {
	// In UTF-16 an & is two bytes.
	if (decode(Buffer.from('&'), charset) !== '&') {
		throw new BodyError(400, 'A form in this charset cannot be read, send UTF-8');
	}
	const fields: Array<[string, string]> = [];
	// One more than may be, and an empty one before the first &.
	for (const pair of bytes.toString('latin1').split(/&+/, MAX_FIELDS + 2)) {
		if (pair === '' || pair === '=') continue;
		const sign = pair.indexOf('=');
		const name = sign === -1 ? pair : pair.slice(0, sign);
		const value = sign === -1 ? '' : pair.slice(sign + 1);
		fields.push([
			decodeEscapes(name.replaceAll('+', ' '), charset),
			decodeEscapes(value.replaceAll('+', ' '), charset),
		]);
	}
	if (fields.length > MAX_FIELDS) throw new BodyError(413, 'The form has too many fields');
	return fieldsByName(fields);
}

/** A part that is not sent as it is, which the platform does not undo, or not everywhere. */
const TRANSFER_ENCODING = /\r\ncontent-transfer-encoding:[ \t]*(base64|quoted-printable)/i;
/** What stands in a text for bytes that are no UTF-8, and in that of UTF-16. */
const NO_UTF8 = /[\ufffd\0]/;

/** Refuses a form whose values the platform would change: it takes everything for UTF-8. */
function refuseOtherCharset(bytes: Buffer, fields: Array<[string, string]>): void {
	// A sender may have such a character in its own data.
	if (bytes.includes('\ufffd')) return;
	if (fields.some(([name, value]) => NO_UTF8.test(name) || NO_UTF8.test(value))) {
		throw new BodyError(400, 'A multipart form in another charset than UTF-8 cannot be read');
	}
}

/** The form as the platform reads it; rejects where it is broken, or written as only some programs do. */
async function formDataOf(bytes: Buffer, contentType: string) {
	return await new Response(bytes, { headers: { 'content-type': contentType } }).formData();
}

/** The name of a file without its folder, which is the sender's own. */
const fileNameIn = (path: string) => /[^/\\]*$/.exec(path)?.[0] ?? '';

/** Reads a multipart form. Rejects with a BodyError where the platform cannot, or changes what was sent. */
async function readMultipart(bytes: Buffer, contentType: string): Promise<PostedForm> {
	if (TRANSFER_ENCODING.test(bytes.toString('latin1'))) {
		throw new BodyError(400, 'A multipart form with a transfer encoding cannot be read');
	}
	const form = await formDataOf(bytes, contentType).catch(() => undefined);
	if (form === undefined) {
		throw new BodyError(400, 'The multipart form cannot be read, send it as JSON');
	}
	const fields: Array<[string, string]> = [];
	const files: PostedFile[] = [];
	for (const [name, value] of form) {
		if (typeof value === 'string') {
			fields.push([name, value]);
			continue;
		}
		// What a browser sends for a file that nobody chose.
		if (value.name === '' && value.size === 0) continue;
		files.push({
			name,
			filename: fileNameIn(value.name) || name,
			// The platform says so of a file without a type, too. n8n then looks at its bytes and its name.
			type: value.type === 'text/plain' ? undefined : value.type,
			content: Buffer.from(await value.arrayBuffer()),
		});
	}
	if (fields.length + files.length > MAX_FIELDS) {
		throw new BodyError(413, 'The form has too many fields');
	}
	refuseOtherCharset(bytes, fields);
	return { fields: fieldsByName(fields), files };
}

/** A file as n8n's parser of forms describes it. */
interface FileOfN8n {
	filepath: string;
	newFilename: string;
	originalFilename?: string | null;
	mimetype?: string | null;
}

/** A multipart form as n8n gives it where it reads the body before the node. Its bytes are gone. */
export interface FormOfN8n {
	data: Record<string, unknown>;
	files: Record<string, FileOfN8n | FileOfN8n[]>;
}

/** The form that n8n made of a request's body; undefined where it parsed none. */
export function formOfN8n(body: unknown): FormOfN8n | undefined {
	const { data, files } = (body ?? {}) as Partial<FormOfN8n>;
	return typeof data === 'object' && typeof files === 'object' ? { data, files } : undefined;
}

/** The same form as the other ones are. */
function readFormOfN8n({ data, files }: FormOfN8n): PostedForm {
	const posted: PostedFile[] = [];
	for (const [name, value] of Object.entries(files)) {
		for (const { filepath, newFilename, originalFilename, mimetype } of [value].flat()) {
			posted.push({
				name,
				filename: originalFilename ?? newFilename,
				type: mimetype ?? undefined,
				content: { path: filepath },
			});
		}
	}
	return { fields: data, files: posted };
}

/** What a text may begin with, and the charset that it says. */
const BYTE_ORDER_MARKS = [
	{ mark: Buffer.from([0xef, 0xbb, 0xbf]), charset: 'utf-8' },
	{ mark: Buffer.from([0xff, 0xfe]), charset: 'utf-16le' },
	{ mark: Buffer.from([0xfe, 0xff]), charset: 'utf-16be' },
];

/** The decoder of a charset; undefined where the platform does not know it. */
function decoderOf(charset: string) {
	try {
		// Java writes x-windows-949.
		return new TextDecoder(charset.replace(/^x-windows-/i, 'windows-'));
	} catch {
		return undefined;
	}
}

/** The characters 80 to 9F of Windows-1252. */
const WINDOWS_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';

/** Some versions of Node.js, 20.20 among them, make control characters of the euro sign and curly quotes. */
function decodeWindows1252(bytes: Buffer): string {
	const characters = Buffer.alloc(2 * bytes.length);
	for (let at = 0; at < bytes.length; at++) {
		const byte = bytes[at]!;
		const isOther = byte >= 0x80 && byte <= 0x9f;
		const character = isOther ? WINDOWS_1252.charCodeAt(byte - 0x80) : byte;
		characters[2 * at] = character & 0xff;
		characters[2 * at + 1] = character >> 8;
	}
	return characters.toString('utf16le');
}

/** The text of bytes that are UTF-8; undefined where they are not. */
function decodeUtf8(bytes: Buffer): string | undefined {
	try {
		return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
	} catch {
		return undefined;
	}
}

/** The text of bytes in a charset, by default UTF-8. Throws a BodyError where the platform cannot read it. */
export function decode(bytes: Buffer, charset = 'utf-8'): string {
	const decoder = decoderOf(charset);
	if (decoder?.encoding === 'windows-1252') return decodeWindows1252(bytes);
	if (decoder !== undefined) return decoder.decode(bytes);
	// Of a charset that nobody knows, ASCII is the same almost anywhere.
	const text = decodeUtf8(bytes);
	if (text !== undefined) return text;
	const name = JSON.stringify(charset.slice(0, 40));
	throw new BodyError(400, `The charset ${name} cannot be read, send UTF-8`);
}

/** The text of a whole body: as its byte order mark says, else as its charset does. */
function decodeText(bytes: Buffer, charset: string | undefined): string {
	const marked = BYTE_ORDER_MARKS.find(({ mark }) => bytes.subarray(0, mark.length).equals(mark));
	return decode(bytes, marked?.charset ?? charset);
}

const PERCENT = 0x25;

/** The value of a hexadecimal digit by its ASCII code; -1 for other characters. */
function digitOf(code = 0): number {
	if (code >= 0x30 && code <= 0x39) return code - 0x30;
	// This bit makes a capital letter small. Then "a", 0x61, stands for 10.
	const small = code | 0x20;
	return small >= 0x61 && small <= 0x66 ? small - 0x61 + 10 : -1;
}

/**
 * The text of `J%C3%B3`, where each character or escape stands for one byte of the charset. URLSearchParams
 * knows UTF-8 only, and reads `Jo%E3o` as a broken one.
 */
function decodeEscapes(escaped: string, charset?: string): string {
	const from = Buffer.from(escaped, 'latin1');
	const bytes = Buffer.alloc(from.length);
	let length = 0;
	for (let at = 0; at < from.length; at++) {
		let byte = from[at]!;
		const first = byte === PERCENT ? digitOf(from[at + 1]) : -1;
		const second = first >= 0 ? digitOf(from[at + 2]) : -1;
		if (second >= 0) {
			byte = 16 * first + second;
			at += 2;
		}
		bytes[length++] = byte;
	}
	return decode(bytes.subarray(0, length), charset);
}

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

/** What stands between the parts of a form of this type; "" where the type does not say it. */
function boundaryOf(contentType: string): string {
	const [, quoted, plain] = BOUNDARY.exec(contentType) ?? [];
	return quoted ?? plain ?? '';
}

/** Charsets in which one byte is one character, so that no other quote or brace than the signed one counts. */
const ONE_BYTE =
	/^(utf-?8|(us-)?ascii|latin-?\d|iso-?8859-\d{1,2}|windows-(874|125\d)|koi8-[ru]|macintosh)$/i;

/** Whether a body is nothing but a URL-encoded form: a text with one inside has spaces or line breaks. */
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
