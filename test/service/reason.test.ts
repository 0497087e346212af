import { reasonInWords, reasonOfFailure, type Reason } from '../../nodes/Pay/service/reason';

test.each<[string, Parameters<typeof reasonOfFailure>[0], boolean, Reason]>([
	['a time-out, whatever else', { code: 'ECONNRESET' }, true, { is: 'timedOut' }],
	[
		'a host that n8n blocks',
		{ name: 'SsrfBlockedIpError', code: 'E' },
		false,
		{ is: 'hostBlocked' },
	],
	[
		'a failure with its code',
		{ name: 'Error', code: 'ERR_TLS_2' },
		false,
		{ is: 'connectionFailed', code: 'ERR_TLS_2' },
	],
	['a failure without a code', { name: 'Error' }, false, { is: 'connectionFailed' }],
	['a code with a space', { code: 'E TOKEN' }, false, { is: 'connectionFailed' }],
	['a code in small letters', { code: 'Etoken' }, false, { is: 'connectionFailed' }],
	['a code with more before it', { code: 'at E' }, false, { is: 'connectionFailed' }],
	['a code that begins with a digit', { code: '1E' }, false, { is: 'connectionFailed' }],
	['a name that only holds it', { name: 'NotSsrfBlocked' }, false, { is: 'connectionFailed' }],
])('of %s the reason is kept, and nothing else', (_name, failure, timedOut, expected) => {
	expect(reasonOfFailure(failure, timedOut)).toStrictEqual(expected);
});

test('nothing timed out unless it is said', () => {
	expect(reasonOfFailure({ code: 'EPIPE' })).toStrictEqual({
		is: 'connectionFailed',
		code: 'EPIPE',
	});
});

test.each<[Reason, string]>([
	[{ is: 'timedOut' }, 'the time-out passed'],
	[{ is: 'hostBlocked' }, 'this n8n is not allowed to reach that host'],
	[{ is: 'connectionFailed' }, 'the connection failed'],
	[{ is: 'connectionFailed', code: 'EWHATEVER' }, 'the connection failed (EWHATEVER)'],
	[{ is: 'connectionFailed', code: 'ENOTFOUND' }, 'the host name is not known (ENOTFOUND)'],
	[{ is: 'connectionFailed', code: 'EPIPE' }, 'the connection was broken (EPIPE)'],
	[
		{ is: 'stoppedByProxy', statusCode: 407 },
		'a proxy on the way asks for its own name and password (HTTP 407)',
	],
	[
		{ is: 'stoppedByProxy', statusCode: 502 },
		'a proxy on the way did not connect to the service (HTTP 502)',
	],
	[{ is: 'tooLong', statusCode: 200 }, 'the response (HTTP 200) is longer than 10 MB'],
	[
		{ is: 'notEndedInTime', statusCode: 200 },
		'the response (HTTP 200) had not ended when the time-out passed',
	],
	[{ is: 'brokeOff', statusCode: 200 }, 'the response (HTTP 200) broke off or could not be read'],
	[{ is: 'notReadable' }, 'the response could not be read'],
	[{ is: 'notWritable' }, 'the request could not be written'],
	[{ is: 'notConfirmed', field: 'result' }, '"result" does not confirm it (Result Field)'],
	[
		{ is: 'notConfirmed', field: 'result\ndata.code' },
		'"result" or "data.code" does not confirm it (Result Field)',
	],
	[
		{ is: 'saidNo', path: 'result' },
		'"result" has one of the Rejected Values of the Pay API credential',
	],
	[
		{ is: 'saidYes', path: 'result' },
		'"result" has one of the Accepted Values of the Pay API credential',
	],
	[
		{ is: 'webPage', title: '' },
		'the response is a web page, so the Base URL may not be that of the API',
	],
	[
		{ is: 'webPage', title: 'Log in' },
		'the response is a web page titled "Log in", so the Base URL may not be that of the API',
	],
	[{ is: 'notJson' }, 'the response says that it is JSON and cannot be read as JSON'],
	[{ is: 'inWords', words: 'as 0.1.0 said it' }, 'as 0.1.0 said it'],
])('the reason %j in words', (reason, expected) => {
	expect(reasonInWords(reason)).toBe(expected);
});
