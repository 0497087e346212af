import type { PostedFile, PostedForm } from './form';

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
export function readFormOfN8n({ data, files }: FormOfN8n): PostedForm {
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
