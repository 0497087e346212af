import { randomUUID } from 'node:crypto';
import type { Execution, N8n, Workflow } from '../../dev/n8n';
import { majorOf } from '../../dev/versions';
import { chain, node, pay, type Node } from '../../dev/workflow';
import type { Sandbox } from '../../sandbox/service';
import { startModel } from './model';
import { allFinished, VERSIONS, withN8n, type Credential } from './nodes';
import { agent, callOf, chatModel, set, toAgent, whenCalled } from './otherNodes';

const manualTrigger = () => node('Manual', 'n8n-nodes-base.manualTrigger');
const fromAi = (name: string, type = 'string') => `={{ $fromAI('${name}', 'x', '${type}') }}`;

/** What the editor's buttons ask n8n for: the whole of this is what it sends. */
interface PartOfRun {
	destinationNode: { nodeName: string; mode: 'exclusive' | 'inclusive' };
	runData?: object;
	dirtyNodeNames?: string[];
	triggerToStartFrom?: { name: string };
	agentRequest?: object;
}

/** The editor always says what is pinned. */
const NO_PINS = { pinData: {} };

const previousNodesOf = (nodeName: string) => ({ nodeName, mode: 'exclusive' }) as const;
const stepOf = (nodeName: string) => ({ nodeName, mode: 'inclusive' }) as const;

/** How the editor asks for a part of a workflow. What the node makes of it: test/engine/previousNodes.test.ts. */
describe.each(VERSIONS)('n8n %s', (version) => {
	let n8n: N8n;
	let sandbox: Sandbox;
	let payApi: Credential;
	withN8n(version, (running) => ({ n8n, sandbox, payApi } = running));
	const models: Array<{ close: () => void }> = [];
	beforeEach(() => {
		sandbox.received.length = 0;
	});
	afterAll(() => {
		for (const model of models) model.close();
	});

	/** Asks for a part of a workflow; gives its execution, or undefined while n8n waits for a trigger. */
	async function runPart(workflowId: string, part: PartOfRun): Promise<Execution | undefined> {
		const workflowData = await n8n.workflow(workflowId);
		const body = { workflowData, ...part };
		const { data } = await n8n.rest<{ data: { executionId?: string } }>(
			'POST',
			`/workflows/${workflowId}/run`,
			body,
		);
		return data.executionId === undefined ? undefined : await n8n.finished(data.executionId);
	}

	/** Saves Manual -> Row -> Round -> Pay. */
	async function saveChain(more: Partial<Workflow> = {}): Promise<string> {
		const nodes = [
			manualTrigger(),
			set('Row', `={{ { "row": 1 } }}`),
			set('Round', `={{ { "id": "${randomUUID()}" } }}`),
			pay('Pay', { amount: 1, external_id: '={{ $json.id }}' }),
		];
		return await n8n.importWorkflow({ ...chain('Part', nodes), ...NO_PINS, ...more }, { payApi });
	}

	/** Runs Manual and Row, and gives what the editor keeps of it. */
	async function runFirstNodes(workflowId: string): Promise<object> {
		const first = await runPart(workflowId, { destinationNode: stepOf('Row') });
		return first?.data.resultData.runData ?? {};
	}

	const sent = () => sandbox.received.length;

	test('"Execute previous nodes" where a node before it has run: nothing is sent, and the run fails', async () => {
		const id = await saveChain();
		const runData = await runFirstNodes(id);
		const execution = await runPart(id, {
			destinationNode: previousNodesOf('Pay'),
			runData,
			dirtyNodeNames: [],
		});
		expect(sent()).toBe(0);
		expect(execution?.status).toBe('error');
	});

	// n8n 1 does not look at errors there.
	(majorOf(version) === 1 ? test.skip : test)(
		'because it failed, "Execute step" in the next node runs it again, and creates the QR code',
		async () => {
			const qrCode = { resource: 'qrCode', amount: 1, external_id: '={{ $json.id }}' };
			const nodes = [
				manualTrigger(),
				set('Row', '={{ { "row": 1 } }}'),
				set('Round', `={{ { "id": "${randomUUID()}" } }}`),
				pay('Pay', qrCode),
				set('Next', '={{ { "next": true } }}'),
			];
			const id = await n8n.importWorkflow({ ...chain('Next', nodes), ...NO_PINS }, { payApi });
			const refused = await runPart(id, {
				destinationNode: previousNodesOf('Pay'),
				runData: await runFirstNodes(id),
				dirtyNodeNames: [],
			});
			expect(sent()).toBe(0);
			const step = await runPart(id, {
				destinationNode: stepOf('Next'),
				runData: refused?.data.resultData.runData,
				dirtyNodeNames: [],
			});
			expect(step?.data.resultData.error?.message).toBeUndefined();
			expect(Object.keys(step?.data.resultData.runData ?? {})).toContain('Next');
			expect(sent()).toBe(1);
		},
	);

	test('on a fresh canvas n8n does not run the node', async () => {
		const id = await saveChain();
		await runPart(id, { destinationNode: previousNodesOf('Pay') });
		expect(sent()).toBe(0);
	});

	// n8n 1 keeps the name of the node alone while it listens: the node cannot know which button it was.
	const sentWhileListening = majorOf(version) === 1 ? 1 : 0;
	test('a webhook that listens for "Execute previous nodes" pays nothing on n8n 2; for "Execute step" it pays', async () => {
		const path = randomUUID();
		const webhook = node(
			'Webhook',
			'n8n-nodes-base.webhook',
			{ path, httpMethod: 'POST', options: {} },
			{ webhookId: path },
		);
		const nodes = [webhook, pay('Pay', { amount: 1, external_id: '={{ $json.body.id }}' })];
		const id = await n8n.importWorkflow({ ...chain('Listening', nodes), ...NO_PINS }, { payApi });
		const call = async () =>
			await fetch(`${n8n.url}/webhook-test/${path}`, {
				method: 'POST',
				headers: { 'Content-Type': 'application/json' },
				body: JSON.stringify({ id: randomUUID() }),
			});
		await runPart(id, { destinationNode: previousNodesOf('Pay') });
		expect((await call()).status).toBe(200);
		await allFinished(n8n, id, 1);
		expect(sent()).toBe(sentWhileListening);
		await runPart(id, { destinationNode: stepOf('Pay') });
		expect((await call()).status).toBe(200);
		await allFinished(n8n, id, 2);
		expect(sent()).toBe(sentWhileListening + 1);
	});

	test('"Execute step" pays', async () => {
		const id = await saveChain();
		const runData = await runFirstNodes(id);
		await runPart(id, { destinationNode: stepOf('Pay'), runData, dirtyNodeNames: [] });
		expect(sent()).toBe(1);
	});

	test('"Execute previous nodes" in a node that calls a sub-workflow: that pays, and docs/own-workflow.md warns', async () => {
		const payChild = pay('Pay', { amount: 1, external_id: '={{ $json.id }}' });
		const child = await n8n.importWorkflow(chain('Child', [whenCalled(), payChild]), { payApi });
		await n8n.activate(child);
		const round = set('Round', `={{ { "id": "${randomUUID()}" } }}`);
		const row = set('Row', '={{ {} }}');
		const parent = chain('Parent', [manualTrigger(), row, round, callOf('Call', child)]);
		const id = await n8n.importWorkflow({ ...parent, ...NO_PINS });
		const runData = await runFirstNodes(id);
		await runPart(id, { destinationNode: previousNodesOf('Call'), runData, dirtyNodeNames: [] });
		expect(sent()).toBe(1);
	});

	/** Saves Manual -> Row -> Agent, with a tool that pays; gives the workflow's id. */
	async function saveAgent() {
		const id = randomUUID();
		const model = await startModel(/Pay/, { amount: 5 });
		const parameters = {
			resource: 'payment',
			operation: 'create',
			amount: fromAi('amount', 'number'),
			external_id: id,
			creditParty: { key: 'ana', keyType: '' },
			options: { allowAiPayments: true },
		};
		const tool: Node = node('Pay', 'n8n-nodes-pay.payTool', parameters);
		const nodes = [manualTrigger(), set('Row', '={{ {} }}'), agent('Pay 5', 3)];
		const workflow = chain('Agent', nodes, {
			Model: toAgent('ai_languageModel'),
			Pay: toAgent('ai_tool'),
		});
		workflow.nodes.push(await chatModel(n8n, model.url), tool);
		models.push(model);
		return await n8n.importWorkflow({ ...workflow, ...NO_PINS }, { payApi });
	}

	test('"Execute previous nodes" in an agent: its tool pays nothing; "Execute step" there pays', async () => {
		const id = await saveAgent();
		const runData = await runFirstNodes(id);
		await runPart(id, { destinationNode: previousNodesOf('Agent'), runData, dirtyNodeNames: [] });
		expect(sent()).toBe(0);
		await runPart(id, { destinationNode: stepOf('Agent'), runData, dirtyNodeNames: [] });
		expect(sent()).toBe(1);
	});

	test("a tool's own test button pays", async () => {
		const id = await saveAgent();
		const said = { amount: 5 };
		await runPart(id, {
			destinationNode: stepOf('Pay'),
			runData: await runFirstNodes(id),
			dirtyNodeNames: [],
			agentRequest: { query: majorOf(version) === 1 ? said : { Pay: said }, tool: { name: 'Pay' } },
		});
		expect(sent()).toBe(1);
	});
});
