import { createHash } from 'crypto';
import type { IDataObject } from 'n8n-workflow';
import { parseBody, type Body } from './body/parse';
import type { ParsedForm } from './body/parsedForm';
import { typeOfSigned } from './body/signedType';
import { hideSecrets, withoutProof, type Reference } from './proof';

/** A request of the service about a charge or payment. Its method and payload are not documented (section 6). */
export interface Postback extends Body {
	method: string;
	query: Record<string, unknown>;
	headers: Record<string, unknown>;
	/** Whether the service signed the body: then nothing else of the request says what happened. */
	isSignedByService: boolean;
}

/** What is known of a request before its body is read. */
export interface PostbackContext {
	/** n8n's own token, which a request to a resume URL holds. */
	resumeToken?: string;
	/** Whether the service's own signature was verified. */
	isSignedByService: boolean;
}

/** Headers that prove who the sender is to others; they have no business in an execution. */
const CREDENTIAL_HEADERS = new Set(['authorization', 'cookie', 'proxy-authorization']);

/** What services call the fixed secret that they send with each notification. */
const SECRET_HEADER = /(token|secret|hmac|password|(api|auth|access|subscription)[-_]?key)$/i;
/** Not a token: that of a query may say which transaction it is. */
const SECRET_PARAMETER = /(secret|hmac|password|(api|auth|access)[-_]?key)$/i;

/** The same headers or query with `***` in place of such a secret. */
function withoutSecrets(members: Record<string, unknown>, secret: RegExp): Record<string, unknown> {
	const shown = Object.entries(members).map(([name, value]) => {
		return [name, secret.test(name) ? '***' : value] as const;
	});
	return Object.fromEntries(shown);
}

/**
 * Reads any method and any payload. The proof and n8n's token, with which a reader of the execution
 * could call again, are left out or replaced by `***`. Throws for a multipart form that is broken.
 * @param content the bytes of its body, or the form that n8n has made of them
 */
export function parsePostback(
	request: Pick<Postback, 'method' | 'query' | 'headers'>,
	content: Buffer | ParsedForm,
	{ resumeToken, isSignedByService }: PostbackContext,
): Postback {
	const { method, headers } = request;
	const sentType = String(headers['content-type'] ?? '').trim();
	const isBytes = Buffer.isBuffer(content);
	const contentType = isSignedByService && isBytes ? typeOfSigned(content, sentType) : sentType;
	const { body, rawBody, eventContent, files, filesOnDisk } = parseBody(content, contentType);
	const { query, secret } = withoutProof(request.query);
	if (query.signature === resumeToken) delete query.signature;
	const shownHeaders = Object.entries(headers).filter(([name]) => !CREDENTIAL_HEADERS.has(name));
	const secrets = [secret, resumeToken].filter((each) => each !== undefined);
	const unhidden = {
		query: withoutSecrets(query, SECRET_PARAMETER),
		headers: withoutSecrets(Object.fromEntries(shownHeaders), SECRET_HEADER),
		body,
		rawBody,
	};
	const shown = hideSecrets(unhidden, secrets) as typeof unhidden;
	return {
		method,
		isSignedByService,
		query: shown.query,
		headers: shown.headers,
		body: shown.body,
		rawBody: shown.rawBody,
		eventContent,
		files,
		filesOnDisk,
	};
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/** A postback as nodes give it. `eventId` is a hash of the request: what differs in one byte has another. */
export function toJson(
	{ method, query, headers, body, rawBody, eventContent, files }: Postback,
	about: { reference: Reference | null; state?: string },
): IDataObject {
	const sorted = Object.entries(query).sort(([a], [b]) => (a < b ? -1 : 1));
	const hashes = files.map(({ name, bytes }) => [name, sha256(bytes)]);
	const eventId = createHash('sha256')
		.update(JSON.stringify([method, about.reference, sorted, hashes]))
		.update('\n')
		.update(eventContent)
		.digest('hex');
	const receivedAt = new Date().toISOString();
	return { ...about, body, eventId, receivedAt, method, query, headers, rawBody } as IDataObject;
}
