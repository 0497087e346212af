import type { IHttpRequestOptions, INodeExecutionData } from 'n8n-workflow';
import { REGISTERED } from '../../serviceOperations';
import type { TypedItem } from './plan';
import { request } from './request';
import type { NodeRun } from './send';
import { CONFIRMING, tokenOf } from './service';
import { StoreCalls } from './storeCalls';
import type { World } from './world';

/** The options by which a person lets an agent do what costs something, all of them on. */
const PERMISSIONS: Record<string, true> = {};
for (const { operation } of REGISTERED) {
	const { agentPermission } = operation;
	if (agentPermission !== 'not needed') PERMISSIONS[agentPermission.name] = true;
}

/** What the node's context needs to know beyond the run itself. */
export interface Surroundings {
	contexts: Record<string, Record<string, unknown>>;
	runIndex: number;
	/** n8n's object for the execution, from one wait to the next. */
	additionalData: object;
	signal: AbortSignal;
	/** The parameters of each item, expressions resolved. */
	parameters: Array<Record<string, unknown>>;
}

function valueAt(values: Record<string, unknown>, path: string): unknown {
	let value: unknown = values;
	for (const part of path.split('.')) {
		if (typeof value !== 'object' || value === null) return undefined;
		value = (value as Record<string, unknown>)[part];
	}
	return value;
}

/** The account of an item; n8n may be asked for one beyond the last. */
function accountOf({ items }: NodeRun, { settings }: World, index: number): number {
	if (!settings.accountPerItem) return items[0]?.account ?? 0;
	if (index >= items.length && settings.beyondLast === 'throws') {
		throw new Error("Can't get data for expression");
	}
	return items[index]?.account ?? 0;
}

function credentialOf(account: number, run: NodeRun, { settings, workflow }: World) {
	const baseUrl = `https://bank-${account}.example.com`;
	return {
		baseUrl,
		allowHttp: false,
		accessToken: tokenOf(account),
		authentication: settings.clientCredentials ? 'clientCredentials' : 'accessToken',
		tokenUrl: `${baseUrl}/token`,
		clientSecret: 'secret-of-the-client',
		// A process keeps tokens from one scenario to the next.
		schemeName: workflow.id,
		clientId: `${workflow.id} ${account}`,
		// Without those that are not set: of an empty one nobody could tell whether an expression left it so.
		limitPayments: settings.limits !== undefined,
		...settings.limits,
		describeService: true,
		resultField: run.options.confirmed ? 'status' : '',
		acceptedValues: run.options.confirmed ? CONFIRMING : '',
	};
}

function resolveExpression(expression: string, run: NodeRun, runIndex: number) {
	if (expression.includes('$runIndex')) return runIndex;
	if (expression.includes('resumeUrl')) return 'https://n8n.example.com/webhook-waiting/1';
	return run.execution.name;
}

function itemsOf(items: TypedItem[]): INodeExecutionData[] {
	return items.map(({ id }, index) => ({ json: { id }, pairedItem: { item: index } }));
}

/** What n8n hands to execute(), as far as it was measured on a running n8n. */
export function contextOf(world: World, run: NodeRun, around: Surroundings) {
	const store = new StoreCalls(world, run);
	// As text: n8n's log prints nothing of the facts beside a line.
	const log = (text: string) => void run.logged.push(text);
	return {
		additionalData: around.additionalData,
		workflow: { nodes: world.otherNodes },
		getNode: () => ({
			id: world.nodeIdOf(run.node),
			name: `Pay ${run.node}`,
			type: run.isTool ? 'n8n-nodes-pay.payTool' : 'n8n-nodes-pay.pay',
			typeVersion: 1,
			position: [0, 0],
			// What a person typed: of an agent's tool, that it may do all.
			parameters: run.isTool ? { options: PERMISSIONS } : {},
		}),
		getWorkflow: () => ({
			id: world.workflow.id,
			name: world.workflow.name,
			active: world.workflow.active,
		}),
		getMode: () => (run.evaluation === 'mode' ? 'evaluation' : 'trigger'),
		getParentNodes: () => Object.values(world.otherNodes),
		getWorkflowDataProxy: () => ({
			$: () => ({ isExecuted: run.evaluation === 'trigger' }),
			$evaluation: run.evaluation === 'run' ? { runId: '1' } : undefined,
		}),
		// Copies of the node go from one scenario to the next, and remember executions.
		getExecutionId: () => `${world.workflow.id}, ${run.execution.name}`,
		getInputData: () => itemsOf(run.items),
		getNodeParameter(name: string, index: number, fallback?: unknown) {
			const typed = valueAt(around.parameters[index] ?? {}, name);
			const value = typed === undefined ? fallback : typed;
			if (value === undefined) throw new Error(`Could not get parameter "${name}"`);
			// What n8n hands out is never the stored parameter itself.
			return structuredClone(value);
		},
		getCredentials: async (_type: string, index = 0) =>
			await Promise.resolve(credentialOf(accountOf(run, world, index), run, world)),
		evaluateExpression: (expression: string) => resolveExpression(expression, run, around.runIndex),
		getContext: (type: string) =>
			(around.contexts[type === 'flow' ? 'flow' : `node:Pay ${run.node}`] ??= {}),
		getExecutionCancelSignal: () => around.signal,
		continueOnFail: () => run.continues,
		isToolExecution: () => run.isTool,
		addExecutionHints: () => undefined,
		customData: { set: () => undefined },
		logger: { debug: log, warn: log },
		helpers: {
			checkProcessedAndRecord: store.checkProcessedAndRecord.bind(store),
			removeProcessed: store.removeProcessed.bind(store),
			clearAllProcessedItems: store.clearAllProcessedItems.bind(store),
			getProcessedDataCount: store.getProcessedDataCount.bind(store),
			httpRequest: async (options: IHttpRequestOptions) => await request(world, run, options),
			prepareBinaryData: async () => {
				await world.clock.step('stores', run.process);
				return { mimeType: 'image/png', data: '' };
			},
		},
	};
}
