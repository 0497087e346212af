import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { itemsOf, type N8n } from '../../dev/n8n';
import type { QueueMode } from '../../dev/queue';
import { call, chain, noOp, pay, payTrigger, splitItems, start } from '../../dev/workflow';
import { Sandbox } from '../../sandbox/service';
import { allFinished, startN8n, startQueueMode, VERSIONS } from './nodes';
import { ended, startWaiting } from './chargeAndWait';

/** A service on another scheme name, whose tokens live for two seconds. */
const CLIENT = { clientId: 'the shop', clientSecret: 'a secret: of+the/shop=', tokenLife: 2 };
const FROM_ITEM = { amount: 1, external_id: '={{ $json.id }}' };
const ids = (count: number) => Array.from({ length: count }, () => randomUUID());
const batches = (batchSize: number, batchInterval = 0) => ({
	options: { batching: { batch: { batchSize, batchInterval } } },
});

async function startService() {
	const service = await Sandbox.start({ schemeName: 'fast', clientCredentials: CLIENT });
	const credential = {
		baseUrl: service.url,
		schemeName: 'fast',
		authentication: 'clientCredentials',
		tokenUrl: service.tokenUrl,
		clientId: CLIENT.clientId,
		clientSecret: CLIENT.clientSecret,
	};
	return { service, credential };
}

/** Publishes Start -> Items -> Pay. */
async function payList(main: N8n, payApi: { id: string; name: string }, parameters: object) {
	const first = start();
	const nodes = [first, splitItems(), pay('Pay', { ...FROM_ITEM, ...parameters })];
	const id = await main.importWorkflow(chain('Pay a list', nodes), { payApi });
	await main.activate(id);
	return {
		id,
		send: async (by: N8n, list: string[]) => {
			const items = list.map((one) => ({ id: one }));
			expect((await call(by, first.webhookId, { items })).status).toBe(200);
		},
	};
}

/** A server that notes what comes and answers as told. */
async function startWitness(answer: { status: number; headers?: Record<string, string> }) {
	const came: string[] = [];
	const server: Server = createServer((request, response) => {
		came.push(`${request.method} ${request.url} ${request.headers.authorization ?? ''}`);
		request.resume().on('end', () => response.writeHead(answer.status, answer.headers).end('{}'));
	});
	// As a proxy that opens no tunnel.
	server.on('connect', (request, socket) => {
		came.push(`CONNECT ${request.url}`);
		socket.end(`HTTP/1.1 ${answer.status} No\r\nContent-Length: 0\r\n\r\n`);
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
	const close = () => {
		server.closeAllConnections();
		server.close();
	};
	return { url, came, close };
}

describe.each(VERSIONS)('n8n %s', (version) => {
	let n8n: N8n;
	let service: Sandbox;
	let credential: Record<string, unknown>;
	beforeAll(async () => {
		({ service, credential } = await startService());
		n8n = await startN8n(version);
	});
	afterAll(async () => {
		await n8n?.stop();
		await service?.close();
	});
	beforeEach(() => {
		service.received.length = 0;
		service.tokenRequests.length = 0;
		service.transactions.length = 0;
		service.faultFor = undefined;
		service.tokenFaultFor = undefined;
	});

	test('another scheme name, tokens of 2 s, 70 payments by tens: all accepted, none twice', async () => {
		const payApi = await n8n.createCredential(credential);
		const { id, send } = await payList(n8n, payApi, batches(10, 500));
		const list = ids(70);
		const begun = Date.now();
		await send(n8n, list);
		const [execution] = await allFinished(n8n, id, 1);
		const seconds = (Date.now() - begun) / 1000;
		expect(execution?.status).toBe('success');
		const outcomes = itemsOf(execution!, 'Pay').map(({ outcome }) => outcome);
		expect(outcomes).toStrictEqual(Array(70).fill('accepted'));
		expect(service.transactions.map(({ external_id }) => external_id).sort()).toStrictEqual(
			[...list].sort(),
		);
		// Each is used for the first of its two seconds, by all batches that begin in it.
		const requests = service.tokenRequests.length;
		console.log(
			`n8n ${version}: 70 payments in 7 batches, ${seconds.toFixed(1)} s: ${requests} token requests for tokens of 2 s, each used for 1 s; ${service.received.length} payment requests`,
		);
		expect(requests).toBeGreaterThanOrEqual(2);
		expect(requests).toBeLessThanOrEqual(7);
		expect(service.received).toHaveLength(70);
		for (const { path } of service.received) expect(path).toBe('/v2/fast/payment');
	});

	test('no secret and no token is in the stored execution, or in the log of n8n', async () => {
		const payApi = await n8n.createCredential(credential);
		const { id, send } = await payList(n8n, payApi, { options: {} });
		const seen: string[] = [];
		service.faultFor = ({ headers, body }) => {
			seen.push(String(headers.authorization).replace('Bearer ', ''));
			const echo = JSON.stringify({ headers, body });
			return { kind: 'status', status: seen.length % 2 === 0 ? 422 : 200, body: echo };
		};
		for (let each = 0; each < 2; each++) {
			await send(n8n, ids(3));
			await allFinished(n8n, id, each + 1);
		}
		const stored = n8n.storedExecutions(id).join('\n');
		const left = stored + n8n.log;
		expect(seen.length).toBeGreaterThan(1);
		// The control: what the service repeated is there.
		expect(stored).toContain('Bearer ***');
		for (const secret of [...seen, ...(service.tokens?.given ?? []), CLIENT.clientSecret]) {
			expect(left).not.toContain(secret);
			expect(left).not.toContain(Buffer.from(secret).toString('base64'));
		}
	});

	async function verdict(change: Record<string, unknown>) {
		const data = { ...credential, ...change };
		const payApi = await n8n.createCredential(data);
		const { data: result } = await n8n.rest<{ data: { status: string; message: string } }>(
			'POST',
			'/credentials/test',
			{ credentials: { ...payApi, type: 'payApi', data } },
		);
		return `${result.status}: ${result.message}`;
	}
	test.each<[string, Record<string, unknown>, RegExp]>([
		['good', {}, /^OK: The service accepts the access token$/],
		['secrets in the body', { clientAuthentication: 'body' }, /^OK/],
		['a wrong scheme name', { schemeName: 'slow' }, /^Error: .*Scheme Name in Paths is wrong/],
		[
			'a refused client',
			{ clientSecret: 'wrong' },
			/^Error: .*refused the client \(HTTP 401, invalid_client\)/,
		],
		[
			'no token endpoint',
			{ tokenUrl: 'http://127.0.0.1:1/token' },
			/^Error: .*token endpoint cannot be reached: the connection was refused \(ECONNREFUSED\)/,
		],
		[
			'a pasted token that is refused',
			{ authentication: 'accessToken', accessToken: 'x' },
			/^Error: The service refused the access token \(HTTP 401\)/,
		],
		[
			'a tail of another scheme',
			{ baseUrl: 'https://api.example.com/v2/slow/qrcode' },
			/^Error: .*"slow".*"fast"/,
		],
	])('the credential test: %s', async (_what, change, expected) => {
		expect(await verdict(change)).toMatch(expected);
		expect(service.transactions).toStrictEqual([]);
	});

	test.each([301, 302, 303, 307, 308])(
		'a token endpoint that redirects (%d) is not followed, in a run or in the credential test',
		async (status) => {
			const thief = await startWitness({ status: 200 });
			const headers = { Location: `${thief.url}/token` };
			const door = await startWitness({ status, headers });
			try {
				const change = { tokenUrl: `${door.url}/token` };
				expect(await verdict(change)).toMatch(/^Error: .*redirects elsewhere/);
				const payApi = await n8n.createCredential({ ...credential, ...change });
				const { id, send } = await payList(n8n, payApi, { options: {} });
				await send(n8n, ids(1));
				const [execution] = await allFinished(n8n, id, 1);
				expect(execution?.data.resultData.error?.message).toMatch(/redirects elsewhere/);
				expect(door.came).toHaveLength(2);
				expect(thief.came).toStrictEqual([]);
				expect(service.received).toStrictEqual([]);
			} finally {
				door.close();
				thief.close();
			}
		},
	);

	describe('postbacks nested one level deep', () => {
		let told: Sandbox;
		let payApi: { id: string; name: string };
		beforeAll(async () => {
			told = await Sandbox.start({
				// A status as text and as number, which the document shows neither of.
				postbackBody: ({ event, status, ...data }) => ({
					event,
					data: { ...data, status, code: status === 'paid' ? 2 : 3 },
				}),
			});
			payApi = await n8n.createCredential({
				baseUrl: told.url,
				accessToken: 'token',
				postbackSecret: 'the postback secret of the test',
			});
		});
		afterAll(async () => await told?.close());
		const MATCHES = [
			['a text', 'data.status', 'paid'],
			['a number', 'data.code', '2'],
		];

		test.each(MATCHES)(
			'a wait goes on at %s that matches, and at no other',
			async (_what, ...match) => {
				const [matchField, value] = match;
				const wait = { resumeWhen: 'match', matchField, matchValues: [value] };
				const { executionId, about } = await startWaiting(n8n, told, payApi, { wait });
				const made = told.transactions.find(
					({ external_id }) => external_id === about.external_id,
				)!;
				await told.settle(made.id, 'failed');
				expect(made.deliveries.map(({ answer }) => answer)).toStrictEqual([200]);
				expect((await n8n.execution(executionId)).status).toBe('waiting');
				await told.settle(made.id, 'paid');
				const [item] = itemsOf(await ended(n8n, executionId), 'After');
				expect(item?.postback).toMatchObject({ body: { data: { status: 'paid', code: 2 } } });
			},
		);

		test.each(MATCHES)(
			'a trigger starts at %s that matches, and at no other',
			async (_what, ...match) => {
				const [field, value] = match;
				const trigger = payTrigger({
					startWhen: 'match',
					matchField: field,
					matchValues: [value],
				});
				const id = await n8n.importWorkflow(chain('Told', [trigger, noOp('After')]), { payApi });
				await n8n.activate(id);
				const postbackUrl = `${n8n.url}/webhook/${trigger.webhookId}/postback`;
				const { id: paying, send } = await payList(n8n, payApi, { postback: 'url', postbackUrl });
				const [external_id] = ids(1) as [string];
				await send(n8n, [external_id]);
				await allFinished(n8n, paying, 1);
				const made = told.transactions.find((each) => each.external_id === external_id)!;
				await told.settle(made.id, 'failed');
				await told.settle(made.id, 'paid');
				expect(made.deliveries.map(({ answer }) => answer)).toStrictEqual([200, 200]);
				const executions = await allFinished(n8n, id, 1);
				expect(executions).toHaveLength(1);
				expect(itemsOf(executions[0]!, 'After')[0]).toMatchObject({
					reference: { external_id, kind: 'payment', amount: 1 },
					body: { data: { status: 'paid', code: 2 } },
				});
			},
		);
	});
});

describe.each(VERSIONS)('n8n %s behind a proxy that lets nobody pass', (version) => {
	let n8n: N8n;
	let proxy: Awaited<ReturnType<typeof startWitness>>;
	beforeAll(async () => {
		proxy = await startWitness({ status: 407 });
		const env = { HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url, NO_PROXY: '127.0.0.1,localhost' };
		n8n = await startN8n(version, { env });
	});
	afterAll(async () => {
		await n8n?.stop();
		proxy?.close();
	});

	test.each([
		['http://id.example.invalid/token', 'POST http://id.example.invalid/token'],
		['https://id.example.invalid/token', 'CONNECT id.example.invalid:443'],
	])(
		'the request for a token at %s goes to it, and the refusal is told as its own',
		async (tokenUrl, asked) => {
			const { service, credential } = await startService();
			const there = { tokenUrl, allowHttp: true };
			const payApi = await n8n.createCredential({ ...credential, ...there });
			const { id, send } = await payList(n8n, payApi, { options: {} });
			await send(n8n, ids(1));
			const [execution] = await allFinished(n8n, id, 1);
			await service.close();
			expect(proxy.came.join()).toContain(asked);
			expect(execution?.data.resultData.error?.message).toMatch(/a proxy on the way asks for/);
			expect(service.received).toStrictEqual([]);
		},
	);
});

// n8n 1 has no such rules.
const guarded = VERSIONS.includes('n8n2') ? describe : describe.skip;
guarded('n8n 2 that guards against inner addresses', () => {
	let n8n: N8n;
	beforeAll(async () => {
		n8n = await startN8n('n8n2', {
			env: { N8N_SSRF_PROTECTION_ENABLED: 'true', N8N_SSRF_ALLOWED_IP_RANGES: '127.0.0.1/32' },
		});
	});
	afterAll(async () => await n8n?.stop());

	test.each([
		['asks no token endpoint there', '127.0.0.2', /not allowed to reach that host/, 0],
		['asks one at an address that it allows', '127.0.0.1', /^accepted$/, 1],
	])('it %s', async (_what, host, expected, requests) => {
		const { service, credential } = await startService();
		const tokenUrl = service.tokenUrl.replace('127.0.0.1', host);
		const payApi = await n8n.createCredential({ ...credential, tokenUrl });
		const { id, send } = await payList(n8n, payApi, { options: {} });
		await send(n8n, ids(1));
		const [execution] = await allFinished(n8n, id, 1);
		await service.close();
		const { error } = execution!.data.resultData;
		expect(error?.message ?? String(itemsOf(execution!, 'Pay')[0]?.outcome)).toMatch(expected);
		expect(service.tokenRequests).toHaveLength(requests);
	});
});

describe.each(VERSIONS)('n8n %s with two workers', (version) => {
	let queue: QueueMode;
	let service: Sandbox;
	let credential: Record<string, unknown>;
	beforeAll(async () => {
		({ service, credential } = await startService());
		queue = await startQueueMode(version, 'as usual');
	});
	afterAll(async () => {
		await queue?.stop();
		await service?.close();
	});

	test('another scheme name, tokens of 2 s, 80 payments by tens: all accepted, none twice', async () => {
		const payApi = await queue.main.createCredential(credential);
		const { id, send } = await payList(queue.main, payApi, batches(10, 500));
		// The first record of a workflow is of its own kind in n8n's store.
		await send(queue.webhook, ids(1));
		await allFinished(queue.main, id, 1);
		service.transactions.length = service.tokenRequests.length = service.received.length = 0;
		const list = ids(80);
		const begun = Date.now();
		for (let each = 0; each < 80; each += 20)
			await send(queue.webhook, list.slice(each, each + 20));
		const executions = await allFinished(queue.main, id, 5);
		const seconds = (Date.now() - begun) / 1000;
		expect(executions.map(({ status }) => status)).toStrictEqual(Array(5).fill('success'));
		expect(service.transactions.map(({ external_id }) => external_id).sort()).toStrictEqual(
			[...list].sort(),
		);
		const workers = new Set(executions.slice(0, 4).map((each) => queue.workerOf(each.id)));
		const requests = service.tokenRequests.length;
		console.log(
			`n8n ${version}: 80 payments in 4 executions on ${workers.size} workers, ${seconds.toFixed(1)} s: ${requests} token requests; each worker has tokens of its own, used for 1 s of 2`,
		);
		expect(workers).toStrictEqual(new Set(queue.workers));
		expect(requests).toBeGreaterThanOrEqual(2);
		// One per batch at most: simultaneous executions of one worker share them.
		expect(requests).toBeLessThanOrEqual(8);
	});
});
