/** What became of one attempt; every attempt ends in exactly one of these. */
export type Outcome = 'accepted' | 'rejected' | 'duplicate' | 'notSent' | 'unknown';

/** What is known of a request that ended without a whole response. */
export interface TransportFailure {
	/** Node's or OpenSSL's error code, for example ECONNRESET. */
	code?: string;
	/** The system call that failed, where Node names one. */
	syscall?: string;
	/** The error's class name. */
	name?: string;
	/** Whether it is sure that the request did not go out as a whole; absent where nothing is sure. */
	isIncomplete?: boolean;
}

/**
 * The outcome an HTTP status stands for. The document shows no status code (sections 4 and 7), so
 * only what HTTP itself defines counts (RFC 9110, section 15).
 * @param isMoneyOut whether the request was for a payment
 */
export function outcomeOfStatus(statusCode: number, isMoneyOut: boolean): Outcome {
	if (statusCode >= 200 && statusCode <= 299) return 'accepted';
	// The same request is wanted elsewhere, so it was not carried out here. After the other redirects it
	// may have been: "see the result there".
	if (statusCode === 307 || statusCode === 308) return 'rejected';
	// A proxy did not forward it.
	if (statusCode === 407) return 'notSent';
	// 408 and 499: somebody gave up waiting; whether the service acted on what it had is not said.
	if (statusCode === 408 || statusCode === 499) return 'unknown';
	// Of a payment it may mean "known already" or "in progress": as a rejection it would go out again.
	if (statusCode === 409) return isMoneyOut ? 'unknown' : 'rejected';
	return statusCode >= 400 && statusCode <= 499 ? 'rejected' : 'unknown';
}

/** Codes that can only come before a connection stands: name lookup and connecting. */
const BEFORE_CONNECTION = new Set([
	'ENOTFOUND',
	'EAI_AGAIN',
	'EAI_FAIL',
	'EAI_NODATA',
	'EAI_NONAME',
	'ECONNREFUSED',
]);

/** Certificate checks fail before a byte of the request is written. */
const CERTIFICATE_REFUSED = new Set([
	'CERT_HAS_EXPIRED',
	'CERT_NOT_YET_VALID',
	'CERT_REVOKED',
	'CERT_UNTRUSTED',
	'DEPTH_ZERO_SELF_SIGNED_CERT',
	'ERR_TLS_CERT_ALTNAME_INVALID',
	'HOSTNAME_MISMATCH',
	'SELF_SIGNED_CERT_IN_CHAIN',
	'UNABLE_TO_GET_ISSUER_CERT',
	'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
	'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** n8n's own guard against requests to forbidden hosts; it acts before the request is made. */
const BLOCKED_BY_N8N = new Set(['SsrfBlockedHostnameError', 'SsrfBlockedIpError']);

/**
 * The outcome of a request that ended without a whole response: `notSent` only on proof, else
 * `unknown`, because a payment that is wrongly called "not sent" is paid twice. A part of a request
 * is not a request: its length is announced, and what came of its JSON cannot be read.
 */
export function outcomeOfFailure(failure: TransportFailure): 'unknown' | 'notSent' {
	const { code = '', syscall = '', name = '', isIncomplete = false } = failure;
	const isProven =
		isIncomplete ||
		['getaddrinfo', 'connect'].includes(syscall) ||
		BEFORE_CONNECTION.has(code) ||
		CERTIFICATE_REFUSED.has(code) ||
		BLOCKED_BY_N8N.has(name);
	return isProven ? 'notSent' : 'unknown';
}
