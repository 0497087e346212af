import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Server as NetServer } from 'node:net';

/** A server on this machine, at a port that nobody else has. */
export interface Listening<Kind extends NetServer = Server> {
	server: Kind;
	port: number;
	/** `http://127.0.0.1:…`, without a slash at its end. */
	url: string;
	/** Ends it, with the connections that are open. */
	close(): void;
}

/** Serves on a free port: a handler of requests by HTTP, or a server that was made for something else. */
export async function listen(handler: RequestListener): Promise<Listening>;
export async function listen<Kind extends NetServer>(server: Kind): Promise<Listening<Kind>>;
export async function listen(served: RequestListener | NetServer): Promise<Listening<NetServer>> {
	const server = typeof served === 'function' ? createServer(served) : served;
	await once(server.listen(0, '127.0.0.1'), 'listening');
	const { port } = server.address() as AddressInfo;
	return {
		server,
		port,
		url: `http://127.0.0.1:${port}`,
		close() {
			if ('closeAllConnections' in server) (server as Server).closeAllConnections();
			server.close();
		},
	};
}
