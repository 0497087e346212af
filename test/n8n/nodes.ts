import { randomUUID } from 'node:crypto';
import type { N8nVersion } from '../../dev/install';
import { N8n, until, type Execution, type N8nOptions, type Workflow } from '../../dev/n8n';

/** The pinned versions; one of them alone when the environment says so. */
export const VERSIONS: N8nVersion[] = process.env.N8N_TRY_VERSION
	? [process.env.N8N_TRY_VERSION as N8nVersion]
	: ['latest', 'lts'];

/** Starts an n8n with the package of this run. */
export async function startN8n(version: N8nVersion, more: Partial<N8nOptions> = {}): Promise<N8n> {
	return await N8n.start({ version, tarball: process.env.PAY_TARBALL, ...more });
}

type Node = Workflow['nodes'][number];
let count = 0;

export function node(name: string, type: string, parameters: object = {}, more: object = {}): Node {
	const typeVersion = type === 'n8n-nodes-base.webhook' ? 2 : 1;
	return {
		id: randomUUID(),
		name,
		type,
		typeVersion,
		position: [220 * count++, 0],
		parameters,
		...more,
	};
}

/** A webhook that starts a workflow and answers at once; the body holds the items. */
export function start(path = randomUUID()): Node {
	return node(
		'Start',
		'n8n-nodes-base.webhook',
		{ path, httpMethod: 'POST', options: {} },
		{ webhookId: path },
	);
}

/** Turns the list in the webhook's body into items. */
export function splitItems(): Node {
	return node('Items', 'n8n-nodes-base.splitOut', { fieldToSplitOut: 'body.items', options: {} });
}

export function pay(name: string, parameters: object, more: object = {}): Node {
	const all = { resource: 'payment', operation: 'create', ...parameters };
	return node(name, 'n8n-nodes-pay.pay', all, { waitBetweenTries: 100, ...more });
}

export const noOp = (name: string) => node(name, 'n8n-nodes-base.noOp');

/** A workflow whose nodes follow one another, each node's first output to the next. */
export function chain(name: string, nodes: Node[], more: Record<string, unknown> = {}): Workflow {
	const connections = Object.fromEntries(
		nodes
			.slice(0, -1)
			.map((each, index) => [
				each.name,
				{ main: [[{ node: nodes[index + 1]!.name, type: 'main', index: 0 }]] },
			]),
	);
	return { name, nodes, connections: { ...connections, ...more } };
}

/** Calls a published webhook. */
export async function call(n8n: N8n, path: string, body: unknown): Promise<Response> {
	return await fetch(`${n8n.url}/webhook/${path}`, {
		method: 'POST',
		headers: { 'Content-Type': 'application/json' },
		body: JSON.stringify(body),
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
		30,
	);
	return await Promise.all(found.map(async (id) => await n8n.finished(id)));
}
