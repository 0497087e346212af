import assert from 'node:assert/strict';
import { constants } from 'node:os';
import fc from 'fast-check';
import { outcomeOfFailure, outcomeOfStatus } from '../../nodes/Pay/service/outcome';
import { runs } from '../runs';

/** The design's table, status by status; what is not named is unknown. */
function asDesigned(status: number, conflict: 'rejected' | 'unknown'): string {
	if (status >= 200 && status <= 299) return 'accepted';
	if (status === 407) return 'notSent';
	const refused = [307, 308].includes(status) || (status >= 400 && status <= 499);
	const open = conflict === 'unknown' ? [408, 409, 499] : [408, 499];
	return refused && !open.includes(status) ? 'rejected' : 'unknown';
}

const CONFLICTS = ['rejected', 'unknown'] as const;
test.each(CONFLICTS)('every status has the outcome of the design; a 409 is %s', (conflict) => {
	for (let status = -10; status <= 1100; status++) {
		const expected = asDesigned(status, conflict);
		expect([status, outcomeOfStatus(status, conflict)]).toStrictEqual([status, expected]);
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
			assert.equal(outcomeOfFailure({ ...known, isPart: true }), 'notSent');
		}),
		{ numRuns: runs(1000) },
	);
});
