import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * The cheapest service there can be, in a process of its own: what is measured is the caller. A base
 * URL `…/delay/20` answers after 20 ms; `/token` gives a token; GET gives how many requests came, and the last body.
 */
let count = 0;
let last = '';
const server = createServer((request, response) => {
	if (request.method === 'GET') {
		response.end(JSON.stringify({ count, last }));
		return;
	}
	if (request.url === '/token') {
		response.writeHead(200, { 'Content-Type': 'application/json' });
		response.end('{"access_token":"token","token_type":"Bearer","expires_in":3600}');
		return;
	}
	const [, delay] = /^\/delay\/(\d+)\//.exec(request.url ?? '') ?? [];
	const chunks: Buffer[] = [];
	request.on('data', (chunk: Buffer) => chunks.push(chunk));
	request.on('end', () => {
		count++;
		last = Buffer.concat(chunks).toString();
		const answer = () => {
			response.writeHead(201, { 'Content-Type': 'application/json' });
			response.end(
				JSON.stringify({ success: true, id: `illustration-${count}`, note: 'x'.repeat(400) }),
			);
		};
		if (delay === undefined || delay === '0') answer();
		else setTimeout(answer, Number(delay));
	});
});
// HTTP Request opens a connection per item, a thousand at once; none may be turned away.
server.listen({ port: 0, host: '127.0.0.1', backlog: 16_384 }, () => {
	process.send?.((server.address() as AddressInfo).port);
});
process.on('disconnect', () => process.exit());
