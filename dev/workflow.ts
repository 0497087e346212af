import { randomUUID } from 'node:crypto';
import type { N8n, Workflow } from './n8n';

export type Node = Workflow['nodes'][number];
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
export function start(parameters: object = {}): Node & { webhookId: string } {
	const path = randomUUID();
	return {
		...node('Start', 'n8n-nodes-base.webhook', {
			path,
			httpMethod: 'POST',
			options: {},
			...parameters,
		}),
		webhookId: path,
	};
}

/** A Pay Trigger with an address of its own; the editor leaves the body to it, as here. */
export function payTrigger(parameters: object = {}): Node & { webhookId: string } {
	const { options } = parameters as { options?: object };
	const all = options ? { ...parameters, options: { binaryData: true, ...options } } : parameters;
	return {
		...node('Pay Trigger', 'n8n-nodes-pay.payTrigger', all),
		webhookId: randomUUID(),
	};
}

/** Turns the list in the webhook's body into items. */
export function splitItems(): Node {
	return node('Items', 'n8n-nodes-base.splitOut', { fieldToSplitOut: 'body.items', options: {} });
}

/** Whom a payment pays that says nothing else: without a Key none is sent. */
export const RECIPIENT = { creditParty: { key: 'ana@example.com' } };

/** A Pay node; it makes payments to {@link RECIPIENT} unless the parameters say otherwise. */
export function pay(name: string, parameters: object, more: object = {}): Node {
	const { resource = 'payment' } = parameters as { resource?: string };
	const recipient = resource === 'payment' ? RECIPIENT : {};
	const all = { resource, operation: 'create', ...recipient, ...parameters };
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
		// n8n closes an idle connection after five seconds, maybe just when it is used again.
		headers: { 'Content-Type': 'application/json', Connection: 'close' },
		body: JSON.stringify(body),
	});
}
