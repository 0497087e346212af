import { createHash } from 'crypto';
import { jsonOrText } from '../json';
import { SIGNATURE_PARAMETER, type Reference } from './proof';

/** A postback as the service sent it; its method and payload are not documented (section 6). */
export interface Notification {
	/** The same for the same notification delivered again, different otherwise. */
	eventId: string;
	receivedAt: string;
	method: string;
	/** What a verified signed URL says the postback is about, else null. */
	reference: Reference | null;
	query: Record<string, unknown>;
	headers: Record<string, unknown>;
	body: unknown;
	/** The body's text as it came. */
	rawBody: string;
}

/** What arrived, in plain values. */
export interface Delivery {
	method: string;
	query: Record<string, unknown>;
	headers: Record<string, unknown>;
	rawBody: Buffer;
	/** The body as n8n parsed it; used for forms and XML. */
	parsedBody: unknown;
	receivedAt: Date;
}

/** Headers that prove who the sender is to others; they have no business in an execution. */
const CREDENTIAL_HEADERS = new Set(['authorization', 'cookie', 'proxy-authorization']);

const PARSED_BY_N8N =
	/^(application\/x-www-form-urlencoded|application\/xml|text\/xml|application\/[^;]*\+xml)\b/i;
const JSON_TYPE = /^application\/([^;]+\+)?json\b/i;

function parseBody(delivery: Delivery, text: string): unknown {
	const contentType = String(delivery.headers['content-type'] ?? '').trim();
	if (PARSED_BY_N8N.test(contentType) && delivery.parsedBody !== undefined) {
		return delivery.parsedBody;
	}
	// n8n's own JSON parser rounds integers beyond 2^53, and leaves +json and untyped bodies alone.
	if (JSON_TYPE.test(contentType) || contentType === '') return jsonOrText(text);
	return text;
}

function without(members: Record<string, unknown>, drop: (name: string) => boolean) {
	return Object.fromEntries(Object.entries(members).filter(([name]) => !drop(name)));
}

function eventId(delivery: Delivery, query: object, reference: Reference | null): string {
	return createHash('sha256')
		.update(JSON.stringify([delivery.method, reference, query]))
		.update('\n')
		.update(delivery.rawBody)
		.digest('hex');
}

/**
 * What the trigger and the wait operation give for one delivery: any method, any payload.
 * @param reference what the URL's signature proved, or null
 */
export function toNotification(delivery: Delivery, reference: Reference | null): Notification {
	const query = without(delivery.query, (name) => name === SIGNATURE_PARAMETER);
	const rawBody = delivery.rawBody.toString('utf8');
	return {
		eventId: eventId(delivery, query, reference),
		receivedAt: delivery.receivedAt.toISOString(),
		method: delivery.method,
		reference,
		query,
		headers: without(delivery.headers, (name) => CREDENTIAL_HEADERS.has(name)),
		body: parseBody(delivery, rawBody),
		rawBody,
	};
}
