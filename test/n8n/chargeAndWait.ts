import { randomUUID } from 'node:crypto';
import { until, type N8n, type Workflow } from '../../dev/n8n';
import { call, chain, node, noOp, pay, splitItems, start, type Node } from '../../dev/workflow';
import type { Reference } from '../../nodes/Pay/postback/proof';
import type { Sandbox } from '../../sandbox/service';

/** An execution that waits for the postback of its charge. */
export interface Waiting {
	workflowId: string;
	executionId: string;
	about: Reference;
	/** The signed URL that the service was given. */
	url: string;
	/** The same without its proof, n8n's own token included. */
	bare: string;
	/** What whoever filled in the form was shown. */
	page: string;
}

export interface WaitingOptions {
	/** Parameters of the wait. */
	wait?: object;
	/** Settings of the wait: onError … */
	settings?: object;
	/** Parameters of the charge. */
	charge?: object;
	/** Nodes between the charge and the wait. */
	before?: Node[];
	/** Nodes behind the wait. */
	after?: Node[];
	/** Whether a form begins it, in place of a webhook. */
	form?: boolean;
}

/** Charge (QR code of 1 for each item's `id`) and the wait for its postback. */
export function chargeAndWait(wait?: object, settings?: object, more?: object): [Node, Node] {
	const charge = pay('Charge', {
		resource: 'qrCode',
		amount: 1,
		external_id: '={{ $json.id }}',
		postback: 'resume',
		...more,
	});
	const waitNode = pay(
		'Wait',
		{
			resource: 'postback',
			operation: 'wait',
			external_id: '={{ $json.external_id }}',
			resumeWhen: 'any',
			...wait,
		},
		settings,
	);
	return [charge, waitNode];
}

/** Behind a wait: a payment whose identifier changes with each run, another charge, and its wait. */
export function payoutAndSecondWait(): Node[] {
	const payout = pay('Payout', {
		amount: 5,
		external_id: '={{ "out-" + $json.external_id + "-" + $now.toMillis() }}',
		postback: 'none',
	});
	const external_id = '={{ $("Charge").item.json.external_id }}-2';
	const [charge, wait] = chargeAndWait({}, {}, { external_id });
	return [payout, { ...charge, name: 'Charge 2' }, { ...wait, name: 'Wait 2' }, noOp('After')];
}

/** The payments that were made behind a wait by {@link payoutAndSecondWait}. */
export const payoutsBehind = (sandbox: Sandbox, { about }: Waiting) =>
	sandbox
		.bodies('payment')
		.filter(({ external_id }) => String(external_id).startsWith(`out-${about.external_id}-`));

/** A form whose one field is the `id` of its item. */
const formOfId = (path: string) =>
	node(
		'Form',
		'n8n-nodes-base.formTrigger',
		{
			formTitle: 'Order',
			formFields: { values: [{ fieldLabel: 'id' }] },
			responseMode: 'lastNode',
			options: {},
		},
		{ typeVersion: 2.2, webhookId: path },
	);

/** Fills in the form; gives what it shows then. */
async function fillIn(n8n: N8n, path: string, id: string): Promise<string> {
	return await until('the form', async () => {
		const body = new FormData();
		body.append('field-0', id);
		const page = await fetch(`${n8n.url}/form/${path}`, { method: 'POST', body });
		return page.ok && (await page.text());
	});
}

/** Start -> Charge (QR code of 1, Resume This Execution) -> Wait -> After. */
export async function startWaiting(
	n8n: N8n,
	sandbox: Sandbox,
	payApi: { id: string; name: string },
	{ wait, settings, charge: more, before = [], after = [noOp('After')], form }: WaitingOptions = {},
): Promise<Waiting> {
	const { external_id = randomUUID() } = (more ?? {}) as { external_id?: string };
	const first = start();
	const entry = form ? [formOfId(first.webhookId)] : [first, splitItems()];
	const [charge, waitNode] = chargeAndWait(wait, settings, more);
	const nodes = [...entry, charge, ...before, waitNode, ...after];
	const workflowId = await n8n.importWorkflow(chain('Waiting', nodes), { payApi });
	await n8n.activate(workflowId);
	let page = '';
	if (form) page = await fillIn(n8n, first.webhookId, external_id);
	else await call(n8n, first.webhookId, { items: [{ id: external_id }] });
	const executionId = await firstExecution(n8n, workflowId);
	await waits(n8n, executionId);
	const url = sandbox.bodies('qrcode').findLast((body) => body.external_id === external_id)
		?.postbackUrl as string;
	const [bare = ''] = url.split(/[?&]pay_proof=/);
	const about = { external_id, kind: 'qrCode', amount: 1 };
	return { workflowId, executionId, about, url, bare, page };
}

/** The first execution of a workflow, once there is one. */
export async function firstExecution(n8n: N8n, workflowId: string): Promise<string> {
	return await until('the execution', async () => (await n8n.executionIds(workflowId)).at(-1));
}

/** Publishes and calls a workflow that begins with a webhook; gives it, and its first execution. */
export async function begin(
	n8n: N8n,
	workflow: Workflow,
	payApi: { id: string; name: string },
	body: unknown,
) {
	const id = await n8n.importWorkflow(workflow, { payApi });
	await n8n.activate(id);
	await call(n8n, String(workflow.nodes[0]!.webhookId), body);
	return { id, executionId: await firstExecution(n8n, id) };
}

/** Until an execution waits. */
export async function waits(n8n: N8n, executionId: string): Promise<void> {
	await until(`execution ${executionId} to wait`, async () => {
		const { status, data } = await n8n.execution(executionId);
		// n8n 1 writes the status first and the data after it: killed in between, it never goes on.
		return status === 'waiting' && Object.keys(data.resultData.runData).length > 0;
	});
}

/** The execution once its last node has run: n8n 1 writes the status first and the data after it. */
export async function ended(n8n: N8n, executionId: string, lastNode = 'After', seconds = 60) {
	return await until(
		`the end of execution ${executionId}`,
		async () => {
			const now = await n8n.execution(executionId);
			return now.status === 'success' && lastNode in now.data.resultData.runData && now;
		},
		seconds,
	);
}
