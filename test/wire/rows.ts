import type { Socket } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import type { RequestResult } from '../../nodes/Pay/service/client';
import type { Behaviour } from './servers';

/** One way for the wire to behave, and what must be said of it. */
export interface Row {
	name: string;
	expected: Partial<RequestResult> & Pick<RequestResult, 'outcome'>;
	server?: Behaviour | 'refused';
	/** Which certificate a TLS server shows. */
	certificate?: 'trusted' | 'untrusted' | 'otherHost';
	/** Milliseconds; long enough for a busy machine, when absent. */
	timeout?: number;
	/** A request this long cannot go out while nobody reads. */
	long?: true;
	/** Keeps the processor busy, so that it goes alone. */
	heavy?: true;
	/** Through the proxy: to an https: or an http: address. */
	proxy?: { to: 'https' | 'http'; response?: string | Buffer; onRequest?(socket: Socket): unknown };
	/** Which token to send. */
	token?: string;
}

/** A server that writes these bytes. Where more is expected than an outcome, an object says it. */
const answered = (
	name: string,
	expected: RequestResult['outcome'] | Row['expected'],
	response: string | Buffer,
): Row => ({
	name,
	expected: typeof expected === 'string' ? { outcome: expected } : expected,
	server: { response },
});

const SHORT = 1_000;

/** The bytes of a response whose body has its length. */
function httpResponse(
	status: string,
	body: string | Buffer = '{"id":1}',
	...headers: string[]
): Buffer {
	const length = `Content-Length: ${Buffer.byteLength(body)}`;
	const head = responseHead(status, length, 'Connection: close', ...headers);
	return Buffer.concat([Buffer.from(head), Buffer.from(body)]);
}

/** The head of a response; its body follows. */
function responseHead(status: string, ...headers: string[]): string {
	return [`HTTP/1.1 ${status}`, ...headers, '\r\n'].join('\r\n');
}

/** Writes something, and then a piece now and then for ever. */
function writeForEver(socket: Socket, start: string, piece = 'x') {
	socket.write(start);
	const timer = setInterval(() => socket.write(piece), 50);
	socket.on('close', () => clearInterval(timer));
}

const closes = (socket: Socket) => socket.destroy();
const resets = (socket: Socket) => socket.resetAndDestroy();

/** The same body with each status, whose code the result names. */
const ofStatus = (status: string, outcome: RequestResult['outcome']) =>
	answered(
		`status ${status}`,
		{ outcome, statusCode: Number.parseInt(status) },
		httpResponse(status),
	);

/** What each status means: test/service/outcome.test.ts. These are the kinds that a request helper may treat apart. */
const STATUSES: Row[] = [
	ofStatus('200 OK', 'accepted'),
	ofStatus('201 Created', 'accepted'),
	ofStatus('299 Odd', 'accepted'),
	ofStatus('302 Found', 'unknown'),
	ofStatus('307 Temporary', 'rejected'),
	ofStatus('400 Bad', 'rejected'),
	ofStatus('401 Who', 'rejected'),
	ofStatus('409 Conflict', 'unknown'),
	ofStatus('500 Error', 'unknown'),
	ofStatus('600 Odd', 'unknown'),
	answered('status 099', 'unknown', httpResponse('099 Odd')),
	answered('204 without a body', 'accepted', 'HTTP/1.1 204 No Content\r\n\r\n'),
	{
		name: '304 without a body',
		expected: { outcome: 'unknown' },
		server: { response: 'HTTP/1.1 304 Not Modified\r\nConnection: close\r\n\r\n' },
	},
	{
		name: '407 that no proxy gave',
		expected: { outcome: 'notSent', statusCode: 407 },
		server: { response: httpResponse('407 Proxy') },
	},
	{
		name: '200 without a reason phrase',
		expected: { outcome: 'accepted' },
		server: { response: 'HTTP/1.1 200\r\nContent-Length: 2\r\n\r\n{}' },
	},
];

const SWITCHING = 'HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n';
const HINTS = 'HTTP/1.1 103 Hints\r\nLink: </a>\r\n\r\n';
const BEFORE_THE_ANSWER: Row[] = [
	answered(
		'100, then 201',
		'accepted',
		Buffer.concat([Buffer.from('HTTP/1.1 100 Continue\r\n\r\n'), httpResponse('201 Created')]),
	),
	{
		name: '103, then 201',
		expected: { outcome: 'accepted' },
		server: { response: Buffer.concat([Buffer.from(HINTS), httpResponse('201 Made')]) },
	},
	{
		name: '103, then 500',
		expected: { outcome: 'unknown' },
		server: { response: Buffer.concat([Buffer.from(HINTS), httpResponse('500 Error')]) },
	},
	answered('100 alone, then the end', 'unknown', 'HTTP/1.1 100 Continue\r\n\r\n'),
	{
		name: '102 for ever',
		expected: { outcome: 'unknown', reason: { is: 'timedOut' } },
		server: { onRequest: (socket) => writeForEver(socket, '', 'HTTP/1.1 102 Processing\r\n\r\n') },
		timeout: SHORT,
	},
	{
		name: '101, then silence',
		expected: { outcome: 'unknown' },
		server: { onRequest: (socket) => socket.write(SWITCHING) },
		timeout: SHORT,
	},
	{
		name: '101, then the end',
		expected: { outcome: 'unknown' },
		server: { response: SWITCHING },
		timeout: SHORT,
	},
];

const CHUNKED = 'Transfer-Encoding: chunked';
const FRAMING: Row[] = [
	answered('HTTP/1.0, ended by the close', 'accepted', 'HTTP/1.0 200 OK\r\n\r\n{"id":1}'),
	{
		name: 'HTTP/1.0 422, ended by a reset',
		expected: { outcome: 'unknown' },
		server: {
			onRequest: (socket) => {
				socket.write('HTTP/1.0 422 No\r\n\r\n{"id":');
				// Where data and reset are read at once, libuv takes the reset for the end: hence the pause.
				setTimeout(() => setImmediate(() => socket.resetAndDestroy()), 500);
			},
		},
		timeout: 10_000,
	},
	{ name: 'HTTP/0.9', expected: { outcome: 'unknown' }, server: { response: '{"id":1}' } },
	answered('HTTP/2 frames', 'unknown', Buffer.from('000012040000000000', 'hex')),
	answered('not HTTP', 'unknown', 'This is not HTTP\r\n\r\n'),
	answered('lone line feeds', 'unknown', 'HTTP/1.1 200 OK\nContent-Length: 2\n\n{}'),
	answered('two equal Content-Types', 'accepted', httpResponse('200 OK', '{}', 'X-A: 1', 'X-A: 1')),
	{
		name: 'two Content-Lengths that differ',
		expected: { outcome: 'unknown' },
		server: { response: `${responseHead('200 OK', 'Content-Length: 2', 'Content-Length: 3')}{}\n` },
	},
	answered(
		'Content-Length and chunks at once',
		'unknown',
		`${responseHead('200 OK', 'Content-Length: 2', CHUNKED)}2\r\n{}\r\n0\r\n\r\n`,
	),
	{
		name: 'chunks',
		expected: { outcome: 'accepted', response: { id: 1 } },
		server: { response: `${responseHead('200 OK', CHUNKED)}4\r\n{"id\r\n4\r\n":1}\r\n0\r\n\r\n` },
	},
	{
		name: 'a broken chunk in a 201',
		expected: { outcome: 'unknown' },
		server: { response: `${responseHead('201 Made', CHUNKED)}5\r\n{"id"\r\nZZ\r\n` },
	},
	{
		name: 'chunks of a 422 cut off',
		expected: { outcome: 'unknown' },
		server: { response: `${responseHead('422 No', CHUNKED)}5\r\n{"id"\r\n` },
	},
	{
		name: 'a 201 shorter than its Content-Length',
		expected: { outcome: 'unknown', reason: { is: 'brokeOff', statusCode: 201 } },
		server: { response: `${responseHead('201 Made', 'Content-Length: 500')}{"id":` },
	},
	{
		name: 'a 200 longer than its Content-Length',
		expected: { outcome: 'accepted', response: {} },
		server: { response: `${responseHead('200 OK', 'Content-Length: 2')}{}{"again":1}` },
	},
	answered(
		'two answers',
		'accepted',
		Buffer.concat([httpResponse('200 OK', '{}'), httpResponse('500 Error', '{}')]),
	),
	answered('a head of 20 KB', 'unknown', httpResponse('200 OK', '{}', `X: ${'a'.repeat(20_000)}`)),
];

const LONG_ID = '12345678901234567890';
const TEXT = '{"id":1}';
const ODD_TOKEN = 'quoted"\\token+/=&x';
/** What repeats a request's token and postback URL. */
const echo = (token: string, proof: string) => ({
	message: 'bad',
	headers: { authorization: `Bearer ${token}` },
	url: `https://a.test/?pay_proof=${proof}`,
});
const ECHO = httpResponse('422 No', JSON.stringify(echo(ODD_TOKEN, 'reference.mac-of-the-test')));
const BODIES: Row[] = [
	answered(
		'gzip',
		{ outcome: 'accepted', response: { id: LONG_ID } },
		httpResponse('200 OK', gzipSync(`{"id":${LONG_ID}}`), 'Content-Encoding: gzip'),
	),
	{
		name: 'deflate',
		expected: { outcome: 'accepted', response: { id: 1 } },
		server: { response: httpResponse('200 OK', deflateSync(TEXT), 'Content-Encoding: deflate') },
	},
	{
		name: 'brotli',
		expected: { outcome: 'accepted', response: { id: 1 } },
		server: { response: httpResponse('200 OK', brotliCompressSync(TEXT), 'Content-Encoding: br') },
	},
	answered('gzip that is none', 'unknown', httpResponse('200 OK', TEXT, 'Content-Encoding: gzip')),
	answered('brotli that is none', 'unknown', httpResponse('200 OK', TEXT, 'Content-Encoding: br')),
	// The answer itself is whole.
	answered(
		'gzip cut short',
		'accepted',
		httpResponse('200 OK', gzipSync(TEXT).subarray(0, 15), 'Content-Encoding: gzip'),
	),
	{
		name: 'an encoding nobody knows',
		expected: { outcome: 'accepted', response: { id: 1 } },
		server: { response: httpResponse('200 OK', TEXT, 'Content-Encoding: rot13') },
	},
	{
		name: 'a gzip bomb of 20 MB',
		expected: { outcome: 'unknown', reason: { is: 'tooLong', statusCode: 201 } },
		server: {
			response: httpResponse(
				'201 Made',
				gzipSync(Buffer.alloc(20_000_000, 'a')),
				'Content-Encoding: gzip',
			),
		},
		heavy: true,
	},
	{
		name: 'a byte order mark',
		expected: { outcome: 'accepted', response: { id: 1 } },
		server: { response: httpResponse('200 OK', '\ufeff{"id":1}') },
	},
	{
		name: 'bad UTF-8',
		expected: { outcome: 'accepted', response: { id: '\ufffd' } },
		server: { response: httpResponse('200 OK', Buffer.from('7b226964223a22ff227d', 'hex')) },
	},
	answered('null', { outcome: 'accepted', response: null }, httpResponse('200 OK', 'null')),
	answered('a list', { outcome: 'accepted', response: [1, 2] }, httpResponse('200 OK', '[1,2]')),
	answered('HTML', { outcome: 'unknown', response: '<html>' }, httpResponse('200 OK', '<html>')),
	// On n8n 2 a 201 comes as an error, whose headers stand elsewhere.
	answered(
		'200 OK that says it is JSON and is not',
		{ outcome: 'unknown', reason: { is: 'notJson' } },
		httpResponse('200 OK', '{"id":', 'Content-Type: Application/JSON;charset=utf-8'),
	),
	answered(
		'201 Made that says it is JSON and is not',
		{ outcome: 'unknown', reason: { is: 'notJson' } },
		httpResponse('201 Made', '{"id":', 'Content-Type: Application/JSON;charset=utf-8'),
	),
	answered('an empty body', { outcome: 'accepted', response: '' }, httpResponse('200 OK', '')),
	{
		name: 'the head of JSON',
		expected: { outcome: 'accepted', response: '{"id":' },
		server: { response: httpResponse('200 OK', '{"id":') },
	},
	{
		name: 'headers that are echoed',
		expected: { outcome: 'rejected', response: echo('***', '***') },
		server: { response: ECHO },
		token: ODD_TOKEN,
	},
];

const TIME: Row[] = [
	{
		name: 'no answer',
		expected: { outcome: 'unknown', reason: { is: 'timedOut' } },
		timeout: SHORT,
		server: {},
	},
	{
		name: 'a head that never ends',
		expected: { outcome: 'unknown', reason: { is: 'timedOut' } },
		server: { onRequest: (socket) => writeForEver(socket, 'HTTP/1.1 200 OK\r\nX: ') },
		timeout: SHORT,
	},
	{
		name: 'a dripping 200 OK',
		expected: { outcome: 'unknown', reason: { is: 'notEndedInTime', statusCode: 200 } },
		server: {
			onRequest: (socket) => writeForEver(socket, responseHead('200 OK', 'Content-Length: 100000')),
		},
		timeout: 2 * SHORT,
	},
	{
		name: 'the head of a 200 OK, then silence',
		expected: { outcome: 'unknown' },
		server: {
			onRequest: (socket) => socket.write(responseHead('200 OK', 'Content-Length: 100000')),
		},
		timeout: SHORT,
	},
	{
		name: 'a dripping 422 No',
		expected: { outcome: 'unknown', reason: { is: 'notEndedInTime', statusCode: 422 } },
		server: {
			onRequest: (socket) => writeForEver(socket, responseHead('422 No', 'Content-Length: 100000')),
		},
		timeout: 2 * SHORT,
	},
	{
		name: 'the head of a 422 No, then silence',
		expected: { outcome: 'unknown' },
		server: {
			onRequest: (socket) => socket.write(responseHead('422 No', 'Content-Length: 100000')),
		},
		timeout: SHORT,
	},
	{
		name: 'gzip that never ends',
		expected: { outcome: 'unknown' },
		server: {
			onRequest: (socket) =>
				socket.write(
					Buffer.concat([
						Buffer.from(responseHead('200 OK', 'Content-Encoding: gzip')),
						gzipSync(TEXT).subarray(0, 15),
					]),
				),
		},
		timeout: SHORT,
	},
];

const CONNECTION: Row[] = [
	{ name: 'refused', expected: { outcome: 'notSent' }, server: 'refused' },
	{ name: 'closed at once', expected: { outcome: 'unknown' }, server: { onConnection: closes } },
	{ name: 'reset on the head', expected: { outcome: 'unknown' }, server: { onHead: resets } },
	{
		name: 'reset after the request',
		expected: { outcome: 'unknown' },
		server: { onRequest: resets },
	},
	{
		name: 'closed after the request',
		expected: { outcome: 'unknown' },
		server: { onRequest: closes },
	},
	{
		name: 'a request that nobody reads, time-out',
		expected: { outcome: 'notSent', reason: { is: 'timedOut' } },
		timeout: 4 * SHORT,
		long: true,
		server: { deaf: true },
	},
	{
		name: 'a request that nobody reads over TLS, time-out',
		expected: { outcome: 'unknown' },
		certificate: 'trusted',
		// A handshake, and 20 MB to encrypt, come before there is anything that nobody reads.
		timeout: 12 * SHORT,
		long: true,
		server: { deaf: true },
	},
	{
		name: '400 before the request came whole',
		expected: { outcome: 'rejected' },
		long: true,
		server: { onHead: (socket) => socket.end(httpResponse('400 Bad')) },
	},
	{
		name: '201 before the request came whole',
		expected: { outcome: 'accepted' },
		long: true,
		server: { onHead: (socket) => socket.end(httpResponse('201 Made')) },
	},
	{
		name: '500 before the request came whole',
		expected: { outcome: 'unknown' },
		long: true,
		server: { onHead: (socket) => socket.end(httpResponse('500 Error')) },
	},
];

const HALF = 'HTTP/1.1 201 Made\r\nContent-Length: 50\r\n\r\n{';
/** What both versions of TLS are tried with. */
function rowsOfTls(version: 'TLSv1.2' | 'TLSv1.3'): Row[] {
	return [
		{
			name: `${version}: 201`,
			expected: { outcome: 'accepted', response: { id: 1 } },
			certificate: 'trusted',
			server: { tls: { maxVersion: version }, response: httpResponse('201 Made') },
		},
		{
			name: `${version}: 407 from within the tunnel`,
			expected: { outcome: 'notSent', statusCode: 407 },
			certificate: 'trusted',
			server: { tls: { maxVersion: version }, response: httpResponse('407 Proxy') },
		},
		{
			name: `${version}: a certificate that is not trusted`,
			expected: { outcome: 'notSent' },
			certificate: 'untrusted',
			server: { tls: { maxVersion: version }, response: httpResponse('201 Made') },
		},
		{
			name: `${version}: a certificate for another host`,
			expected: { outcome: 'notSent' },
			certificate: 'otherHost',
			server: { tls: { maxVersion: version }, response: httpResponse('201 Made') },
		},
		{
			name: `${version}: closed after the request`,
			expected: { outcome: 'unknown' },
			certificate: 'trusted',
			server: { tls: { maxVersion: version }, onRequest: closes },
		},
		{
			name: `${version}: closed on the head of the request`,
			expected: { outcome: 'unknown' },
			certificate: 'trusted',
			server: { tls: { maxVersion: version }, onHead: closes },
		},
		{
			name: `${version}: ended without close_notify in the middle of a 201`,
			expected: { outcome: 'unknown' },
			certificate: 'trusted',
			server: {
				tls: { maxVersion: version },
				onRequest: (socket) => socket.write(HALF, () => socket.destroy()),
			},
		},
		// With 1.3 the client is through with the handshake before the server can refuse.
		{
			name: `${version}: a client certificate demanded`,
			expected: { outcome: version === 'TLSv1.2' ? 'notSent' : 'unknown' },
			certificate: 'trusted',
			server: { tls: { maxVersion: version, requestCert: true, rejectUnauthorized: true } },
		},
	];
}

const TLS: Row[] = [
	{
		name: 'TLS to a server that says nothing',
		expected: { outcome: 'notSent', reason: { is: 'timedOut' } },
		timeout: SHORT,
		certificate: 'trusted',
		server: { tls: undefined },
	},
	{
		name: 'TLS cut after the first message',
		expected: { outcome: 'notSent' },
		certificate: 'trusted',
		server: { onConnection: (socket) => socket.once('data', () => closes(socket)) },
	},
	{
		name: 'TLS reset after the first message',
		expected: { outcome: 'notSent' },
		certificate: 'trusted',
		server: { onConnection: (socket) => socket.once('data', () => resets(socket)) },
	},
	{
		name: 'TLS half a record, then the end',
		expected: { outcome: 'notSent' },
		certificate: 'trusted',
		server: {
			onConnection: (socket) => socket.once('data', () => socket.end(Buffer.from('160303', 'hex'))),
		},
	},
	{
		name: 'TLS answered in plain HTTP',
		expected: { outcome: 'notSent' },
		certificate: 'trusted',
		server: {
			onConnection: (socket) => socket.once('data', () => socket.end(httpResponse('400 Bad'))),
		},
	},
	...rowsOfTls('TLSv1.2'),
	...rowsOfTls('TLSv1.3'),
	{
		name: 'TLSv1.2: renegotiation, then the end',
		expected: { outcome: 'unknown' },
		certificate: 'trusted',
		server: {
			tls: { maxVersion: 'TLSv1.2' },
			onRequest: (socket) => {
				(socket as import('node:tls').TLSSocket).renegotiate({}, () => undefined);
				setTimeout(() => socket.destroy(), 200);
			},
		},
	},
];

const CONNECTED = 'HTTP/1.1 200 Connected\r\n\r\n';
const PROXIES: Row[] = [
	{
		name: 'proxy, https: CONNECT answered 201 Made',
		expected: { outcome: 'notSent', statusCode: 201 },
		proxy: { to: 'https', response: httpResponse('201 Made') },
	},
	{
		name: 'proxy, https: CONNECT answered 302 Portal',
		expected: { outcome: 'notSent', statusCode: 302 },
		proxy: { to: 'https', response: httpResponse('302 Portal') },
	},
	{
		name: 'proxy, https: CONNECT answered 407 Proxy',
		expected: { outcome: 'notSent', statusCode: 407 },
		proxy: { to: 'https', response: httpResponse('407 Proxy') },
	},
	{
		name: 'proxy, https: CONNECT answered 502 Bad',
		expected: { outcome: 'notSent', statusCode: 502 },
		proxy: { to: 'https', response: httpResponse('502 Bad') },
	},
	{
		name: 'proxy, https: drops',
		expected: { outcome: 'notSent' },
		proxy: { to: 'https', onRequest: closes },
	},
	{
		name: 'proxy, https: resets',
		expected: { outcome: 'notSent' },
		proxy: { to: 'https', onRequest: resets },
	},
	{
		name: 'proxy, https: answers nonsense',
		expected: { outcome: 'notSent' },
		proxy: { to: 'https', response: 'nonsense\r\n\r\n' },
	},
	{
		name: 'proxy, https: stalls',
		expected: { outcome: 'notSent', reason: { is: 'timedOut' } },
		proxy: { to: 'https', onRequest: () => {} },
		timeout: SHORT,
	},
	{
		name: 'proxy, https: connects, then drops',
		expected: { outcome: 'notSent' },
		proxy: { to: 'https', response: CONNECTED },
	},
	{
		name: 'proxy, https: connects, then stalls',
		expected: { outcome: 'notSent' },
		proxy: { to: 'https', onRequest: (socket) => socket.write(CONNECTED) },
		timeout: SHORT,
	},
	{
		name: 'proxy, https: connects, then talks nonsense',
		expected: { outcome: 'notSent' },
		proxy: {
			to: 'https',
			onRequest: (socket) => socket.write(`${CONNECTED}${'garbage '.repeat(3)}`),
		},
		timeout: SHORT,
	},
	{
		name: 'proxy, http: answers 200 OK to everything',
		expected: { outcome: 'accepted', statusCode: 200 },
		proxy: { to: 'http', response: httpResponse('200 OK') },
	},
	{
		name: 'proxy, http: answers 502 Bad',
		expected: { outcome: 'unknown' },
		proxy: { to: 'http', response: httpResponse('502 Bad') },
	},
	{
		name: 'proxy, http: answers 403',
		expected: { outcome: 'rejected' },
		proxy: { to: 'http', response: httpResponse('403 No') },
	},
	{
		name: 'proxy, http: answers 407',
		expected: { outcome: 'notSent', statusCode: 407 },
		proxy: { to: 'http', response: httpResponse('407 Proxy') },
	},
	{
		name: 'proxy, http: drops',
		expected: { outcome: 'unknown' },
		proxy: { to: 'http', onRequest: closes },
	},
	{
		name: 'proxy, http: stalls',
		expected: { outcome: 'unknown' },
		proxy: { to: 'http', onRequest: () => {} },
		timeout: SHORT,
	},
];

export const ROWS: Row[] = [
	...STATUSES,
	...BEFORE_THE_ANSWER,
	...FRAMING,
	...BODIES,
	...TIME,
	...CONNECTION,
	...TLS,
	...PROXIES,
];
