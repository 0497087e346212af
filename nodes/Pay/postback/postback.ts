import { createHash } from 'crypto';
import type { IDataObject, IWebhookFunctions } from 'n8n-workflow';
import { CREDENTIAL_HEADERS, SECRET_HEADER, SECRET_PARAMETER } from '../service/redact';
import type { Claimed, JudgedState } from '../service/state';
import {
	type Body,
	formOfN8n,
	type FormOfN8n,
	parseBody,
	type RawRequest,
	readBytes,
	typeOfSigned,
} from './body';
import { hideSecrets, type Reference, withoutProof } from './proof';

/** A request of the service about a charge or payment. Its method and payload are not documented (section 6). */
export interface Postback extends Body {
	method: string;
	query: Record<string, unknown>;
	headers: Record<string, unknown>;
	/** True if the service signed the body: then nothing else in the request says what happened. */
	isSignedByService: boolean;
	/** Except these headers, which it signed too; in small letters. */
	signedHeaders: string[];
}

/** What is known of a request before its body is read. */
export interface PostbackContext {
	/** n8n's own token, which a request to a resume URL holds. */
	resumeToken?: string;
	/** Whether the service's own signature was verified, and of which headers beside the body. */
	isSignedByService: boolean;
	signedHeaders?: string[];
	/** The headers that prove who sent it, in small letters, and the secrets that may stand in them. */
	provingHeaders?: string[];
	secrets?: string[];
}

/** The same headers or query with `***` in place of such a secret. */
function withoutSecrets(members: Record<string, unknown>, secret: RegExp): Record<string, unknown> {
	const shown = Object.entries(members).map(([name, value]) => {
		return [name, secret.test(name) ? '***' : value] as const;
	});
	return Object.fromEntries(shown);
}

/**
 * Reads any method and any payload. The proof and n8n's token, with which a reader of the execution
 * could call again, are left out or replaced by `***`. Rejects where the body cannot be read.
 * @param content the bytes of its body, or the form that n8n has made of them
 */
export async function parsePostback(
	request: Pick<Postback, 'method' | 'query' | 'headers'>,
	content: Buffer | FormOfN8n,
	{
		resumeToken,
		isSignedByService,
		signedHeaders = [],
		provingHeaders = [],
		secrets = [],
	}: PostbackContext,
): Promise<Postback> {
	const { method, headers } = request;
	const sentType = String(headers['content-type'] ?? '').trim();
	const isBytes = Buffer.isBuffer(content);
	const contentType = isSignedByService && isBytes ? typeOfSigned(content, sentType) : sentType;
	const { body, rawBody, eventContent, hasFiles } = await parseBody(content, contentType);
	const { query, secret } = withoutProof(request.query);
	if (query.signature === resumeToken) delete query.signature;
	const shownHeaders = Object.entries(headers).filter(([name]) => !CREDENTIAL_HEADERS.has(name));
	const hidden = [secret, resumeToken, ...secrets].filter((each) => each !== undefined);
	const named = withoutSecrets(Object.fromEntries(shownHeaders), SECRET_HEADER);
	// By its name: its secret may be so short that a search for it would replace words.
	for (const name of provingHeaders) {
		if (Object.hasOwn(named, name)) named[name] = '***';
	}
	const unhidden = {
		query: withoutSecrets(query, SECRET_PARAMETER),
		headers: named,
		body,
		rawBody,
	};
	const shown = hideSecrets(unhidden, hidden) as typeof unhidden;
	return {
		method,
		isSignedByService,
		signedHeaders,
		query: shown.query,
		headers: shown.headers,
		body: shown.body,
		rawBody: shown.rawBody,
		eventContent,
		hasFiles,
	};
}

/** What is known of a postback beyond its own content. */
interface AboutPostback {
	reference: Reference | null;
	/** What it says of itself, where nothing proves what it is about. */
	claimed?: Claimed;
	verdict?: JudgedState;
}

/** The same, as an item has it. */
export function aboutInJson({ reference, claimed, verdict }: AboutPostback): IDataObject {
	const about: Record<string, unknown> = { reference };
	if (claimed !== undefined) about.claimed = claimed;
	if (verdict !== undefined) about.state = verdict.state;
	if (verdict?.reason !== undefined) about.stateReason = verdict.reason;
	return about as IDataObject;
}

/**
 * A postback as nodes give it. `eventId` is a hash of the request: what differs in one byte has another. Of a request
 * that the service signed only the body counts: whoever repeats it can change its method and query, and many
 * services sign a new time or nonce at each try.
 */
export function toJson(
	{ method, query, headers, body, rawBody, eventContent, isSignedByService }: Postback,
	{ reference, verdict, claimed }: AboutPostback,
): IDataObject {
	const sorted = Object.entries(query).sort(([a], [b]) => (a < b ? -1 : 1));
	const hashed = isSignedByService ? [reference] : [method, reference, sorted];
	const eventId = createHash('sha256')
		.update(JSON.stringify(hashed))
		.update('\n')
		.update(eventContent)
		.digest('hex');
	const receivedAt = new Date().toISOString();
	const about = aboutInJson({ reference, claimed, verdict });
	return { ...about, body, eventId, receivedAt, method, query, headers, rawBody } as IDataObject;
}

/** The method of a postback is not documented (section 6), so all that carry one are taken. */
export const POSTBACK_METHODS = 'GET,POST,PUT,PATCH,DELETE';

/** The headers of a request, by their names in small letters. */
export const headersOf = (context: IWebhookFunctions) =>
	context.getHeaderData() as Record<string, unknown>;

/**
 * Reads the body of the request that called a webhook. With `BODY_UNREAD` among the options n8n has not
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
