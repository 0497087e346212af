import { createHash } from 'crypto';
import { isTooDeep, jsonOrText } from '../json';
import { redact } from '../service/redact';
import { PROOF_IN_TEXT, withoutProof, type Proof, type Reference } from './proof';
import { parseXmlBody } from './xml';

/** A request to a postback address, in plain values. */
export interface Delivery {
	method: string;
	query: Record<string, unknown>;
	headers: Record<string, unknown>;
	/** The body's bytes; none for a multipart form, which n8n has read and taken apart. */
	rawBody: Buffer;
	/** The body as n8n parsed it; used for multipart forms only. */
	parsedBody: unknown;
	receivedAt: Date;
	/** n8n's own token in the query of a resume URL. */
	resumeToken?: string;
}

/** What a delivery says; its method and payload are not documented (section 6). */
export interface Postback {
	method: string;
	query: Record<string, unknown>;
	headers: Record<string, unknown>;
	body: unknown;
	/** The body's text as it came. */
	rawBody: string;
	receivedAt: string;
	/** What makes it this one and no other, files apart. */
	content: string | Buffer;
}

/** A postback as nodes give it. */
interface Notification extends Omit<Postback, 'content'> {
	/** What a verified signed URL says the postback is about, else null. */
	reference: Reference | null;
	/** The same for the same notification delivered again, different otherwise. */
	eventId: string;
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
	const names = [...new Set(fields.keys())];
	return Object.fromEntries(
		names.map((name) => {
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

function without(
	members: Record<string, unknown>,
	drop: (name: string, value: unknown) => boolean,
) {
	return Object.fromEntries(Object.entries(members).filter(([name, value]) => !drop(name, value)));
}

/** Whether a request says that it brings bytes (RFC 9112, section 6). */
const hasBody = (headers: Record<string, unknown>) =>
	Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined;

/** @throws Error for a multipart form that n8n could not read */
function readPayload(
	headers: Record<string, unknown>,
	bytes: Buffer,
	parsedBody: unknown,
): Pick<Postback, 'body' | 'rawBody' | 'content'> {
	if (isMultipartForm(headers)) {
		const { data, files } = (parsedBody ?? {}) as { data?: object; files?: object };
		const isRead = typeof data === 'object' && data !== null;
		// n8n 1 reads nothing of a form with another boundary, a gzipped one, or an odd file in it.
		if (!isRead || (Object.keys({ ...data, ...files }).length === 0 && hasBody(headers))) {
			throw new Error('The multipart form could not be read');
		}
		return { body: { ...data }, rawBody: '', content: JSON.stringify(data) };
	}
	const contentType = contentTypeOf(headers);
	const rawBody = textOf(bytes, contentType);
	return { body: parseBody(rawBody, contentType), rawBody, content: bytes };
}

/**
 * Reads any method and any payload. What would let a reader of the execution call again, the proof
 * and n8n's token, is left out or replaced by `***`.
 * @throws Error for a multipart form that n8n could not read
 */
export function readDelivery(delivery: Delivery): Postback {
	const { method, headers, parsedBody, resumeToken } = delivery;
	const { query, mac } = withoutProof(delivery.query);
	const payload = readPayload(headers, delivery.rawBody, parsedBody);
	const secrets = [mac, resumeToken].filter((secret) => secret !== undefined);
	// A list: the names of members are searched too, and these are ours.
	const [redactedQuery, redactedHeaders, body, rawBody] = redact(
		[
			without(query, (name, value) => name === 'signature' && value === resumeToken),
			without(headers, (name) => CREDENTIAL_HEADERS.has(name)),
			payload.body,
			payload.rawBody,
		],
		secrets,
		[PROOF_IN_TEXT],
	) as [Record<string, unknown>, Record<string, unknown>, unknown, string];
	return {
		method,
		query: redactedQuery,
		headers: redactedHeaders,
		body,
		rawBody,
		receivedAt: delivery.receivedAt.toISOString(),
		content: payload.content,
	};
}

/**
 * What the trigger and the wait operation give for one postback.
 * @param proof what its URL proved, or null
 * @param files the hashes of its files, by field
 */
export function toNotification(
	{ content, ...postback }: Postback,
	proof: Proof | null,
	files: Array<[field: string, hash: string]> = [],
): Notification {
	const { external_id, kind, amount } = proof ?? {};
	const reference = proof && ({ external_id, kind, amount } as Reference);
	const query = Object.entries(postback.query).sort(([a], [b]) => (a < b ? -1 : 1));
	const eventId = createHash('sha256')
		.update(JSON.stringify([postback.method, reference, query, files]))
		.update('\n')
		.update(content)
		.digest('hex');
	const { body, receivedAt, method, headers, rawBody } = postback;
	return { reference, body, eventId, receivedAt, method, query: postback.query, headers, rawBody };
}
