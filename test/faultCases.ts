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
	/** Played by the sandbox for external_ids that begin with the case's name. */
	fault?: Fault;
	/** Played by a server that knows nothing of HTTP's rules, once the request came whole. */
	play?: (socket: Socket) => void;
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

/** Answers the faults that `play` and `resetOnHead` describe; the first part of the path is the id. */
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
			fault?.play?.(socket);
		});
	});
}

function status(
	code: number,
	outcome: Outcome,
	more: Partial<Fault> = {},
	name = `${code}`,
): FaultCase {
	const fault = { kind: 'status', status: code, ...more } as Fault;
	return { name, outcome, arrives: true, statusCode: code, fault };
}

function odd(name: string, play: (socket: Socket) => void): FaultCase {
	return { name, outcome: 'unknown', arrives: true, timeout: 3000, play };
}

const drips = (line: string) => (socket: Socket) => {
	socket.write(`HTTP/1.1 ${line}\r\nContent-Length: 100000\r\n\r\n`);
	const timer = setInterval(() => socket.write('x'), 50);
	socket.on('close', () => clearInterval(timer));
};

const nowhere = (name: string, address: Address, timeout?: number): FaultCase => ({
	name,
	outcome: 'notSent',
	arrives: false,
	address,
	timeout,
});
const lost = (name: string, kind: 'no-answer' | 'reset-after-body' | 'hang-up' | 'garbage') => ({
	...({ name, outcome: 'unknown', arrives: true } as const),
	fault: { kind } as Fault,
});

export const CASES: FaultCase[] = [
	nowhere('DNS', 'unknownHost'),
	nowhere('refused', 'closed'),
	nowhere('unreachable', 'unreachable'),
	nowhere('TLS self-signed', 'selfSigned'),
	nowhere('TLS to a plain port', 'tlsToPlain'),
	nowhere('time-out connecting', 'deaf', 500),
	{ ...lost('time-out answering', 'no-answer'), timeout: 3000 },
	{ name: 'reset before the body', outcome: 'unknown', arrives: true, resetOnHead: true },
	lost('reset after the body', 'reset-after-body'),
	lost('hang-up mid-response', 'hang-up'),
	lost('not HTTP', 'garbage'),
	odd('dripping 200', drips('200 OK')),
	odd('dripping 422', drips('422 No')),
	odd('101', (socket) =>
		socket.write('HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'),
	),
	odd('102 and nothing more', (socket) => socket.write('HTTP/1.1 102 Processing\r\n\r\n')),
	odd('103, then the end', (socket) => socket.end('HTTP/1.1 103 Hints\r\n\r\n')),
	status(200, 'accepted', { body: '{"error":""}' }, '200 with error ""'),
	status(200, 'accepted', { body: '{"error":{"message":"x"}}' }, '200 with error object'),
	status(200, 'unknown', { body: '<html>', contentType: 'text/html' }, '200 HTML'),
	status(200, 'accepted', { body: '' }, '200 empty'),
	status(200, 'unknown', { body: '{"id":' }, '200 broken JSON'),
	status(201, 'accepted'),
	status(204, 'accepted', { body: '' }),
	...[300, 301, 302, 303].map((code) =>
		status(code, 'unknown', { location: ELSEWHERE }, `${code} to another host`),
	),
	status(304, 'unknown', { body: '' }),
	...[307, 308].map((code) =>
		status(code, 'rejected', { location: ELSEWHERE }, `${code} to another host`),
	),
	...[400, 401, 403, 404, 422, 429].map((code) => status(code, 'rejected')),
	status(407, 'notSent', {}, '407, a proxy'),
	...[408, 409, 499, 500, 502, 503, 504].map((code) => status(code, 'unknown')),
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
		baseUrl: ({ address, play, resetOnHead }, external_id) => {
			if (address !== undefined) return addresses[address];
			return play || resetOnHead
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
export const SETTINGS = [false, true].flatMap((retryOnFail) =>
	(['stopWorkflow', 'continueRegularOutput', 'continueErrorOutput'] as const).map((onError) => ({
		retryOnFail,
		onError,
	})),
);
export const MAX_TRIES = 3;

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
