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

/** All statuses, in runs of one outcome. */
const RUNS = [
	{ from: -10, to: 199, payment: 'unknown', charge: 'unknown' },
	{ from: 200, to: 299, payment: 'accepted', charge: 'accepted' },
	{ from: 300, to: 306, payment: 'unknown', charge: 'unknown' },
	{ from: 307, to: 308, payment: 'rejected', charge: 'rejected' },
	{ from: 309, to: 399, payment: 'unknown', charge: 'unknown' },
	{ from: 400, to: 406, payment: 'rejected', charge: 'rejected' },
	{ from: 407, to: 407, payment: 'notSent', charge: 'notSent' },
	{ from: 408, to: 408, payment: 'unknown', charge: 'unknown' },
	{ from: 409, to: 409, payment: 'unknown', charge: 'rejected' },
	{ from: 410, to: 498, payment: 'rejected', charge: 'rejected' },
	{ from: 499, to: 1100, payment: 'unknown', charge: 'unknown' },
];

test.each(RUNS)(
	'from $from to $to a payment is $payment and a charge $charge',
	({ from, to, payment, charge }) => {
		for (let status = from; status <= to; status++) {
			const outcomes = [status, outcomeOfStatus(status, true), outcomeOfStatus(status, false)];
			expect(outcomes).toStrictEqual([status, payment, charge]);
		}
	},
);

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
])('a failure at $what proves that nothing was sent, whatever else it has', ({ failure }) => {
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
