// Not @remix-run/multipart-parser: it loses fields with folded headers, and takes "--Bx" for the boundary "--B".
import { BodyError } from './bodyError';
import { MAX_FIELDS } from './brackets';
import { unescapeBytes } from './charset';
import { decodeHeaders, parametersOf, parseHeaders } from './header';

/** A file of a multipart form. */
export interface PostedFile {
	/** Its field's name; with a number behind it where a field has more than one file. */
	name: string;
	filename: string;
	type?: string;
	bytes: Buffer;
}

/** How long the headers of one part may be, in bytes. */
const MAX_HEADERS = 4096;
/** How long a boundary may be (RFC 2046, 5.1.1), in characters: the search for a longer one is slow. */
const MAX_BOUNDARY = 70;
/** The types of parts that are values, not files: none, text, JSON, XML. */
export const TEXT_TYPE = /^($|text\/|[^;]*[/+](json|xml)\b)/i;

const DASHES = Buffer.from('--');
const LINE_BREAK = Buffer.from('\r\n');
const BLANK_LINE = Buffer.from('\r\n\r\n');

function boundaryOf(contentType: string): string {
	const boundary = parametersOf(contentType).get('boundary') ?? '';
	if (boundary === '') throw new BodyError(400, 'The multipart form has no boundary');
	if (boundary.length <= MAX_BOUNDARY) return boundary;
	throw new BodyError(
		400,
		`The multipart form has a boundary of more than ${MAX_BOUNDARY} characters`,
	);
}

/** Whether two bytes stand at a place. */
const standsAt = (bytes: Buffer, at: number, two: Buffer) =>
	bytes[at] === two[0] && bytes[at + 1] === two[1];

/** Where the first character stands that is no space and no tab. */
function skipBlanks(bytes: Buffer, from: number): number {
	let at = from;
	while (bytes[at] === 0x20 || bytes[at] === 0x09) at++;
	return at;
}

/** Splits a form at its boundary; throws where its end is missing. Each part begins with a line break. */
function partsOf(body: Buffer, boundary: string): Buffer[] {
	const bytes = Buffer.concat([LINE_BREAK, body]);
	const delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1');
	const parts: Buffer[] = [];
	// Undefined before the first delimiter: what stands there is no part.
	let partStart: number | undefined;
	let at = bytes.indexOf(delimiter);
	while (at !== -1) {
		const behind = at + delimiter.length;
		const lineEnd = skipBlanks(bytes, behind);
		const isLast = standsAt(bytes, behind, DASHES);
		// Else a longer boundary begins with this one, as "--Bx" does with "--B".
		if (isLast || standsAt(bytes, lineEnd, LINE_BREAK)) {
			if (partStart !== undefined) parts.push(bytes.subarray(partStart, at));
			if (isLast) return parts;
			if (parts.length > MAX_FIELDS) throw new BodyError(413, 'The form has too many parts');
			partStart = lineEnd;
		}
		at = bytes.indexOf(delimiter, lineEnd);
	}
	throw new BodyError(400, 'The multipart form has no end');
}

/** Lines of quoted-printable that end with = go on in the next one. */
const withoutSoftBreaks = (bytes: Buffer) =>
	Buffer.from(bytes.toString('latin1').replaceAll('=\r\n', ''), 'latin1');

/** The bytes of a part, which Python's own email package sends in one of these codings (RFC 2045, 6). */
function decodeTransfer(bytes: Buffer, encoding = ''): Buffer {
	switch (encoding.toLowerCase()) {
		case 'base64':
			return Buffer.from(bytes.toString('latin1'), 'base64');
		case 'quoted-printable':
			return unescapeBytes(withoutSoftBreaks(bytes), '=');
		default:
			return bytes;
	}
}

/** The name of a file without its folder, which is the sender's own. */
function fileNameIn(path: string): string {
	const name = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
	return /^\.*$/.test(name) ? '' : name;
}

/** One part, taken apart. */
interface Part {
	/** Empty where it has none. */
	name: string;
	/** The file's name as it was sent. */
	path: string | undefined;
	type: string;
	content: Buffer;
}

function readPart(bytes: Buffer): Part {
	const end = bytes.subarray(0, MAX_HEADERS + BLANK_LINE.length).indexOf(BLANK_LINE);
	if (end === -1) {
		throw new BodyError(400, 'The multipart form has a part with broken headers');
	}
	const headers = parseHeaders(decodeHeaders(bytes.subarray(0, end)));
	const parameters = parametersOf(headers.get('content-disposition') ?? '');
	return {
		name: parameters.get('name') ?? '',
		path: parameters.get('filename'),
		type: headers.get('content-type') ?? '',
		content: decodeTransfer(
			bytes.subarray(end + BLANK_LINE.length),
			headers.get('content-transfer-encoding'),
		),
	};
}

/** Gives the files of a field that has several their numbers. */
export function numberFiles<File extends { name: string }>(files: File[]): File[] {
	const totals = new Map<string, number>();
	for (const { name } of files) totals.set(name, (totals.get(name) ?? 0) + 1);
	const counts = new Map<string, number>();
	const numbered: File[] = [];
	for (const file of files) {
		const count = counts.get(file.name) ?? 0;
		counts.set(file.name, count + 1);
		const isOnly = totals.get(file.name) === 1;
		numbered.push(isOnly ? file : { ...file, name: `${file.name}${count}` });
	}
	return numbered;
}

/**
 * Reads a multipart form. A part with a file name is a file, and one whose type is not text.
 * @param valueOf what the bytes of a field mean, by its type
 */
export function readMultipart(
	bytes: Buffer,
	contentType: string,
	valueOf: (bytes: Buffer, type: string) => unknown,
): { fields: Array<[string, unknown]>; files: PostedFile[] } {
	const fields: Array<[string, unknown]> = [];
	const files: PostedFile[] = [];
	if (bytes.length === 0) return { fields, files };
	for (const part of partsOf(bytes, boundaryOf(contentType))) {
		const { name, path, type, content } = readPart(part);
		// What a browser sends for a file that nobody chose; and a part that is nothing at all.
		if (content.length === 0 && (path === '' || name === '')) continue;
		if (path === undefined && TEXT_TYPE.test(type)) {
			fields.push([name, valueOf(content, type)]);
			continue;
		}
		const filename = fileNameIn(path ?? '') || name || 'file';
		const file: PostedFile = { name: name || 'file', filename, bytes: content };
		if (type !== '') file.type = type;
		files.push(file);
	}
	return { fields, files: numberFiles(files) };
}
