import { jsonOrText } from '../json';
import { pathOf, type Policy, type ServiceOperation, type ServiceRequest } from './contract';
import { exchange, LONGEST_RESPONSE, type Exchange, type HttpRequest } from './exchange';
import { outcomeOfFailure, outcomeOfStatus, type Outcome, type TransportFailure } from './outcome';
import { unconfirmedBy, withoutN8n } from './page';

/** How to reach the service: checked values, see `parseBaseUrl`. */
interface Connection {
	baseUrl: string;
	schemeName: string;
	accessToken: string;
	/** How long the whole exchange may take, in milliseconds. */
	timeout: number;
	/** Why a 2xx with this body, as it came, is not an acceptance, in words; undefined where it is one. */
	doubt?: (response: unknown) => string | undefined;
	/** A header that carries the request's external_id too. */
	externalIdHeader?: string;
	/** Replaces in a response what no output may show, the access token first of all. */
	hide: (response: unknown) => unknown;
}

/** What one attempt came to. */
export interface RequestResult {
	outcome: Outcome;
	/** The HTTP status of a whole response: the service's, or that of a proxy on the way. */
	statusCode?: number;
	/** Its body, parsed JSON with every digit kept, or text; token and proof are replaced by `***`. */
	response?: unknown;
	/** Why it was not sent, or why what came of it is not known, in words; never holds a secret. */
	reason?: string;
}

const REASONS: Readonly<Record<string, string>> = {
	ENOTFOUND: 'the host name is not known',
	EAI_AGAIN: 'the host name could not be looked up',
	ECONNREFUSED: 'the connection was refused',
	EHOSTUNREACH: 'the host cannot be reached',
	ENETUNREACH: 'the network cannot be reached',
	ECONNRESET: 'the connection was broken',
	ECONNABORTED: 'the time-out passed',
	ETIMEDOUT: 'the time-out passed',
	EPIPE: 'the connection was broken',
	ERR_BAD_RESPONSE: 'the response broke off',
	ERR_CANCELED: 'the request was cancelled',
	EPROTO: 'the address does not speak https',
	CERT_HAS_EXPIRED: "the service's certificate has expired",
	DEPTH_ZERO_SELF_SIGNED_CERT: "the service's certificate is self-signed and not trusted",
	SELF_SIGNED_CERT_IN_CHAIN: "the service's certificate is self-signed and not trusted",
	ERR_TLS_CERT_ALTNAME_INVALID: "the service's certificate is for another host name",
};

const TIMED_OUT = 'the time-out passed';

/** Why no response came, in words that follow a colon; what else the failure holds is not shown. */
export function describeFailure({ code = '', name }: TransportFailure, timedOut = false): string {
	if (timedOut) return TIMED_OUT;
	if (name?.startsWith('SsrfBlocked')) return 'this n8n is not allowed to reach that host';
	const words = REASONS[code] ?? 'the connection failed';
	// A code is one word of a known form; anything else could hold a secret.
	return /^[A-Z][A-Z0-9_]*$/.test(code) ? `${words} (${code})` : words;
}

function notSentByProxy(statusCode: number): string {
	return statusCode === 407
		? 'a proxy on the way asks for its own name and password (HTTP 407)'
		: `a proxy on the way did not connect to the service (HTTP ${statusCode})`;
}

/** Why the rest of a response did not come. */
function describeBrokenOff(response: Extract<Exchange, { end: 'brokeOff' }>): string {
	const { statusCode, timedOut, tooLong } = response;
	const which = `the response (HTTP ${statusCode})`;
	if (tooLong) return `${which} is longer than ${LONGEST_RESPONSE / 1_000_000} MB`;
	if (timedOut) return `${which} had not ended when ${TIMED_OUT}`;
	return `${which} broke off or could not be read`;
}

function toRequestResult(
	response: Exchange,
	conflict: Policy['conflict'],
	connection: Connection,
): RequestResult {
	switch (response.end) {
		case 'failed': {
			const reason = describeFailure(response.failure, response.timedOut);
			return { outcome: outcomeOfFailure(response.failure), reason };
		}
		case 'brokeOff':
			return { outcome: 'unknown', reason: describeBrokenOff(response) };
		case 'responded':
			return resultOfResponse(response, conflict, connection);
	}
}

/** What a whole response comes to. A 2xx is an acceptance unless something makes it doubtful. */
function resultOfResponse(
	response: Extract<Exchange, { end: 'responded' }>,
	conflict: Policy['conflict'],
	{ doubt, hide }: Connection,
): RequestResult {
	const { statusCode, contentType, byProxy } = response;
	const body = typeof response.body === 'string' ? jsonOrText(response.body) : response.body;
	const facts = { statusCode, response: hide(withoutN8n(body)) };
	const outcome = byProxy ? 'notSent' : outcomeOfStatus(statusCode, conflict);
	if (outcome === 'notSent') return { outcome, ...facts, reason: notSentByProxy(statusCode) };
	if (outcome !== 'accepted') return { outcome, ...facts };
	const reason = doubt?.(body) ?? unconfirmedText(body, response.body, contentType);
	if (reason === undefined) return { outcome, ...facts };
	return { outcome: 'unknown', ...facts, reason: hide(reason) as string };
}

/** Why a body that is no JSON confirms nothing. */
function unconfirmedText(body: unknown, text: unknown, contentType: unknown): string | undefined {
	return typeof body === 'string' ? unconfirmedBy(text, contentType) : undefined;
}

/**
 * Sends one request of the service (sections 4 and 5): POST, JSON, bearer token. Redirects are not
 * followed and no status is retried. Whatever fails is an outcome too, so nothing is thrown.
 */
export async function postRequest(
	httpRequest: HttpRequest,
	connection: Connection,
	{ path, policy }: Pick<ServiceOperation, 'path' | 'policy'>,
	body: ServiceRequest,
): Promise<RequestResult> {
	const { baseUrl, schemeName, accessToken, timeout, externalIdHeader } = connection;
	let isSending = false;
	try {
		const headers: Record<string, string> = {
			Authorization: `Bearer ${accessToken}`,
			'Content-Type': 'application/json',
			Accept: 'application/json',
		};
		if (externalIdHeader !== undefined) headers[externalIdHeader] = body.external_id;
		const url = baseUrl + pathOf({ path }, schemeName);
		const options = { url, headers, body: JSON.stringify(body) };
		const clock = AbortSignal.timeout(timeout);
		isSending = true;
		const response = await exchange(httpRequest, options, clock);
		return toRequestResult(response, policy.conflict, connection);
	} catch {
		return isSending
			? { outcome: 'unknown', reason: 'the response could not be read' }
			: { outcome: 'notSent', reason: 'the request could not be written' };
	}
}

/** The response to a form, or why there is none. */
export type FormResponse =
	| { statusCode: number; body: unknown }
	| { statusCode?: undefined; reason: string };

/** Posts a form, without following redirects; never rejects. */
export type PostForm = (
	url: string,
	headers: Record<string, string>,
	body: string,
) => Promise<FormResponse>;

/**
 * Posts forms as a token endpoint takes them (RFC 6749, section 4.4.2), each under the same clock (in
 * milliseconds) and rules as a request of the service.
 */
export function formPoster(httpRequest: HttpRequest, timeout: number): PostForm {
	return async (url, headers, body) => {
		const clock = AbortSignal.timeout(timeout);
		const response = await exchange(httpRequest, { url, headers, body }, clock);
		if (response.end === 'failed') {
			return { reason: describeFailure(response.failure, response.timedOut) };
		}
		if (response.end === 'brokeOff') return { reason: 'its response broke off' };
		const { statusCode, byProxy } = response;
		if (byProxy || statusCode === 407) return { reason: notSentByProxy(statusCode) };
		return { statusCode, body: response.body };
	};
}
