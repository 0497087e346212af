import { createHash } from 'crypto';
import type { IDataObject } from 'n8n-workflow';
import { isTooDeep, jsonOrText } from '../json';
import { hideSecrets, withoutProof, type Reference } from './proof';
import { parseXmlBody } from './xml';

/** A request of the service about a charge or payment. Its method and payload are not documented (section 6). */
export interface Postback {
	method: string;
	query: Record<string, unknown>;
	headers: Record<string, unknown>;
	body: unknown;
	/** The body's text as it came; empty for a multipart form. */
	rawBody: string;
	/** What makes it this one and no other, files apart. */
	content: string | Buffer;
}

/** Headers that prove who the sender is to others; they have no business in an execution. */
const CREDENTIAL_HEADERS = new Set(['authorization', 'cookie', 'proxy-authorization']);
const BYTE_ORDER_MARK = /^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)/;

const MULTIPART = /^multipart\/form-data\b/i;
const FORM = /^application\/x-www-form-urlencoded\b/i;
const XML = /^[^;]+[/+]xml\s*(;|$)/i;
const JSON_TYPE = /^([^;]+[/+-])?json\s*(;|$)/i;

const contentTypeOf = (headers: Record<string, unknown>) =>
	String(headers['content-type'] ?? '').trim();

/** Whether n8n reads the body itself and leaves no bytes of it. */
export function isMultipartForm(headers: Record<string, unknown>): boolean {
	return MULTIPART.test(contentTypeOf(headers));
}

/** The text of a body: as its byte order mark says, else as the charset of its type does. */
function textOf(bytes: Buffer, contentType: string): string {
	const [, named] = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(contentType) ?? [];
	const [mark] = BYTE_ORDER_MARK.exec(bytes.toString('latin1', 0, 3)) ?? [];
	const byMark = { '\xef\xbb\xbf': 'utf-8', '\xff\xfe': 'utf-16le', '\xfe\xff': 'utf-16be' };
	const charset = mark === undefined ? named : byMark[mark as keyof typeof byMark];
	try {
		return new TextDecoder(charset ?? 'utf-8').decode(bytes);
	} catch {
		// A charset that nobody knows, or that only its sender does.
		return bytes.toString('utf8');
	}
}

/** Repeated names become lists, as in a query. */
function parseForm(text: string): Record<string, unknown> {
	const fields = new URLSearchParams(text);
	return Object.fromEntries(
		[...new Set(fields.keys())].map((name) => {
			const values = fields.getAll(name);
			return [name, values.length === 1 ? values[0] : values];
		}),
	);
}

function parseBody(text: string, contentType: string): unknown {
	const value = jsonOrText(text);
	// Services name JSON in many ways: as text, as a form, not at all.
	if (typeof value === 'object' && value !== null) return value;
	if (JSON_TYPE.test(contentType) || contentType === '') return value;
	if (FORM.test(contentType)) return parseForm(text);
	const xml = XML.test(contentType) ? parseXmlBody(text) : undefined;
	return xml === undefined || isTooDeep(xml) ? text : xml;
}

/** Whether a request says that it brings bytes (RFC 9112, section 6). */
const hasBody = (headers: Record<string, unknown>) =>
	Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined;

/** The fields of a multipart form, which n8n has read. */
function readMultipart(headers: Record<string, unknown>, parsedBody: unknown) {
	const { data, files } = (parsedBody ?? {}) as { data?: object; files?: object };
	const isRead = typeof data === 'object' && data !== null;
	// n8n 1 reads nothing of a form with another boundary, a gzipped one, or an odd file in it.
	if (!isRead || (Object.keys({ ...data, ...files }).length === 0 && hasBody(headers))) {
		throw new Error('The multipart form could not be read');
	}
	return { body: { ...data }, rawBody: '', content: JSON.stringify(data) };
}

function readBody(headers: Record<string, unknown>, bytes: Buffer) {
	const contentType = contentTypeOf(headers);
	const rawBody = textOf(bytes, contentType);
	return { body: parseBody(rawBody, contentType), rawBody, content: bytes };
}

/**
 * Reads any method and any payload. The proof and n8n's token, with which a reader of the execution
 * could call again, are left out or replaced by `***`. Throws for a form that n8n could not read.
 * @param parsedBody what n8n parsed; used for multipart forms only
 */
export function parsePostback(
	{ method, query: given, headers }: Pick<Postback, 'method' | 'query' | 'headers'>,
	bytes: Buffer,
	parsedBody?: unknown,
	resumeToken?: string,
): Postback {
	const { body, rawBody, content } = isMultipartForm(headers)
		? readMultipart(headers, parsedBody)
		: readBody(headers, bytes);
	const { query, mac } = withoutProof(given);
	if (query.signature === resumeToken) delete query.signature;
	const kept = Object.entries(headers).filter(([name]) => !CREDENTIAL_HEADERS.has(name));
	const secrets = [mac, resumeToken].filter((secret) => secret !== undefined);
	const received = { query, headers: Object.fromEntries(kept), body, rawBody };
	return { method, content, ...(hideSecrets(received, secrets) as typeof received) };
}

/** A postback as nodes give it. Its `eventId` is the same for the same postback sent again. */
export function toJson(
	{ method, query, headers, body, rawBody, content }: Postback,
	reference: Reference | null,
	files: Array<[field: string, hash: string]> = [],
): IDataObject {
	const sorted = Object.entries(query).sort(([a], [b]) => (a < b ? -1 : 1));
	const eventId = createHash('sha256')
		.update(JSON.stringify([method, reference, sorted, files]))
		.update('\n')
		.update(content)
		.digest('hex');
	const receivedAt = new Date().toISOString();
	return { reference, body, eventId, receivedAt, method, query, headers, rawBody } as IDataObject;
}
