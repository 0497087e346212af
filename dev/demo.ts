import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Reference } from '../nodes/Pay/postback/proof';
import { Sandbox } from '../sandbox/service';
import { packPackage, type N8nVersion } from './install';
import { itemsOf, N8n, until, webhookPath, type Workflow } from './n8n';
import { chain, node, pay, payTrigger } from './workflow';

/** Reads a workflow of the examples folder. */
export function example(name: string): Workflow {
	return JSON.parse(readFileSync(join(__dirname, '..', 'examples', `${name}.json`), 'utf8'));
}

/** What the demo set up in an n8n. */
export interface Demo {
	chargeWorkflow: string;
	postbackWorkflow: string;
}

/** A QR code that a customer pays, then a payment. */
function chargeAndPay(): Workflow {
	const order = {
		mode: 'raw',
		jsonOutput:
			"={{ { orderId: 'order-' + $execution.id, total: 49.9, payoutId: 'payout-' + $execution.id, commission: 5 } }}",
		options: {},
	};
	return chain('Charge and pay', [
		node('Start', 'n8n-nodes-base.manualTrigger'),
		node('Order', 'n8n-nodes-base.set', order, { typeVersion: 3.4 }),
		pay('Create QR code', {
			resource: 'qrCode',
			amount: '={{ $json.total }}',
			external_id: '={{ $json.orderId }}',
			payerQuestion: '=Order {{ $json.orderId }}',
			payer: { name: 'Sample Payer' },
		}),
		pay('Create payment', {
			amount: "={{ $('Order').item.json.commission }}",
			external_id: "={{ $('Order').item.json.payoutId }}",
			creditParty: { key: 'partner@example.com', keyType: 'email' },
		}),
	]);
}

/** Starts when the sandbox reports what became of a charge or payment. */
function postbacks(): Workflow {
	return chain('Postbacks', [payTrigger(), node('What was reported', 'n8n-nodes-base.noOp')]);
}

/**
 * Imports the two workflows of the demo with a credential for the sandbox, and publishes the trigger.
 * @param more examples to put in place, unpublished
 */
export async function setUpDemo(n8n: N8n, sandbox: Sandbox, more: Workflow[] = []): Promise<Demo> {
	const credential = {
		baseUrl: sandbox.url,
		accessToken: randomBytes(16).toString('hex'),
		postbackSecret: randomBytes(24).toString('base64url'),
		postbackUrl: '',
	};
	const made = await n8n.createCredential(credential, 'payApi', 'Sandbox');
	const credentials = { payApi: made };
	const postbackWorkflow = await n8n.importWorkflow(postbacks(), credentials);
	const { nodes } = await n8n.workflow(postbackWorkflow);
	const path = nodes.map(webhookPath).find((found) => found !== undefined);
	// The trigger's address is known only now, and belongs in the credential.
	credential.postbackUrl = `${n8n.url}${path}`;
	await n8n.changeCredential(made, credential);
	await n8n.activate(postbackWorkflow);
	for (const workflow of more) await n8n.importWorkflow(workflow, credentials);
	// The newest stands first in the editor's list.
	const chargeWorkflow = await n8n.importWorkflow(chargeAndPay(), credentials);
	return { chargeWorkflow, postbackWorkflow };
}

/** Charges, pays and waits for both postbacks; gives a report in words, line by line. */
export async function runDemo(n8n: N8n, sandbox: Sandbox, demo: Demo): Promise<string[]> {
	const executionId = await n8n.run(demo.chargeWorkflow, 'Start');
	const execution = await n8n.finished(executionId);
	const { error } = execution.data.resultData;
	if (error) throw new Error(`The workflow failed: ${error.message} ${error.description ?? ''}`);
	const [charge] = itemsOf(execution, 'Create QR code');
	const [payment] = itemsOf(execution, 'Create payment');
	const report = [charge, payment].map(
		(item) =>
			`${String(item?.kind).padEnd(7)}  ${String(item?.external_id)}  ${Number(item?.amount).toFixed(2)}: ${String(item?.outcome)} (HTTP ${String(item?.statusCode)})`,
	);

	const waiting = sandbox.transactions.find((known) => known.external_id === charge?.external_id);
	if (waiting === undefined) throw new Error('The sandbox has no such charge');
	report.push(`sandbox: a customer pays the QR code of ${waiting.external_id}`);
	await sandbox.settle(waiting.id, 'paid');

	const reported = await until('two postbacks in the Pay Trigger', async () => {
		const ids = await n8n.executionIds(demo.postbackWorkflow);
		const all = await Promise.all(ids.map(async (id) => await n8n.finished(id)));
		const items = all.flatMap((one) => itemsOf(one, 'What was reported'));
		const expected = [charge?.external_id, payment?.external_id];
		const mine = items.filter(({ reference }) =>
			expected.includes((reference as Reference).external_id),
		);
		return mine.length >= 2 && mine;
	});
	for (const { reference, body } of reported) {
		const { kind, external_id } = reference as Reference;
		report.push(`postback: ${kind} ${external_id} ${JSON.stringify(body)}`);
	}
	return report;
}

/** The whole demo, on an n8n of its own; gives the report. */
export async function demo(version: N8nVersion): Promise<string[]> {
	const sandbox = await Sandbox.start({ settlePaymentsAfter: 500, amountsAct: true });
	let n8n: N8n | undefined;
	try {
		n8n = await N8n.start({ version, tarball: await packPackage() });
		return await runDemo(n8n, sandbox, await setUpDemo(n8n, sandbox));
	} finally {
		await n8n?.stop();
		await sandbox.close();
	}
}

async function main() {
	const report = await demo((process.env.N8N_TRY_VERSION ?? 'n8n2') as N8nVersion);
	console.log(report.join('\n'));
	console.log(
		'A real n8n created a QR code and made a payment at the sandbox, and took the postback of each.',
	);
}

if (require.main === module) {
	main().catch((error: unknown) => {
		console.error(error instanceof Error ? error.message : error);
		process.exitCode = 1;
	});
}
