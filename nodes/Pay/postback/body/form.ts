import { BodyError } from './bodyError';
import { decode, decodeEscapes } from './charset';

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
export interface PostedForm {
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
export function readUrlEncoded(bytes: Buffer, charset?: string): Record<string, unknown> {
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
export async function readMultipart(bytes: Buffer, contentType: string): Promise<PostedForm> {
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
