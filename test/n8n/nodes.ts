import { randomUUID } from 'node:crypto';
import {
	itemsOf,
	N8n,
	until,
	webhookPath,
	type Execution,
	type N8nOptions,
	type Running as Attachable,
	type Workflow,
} from '../../dev/n8n';
import { versionsOf } from './tiers';
import { QueueMode } from './queue';
import type { N8nVersion, NpmVersion } from '../../dev/versions';
import {
	call,
	chain,
	noOp,
	pay,
	payTrigger,
	splitItems,
	start,
	type Node,
} from '../../dev/workflow';
import { Sandbox, type SandboxOptions } from '../../sandbox/service';

/** The pinned versions of this run (tiers.ts). */
export const VERSIONS: NpmVersion[] = versionsOf(process.env);

/** The newest alone, for what no version of n8n changes. */
export const NEWEST = VERSIONS.slice(0, 1);

/** To write its pages takes each start of an n8n 5 s of processor time. Its log says all it can say. */
const WITHOUT_PAGES = { N8N_DISABLE_UI: 'true', N8N_LOG_LEVEL: 'debug' };
/** For the tests of its pages, and of the nodes that it offers there. */
export const WITH_PAGES = { N8N_DISABLE_UI: 'false' };

/** The variable that names the data folder of an n8n with the package of this run (pack.ts). */
export const homeOf = (version: N8nVersion) => `PAY_HOME_${version}`;

/** The variable that says where an n8n runs that tests attach to (pack.ts). */
export const runningOf = (version: N8nVersion) => `PAY_RUNNING_${version}`;

/** An n8n with the package of this run: the one that all tests share, if there is one. */
export async function n8nOf(version: N8nVersion): Promise<N8n> {
	const running = process.env[runningOf(version)];
	if (running === undefined) return await startN8n(version);
	return await N8n.attach(JSON.parse(running) as Attachable);
}

/** Starts an n8n of one's own, which may be killed, or has other settings. */
export async function startN8n(version: N8nVersion, more: Partial<N8nOptions> = {}): Promise<N8n> {
	const home = more.userFolder === undefined ? process.env[homeOf(version)] : undefined;
	const env = { ...WITHOUT_PAGES, ...more.env };
	return await N8n.start({ version, tarball: process.env.PAY_TARBALL, home, ...more, env });
}

/** The node of a workflow that has this name. */
export function nodeOf(workflow: Workflow, name: string): Node {
	const found = workflow.nodes.find((node) => node.name === name);
	if (found === undefined) throw new Error(`No node is named ${name}`);
	return found;
}

/** External IDs that nobody has used. */
export function newIds(count: number): string[] {
	return Array.from({ length: count }, () => randomUUID());
}

export type Credential = { id: string; name: string };
export const SECRET = 'the postback secret of the test';

export interface Running {
	n8n: N8n;
	sandbox: Sandbox;
	payApi: Credential;
}

export const credentialFor = async ({ url }: Sandbox, n8n: N8n): Promise<Credential> =>
	await n8n.createCredential({ baseUrl: url, accessToken: 'token', postbackSecret: SECRET });

/** Has an n8n, a sandbox and a credential for it during the tests of a describe. */
export function withN8n(
	version: N8nVersion,
	started: (running: Running) => void,
	options: SandboxOptions = {},
	env: N8nOptions['env'] = {},
) {
	let n8n: N8n | undefined;
	let sandbox: Sandbox | undefined;
	beforeAll(async () => {
		sandbox = await Sandbox.start(options);
		const isShared = Object.keys(env).length === 0;
		n8n = isShared ? await n8nOf(version) : await startN8n(version, { env });
		started({ n8n, sandbox, payApi: await credentialFor(sandbox, n8n) });
	});
	afterAll(async () => {
		await n8n?.stop();
		await sandbox?.close();
	});
}

/** Start -> Items -> Pay, which pays 1 for each item's `id` unless told otherwise. */
export const payEach = (parameters: object = {}, settings: object = {}) =>
	chain('Pay a list', [
		start(),
		splitItems(),
		pay('Pay', { amount: 1, external_id: '={{ $json.id }}', ...parameters }, settings),
	]);

/**
 * Publishes a workflow that begins with a webhook.
 * @returns with what calls it, and gives the execution when that has ended or waits
 */
export async function publish(n8n: N8n, workflow: Workflow, payApi?: Credential) {
	const id = await n8n.importWorkflow(workflow, payApi && { payApi });
	await n8n.activate(id);
	const path = String(workflow.nodes[0]!.webhookId);
	let runs = 0;
	const run = async (...items: object[]): Promise<Execution> => {
		const { ok, status } = await call(n8n, path, { items });
		// While n8n 2 publishes another version, it answers 404 and starts nothing.
		if (!ok) throw new Error(`The webhook was answered with ${status}`);
		return (await allFinished(n8n, id, ++runs))[0]!;
	};
	return { id, path, run };
}

/** Publishes a Pay Trigger with "After" behind it; gives its workflow, and its address without a proof. */
export async function publishTrigger(n8n: N8n, payApi: Credential, entry: Node = payTrigger()) {
	const id = await n8n.importWorkflow(chain('Trigger', [entry, noOp('After')]), { payApi });
	await n8n.activate(id);
	return { id, url: n8n.url + webhookPath(entry) };
}

/** A worker that is gone is missed within seconds, not a minute; one that is only busy is not. */
const SOON = {
	QUEUE_WORKER_LOCK_DURATION: '6000',
	QUEUE_WORKER_LOCK_RENEW_TIME: '1000',
	QUEUE_WORKER_STALLED_INTERVAL: '3000',
};

/** Has a queue mode, a sandbox and a credential for it during the tests of a describe. */
export function withQueueMode(
	version: N8nVersion,
	started: (running: Omit<Running, 'n8n'> & { queue: QueueMode; main: N8n }) => void,
	options: SandboxOptions = {},
) {
	let queue: QueueMode | undefined;
	let sandbox: Sandbox | undefined;
	beforeAll(async () => {
		sandbox = await Sandbox.start(options);
		const env = { ...WITHOUT_PAGES, ...SOON };
		const packed = { tarball: process.env.PAY_TARBALL, home: process.env[homeOf(version)] };
		queue = await QueueMode.start({ version, ...packed, env });
		const { main } = queue;
		started({ queue, main, sandbox, payApi: await credentialFor(sandbox, main) });
	});
	afterAll(async () => {
		await queue?.stop();
		await sandbox?.close();
	});
}

/** Waits until a workflow has this many executions and all have ended (or wait), newest first. */
export async function allFinished(
	n8n: N8n,
	workflowId: string,
	count: number,
): Promise<Execution[]> {
	const found = await until(
		`${count} executions`,
		async () => {
			const some = await n8n.executionIds(workflowId);
			return some.length >= count && some;
		},
		120,
	);
	return await Promise.all(found.map(async (id) => await n8n.finished(id)));
}

/** The facts of the error that ended an execution: outcome, field … */
export function errorFactsOf({ data }: Execution): Record<string, unknown> | undefined {
	const { error } = data.resultData as { error?: { context?: { data?: Record<string, unknown> } } };
	return error?.context?.data;
}

/** What became of each item of a node, in an execution that went on after failures. */
export const outcomesOf = (execution: Execution, nodeName = 'Pay') =>
	itemsOf(execution, nodeName).map(
		({ error, outcome }) => (error as { outcome: string } | undefined)?.outcome ?? outcome,
	);
