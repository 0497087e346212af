import { nestFields } from './brackets';
import { numberFiles, TEXT_TYPE } from './multipart';

/** A file of a form that n8n has parsed: it lies on n8n's disk until the response has gone out. */
export interface FileOnDisk {
	name: string;
	filename: string;
	type?: string;
	path: string;
}

/** A file as n8n's parser of forms describes it. */
interface FileOfN8n {
	filepath: string;
	newFilename: string;
	originalFilename?: string | null;
	mimetype?: string | null;
}

/** A multipart form as n8n gives it where it reads the body before the node. */
export interface ParsedForm {
	data: Record<string, unknown>;
	files: Record<string, FileOfN8n | FileOfN8n[]>;
}

/** The form that n8n made of a request's body; undefined where it parsed none. */
export function parsedFormOf(body: unknown): ParsedForm | undefined {
	const { data, files } = (body ?? {}) as Partial<ParsedForm>;
	return typeof data === 'object' && typeof files === 'object' ? { data, files } : undefined;
}

/** What n8n takes for files: all parts that have a type, even without a file's name. */
function filesOf({ files }: ParsedForm): Array<[string, FileOfN8n]> {
	return Object.entries(files).flatMap(([name, value]) =>
		[value].flat().map((file): [string, FileOfN8n] => [name, file]),
	);
}

const isField = ({ originalFilename, mimetype }: FileOfN8n) =>
	!originalFilename && TEXT_TYPE.test(mimetype ?? '');

/**
 * The form, with a field for each part that n8n takes for a file although it is a value: .NET sends every
 * part with a type.
 * @param read gives what a part on n8n's disk holds
 */
export async function withTextParts(
	form: ParsedForm,
	read: (path: string, type: string) => Promise<unknown>,
): Promise<ParsedForm> {
	const data = new Map<string, unknown>(Object.entries(form.data));
	for (const [name, file] of filesOf(form)) {
		if (!isField(file)) continue;
		const value = await read(file.filepath, file.mimetype ?? '');
		data.set(name, data.has(name) ? [data.get(name), value].flat() : value);
	}
	return { ...form, data: Object.fromEntries(data) };
}

/** The fields and files of a form that n8n parsed. Throws where it has too many fields. */
export function readParsedForm(form: ParsedForm): {
	body: Record<string, unknown>;
	files: FileOnDisk[];
} {
	const fields: Array<[string, unknown]> = [];
	for (const [name, value] of Object.entries(form.data)) {
		for (const each of Array.isArray(value) ? value : [value]) fields.push([name, each]);
	}
	const found: FileOnDisk[] = [];
	for (const [name, each] of filesOf(form)) {
		if (isField(each)) continue;
		const { filepath: path, originalFilename, newFilename, mimetype } = each;
		const file: FileOnDisk = { name, filename: originalFilename ?? newFilename, path };
		if (mimetype) file.type = mimetype;
		found.push(file);
	}
	return { body: nestFields(fields), files: numberFiles(found) };
}
