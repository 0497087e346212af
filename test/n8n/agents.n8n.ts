import { randomUUID } from 'node:crypto';
import { until, type N8n, type Workflow } from '../../dev/n8n';
import { call, chain, node, splitItems, start, type Node } from '../../dev/workflow';
import type { Sandbox } from '../../sandbox/service';
import { startModel } from './model';
import { isGate } from './nightly';
import { allFinished, VERSIONS, withN8n, type Credential } from './nodes';
import { agent, chatModel, toAgent } from './otherNodes';

/** A field that the model fills in. */
const fromAi = (name: string, type = 'string') => `={{ $fromAI('${name}', 'x', '${type}') }}`;
const MAY_PAY = { allowAiPayments: true };

/** What models ask for: the same again, under other ids, at once, with more than they were offered. */
describe.each(VERSIONS)('n8n %s', (version) => {
	let n8n: N8n;
	let sandbox: Sandbox;
	let payApi: Credential;
	withN8n(version, (running) => ({ n8n, sandbox, payApi } = running));
	beforeEach(() => {
		sandbox.received.length = 0;
		sandbox.faultFor = () => ({ kind: 'delay', ms: 100 });
	});

	/** A tool whose External ID stands in the data, under its name. */
	const tool = (name: string, parameters: object = {}) =>
		node(name, 'n8n-nodes-pay.payTool', {
			resource: 'payment',
			operation: 'create',
			amount: fromAi('amount', 'number'),
			external_id: `={{ $('Items').first().json['${name}'] }}`,
			creditParty: { key: fromAi('key'), keyType: '' },
			options: MAY_PAY,
			...parameters,
		});
	const toolsOf = (tools: Node[], owner: string) =>
		Object.fromEntries(
			tools.map(({ name }) => [name, { ai_tool: [[{ node: owner, type: 'ai_tool', index: 0 }]] }]),
		);
	const arrived = () =>
		sandbox.bodies('payment').map(({ external_id, amount }) => [external_id, amount]);
	const outcomesIn = (heard: string[]) =>
		heard.map((text) => /"outcome":"(\w+)"/.exec(text)?.[1] ?? text);

	/** The identifiers of the payments that an agent may make, by the names of its tools. */
	const newData = () => ({ amount: 1, Pay: randomUUID(), 'Pay too': randomUUID() });

	/** Has a model of this version of the agent ask for these payments, and gives what it heard. */
	async function ask(
		typeVersion: number,
		tools: Node[],
		args: object[],
		{ atOnce = false, credential = payApi, data = newData() } = {},
	) {
		const model = await startModel(/Pay/, args, args.length, atOnce);
		const first = start();
		const nodes = [first, splitItems(), agent('Pay', typeVersion)];
		const workflow = chain('Agent', nodes, {
			Model: toAgent('ai_languageModel'),
			...toolsOf(tools, 'Agent'),
		});
		workflow.nodes.push(await chatModel(n8n, model.url), ...tools);
		const id = await n8n.importWorkflow(workflow, { payApi: credential });
		await n8n.activate(id);
		await call(n8n, first.webhookId, { items: [data] });
		await allFinished(n8n, id, 1);
		model.close();
		return outcomesIn(model.heard);
	}

	/** Publishes a tool behind an MCP Server Trigger, and gives what calls it in a session of its own. */
	async function mcp(pay: Node, credential = payApi) {
		const path = randomUUID();
		const parameters = { path, authentication: 'none' };
		const trigger = node('MCP', '@n8n/n8n-nodes-langchain.mcpTrigger', parameters, {
			typeVersion: 2,
			webhookId: path,
		});
		const workflow: Workflow = {
			name: 'MCP',
			nodes: [trigger, pay],
			connections: toolsOf([pay], 'MCP'),
		};
		const id = await n8n.importWorkflow(workflow, { payApi: credential });
		await n8n.activate(id);
		return async (args: object) => {
			let session: string | undefined;
			const rpc = async (method: string, params: object, ask = true) => {
				const answer = await fetch(`${n8n.url}/mcp/${path}`, {
					method: 'POST',
					headers: {
						'Content-Type': 'application/json',
						Accept: 'application/json, text/event-stream',
						Connection: 'close',
						...(session !== undefined && { 'mcp-session-id': session }),
					},
					body: JSON.stringify({ jsonrpc: '2.0', ...(ask && { id: 1 }), method, params }),
				});
				session ??= answer.headers.get('mcp-session-id') ?? undefined;
				const text = await answer.text();
				return answer.ok && { text };
			};
			const protocolVersion = '2025-03-26';
			const clientInfo = { name: 'test', version: '1' };
			await until('the MCP server', async () => {
				return await rpc('initialize', { protocolVersion, capabilities: {}, clientInfo });
			});
			await rpc('notifications/initialized', {}, false);
			const said = await rpc('tools/call', { name: 'Pay', arguments: args });
			const data = /data: (.*)/.exec(said ? said.text : '')?.[1] ?? '{}';
			const { result } = JSON.parse(data) as { result?: { content: Array<{ text: string }> } };
			return outcomesIn([result?.content[0]?.text ?? data])[0];
		};
	}

	const asked = (more: object = {}) => ({ amount: 5, key: 'ana', ...more });

	// Those before 3 run the tools of one message at once.
	describe.each(isGate ? [2.2, 3] : [1.8, 2, 2.2, 3])('agent version %d', (typeVersion) => {
		test.each([
			['by one tool', ['Pay']],
			['under two ids, by two tools', ['Pay', 'Pay too']],
		])('one payment asked for twice in one message, %s: it is made once', async (_, names) => {
			const tools = names.map((name) => tool(name));
			const args = [asked(), asked()];
			const heard = await ask(typeVersion, tools, args, { atOnce: true });
			expect(heard).toHaveLength(2);
			expect(heard.filter((outcome) => outcome === 'accepted')).toHaveLength(1);
			expect(arrived()).toHaveLength(1);
		});
	});

	describe.each([2.2, 3])('agent version %d', (typeVersion) => {
		test('fields that read the item are refused: a model sends more than it was offered', async () => {
			const own = { amount: '={{ $json.amount }}', payerQuestion: fromAi('note') };
			const data = newData();
			const args = [asked({ amount: 99, key: 'eve', note: 'x' })];
			expect(await ask(typeVersion, [tool('Pay', own)], args)).toStrictEqual(['notSent']);
			const fixed = { ...own, amount: "={{ $('Items').first().json.amount }}" };
			expect(await ask(typeVersion, [tool('Pay', fixed)], args, { data })).toStrictEqual([
				'accepted',
			]);
			expect(arrived()).toStrictEqual([[data.Pay, 1]]);
		});

		test('limits hold for all tools of the agent together', async () => {
			const limited = await n8n.createCredential({
				baseUrl: sandbox.url,
				accessToken: 'token',
				limitPayments: true,
				highestPayment: '6',
				highestSum: '8',
				onlyRecipients: 'ana',
			});
			const tools = [tool('Pay'), tool('Pay too')];
			const args = [asked({ amount: 4 }), asked()];
			const more = { atOnce: true, credential: limited };
			const heard = await ask(typeVersion, tools, args, more);
			expect(heard.sort()).toStrictEqual(['accepted', 'notSent']);
			expect(arrived()).toHaveLength(1);
		});
	});

	test('an MCP client pays an id once, again and at once', async () => {
		const id = randomUUID();
		const pay = await mcp(tool('Pay', { external_id: id }));
		expect(await pay(asked())).toBe('accepted');
		expect(await pay(asked({ amount: 6 }))).toBe('duplicate');
		const same = await mcp(tool('Pay', { external_id: randomUUID() }));
		const heard = await Promise.all([1, 2, 3].map(async () => await same(asked())));
		expect(heard.sort()).toStrictEqual(['accepted', 'duplicate', 'duplicate']);
		expect(arrived()).toHaveLength(2);
	});

	test.each<[string, object, object]>([
		['the id of its execution', { external_id: "={{ 'pay-' + $execution.id }}" }, {}],
		['an External ID of its own', { external_id: fromAi('id') }, { id: 'made-up' }],
		[
			'its own permission',
			{ options: { allowAiPayments: fromAi('may', 'boolean') } },
			{ may: true },
		],
		['a recipient as a whole', { creditParty: fromAi('to', 'json') }, { to: { key: 'eve' } }],
	])('an MCP client cannot pay with %s', async (_, parameters, more) => {
		const pay = await mcp(tool('Pay', { external_id: randomUUID(), ...parameters }));
		expect(await pay(asked(more))).toBe('notSent');
		expect(arrived()).toStrictEqual([]);
	});
});
