import { jsonOrText } from '../base/json';
import { requestPath, type ServiceOperation, type ServiceRequest } from './contract';
import { exchange, type Exchange, type HttpRequest } from './exchange';
import { type Outcome, outcomeOfFailure, outcomeOfStatus } from './outcome';
import { firstValue, mismatchOf, type Paths, Sources } from './paths';
import { type Reason, reasonOfFailure, replaceUnpublished, unconfirmedBy } from './reasons';

/** How to reach the service: checked values, see `readBaseUrl`. */
interface Connection {
	baseUrl: string;
	schemeName: string;
	accessToken: string;
	/** How long the whole exchange may take, in milliseconds. */
	timeout: number;
	/** What a response says became of its request; absent where that is left to the status. */
	responseWords?: ResponseWords;
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
	/** Why it was not sent, or why what came of it is not known. */
	reason?: Reason;
	/** How many seconds to wait after too many requests (HTTP 429); absent if the service does not say. */
	retryAfter?: number;
}

/** If a service asks for a pause of 0 s, the rest of a list must not follow at once. */
const SHORTEST_PAUSE = 1;

/**
 * How many seconds to wait, by a header Retry-After (RFC 9110, section 10.2.3): digits, or a date. Undefined
 * where it says neither, or a date that is over: then the two clocks differ, by nobody knows how much.
 */
export function readRetryAfter(value: unknown, now: number): number | undefined {
	if (typeof value !== 'string') return undefined;
	const text = value.trim();
	if (/^\d{1,9}$/.test(text)) return Math.max(SHORTEST_PAUSE, Number(text));
	// Date.parse reads much else as a date, "-5" too.
	const date = text.endsWith(' GMT') ? Date.parse(text) : NaN;
	const seconds = Math.ceil((date - now) / 1000);
	return seconds >= SHORTEST_PAUSE ? seconds : undefined;
}

/** The statuses that say no to a token: a later try goes out with another one. */
const REJECTED_TOKEN = [401, 403];

/**
 * Whether a request was rejected for its token. A gateway may say so of a request that was carried out behind
 * it. One of the account's Rejected Values is a promise that it was not.
 */
export function isRejectedForToken({
	outcome,
	statusCode = 0,
	reason,
}: Partial<RequestResult>): boolean {
	return outcome === 'rejected' && REJECTED_TOKEN.includes(statusCode) && reason === undefined;
}

/** Why the rest of a response did not come. */
function reasonOfBreak(broken: Extract<Exchange, { end: 'brokeOff' }>): Reason {
	const { statusCode, timedOut, tooLong } = broken;
	if (tooLong) return { is: 'tooLong', statusCode };
	if (timedOut) return { is: 'notEndedInTime', statusCode };
	return { is: 'brokeOff', statusCode };
}

function toRequestResult(
	exchanged: Exchange,
	isMoneyOut: boolean,
	connection: Connection,
): RequestResult {
	switch (exchanged.end) {
		case 'failed': {
			const reason = reasonOfFailure(exchanged.failure, exchanged.timedOut);
			return { outcome: outcomeOfFailure(exchanged.failure), reason };
		}
		case 'brokeOff':
			return { outcome: 'unknown', reason: reasonOfBreak(exchanged) };
		case 'responded':
			return resultOfResponse(exchanged, isMoneyOut, connection);
	}
}

/** A response that came whole. */
type Responded = Extract<Exchange, { end: 'responded' }>;

function resultOfResponse(
	response: Responded,
	isMoneyOut: boolean,
	{ responseWords, hide }: Connection,
): RequestResult {
	const body = typeof response.body === 'string' ? jsonOrText(response.body) : response.body;
	const { outcome, reason } = outcomeOfResponse(response, body, isMoneyOut, responseWords);
	const result: RequestResult = {
		outcome,
		statusCode: response.statusCode,
		response: hide(replaceUnpublished(body)),
	};
	if (response.statusCode === 429) {
		result.retryAfter = readRetryAfter(response.retryAfter, Date.now());
	}
	if (reason === undefined) return result;
	// A page may repeat a secret in its title.
	if (reason.is === 'webPage') reason.title = String(hide(reason.title));
	result.reason = reason;
	return result;
}

/**
 * What a whole response comes to, and why. A 2xx is an acceptance unless something makes it doubtful.
 * @param body the response's, parsed where it is JSON
 */
function outcomeOfResponse(
	response: Responded,
	body: unknown,
	isMoneyOut: boolean,
	words: ResponseWords | undefined,
): Pick<RequestResult, 'outcome' | 'reason'> {
	const { statusCode, contentType, byProxy } = response;
	const byStatus = byProxy ? 'notSent' : outcomeOfStatus(statusCode, isMoneyOut);
	if (byStatus === 'notSent') {
		return { outcome: 'notSent', reason: { is: 'stoppedByProxy', statusCode } };
	}
	const judgement = words === undefined ? undefined : judge(words, body);
	if (judgement?.means === 'rejected' && statusCode < 500) {
		return { outcome: 'rejected', reason: judgement.reason };
	}
	// The word says yes, the status says no.
	if (judgement?.means === 'confirmed' && byStatus === 'rejected') {
		return { outcome: 'unknown', reason: judgement.reason };
	}
	if (byStatus !== 'accepted') return { outcome: byStatus };
	// The user named this word: it counts more than what the response looks like.
	if (judgement?.means === 'confirmed') return { outcome: 'accepted' };
	if (judgement?.means === 'notConfirmed') {
		return { outcome: 'unknown', reason: judgement.reason };
	}
	// Parsed JSON is no page; a text is looked at as it came.
	const doubt = typeof body === 'string' ? unconfirmedBy(response.body, contentType) : undefined;
	return doubt === undefined ? { outcome: 'accepted' } : { outcome: 'unknown', reason: doubt };
}

/**
 * Sends one request of the service (sections 4 and 5): POST, JSON, bearer token. Redirects are not
 * followed and no status is retried. Whatever fails is an outcome too, so nothing is thrown.
 */
export async function postRequest(
	httpRequest: HttpRequest,
	connection: Connection,
	{ path, isMoneyOut }: Pick<ServiceOperation, 'path' | 'isMoneyOut'>,
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
		if (externalIdHeader !== undefined) {
			headers[externalIdHeader] = body.external_id;
		}
		const url = baseUrl + requestPath({ path }, schemeName);
		const options = { url, headers, body: JSON.stringify(body) };
		const clock = AbortSignal.timeout(timeout);
		isSending = true;
		const response = await exchange(httpRequest, options, clock);
		return toRequestResult(response, isMoneyOut, connection);
	} catch {
		return isSending
			? { outcome: 'unknown', reason: { is: 'notReadable' } }
			: { outcome: 'notSent', reason: { is: 'notWritable' } };
	}
}

/** The response of a token endpoint, or why there is none. */
export type TokenResponse =
	| {
			statusCode: number;
			body: unknown;
			/** In seconds, see `readRetryAfter`. */
			retryAfter?: number;
	  }
	| { statusCode?: undefined; reason: Reason };

/** Posts a token request, as a form or as JSON, without following redirects; never rejects. */
export type TokenPost = (
	url: string,
	headers: Record<string, string>,
	body: string,
) => Promise<TokenResponse>;

/**
 * How token requests (RFC 6749, section 4.4.2) are posted: each under the same clock and rules as a request
 * of the service.
 * @param timeout in milliseconds
 */
export function tokenPoster(httpRequest: HttpRequest, timeout: number): TokenPost {
	return async (url, headers, body) => {
		const clock = AbortSignal.timeout(timeout);
		const response = await exchange(httpRequest, { url, headers, body }, clock);
		if (response.end === 'failed') {
			return { reason: reasonOfFailure(response.failure, response.timedOut) };
		}
		if (response.end === 'brokeOff') return { reason: reasonOfBreak(response) };
		const { statusCode, byProxy } = response;
		if (byProxy || statusCode === 407) return { reason: { is: 'stoppedByProxy', statusCode } };
		const retryAfter = readRetryAfter(response.retryAfter, Date.now());
		return { statusCode, body: response.body, retryAfter };
	};
}

/** What a response says became of its request, in the words of the account. */
export interface ResponseWords {
	field: Paths;
	/** Words of an acceptance; without any, each 2xx is one that says nothing else. */
	accepted: string[];
	/** Words that mean that the request was certainly not carried out. */
	rejected: string[];
}

/** What the words of a response mean, and why. */
type Judgement =
	/** One of the Rejected Values: rejected below 500; from there on the status counts. */
	| { means: 'rejected'; reason: Reason }
	/** None of the Accepted Values: a 2xx is unknown. */
	| { means: 'notConfirmed'; reason: Reason }
	/** One of the Accepted Values: a 2xx is accepted; against a status that says no it is unknown. */
	| { means: 'confirmed'; reason: Reason };

/**
 * What a response says by the words of the account; undefined where it says neither yes nor no.
 * @param response its body, parsed where it is JSON, secrets and all
 */
export function judge(
	{ field, accepted, rejected }: ResponseWords,
	response: unknown,
): Judgement | undefined {
	// The output shows the body as `response`, so a path may begin with it.
	const sources = new Sources(response, { response });
	const { path = '' } = firstValue(field, sources) ?? {};
	if (mismatchOf({ field, values: rejected }, sources) === undefined) {
		return { means: 'rejected', reason: { is: 'saidNo', path } };
	}
	if (accepted.length === 0) return undefined;
	if (mismatchOf({ field, values: accepted }, sources) === undefined) {
		return { means: 'confirmed', reason: { is: 'saidYes', path } };
	}
	return { means: 'notConfirmed', reason: { is: 'notConfirmed', field } };
}
