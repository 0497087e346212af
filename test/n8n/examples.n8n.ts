import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import express from 'express';
import { example } from '../../dev/demo';
import { itemsOf, until, type N8n } from '../../dev/n8n';
import { Sandbox } from '../../sandbox/service';
import { startN8n, VERSIONS } from './nodes';

const NAMES = readdirSync(join(__dirname, '..', '..', 'examples'))
	.filter((file) => file.endsWith('.json'))
	.map((file) => file.replace('.json', ''));

test.each(NAMES)('%s is complete: a note, no credentials, no pinned data', (name) => {
	const { nodes, ...rest } = example(name);
	expect(nodes.some(({ type }) => type === 'n8n-nodes-base.stickyNote')).toBe(true);
	expect(JSON.stringify([nodes, rest])).not.toMatch(/"credentials"|pinData/);
});

/**
 * Stands in for a chat model: calls the tool whose name matches, with the given arguments, and then
 * says what the tool answered.
 */
async function startModel(tool: RegExp, args: object) {
	const heard: string[] = [];
	const app = express();
	app.post('/chat/completions', express.json({ limit: '5mb' }), (request, response) => {
		const { messages, tools } = request.body as {
			messages: Array<{ role: string; content: string }>;
			tools: Array<{ function: { name: string } }>;
		};
		const last = messages.at(-1);
		if (last?.role === 'tool') heard.push(last.content);
		const name = tools.map((each) => each.function.name).find((each) => tool.test(each));
		const call = { name, arguments: JSON.stringify(args) };
		const message =
			last?.role === 'tool'
				? { role: 'assistant', content: last.content }
				: {
						role: 'assistant',
						content: null,
						tool_calls: [{ id: randomUUID(), type: 'function', function: call }],
					};
		response.json({
			id: randomUUID(),
			object: 'chat.completion',
			created: 0,
			model: 'stand-in',
			choices: [{ index: 0, finish_reason: 'stop', message }],
			usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
		});
	});
	const server = app.listen(0, '127.0.0.1');
	await once(server, 'listening');
	const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
	return { url, heard, close: () => server.close() };
}

// charge-and-pay and postbacks run in the demo, checkout and the table in the postback tests.
describe.each(VERSIONS)('n8n %s', (version) => {
	let n8n: N8n;
	let sandbox: Sandbox;
	let credentials: Record<string, { id: string; name: string }>;
	beforeAll(async () => {
		sandbox = await Sandbox.start();
		n8n = await startN8n(version);
		credentials = {
			payApi: await n8n.createCredential({ baseUrl: sandbox.url, accessToken: 'token' }),
		};
	});
	afterAll(async () => {
		await n8n?.stop();
		await sandbox?.close();
	});
	beforeEach(() => {
		sandbox.received.length = 0;
	});

	test.each(NAMES)('%s is imported with nodes that this n8n knows', async (name) => {
		const id = await n8n.importWorkflow(example(name), credentials);
		expect((await n8n.workflow(id)).nodes).toHaveLength(example(name).nodes.length);
	});

	test('payouts: what can be paid is paid, the rest is in the report', async () => {
		const id = await n8n.importWorkflow(example('payouts'), credentials);
		const executionId = await n8n.run(id, 'Start');
		const execution = await n8n.finished(executionId);
		expect(execution.status).toBe('success');
		expect(sandbox.bodies('payment').map(({ external_id }) => external_id)).toEqual([
			`payout-a-${executionId}`,
			`payout-c-${executionId}`,
		]);
		const lines = [0, 1]
			.flatMap((run) => itemsOf(execution, 'Report', run))
			.flatMap(({ line }) => line as string[]);
		expect(lines.sort()).toEqual([
			`payout-a-${executionId}: accepted`,
			expect.stringMatching(/^payout-b-\d+: notSent\. Amount \(amount\) .*"12,00"/),
			`payout-c-${executionId}: accepted`,
		]);
	});

	test('approval: nothing is paid before the link is opened', async () => {
		const id = await n8n.importWorkflow(example('approval'), credentials);
		const executionId = await n8n.run(id, 'Start');
		await until('the wait', async () => (await n8n.execution(executionId)).status === 'waiting');
		expect(sandbox.bodies('payment')).toEqual([]);
		const [payout] = itemsOf(await n8n.execution(executionId), 'Ask for approval');
		await fetch(payout?.approve as string);
		await until('the end', async () => (await n8n.execution(executionId)).status === 'success');
		expect(sandbox.bodies('payment')).toMatchObject([
			{ amount: 250, external_id: `approved-${executionId}` },
		]);
	});

	test('short-lived-token: each run gets one token, and all its payments go with it', async () => {
		const came: string[] = [];
		const app = express();
		app.post('/login', (request, response) => {
			came.push(`${request.method} ${request.headers['x-api-key']}`);
			response.json({ token: `token-${came.length}`, validForSeconds: 60 });
		});
		const server = app.listen(0, '127.0.0.1');
		await once(server, 'listening');
		const { port } = server.address() as AddressInfo;
		const workflow = example('short-lived-token');
		const note = workflow.nodes.find(({ name }) => name === 'Note')!.parameters;
		// What a person does after the import, as the note says.
		const login = workflow.nodes.find(({ name }) => name === 'Get a token')!;
		const key = { name: 'X-Api-Key', value: 'the key' };
		Object.assign(login.parameters as object, { url: `http://127.0.0.1:${port}/login` });
		login.credentials = {
			httpHeaderAuth: await n8n.createCredential(key, 'httpHeaderAuth', 'Key'),
		};
		const [, expression] = /`({{ .* }})`/.exec((note as { content: string }).content) ?? [];
		const payApi = await n8n.createCredential(
			{ baseUrl: sandbox.url, accessToken: `=${expression}` },
			'payApi',
			'Pay API with a short-lived token',
		);
		const id = await n8n.importWorkflow(workflow, { payApi });
		for (const run of [1, 2]) {
			sandbox.received.length = 0;
			const execution = await n8n.finished(await n8n.run(id, 'Start'));
			expect(execution.data.resultData.error).toBeUndefined();
			expect(itemsOf(execution, 'Pay').map(({ outcome }) => outcome)).toEqual([
				'accepted',
				'accepted',
			]);
			expect(sandbox.received.map(({ headers }) => headers.authorization)).toEqual(
				Array(2).fill(`Bearer token-${run}`),
			);
			expect(came).toEqual(Array(run).fill('POST the key'));
		}
		server.close();
	});

	const REFUSAL = /An AI agent asked for a payment, which this node does not allow/;
	test.each([
		['creates a QR code when its model asks for one', 2, /QR/, 1, /accepted/],
		['is refused a payment, and its model is told', 2, /payment/, 0, REFUSAL],
		['creates a QR code when its model asks for one', 3, /QR/, 1, /accepted/],
		['is refused a payment, and its model is told', 3, /payment/, 0, REFUSAL],
	])('agent: it %s (agent version %d)', async (_what, agentVersion, tool, requests, answer) => {
		const args = { amount: 5, external_id: `agent-${randomUUID()}`, key: 'someone@example.com' };
		const model = await startModel(tool, args);
		const openAi = { apiKey: 'none', url: model.url };
		const workflow = example('agent');
		workflow.nodes.find(({ name }) => name === 'Agent')!.typeVersion = agentVersion;
		// What a person does after the import: connect a model to the agent.
		workflow.nodes.push({
			name: 'Model',
			type: '@n8n/n8n-nodes-langchain.lmChatOpenAi',
			typeVersion: 1.2,
			position: [0, 240],
			parameters: { model: { __rl: true, mode: 'id', value: 'stand-in' }, options: {} },
			credentials: { openAiApi: await n8n.createCredential(openAi, 'openAiApi', 'Model') },
		});
		const toAgent = { node: 'Agent', type: 'ai_languageModel', index: 0 };
		workflow.connections.Model = { ai_languageModel: [[toAgent]] };
		const id = await n8n.importWorkflow(workflow, credentials);
		const said = { chatInput: 'Do it', sessionId: randomUUID(), action: 'sendMessage' };
		const execution = await n8n.finished(await n8n.run(id, 'Chat', said));
		model.close();
		expect(sandbox.received).toHaveLength(requests);
		expect(model.heard.join()).toMatch(answer);
		expect(execution.status).toBe('success');
	});
});
