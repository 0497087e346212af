import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import { createServer, type Server as SecureServer } from 'node:https';
import { join } from 'node:path';
import { build } from 'esbuild';
import { until } from '../../dev/n8n';
import type { Server } from '../../test/n8n/queue';
import { testPayCredential } from '../../nodes/Pay/account/credentialTest';
import type { RequestResult } from '../../nodes/Pay/service/client';
import type { HttpRequest } from '../../nodes/Pay/service/exchange';
import { CORES, modulesOf } from '../../test/wire/cores';
import { credentialRequest, postPayment, requestHelper } from '../../test/wire/requestHelper';
import { certificates } from '../../test/wire/servers';
import { listen, type Listening } from '../../test/listen';
import { startSquid } from './parts';

const ROOT = join(__dirname, '..', '..');
const TOKEN = 'token-of-the-squid-test';

let squid: Server;
let service: Listening<SecureServer>;
let pems: Awaited<ReturnType<typeof certificates>>;
/** What the service carried out: requests that came with the token. */
const booked: string[] = [];
const before = { ...process.env };

beforeAll(async () => {
	pems = await certificates();
	squid = await startSquid(pems.trusted);
	// Debian's Squid, built with GnuTLS, does not read answers of TLS 1.3.
	const options = { ...pems.trusted, maxVersion: 'TLSv1.2' } as const;
	const server = createServer(options, async (request, answer) => {
		const chunks: Buffer[] = [];
		for await (const chunk of request) chunks.push(chunk as Buffer);
		const { external_id } = JSON.parse(Buffer.concat(chunks).toString()) as { external_id: string };
		if (request.headers.authorization === `Bearer ${TOKEN}`) booked.push(external_id);
		answer.writeHead(201, { 'Content-Type': 'application/json' }).end('{"id":1}');
	});
	service = await listen(server);
	process.env.HTTPS_PROXY = `http://127.0.0.1:${squid.port}`;
	delete process.env.NO_PROXY;
});
afterAll(async () => {
	process.env = before;
	pems?.forget();
	service?.close();
	await squid?.close();
});

/** How Squid was asked meanwhile: by a tunnel, or with the request itself. */
async function requestsToSquid(work: () => Promise<unknown>): Promise<string[]> {
	const readLog = () => readFileSync(join(squid.folder, 'access.log'), 'utf8').split('\n');
	const before = readLog().length;
	await work();
	await until('the log', async () => readLog().length > before);
	const requests: string[] = [];
	for (const line of readLog().slice(before - 1, -1)) {
		if (line.includes(' CONNECT ')) requests.push('CONNECT');
		else if (line.includes(' POST https:')) requests.push('POST https:');
		else requests.push(line);
	}
	return requests;
}

/** Pays through Squid; gives what is told, and how Squid was asked. */
async function payThroughSquid(name: string) {
	const httpRequest: HttpRequest = requestHelper(await modulesOf(name));
	const { port } = service;
	const account = { baseUrl: `https://localhost:${port}`, accessToken: TOKEN };
	let answer: RequestResult | undefined;
	const requests = await requestsToSquid(async () => {
		answer = await postPayment(httpRequest, account, { amount: 1, external_id: name });
	});
	expect(booked.filter((id) => id === name)).toHaveLength(1);
	return { answer, requests };
}

test("n8n 1.97 hands the token to Squid in plain text, and a payment that was made is not told as 'not sent'", async () => {
	const { answer, requests } = await payThroughSquid('n8n-core 1.96.0');
	expect(requests).toStrictEqual(['POST https:']);
	expect(answer).toMatchObject({ outcome: 'accepted', statusCode: 201 });
});

test.each(CORES)('%s tunnels through Squid, which sees no request', async (name) => {
	const { answer, requests } = await payThroughSquid(name);
	expect(requests).toStrictEqual(['CONNECT']);
	expect(answer).toMatchObject({ outcome: 'accepted', statusCode: 201 });
});

test.each(CORES)("the credential's test of %s tunnels through Squid too", async (name) => {
	const request = credentialRequest(await modulesOf(name));
	const testPay = testPayCredential.bind({ helpers: { request } } as never);
	const { port } = service;
	const data = { baseUrl: `https://localhost:${port}`, accessToken: TOKEN };
	const requests = await requestsToSquid(async () => {
		expect(await testPay({ data } as never)).toMatchObject({ status: 'OK' });
	});
	expect(requests).toStrictEqual(['CONNECT']);
});

describe('the nodes as they are published', () => {
	/** Loads them beside the n8n-workflow that came with this n8n-core. */
	async function load(name: string): Promise<void> {
		const { outputFiles } = await build({
			entryPoints: [join(ROOT, 'nodes', 'Pay', 'Pay.node.ts')],
			bundle: true,
			write: false,
			platform: 'node',
			format: 'cjs',
			logLevel: 'silent',
			external: ['n8n-workflow'],
		});
		const modules = await modulesOf(name);
		const run = new Function('require', 'module', 'exports', outputFiles[0]!.text);
		const module = { exports: {} };
		const give = (wanted: string) =>
			require(wanted === 'n8n-workflow' ? join(modules, wanted) : wanted) as unknown;
		run(give, module, module.exports);
	}

	test('are refused by n8n 1.97, with the version that they need', async () => {
		await expect(load('n8n-core 1.96.0')).rejects.toThrow('n8n-nodes-pay needs n8n 1.99 or later');
	});

	test.each(CORES)('load beside %s', async (name) => {
		await expect(load(name)).resolves.toBeUndefined();
	});
});
