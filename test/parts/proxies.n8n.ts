import './home';
import { rmSync } from 'node:fs';
import type { Server } from '../n8n/queue';
import { resultOfAttempt, type FailedResult } from '../../nodes/Pay/execution/itemResult';
import type { HttpRequest } from '../../nodes/Pay/service/exchange';
import type { Outcome } from '../../nodes/Pay/service/outcome';
import { errorOf, forget, isRecorded, outputOf, runWorkflow } from '../engine/engine';
import { CORES, modulesOf } from '../wire/cores';
import { postPayment, requestHelper } from '../wire/requestHelper';
import { certificates } from '../wire/servers';
import { Bank, CLOSED, ports, startHaproxy, startNginx, startSquid } from './parts';
import { OPERATIONS } from '../serviceOperations';

/** One payment through a proxy, and what the books and the node must say of it. */
interface Row {
	name: string;
	/** Where to, by the name of a server below. */
	to: string;
	/** What the service does with it, see `Bank`. */
	id?: string;
	/** Long enough for a proxy to refuse its size. */
	long?: true;
	header?: string;
	outcome: Outcome;
	statusCode?: number;
	/** How often the service carried it out. */
	booked: number;
	/** What a person reads. */
	says?: RegExp;
}

/**
 * @param way where to, and what the service does with it
 * @param ends the outcome, and the status if the node has to tell it
 */
function row(name: string, way: string, ends: string, booked: number, says?: RegExp): Row {
	const [to = '', id] = way.split(' ');
	const [outcome, status] = ends.split(' ') as [Outcome, string?];
	return { name, to, id, outcome, booked, says, statusCode: status ? Number(status) : undefined };
}
const CASES = ['slow', 'die', 'busy'];
/** What a proxy repeats is carried out once by a service that knows the header. */
const withHeader = (proxy: string, to: string) =>
	CASES.map(
		(id): Row => ({
			...row(`a header with the External ID, where ${proxy} repeats: ${id}`, to, 'accepted 201', 1),
			id,
			header: 'Idempotency-Key',
		}),
	);

const NGINX: Row[] = [
	row('nginx ends TLS', 'tls', 'accepted 201', 1),
	row(
		'nginx gives up on a slow service, which carries it out (504)',
		'tls slow',
		'unknown 504',
		1,
		/looks like a page of nginx.*"504 Gateway Time-out/,
	),
	row(
		'the service breaks off behind nginx, having carried it out (502)',
		'tls die',
		'unknown 502',
		1,
		/looks like a page of nginx.*"502 Bad Gateway/,
	),
	row('half an answer through nginx', 'tls half', 'unknown', 1),
	row(
		'the service is busy, having carried it out (503)',
		'tls busy',
		'unknown 503',
		1,
		/The response said: .*busy/,
	),
	row('nginx repeats a POST whose answer is late', 'repeats slow', 'accepted 201', 2),
	row('nginx repeats a POST whose answer is lost', 'repeats die', 'accepted 201', 2),
	row('nginx repeats a POST that was answered 503', 'repeats busy', 'accepted 201', 2),
	...withHeader('nginx', 'repeats'),
	row('nginx repeats no POST by itself: a late answer', 'two slow', 'unknown 504', 1),
	row('nginx repeats no POST by itself: a lost answer', 'two die', 'unknown 502', 1),
	row('nobody listens behind nginx (502)', 'down', 'unknown 502', 0),
	row('nginx lets the first pass', 'limited', 'accepted', 1),
	row('nginx refuses the next (429)', 'limited', 'rejected 429', 0, /looks like a page of nginx/),
	{
		...row('nginx refuses the size (413)', 'small', 'rejected 413', 0),
		long: true,
		says: /looks like a page of nginx.*"413 Request Entity Too Large/,
	},
	row('nginx compresses', 'gzip big', 'accepted', 1),
	row('nginx closes idle connections', 'idle', 'accepted', 1),
	row('nginx redirects (302)', 'moved', 'unknown 302', 0),
	row('nginx redirects (308)', 'moved308', 'rejected 308', 0),
	row(
		'http: to the port of https:',
		'httpToTls',
		'rejected 400',
		0,
		/^(?=.*page of nginx)(?=.*Write https:\/\/ at the start of the Base URL)/,
	),
	row('https: to the port of http:', 'tlsToHttp', 'notSent', 0, /the address does not speak https/),
];

const HAPROXY: Row[] = [
	row('HAProxy ends TLS', 'hTls', 'accepted 201', 1),
	row(
		'HAProxy gives up on a slow service, which carries it out (504)',
		'hTls slow',
		'unknown 504',
		1,
		/looks like a page of HAProxy.*"504 Gateway Time-out/,
	),
	row('the service breaks off behind HAProxy (502)', 'hTls die', 'unknown 502', 1),
	row('half an answer through HAProxy', 'hTls half', 'unknown', 1),
	...CASES.map((id) => row(`HAProxy repeats a POST: ${id}`, `hRepeats ${id}`, 'accepted 201', 2)),
	...withHeader('HAProxy', 'hRepeats'),
	row(
		'nobody listens behind HAProxy (503)',
		'hDown',
		'unknown 503',
		0,
		/looks like a page of HAProxy/,
	),
	row('HAProxy refuses (403)', 'hDeny', 'rejected 403', 0, /page of HAProxy.*"403 Forbidden/),
];

const PAGE_OF_SQUID = /looks like a page of Squid/;
const SQUID: Row[] = [
	row('Squid tunnels', 'tls', 'accepted 201', 1),
	row('a slow service behind Squid and nginx (504)', 'tls slow', 'unknown 504', 1),
	row(
		'Squid refuses the tunnel (403)',
		'refused',
		'notSent 403',
		0,
		/a proxy on the way did not connect to the service/,
	),
	row('Squid finds nobody (503)', 'closed', 'notSent 503', 0),
	row('Squid knows no such host', 'nowhere', 'notSent', 0),
	row('Squid hands on plain HTTP', 'bank', 'accepted', 1),
	row('plain HTTP through Squid to a slow service', 'bank slow', 'unknown', 1, PAGE_OF_SQUID),
	row('plain HTTP through Squid, whose service breaks off', 'bank die', 'unknown', 1),
	row('half an answer in plain HTTP through Squid', 'bank half', 'unknown', 1),
	row('Squid refuses plain HTTP (403)', 'refusedPlain', 'rejected 403', 0, PAGE_OF_SQUID),
	row('plain HTTP through Squid to a closed port (503)', 'closedPlain', 'unknown 503', 0),
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
	const https = Object.fromEntries(
		Object.entries(at).map(([name, port]) => [name, `https://localhost:${port}`]),
	);
	url = {
		...https,
		moved308: `${https.moved}/308`,
		httpToTls: `http://localhost:${at.tls}`,
		tlsToHttp: `https://localhost:${at.plain}`,
		bank: `http://localhost:${bank.a}`,
		closed: `https://localhost:${CLOSED}`,
		closedPlain: `http://localhost:${CLOSED}`,
		nowhere: 'https://nowhere.invalid',
		refusedPlain: `http://localhost:${at.refused}`,
	};
});
afterAll(async () => {
	pems?.forget();
	for (const server of servers) await server.close();
	bank?.close();
	rmSync(process.env.N8N_USER_FOLDER!, { recursive: true, force: true });
});

/** The one rule: what the service has in its books must fit what was told. */
function judge(outcome: Outcome, booked: number) {
	if (outcome === 'accepted') expect(booked).toBeGreaterThanOrEqual(1);
	if (outcome === 'rejected' || outcome === 'notSent') expect(booked).toBe(0);
}

let count = 0;

async function play(httpRequest: HttpRequest, row: Row, accessToken: string) {
	const { to, id = 'ok', long, header: externalIdHeader, says, outcome, booked } = row;
	const external_id = `${id}-${++count}`;
	const request = { amount: 1, external_id, ...(long && { payerQuestion: 'x'.repeat(1000) }) };
	const account = { baseUrl: url[to]!, accessToken, externalIdHeader };
	const answer = await postPayment(httpRequest, account, request);
	judge(answer.outcome, bank.booked(external_id));
	expect({ ...answer, booked: bank.booked(external_id) }).toMatchObject({
		outcome,
		booked,
		...(row.statusCode !== undefined && { statusCode: row.statusCode }),
	});
	if (says === undefined) return;
	const result = resultOfAttempt(OPERATIONS.payment, request, answer);
	const { message, description } = result as FailedResult;
	expect(`${message}. ${description}`).toMatch(says);
}

describe('a service that knows each External ID, behind a proxy that repeats a POST', () => {
	afterEach(forget);

	test.each([
		['nginx', 'repeats', 'slow'],
		['nginx', 'repeats', 'die'],
		['HAProxy', 'hRepeats', 'slow'],
		['HAProxy', 'hRepeats', 'die'],
	])(
		'%s (%s, %s): its 409 to the second is unknown, and the payment stays recorded',
		async (_by, to, id) => {
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
			expect(outputOf(run, 'Pay')[0]!.json.error).toMatchObject({
				outcome: 'unknown',
				statusCode: 409,
				description: expect.stringMatching(/already used/),
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
		await play(httpRequest, row, `token-of-${core.replace(' ', '-')}`);
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
			await play(httpRequest, row, `token-of-${core.replace(' ', '-')}`);
		});
	});
});
