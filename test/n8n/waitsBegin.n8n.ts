import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { itemsOf, pause, until, type N8n, type Workflow } from '../../dev/n8n';
import { call, chain, noOp, node, splitItems, start, type Node } from '../../dev/workflow';
import { signUrl } from '../../nodes/Pay/postback/proof';
import type { Sandbox } from '../../sandbox/service';
import { chargeAndWait, ended, firstExecution, startWaiting, waits } from './chargeAndWait';
import { deliver } from './deliveries';
import { startModel } from './model';
import { allFinished, SECRET, VERSIONS, withN8n, type Credential } from './nodes';
import {
	agent,
	callOf,
	chatModel,
	link,
	loopOverItems,
	set,
	toAgent,
	whenCalled,
} from './otherNodes';

/*
 * A wait begins where its postback can end it, and nothing but its postback says "paid".
 */
const NEVER = /asked for the postback of ".*" to come here, so this wait could never end/;
describe.each(VERSIONS)('n8n %s', (version) => {
	let n8n: N8n;
	let sandbox: Sandbox;
	let payApi: Credential;
	withN8n(version, (running) => ({ n8n, sandbox, payApi } = running));
	/** n8n looks about once a minute whose limit has passed, so these begin first and are looked at last. */
	const limited = { order: '', second: '', loop: '' };
	const unreportedId = randomUUID();
	const LIMIT = { limitWaitTime: true, resumeAmount: 2, resumeUnit: 'seconds' };

	const sent = (external_id: string) =>
		sandbox.bodies('qrcode').findLast((body) => body.external_id === external_id)
			?.postbackUrl as string;
	const told = (external_id: string) =>
		[...sandbox.bodies('qrcode'), ...sandbox.bodies('payment')].filter(
			(body) => body.external_id === external_id,
		);
	/** Publishes and calls a workflow; gives its first execution. */
	async function begin(workflow: Workflow, body: unknown) {
		const id = await n8n.importWorkflow(workflow, { payApi });
		await n8n.activate(id);
		await call(n8n, String(workflow.nodes[0]!.webhookId), body);
		return { id, executionId: await firstExecution(n8n, id) };
	}
	/** Publishes a sub-workflow of these nodes; gives its id. */
	async function subWorkflow(...nodes: Node[]) {
		const id = await n8n.importWorkflow(chain('Called', [whenCalled(), ...nodes]), { payApi });
		await n8n.publish(id);
		return id;
	}
	/** Passes on the first item alone. */
	const one = () => node('One', 'n8n-nodes-base.limit', {});
	/** How an execution failed, once it has. */
	async function failure(executionId: string) {
		const { status, data } = await n8n.finished(executionId);
		return [status, data.resultData.error?.message];
	}

	/** Loop Over Items around the charge and its wait; ends with "After". */
	async function loop(items: object[], parameters: object = {}) {
		const [charge, wait] = chargeAndWait(parameters, {}, { amount: '={{ $json.amount }}' });
		const each = loopOverItems('Each', { options: { reset: false } });
		const row = set('Row', '={{ { state: "open" } }}', { includeOtherFields: true });
		const nodes = [start(), splitItems(), each, charge, row, wait];
		const workflow = chain('Loop', nodes, {
			Each: { main: [[link('After')], [link('Charge')]] },
			Wait: { main: [[link('Each')]] },
		});
		workflow.nodes.push(noOp('After'));
		return (await begin(workflow, { items })).executionId;
	}
	/** Where the postbacks of an external_id's charges go, once there are so many. */
	const charges = async (id: string, count: number) =>
		await until(`${count} charges`, () => {
			const urls = told(id).map(({ postbackUrl }) => String(postbackUrl));
			return Promise.resolve(urls.length === count && urls);
		});
	const taken = async (url: string) => {
		await until('the postback to be taken', async () => (await deliver(url)) === 200);
	};

	beforeAll(async () => {
		// The customer's order is merged with the charge, and holds a "postback" of his own.
		const order = set('Order', '={{ $json.body }}');
		const [charge, wait] = chargeAndWait({
			...LIMIT,
			resumeWhen: 'match',
			matchField: 'data.status',
			matchValues: ['paid'],
		});
		const merge = node(
			'Merge',
			'n8n-nodes-base.merge',
			{ mode: 'combine', combineBy: 'combineByPosition', options: {} },
			{ typeVersion: 3 },
		);
		const workflow = {
			name: 'Order',
			nodes: [start(), order, charge, merge, wait, noOp('After')],
			connections: {
				Start: { main: [[link('Order')]] },
				Order: { main: [[link('Charge'), link('Merge')]] },
				Charge: { main: [[link('Merge', 1)]] },
				Merge: { main: [[link('Wait')]] },
				Wait: { main: [[link('After')]] },
			},
		};
		const paid = { body: { data: { status: 'paid' } } };
		const body = { id: randomUUID(), item: 'phone', postback: paid };
		limited.order = (await begin(workflow, body)).executionId;

		// Two waits in a row: the first is ended by its postback, the second by its limit.
		const second = { ...chargeAndWait(LIMIT)[1], name: 'Second' };
		const after = [second, noOp('After')];
		const waiting = await startWaiting(n8n, sandbox, payApi, { after });
		limited.second = waiting.executionId;
		expect(await deliver(waiting.url)).toBe(200);

		// Two charges of one external_id in a loop: the first one's wait is ended by its limit.
		limited.loop = await loop(
			[
				{ id: unreportedId, amount: 1 },
				{ id: unreportedId, amount: 2 },
			],
			{ limitWaitTime: '={{ $runIndex === 0 }}', resumeAmount: 0 },
		);
	});

	describe('Postback: nothing but a postback', () => {
		test('of a customer says "paid" where a wait is retried over REST, which runs what is behind it', async () => {
			const waiting = await startWaiting(n8n, sandbox, payApi, {
				before: [
					set('Order', '={{ { postback: { body: "paid" } } }}', { includeOtherFields: true }),
				],
			});
			const { executionId, workflowId, about } = waiting;
			await n8n.rest('POST', `/executions/${executionId}/retry`, { loadWorkflow: false });
			const executions = await allFinished(n8n, workflowId, 2);
			const retried = executions.find(({ id }) => id !== executionId)!;
			const [after] = itemsOf(retried, 'After');
			expect(after).toMatchObject({ external_id: about.external_id });
			expect(after).not.toHaveProperty('postback');
		});

		test('of another execution resumes one for the same external_id', async () => {
			const external_id = randomUUID();
			const run = async () => await startWaiting(n8n, sandbox, payApi, { charge: { external_id } });
			const [first, second] = [await run(), await run()];
			const mark = second.bare.includes('?') ? '&' : '?';
			const foreign = `${second.bare}${mark}pay_proof=${first.url.split('pay_proof=')[1]!}`;
			expect(await deliver(foreign)).toBe(401);
			// As a proof for a trigger is made.
			expect(await deliver(signUrl(second.bare, second.about, SECRET))).toBe(401);
			expect((await n8n.execution(second.executionId)).status).toBe('waiting');
			expect(await deliver(second.url)).toBe(200);
			await ended(n8n, second.executionId);
			expect(await deliver(first.url)).toBe(200);
			await ended(n8n, first.executionId);
		});

		if (version === 'n8n2') {
			test("of whoever fills in a form resumes a wait: n8n's token, which he is given, proves nothing", async () => {
				const page = node(
					'Thanks',
					'n8n-nodes-base.form',
					{ operation: 'completion', completionTitle: 'Thanks' },
					{ typeVersion: 1, webhookId: randomUUID() },
				);
				const waiting = await startWaiting(n8n, sandbox, payApi, {
					form: true,
					after: [noOp('After'), page],
				});
				const [, id, token] = /form-waiting\/(\d+)\?signature=([\w-]+)/.exec(waiting.page)!;
				expect(await deliver(`${n8n.url}/webhook-waiting/${id}?signature=${token}`)).toBe(401);
				expect((await n8n.execution(waiting.executionId)).status).toBe('waiting');
				expect(await deliver(waiting.url)).toBe(200);
				// Then it waits for him to look at the next page.
				await until('what is behind the wait', async () => {
					const { data } = await n8n.execution(waiting.executionId);
					return 'After' in data.resultData.runData;
				});
			});
		}
	});

	// n8n's own client of web sockets, for Node 20 has none.
	interface Socket extends EventTarget {
		send: (text: string) => void;
		terminate: () => void;
		on: (event: string, listener: () => void) => void;
	}
	const required = createRequire(join(__dirname, '../../dev/n8n1/package.json'));
	const WebSocket = required('./node_modules/ws') as new (
		url: string,
	) => Socket & NodeJS.EventEmitter;

	test('a chat message of anyone who counts executions ends no wait', async () => {
		const { executionId, url } = await startWaiting(n8n, sandbox, payApi);
		const token = new URL(url).searchParams.get('signature') ?? '';
		const address = `${n8n.url.replace('http', 'ws')}/chat?sessionId=x&executionId=${executionId}&isPublic=true&token=${token}`;
		const socket = new WebSocket(address);
		await once(socket, 'message');
		const said = { sessionId: 'x', action: 'sendMessage', chatInput: 'paid' };
		socket.send(JSON.stringify(said));
		// n8n has said in its log why it does not go on.
		await until('the refusal', async () => /resumes no Pay node|Refused chat resume/.test(n8n.log));
		socket.terminate();
		expect((await n8n.execution(executionId)).status).toBe('waiting');
		expect(await deliver(url)).toBe(200);
		expect(itemsOf(await ended(n8n, executionId), 'After')[0]).toHaveProperty('postback');
	});

	// n8n 1 ends it, without a postback: docs/waits.md says so.
	(version === 'n8n2' ? test : test.skip)(
		'the end of a sub-workflow that nobody waits for any more ends no wait',
		async () => {
			const child = await subWorkflow(...chargeAndWait());
			const [own, first, second] = [randomUUID(), randomUUID(), randomUUID()] as const;
			const [last, wait] = chargeAndWait({}, {}, { external_id: own });
			const each = callOf('Call', child, { mode: 'each' });
			const nodes = [start(), splitItems(), each, one(), last, wait, noOp('After')];
			const items = [{ id: first }, { id: second }];
			const { executionId } = await begin(chain('Parent', nodes), { items });
			await until('both children', async () => (await n8n.executionIds(child)).length === 2);
			for (const id of await n8n.executionIds(child)) await waits(n8n, id);
			await until('the first', async () => (await deliver(sent(first))) === 200);
			await until('the own charge', async () => sent(own) !== undefined);
			await waits(n8n, executionId);
			expect(await deliver(sent(second))).toBe(200);
			for (const id of await n8n.executionIds(child)) await ended(n8n, id, 'Wait');
			// What a child's end does to its parent is done a moment later.
			await pause(2_000);
			expect((await n8n.execution(executionId)).status).toBe('waiting');
			expect(await deliver(sent(own))).toBe(200);
			const [after] = itemsOf(await ended(n8n, executionId), 'After');
			expect(after).toMatchObject({ postback: { reference: { external_id: own } } });
		},
	);

	describe('a wait is ended by its own postback', () => {
		test('where the resume URL came from an expression', async () => {
			const charge = { postback: 'url', postbackUrl: '={{ $execution.resumeUrl }}' };
			const { executionId, url } = await startWaiting(n8n, sandbox, payApi, { charge });
			expect(await deliver(url)).toBe(200);
			await ended(n8n, executionId);
		});

		test('in one branch after the other', async () => {
			const branch = [...chargeAndWait(), noOp('After')];
			const [charge, wait] = chargeAndWait({}, {}, { external_id: '={{ $json.id }}-2' });
			const workflow = chain('Branches', [start(), splitItems(), ...branch]);
			workflow.nodes.push({ ...charge, name: 'Charge 2' }, { ...wait, name: 'Wait 2' });
			workflow.nodes.push(noOp('After 2'));
			Object.assign(workflow.connections, {
				Items: { main: [[link('Charge'), link('Charge 2')]] },
				'Charge 2': { main: [[link('Wait 2')]] },
				'Wait 2': { main: [[link('After 2')]] },
			});
			const id = randomUUID();
			const { executionId } = await begin(workflow, { items: [{ id }] });
			// Which branch comes first is n8n's choice; the other one's charge is made behind it.
			const open = new Set([id, `${id}-2`]);
			await until('both postbacks', async () => {
				for (const each of open) {
					if (sent(each) !== undefined && (await deliver(sent(each))) === 200) open.delete(each);
				}
				return open.size === 0;
			});
			await ended(n8n, executionId, 'After');
			await ended(n8n, executionId, 'After 2');
		});
	});

	test('a postback that comes while another charge is waited for may come again', async () => {
		const [first, second] = [randomUUID(), randomUUID()] as const;
		const [charge, wait] = chargeAndWait();
		const workflow = chain('Early', [start(), splitItems(), charge, loopOverItems('Each')], {
			Each: { main: [[], [link('Wait')]] },
			Wait: { main: [[link('Each')]] },
		});
		workflow.nodes.push(wait);
		const { executionId } = await begin(workflow, { items: [{ id: first }, { id: second }] });
		await waits(n8n, executionId);
		expect(await deliver(sent(second))).toBe(409);
		expect(await deliver(sent(first))).toBe(200);
		await until('the second wait', async () => (await deliver(sent(second))) === 200);
		await ended(n8n, executionId, 'Each');
	});

	describe('in a loop, a wait is ended by the postback of its own charge', () => {
		test('that its External ID names by $runIndex; not by what another one repeats', async () => {
			const ids = [randomUUID(), randomUUID()];
			const executionId = await loop(
				ids.map((id) => ({ id, amount: 1 })),
				{ external_id: "={{ $('Charge').first(0, $runIndex).json.external_id }}" },
			);
			const [first = ''] = await charges(ids[0]!, 1);
			await taken(first);
			const [second = ''] = await charges(ids[1]!, 1);
			await waits(n8n, executionId);
			expect(await deliver(first)).toBe(409);
			await taken(second);
			await ended(n8n, executionId);
		});

		test('also where two charges have one external_id', async () => {
			const id = randomUUID();
			const executionId = await loop([1, 2].map((amount) => ({ id, amount })));
			const [first = ''] = await charges(id, 1);
			await taken(first);
			const [, second = ''] = await charges(id, 2);
			await waits(n8n, executionId);
			expect(await deliver(first)).toBe(409);
			await taken(second);
			const items = itemsOf(await ended(n8n, executionId), 'After');
			expect(items.map((item) => item.postback)).toMatchObject(
				[1, 2].map((amount) => ({ reference: { external_id: id, amount } })),
			);
		});

		test('which ends two waits, one behind the other, whatever their names', async () => {
			// Names that expressions stumble over, each in its own way.
			const waiting = await startWaiting(n8n, sandbox, payApi, {
				settings: { name: 'isProxy' },
				after: [
					{ ...chargeAndWait()[1], name: 'Second "{{ }}" .constructor\u2028' },
					noOp('After'),
				],
			});
			await taken(waiting.url);
			await until('the second wait', async () => {
				const { status, data } = await n8n.execution(waiting.executionId);
				return status === 'waiting' && 'isProxy' in data.resultData.runData;
			});
			await taken(waiting.url);
			await ended(n8n, waiting.executionId);
		});
	});

	describe('a wait that could never end is refused at once', () => {
		test('in a sub-workflow, where the charge is in the parent; with both in it, it waits', async () => {
			const [charge, wait] = chargeAndWait();
			const lone = await subWorkflow(wait, noOp('After'));
			const both = await subWorkflow(charge, wait, noOp('After'));
			const callTo = (child: string) =>
				callOf('Call', child, { options: { waitForSubWorkflow: false } });
			const parent = [start(), splitItems(), charge, callTo(lone)];
			await begin(chain('Parent', parent), { items: [{ id: randomUUID() }] });
			const refused = await firstExecution(n8n, lone);
			expect(await failure(refused)).toStrictEqual(['error', expect.stringMatching(NEVER)]);
			const id = randomUUID();
			await begin(chain('Parent', [start(), splitItems(), callTo(both)]), { items: [{ id }] });
			const executionId = await firstExecution(n8n, both);
			await waits(n8n, executionId);
			expect(await deliver(sent(id))).toBe(200);
			await ended(n8n, executionId);
		});

		test('where charge and wait were each run by "Execute step"', async () => {
			const entry = node('Manual', 'n8n-nodes-base.manualTrigger');
			const id = randomUUID();
			const [charge, wait] = chargeAndWait();
			const json = set('Order', `={{ { id: "${id}" } }}`);
			const steps = { ...chain('Steps', [entry, json, charge, wait]), pinData: {} };
			const workflowId = await n8n.importWorkflow(steps, { payApi });
			const workflowData = await n8n.workflow(workflowId);
			const run = async (body: object) => {
				const { data } = await n8n.rest<{ data: { executionId: string } }>(
					'POST',
					`/workflows/${workflowId}/run`,
					{ workflowData, ...body },
				);
				return await n8n.finished(data.executionId);
			};
			const destination = (nodeName: string) => ({
				destinationNode: { nodeName, mode: 'inclusive' },
			});
			const first = await run({
				...destination('Charge'),
				triggerToStartFrom: { name: 'Manual' },
				startNodes: [],
			});
			expect(itemsOf(first, 'Charge')[0]).toMatchObject({ outcome: 'accepted' });
			const { runData } = first.data.resultData;
			const second = await run({
				...destination('Wait'),
				runData,
				dirtyNodeNames: [],
				startNodes: [{ name: 'Wait', sourceData: { previousNode: 'Charge' } }],
			});
			expect(told(id)).toHaveLength(1);
			expect(second.data.resultData.error?.message).toMatch(NEVER);
		});

		test.each([
			[2, 'refuses, and tells the model'],
			[3, 'is ended by its postback'],
		])('as the tool of an AI agent of version %d, it %s', async (agentVersion) => {
			const id = randomUUID();
			const model = await startModel(/Wait/, {});
			const [charge, wait] = chargeAndWait({ external_id: id }, {}, { external_id: id });
			const entry = node('Manual', 'n8n-nodes-base.manualTrigger');
			const nodes = [entry, charge, agent('Wait', agentVersion), noOp('After')];
			const workflow = chain('Agent', nodes, {
				Wait: toAgent('ai_tool'),
				Model: toAgent('ai_languageModel'),
			});
			const tool = { ...wait, type: 'n8n-nodes-pay.payTool' };
			workflow.nodes.push(tool, await chatModel(n8n, model.url));
			const workflowId = await n8n.importWorkflow(workflow, { payApi });
			const executionId = await n8n.run(workflowId, 'Manual');
			if (agentVersion === 3) {
				await waits(n8n, executionId);
				expect(await deliver(sent(id))).toBe(200);
			}
			await ended(n8n, executionId);
			model.close();
			expect(model.heard.join()).toMatch(agentVersion === 3 ? /"postback":/ : /cannot wait/);
		});

		test("after the editor's Retry of what failed behind a payment; a charge is made anew, and waits", async () => {
			for (const kind of ['qrCode', 'payment'] as const) {
				const ids = { good: randomUUID(), bad: randomUUID() };
				const more = { resource: kind, ...(kind === 'payment' && { creditParty: { key: 'k' } }) };
				const [charge, wait] = chargeAndWait({ external_id: ids.good }, {}, more);
				const nodes = [start(), splitItems(), charge, one(), wait, noOp('After')];
				sandbox.faultFor = ({ body }) =>
					body.includes(ids.bad) ? { kind: 'status', status: 400, body: '{}' } : undefined;
				const items = [{ id: ids.good }, { id: ids.bad }];
				const { id, executionId } = await begin(chain('Retry', nodes), { items });
				expect((await n8n.finished(executionId)).status).toBe('error');
				sandbox.faultFor = undefined;
				await n8n.rest('POST', `/executions/${executionId}/retry`, { loadWorkflow: false });
				const [retried = ''] = await until('the retry', async () => {
					const found = await n8n.executionIds(id);
					return found.length > 1 && found;
				});
				if (kind === 'payment') {
					expect(await failure(retried)).toStrictEqual(['error', expect.stringMatching(NEVER)]);
					expect(told(ids.good)).toHaveLength(1);
					continue;
				}
				await waits(n8n, retried);
				expect(await deliver(sent(ids.good))).toBe(200);
				await ended(n8n, retried);
			}
		});
	});

	describe('Postback: nothing but a postback, at the time limit', () => {
		test('of a customer says "paid"; what the nodes before gave is shown as it was', async () => {
			const execution = await ended(n8n, limited.order, 'After', 150);
			const [after] = itemsOf(execution, 'After');
			expect(after).toMatchObject({ item: 'phone', outcome: 'accepted' });
			expect(after).not.toHaveProperty('postback');
			expect(itemsOf(execution, 'Wait')[0]).not.toHaveProperty('postback');
			const shown = { postback: { body: { data: { status: 'paid' } } } };
			expect(itemsOf(execution, 'Merge')[0]).toMatchObject(shown);
			expect(itemsOf(execution, 'Order')[0]).toMatchObject(shown);
		});

		test('of the first wait goes out of the second', async () => {
			const execution = await ended(n8n, limited.second, 'After', 150);
			expect(itemsOf(execution, 'Wait')[0]).toHaveProperty('postback');
			expect(itemsOf(execution, 'After')[0]).not.toHaveProperty('postback');
		});
	});

	test('in a loop, a wait is ended also by the postback of an earlier charge that was not reported before its limit: somebody may pay that still', async () => {
		const [first = ''] = await charges(unreportedId, 2);
		await waits(n8n, limited.loop);
		await taken(first);
		const items = itemsOf(await ended(n8n, limited.loop), 'After');
		expect(items.map((item) => item.postback)).toMatchObject([
			undefined,
			{ reference: { external_id: unreportedId, amount: 1 } },
		]);
	});
});
