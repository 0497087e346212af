import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { itemsOf, type N8n } from '../../dev/n8n';
import { call, chain, start } from '../../dev/workflow';
import { Sandbox } from '../../sandbox/service';
import { allFinished, startN8n, VERSIONS } from './nodes';

const CLIENT = { clientId: 'the shop', clientSecret: 'a secret: of+the/shop=', tokenLife: 3600 };

/** Another address of the service: notes what comes, and refuses as often as told. */
async function startAddress() {
	const came: string[] = [];
	const refusals: number[] = [];
	const server = createServer((request, response) => {
		came.push(`${request.method} ${request.headers.authorization}`);
		request.resume().on('end', () => {
			response.writeHead(refusals.shift() ?? 200, { 'content-type': 'application/json' });
			response.end('{"status":"paid"}');
		});
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/status`;
	return { came, refusals, url, close: () => (server.closeAllConnections(), server.close()) };
}

describe.each(VERSIONS)('the credential in an HTTP Request node of n8n %s', (version) => {
	let n8n: N8n;
	let service: Sandbox;
	let other: Awaited<ReturnType<typeof startAddress>>;
	beforeAll(async () => {
		service = await Sandbox.start({ clientCredentials: CLIENT });
		other = await startAddress();
		n8n = await startN8n(version);
	});
	afterAll(async () => {
		await n8n?.stop();
		await service?.close();
		other?.close();
	});
	beforeEach(() => {
		[other.came.length, other.refusals.length, service.tokenRequests.length] = [0, 0, 0];
	});

	/** Publishes Start -> Ask; gives what runs it once, and what became of that. */
	async function asking(credential: Record<string, unknown>, method = 'GET') {
		const payApi = await n8n.createCredential({ baseUrl: service.url, ...credential });
		const first = start();
		const ask = {
			...{ id: randomUUID(), name: 'Ask', type: 'n8n-nodes-base.httpRequest', typeVersion: 4.2 },
			position: [0, 0] as [number, number],
			parameters: {
				...{ method, url: other.url, authentication: 'predefinedCredentialType' },
				nodeCredentialType: 'payApi',
			},
			credentials: { payApi },
		};
		const id = await n8n.importWorkflow(chain('Ask', [first, ask as never]), { payApi });
		await n8n.activate(id);
		let runs = 0;
		const run = async () => {
			await call(n8n, first.webhookId, {});
			const all = await allFinished(n8n, id, ++runs);
			return all.sort((a, b) => Number(a.id) - Number(b.id)).at(-1)!;
		};
		/** What n8n shows of the credential and of all executions, and its log. */
		const shown = async () =>
			JSON.stringify([
				await n8n.rest('GET', `/credentials/${payApi.id}?includeData=true`),
				await allFinished(n8n, id, runs),
				n8n.log,
			]);
		return Object.assign(run, { shown });
	}
	const client = (more = {}) => ({
		...{ authentication: 'clientCredentials', tokenUrl: service.tokenUrl },
		...{ clientId: CLIENT.clientId, clientSecret: CLIENT.clientSecret, ...more },
	});

	test('a pasted token goes out without its own "Bearer "', async () => {
		const run = await asking({ accessToken: 'Bearer abc' });
		expect(itemsOf(await run(), 'Ask')).toStrictEqual([{ status: 'paid' }]);
		expect(other.came).toStrictEqual(['GET Bearer abc']);
	});

	test.each(['GET', 'POST'])(
		'%s: a fetched token is kept, refused, and renewed for the next run',
		async (method) => {
			const run = await asking(client(), method);
			await run();
			await run();
			const fetched = service.tokenRequests.length;
			expect(other.came).toHaveLength(2);
			expect(new Set(other.came).size).toBe(1);
			// Nothing is repeated: a POST may move money. The next run has another token.
			other.refusals.push(401, 500);
			expect((await run()).status).toBe('error');
			expect((await run()).status).toBe('error');
			expect((await run()).status).toBe('success');
			expect(other.came).toHaveLength(5);
			expect(other.came[2]).toBe(other.came[0]);
			expect(other.came[3]).not.toBe(other.came[0]);
			expect(service.tokenRequests.length).toBeGreaterThan(fetched);
			const shown = await run.shown();
			expect(shown).toContain(CLIENT.clientId);
			expect(shown).not.toContain(CLIENT.clientSecret);
			for (const came of other.came) expect(shown).not.toContain(came.split(' ').at(-1));
		},
	);

	test('a wrong secret says so, and nothing is asked', async () => {
		const run = await asking(client({ clientSecret: 'wrong' }));
		const execution = await run();
		expect(execution.status).toBe('error');
		expect(JSON.stringify(execution)).toMatch(
			/Could not get an access token: the token endpoint refused the client/,
		);
		expect(other.came).toStrictEqual([]);
	});

	test('Pay offers no Custom API Call', async () => {
		const types = await (
			await fetch(`${n8n.url}/types/nodes.json`, { headers: { Cookie: n8n.session } })
		).text();
		expect(types).toContain('n8n-nodes-pay.pay');
		const pay = (JSON.parse(types) as Array<{ name: string }>).filter(({ name }) =>
			name.startsWith('n8n-nodes-pay.'),
		);
		expect(JSON.stringify(pay)).not.toContain('Custom API Call');
	});
});
