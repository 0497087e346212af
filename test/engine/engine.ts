import 'reflect-metadata';
import { randomUUID } from 'node:crypto';
import {
	DataDeduplicationService,
	ExecuteContext,
	ExecutionLifecycleHooks,
	getAdditionalKeys,
	WorkflowExecute,
} from 'n8n-core';
import {
	createEmptyRunExecutionData,
	createRunExecutionData,
	NodeConnectionTypes,
	Workflow,
	type ICredentialDataDecryptedObject,
	type ICredentialsHelper,
	type IDataObject,
	type IExecuteFunctions,
	NodeHelpers,
	type INode,
	type INodeParameters,
	type INodeExecutionData,
	type INodeType,
	type INodeTypes,
	type IPinData,
	type IRun,
	type IRunExecutionData,
	type IWorkflowExecuteAdditionalData,
	type WorkflowExecuteMode,
} from 'n8n-workflow';
import { PayApi } from '../../credentials/PayApi.credentials';
import { Pay } from '../../nodes/Pay/Pay.node';
import { RECIPIENT } from '../../dev/workflow';
import { Sandbox } from '../../sandbox/service';
import { DuplicateStore, type StoreHooks } from '../simulation/duplicateStore';

/** A node that gives what the test puts in; "code-only", as it has no description to speak of. */
class Source implements INodeType {
	description = {
		name: 'source',
		version: 1,
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		properties: [
			{ displayName: 'Items', name: 'items', type: 'json' as const, default: '[]' },
			{ displayName: 'Operation', name: 'operation', type: 'string' as const, default: '' },
		],
	} as unknown as INodeType['description'];

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		const items = this.getNodeParameter('items', 0) as unknown as IDataObject[];
		return [items.map((json) => ({ json }))];
	}
}

let changeContext: RunOptions['context'];
/** The Pay node of another release, where a run has one. */
let otherPay: INodeType | undefined;

/** The Pay node, in a context that a test may change. */
class PayInContext extends Pay {
	override async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		const changed = changeContext?.(this);
		if (changed === undefined) return await Pay.prototype.execute.call(this);
		// Over an empty object: some properties of the real one may not be told otherwise.
		const context = new Proxy({} as IExecuteFunctions, {
			get: (_, name) => {
				if (name in changed) return Reflect.get(changed, name) as unknown;
				const value: unknown = Reflect.get(this, name);
				return typeof value === 'function' ? value.bind(this) : value;
			},
		});
		return await Pay.prototype.execute.call(context);
	}
}

/** n8n's own "No Operation": it gives what it gets. */
class NoOp implements INodeType {
	description = {
		name: 'noOp',
		version: 1,
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		properties: [],
	} as unknown as INodeType['description'];

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return [this.getInputData()];
	}
}

const TYPES: Record<string, INodeType> = {
	'test.source': new Source(),
	// n8n's own, with which a person starts a workflow.
	'n8n-nodes-base.manualTrigger': new Source(),
	'n8n-nodes-base.noOp': new NoOp(),
	// n8n's own, which gives a row of a test data set.
	'n8n-nodes-base.evaluationTrigger': new Source(),
	// n8n's own, which begins an error workflow.
	'n8n-nodes-base.errorTrigger': new Source(),
	// Nodes of n8n's that can pause an execution; here they do not.
	'n8n-nodes-base.wait': new Source(),
	'n8n-nodes-base.form': new Source(),
	'n8n-nodes-base.slack': new Source(),
	'n8n-nodes-pay.pay': new PayInContext(),
	// As n8n names a node that it hands to an AI agent as a tool.
	'n8n-nodes-pay.payTool': new PayInContext(),
};

function nodeType(type: string): INodeType {
	if (type === 'n8n-nodes-pay.pay' && otherPay !== undefined) return otherPay;
	return TYPES[type]!;
}

const nodeTypes: INodeTypes = {
	getByName: nodeType,
	getByNameAndVersion: nodeType,
	getKnownTypes: () => ({}),
};

/** What the database does beside what it is asked for; a test sets it, `forget` takes it back. */
export const storeHooks: StoreHooks = {};

/** n8n's duplicate store, in memory, with the semantics of the real one. */
export const store = new DuplicateStore(storeHooks);

/** Whether a payment is recorded, in whatever scope. */
export const isRecorded = (external_id: string) =>
	store.has(`n8n-nodes-pay:payment:${external_id}`);

let forgotten = 0;

/** The id of the workflow that runs; n8n keeps a list of payments for each. */
export const workflowId = () => `workflow-${forgotten}`;

/** Forgets all payments and what a test did to the store; the node's process remembers them, too. */
export function forget() {
	forgotten += 1;
	store.clear();
	delete storeHooks.before;
	delete storeHooks.written;
}

/** The service of the tests of a file, where that calls `withSandbox`. */
export let sandbox: Sandbox;

/** Starts it; before each test nothing has arrived there, it is sound, and n8n's store is empty. */
export function withSandbox() {
	beforeAll(async () => {
		sandbox = await Sandbox.start();
	});
	afterAll(async () => await sandbox.close());
	beforeEach(() => {
		sandbox.received.length = 0;
		sandbox.faultFor = undefined;
		forget();
	});
}

let prepared: Promise<void> | undefined;

export interface RunOptions {
	/** The input items of the Pay node. */
	items?: IDataObject[];
	parameters: IDataObject;
	/** May hold expressions, which are resolved as n8n does it. */
	credential?: IDataObject;
	/** What CREDENTIALS_OVERWRITE_DATA adds where the credential has nothing. */
	overwrite?: IDataObject;
	/** Settings of the Pay node: onError, retryOnFail, maxTries … */
	settings?: Partial<INode>;
	/** n8n's id of the execution; each has one of its own, where this says nothing. */
	executionId?: string;
	/** How n8n runs it, "manual" where this says nothing. */
	mode?: WorkflowExecuteMode;
	/** The run of a test data set that it belongs to. */
	evaluationRunId?: string;
	/** What invents the responses of the service, as n8n 2 does it where it tests its own Agents. */
	evalLlmMockHandler?: IWorkflowExecuteAdditionalData['evalLlmMockHandler'];
	/** What n8n keeps of a run that a person starts in the editor. */
	startData?: IRunExecutionData['startData'];
	/** The execution to go on with, as the editor's Retry does. */
	previous?: IRun;
	/** The execution that has waited, and goes on. */
	goesOn?: IRun;
	/** The context as another version of n8n, or a failing one, would give it to the Pay node. */
	context?: (context: IExecuteFunctions) => Partial<IExecuteFunctions>;
	/** The Pay node of another release. */
	pay?: INodeType;
	/** Is handed what cancels the execution. */
	onStart?: (cancel: () => void) => void;
	/** Nodes and connections of its own, instead of Source -> Pay; it begins with the first or with "Source". */
	workflow?: {
		nodes: INode[];
		connections: Workflow['connectionsBySourceNode'];
		/** What nodes give without being run. */
		pinData?: IPinData;
	};
}

function node(name: string, type: string, rest: Partial<INode> = {}): INode {
	return { id: name, name, type, typeVersion: 1, position: [0, 0], parameters: {}, ...rest };
}

/**
 * Every parameter as the editor would save it: what is not given has its default. A payment that
 * says nothing else goes to {@link RECIPIENT}.
 */
export function payNode(
	name: string,
	parameters: IDataObject,
	settings: Partial<INode> = {},
): INode {
	const { resource = 'payment' } = parameters;
	const recipient = resource === 'payment' ? RECIPIENT : {};
	const all = { resource, operation: 'create', ...recipient, ...parameters };
	return node(name, 'n8n-nodes-pay.pay', {
		parameters: all as INode['parameters'],
		credentials: { payApi: { id: '1', name: 'Pay API' } },
		waitBetweenTries: 1,
		...settings,
	});
}

/** A node that gives items, or what an expression makes them. */
export function sourceNode(name: string, items: IDataObject[] | string): INode {
	return node(name, 'test.source', { parameters: { items } as unknown as INode['parameters'] });
}

/** A connection from a node's outputs to other nodes, one list per output. */
export const to = (...outputs: string[][]) => ({
	main: outputs.map((names) =>
		names.map((name) => ({ node: name, type: NodeConnectionTypes.Main, index: 0 })),
	),
});

/** A credential as n8n has it before it resolves expressions: with overwrites and defaults. */
function completed(stored: IDataObject, overwrite: IDataObject = {}): INodeParameters {
	const whole = { ...stored };
	for (const [name, value] of Object.entries(overwrite)) {
		if (whole[name] === undefined || whole[name] === null || whole[name] === '')
			whole[name] = value;
	}
	const { properties } = new PayApi();
	return NodeHelpers.getNodeParameters(
		properties,
		whole as INodeParameters,
		true,
		false,
		null,
		null,
	) as INodeParameters;
}

let executions = 0;

function additionalData(options: RunOptions, run: IRunExecutionData) {
	const typed = { baseUrl: '', accessToken: 'token-of-the-test', ...options.credential };
	// As n8n stores it: what is undefined is not there.
	const stored = JSON.parse(JSON.stringify(typed)) as IDataObject;
	const credential = completed(stored, options.overwrite);
	/** As n8n's CredentialsHelper, but for the database and the key. */
	const getDecrypted: ICredentialsHelper['getDecrypted'] = async (
		additional,
		_which,
		_type,
		mode,
		executeData,
		raw,
		values,
	) => {
		if (raw === true) return stored as ICredentialDataDecryptedObject;
		if (values === undefined) return credential as ICredentialDataDecryptedObject;
		return values.workflow.expression.getParameterValue(
			credential,
			values.runExecutionData,
			values.runIndex,
			values.itemIndex,
			values.node.name,
			values.connectionInputData,
			mode,
			getAdditionalKeys(additional, mode, null),
			executeData,
			false,
			credential,
		) as ICredentialDataDecryptedObject;
	};
	const { executionId = `execution-${++executions}` } = options;
	const data = {
		credentialsHelper: {
			getDecrypted,
			getCredentialsProperties: () => [],
			getParentTypes: () => [],
			isCredentialUsableByNode: () => true,
		},
		executionId,
		evaluationRunId: options.evaluationRunId,
		evalLlmMockHandler: options.evalLlmMockHandler,
		webhookWaitingBaseUrl: 'https://n8n.example.com/webhook-waiting',
		formWaitingBaseUrl: 'https://n8n.example.com/form-waiting',
		variables: {},
		currentNodeExecutionIndex: 0,
		logAiEvent: () => undefined,
		hooks: new ExecutionLifecycleHooks('manual', executionId, {} as never),
		setExecutionStatus: () => undefined,
		run,
	};
	return data as unknown as IWorkflowExecuteAdditionalData;
}

/** Runs a workflow through n8n's own engine. */
export async function runWorkflow(options: RunOptions): Promise<IRun> {
	changeContext = options.context;
	otherPay = options.pay;
	prepared ??= DataDeduplicationService.init(store);
	await prepared;
	const standard = {
		nodes: [
			sourceNode('Source', options.items ?? [{}]),
			payNode('Pay', options.parameters, options.settings),
		],
		connections: { Source: to(['Pay']) },
	};
	const workflow = new Workflow({
		id: workflowId(),
		active: false,
		nodeTypes,
		settings: { executionOrder: 'v1' },
		...(options.workflow ?? standard),
	});
	const start = workflow.getNode('Source') ?? Object.values(workflow.nodes)[0]!;
	const run =
		(options.previous ?? options.goesOn)?.data ??
		createRunExecutionData({
			startData: options.startData,
			resultData: { pinData: options.workflow?.pinData },
			executionData: {
				nodeExecutionStack: [{ node: start, data: { main: [[{ json: {} }]] }, source: null }],
			},
		});
	if (options.previous) {
		// What n8n does for Retry: the failed node's results go, its input and the context stay.
		delete run.resultData.error;
		delete run.resultData.runData[run.resultData.lastNodeExecuted ?? ''];
		for (const waiting of run.executionData?.nodeExecutionStack ?? []) {
			waiting.node = workflow.getNode(waiting.node.name)!;
		}
	}
	const additional = additionalData(options, run);
	const { mode = 'manual' } = options;
	const running = new WorkflowExecute(additional, mode, run).processRunExecutionData(workflow);
	options.onStart?.(() => running.cancel());
	return await running;
}

/**
 * Runs a Pay node as n8n's own Agents do: by itself, as a tool, with what the model says as its item. There is
 * no workflow, no execution and nothing that is kept.
 */
export async function runByItself(
	parameters: IDataObject,
	said: IDataObject = {},
): Promise<INodeExecutionData[]> {
	changeContext = undefined;
	const tool = { ...payNode('Target Node', parameters), type: 'n8n-nodes-pay.payTool' };
	const workflow = new Workflow({ nodes: [tool], connections: {}, active: false, nodeTypes });
	const run = createEmptyRunExecutionData();
	const additional = additionalData({ parameters, credential: { baseUrl: sandbox.url } }, {
		data: run,
	} as never);
	delete additional.executionId;
	const items = [{ json: said }];
	const input = { main: [items] };
	const context = new ExecuteContext(
		workflow,
		tool,
		additional,
		'internal',
		run,
		0,
		items,
		input,
		{ node: tool, data: input, source: null },
		[],
	);
	const [output = []] = await Pay.prototype.execute.call(context);
	return output;
}

/** What a node gave, of one run and output. */
export function outputOf(run: IRun, name: string, runIndex = 0, output = 0): INodeExecutionData[] {
	return run.data.resultData.runData[name]?.[runIndex]?.data?.main?.[output] ?? [];
}

/** The error that ended an execution. */
export function errorOf(run: IRun) {
	return run.data.resultData.error as
		| (Error & { description?: string; context?: IDataObject; messages?: string[] })
		| undefined;
}

export const CONTINUE = { onError: 'continueRegularOutput' } as const;
/** The settings of a node that is tried three times. */
export const RETRY = { retryOnFail: true, maxTries: 3 };
/** A payment of each item, with its own id and amount. */
export const FIELDS = { amount: '={{ $json.amount }}', external_id: '={{ $json.id }}' };
/** Parameters that make a QR code of each item. */
export const CHARGE = { resource: 'qrCode' };
export const itemsFor = (...ids: string[]) => ids.map((id) => ({ id, amount: 1 }));
/** So many ids that nobody else has, in order. */
export const ids = (count: number) =>
	Array.from({ length: count }, (_, index) => `${index}-${randomUUID()}`);
export const batches = (batchSize: number) => ({ batching: { batch: { batchSize } } });

/**
 * Runs a Pay node that makes a payment of each item at the sandbox, but for what is said otherwise. It takes a third of a
 * second, in which it only waits: the duplicate check looks again after a pause (CONTRIBUTING.md), and a pause that tests
 * shorten would not be the one that money has.
 */
export async function pay(
	items: IDataObject[],
	{ parameters, credential, ...more }: Partial<RunOptions> = {},
	options: IDataObject = {},
): Promise<IRun> {
	return await runWorkflow({
		credential: { baseUrl: sandbox.url, ...credential },
		items,
		parameters: { ...FIELDS, options, ...parameters },
		...more,
	});
}

/** The ids of the payments that arrived. */
export const arrived = () =>
	sandbox.bodies('payment').map(({ external_id }) => external_id as string);

/** Lets the first requests of the given ids meet a fault, and later ones pass. */
export function faultOnce(status: number, ...some: string[]) {
	const left = new Set(some);
	sandbox.faultFor = ({ body }) => {
		const { external_id } = JSON.parse(body) as { external_id: string };
		return left.delete(external_id) ? { kind: 'status', status } : undefined;
	};
}

/** What a node says of each item in its regular output: its facts, and the words of its error. */
export const resultsOf = (run: IRun, node = 'Pay', runIndex = 0): IDataObject[] =>
	outputOf(run, node, runIndex).map(({ json }) => ({ ...json, ...(json.error as IDataObject) }));
export const outcomes = (run: IRun, node = 'Pay') =>
	resultsOf(run, node).map(({ outcome }) => outcome);
export const hintsOf = (run: IRun) =>
	(run.data.resultData.runData.Pay ?? []).flatMap(({ hints = [] }) =>
		hints.map(({ message }) => message),
	);
