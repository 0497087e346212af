/** A file of a multipart form. */
export interface PostedFile {
	/** Its field's name; with a number behind it where a field has more than one file. */
	name: string;
	filename: string;
	type?: string;
	bytes: Buffer;
}

/** Why a body is not taken, with the status that its sender gets. */
export class BodyError extends Error {
	override readonly name = 'BodyError';
	constructor(
		readonly statusCode: number,
		message: string,
	) {
		super(message);
	}
}

/** As many fields as n8n takes from a query; parts of a multipart form too. */
export const MAX_FIELDS = 1000;
/** The bounds of n8n's query: five levels below a name, and the highest index of a list with gaps. */
const BRACKETED = /^([^[\]]+)((?:\[[^[\]]*\]){1,5})$/;
const MAX_INDEX = 20;
/** Of one part of a multipart form, in bytes. */
const MAX_HEADERS = 4096;

type Tree = Map<string, unknown>;

/** The names in `data[status]`; one where brackets mean nothing. */
function namesIn(name: string): string[] {
	const [, first, inner = ''] = BRACKETED.exec(name) ?? [];
	const names = [...inner.matchAll(/\[([^[\]]*)\]/g)].map(([, found = '']) => found);
	return first === undefined ? [name] : [first, ...names];
}

/** Whether there was a place: a name stands for a value or for an object. */
function put(tree: Tree, [first = '', ...rest]: string[], value: unknown): boolean {
	const name = first === '' ? String(tree.size) : first;
	const before = tree.get(name);
	if (rest.length > 0) {
		const below = before ?? new Map<string, unknown>();
		return below instanceof Map && put(below, rest, value) && Boolean(tree.set(name, below));
	}
	if (before instanceof Map) return false;
	tree.set(name, before === undefined ? value : [before, value].flat());
	return true;
}

/** A list where all names are indexes. */
function plainOf(value: unknown): unknown {
	if (!(value instanceof Map)) return value;
	const entries = [...(value as Tree)].map(([name, member]) => [name, plainOf(member)] as const);
	const highest = Math.max(MAX_INDEX, entries.length - 1);
	const isList = entries.every(([name]) => /^(0|[1-9]\d*)$/.test(name) && Number(name) <= highest);
	if (!isList) return Object.fromEntries(entries);
	return entries.sort(([a], [b]) => Number(a) - Number(b)).map(([, member]) => member);
}

/** The fields of a form as n8n gives those of a query: `data[status]` is nested, repeated ones are lists. */
export function nestFields(fields: Array<readonly [string, unknown]>): Record<string, unknown> {
	if (fields.length > MAX_FIELDS) throw new BodyError(413, 'The form has too many fields');
	const top: Tree = new Map();
	for (const [name, value] of fields) {
		if (name !== '' && !put(top, namesIn(name), value)) put(top, [name], value);
	}
	return Object.fromEntries([...top].map(([name, value]) => [name, plainOf(value)]));
}

/** A header's text: senders write UTF-8, or the bytes of their own charset. */
function headerOf(bytes: Buffer): string {
	try {
		return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
	} catch {
		return new TextDecoder('windows-1252').decode(bytes);
	}
}

/** The parameters of a Content-Disposition, `filename*` decoded (RFC 7578 and 8187). */
function parametersOf(header: string): Map<string, string> {
	const found = header.matchAll(/;\s*([\w*-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;"\s]*))/gs);
	return new Map(
		[...found].map(([, name = '', quoted, plain = '']) => {
			const value = quoted?.replace(/\\(["\\])/g, '$1') ?? plain;
			const [, coded] = /^utf-8'[^']*'(.*)$/is.exec(value) ?? [];
			if (!name.endsWith('*') || coded === undefined) return [name.toLowerCase(), value];
			const bytes = coded.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
				String.fromCharCode(parseInt(hex, 16)),
			);
			return [name.slice(0, -1).toLowerCase(), headerOf(Buffer.from(bytes, 'latin1'))];
		}),
	);
}

const headerIn = (head: string, name: string) =>
	new RegExp(`(?:^|[\r\n])${name}:([^\r\n]*)`, 'i').exec(head)?.[1]?.trim() ?? '';

/** Splits a form at its boundary; throws where its end is missing. One byte is one letter. */
function partsOf(bytes: Buffer, contentType: string): string[] {
	const [, quoted, plain] = /;\s*boundary\s*=\s*(?:"([^"]+)"|([^\s;"]+))/i.exec(contentType) ?? [];
	const boundary = (quoted ?? plain)?.replace(/\W/g, '\\$&');
	if (boundary === undefined) throw new BodyError(400, 'The multipart form has no boundary');
	const delimiter = new RegExp(`\r\n--${boundary}(?=--|[ \\t]*\r\n)`);
	const [, ...parts] = `\r\n${bytes.toString('latin1')}`.split(delimiter, MAX_FIELDS + 3);
	const end = parts.findIndex((part) => part.startsWith('--'));
	if (parts.length > MAX_FIELDS + 1) throw new BodyError(413, 'The form has too many parts');
	if (end === -1) throw new BodyError(400, 'The multipart form has no end');
	return parts.slice(0, end);
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
	for (const part of partsOf(bytes, contentType)) {
		const end = part.indexOf('\r\n\r\n');
		if (end === -1 || end > MAX_HEADERS) {
			throw new BodyError(400, 'The multipart form has a part with broken headers');
		}
		const head = headerOf(Buffer.from(part.slice(0, end), 'latin1'));
		const encoding = headerIn(head, 'content-transfer-encoding').toLowerCase();
		const text = part.slice(end + 4);
		const content = Buffer.from(text, encoding === 'base64' ? 'base64' : 'latin1');
		const parameters = parametersOf(headerIn(head, 'content-disposition'));
		const name = parameters.get('name');
		const path = parameters.get('filename');
		const type = headerIn(head, 'content-type');
		// What a browser sends for a file that nobody chose.
		if (name === undefined || (path === '' && content.length === 0)) continue;
		if (path === undefined && /^($|text\/|[^;]*[/+](json|xml)\b)/i.test(type)) {
			fields.push([name, valueOf(content, type)]);
		} else {
			// Its folder is the sender's own.
			const filename = path?.replace(/^.*[\\/]/s, '').replace(/^\.*$/, '') || name;
			const file: PostedFile = { name, filename, bytes: content };
			if (type !== '') file.type = type;
			files.push(file);
		}
	}
	return { fields, files: numberFiles(files) };
}

function numberFiles(files: PostedFile[]): PostedFile[] {
	const counts = new Map<string, number>();
	return files.map((file) => {
		if (files.filter(({ name }) => name === file.name).length === 1) return file;
		const count = counts.get(file.name) ?? 0;
		counts.set(file.name, count + 1);
		return { ...file, name: `${file.name}${count}` };
	});
}
