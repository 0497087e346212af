import type { IBinaryData, IWebhookFunctions } from 'n8n-workflow';
import type { PostedFile } from './body/multipart';
import { parseBody } from './body/parse';
import { parsedFormOf, withTextParts, type FileOnDisk, type ParsedForm } from './body/parsedForm';
import { readBytes, type RawRequest } from './body/readBytes';
import { parsePostback, type Postback, type PostbackContext } from './postback';

/** The method of a postback is not documented (section 6), so all that carry one are taken. */
export const POSTBACK_METHODS = 'GET,POST,PUT,PATCH,DELETE';

/** The headers of a request, by their names in small letters. */
export const headersOf = (context: IWebhookFunctions) =>
	context.getHeaderData() as Record<string, unknown>;

/** Hands n8n the files of a form that it has parsed, and reads them. Rejects where one cannot be read. */
export async function loadFiles(
	{ helpers, nodeHelpers }: IWebhookFunctions,
	files: FileOnDisk[],
): Promise<Array<PostedFile & { data: IBinaryData }>> {
	const loaded: Array<PostedFile & { data: IBinaryData }> = [];
	for (const { path, ...file } of files) {
		const data = await nodeHelpers.copyBinaryFile(path, file.filename, file.type);
		const bytes =
			data.id === undefined
				? Buffer.from(data.data, 'base64')
				: await helpers.binaryToBuffer(await helpers.getBinaryStream(data.id));
		loaded.push({ ...file, bytes, data });
	}
	return loaded;
}

/**
 * Reads the body of the request that called a webhook. With `LEAVE_BODY` among the options n8n has not
 * read it; else the bytes are there, or the multipart form that n8n made of them.
 * Only after the URL's proof, where one is asked for: an unproven body may be anything, or never end.
 * @param bodyTime how long the body may take, in milliseconds
 */
export async function readContent(
	context: IWebhookFunctions,
	bodyTime: number,
): Promise<Buffer | ParsedForm> {
	const request = context.getRequestObject() as RawRequest;
	if (request.rawBody === undefined) {
		const form = parsedFormOf(request.body);
		if (form !== undefined) {
			return await withTextParts(form, async (path, type) => {
				const [part] = await loadFiles(context, [{ name: '', filename: 'part', type, path }]);
				return part === undefined ? undefined : parseBody(part.bytes, type).body;
			});
		}
	}
	const encoding = String(headersOf(context)['content-encoding'] ?? '');
	return await readBytes(request, encoding, bodyTime);
}

/** Reads a postback from its request and its body. */
export function readPostback(
	context: IWebhookFunctions,
	content: Buffer | ParsedForm,
	known: PostbackContext,
): Postback {
	const { method } = context.getRequestObject();
	const query = context.getQueryData() as Record<string, unknown>;
	return parsePostback({ method, query, headers: headersOf(context) }, content, known);
}
