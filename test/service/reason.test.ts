import { reasonInWords, reasonOfFailure, type Reason } from '../../nodes/Pay/service/reason';

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

test('nothing timed out unless it is said', () => {
	expect(reasonOfFailure({ code: 'EPIPE' })).toStrictEqual({
		is: 'connectionFailed',
		code: 'EPIPE',
	});
});

test.each<{ reason: Reason; expected: string }>([
	{
		reason: { is: 'timedOut' },
		expected: 'the time-out passed',
	},
	{
		reason: { is: 'hostBlocked' },
		expected: 'this n8n is not allowed to reach that host',
	},
	{
		reason: { is: 'connectionFailed' },
		expected: 'no response came',
	},
	{
		reason: { is: 'connectionFailed', code: 'EWHATEVER' },
		expected: 'no response came (EWHATEVER)',
	},
	{
		reason: { is: 'connectionFailed', code: 'ENOTFOUND' },
		expected: 'the host name is not known (ENOTFOUND)',
	},
	{
		reason: { is: 'connectionFailed', code: 'EPIPE' },
		expected: 'the connection was broken (EPIPE)',
	},
	{
		reason: { is: 'stoppedByProxy', statusCode: 407 },
		expected: 'a proxy on the way asks for its own name and password (HTTP 407)',
	},
	{
		reason: { is: 'stoppedByProxy', statusCode: 502 },
		expected: 'a proxy on the way did not connect to the service (HTTP 502)',
	},
	{
		reason: { is: 'tooLong', statusCode: 200 },
		expected: 'the response (HTTP 200) is longer than 10 MB',
	},
	{
		reason: { is: 'notEndedInTime', statusCode: 200 },
		expected: 'the response (HTTP 200) had not ended when the time-out passed',
	},
	{
		reason: { is: 'brokeOff', statusCode: 200 },
		expected: 'the response (HTTP 200) broke off or could not be read',
	},
	{
		reason: { is: 'notReadable' },
		expected: 'the response could not be read',
	},
	{
		reason: { is: 'notWritable' },
		expected: 'the request could not be written',
	},
	{
		reason: { is: 'notConfirmed', field: 'result' },
		expected: '"result" does not confirm it (Result Field)',
	},
	{
		reason: { is: 'notConfirmed', field: 'result\ndata.code' },
		expected: '"result" or "data.code" does not confirm it (Result Field)',
	},
	{
		reason: { is: 'saidNo', path: 'result' },
		expected: '"result" has one of the Rejected Values of the Pay API credential',
	},
	{
		reason: { is: 'saidYes', path: 'result' },
		expected: '"result" has one of the Accepted Values of the Pay API credential',
	},
	{
		reason: { is: 'webPage', title: '' },
		expected: 'the response is a web page, so the Base URL may not be that of the API',
	},
	{
		reason: { is: 'webPage', title: 'Log in' },
		expected:
			'the response is a web page titled "Log in", so the Base URL may not be that of the API',
	},
	{
		reason: { is: 'notJson' },
		expected: 'the response says that it is JSON and cannot be read as JSON',
	},
])('the reason $reason in words', ({ reason, expected }) => {
	expect(reasonInWords(reason)).toBe(expected);
});
