/** What became of one attempt; every attempt ends in exactly one of these. */
export type Outcome = 'accepted' | 'rejected' | 'notSent' | 'unknown';

/** What is known of a request that ended without an answer. */
export interface TransportFailure {
	/** Node's or OpenSSL's error code, for example ECONNRESET. */
	code?: string;
	/** The system call that failed, where Node names one. */
	syscall?: string;
	/** The error's class name. */
	name?: string;
	/** True only where it is proven that the request never left for the service. */
	unsent?: boolean;
}

/**
 * The outcome an HTTP status stands for. The document shows no status code (sections 4 and 7), so
 * only the classes that HTTP itself defines are told apart.
 */
export function outcomeOfStatus(statusCode: number): Outcome {
	if (statusCode >= 200 && statusCode <= 299) return 'accepted';
	// 408 says the server gave up waiting; whether it acted on what it had is not said.
	if (statusCode >= 300 && statusCode <= 499 && statusCode !== 408) return 'rejected';
	return 'unknown';
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
 * The outcome of a request that ended without a complete answer: `notSent` only on proof, else
 * `unknown`, because a payment that is wrongly called "not sent" is paid twice.
 */
export function outcomeOfFailure(failure: TransportFailure): Outcome {
	const { code = '', syscall, name = '', unsent } = failure;
	const provenUnsent =
		unsent === true ||
		syscall === 'getaddrinfo' ||
		syscall === 'connect' ||
		BEFORE_CONNECTION.has(code) ||
		CERTIFICATE_REFUSED.has(code) ||
		BLOCKED_BY_N8N.has(name);
	return provenUnsent ? 'notSent' : 'unknown';
}
