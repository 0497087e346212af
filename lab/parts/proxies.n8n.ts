import './home';
import { rmSync } from 'node:fs';
import type { Server } from '../../test/n8n/queue';
import type { FailedResult } from '../../nodes/Pay/run/item';
import { resultOfAttempt } from '../../nodes/Pay/run/report';
import type { HttpRequest } from '../../nodes/Pay/service/exchange';
import type { Outcome } from '../../nodes/Pay/service/outcome';
import { errorOf, forget, isRecorded, outputOf, runWorkflow } from '../../test/engine/engine';
import { CORES, modulesOf } from '../../test/wire/cores';
import { postPayment, requestHelper } from '../../test/wire/requestHelper';
import { certificates } from '../../test/wire/servers';
import { Bank, CLOSED, ports, startHaproxy, startNginx, startSquid } from './parts';
import { OPERATIONS } from '../../test/serviceOperations';

/** One payment through a proxy, and what the books and the node must say of it. */
interface Row {
	name: string;
	/** Where to, by the name of a server below. */
	to: string;
	/** What the service does with it, see `Bank`; nothing unusual without it. */
	id?: string;
	/** Long enough for a proxy to refuse its size. */
	isLong?: boolean;
	/** Whether a header tells the External ID: what a proxy repeats is then carried out once. */
	hasHeader?: boolean;
	outcome: Outcome;
	/** The status that the node has to tell. */
	statusCode?: number;
	/** How often the service carried it out. */
	booked: number;
	/** What a person reads. */
	words?: string[];
}

/** What a proxy that repeats a request makes of a payment. */
const TWICE = { outcome: 'accepted', statusCode: 201, booked: 2 } as const;
/** The same, where a header tells the External ID: the service carries it out once. */
const withHeader = (program: string, to: string): Row[] =>
	['slow', 'die', 'busy'].map((id) => ({
		...TWICE,
		name: `a header with the External ID, where ${program} repeats: ${id}`,
		id,
		to,
		hasHeader: true,
		booked: 1,
	}));

const NGINX: Row[] = [
	{ name: 'nginx ends TLS', to: 'tls', outcome: 'accepted', statusCode: 201, booked: 1 },
	{
		name: 'nginx gives up on a slow service, which carries it out (504)',
		to: 'tls',
		id: 'slow',
		outcome: 'unknown',
		statusCode: 504,
		booked: 1,
		words: ['looks like a page of nginx', '"504 Gateway Time-out'],
	},
	{
		name: 'the service breaks off behind nginx, having carried it out (502)',
		to: 'tls',
		id: 'die',
		outcome: 'unknown',
		statusCode: 502,
		booked: 1,
		words: ['looks like a page of nginx', '"502 Bad Gateway'],
	},
	{ name: 'half an answer through nginx', to: 'tls', id: 'half', outcome: 'unknown', booked: 1 },
	{
		name: 'the service is busy, having carried it out (503)',
		to: 'tls',
		id: 'busy',
		outcome: 'unknown',
		statusCode: 503,
		booked: 1,
		words: ['The response said: "{"error":"busy"}"'],
	},
	{ name: 'nginx repeats a POST whose answer is late', id: 'slow', to: 'repeats', ...TWICE },
	{ name: 'nginx repeats a POST whose answer is lost', id: 'die', to: 'repeats', ...TWICE },
	{ name: 'nginx repeats a POST that was answered 503', id: 'busy', to: 'repeats', ...TWICE },
	...withHeader('nginx', 'repeats'),
	{
		name: 'nginx repeats no POST by itself: a late answer',
		to: 'two',
		id: 'slow',
		outcome: 'unknown',
		statusCode: 504,
		booked: 1,
	},
	{
		name: 'nginx repeats no POST by itself: a lost answer',
		to: 'two',
		id: 'die',
		outcome: 'unknown',
		statusCode: 502,
		booked: 1,
	},
	{
		name: 'nobody listens behind nginx (502)',
		to: 'down',
		outcome: 'unknown',
		statusCode: 502,
		booked: 0,
	},
	{ name: 'nginx lets the first pass', to: 'limited', outcome: 'accepted', booked: 1 },
	{
		name: 'nginx refuses the next (429)',
		to: 'limited',
		outcome: 'rejected',
		statusCode: 429,
		booked: 0,
		words: ['looks like a page of nginx'],
	},
	{
		name: 'nginx refuses the size (413)',
		to: 'small',
		isLong: true,
		outcome: 'rejected',
		statusCode: 413,
		booked: 0,
		words: ['looks like a page of nginx', '"413 Request Entity Too Large'],
	},
	{ name: 'nginx compresses', to: 'gzip', id: 'big', outcome: 'accepted', booked: 1 },
	{ name: 'nginx closes idle connections', to: 'idle', outcome: 'accepted', booked: 1 },
	{ name: 'nginx redirects (302)', to: 'moved', outcome: 'unknown', statusCode: 302, booked: 0 },
	{
		name: 'nginx redirects (308)',
		to: 'moved308',
		outcome: 'rejected',
		statusCode: 308,
		booked: 0,
	},
	{
		name: 'http: to the port of https:',
		to: 'httpToTls',
		outcome: 'rejected',
		statusCode: 400,
		booked: 0,
		words: ['looks like a page of nginx', 'Write https:// at the start of the Base URL'],
	},
	{
		name: 'https: to the port of http:',
		to: 'tlsToHttp',
		outcome: 'notSent',
		booked: 0,
		words: ['the address does not use https'],
	},
];

const HAPROXY: Row[] = [
	{ name: 'HAProxy ends TLS', to: 'hTls', outcome: 'accepted', statusCode: 201, booked: 1 },
	{
		name: 'HAProxy gives up on a slow service, which carries it out (504)',
		to: 'hTls',
		id: 'slow',
		outcome: 'unknown',
		statusCode: 504,
		booked: 1,
		words: ['looks like a page of HAProxy', '"504 Gateway Time-out'],
	},
	{
		name: 'the service breaks off behind HAProxy (502)',
		to: 'hTls',
		id: 'die',
		outcome: 'unknown',
		statusCode: 502,
		booked: 1,
	},
	{ name: 'half an answer through HAProxy', to: 'hTls', id: 'half', outcome: 'unknown', booked: 1 },
	{ name: 'HAProxy repeats a POST: slow', id: 'slow', to: 'hRepeats', ...TWICE },
	{ name: 'HAProxy repeats a POST: die', id: 'die', to: 'hRepeats', ...TWICE },
	{ name: 'HAProxy repeats a POST: busy', id: 'busy', to: 'hRepeats', ...TWICE },
	...withHeader('HAProxy', 'hRepeats'),
	{
		name: 'nobody listens behind HAProxy (503)',
		to: 'hDown',
		outcome: 'unknown',
		statusCode: 503,
		booked: 0,
		words: ['looks like a page of HAProxy'],
	},
	{
		name: 'HAProxy refuses (403)',
		to: 'hDeny',
		outcome: 'rejected',
		statusCode: 403,
		booked: 0,
		words: ['looks like a page of HAProxy', '"403 Forbidden'],
	},
];

const SQUID: Row[] = [
	{ name: 'Squid tunnels', to: 'tls', outcome: 'accepted', statusCode: 201, booked: 1 },
	{
		name: 'a slow service behind Squid and nginx (504)',
		to: 'tls',
		id: 'slow',
		outcome: 'unknown',
		statusCode: 504,
		booked: 1,
	},
	{
		name: 'Squid refuses the tunnel (403)',
		to: 'refused',
		outcome: 'notSent',
		statusCode: 403,
		booked: 0,
		words: ['a proxy on the way did not connect to the service'],
	},
	{
		name: 'Squid finds nobody (503)',
		to: 'closed',
		outcome: 'notSent',
		statusCode: 503,
		booked: 0,
	},
	{ name: 'Squid knows no such host', to: 'nowhere', outcome: 'notSent', booked: 0 },
	{ name: 'Squid hands on plain HTTP', to: 'bank', outcome: 'accepted', booked: 1 },
	{
		name: 'plain HTTP through Squid to a slow service',
		to: 'bank',
		id: 'slow',
		outcome: 'unknown',
		booked: 1,
		words: ['looks like a page of Squid'],
	},
	{
		name: 'plain HTTP through Squid, whose service breaks off',
		to: 'bank',
		id: 'die',
		outcome: 'unknown',
		booked: 1,
	},
	{
		name: 'half an answer in plain HTTP through Squid',
		to: 'bank',
		id: 'half',
		outcome: 'unknown',
		booked: 1,
	},
	{
		name: 'Squid refuses plain HTTP (403)',
		to: 'refusedPlain',
		outcome: 'rejected',
		statusCode: 403,
		booked: 0,
		words: ['looks like a page of Squid'],
	},
	{
		name: 'plain HTTP through Squid to a closed port (503)',
		to: 'closedPlain',
		outcome: 'unknown',
		statusCode: 503,
		booked: 0,
	},
];

/** Servers by what they hold; n8n trusts the certificate. */
let url: Record<string, string>;
let bank: Bank;
let pems: Awaited<ReturnType<typeof certificates>>;
const servers: Server[] = [];
let squid: Server;

beforeAll(async () => {
	bank = await Bank.start();
	pems = await certificates();
	const at = await ports(
		'tls',
		'repeats',
		'two',
		'down',
		'limited',
		'small',
		'gzip',
		'idle',
		'moved',
		'plain',
		'refused',
		'hTls',
		'hRepeats',
		'hDown',
		'hDeny',
	);
	const pass = `location / { proxy_pass http://127.0.0.1:${bank.a}; proxy_read_timeout 1s; }`;
	const server = (port: number, rest: string, how = 'ssl') =>
		`server { listen 127.0.0.1:${port} ${how}; ${rest} }`;
	const two = `location / { proxy_pass http://two; proxy_read_timeout 1s;`;
	const nginx = [
		// A server that failed is asked again at once, so that rows do not depend on those before.
		`upstream two { server 127.0.0.1:${bank.a} max_fails=0; server 127.0.0.1:${bank.b} backup; keepalive 8; }`,
		'limit_req_zone $http_authorization zone=one:1m rate=1r/m;',
		server(at.tls, pass, 'ssl http2'),
		server(at.repeats, `${two} proxy_next_upstream error timeout http_503 non_idempotent; } `),
		server(at.two, `${two} proxy_next_upstream error timeout http_503; }`),
		server(at.down, `location / { proxy_pass http://127.0.0.1:${CLOSED}; }`),
		server(
			at.limited,
			`location / { limit_req zone=one; limit_req_status 429; proxy_pass http://127.0.0.1:${bank.a}; }`,
		),
		server(at.small, `client_max_body_size 300; ${pass}`),
		server(
			at.gzip,
			`gzip on; gzip_types application/json; gzip_min_length 1; gzip_proxied any; ${pass}`,
		),
		server(at.idle, `keepalive_timeout 100ms; ${pass}`),
		server(
			at.moved,
			`location / { return 302 https://localhost:${at.tls}$request_uri; } location /308 { return 308 https://localhost:${at.tls}$request_uri; }`,
		),
		server(at.plain, pass, ''),
		server(at.refused, pass),
	];
	const front = (name: 'hTls' | 'hRepeats' | 'hDown' | 'hDeny', ...rest: string[]) => [
		`frontend ${name}`,
		` bind 127.0.0.1:${at[name]} ssl crt both.pem alpn h2,http/1.1`,
		` default_backend b${name}`,
		...rest,
	];
	const haproxy = [
		...front('hTls'),
		'backend bhTls',
		` server a 127.0.0.1:${bank.a}`,
		...front('hRepeats'),
		'backend bhRepeats',
		' retry-on all-retryable-errors',
		' option redispatch 1',
		` server a 127.0.0.1:${bank.a}`,
		` server b 127.0.0.1:${bank.b} backup`,
		...front('hDown'),
		'backend bhDown',
		` server a 127.0.0.1:${CLOSED}`,
		...front('hDeny', ' http-request deny deny_status 403'),
		'backend bhDeny',
		` server a 127.0.0.1:${bank.a}`,
	];
	servers.push(await startNginx(pems.trusted, nginx.join('\n')));
	servers.push(await startHaproxy(pems.trusted, haproxy.join('\n')));
	squid = await startSquid(
		pems.trusted,
		`acl refused port ${at.refused}\nhttp_access deny refused`,
	);
	servers.push(squid);
	url = {
		moved308: `https://localhost:${at.moved}/308`,
		httpToTls: `http://localhost:${at.tls}`,
		tlsToHttp: `https://localhost:${at.plain}`,
		bank: `http://localhost:${bank.a}`,
		closed: `https://localhost:${CLOSED}`,
		closedPlain: `http://localhost:${CLOSED}`,
		nowhere: 'https://nowhere.invalid',
		refusedPlain: `http://localhost:${at.refused}`,
	};
	for (const [name, port] of Object.entries(at)) url[name] = `https://localhost:${port}`;
});
afterAll(async () => {
	pems?.forget();
	for (const server of servers) await server.close();
	bank?.close();
	rmSync(process.env.N8N_USER_FOLDER!, { recursive: true, force: true });
});

let count = 0;

/** Pays through a proxy, and compares what is told with the row and with the books. */
async function payThrough(httpRequest: HttpRequest, row: Row, accessToken: string) {
	const external_id = `${row.id ?? 'ok'}-${++count}`;
	const payerQuestion = row.isLong ? 'x'.repeat(1000) : undefined;
	const request = { amount: 1, external_id, payerQuestion };
	const externalIdHeader = row.hasHeader ? 'Idempotency-Key' : undefined;
	const account = { baseUrl: url[row.to]!, accessToken, externalIdHeader };
	const answer = await postPayment(httpRequest, account, request);
	expect(answer.outcome).toBe(row.outcome);
	expect(bank.booked(external_id)).toBe(row.booked);
	if (row.statusCode !== undefined) expect(answer.statusCode).toBe(row.statusCode);
	const result = resultOfAttempt(OPERATIONS.payment, request, answer) as FailedResult;
	for (const words of row.words ?? []) {
		expect(`${result.message}. ${result.description}`).toContain(words);
	}
}

describe('a service that knows each External ID, behind a proxy that repeats a POST', () => {
	afterEach(forget);

	test.each([
		{ proxy: 'nginx', to: 'repeats', id: 'slow' },
		{ proxy: 'nginx', to: 'repeats', id: 'die' },
		{ proxy: 'HAProxy', to: 'hRepeats', id: 'slow' },
		{ proxy: 'HAProxy', to: 'hRepeats', id: 'die' },
	])(
		'$proxy, $id: its 409 to the second is unknown, and the payment stays recorded',
		async ({ to, id }) => {
			const external_id = `unique-${id}-${++count}`;
			const run = await runWorkflow({
				items: [{}],
				parameters: { resource: 'payment', amount: 1, external_id, postback: 'none', options: {} },
				credential: { baseUrl: url[to]!, accessToken: 'token-of-the-test' },
				settings: { onError: 'continueRegularOutput' },
			});
			expect(errorOf(run)).toBeUndefined();
			expect(bank.booked(external_id)).toBe(1);
			expect(bank.came.filter((one) => one.external_id === external_id)).toHaveLength(2);
			expect(outputOf(run, 'Pay')[0]!.json).toMatchObject({
				outcome: 'unknown',
				statusCode: 409,
				error: { description: expect.stringContaining('already used') },
			});
			expect(isRecorded(external_id)).toBe(true);
		},
	);
});

describe.each(CORES)('%s', (core) => {
	let httpRequest: HttpRequest;
	beforeAll(async () => {
		httpRequest = requestHelper(await modulesOf(core));
	});

	test.each([...NGINX, ...HAPROXY])('$name: $outcome, booked $booked', async (row) => {
		// nginx counts by the token.
		await payThrough(httpRequest, row, `token-of-${core.replace(' ', '-')}`);
	});

	describe('through Squid', () => {
		const before = { ...process.env };
		beforeAll(() => {
			process.env.HTTP_PROXY = process.env.HTTPS_PROXY = `http://127.0.0.1:${squid.port}`;
			delete process.env.NO_PROXY;
		});
		afterAll(() => {
			process.env = before;
		});

		test.each(SQUID)('$name: $outcome, booked $booked', async (row) => {
			await payThrough(httpRequest, row, `token-of-${core.replace(' ', '-')}`);
		});
	});
});
