import { createServer, type Server, type Socket } from 'node:net';
import tls from 'node:tls';
import { generate } from 'selfsigned';
import { listen } from '../listen';

/** What a server does with a connection, and when. */
export interface Behaviour {
	/** Plays at once, before a byte was read. */
	onConnection?(socket: Socket): unknown;
	/** Plays on the request's head; its body may not have come. */
	onHead?(socket: Socket): unknown;
	/** Is sent once the request came whole, and ends the connection. */
	response?: string | Buffer;
	/** What else is done once the request came whole. */
	onRequest?(socket: Socket): unknown;
	/** Never reads. */
	deaf?: true;
	tls?: tls.TlsOptions;
}

/** A server of one row, which counts what came. */
export interface Counted {
	port: number;
	/** Requests that came whole. */
	whole: number;
	/** Bytes of requests that came, decrypted. */
	bytes: number;
}

/** Everything a corpus opened; closed at its end. */
export class Servers {
	private readonly servers = new Set<Server>();
	private readonly sockets = new Set<Socket>();

	private keep(socket: Socket) {
		this.sockets.add(socket);
		socket.on('error', () => undefined);
		socket.on('close', () => this.sockets.delete(socket));
	}

	async listen(server: Server): Promise<number> {
		this.servers.add(server);
		server.on('connection', (socket: Socket) => this.keep(socket));
		return (await listen(server)).port;
	}

	/** Starts a server that speaks raw HTTP/1.1, over TLS where the behaviour says so. */
	async start(behaviour: Behaviour): Promise<Counted> {
		const counted = { port: 0, whole: 0, bytes: 0 };
		const serve = (socket: Socket) => {
			socket.on('error', () => undefined);
			behaviour.onConnection?.(socket);
			if (behaviour.deaf) return socket.pause();
			onRequests(
				socket,
				(bytes) => (counted.bytes += bytes),
				() => behaviour.onHead?.(socket),
				() => {
					counted.whole++;
					if (behaviour.response !== undefined) socket.end(behaviour.response);
					behaviour.onRequest?.(socket);
				},
			);
		};
		const server = behaviour.tls ? tls.createServer(behaviour.tls, serve) : createServer(serve);
		server.on('tlsClientError', () => undefined);
		counted.port = await this.listen(server);
		return counted;
	}

	close() {
		this.sockets.forEach((socket) => socket.destroy());
		this.servers.forEach((server) => server.close());
	}
}

/** Splits what comes into requests by their Content-Length. */
function onRequests(
	socket: Socket,
	onBytes: (bytes: number) => void,
	onHead: () => void,
	onWhole: () => void,
) {
	let head = '';
	/** Bytes of the body still to come; undefined, while the head is coming. */
	let missing: number | undefined;
	socket.on('data', (chunk) => {
		onBytes(chunk.length);
		let rest: Buffer | string = chunk;
		while (rest.length > 0) {
			if (missing === undefined) {
				head += rest.toString('latin1');
				const end = head.indexOf('\r\n\r\n');
				if (end < 0) return;
				rest = head.slice(end + 4);
				missing = Number(/content-length: (\d+)/i.exec(head.slice(0, end))?.[1] ?? 0);
				onHead();
			}
			const took: number = Math.min(missing, rest.length);
			missing -= took;
			rest = rest.slice(took);
			if (missing > 0) return;
			[head, missing] = ['', undefined];
			onWhole();
		}
	});
}

/**
 * A certificate that requests trust from now on, as an operating system's own would be, and one
 * that they do not.
 */
export async function certificates() {
	const names = [
		{ type: 2 as const, value: 'localhost' },
		{ type: 2 as const, value: '*.proxied.test' },
	];
	const pem = async (altNames: typeof names) => {
		const { private: key, cert } = await generate([{ name: 'commonName', value: 'test' }], {
			extensions: [{ name: 'subjectAltName', altNames }],
		});
		return { key, cert };
	};
	const [trusted, otherHost, untrusted] = [
		await pem(names),
		await pem([{ type: 2, value: 'elsewhere.test' }]),
		await pem(names),
	];
	const { createSecureContext } = tls;
	tls.createSecureContext = (options = {}) =>
		createSecureContext(
			options.key || options.ca ? options : { ...options, ca: [trusted.cert, otherHost.cert] },
		);
	return {
		trusted,
		otherHost,
		untrusted,
		forget: () => {
			tls.createSecureContext = createSecureContext;
		},
	};
}

/** What a proxy does with one of the hosts below `proxied.test`. */
export type ProxyBehaviour = (socket: Socket) => void;

/**
 * One proxy for all rows, as the environment names one for the process: it behaves as the row says
 * whose host it is asked for.
 */
export async function startProxy(servers: Servers, rows: Map<string, ProxyBehaviour>) {
	const server = createServer((socket) => {
		let asked = false;
		let data = '';
		const read = (chunk: Buffer) => {
			data += chunk.toString('latin1');
			const [, host = ''] = /^(?:CONNECT |POST http:\/\/)([^:/ ]+)/.exec(data) ?? [];
			if (asked || !data.includes('\r\n\r\n')) return;
			asked = true;
			if (data.startsWith('CONNECT')) socket.off('data', read);
			rows.get(host)?.(socket);
		};
		socket.on('data', read);
	});
	return await servers.listen(server);
}
