import assert from 'node:assert/strict';
import { constants } from 'node:os';
import fc from 'fast-check';
import { outcomeOfFailure, outcomeOfStatus } from '../../nodes/Pay/service/outcome';
import { runs } from '../runs';

test.each([
	{ status: 307, outcome: 'rejected', because: 'the request goes elsewhere, and we do not follow' },
	{ status: 308, outcome: 'rejected', because: 'the request goes elsewhere, and we do not follow' },
	{ status: 407, outcome: 'notSent', because: 'a proxy asks for its own password' },
	{ status: 408, outcome: 'unknown', because: 'somebody gave up waiting' },
	{ status: 499, outcome: 'unknown', because: 'somebody gave up waiting' },
])('the status $status is $outcome: $because', ({ status, outcome }) => {
	expect(outcomeOfStatus(status, 'rejected')).toBe(outcome);
	expect(outcomeOfStatus(status, 'unknown')).toBe(outcome);
});

test.each(['rejected', 'unknown'] as const)(
	'the status 409 is what a conflict means for the operation: %s',
	(conflict) => expect(outcomeOfStatus(409, conflict)).toBe(conflict),
);

test('every status from 200 to 299 is accepted', () => {
	for (let status = 200; status <= 299; status++) {
		expect({ status, outcome: outcomeOfStatus(status, 'unknown') }).toStrictEqual({
			status,
			outcome: 'accepted',
		});
	}
});

test('every status from 400 to 499 is rejected, but for 407, 408, 409 and 499', () => {
	for (let status = 400; status <= 499; status++) {
		if ([407, 408, 409, 499].includes(status)) continue;
		expect({ status, outcome: outcomeOfStatus(status, 'unknown') }).toStrictEqual({
			status,
			outcome: 'rejected',
		});
	}
});

test('every other status is unknown, but for 307 and 308', () => {
	for (let status = -10; status <= 1100; status++) {
		const isAccepted = status >= 200 && status <= 299;
		const isOfCaller = status >= 400 && status <= 499;
		if (isAccepted || isOfCaller || status === 307 || status === 308) continue;
		expect({ status, outcome: outcomeOfStatus(status, 'unknown') }).toStrictEqual({
			status,
			outcome: 'unknown',
		});
	}
});

/** All that proves by itself that nothing was sent: before a connection stands, or by a check. */
const PROOFS = {
	syscall: ['getaddrinfo', 'connect'],
	code: [
		'ENOTFOUND',
		'EAI_AGAIN',
		'EAI_FAIL',
		'EAI_NODATA',
		'EAI_NONAME',
		'ECONNREFUSED',
		'CERT_HAS_EXPIRED',
		'CERT_NOT_YET_VALID',
		'CERT_REVOKED',
		'CERT_UNTRUSTED',
		'DEPTH_ZERO_SELF_SIGNED_CERT',
		'SELF_SIGNED_CERT_IN_CHAIN',
		'HOSTNAME_MISMATCH',
		'ERR_TLS_CERT_ALTNAME_INVALID',
		'UNABLE_TO_GET_ISSUER_CERT',
		'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
		'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
	],
	name: ['SsrfBlockedHostnameError', 'SsrfBlockedIpError'],
};

test.each(
	Object.entries(PROOFS).flatMap(([member, values]) => values.map((value) => [member, value])),
)('the %s %s proves that nothing was sent', (member, value) => {
	const rest = { code: 'ETIMEDOUT', syscall: 'read', name: 'Error' };
	expect(outcomeOfFailure({ ...rest, [member!]: value })).toBe('notSent');
});

/** What Node, its HTTP parser, OpenSSL and axios call failures; any of them can come after the bytes. */
const CODES = [
	...Object.keys(constants.errno),
	'HPE_INVALID_CONSTANT',
	'HPE_HEADER_OVERFLOW',
	'HPE_CLOSED_CONNECTION',
	'HPE_UNKNOWN',
	'ERR_SSL_WRONG_VERSION_NUMBER',
	'ERR_SSL_TLSV1_ALERT_DECODE_ERROR',
	'EPROTO',
	'ERR_STREAM_PREMATURE_CLOSE',
	'ERR_STREAM_DESTROYED',
	'ERR_TLS_HANDSHAKE_TIMEOUT',
	'ERR_BAD_RESPONSE',
	'ERR_BAD_REQUEST',
	'ERR_CANCELED',
	'ECONNABORTED',
	'ABORT_ERR',
	'',
].filter((code) => !PROOFS.code.includes(code));
const SYSCALLS = ['read', 'write', 'writev', 'shutdown', 'close', 'listen', 'getpeername', ''];

test.each(CODES)('%p alone proves nothing: it is unknown, whatever Node was doing', (code) => {
	for (const syscall of [undefined, ...SYSCALLS]) {
		for (const name of [undefined, 'Error', 'AxiosError', 'SsrfBlocked']) {
			expect(outcomeOfFailure({ code, syscall, name })).toBe('unknown');
		}
	}
});

test('no other code, system call or name proves anything; that a part was missing does', () => {
	const none = (proofs: string[]) => fc.string().filter((text) => !proofs.includes(text));
	const failure = fc.record(
		{ code: none(PROOFS.code), syscall: none(PROOFS.syscall), name: none(PROOFS.name) },
		{ requiredKeys: [] },
	);
	fc.assert(
		fc.property(failure, (known) => {
			assert.equal(outcomeOfFailure(known), 'unknown');
			assert.equal(outcomeOfFailure({ ...known, isIncomplete: true }), 'notSent');
		}),
		{ numRuns: runs(1000) },
	);
});
