import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { runDemo, setUpDemo } from '../../dev/demo';
import { itemsOf, until, webhookPath, type N8n } from '../../dev/n8n';
import { chain, node, pay, payTrigger, splitItems, start } from '../../dev/workflow';
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

	test('the bodies on the wire are those of sections 2.1 and 2.2', async () => {
		const unsigned = { baseUrl: sandbox.url, accessToken: 'token' };
		const credentials = { payApi: await n8n.createCredential(unsigned) };
		const runOnce = async (parameters: object) => {
			const first = node('Start', 'n8n-nodes-base.manualTrigger');
			const workflow = chain('Wire', [first, pay('Pay', parameters)]);
			const id = await n8n.importWorkflow(workflow, credentials);
			await n8n.finished(await n8n.run(id, 'Start'));
		};
		const common = { payerQuestion: 'Q', postback: 'url', postbackUrl: 'https://a.example/b' };
		const payer = { name: 'A', document: '1', email: 'a@example.com' };
		const split = [{ username: 'b', percentageSplit: 12.5 }];
		const creditParty = { key: 'k', keyType: 't', document: '1', name: 'N' };
		const charge = { resource: 'qrCode', amount: 10.5 };
		const fields = { specifySplit: 'fields', split: { recipient: split } };
		const json = { specifySplit: 'json', splitJson: JSON.stringify(split) };
		await runOnce({ ...charge, external_id: 'full', ...common, payer, ...fields });
		await runOnce({ ...charge, external_id: 'minimal' });
		await runOnce({ ...charge, external_id: 'json', ...json });
		await runOnce({ amount: 2, external_id: 'full', ...common, creditParty });
		await runOnce({ amount: 2, external_id: 'minimal' });
		const sent = { payerQuestion: 'Q', postbackUrl: 'https://a.example/b' };
		expect(sandbox.bodies('qrcode')).toStrictEqual([
			{ amount: 10.5, external_id: 'full', ...sent, payer, split },
			{ amount: 10.5, external_id: 'minimal' },
			{ amount: 10.5, external_id: 'json', split },
		]);
		expect(sandbox.bodies('payment')).toStrictEqual([
			{ amount: 2, external_id: 'full', ...sent, creditParty },
			{ amount: 2, external_id: 'minimal' },
		]);
	});

	describe('a trigger that checks nothing', () => {
		let url: string;
		let workflowId: string;
		beforeAll(async () => {
			const trigger = payTrigger({ authentication: 'none' });
			workflowId = await n8n.importWorkflow(chain('Any postback', [trigger]));
			await n8n.activate(workflowId);
			url = n8n.url + webhookPath(trigger);
		});

		async function deliver(method: string, body?: string, type?: string) {
			const before = await n8n.executionIds(workflowId);
			const headers = { ...(type && { 'Content-Type': type }), Authorization: 'x', Cookie: 'a=b' };
			const sent = body === undefined ? undefined : Buffer.from(body);
			const answer = await fetch(`${url}?try=1`, { method, body: sent, headers });
			expect([answer.status, await answer.text()]).toStrictEqual([200, '']);
			const id = await until('the execution', async () =>
				(await n8n.executionIds(workflowId)).find((found) => !before.includes(found)),
			);
			const [item] = itemsOf(await n8n.finished(id), 'Pay Trigger');
			return item as Record<string, unknown> & { headers: Record<string, string> };
		}

		const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
		test.each(METHODS)('%s gives what came, and neither token nor cookie of it', async (method) => {
			const item = await deliver(method);
			expect(item).toMatchObject({ method, reference: null, rawBody: '' });
			expect(item).toMatchObject({ query: { try: '1' } });
			expect(item.eventId).toMatch(/^[0-9a-f]{64}$/);
			expect(Object.keys(item)).toStrictEqual([
				...['reference', 'body', 'eventId', 'receivedAt', 'method', 'query', 'headers', 'rawBody'],
			]);
			expect(item.headers).not.toHaveProperty('authorization');
			expect(item.headers).not.toHaveProperty('cookie');
		});

		const LONG_NUMBER = '{"a":{"b":12345678901234567890}}';
		test.each([
			['application/json', LONG_NUMBER, { a: { b: '12345678901234567890' } }],
			['application/vnd.pay+json', '{"a":1}', { a: 1 }],
			[undefined, '{"a":1}', { a: 1 }],
			['application/x-www-form-urlencoded', 'a=1&b=x', { a: '1', b: 'x' }],
			['application/xml', '<a><b>1</b></a>', { a: { b: '1' } }],
			['text/plain', 'paid', 'paid'],
			['application/json', '{"a":', '{"a":'],
			['application/json; charset=foo', '{"a":1}', { a: 1 }],
			['application/xml', '<a>', '<a>'],
			['application/json', '', ''],
		])('reads a %p body: %p', async (type, text, body) => {
			const item = await deliver('POST', text, type);
			expect(item.rawBody).toBe(text);
			expect(item.body).toStrictEqual(body);
		});
	});

	/** Workflows as people who do not code build them, and rows as their spreadsheets have them. */
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

		test('a spreadsheet: what is plain is paid as it stands, every other row says why not', async () => {
			const { run } = await publish(n8n, payEach(FIELDS, CONTINUES), payApi);
			const own = randomUUID();
			const rows: Array<[row: object, told: string, sent?: number]> = [
				[{ id: 1, amount: 10.5, key: 'ana' }, 'accepted', 10.5],
				[{ id: 2, amount: '10.50', key: ' ana ' }, 'accepted', 10.5],
				[{ id: 3, amount: '10,50', key: 'ana' }, 'amount'],
				[{ id: 4, amount: '1.234,56', key: 'ana' }, 'amount'],
				[{ id: 5, amount: '1.000', key: 'ana' }, 'amount'],
				[{ id: 6, amount: '#N/A', key: 'ana' }, 'amount'],
				[{ id: 7, amount: '', key: 'ana' }, 'amount'],
				[{ id: 8, amount: null, key: 'ana' }, 'amount'],
				[{ id: 9, amount: [5], key: 'ana' }, 'amount'],
				[{ id: 10, amount: '2026-11-24', key: 'ana' }, 'amount'],
				[{ id: 11, amount: 5, key: '' }, 'creditParty.key'],
				[{ id: 12, amount: 5 }, 'creditParty.key'],
				[{ id: 13, amount: 5, key: { email: 'ana' } }, 'creditParty.key'],
				[{ id: 14, amount: 5, key: 'ana\u200b' }, 'creditParty.key'],
				[{ amount: 5, key: 'ana' }, 'external_id'],
				[{ id: '  ', amount: 5, key: 'ana' }, 'external_id'],
				[{ id: '1 ', amount: 10.5, key: 'ana' }, 'external_id'],
				[{ id: 15, amount: 5, key: 12_345_678_901 }, 'accepted', 5],
			];
			const items = rows.map(([row]) => ({
				...row,
				...('id' in row && String(row.id).trim() !== '' && { id: `${own}-${String(row.id)}` }),
			}));
			const told = itemsOf(await run(...items), 'Pay').map(({ outcome, error }) => {
				const refused = error as { field?: string } | undefined;
				return refused ? refused.field : outcome;
			});
			expect(told).toStrictEqual(rows.map(([, expected]) => expected));
			const sent = rows.flatMap(([, , amount]) => amount ?? []);
			expect(sandbox.bodies('payment').map(({ amount }) => amount)).toStrictEqual(sent);
		});

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
