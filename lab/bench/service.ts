import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * The cheapest service there can be, in a process of its own: what is measured is the caller. A base URL
 * `…/delay/20` responds after 20 ms.
 */
let count = 0;
const server = createServer((request, response) => {
	const [, delay = '0'] = /^\/delay\/(\d+)\//.exec(request.url ?? '') ?? [];
	const respond = () => {
		const body = { success: true, id: `illustration-${++count}`, note: 'x'.repeat(400) };
		response.writeHead(201, { 'Content-Type': 'application/json' });
		response.end(JSON.stringify(body));
	};
	request.resume();
	request.on('end', () => {
		if (delay === '0') respond();
		else setTimeout(respond, Number(delay));
	});
});
// HTTP Request opens a connection per item, a thousand at once; none may be turned away.
server.listen({ port: 0, host: '127.0.0.1', backlog: 16_384 }, () => {
	process.send?.((server.address() as AddressInfo).port);
});
process.on('disconnect', () => process.exit());
