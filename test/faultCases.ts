import type { StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { connect, type Socket } from 'node:net';
import { generate } from 'selfsigned';
import { startChild } from '../dev/children';
import type { Outcome } from '../nodes/Pay/service/outcome';
import type { Fault } from '../sandbox/faults';
import { Sandbox } from '../sandbox/service';
import { Servers } from './wire/servers';

/** A way for a request to go wrong (or oddly right), and what must be said of it. */
export interface FaultCase {
	name: string;
	outcome: Outcome;
	/** Whether a single request of it arrives at the service. */
	arrives: boolean;
	/** What the sandbox does, for external_ids that begin with the case's name. */
	fault?: Fault;
	/** What a server that knows nothing of HTTP's rules does, once the request came whole. */
	onRequest?: (socket: Socket) => unknown;
	/** Resets the connection on the request's headers, before its body was read. */
	resetOnHead?: true;
	/** Where the request goes, when neither to the sandbox nor to that server. */
	address?: Address;
	/** Milliseconds; long enough for a busy machine, when absent. */
	timeout?: number;
	statusCode?: number;
}

/** Where no service is. */
type Address = 'unknownHost' | 'closed' | 'unreachable' | 'selfSigned' | 'tlsToPlain' | 'deaf';

export interface Faults {
	sandbox: Sandbox;
	/** Where a redirect leads; nothing may ever arrive there. */
	elsewhere: Sandbox;
	/** The base URL for one payment of a case. */
	baseUrl(fault: FaultCase, external_id: string): string;
	/** How often requests with this external_id arrived, bodies read or not. */
	arrivals(external_id: string): number;
	close(): Promise<void>;
}

const LOOPBACK = '127.0.0.1';
/** Where redirects lead is known only once that server runs. */
const ELSEWHERE = 'elsewhere';

/** A port whose connections are never completed: nobody accepts, and the queue is full. */
async function deafPort(): Promise<{ port: number; close(): void }> {
	const script = `const s = require('net').createServer().listen({ port: 0, host: '${LOOPBACK}', backlog: 1 }, () => {
		require('fs').writeSync(1, String(s.address().port));
		Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600000);
	});`;
	const stdio: StdioOptions = ['ignore', 'pipe', 'inherit'];
	const child = startChild(process.execPath, ['-e', script], { stdio });
	const [chunk] = (await once(child.stdout!, 'data')) as [Buffer];
	const port = Number(chunk.toString());
	const fillers = Array.from({ length: 6 }, () => connect(port, LOOPBACK).on('error', () => {}));
	// A queue of one holds two; the others never connect, and so does nobody after them.
	await new Promise<void>((resolve) => {
		let connected = 0;
		for (const filler of fillers) filler.on('connect', () => ++connected === 2 && resolve());
	});
	return {
		port,
		close: () => {
			fillers.forEach((filler) => filler.destroy());
			child.kill('SIGKILL');
		},
	};
}

/** Does what `onRequest` and `resetOnHead` describe; the first part of the path is the id. */
function oddServer(arrived: string[]) {
	return createHttpServer((request) => {
		const [, id = ''] = (request.url ?? '').split('/');
		const external_id = decodeURIComponent(id);
		const fault = CASES.find(({ name }) => external_id.startsWith(`${name}|`));
		const { socket } = request;
		if (fault?.resetOnHead) {
			arrived.push(external_id);
			socket.resetAndDestroy();
			return;
		}
		request.resume().on('end', () => {
			arrived.push(external_id);
			fault?.onRequest?.(socket);
		});
	});
}

/** Begins a response, and then writes a byte now and then for ever. */
function respondForEver(socket: Socket, status: string) {
	socket.write(`HTTP/1.1 ${status}\r\nContent-Length: 100000\r\n\r\n`);
	const timer = setInterval(() => socket.write('x'), 50);
	socket.on('close', () => clearInterval(timer));
}

export const CASES: FaultCase[] = [
	{
		name: 'DNS',
		outcome: 'notSent',
		arrives: false,
		address: 'unknownHost',
	},
	{
		name: 'refused',
		outcome: 'notSent',
		arrives: false,
		address: 'closed',
	},
	{
		name: 'unreachable',
		outcome: 'notSent',
		arrives: false,
		address: 'unreachable',
	},
	{
		name: 'TLS self-signed',
		outcome: 'notSent',
		arrives: false,
		address: 'selfSigned',
	},
	{
		name: 'TLS to a plain port',
		outcome: 'notSent',
		arrives: false,
		address: 'tlsToPlain',
	},
	{
		name: 'time-out connecting',
		outcome: 'notSent',
		arrives: false,
		address: 'deaf',
		timeout: 500,
	},
	{
		name: 'time-out answering',
		outcome: 'unknown',
		arrives: true,
		fault: { kind: 'no-response' },
		timeout: 3000,
	},
	{
		name: 'reset before the body',
		outcome: 'unknown',
		arrives: true,
		resetOnHead: true,
	},
	{
		name: 'reset after the body',
		outcome: 'unknown',
		arrives: true,
		fault: { kind: 'reset-after-body' },
	},
	{
		name: 'hang-up mid-response',
		outcome: 'unknown',
		arrives: true,
		fault: { kind: 'hang-up' },
	},
	{
		name: 'not HTTP',
		outcome: 'unknown',
		arrives: true,
		fault: { kind: 'garbage' },
	},
	{
		name: 'dripping 200',
		outcome: 'unknown',
		arrives: true,
		timeout: 3000,
		onRequest: (socket) => respondForEver(socket, '200 OK'),
	},
	{
		name: 'dripping 422',
		outcome: 'unknown',
		arrives: true,
		timeout: 3000,
		onRequest: (socket) => respondForEver(socket, '422 No'),
	},
	{
		name: '101',
		outcome: 'unknown',
		arrives: true,
		timeout: 3000,
		onRequest: (socket) =>
			socket.write('HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'),
	},
	{
		name: '102 and nothing more',
		outcome: 'unknown',
		arrives: true,
		timeout: 3000,
		onRequest: (socket) => socket.write('HTTP/1.1 102 Processing\r\n\r\n'),
	},
	{
		name: '103, then the end',
		outcome: 'unknown',
		arrives: true,
		timeout: 3000,
		onRequest: (socket) => socket.end('HTTP/1.1 103 Hints\r\n\r\n'),
	},
	{
		name: '200 with error ""',
		outcome: 'accepted',
		arrives: true,
		statusCode: 200,
		fault: { kind: 'status', status: 200, body: '{"error":""}' },
	},
	{
		name: '200 with error object',
		outcome: 'accepted',
		arrives: true,
		statusCode: 200,
		fault: { kind: 'status', status: 200, body: '{"error":{"message":"x"}}' },
	},
	{
		name: '200 HTML',
		outcome: 'unknown',
		arrives: true,
		statusCode: 200,
		fault: { kind: 'status', status: 200, body: '<html>', contentType: 'text/html' },
	},
	{
		name: '200 empty',
		outcome: 'accepted',
		arrives: true,
		statusCode: 200,
		fault: { kind: 'status', status: 200, body: '' },
	},
	{
		name: '200 broken JSON',
		outcome: 'unknown',
		arrives: true,
		statusCode: 200,
		fault: { kind: 'status', status: 200, body: '{"id":' },
	},
	{
		name: '201',
		outcome: 'accepted',
		arrives: true,
		statusCode: 201,
		fault: { kind: 'status', status: 201 },
	},
	{
		name: '204',
		outcome: 'accepted',
		arrives: true,
		statusCode: 204,
		fault: { kind: 'status', status: 204, body: '' },
	},
	{
		name: '300 to another host',
		outcome: 'unknown',
		arrives: true,
		statusCode: 300,
		fault: { kind: 'status', status: 300, location: ELSEWHERE },
	},
	{
		name: '301 to another host',
		outcome: 'unknown',
		arrives: true,
		statusCode: 301,
		fault: { kind: 'status', status: 301, location: ELSEWHERE },
	},
	{
		name: '302 to another host',
		outcome: 'unknown',
		arrives: true,
		statusCode: 302,
		fault: { kind: 'status', status: 302, location: ELSEWHERE },
	},
	{
		name: '303 to another host',
		outcome: 'unknown',
		arrives: true,
		statusCode: 303,
		fault: { kind: 'status', status: 303, location: ELSEWHERE },
	},
	{
		name: '304',
		outcome: 'unknown',
		arrives: true,
		statusCode: 304,
		fault: { kind: 'status', status: 304, body: '' },
	},
	{
		name: '307 to another host',
		outcome: 'rejected',
		arrives: true,
		statusCode: 307,
		fault: { kind: 'status', status: 307, location: ELSEWHERE },
	},
	{
		name: '308 to another host',
		outcome: 'rejected',
		arrives: true,
		statusCode: 308,
		fault: { kind: 'status', status: 308, location: ELSEWHERE },
	},
	{
		name: '400',
		outcome: 'rejected',
		arrives: true,
		statusCode: 400,
		fault: { kind: 'status', status: 400 },
	},
	{
		name: '401',
		outcome: 'rejected',
		arrives: true,
		statusCode: 401,
		fault: { kind: 'status', status: 401 },
	},
	{
		name: '403',
		outcome: 'rejected',
		arrives: true,
		statusCode: 403,
		fault: { kind: 'status', status: 403 },
	},
	{
		name: '404',
		outcome: 'rejected',
		arrives: true,
		statusCode: 404,
		fault: { kind: 'status', status: 404 },
	},
	{
		name: '422',
		outcome: 'rejected',
		arrives: true,
		statusCode: 422,
		fault: { kind: 'status', status: 422 },
	},
	{
		name: '407, a proxy',
		outcome: 'notSent',
		arrives: true,
		statusCode: 407,
		fault: { kind: 'status', status: 407 },
	},
	{
		name: '408',
		outcome: 'unknown',
		arrives: true,
		statusCode: 408,
		fault: { kind: 'status', status: 408 },
	},
	{
		name: '409',
		outcome: 'unknown',
		arrives: true,
		statusCode: 409,
		fault: { kind: 'status', status: 409 },
	},
	{
		name: '499',
		outcome: 'unknown',
		arrives: true,
		statusCode: 499,
		fault: { kind: 'status', status: 499 },
	},
	{
		name: '500',
		outcome: 'unknown',
		arrives: true,
		statusCode: 500,
		fault: { kind: 'status', status: 500 },
	},
	{
		name: '502',
		outcome: 'unknown',
		arrives: true,
		statusCode: 502,
		fault: { kind: 'status', status: 502 },
	},
	{
		name: '503',
		outcome: 'unknown',
		arrives: true,
		statusCode: 503,
		fault: { kind: 'status', status: 503 },
	},
	{
		name: '504',
		outcome: 'unknown',
		arrives: true,
		statusCode: 504,
		fault: { kind: 'status', status: 504 },
	},
];

/** Starts the service and the servers around it that the cases need. */
export async function startFaults(): Promise<Faults> {
	const [sandbox, elsewhere, deaf] = await Promise.all([
		Sandbox.start(),
		Sandbox.start(),
		deafPort(),
	]);
	const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }]);
	const selfSigned = createHttpsServer({ key, cert }, (_, response) => response.end('{}'));
	const servers = new Servers();
	const oddArrived: string[] = [];
	const oddPort = await servers.listen(oddServer(oddArrived));
	const addresses: Record<Address, string> = {
		unknownHost: 'https://nowhere.invalid',
		// Nothing listens below 1024 but what the system starts.
		closed: `http://${LOOPBACK}:1`,
		// The kernel itself refuses to connect to the broadcast address: no packet leaves.
		unreachable: 'http://255.255.255.255',
		selfSigned: `https://localhost:${await servers.listen(selfSigned)}`,
		tlsToPlain: sandbox.url.replace('http', 'https'),
		deaf: `http://${LOOPBACK}:${deaf.port}`,
	};
	sandbox.faultFor = ({ body }) => {
		const { external_id } = JSON.parse(body) as { external_id: string };
		const fault = CASES.find(({ name }) => external_id.startsWith(`${name}|`))?.fault;
		return fault?.kind === 'status' && fault.location === ELSEWHERE
			? { ...fault, location: `${elsewhere.url}/v2/pay/payment` }
			: fault;
	};
	return {
		sandbox,
		elsewhere,
		baseUrl: ({ address, onRequest, resetOnHead }, external_id) => {
			if (address !== undefined) return addresses[address];
			return onRequest || resetOnHead
				? `http://${LOOPBACK}:${oddPort}/${encodeURIComponent(external_id)}`
				: sandbox.url;
		},
		arrivals: (external_id) =>
			oddArrived.filter((id) => id === external_id).length +
			sandbox.bodies('payment').filter((body) => body.external_id === external_id).length,
		close: async () => {
			deaf.close();
			servers.close();
			await Promise.all([sandbox.close(), elsewhere.close()]);
		},
	};
}

/** The settings of a node that decide what n8n does after a failure. */
export const SETTINGS = [
	{ retryOnFail: false, onError: 'stopWorkflow' },
	{ retryOnFail: false, onError: 'continueRegularOutput' },
	{ retryOnFail: false, onError: 'continueErrorOutput' },
	{ retryOnFail: true, onError: 'stopWorkflow' },
	{ retryOnFail: true, onError: 'continueRegularOutput' },
	{ retryOnFail: true, onError: 'continueErrorOutput' },
] as const;
export const MAX_TRIES = 3;

/** One for each way in which an engine may deal with an outcome. */
export const ONE_OF_EACH = CASES.filter(({ name }) =>
	/^(DNS|reset after the body|200 with error object|201|307 to .*|422|500|407.*)$/.test(name),
);

/**
 * How often a payment may arrive: only what was certainly not carried out is sent again. A gateway says 401
 * or 403 also of what was.
 */
export function expectedArrivals(
	{ outcome, arrives, statusCode }: FaultCase,
	retryOnFail: boolean,
): number {
	if (!arrives) return 0;
	if (statusCode === 401 || statusCode === 403) return 1;
	const again = outcome === 'rejected' || outcome === 'notSent';
	return again && retryOnFail ? MAX_TRIES : 1;
}
