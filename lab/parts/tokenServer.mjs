// The certified oidc-provider, whose tokens live 5 s, and a service that takes only living ones of it.
// It comes as ES modules, which jest does not load. Arguments: its file, the clients' secret.
import { createServer } from 'node:http';

const [file, secret] = process.argv.slice(2);
const { Provider } = await import(file);

// It decodes a pair in the header, as RFC 6749 has it, which clients send as it is.
const withoutPlusAndPercent = secret.replace(/[+%]/g, '');

const client = (client_id, token_endpoint_auth_method, more = {}) => ({
	client_id,
	client_secret: secret,
	token_endpoint_auth_method,
	grant_types: ['client_credentials'],
	redirect_uris: [],
	response_types: [],
	...more,
});
const listen = async (server) =>
	await new Promise((resolve) => {
		server.listen(0, '127.0.0.1', () => resolve(server.address().port));
	});

const front = createServer();
const issuer = `http://127.0.0.1:${await listen(front)}`;
const scope = 'pay.read pay.write';
const provider = new Provider(issuer, {
	clients: [
		client('basic', 'client_secret_basic', { scope, client_secret: withoutPlusAndPercent }),
		client('strict', 'client_secret_basic', { scope }),
		client('post', 'client_secret_post', { scope }),
		client('reader', 'client_secret_basic', {
			scope: 'pay.read',
			client_secret: withoutPlusAndPercent,
		}),
		client('none', 'client_secret_basic', { client_secret: withoutPlusAndPercent }),
	],
	scopes: ['pay.read', 'pay.write'],
	features: { clientCredentials: { enabled: true }, devInteractions: { enabled: false } },
	ttl: { ClientCredentials: 5 },
});
const answer = provider.callback();
front.on('request', (request, response) => {
	// Whoever follows it gets a token.
	if (request.url === '/moved') response.writeHead(307, { Location: '/token' }).end();
	else answer(request, response);
});

const books = { booked: [], refused: 0, tokens: 0 };
provider.on('grant.success', () => books.tokens++);
const service = createServer(async (request, response) => {
	const say = (status, body) => {
		response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
	};
	if (request.url === '/books') return say(200, books);
	const chunks = [];
	for await (const chunk of request) chunks.push(chunk);
	const bearer = (request.headers.authorization ?? '').replace('Bearer ', '');
	const token = await provider.ClientCredentials.find(bearer);
	if (!token || token.isExpired) {
		books.refused++;
		return say(401, { error: 'invalid_token' });
	}
	const { external_id } = JSON.parse(Buffer.concat(chunks).toString());
	if (external_id === undefined) return say(400, { error: 'external_id is required' });
	books.booked.push(external_id);
	return say(201, { scope: token.scope });
});
console.log(JSON.stringify({ issuer, service: `http://127.0.0.1:${await listen(service)}` }));
