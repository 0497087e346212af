import type { Socket } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import type { RequestResult } from '../../nodes/Pay/service/client';
import type { Behaviour, ProxyBehaviour } from './servers';

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
	proxy?: { to: 'https' | 'http'; play: ProxyBehaviour };
	/** Which token to send. */
	token?: string;
}

const SHORT = 1_000;

const http = (status: string, body: string | Buffer = '{"id":1}', ...headers: string[]) =>
	Buffer.concat([
		Buffer.from(
			[
				`HTTP/1.1 ${status}`,
				`Content-Length: ${Buffer.byteLength(body)}`,
				'Connection: close',
				...headers,
				'\r\n',
			].join('\r\n'),
		),
		Buffer.from(body),
	]);

const says =
	(...parts: Array<string | Buffer>) =>
	(socket: Socket) =>
		socket.end(Buffer.concat(parts.map((part) => Buffer.from(part as string))));

/** Writes something, and then a byte now and then for ever. */
const drips =
	(start: string, drop = 'x') =>
	(socket: Socket) => {
		socket.write(start);
		const timer = setInterval(() => socket.write(drop), 50);
		socket.on('close', () => clearInterval(timer));
	};

const UNKNOWN = { outcome: 'unknown' } as const;
const ACCEPTED = { outcome: 'accepted' } as const;
const REJECTED = { outcome: 'rejected' } as const;
const NOTHING = { outcome: 'notSent' } as const;

const answer = (
	name: string,
	expected: Row['expected'],
	...parts: Array<string | Buffer>
): Row => ({ name, expected, server: { onRequest: says(...parts) } });

const status = (line: string, expected: Row['expected']): Row =>
	answer(`status ${line}`, { statusCode: parseInt(line), ...expected }, http(line));

const STATUSES: Row[] = [
	...['200 OK', '201 Created', '202 Accepted', '299 Odd'].map((line) => status(line, ACCEPTED)),
	...['300 Choices', '301 Moved', '302 Found', '303 See Other', '305 Use Proxy', '306 Odd'].map(
		(line) => status(line, UNKNOWN),
	),
	...['307 Temporary', '308 Permanent'].map((line) => status(line, REJECTED)),
	...['400 Bad', '401 Who', '403 No', '404 Not', '425 Early', '429 Many'].map((line) =>
		status(line, REJECTED),
	),
	...[
		'408 Late',
		'409 Conflict',
		'499 Gone',
		'500 Error',
		'502 Bad',
		'503 Busy',
		'504 Late',
		'600 Odd',
	].map((line) => status(line, UNKNOWN)),
	answer('status 099', UNKNOWN, http('099 Odd')),
	answer('204 without a body', ACCEPTED, 'HTTP/1.1 204 No Content\r\n\r\n'),
	answer('304 without a body', UNKNOWN, 'HTTP/1.1 304 Not Modified\r\nConnection: close\r\n\r\n'),
	answer('407 that no proxy gave', { ...NOTHING, statusCode: 407 }, http('407 Proxy')),
	answer('200 without a reason phrase', ACCEPTED, 'HTTP/1.1 200\r\nContent-Length: 2\r\n\r\n{}'),
];

const BEFORE_THE_ANSWER: Row[] = [
	answer('100, then 201', ACCEPTED, 'HTTP/1.1 100 Continue\r\n\r\n', http('201 Created')),
	answer('103, then 201', ACCEPTED, 'HTTP/1.1 103 Hints\r\nLink: </a>\r\n\r\n', http('201 Made')),
	answer('103, then 500', UNKNOWN, 'HTTP/1.1 103 Hints\r\nLink: </a>\r\n\r\n', http('500 Error')),
	answer('100 alone, then the end', UNKNOWN, 'HTTP/1.1 100 Continue\r\n\r\n'),
	{
		name: '102 for ever',
		expected: { ...UNKNOWN, reason: 'the time-out passed' },
		timeout: SHORT,
		server: { onRequest: drips('', 'HTTP/1.1 102 Processing\r\n\r\n') },
	},
	{
		name: '101, then silence',
		expected: UNKNOWN,
		timeout: SHORT,
		server: {
			onRequest: (socket) =>
				socket.write('HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'),
		},
	},
	{
		...answer(
			'101, then the end',
			UNKNOWN,
			'HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n',
		),
		timeout: SHORT,
	},
];

const FRAMING: Row[] = [
	answer('HTTP/1.0, ended by the close', ACCEPTED, 'HTTP/1.0 200 OK\r\n\r\n{"id":1}'),
	{
		// Where data and reset are read at once, libuv takes the reset for the end: hence the pause.
		name: 'HTTP/1.0 422, ended by a reset',
		expected: UNKNOWN,
		timeout: 10_000,
		server: {
			onRequest: (socket) => {
				socket.write('HTTP/1.0 422 No\r\n\r\n{"id":');
				setTimeout(() => setImmediate(() => socket.resetAndDestroy()), 500);
			},
		},
	},
	answer('HTTP/0.9', UNKNOWN, '{"id":1}'),
	answer('HTTP/2 frames', UNKNOWN, Buffer.from('000012040000000000', 'hex')),
	answer('not HTTP', UNKNOWN, 'This is not HTTP\r\n\r\n'),
	answer('lone line feeds', UNKNOWN, 'HTTP/1.1 200 OK\nContent-Length: 2\n\n{}'),
	answer('two equal Content-Types', ACCEPTED, http('200 OK', '{}', 'X-A: 1', 'X-A: 1')),
	answer(
		'two Content-Lengths that differ',
		UNKNOWN,
		'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}\n',
	),
	answer(
		'Content-Length and chunks at once',
		UNKNOWN,
		'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
	),
	answer(
		'chunks',
		{ ...ACCEPTED, response: { id: 1 } },
		'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n{"id\r\n4\r\n":1}\r\n0\r\n\r\n',
	),
	answer(
		'a broken chunk in a 201',
		UNKNOWN,
		'HTTP/1.1 201 Made\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"id"\r\nZZ\r\n',
	),
	answer(
		'chunks of a 422 cut off',
		UNKNOWN,
		'HTTP/1.1 422 No\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"id"\r\n',
	),
	answer(
		'a 201 shorter than its Content-Length',
		{ ...UNKNOWN, reason: 'the response (HTTP 201) broke off or could not be read' },
		'HTTP/1.1 201 Made\r\nContent-Length: 500\r\n\r\n{"id":',
	),
	answer(
		'a 200 longer than its Content-Length',
		{ ...ACCEPTED, response: {} },
		'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}{"again":1}',
	),
	answer('two answers', ACCEPTED, http('200 OK', '{}'), http('500 Error', '{}')),
	answer(
		'a head of 20 KB',
		UNKNOWN,
		`HTTP/1.1 200 OK\r\nX: ${'a'.repeat(20_000)}\r\nContent-Length: 2\r\n\r\n{}`,
	),
];

const BODIES: Row[] = [
	answer(
		'gzip',
		{ ...ACCEPTED, response: { id: '12345678901234567890' } },
		http('200 OK', gzipSync('{"id":12345678901234567890}'), 'Content-Encoding: gzip'),
	),
	answer(
		'deflate',
		{ ...ACCEPTED, response: { id: 1 } },
		http('200 OK', deflateSync('{"id":1}'), 'Content-Encoding: deflate'),
	),
	answer(
		'brotli',
		{ ...ACCEPTED, response: { id: 1 } },
		http('200 OK', brotliCompressSync('{"id":1}'), 'Content-Encoding: br'),
	),
	answer('gzip that is none', UNKNOWN, http('200 OK', '{"id":1}', 'Content-Encoding: gzip')),
	answer('brotli that is none', UNKNOWN, http('200 OK', '{"id":1}', 'Content-Encoding: br')),
	// The answer itself is whole.
	answer(
		'gzip cut short',
		ACCEPTED,
		http('200 OK', gzipSync('{"id":1}').subarray(0, 15), 'Content-Encoding: gzip'),
	),
	answer(
		'an encoding nobody knows',
		{ ...ACCEPTED, response: { id: 1 } },
		http('200 OK', '{"id":1}', 'Content-Encoding: rot13'),
	),
	{
		...answer(
			'a gzip bomb of 200 MB',
			{ ...UNKNOWN, reason: 'the response (HTTP 201) is longer than 10 MB' },
			http('201 Made', gzipSync(Buffer.alloc(200_000_000, 'a')), 'Content-Encoding: gzip'),
		),
		heavy: true,
	},
	{
		...answer(
			'a body of 11 MB',
			{ ...UNKNOWN, reason: 'the response (HTTP 201) is longer than 10 MB' },
			http('201 Made', 'a'.repeat(11_000_000)),
		),
		heavy: true,
	},
	answer(
		'a byte order mark',
		{ ...ACCEPTED, response: { id: 1 } },
		http('200 OK', '\ufeff{"id":1}'),
	),
	answer(
		'bad UTF-8',
		{ ...ACCEPTED, response: { id: '\ufffd' } },
		http('200 OK', Buffer.from('7b226964223a22ff227d', 'hex')),
	),
	answer('null', { ...ACCEPTED, response: null }, http('200 OK', 'null')),
	answer('a list', { ...ACCEPTED, response: [1, 2] }, http('200 OK', '[1,2]')),
	answer('HTML', { ...UNKNOWN, response: '<html>' }, http('200 OK', '<html>')),
	// On n8n 2 a 201 comes as an error, whose headers stand elsewhere.
	...['200 OK', '201 Made'].map((status) =>
		answer(
			`${status} that says it is JSON and is not`,
			{ ...UNKNOWN, reason: 'the response says that it is JSON and cannot be read as JSON' },
			http(status, '{"id":', 'Content-Type: Application/JSON;charset=utf-8'),
		),
	),
	answer('an empty body', { ...ACCEPTED, response: '' }, http('200 OK', '')),
	answer('the head of JSON', { ...ACCEPTED, response: '{"id":' }, http('200 OK', '{"id":')),
	{
		name: 'headers that are echoed',
		token: 'quoted"\\token+/=&é'.replace('é', 'x'),
		expected: {
			...REJECTED,
			response: {
				message: 'bad',
				headers: { authorization: 'Bearer ***' },
				url: 'https://a.test/?pay_proof=***',
			},
		},
		server: {
			onRequest: says(
				http(
					'422 No',
					JSON.stringify({
						message: 'bad',
						headers: { authorization: 'Bearer quoted"\\token+/=&x' },
						url: 'https://a.test/?pay_proof=reference.mac-of-the-test',
					}),
				),
			),
		},
	},
];

const TIME: Row[] = [
	{
		name: 'no answer',
		expected: { ...UNKNOWN, reason: 'the time-out passed' },
		timeout: SHORT,
		server: {},
	},
	{
		name: 'a head that never ends',
		expected: { ...UNKNOWN, reason: 'the time-out passed' },
		timeout: SHORT,
		server: { onRequest: drips('HTTP/1.1 200 OK\r\nX: ') },
	},
	...['200 OK', '422 No'].flatMap((line): Row[] => [
		{
			name: `a dripping ${line}`,
			expected: {
				...UNKNOWN,
				reason: `the response (HTTP ${parseInt(line)}) had not ended when the time-out passed`,
			},
			timeout: 2 * SHORT,
			server: { onRequest: drips(`HTTP/1.1 ${line}\r\nContent-Length: 100000\r\n\r\n`) },
		},
		{
			name: `the head of a ${line}, then silence`,
			expected: UNKNOWN,
			timeout: SHORT,
			server: {
				onRequest: (socket) => socket.write(`HTTP/1.1 ${line}\r\nContent-Length: 100\r\n\r\n`),
			},
		},
	]),
	{
		name: 'gzip that never ends',
		expected: UNKNOWN,
		timeout: SHORT,
		server: {
			onRequest: (socket) =>
				socket.write(
					Buffer.concat([
						Buffer.from('HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n'),
						gzipSync('{"id":1}').subarray(0, 15),
					]),
				),
		},
	},
];

const CONNECTION: Row[] = [
	{ name: 'refused', expected: NOTHING, server: 'refused' },
	{
		name: 'closed at once',
		expected: { outcome: 'unknown' },
		server: { onConnection: (socket) => socket.destroy() },
	},
	{
		name: 'reset on the head',
		expected: { outcome: 'unknown' },
		server: { onHead: (socket) => socket.resetAndDestroy() },
	},
	{
		name: 'reset after the request',
		expected: UNKNOWN,
		server: { onRequest: (socket) => socket.resetAndDestroy() },
	},
	{
		name: 'closed after the request',
		expected: UNKNOWN,
		server: { onRequest: (socket) => socket.destroy() },
	},
	{
		name: 'a request that nobody reads, time-out',
		expected: { outcome: 'notSent', reason: 'the time-out passed' },
		timeout: 4 * SHORT,
		long: true,
		server: { deaf: true },
	},
	{
		name: 'a request that nobody reads over TLS, time-out',
		expected: UNKNOWN,
		certificate: 'trusted',
		timeout: 4 * SHORT,
		long: true,
		server: { deaf: true },
	},
	{
		name: '400 before the request came whole',
		expected: { outcome: 'rejected' },
		long: true,
		server: { onHead: says(http('400 Bad')) },
	},
	{
		name: '201 before the request came whole',
		expected: { outcome: 'accepted' },
		long: true,
		server: { onHead: says(http('201 Made')) },
	},
	{
		name: '500 before the request came whole',
		expected: { outcome: 'unknown' },
		long: true,
		server: { onHead: says(http('500 Error')) },
	},
];

const VERSIONS = ['TLSv1.2', 'TLSv1.3'] as const;
const TLS: Row[] = [
	{
		name: 'TLS to a server that says nothing',
		expected: { ...NOTHING, reason: 'the time-out passed' },
		timeout: SHORT,
		certificate: 'trusted',
		server: { tls: undefined },
	},
	{
		name: 'TLS cut after the first message',
		expected: NOTHING,
		certificate: 'trusted',
		server: {
			onConnection: (socket) => void socket.once('data', () => socket.destroy()),
		},
	},
	{
		name: 'TLS reset after the first message',
		expected: NOTHING,
		certificate: 'trusted',
		server: {
			onConnection: (socket) => void socket.once('data', () => socket.resetAndDestroy()),
		},
	},
	{
		name: 'TLS half a record, then the end',
		expected: NOTHING,
		certificate: 'trusted',
		server: {
			onConnection: (socket) =>
				void socket.once('data', () => socket.end(Buffer.from('160303', 'hex'))),
		},
	},
	{
		name: 'TLS answered in plain HTTP',
		expected: NOTHING,
		certificate: 'trusted',
		server: {
			onConnection: (socket) => void socket.once('data', () => socket.end(http('400 Bad'))),
		},
	},
	...VERSIONS.flatMap((version): Row[] => [
		{
			name: `${version}: 201`,
			expected: { ...ACCEPTED, response: { id: 1 } },
			certificate: 'trusted',
			server: { tls: { maxVersion: version }, onRequest: says(http('201 Made')) },
		},
		{
			name: `${version}: 407 from within the tunnel`,
			expected: { ...NOTHING, statusCode: 407 },
			certificate: 'trusted',
			server: { tls: { maxVersion: version }, onRequest: says(http('407 Proxy')) },
		},
		{
			name: `${version}: a certificate that is not trusted`,
			expected: NOTHING,
			certificate: 'untrusted',
			server: { tls: { maxVersion: version }, onRequest: says(http('201 Made')) },
		},
		{
			name: `${version}: a certificate for another host`,
			expected: NOTHING,
			certificate: 'otherHost',
			server: { tls: { maxVersion: version }, onRequest: says(http('201 Made')) },
		},
		{
			name: `${version}: closed after the request`,
			expected: UNKNOWN,
			certificate: 'trusted',
			server: { tls: { maxVersion: version }, onRequest: (socket) => socket.destroy() },
		},
		{
			name: `${version}: closed on the head of the request`,
			expected: UNKNOWN,
			certificate: 'trusted',
			server: { tls: { maxVersion: version }, onHead: (socket) => socket.destroy() },
		},
		{
			name: `${version}: ended without close_notify in the middle of a 201`,
			expected: UNKNOWN,
			certificate: 'trusted',
			server: {
				tls: { maxVersion: version },
				onRequest: (socket) =>
					socket.write('HTTP/1.1 201 Made\r\nContent-Length: 50\r\n\r\n{', () => socket.destroy()),
			},
		},
	]),
	{
		name: 'TLSv1.2: a client certificate demanded',
		expected: NOTHING,
		certificate: 'trusted',
		server: { tls: { maxVersion: 'TLSv1.2', requestCert: true, rejectUnauthorized: true } },
	},
	{
		// The client is through with the handshake before the server can refuse.
		name: 'TLSv1.3: a client certificate demanded',
		expected: { outcome: 'unknown' },
		certificate: 'trusted',
		server: { tls: { maxVersion: 'TLSv1.3', requestCert: true, rejectUnauthorized: true } },
	},
	{
		name: 'TLSv1.2: renegotiation, then the end',
		expected: UNKNOWN,
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

const proxy = (
	to: 'https' | 'http',
	name: string,
	expected: Row['expected'],
	play: ProxyBehaviour,
	timeout?: number,
): Row => ({ name: `proxy, ${to}: ${name}`, expected, proxy: { to, play }, timeout });

const CONNECTED = 'HTTP/1.1 200 Connected\r\n\r\n';
const PROXIES: Row[] = [
	...['201 Made', '204 No Content', '302 Portal', '403 No', '407 Proxy', '502 Bad', '504 Late'].map(
		(line) =>
			proxy(
				'https',
				`CONNECT answered ${line}`,
				{ ...NOTHING, statusCode: parseInt(line) },
				line.startsWith('204') ? says('HTTP/1.1 204 Odd\r\n\r\n') : says(http(line)),
			),
	),
	proxy('https', 'drops', NOTHING, (socket) => socket.destroy()),
	proxy('https', 'resets', NOTHING, (socket) => socket.resetAndDestroy()),
	proxy('https', 'answers nonsense', NOTHING, says('nonsense\r\n\r\n')),
	proxy('https', 'stalls', { ...NOTHING, reason: 'the time-out passed' }, () => {}, SHORT),
	proxy('https', 'connects, then drops', NOTHING, says(CONNECTED)),
	proxy('https', 'connects, then stalls', NOTHING, (socket) => socket.write(CONNECTED), SHORT),
	proxy(
		'https',
		'connects, then talks nonsense',
		NOTHING,
		(socket) => socket.write(`${CONNECTED}garbage garbage garbage`),
		SHORT,
	),
	...['200 OK', '201 Made'].map((line) =>
		proxy(
			'http',
			`answers ${line} to everything`,
			{ ...ACCEPTED, statusCode: parseInt(line) },
			says(http(line)),
		),
	),
	...['502 Bad', '504 Late', '302 Portal'].map((line) =>
		proxy('http', `answers ${line}`, UNKNOWN, says(http(line))),
	),
	proxy('http', 'answers 403', REJECTED, says(http('403 No'))),
	proxy('http', 'answers 407', { ...NOTHING, statusCode: 407 }, says(http('407 Proxy'))),
	proxy('http', 'drops', { outcome: 'unknown' }, (socket) => socket.destroy()),
	proxy('http', 'stalls', { outcome: 'unknown' }, () => {}, SHORT),
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
