import { connect, createServer, type Server, type Socket } from 'node:net';
import { freePort } from '../../dev/n8n';

/**
 * What becomes of a connection when a client sends something on it:
 * - `hold`: that and all that follows waits, in both directions, until it is released
 * - `holdAnswer`: the server gets it; its answer and all that follows waits until it is released
 * - `cutBefore`: closed, the server never sees it
 * - `cutAfter`: the server gets it and carries it out; its answer is lost and both sides are closed
 */
export type Play = 'hold' | 'holdAnswer' | 'cutBefore' | 'cutAfter';

/**
 * Stands between one n8n process and its database, so that single connections can be held or cut
 * at the very statement that a test is about.
 */
export class DatabaseProxy {
	/** Asked for each piece that a client sends; a statement's text is in its first piece. */
	play?: (sent: string) => Play | undefined;
	/** Refuses new connections while true. */
	down = false;
	private readonly sockets = new Set<Socket>();
	private held: Array<() => void> = [];

	private constructor(
		private readonly server: Server,
		readonly port: number,
	) {}

	static async start(to: number): Promise<DatabaseProxy> {
		const server = createServer();
		const proxy = new DatabaseProxy(server, await freePort());
		server.on('connection', (client) => proxy.join(client, connect(to, '127.0.0.1')));
		await new Promise<void>((resolve) => server.listen(proxy.port, '127.0.0.1', resolve));
		return proxy;
	}

	private join(client: Socket, database: Socket) {
		const close = () => {
			for (const socket of [client, database]) {
				this.sockets.delete(socket);
				socket.destroy();
			}
		};
		for (const socket of [client, database]) {
			this.sockets.add(socket);
			socket.on('close', close);
			socket.on('error', close);
		}
		if (this.down) return close();
		let waiting: Array<() => void> | undefined;
		let cut = false;
		const pass = (forward: () => void) =>
			waiting === undefined ? forward() : waiting.push(forward);
		client.on('data', (piece) => {
			const play = waiting === undefined ? this.play?.(piece.toString('latin1')) : undefined;
			if (play === 'cutBefore') return close();
			if (play === 'cutAfter') cut = true;
			if (play === 'holdAnswer') database.write(piece);
			if (play === 'hold' || play === 'holdAnswer') {
				waiting = [];
				this.held.push(() => {
					const pieces = waiting ?? [];
					waiting = undefined;
					for (const forward of pieces) forward();
				});
			}
			if (play !== 'holdAnswer') pass(() => database.write(piece));
		});
		database.on('data', (piece) => (cut ? close() : pass(() => client.write(piece))));
	}

	/** Lets all that is held go on. */
	release() {
		const held = this.held;
		this.held = [];
		for (const go of held) go();
	}

	/** Cuts every connection that is open now. */
	cutAll() {
		for (const socket of this.sockets) socket.destroy();
	}

	async close(): Promise<void> {
		this.down = true;
		this.cutAll();
		await new Promise((resolve) => this.server.close(resolve));
	}
}
