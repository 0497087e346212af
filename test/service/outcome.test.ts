import { constants } from 'node:os';
import { outcomeOfFailure, outcomeOfStatus } from '../../nodes/Pay/service/outcome';

test.each([
	{ status: 307, outcome: 'rejected', because: 'the request goes elsewhere, and we do not follow' },
	{ status: 308, outcome: 'rejected', because: 'the request goes elsewhere, and we do not follow' },
	{ status: 407, outcome: 'notSent', because: 'a proxy asks for its own password' },
	{ status: 408, outcome: 'unknown', because: 'somebody gave up waiting' },
	{ status: 499, outcome: 'unknown', because: 'somebody gave up waiting' },
])('the status $status is $outcome: $because', ({ status, outcome }) => {
	expect(outcomeOfStatus(status, false)).toBe(outcome);
	expect(outcomeOfStatus(status, true)).toBe(outcome);
});

test('the status 409 leaves a payment unknown, and a charge is rejected', () => {
	expect(outcomeOfStatus(409, true)).toBe('unknown');
	expect(outcomeOfStatus(409, false)).toBe('rejected');
});

test('every status from 200 to 299 is accepted', () => {
	for (let status = 200; status <= 299; status++) {
		expect({ status, outcome: outcomeOfStatus(status, true) }).toStrictEqual({
			status,
			outcome: 'accepted',
		});
	}
});

test('every status from 400 to 499 is rejected, but for 407, 408, 409 and 499', () => {
	for (let status = 400; status <= 499; status++) {
		if ([407, 408, 409, 499].includes(status)) continue;
		expect({ status, outcome: outcomeOfStatus(status, true) }).toStrictEqual({
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
		expect({ status, outcome: outcomeOfStatus(status, true) }).toStrictEqual({
			status,
			outcome: 'unknown',
		});
	}
});

test.each([
	{ what: 'a name that was looked up', failure: { syscall: 'getaddrinfo' } },
	{ what: 'a connection that was begun', failure: { syscall: 'connect' } },
	{ what: 'a name that is not known', failure: { code: 'ENOTFOUND' } },
	{ what: 'a connection that was refused', failure: { code: 'ECONNREFUSED' } },
	{ what: 'a certificate that has expired', failure: { code: 'CERT_HAS_EXPIRED' } },
	{ what: 'a certificate of another host', failure: { code: 'ERR_TLS_CERT_ALTNAME_INVALID' } },
	{ what: "n8n's guard of names", failure: { name: 'SsrfBlockedHostnameError' } },
	{ what: "n8n's guard of addresses", failure: { name: 'SsrfBlockedIpError' } },
	{ what: 'a part that was missing', failure: { isIncomplete: true } },
])('$what proves that nothing was sent, whatever else is said', ({ failure }) => {
	const rest = { code: 'ETIMEDOUT', syscall: 'read', name: 'Error' };
	expect(outcomeOfFailure({ ...rest, ...failure })).toBe('notSent');
});

/** What Node, its HTTP parser, OpenSSL and axios call failures; any of them can come after the bytes. */
const AFTER_THE_BYTES = [
	...Object.keys(constants.errno).filter((code) => code !== 'ECONNREFUSED'),
	'HPE_INVALID_CONSTANT',
	'HPE_HEADER_OVERFLOW',
	'HPE_CLOSED_CONNECTION',
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
];
const SYSCALLS = ['read', 'write', 'writev', 'shutdown', 'close', 'listen', 'getpeername', ''];
const NAMES = [undefined, 'Error', 'AxiosError', 'SsrfBlocked'];

test('no code that can come after the bytes proves anything, whatever Node was doing: unknown', () => {
	const notUnknown: object[] = [];
	for (const code of AFTER_THE_BYTES) {
		for (const syscall of [undefined, ...SYSCALLS]) {
			for (const name of NAMES) {
				const failure = { code, syscall, name };
				if (outcomeOfFailure(failure) !== 'unknown') notUnknown.push(failure);
			}
		}
	}
	expect(notUnknown).toStrictEqual([]);
});
