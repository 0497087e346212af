import type { RequestResult } from '../../nodes/Pay/service/client';
import type { HttpRequest } from '../../nodes/Pay/service/exchange';
import { slowness } from '../busy';
import { postPayment } from './requestHelper';
import type { Row } from './rows';
import {
	certificates,
	Servers,
	startProxy,
	type Behaviour,
	type Counted,
	type ProxyBehaviour,
} from './servers';

/** What one row came to. */
export interface Sent {
	result: RequestResult;
	/** What came to the row's own server, where it has one. */
	counted?: Counted;
	/** The row's time-out and what it took, in milliseconds. */
	timeout: number;
	took: number;
}

const TOKEN = 'token-of-the-wire-test';

/** Sends a payment for each row, most side by side, through the client and one n8n's own request helper. */
export async function sendCorpus(
	httpRequest: HttpRequest,
	rows: Row[],
): Promise<Map<string, Sent>> {
	const servers = new Servers();
	const { forget, ...pems } = await certificates();
	const hosts = new Map<string, ProxyBehaviour>();
	const proxyPort = await startProxy(servers, hosts);
	const before = { ...process.env };
	process.env.HTTP_PROXY = process.env.HTTPS_PROXY = `http://127.0.0.1:${proxyPort}`;
	process.env.NO_PROXY = '127.0.0.1,localhost';

	/** Starts what the row needs, and gives the address that the node is told. */
	async function prepare(row: Row): Promise<{ baseUrl: string; counted?: Counted }> {
		if (row.proxy) {
			const { to, response, onRequest } = row.proxy;
			const host = `row${rows.indexOf(row)}.proxied.test`;
			hosts.set(host, (socket) => {
				if (response !== undefined) socket.end(response);
				onRequest?.(socket);
			});
			return { baseUrl: `${to}://${host}` };
		}
		// Nobody listens there.
		if (row.server === 'refused') return { baseUrl: 'http://127.0.0.1:1' };
		const server = { ...row.server };
		if (row.certificate === undefined) {
			const counted = await servers.start(server);
			return { baseUrl: `http://127.0.0.1:${counted.port}`, counted };
		}
		// A TLS row without `tls` has a server that does not do its part of the handshake.
		if (server.tls || !('tls' in server || server.onConnection)) {
			server.tls = { ...pems[row.certificate], ...server.tls };
		}
		const counted = await servers.start(server);
		return { baseUrl: `https://localhost:${counted.port}`, counted };
	}

	async function send(row: Row, busy: number): Promise<Sent> {
		// Those without one of their own wait for a response that comes.
		const timeout = (row.timeout ?? 60_000) * busy;
		const { baseUrl, counted } = await prepare(row);
		const account = { baseUrl, accessToken: row.token ?? TOKEN, timeout };
		const body = {
			amount: 1,
			external_id: row.name,
			payerQuestion: row.long ? 'x'.repeat(20_000_000) : undefined,
			postbackUrl: 'https://a.test/?pay_proof=reference.mac-of-the-test',
		};
		const begun = Date.now();
		const result = await postPayment(httpRequest, account, body);
		return { result, counted, timeout, took: Date.now() - begun };
	}

	const sent = new Map<string, Sent>();
	async function sendSideBySide(some: Row[]) {
		const busy = slowness();
		await Promise.all(some.map(async (row) => sent.set(row.name, await send(row, busy))));
	}

	try {
		// Alone, so that n8n's modules are loaded and no clock runs out for lack of a processor.
		await sendSideBySide(rows.slice(0, 1));
		const light = rows.filter((row) => !row.long && !row.heavy);
		await sendSideBySide(light.filter(({ timeout }) => timeout !== undefined));
		await sendSideBySide(light.filter(({ timeout }) => timeout === undefined));
		// These only wait for their clocks once the request is written.
		await sendSideBySide(rows.filter(({ long, timeout }) => long && timeout !== undefined));
		for (const row of rows) {
			if (!sent.has(row.name)) await sendSideBySide([row]);
		}
		return sent;
	} finally {
		servers.close();
		forget();
		for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY']) {
			if (before[name] === undefined) delete process.env[name];
			else process.env[name] = before[name];
		}
	}
}

/** Asserts what a row must have come to. */
export function expectRow(row: Row, { result, counted, timeout, took }: Sent) {
	expect(result).toMatchObject(row.expected);
	expect(took).toBeLessThan(2 * timeout + 10_000);
	if (counted === undefined) return;
	expect(counted.whole).toBeLessThanOrEqual(1);
	// A 407 says itself that the request went no further; else what was not sent did not arrive.
	if (result.outcome !== 'notSent' || result.statusCode === 407) return;
	expect(counted.whole).toBe(0);
	if (row.certificate && (row.server as Behaviour).tls) expect(counted.bytes).toBe(0);
}
