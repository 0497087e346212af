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
const MAYBE = { outcome: 'unknown' } as const;
const LATE = { reason: { is: 'timedOut' } } as const;
const TOO_LONG = { ...UNKNOWN, reason: { is: 'tooLong', statusCode: 201 } } as const;
const ONE = { ...ACCEPTED, response: { id: 1 } };

type Play = (socket: Socket) => void;
/** What this server does once the request came whole. */
const plays = (
	name: string,
	expected: Row['expected'],
	onRequest: Play,
	more: Partial<Row> = {},
): Row => ({ name, expected, server: { onRequest }, ...more });

const answer = (name: string, expected: Row['expected'], ...parts: Array<string | Buffer>): Row =>
	plays(name, expected, says(...parts));

const status = (line: string, expected: Row['expected']): Row =>
	answer(`status ${line}`, { statusCode: parseInt(line), ...expected }, http(line));
const statuses = (lines: string, expected: Row['expected']) =>
	lines.split(', ').map((line) => status(line, expected));

const drops: Play = (socket) => socket.destroy();
const resets: Play = (socket) => socket.resetAndDestroy();
const writes = (text: string | Buffer) => (socket: Socket) => void socket.write(text);

const STATUSES: Row[] = [
	...statuses('200 OK, 201 Created, 202 Accepted, 299 Odd', ACCEPTED),
	...statuses('300 Choices, 301 Moved, 302 Found, 303 See, 305 Proxy, 306 Odd', UNKNOWN),
	...statuses('307 Temporary, 308 Permanent', REJECTED),
	...statuses('400 Bad, 401 Who, 403 No, 404 Not, 425 Early, 429 Many', REJECTED),
	...statuses('408 Late, 409 Conflict, 499 Gone, 500 Error', UNKNOWN),
	...statuses('502 Bad, 503 Busy, 504 Late, 600 Odd', UNKNOWN),
	answer('status 099', UNKNOWN, http('099 Odd')),
	answer('204 without a body', ACCEPTED, 'HTTP/1.1 204 No Content\r\n\r\n'),
	answer('304 without a body', UNKNOWN, 'HTTP/1.1 304 Not Modified\r\nConnection: close\r\n\r\n'),
	answer('407 that no proxy gave', { ...NOTHING, statusCode: 407 }, http('407 Proxy')),
	answer('200 without a reason phrase', ACCEPTED, 'HTTP/1.1 200\r\nContent-Length: 2\r\n\r\n{}'),
];

const SWITCHING = 'HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n';
const HINTS = 'HTTP/1.1 103 Hints\r\nLink: </a>\r\n\r\n';
const SOON = { timeout: SHORT };
const BEFORE_THE_ANSWER: Row[] = [
	answer('100, then 201', ACCEPTED, 'HTTP/1.1 100 Continue\r\n\r\n', http('201 Created')),
	answer('103, then 201', ACCEPTED, HINTS, http('201 Made')),
	answer('103, then 500', UNKNOWN, HINTS, http('500 Error')),
	answer('100 alone, then the end', UNKNOWN, 'HTTP/1.1 100 Continue\r\n\r\n'),
	plays(
		'102 for ever',
		{ ...UNKNOWN, ...LATE },
		drips('', 'HTTP/1.1 102 Processing\r\n\r\n'),
		SOON,
	),
	plays('101, then silence', UNKNOWN, writes(SWITCHING), SOON),
	plays('101, then the end', UNKNOWN, says(SWITCHING), SOON),
];

/** An answer whose head ends with these lines; its body follows. */
const framed = (line: string, ...headers: string[]) =>
	[`HTTP/1.1 ${line}`, ...headers, '\r\n'].join('\r\n');
const CHUNKED = 'Transfer-Encoding: chunked';
const FRAMING: Row[] = [
	answer('HTTP/1.0, ended by the close', ACCEPTED, 'HTTP/1.0 200 OK\r\n\r\n{"id":1}'),
	plays(
		'HTTP/1.0 422, ended by a reset',
		UNKNOWN,
		(socket) => {
			socket.write('HTTP/1.0 422 No\r\n\r\n{"id":');
			// Where data and reset are read at once, libuv takes the reset for the end: hence the pause.
			setTimeout(() => setImmediate(() => socket.resetAndDestroy()), 500);
		},
		{ timeout: 10_000 },
	),
	answer('HTTP/0.9', UNKNOWN, '{"id":1}'),
	answer('HTTP/2 frames', UNKNOWN, Buffer.from('000012040000000000', 'hex')),
	answer('not HTTP', UNKNOWN, 'This is not HTTP\r\n\r\n'),
	answer('lone line feeds', UNKNOWN, 'HTTP/1.1 200 OK\nContent-Length: 2\n\n{}'),
	answer('two equal Content-Types', ACCEPTED, http('200 OK', '{}', 'X-A: 1', 'X-A: 1')),
	answer(
		'two Content-Lengths that differ',
		UNKNOWN,
		`${framed('200 OK', 'Content-Length: 2', 'Content-Length: 3')}{}\n`,
	),
	answer(
		'Content-Length and chunks at once',
		UNKNOWN,
		`${framed('200 OK', 'Content-Length: 2', CHUNKED)}2\r\n{}\r\n0\r\n\r\n`,
	),
	answer('chunks', ONE, `${framed('200 OK', CHUNKED)}4\r\n{"id\r\n4\r\n":1}\r\n0\r\n\r\n`),
	answer('a broken chunk in a 201', UNKNOWN, `${framed('201 Made', CHUNKED)}5\r\n{"id"\r\nZZ\r\n`),
	answer('chunks of a 422 cut off', UNKNOWN, `${framed('422 No', CHUNKED)}5\r\n{"id"\r\n`),
	answer(
		'a 201 shorter than its Content-Length',
		{ ...UNKNOWN, reason: { is: 'brokeOff', statusCode: 201 } },
		`${framed('201 Made', 'Content-Length: 500')}{"id":`,
	),
	answer(
		'a 200 longer than its Content-Length',
		{ ...ACCEPTED, response: {} },
		`${framed('200 OK', 'Content-Length: 2')}{}{"again":1}`,
	),
	answer('two answers', ACCEPTED, http('200 OK', '{}'), http('500 Error', '{}')),
	answer('a head of 20 KB', UNKNOWN, http('200 OK', '{}', `X: ${'a'.repeat(20_000)}`)),
];

/** A 200 whose body is in this encoding. */
const coded = (name: string, encoding: string, body: string | Buffer, expected: Row['expected']) =>
	answer(name, expected, http('200 OK', body, `Content-Encoding: ${encoding}`));
const LONG_ID = '12345678901234567890';
const TEXT = '{"id":1}';
const ODD_TOKEN = 'quoted"\\token+/=&x';
/** What repeats a request's token and postback URL. */
const echo = (token: string, proof: string) => ({
	message: 'bad',
	headers: { authorization: `Bearer ${token}` },
	url: `https://a.test/?pay_proof=${proof}`,
});
const ECHO = http('422 No', JSON.stringify(echo(ODD_TOKEN, 'reference.mac-of-the-test')));
const BODIES: Row[] = [
	coded('gzip', 'gzip', gzipSync(`{"id":${LONG_ID}}`), { ...ACCEPTED, response: { id: LONG_ID } }),
	coded('deflate', 'deflate', deflateSync(TEXT), ONE),
	coded('brotli', 'br', brotliCompressSync(TEXT), ONE),
	coded('gzip that is none', 'gzip', TEXT, UNKNOWN),
	coded('brotli that is none', 'br', TEXT, UNKNOWN),
	// The answer itself is whole.
	coded('gzip cut short', 'gzip', gzipSync(TEXT).subarray(0, 15), ACCEPTED),
	coded('an encoding nobody knows', 'rot13', TEXT, ONE),
	plays(
		'a gzip bomb of 200 MB',
		TOO_LONG,
		says(http('201 Made', gzipSync(Buffer.alloc(200_000_000, 'a')), 'Content-Encoding: gzip')),
		{ heavy: true },
	),
	plays('a body of 11 MB', TOO_LONG, says(http('201 Made', 'a'.repeat(11_000_000))), {
		heavy: true,
	}),
	answer('a byte order mark', ONE, http('200 OK', '\ufeff{"id":1}')),
	answer(
		'bad UTF-8',
		{ ...ACCEPTED, response: { id: '\ufffd' } },
		http('200 OK', Buffer.from('7b226964223a22ff227d', 'hex')),
	),
	answer('null', { ...ACCEPTED, response: null }, http('200 OK', 'null')),
	answer('a list', { ...ACCEPTED, response: [1, 2] }, http('200 OK', '[1,2]')),
	answer('HTML', { ...UNKNOWN, response: '<html>' }, http('200 OK', '<html>')),
	// On n8n 2 a 201 comes as an error, whose headers stand elsewhere.
	...['200 OK', '201 Made'].map((line) =>
		answer(
			`${line} that says it is JSON and is not`,
			{ ...UNKNOWN, reason: { is: 'notJson' } },
			http(line, '{"id":', 'Content-Type: Application/JSON;charset=utf-8'),
		),
	),
	answer('an empty body', { ...ACCEPTED, response: '' }, http('200 OK', '')),
	answer('the head of JSON', { ...ACCEPTED, response: '{"id":' }, http('200 OK', '{"id":')),
	plays('headers that are echoed', { ...REJECTED, response: echo('***', '***') }, says(ECHO), {
		token: ODD_TOKEN,
	}),
];

const TIME: Row[] = [
	{ name: 'no answer', expected: { ...UNKNOWN, ...LATE }, timeout: SHORT, server: {} },
	plays('a head that never ends', { ...UNKNOWN, ...LATE }, drips('HTTP/1.1 200 OK\r\nX: '), SOON),
	...['200 OK', '422 No'].flatMap((line): Row[] => {
		const reason = { is: 'notEndedInTime', statusCode: parseInt(line) } as const;
		const head = framed(line, 'Content-Length: 100000');
		return [
			plays(`a dripping ${line}`, { ...UNKNOWN, reason }, drips(head), { timeout: 2 * SHORT }),
			plays(`the head of a ${line}, then silence`, UNKNOWN, writes(head), SOON),
		];
	}),
	plays(
		'gzip that never ends',
		UNKNOWN,
		writes(
			Buffer.concat([
				Buffer.from(framed('200 OK', 'Content-Encoding: gzip')),
				gzipSync(TEXT).subarray(0, 15),
			]),
		),
		SOON,
	),
];

const UNREAD = { timeout: 4 * SHORT, long: true, server: { deaf: true } } as const;
const early = (line: string, expected: Row['expected']): Row => ({
	name: `${parseInt(line)} before the request came whole`,
	expected,
	long: true,
	server: { onHead: says(http(line)) },
});
const CONNECTION: Row[] = [
	{ name: 'refused', expected: NOTHING, server: 'refused' },
	{ name: 'closed at once', expected: MAYBE, server: { onConnection: drops } },
	{ name: 'reset on the head', expected: MAYBE, server: { onHead: resets } },
	plays('reset after the request', UNKNOWN, resets),
	plays('closed after the request', UNKNOWN, drops),
	{
		name: 'a request that nobody reads, time-out',
		expected: { outcome: 'notSent', ...LATE },
		...UNREAD,
	},
	{
		name: 'a request that nobody reads over TLS, time-out',
		expected: UNKNOWN,
		certificate: 'trusted',
		...UNREAD,
	},
	early('400 Bad', { outcome: 'rejected' }),
	early('201 Made', { outcome: 'accepted' }),
	early('500 Error', MAYBE),
];

const VERSIONS = ['TLSv1.2', 'TLSv1.3'] as const;
const HALF = 'HTTP/1.1 201 Made\r\nContent-Length: 50\r\n\r\n{';
/** A server that does this with the first message of a handshake. */
const shakes = (name: string, onFirst: Play): Row => ({
	name: `TLS ${name}`,
	expected: NOTHING,
	certificate: 'trusted',
	server: { onConnection: (socket) => void socket.once('data', () => onFirst(socket)) },
});
const TLS: Row[] = [
	{
		name: 'TLS to a server that says nothing',
		expected: { ...NOTHING, ...LATE },
		timeout: SHORT,
		certificate: 'trusted',
		server: { tls: undefined },
	},
	shakes('cut after the first message', drops),
	shakes('reset after the first message', resets),
	shakes('half a record, then the end', says(Buffer.from('160303', 'hex'))),
	shakes('answered in plain HTTP', says(http('400 Bad'))),
	...VERSIONS.flatMap((version): Row[] => {
		const tls = { maxVersion: version };
		const row = (
			what: string,
			expected: Row['expected'],
			server: Behaviour,
			certificate: Row['certificate'] = 'trusted',
		) => ({ name: `${version}: ${what}`, expected, certificate, server: { tls, ...server } });
		const made = { onRequest: says(http('201 Made')) };
		return [
			row('201', ONE, made),
			row(
				'407 from within the tunnel',
				{ ...NOTHING, statusCode: 407 },
				{
					onRequest: says(http('407 Proxy')),
				},
			),
			row('a certificate that is not trusted', NOTHING, made, 'untrusted'),
			row('a certificate for another host', NOTHING, made, 'otherHost'),
			row('closed after the request', UNKNOWN, { onRequest: drops }),
			row('closed on the head of the request', UNKNOWN, { onHead: drops }),
			row('ended without close_notify in the middle of a 201', UNKNOWN, {
				onRequest: (socket) => socket.write(HALF, () => socket.destroy()),
			}),
			// With 1.3 the client is through with the handshake before the server can refuse.
			row('a client certificate demanded', version === 'TLSv1.2' ? NOTHING : MAYBE, {
				tls: { ...tls, requestCert: true, rejectUnauthorized: true },
			}),
		];
	}),
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

const proxy =
	(to: 'https' | 'http') =>
	(name: string, expected: Row['expected'], play: ProxyBehaviour, timeout?: number): Row => ({
		name: `proxy, ${to}: ${name}`,
		expected,
		proxy: { to, play },
		timeout,
	});
const [tunnel, forward] = [proxy('https'), proxy('http')];

const CONNECTED = 'HTTP/1.1 200 Connected\r\n\r\n';
const PROXIES: Row[] = [
	...['201 Made', '204 No Content', '302 Portal', '403 No', '407 Proxy', '502 Bad', '504 Late'].map(
		(line) =>
			tunnel(
				`CONNECT answered ${line}`,
				{ ...NOTHING, statusCode: parseInt(line) },
				line.startsWith('204') ? says('HTTP/1.1 204 Odd\r\n\r\n') : says(http(line)),
			),
	),
	tunnel('drops', NOTHING, drops),
	tunnel('resets', NOTHING, resets),
	tunnel('answers nonsense', NOTHING, says('nonsense\r\n\r\n')),
	tunnel('stalls', { ...NOTHING, ...LATE }, () => {}, SHORT),
	tunnel('connects, then drops', NOTHING, says(CONNECTED)),
	tunnel('connects, then stalls', NOTHING, writes(CONNECTED), SHORT),
	tunnel(
		'connects, then talks nonsense',
		NOTHING,
		writes(`${CONNECTED}${'garbage '.repeat(3)}`),
		SHORT,
	),
	...['200 OK', '201 Made'].map((line) =>
		forward(
			`answers ${line} to everything`,
			{ ...ACCEPTED, statusCode: parseInt(line) },
			says(http(line)),
		),
	),
	...['502 Bad', '504 Late', '302 Portal'].map((line) =>
		forward(`answers ${line}`, UNKNOWN, says(http(line))),
	),
	forward('answers 403', REJECTED, says(http('403 No'))),
	forward('answers 407', { ...NOTHING, statusCode: 407 }, says(http('407 Proxy'))),
	forward('drops', MAYBE, drops),
	forward('stalls', MAYBE, () => {}, SHORT),
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
