import { LONGEST_RESPONSE } from './exchange';
import type { TransportFailure } from './outcome';

/**
 * Why a request was not sent, or why it is not known what came of it: facts, since executions keep them
 * for longer than a sentence. None holds a secret.
 */
export type Reason =
	| { is: 'timedOut' }
	/** n8n does not let requests out to this host. */
	| { is: 'hostBlocked' }
	/** With Node's word for the failure. */
	| { is: 'connectionFailed'; code?: string }
	/** A proxy on the way did not connect to the service. */
	| { is: 'stoppedByProxy'; statusCode: number }
	/** The body of a response: longer than is read, still coming when the time-out passed, or cut. */
	| { is: 'tooLong' | 'notEndedInTime' | 'brokeOff'; statusCode: number }
	/** Something failed in n8n, behind the request or before it. */
	| { is: 'notReadable' | 'notWritable' }
	/** A 2xx without any of the Accepted Values; with the paths, one a line. */
	| { is: 'notConfirmed'; field: string }
	/** A response with one of the Rejected Values, and where. */
	| { is: 'saidNo'; path: string }
	/** A response with one of the Accepted Values, and where, whose status says no. */
	| { is: 'saidYes'; path: string }
	/** A web page in place of a response. */
	| { is: 'webPage'; title: string }
	| { is: 'notJson' };

const FAILURES: Readonly<Record<string, string>> = {
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

/** Why no response came; what else the failure holds is not kept. */
export function reasonOfFailure({ code = '', name }: TransportFailure, timedOut = false): Reason {
	if (timedOut) return { is: 'timedOut' };
	if (name?.startsWith('SsrfBlocked')) return { is: 'hostBlocked' };
	// A code is one word of a known form; anything else could hold a secret.
	const isCode = /^[A-Z][A-Z0-9_]*$/.test(code);
	return isCode ? { is: 'connectionFailed', code } : { is: 'connectionFailed' };
}

function failureInWords(code: string | undefined): string {
	if (code === undefined) return 'no response came';
	return `${FAILURES[code] ?? 'no response came'} (${code})`;
}

/** What came in place of a response, in words within a sentence. */
export const webPageInWords = ({ title }: { title: string }) =>
	title === '' ? 'a web page' : `a web page titled "${title}"`;

const quotedPaths = (field: string) =>
	field
		.split('\n')
		.map((path) => `"${path}"`)
		.join(' or ');

/** A reason in words that follow a colon. */
export function reasonInWords(reason: Reason): string {
	switch (reason.is) {
		case 'timedOut':
			return 'the time-out passed';
		case 'hostBlocked':
			return 'this n8n is not allowed to reach that host';
		case 'connectionFailed':
			return failureInWords(reason.code);
		case 'stoppedByProxy':
			return reason.statusCode === 407
				? 'a proxy on the way asks for its own name and password (HTTP 407)'
				: `a proxy on the way did not connect to the service (HTTP ${reason.statusCode})`;
		case 'tooLong':
			return `the response (HTTP ${reason.statusCode}) is longer than ${LONGEST_RESPONSE / 1_000_000} MB`;
		case 'notEndedInTime':
			return `the response (HTTP ${reason.statusCode}) had not ended when the time-out passed`;
		case 'brokeOff':
			return `the response (HTTP ${reason.statusCode}) broke off or could not be read`;
		case 'notReadable':
			return 'the response could not be read';
		case 'notWritable':
			return 'the request could not be written';
		case 'notConfirmed':
			return `${quotedPaths(reason.field)} does not confirm it (Result Field)`;
		case 'saidNo':
			return `"${reason.path}" has one of the Rejected Values of the Pay API credential`;
		case 'saidYes':
			return `"${reason.path}" has one of the Accepted Values of the Pay API credential`;
		case 'webPage':
			return `the response is ${webPageInWords(reason)}, so the Base URL may not be that of the API`;
		case 'notJson':
			return 'the response says that it is JSON and cannot be read as JSON';
	}
}
