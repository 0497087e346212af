import { randomUUID } from 'node:crypto';
import { until, type Execution, type N8n } from '../../dev/n8n';
import { majorOf } from '../../dev/versions';
import { chain, node, pay, type Node } from '../../dev/workflow';
import type { Sandbox } from '../../sandbox/service';
import { chargeAndWait } from './chargeAndWait';
import { deliver } from './deliveries';
import { startModel } from './model';
import { allFinished, errorFactsOf, VERSIONS, withN8n, type Credential } from './nodes';
import { agent, callOf, chatModel, toAgent, whenCalled } from './otherNodes';

const TRIGGER = 'When fetching a dataset row';

/** n8n's Evaluations run a workflow for each row of a test data set. Nobody means to pay for such a row. */
describe.each(VERSIONS)('n8n %s', (version) => {
	let n8n: N8n;
	let sandbox: Sandbox;
	let payApi: Credential;
	withN8n(version, (running) => ({ n8n, sandbox, payApi } = running));
	beforeEach(() => {
		sandbox.received.length = 0;
	});

	/** Makes a test data set of these rows, and the trigger that reads it. */
	async function dataSet(rows: object[]): Promise<Node> {
		const project = (await n8n.rest('GET', '/projects/personal')).data.id;
		const tables = `/projects/${project}/data-tables`;
		const columns = [{ name: 'invoice', type: 'string' }];
		const { id } = (await n8n.rest('POST', tables, { name: randomUUID(), columns })).data;
		await n8n.rest('POST', `${tables}/${id}/insert`, { data: rows, returnType: 'count' });
		return node(
			TRIGGER,
			'n8n-nodes-base.evaluationTrigger',
			{ source: 'dataTable', dataTableId: { __rl: true, mode: 'id', value: id } },
			{ typeVersion: 4.7 },
		);
	}

	const twoRows = () => [{ invoice: randomUUID() }, { invoice: randomUUID() }];

	/** Without a metric n8n runs no test. */
	const metrics = () => {
		const assignments = [{ id: '1', name: 'ok', value: '={{ 1 }}', type: 'number' }];
		const parameters = {
			operation: 'setMetrics',
			metric: 'customMetrics',
			metrics: { assignments },
		};
		return node('Metrics', 'n8n-nodes-base.evaluation', parameters, { typeVersion: 4.7 });
	};

	const payInvoice = () =>
		pay('Pay', { amount: 5, external_id: '={{ $json.invoice ?? $json.external_id }}' });

	/** Saves the data set, these nodes and the metric, one behind the other, and other nodes beside them. */
	async function save(nodes: Node[], beside: Node[] = [], wires: Record<string, unknown> = {}) {
		const row = await dataSet(twoRows());
		const workflow = chain('Evaluated', [row, ...nodes, metrics()], wires);
		workflow.nodes.push(...beside);
		return await n8n.importWorkflow({ ...workflow }, { payApi });
	}

	/** Runs the test over both rows, as "Run Test" does; gives its executions. */
	async function runTest(workflowId: string): Promise<Execution[]> {
		const runs = `/workflows/${workflowId}/test-runs`;
		await n8n.rest('POST', `${runs}/new`, {});
		await until('the end of the test run', async () => {
			const { data } = await n8n.rest<{ data: Array<{ status: string }> }>('GET', runs);
			const [newest] = data;
			return newest !== undefined && !['new', 'running'].includes(newest.status);
		});
		return await allFinished(n8n, workflowId, 2);
	}

	/** Clicks "Execute workflow", from the Evaluation Trigger. */
	async function executeFromTrigger(workflowId: string): Promise<Execution> {
		const workflowData = await n8n.workflow(workflowId);
		const { data } = await n8n.rest<{ data: { executionId: string } }>(
			'POST',
			`/workflows/${workflowId}/run`,
			{ workflowData: { ...workflowData, pinData: {} }, triggerToStartFrom: { name: TRIGGER } },
		);
		return await n8n.finished(data.executionId);
	}

	/** Publishes a workflow that pays, and gives the node that calls it. */
	async function callOfPayment(): Promise<Node> {
		const child = await n8n.importWorkflow(chain('Child', [whenCalled(), payInvoice()]), {
			payApi,
		});
		await n8n.activate(child);
		return callOf('Call', child);
	}

	const paid = () => sandbox.bodies('payment');

	test('"Run Test" pays nothing', async () => {
		const executions = await runTest(await save([payInvoice()]));
		expect(paid()).toStrictEqual([]);
		for (const execution of executions) {
			expect(execution.mode).toBe('evaluation');
			expect(errorFactsOf(execution)).toMatchObject({ outcome: 'notSent' });
		}
	});

	test('the error workflow of a test that fails pays nothing', async () => {
		const whenFailed = node('When it failed', 'n8n-nodes-base.errorTrigger', {});
		const refund = pay('Pay', { amount: 5, external_id: '={{ $json.execution.id }}' });
		const errorWorkflow = await n8n.importWorkflow(chain('Refund', [whenFailed, refund]), {
			payApi,
		});
		await n8n.activate(errorWorkflow);
		const evaluated = await save([payInvoice()]);
		const { settings, versionId } = await n8n.workflow(evaluated);
		await n8n.rest('PATCH', `/workflows/${evaluated}`, {
			settings: { ...(settings as object), errorWorkflow },
			versionId,
		});
		await runTest(evaluated);
		for (const execution of await allFinished(n8n, errorWorkflow, 2)) {
			expect(errorFactsOf(execution)).toMatchObject({ outcome: 'notSent' });
		}
		expect(paid()).toStrictEqual([]);
	});

	test('"Execute workflow" from an Evaluation Trigger pays nothing', async () => {
		const execution = await executeFromTrigger(await save([payInvoice()]));
		expect(paid()).toStrictEqual([]);
		expect(execution.mode).toBe('manual');
		expect(errorFactsOf(execution)).toMatchObject({ outcome: 'notSent' });
	});

	// n8n 1 tells a sub-workflow nothing of it: docs/safety.md says so.
	const paidByCall = majorOf(version) === 1 ? 2 : 0;
	test('"Run Test" of a workflow that calls one that pays: n8n 2 tells that of it', async () => {
		await runTest(await save([await callOfPayment()]));
		expect(paid()).toHaveLength(paidByCall);
	});

	test('"Execute workflow" from the trigger of a workflow that calls one that pays: no n8n tells that', async () => {
		await executeFromTrigger(await save([await callOfPayment()]));
		expect(paid()).not.toStrictEqual([]);
	});

	/** Saves an agent behind the trigger, whose tool pays what the row says. */
	async function saveAgent() {
		const model = await startModel(/Pay/, { amount: 5 });
		const tool = node('Pay', 'n8n-nodes-pay.payTool', {
			resource: 'payment',
			operation: 'create',
			amount: 5,
			external_id: `={{ $('${TRIGGER}').first().json.invoice }}`,
			creditParty: { key: 'ana', keyType: '' },
			options: { allowAiPayments: true },
		});
		const beside = [await chatModel(n8n, model.url), tool];
		const wires = { Model: toAgent('ai_languageModel'), Pay: toAgent('ai_tool') };
		const id = await save([agent('Pay 5', 3)], beside, wires);
		return { id, model };
	}

	test.each<[string, (id: string) => Promise<unknown>]>([
		['"Run Test"', runTest],
		['"Execute workflow" from its trigger', executeFromTrigger],
	])("an agent's tool pays nothing in %s", async (_, run) => {
		const { id, model } = await saveAgent();
		await run(id);
		model.close();
		expect(model.heard.length).toBeGreaterThan(0);
		expect(model.heard.every((text) => text.includes('"notSent"'))).toBe(true);
		expect(paid()).toStrictEqual([]);
	});

	test('a QR code is created for each row', async () => {
		const external_id = '={{ $json.invoice }}';
		const [charge] = chargeAndWait({}, {}, { external_id, postback: 'none' });
		await runTest(await save([charge]));
		expect(sandbox.bodies('qrcode')).toHaveLength(2);
	});

	test('a wait does not hold the test up, and what is behind it pays nothing later', async () => {
		const external_id = '={{ $json.invoice }}';
		const [charge, wait] = chargeAndWait({}, {}, { external_id });
		const executions = await runTest(await save([charge, wait, payInvoice()]));
		expect(executions.map(({ status }) => status)).toStrictEqual(['waiting', 'waiting']);
		for (const { postbackUrl } of sandbox.bodies('qrcode')) await deliver(String(postbackUrl));
		for (const { id } of executions) {
			const execution = await until('the end of its execution', async () => {
				const now = await n8n.execution(id);
				return now.status !== 'waiting' && now.status !== 'running' && now;
			});
			expect(errorFactsOf(execution)).toMatchObject({ outcome: 'notSent' });
		}
		expect(paid()).toStrictEqual([]);
	});
});
