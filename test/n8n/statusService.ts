import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A response: a body that is JSON, or text; a status without one; or none at all. */
export type StatusResponse = object | string | number | 'hangs up';

/** A service that says what became of payments. Its fields and words are those of no other. */
export class StatusService {
	/** What was asked, in this order. */
	readonly requests: Array<{ method: string; identifier: string; authorization?: string }> = [];
	private readonly responses = new Map<string, StatusResponse>();

	private constructor(private readonly server: Server) {}

	static async start(): Promise<StatusService> {
		const server = createServer();
		const service = new StatusService(server);
		server.on('request', (request, response) => {
			const { searchParams } = new URL(request.url!, 'http://here');
			const identifier = searchParams.get('identifier') ?? '';
			const { method = '' } = request;
			const { authorization } = request.headers;
			service.requests.push({ method, identifier, authorization });
			request.resume().on('end', () => service.send(response, identifier));
		});
		server.listen(0, '127.0.0.1');
		await once(server, 'listening');
		return service;
	}

	private send(response: ServerResponse, identifier: string): void {
		// It does not know any other.
		const told = this.responses.get(identifier) ?? 404;
		if (told === 'hangs up') {
			response.destroy();
			return;
		}
		const status = typeof told === 'number' ? told : 200;
		response.writeHead(status, { 'content-type': 'application/json', location: '/elsewhere' });
		response.end(typeof told === 'object' ? JSON.stringify(told) : String(told));
	}

	/** The address to ask at, as it is entered in Settings of an example. */
	get address(): string {
		const { port } = this.server.address() as AddressInfo;
		return `http://127.0.0.1:${port}/what-of?identifier={identifier}`;
	}

	/** From now on it responds so, when it is asked about an identifier. */
	respond(identifier: string, response: StatusResponse): void {
		this.responses.set(identifier, response);
	}

	/** The identifiers that it was asked about, in this order. */
	identifiersAsked(): string[] {
		return this.requests.map(({ identifier }) => identifier);
	}

	/** Forgets what it was asked, and what to respond. */
	reset(): void {
		this.requests.length = 0;
		this.responses.clear();
	}

	close(): void {
		this.server.closeAllConnections();
		this.server.close();
	}
}
