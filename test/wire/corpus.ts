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
export interface Played {
	answer: RequestResult;
	/** What came to the row's own server, where it has one. */
	counted?: Counted;
	/** The row's time-out and what it took, in milliseconds. */
	timeout: number;
	took: number;
}

const TOKEN = 'token-of-the-wire-test';

/** Plays the rows side by side through the client and one n8n's own request helper. */
export async function playCorpus(
	httpRequest: HttpRequest,
	rows: Row[],
): Promise<Map<string, Played>> {
	const servers = new Servers();
	const { forget, ...pems } = await certificates();
	const hosts = new Map<string, ProxyBehaviour>();
	const proxyPort = await startProxy(servers, hosts);
	const before = { ...process.env };
	process.env.HTTP_PROXY = process.env.HTTPS_PROXY = `http://127.0.0.1:${proxyPort}`;
	process.env.NO_PROXY = '127.0.0.1,localhost';

	async function play(row: Row, index: number, busy: number): Promise<Played> {
		// Those without one of their own wait for an answer that comes.
		const timeout = (row.timeout ?? 60_000) * busy;
		let counted: Counted | undefined;
		// Nobody listens there.
		let baseUrl = 'http://127.0.0.1:1';
		if (row.proxy) {
			hosts.set(`row${index}.proxied.test`, row.proxy.play);
			baseUrl = `${row.proxy.to}://row${index}.proxied.test`;
		} else if (row.server !== 'refused') {
			const server = { ...row.server };
			// A TLS row without `tls` has a server that does not do its part of the handshake.
			if (row.certificate && (server.tls || !('tls' in server || server.onConnection))) {
				server.tls = { ...pems[row.certificate], ...server.tls };
			}
			counted = await servers.start(server);
			const [scheme, host] = row.certificate ? ['https', 'localhost'] : ['http', '127.0.0.1'];
			baseUrl = `${scheme}://${host}:${counted.port}`;
		}
		const body = {
			amount: 1,
			external_id: row.name,
			postbackUrl: 'https://a.test/?pay_proof=reference.mac-of-the-test',
			...(row.long ? { payerQuestion: 'x'.repeat(20_000_000) } : {}),
		};
		const account = { baseUrl, accessToken: row.token ?? TOKEN, timeout };
		const begun = Date.now();
		const answer = await postPayment(httpRequest, account, body);
		return { answer, counted, timeout, took: Date.now() - begun };
	}

	try {
		const played = new Map<string, Played>();
		const playAll = async (some: Row[]) => {
			const busy = slowness();
			await Promise.all(
				some.map(async (row) => played.set(row.name, await play(row, rows.indexOf(row), busy))),
			);
		};
		// Alone, so that n8n's modules are loaded and no clock runs out for lack of a processor.
		await playAll(rows.slice(0, 1));
		const heavy = ({ long, heavy }: Row) => long === true || heavy === true;
		const light = rows.filter((row) => !heavy(row));
		await playAll(light.filter(({ timeout }) => timeout !== undefined));
		await playAll(light.filter(({ timeout }) => timeout === undefined));
		for (const row of rows.filter(heavy)) await playAll([row]);
		return played;
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
export function expectRow(row: Row, { answer, counted, timeout, took }: Played) {
	expect(answer).toMatchObject(row.expected);
	expect(took).toBeLessThan(2 * timeout + 10_000);
	if (counted === undefined) return;
	expect(counted.whole).toBeLessThanOrEqual(1);
	// A 407 says itself that the request went no further; else what was not sent did not arrive.
	if (answer.outcome !== 'notSent' || answer.statusCode === 407) return;
	expect(counted.whole).toBe(0);
	if (row.certificate && (row.server as Behaviour).tls) expect(counted.bytes).toBe(0);
}
