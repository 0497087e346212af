import { randomUUID } from 'node:crypto';
import { itemsOf, type N8n } from '../../dev/n8n';
import { chain, node, start } from '../../dev/workflow';
import { Sandbox } from '../../sandbox/service';
import { listen } from '../listen';
import { allFinished, payEach, publish, startN8n, VERSIONS } from './nodes';

const CLIENT = { clientId: 'the shop', clientSecret: 'a secret: of+the/shop=' };
const item = () => ({ id: randomUUID() });

/** A service whose tokens come by client credentials, and a credential for it. */
async function startService() {
	const service = await Sandbox.start({ clientCredentials: CLIENT });
	const credential = {
		baseUrl: service.url,
		authentication: 'clientCredentials',
		tokenUrl: service.tokenUrl,
		...CLIENT,
	};
	return { service, credential };
}

/** Another address of the service: notes what comes, and refuses as often as told. */
async function startAddress() {
	const came: string[] = [];
	const refusals: number[] = [];
	const { url, close } = await listen((request, response) => {
		came.push(`${request.method} ${request.headers.authorization}`);
		request.resume().on('end', () => {
			response.writeHead(refusals.shift() ?? 200, { 'content-type': 'application/json' });
			response.end('{"status":"paid"}');
		});
	});
	return { came, refusals, url: `${url}/status`, close };
}

/** A proxy that asks for a password, and notes what it is asked for. */
async function startProxy() {
	const came: string[] = [];
	const { server, url, close } = await listen((request, response) => {
		came.push(`${request.method} ${request.url}`);
		request.resume().on('end', () => response.writeHead(407).end('{}'));
	});
	server.on('connect', (request, socket) => {
		came.push(`CONNECT ${request.url}`);
		socket.end('HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n');
	});
	return { url, came, close };
}

/* What goes to this machine, and so to the sandbox, goes past the proxy. */
describe.each(VERSIONS)('n8n %s behind a proxy that lets nobody pass', (version) => {
	let n8n: N8n;
	let proxy: Awaited<ReturnType<typeof startProxy>>;
	let service: Sandbox;
	let credential: Record<string, unknown>;
	beforeAll(async () => {
		proxy = await startProxy();
		({ service, credential } = await startService());
		const env = { HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url, NO_PROXY: '127.0.0.1,localhost' };
		n8n = await startN8n(version, { env });
	});
	afterAll(async () => {
		await n8n?.stop();
		await service?.close();
		proxy?.close();
	});
	beforeEach(() => {
		service.received.length = 0;
		service.faultFor = undefined;
	});

	test('no secret and no token is in the stored execution, or in the log of n8n', async () => {
		const { id, run } = await publish(n8n, payEach(), await n8n.createCredential(credential));
		const seen: string[] = [];
		service.faultFor = ({ headers, body }) => {
			seen.push(String(headers.authorization).replace('Bearer ', ''));
			const echo = JSON.stringify({ headers, body });
			return { kind: 'status', status: seen.length % 2 === 0 ? 422 : 200, body: echo };
		};
		for (let each = 0; each < 2; each++) await run(item(), item(), item());
		const stored = n8n.storedExecutions(id).join('\n');
		expect(seen.length).toBeGreaterThan(1);
		// The control: what the service repeated is there.
		expect(stored).toContain('Bearer ***');
		for (const secret of [...seen, ...(service.tokens?.given ?? []), CLIENT.clientSecret]) {
			expect(stored + n8n.log).not.toContain(secret);
			expect(stored + n8n.log).not.toContain(Buffer.from(secret).toString('base64'));
		}
	});

	test.each([
		['http://id.example.invalid/token', 'POST http://id.example.invalid/token'],
		['https://id.example.invalid/token', 'CONNECT id.example.invalid:443'],
	])(
		'the request for a token at %s goes to it, and the refusal is told as its own',
		async (tokenUrl, asked) => {
			const there = { ...credential, tokenUrl, allowHttp: true };
			const { run } = await publish(n8n, payEach(), await n8n.createCredential(there));
			const execution = await run(item());
			expect(proxy.came.join()).toContain(asked);
			expect(execution.data.resultData.error?.message).toMatch(/a proxy on the way asks for/);
			expect(service.received).toStrictEqual([]);
		},
	);

	describe('the credential in an HTTP Request node', () => {
		let other: Awaited<ReturnType<typeof startAddress>>;
		beforeAll(async () => {
			other = await startAddress();
		});
		afterAll(() => other?.close());
		beforeEach(() => {
			[other.came.length, other.refusals.length, service.tokenRequests.length] = [0, 0, 0];
		});

		/** Publishes Start -> Ask; gives what runs it once, and what became of that. */
		async function asking(of: Record<string, unknown>, method = 'GET') {
			const made = await n8n.createCredential({ baseUrl: service.url, ...of });
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

		test('a pasted token goes out without its own "Bearer "', async () => {
			const run = await asking({ accessToken: 'Bearer abc' });
			expect(itemsOf(await run(), 'Ask')).toStrictEqual([{ status: 'paid' }]);
			expect(other.came).toStrictEqual(['GET Bearer abc']);
		});

		test.each(['GET', 'POST'])(
			'%s: a fetched token is kept, refused, and renewed for the next run',
			async (method) => {
				const run = await asking(credential, method);
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

		test('is shut out by n8n’s own Allowed HTTP Request Domains, and Pay is not', async () => {
			const shut = { ...credential, allowedHttpRequestDomains: 'none' };
			const execution = await (await asking(shut))();
			expect(execution.data.resultData.error?.message).toMatch(
				/prevent use within an HTTP Request/,
			);
			expect(other.came).toStrictEqual([]);
			const { run } = await publish(n8n, payEach(), await n8n.createCredential(shut));
			expect(itemsOf(await run(item()), 'Pay')).toMatchObject([{ outcome: 'accepted' }]);
		});

		test('a wrong secret says so, and nothing is asked', async () => {
			const run = await asking({ ...credential, clientSecret: 'wrong' });
			const execution = await run();
			expect(execution.status).toBe('error');
			expect(JSON.stringify(execution)).toMatch(
				/Could not get an access token: the token endpoint rejected the client/,
			);
			expect(other.came).toStrictEqual([]);
		});
	});
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
		const { run } = await publish(n8n, payEach(), payApi);
		const execution = await run(item());
		await service.close();
		const { error } = execution.data.resultData;
		expect(error?.message ?? String(itemsOf(execution, 'Pay')[0]?.outcome)).toMatch(expected);
		expect(service.tokenRequests).toHaveLength(requests);
	});
});

describe.each(VERSIONS)('n8n %s whose operator adds expressions to credentials', (version) => {
	let n8n: N8n;
	let sandbox: Sandbox;
	beforeAll(async () => {
		sandbox = await Sandbox.start();
		const payApi = { accessToken: '={{ $json.tok }}' };
		n8n = await startN8n(version, {
			env: { CREDENTIALS_OVERWRITE_DATA: JSON.stringify({ payApi }) },
		});
	});
	afterAll(async () => {
		await n8n?.stop();
		await sandbox?.close();
	});
	beforeEach(() => {
		sandbox.received.length = 0;
	});
	const items = () => [1, 2, 3].map((number) => ({ ...item(), tok: `token-${number}` }));

	test('each item is sent with its own token, where the credential was stored without one', async () => {
		const payApi = await n8n.createCredential({ baseUrl: sandbox.url });
		const { run } = await publish(n8n, payEach(), payApi);
		await run(...items());
		expect(sandbox.received.map(({ headers }) => headers.authorization)).toStrictEqual([
			'Bearer token-1',
			'Bearer token-2',
			'Bearer token-3',
		]);
	});
});
