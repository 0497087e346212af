import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { runDemo, setUpDemo } from '../../dev/demo';
import { itemsOf, type N8n } from '../../dev/n8n';
import { chain, node, pay, splitItems, start } from '../../dev/workflow';
import { Sandbox } from '../../sandbox/service';
import { allFinished, payEach, publish, VERSIONS, withN8n, type Credential } from './nodes';

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

/** Small workflows of all kinds, which share an n8n. */
describe.each(VERSIONS)('n8n %s', (version) => {
	let n8n: N8n;
	let sandbox: Sandbox;
	let payApi: Credential;
	withN8n(version, (running) => ({ n8n, sandbox, payApi } = running), { settlePaymentsAfter: 100 });
	beforeEach(() => {
		sandbox.received.length = 0;
		sandbox.faultFor = undefined;
	});

	test('the demo: a QR code, a payment and both postbacks', async () => {
		const report = await runDemo(n8n, sandbox, await setUpDemo(n8n, sandbox));
		expect(report.filter((line) => /accepted \(HTTP 201\)/.test(line))).toHaveLength(2);
		expect(report.filter((line) => line.startsWith('postback: '))).toHaveLength(2);
	});

	/** Workflows as people who do not code build them. */
	describe('as ordinary builders make them', () => {
		const CONTINUES = { onError: 'continueRegularOutput' };
		const FIELDS = {
			amount: '={{ $json.amount }}',
			creditParty: { key: '={{ $json.key }}', keyType: '' },
		};
		const link = (name: string) => ({ node: name, type: 'main', index: 0 });
		const arrived = () => sandbox.bodies('payment').map(({ external_id }) => external_id);
		const payments = (count: number) =>
			Array.from({ length: count }, () => ({ id: randomUUID(), amount: 1, key: 'ana' }));
		const idsOf = (items: Array<{ id: string }>) => items.map(({ id }) => id);

		test('a loop whose error branch comes back to it: each payment goes out once', async () => {
			const loop = 'n8n-nodes-base.splitInBatches';
			const workflow = payEach(FIELDS, { onError: 'continueErrorOutput' });
			workflow.nodes.push(node('Loop', loop, { batchSize: 1 }, { typeVersion: 3 }));
			Object.assign(workflow.connections, {
				Items: { main: [[link('Loop')]] },
				Loop: { main: [[], [link('Pay')]] },
				Pay: { main: [[link('Loop')], [link('Loop')]] },
			});
			const { run } = await publish(n8n, workflow, payApi);
			const items = payments(4);
			const faults: Record<string, number> = { [items[1]!.id]: 422, [items[2]!.id]: 500 };
			sandbox.faultFor = ({ body }) => {
				const status = faults[(JSON.parse(body) as { external_id: string }).external_id];
				return status === undefined ? undefined : { kind: 'status', status };
			};
			expect([(await run(...items)).status, arrived()]).toStrictEqual(['success', idsOf(items)]);
		});

		test('a sub-workflow, once for each item or for all: called again, it pays nothing again', async () => {
			const called = 'n8n-nodes-base.executeWorkflowTrigger';
			const sub = chain('Sub', [
				node('When called', called, { inputSource: 'passthrough' }, { typeVersion: 1.1 }),
				pay('Pay', { ...FIELDS, external_id: '={{ $json.id }}' }, CONTINUES),
			]);
			const subId = await n8n.importWorkflow(sub, { payApi });
			// n8n 2 calls published workflows alone.
			await n8n.activate(subId).catch(() => undefined);
			const items = payments(3);
			for (const [turn, mode] of ['each', 'once', 'each'].entries()) {
				const workflowId = { __rl: true, mode: 'id', value: subId };
				const type = 'n8n-nodes-base.executeWorkflow';
				const caller = node('Call', type, { workflowId, mode, options: {} }, { typeVersion: 1.2 });
				const parent = chain(`Parent ${turn}`, [start(), splitItems(), caller]);
				const { run } = await publish(n8n, parent);
				const told = itemsOf(await run(...items), 'Call').map(
					({ outcome, error }) => outcome ?? (error as { outcome: string }).outcome,
				);
				const expected = turn === 0 ? 'accepted' : 'duplicate';
				expect([turn, told]).toStrictEqual([turn, items.map(() => expected)]);
			}
			expect(arrived()).toStrictEqual(idsOf(items));
		});
	});

	describe('the credential in an HTTP Request node', () => {
		let service: Sandbox;
		let other: Awaited<ReturnType<typeof startAddress>>;
		beforeAll(async () => {
			service = await Sandbox.start({ clientCredentials: CLIENT });
			other = await startAddress();
		});
		afterAll(async () => {
			await service?.close();
			other?.close();
		});
		beforeEach(() => {
			[other.came.length, other.refusals.length, service.tokenRequests.length] = [0, 0, 0];
		});

		/** Publishes Start -> Ask; gives what runs it once, and what became of that. */
		async function asking(credential: Record<string, unknown>, method = 'GET') {
			const made = await n8n.createCredential({ baseUrl: service.url, ...credential });
			const how = { authentication: 'predefinedCredentialType', nodeCredentialType: 'payApi' };
			const parameters = { method, url: other.url, ...how };
			const more = { typeVersion: 4.2, credentials: { payApi: made } };
			const ask = node('Ask', 'n8n-nodes-base.httpRequest', parameters, more);
			const { id, run } = await publish(n8n, chain('Ask', [start(), ask]));
			/** What n8n shows of the credential and of all executions, and its log. */
			const shown = async () =>
				JSON.stringify([
					await n8n.rest('GET', `/credentials/${made.id}?includeData=true`),
					await allFinished(n8n, id, 1),
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
				const ends = [await run(), await run(), await run()].map(({ status }) => status);
				expect(ends).toStrictEqual(['error', 'error', 'success']);
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
	});
});
