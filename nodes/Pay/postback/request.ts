import type { IWebhookFunctions } from 'n8n-workflow';
import { formOfN8n, type FormOfN8n } from './body/formOfN8n';
import { readBytes, type RawRequest } from './body/readBytes';
import { parsePostback, type Postback, type PostbackContext } from './postback';

/** The method of a postback is not documented (section 6), so all that carry one are taken. */
export const POSTBACK_METHODS = 'GET,POST,PUT,PATCH,DELETE';

/** The headers of a request, by their names in small letters. */
export const headersOf = (context: IWebhookFunctions) =>
	context.getHeaderData() as Record<string, unknown>;

/**
 * Reads the body of the request that called a webhook. With `LEAVE_BODY` among the options n8n has not
 * read it; else the bytes are there, or the multipart form that n8n made of them.
 * Only after the URL's proof, where one is asked for: an unproven body may be anything, or never end.
 * @param bodyTime how long the body may take, in milliseconds
 */
export async function readContent(
	context: IWebhookFunctions,
	bodyTime: number,
): Promise<Buffer | FormOfN8n> {
	const request = context.getRequestObject() as RawRequest;
	const form = request.rawBody === undefined ? formOfN8n(request.body) : undefined;
	if (form !== undefined) return form;
	const encoding = String(headersOf(context)['content-encoding'] ?? '');
	return await readBytes(request, encoding, bodyTime);
}

/** Reads a postback from its request and its body. Rejects where the body cannot be read. */
export async function readPostback(
	context: IWebhookFunctions,
	content: Buffer | FormOfN8n,
	known: PostbackContext,
): Promise<Postback> {
	const { method } = context.getRequestObject();
	const query = context.getQueryData() as Record<string, unknown>;
	return await parsePostback({ method, query, headers: headersOf(context) }, content, known);
}
