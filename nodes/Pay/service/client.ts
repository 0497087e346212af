import type { IHttpRequestOptions } from 'n8n-workflow';
import { jsonOrText } from '../json';
import { PATHS, type RequestOf, type Kind } from './contract';
import { outcomeOfFailure, outcomeOfStatus, type Outcome, type TransportFailure } from './outcome';

/** The part of n8n's `helpers.httpRequest` that a request needs. */
export type HttpRequest = (options: IHttpRequestOptions) => Promise<unknown>;

/** How to reach the service: checked values, see `parseBaseUrl`. */
export interface Connection {
	baseUrl: string;
	accessToken: string;
	/** How long to wait for an answer, in milliseconds. */
	timeout: number;
}

/** What one attempt came to. */
export interface Answer {
	outcome: Outcome;
	/** The HTTP status, where the service answered. */
	statusCode?: number;
	/** The answer's body as it came: parsed JSON with every digit kept, or the text. */
	response?: unknown;
	/** Why there was no answer, in words; never holds a header or the token. */
	reason?: string;
}

interface ThrownError extends Error {
	code?: string;
	syscall?: string;
	request?: { writableFinished?: boolean; socket?: { secureConnecting?: boolean } | null };
	cause?: { code?: string; syscall?: string };
}

/**
 * Reads what n8n's request helper threw. The bytes of a request leave Node's buffers only once a
 * connection stands, so a request that is not flushed never left, and neither did one whose TLS
 * handshake never ended (Node 20 marks those as flushed). Where Node says neither, nothing is proven.
 */
function readFailure(error: ThrownError): TransportFailure {
	return {
		code: error.code ?? error.cause?.code,
		syscall: error.syscall ?? error.cause?.syscall,
		name: error.name,
		unsent:
			error.request?.writableFinished === false || error.request?.socket?.secureConnecting === true,
	};
}

const REASONS: Readonly<Record<string, string>> = {
	ENOTFOUND: 'the host name of the Base URL is not known',
	EAI_AGAIN: 'the host name of the Base URL could not be looked up',
	ECONNREFUSED: 'the connection was refused',
	EHOSTUNREACH: 'the host cannot be reached',
	ENETUNREACH: 'the network cannot be reached',
	ECONNRESET: 'the connection was broken',
	ECONNABORTED: 'the time-out passed',
	ETIMEDOUT: 'the time-out passed',
	EPIPE: 'the connection was broken',
	ERR_BAD_RESPONSE: 'the answer broke off',
	ERR_CANCELED: 'the request was cancelled',
	EPROTO: 'no secure connection could be made',
	CERT_HAS_EXPIRED: "the service's certificate has expired",
	DEPTH_ZERO_SELF_SIGNED_CERT: "the service's certificate is self-signed and not trusted",
	SELF_SIGNED_CERT_IN_CHAIN: "the service's certificate is self-signed and not trusted",
	ERR_TLS_CERT_ALTNAME_INVALID: "the service's certificate is for another host name",
};

function describeFailure({ code = '', name }: TransportFailure): string {
	if (name?.startsWith('SsrfBlocked')) return 'this n8n is not allowed to reach that host';
	const words = REASONS[code] ?? 'the connection failed';
	return code === '' ? words : `${words} (${code})`;
}

/**
 * Sends one request of the service (sections 4 and 5): POST, JSON, bearer token. Redirects are not
 * followed, since they would carry the body and the token elsewhere, and no status is retried.
 * @returns the outcome; a failure of the connection is an outcome too, so nothing is thrown
 */
export async function postRequest<O extends Kind>(
	httpRequest: HttpRequest,
	connection: Connection,
	kind: O,
	body: RequestOf[O],
): Promise<Answer> {
	let answer: { statusCode: number; body: unknown };
	try {
		answer = (await httpRequest({
			method: 'POST',
			url: connection.baseUrl + PATHS[kind],
			headers: {
				Authorization: `Bearer ${connection.accessToken}`,
				'Content-Type': 'application/json',
				Accept: 'application/json',
			},
			body: JSON.stringify(body),
			// As text, or integers beyond 2^53 in the answer would be rounded.
			encoding: 'text',
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
			disableFollowRedirect: true,
			timeout: connection.timeout,
		})) as typeof answer;
	} catch (error) {
		const failure = readFailure((error ?? {}) as ThrownError);
		return { outcome: outcomeOfFailure(failure), reason: describeFailure(failure) };
	}
	return {
		outcome: outcomeOfStatus(answer.statusCode),
		statusCode: answer.statusCode,
		response: typeof answer.body === 'string' ? jsonOrText(answer.body) : (answer.body ?? ''),
	};
}
