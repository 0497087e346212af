import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer as createHttpsServer } from 'node:https';
import { connect, type AddressInfo } from 'node:net';
import { generate } from 'selfsigned';
import type { Outcome } from '../nodes/Pay/service/outcome';
import type { Fault } from '../sandbox/faults';
import { Sandbox } from '../sandbox/service';
import { freePort } from '../dev/n8n';

/** A way for a request to go wrong (or oddly right), and what must be said of it. */
export interface FaultCase {
	name: string;
	outcome: Outcome;
	/** Whether a single request of it arrives at the service. */
	arrives: boolean;
	/** Played by the sandbox for external_ids that begin with the case's name. */
	fault?: Fault;
	/** Where the request goes; the sandbox, when absent. */
	baseUrl?: string;
	/** Milliseconds; long enough for a busy machine, when absent. */
	timeout?: number;
	statusCode?: number;
}

export interface Faults {
	cases: FaultCase[];
	sandbox: Sandbox;
	/** Where a redirect leads; nothing may ever arrive there. */
	elsewhere: Sandbox;
	/** How often requests with this external_id arrived, bodies read or not. */
	arrivals(external_id: string): number;
	close(): Promise<void>;
}

const LOOPBACK = '127.0.0.1';

/** A port whose connections are never completed: nobody accepts, and the queue is full. */
async function deafPort(): Promise<{ port: number; close(): void }> {
	const script = `const s = require('net').createServer().listen({ port: 0, host: '${LOOPBACK}', backlog: 1 }, () => {
		require('fs').writeSync(1, String(s.address().port));
		Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600000);
	});`;
	const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
	const [chunk] = (await once(child.stdout, 'data')) as [Buffer];
	const port = Number(chunk.toString());
	const fillers = Array.from({ length: 6 }, () => connect(port, LOOPBACK).on('error', () => {}));
	await new Promise((resolve) => setTimeout(resolve, 200));
	return {
		port,
		close: () => {
			fillers.forEach((filler) => filler.destroy());
			child.kill('SIGKILL');
		},
	};
}

async function selfSignedServer() {
	const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }]);
	const server = createHttpsServer({ key, cert }, (_request, response) => response.end('{}'));
	server.listen(0, LOOPBACK);
	await once(server, 'listening');
	return server;
}

const REJECTED = [400, 401, 403, 404, 409, 422, 429];
const UNKNOWN = [408, 500, 502, 503, 504];

function status(
	code: number,
	outcome: Outcome,
	more: Partial<Fault> = {},
	name = `${code}`,
): FaultCase {
	const fault = { kind: 'status', status: code, ...more } as Fault;
	return { name, outcome, arrives: true, statusCode: code, fault };
}

/** Starts the service and the servers around it that the cases need. */
export async function startFaults(): Promise<Faults> {
	const [sandbox, elsewhere] = [await Sandbox.start(), await Sandbox.start()];
	const [deaf, selfSigned, closed] = [await deafPort(), await selfSignedServer(), await freePort()];
	const tlsPort = (selfSigned.address() as AddressInfo).port;
	const location = `${elsewhere.url}/v2/pay/payment`;

	const cases: FaultCase[] = [
		{ name: 'DNS', outcome: 'notSent', arrives: false, baseUrl: 'https://nowhere.invalid' },
		{
			name: 'refused',
			outcome: 'notSent',
			arrives: false,
			baseUrl: `http://${LOOPBACK}:${closed}`,
		},
		// The kernel itself refuses to connect to the broadcast address: no packet leaves.
		{ name: 'unreachable', outcome: 'notSent', arrives: false, baseUrl: 'http://255.255.255.255' },
		{
			name: 'TLS self-signed',
			outcome: 'notSent',
			arrives: false,
			baseUrl: `https://localhost:${tlsPort}`,
		},
		{
			name: 'TLS to a plain port',
			outcome: 'notSent',
			arrives: false,
			baseUrl: sandbox.url.replace('http', 'https'),
		},
		{
			name: 'time-out connecting',
			outcome: 'notSent',
			arrives: false,
			baseUrl: `http://${LOOPBACK}:${deaf.port}`,
			timeout: 500,
		},
		{
			name: 'time-out answering',
			outcome: 'unknown',
			arrives: true,
			fault: { kind: 'no-answer' },
			timeout: 1000,
		},
		{
			name: 'reset before the body',
			outcome: 'unknown',
			arrives: true,
			baseUrl: `${sandbox.url}/fault/reset-before-body`,
		},
		{
			name: 'reset after the body',
			outcome: 'unknown',
			arrives: true,
			fault: { kind: 'reset-after-body' },
		},
		{ name: 'hang-up mid-response', outcome: 'unknown', arrives: true, fault: { kind: 'hang-up' } },
		{ name: 'not HTTP', outcome: 'unknown', arrives: true, fault: { kind: 'garbage' } },
		status(200, 'accepted', { body: '{"error":""}' }, '200 with error ""'),
		status(200, 'accepted', { body: '{"error":{"message":"x"}}' }, '200 with error object'),
		status(200, 'accepted', { body: '<html>', contentType: 'text/html' }, '200 HTML'),
		status(200, 'accepted', { body: '' }, '200 empty'),
		status(200, 'accepted', { body: '{"id":' }, '200 broken JSON'),
		status(201, 'accepted'),
		status(204, 'accepted', { body: '' }),
		...[301, 302, 303].map((code) =>
			status(code, 'unknown', { location }, `${code} to another host`),
		),
		...[300, 304, 499].map((code) => status(code, 'unknown', { body: '' })),
		status(407, 'notSent'),
		status(307, 'rejected', { location }, '307 to another host'),
		...REJECTED.map((code) => status(code, 'rejected')),
		...UNKNOWN.map((code) => status(code, 'unknown')),
	];
	sandbox.faultFor = ({ body }) => {
		const { external_id } = JSON.parse(body) as { external_id: string };
		return cases.find(({ name }) => external_id.startsWith(`${name}|`))?.fault;
	};
	return {
		cases,
		sandbox,
		elsewhere,
		arrivals: (external_id) =>
			external_id.startsWith('reset before the body|')
				? sandbox.received.filter(({ body, headers }) => body === '' && headers['content-length'])
						.length
				: sandbox.bodies('payment').filter((body) => body.external_id === external_id).length,
		close: async () => {
			deaf.close();
			selfSigned.closeAllConnections();
			selfSigned.close();
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

/** How often a payment may arrive: only what was certainly not carried out is sent again. */
export function expectedArrivals({ outcome, arrives }: FaultCase, retryOnFail: boolean): number {
	if (!arrives) return 0;
	const again = outcome === 'rejected' || outcome === 'notSent';
	return again && retryOnFail ? MAX_TRIES : 1;
}
