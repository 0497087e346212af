import { type Reason, reasonInWords, reasonOfFailure } from '../../nodes/Pay/service/reasons';

test.each<{
	name: string;
	failure: Parameters<typeof reasonOfFailure>[0];
	timedOut: boolean;
	expected: Reason;
}>([
	{
		name: 'a time-out, whatever else',
		failure: { code: 'ECONNRESET' },
		timedOut: true,
		expected: { is: 'timedOut' },
	},
	{
		name: 'a host that n8n blocks',
		failure: { name: 'SsrfBlockedIpError', code: 'E' },
		timedOut: false,
		expected: { is: 'hostBlocked' },
	},
	{
		name: 'a failure with its code',
		failure: { name: 'Error', code: 'ERR_TLS_2' },
		timedOut: false,
		expected: { is: 'connectionFailed', code: 'ERR_TLS_2' },
	},
	{
		name: 'a failure without a code',
		failure: { name: 'Error' },
		timedOut: false,
		expected: { is: 'connectionFailed' },
	},
	{
		name: 'a code with a space',
		failure: { code: 'E TOKEN' },
		timedOut: false,
		expected: { is: 'connectionFailed' },
	},
	{
		name: 'a code in small letters',
		failure: { code: 'Etoken' },
		timedOut: false,
		expected: { is: 'connectionFailed' },
	},
	{
		name: 'a code with more before it',
		failure: { code: 'at E' },
		timedOut: false,
		expected: { is: 'connectionFailed' },
	},
	{
		name: 'a code that begins with a digit',
		failure: { code: '1E' },
		timedOut: false,
		expected: { is: 'connectionFailed' },
	},
	{
		name: 'a name that only holds it',
		failure: { name: 'NotSsrfBlocked' },
		timedOut: false,
		expected: { is: 'connectionFailed' },
	},
])('of $name the reason is kept, and nothing else', ({ failure, timedOut, expected }) => {
	expect(reasonOfFailure(failure, timedOut)).toStrictEqual(expected);
});

// The words of all others: test/run/sentences.txt.
test.each<{ code: string; words: string }>([
	{ code: 'ENOTFOUND', words: 'the host name is not known (ENOTFOUND)' },
	{ code: 'ECONNRESET', words: 'the connection was broken (ECONNRESET)' },
	{ code: 'ECONNABORTED', words: 'the request timed out (ECONNABORTED)' },
	{ code: 'ERR_BAD_RESPONSE', words: 'the response broke off (ERR_BAD_RESPONSE)' },
	{ code: 'EPROTO', words: 'the address does not use https (EPROTO)' },
	{ code: 'CERT_HAS_EXPIRED', words: "the service's certificate has expired (CERT_HAS_EXPIRED)" },
])('$code is told in words: $words', ({ code, words }) => {
	expect(reasonInWords({ is: 'connectionFailed', code })).toBe(words);
});

test.each<{ reason: Reason; fact: string }>([
	{ reason: { is: 'stoppedByProxy', statusCode: 502 }, fact: '502' },
	{ reason: { is: 'tooLong', statusCode: 201 }, fact: '10 MB' },
	{ reason: { is: 'notEndedInTime', statusCode: 201 }, fact: '201' },
	{ reason: { is: 'brokeOff', statusCode: 422 }, fact: '422' },
	{ reason: { is: 'notConfirmed', field: ['a', 'b'] }, fact: '"a" or "b"' },
	{ reason: { is: 'saidNo', path: 'a' }, fact: '"a"' },
	{ reason: { is: 'saidYes', path: 'a' }, fact: '"a"' },
	{ reason: { is: 'webPage', title: 'Log in' }, fact: '"Log in"' },
])('the words of $reason say $fact', ({ reason, fact }) => {
	expect(reasonInWords(reason)).toContain(fact);
});

test('no two reasons have the same words', () => {
	const reasons: Reason[] = [
		{ is: 'timedOut' },
		{ is: 'hostBlocked' },
		{ is: 'connectionFailed' },
		{ is: 'stoppedByProxy', statusCode: 407 },
		{ is: 'stoppedByProxy', statusCode: 502 },
		{ is: 'tooLong', statusCode: 200 },
		{ is: 'notEndedInTime', statusCode: 200 },
		{ is: 'brokeOff', statusCode: 200 },
		{ is: 'notReadable' },
		{ is: 'notWritable' },
		{ is: 'notConfirmed', field: ['a'] },
		{ is: 'saidNo', path: 'a' },
		{ is: 'saidYes', path: 'a' },
		{ is: 'webPage', title: '' },
		{ is: 'webPage', title: 'Log in' },
		{ is: 'notJson' },
	];
	expect(new Set(reasons.map(reasonInWords)).size).toBe(reasons.length);
});
