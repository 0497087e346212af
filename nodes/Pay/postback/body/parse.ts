import { jsonOrText } from '../../json';
import { decodeText } from './charset';
import { charsetOf, JSON_TYPE, MULTIPART, URL_ENCODED } from './contentType';
import { readMultipart, readUrlEncoded, type PostedForm, type PostedFile } from './form';
import { readFormOfN8n, type FormOfN8n } from './formOfN8n';

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
