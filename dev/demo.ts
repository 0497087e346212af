import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Sandbox } from '../sandbox/service';
import { packPackage, type N8nVersion } from './install';
import { itemsOf, N8n, OWNER, until, webhookPath, type Workflow } from './n8n';

/** Reads a workflow of the examples folder. */
export function example(name: string): Workflow {
	return JSON.parse(readFileSync(join(__dirname, '..', 'examples', `${name}.json`), 'utf8'));
}

/** What the demo set up in an n8n. */
export interface Demo {
	chargeWorkflow: string;
	postbackWorkflow: string;
}

/** Imports the two example workflows with a credential for the sandbox, and publishes the trigger. */
export async function setUpDemo(n8n: N8n, sandbox: Sandbox): Promise<Demo> {
	const credential = {
		baseUrl: sandbox.url,
		accessToken: randomBytes(16).toString('hex'),
		postbackSecret: randomBytes(24).toString('base64url'),
		postbackUrl: '',
	};
	const made = await n8n.createCredential(credential);
	const credentials = { payApi: made };
	const postbackWorkflow = await n8n.importWorkflow(example('postbacks'), credentials);
	const { nodes } = await n8n.workflow(postbackWorkflow);
	const path = nodes.map(webhookPath).find((found) => found !== undefined);
	// The trigger's address is known only now, and belongs in the credential.
	credential.postbackUrl = `${n8n.url}${path}`;
	await n8n.rest('PATCH', `/credentials/${made.id}`, {
		name: made.name,
		type: 'payApi',
		data: credential,
	});
	await n8n.activate(postbackWorkflow);
	const chargeWorkflow = await n8n.importWorkflow(example('charge-and-pay'), credentials);
	return { chargeWorkflow, postbackWorkflow };
}

/** Charges, pays and waits for both postbacks; gives a report in words, line by line. */
export async function runDemo(n8n: N8n, sandbox: Sandbox, demo: Demo): Promise<string[]> {
	const executionId = await n8n.run(demo.chargeWorkflow, 'Start');
	const execution = await n8n.finished(executionId);
	const { error } = execution.data.resultData;
	if (error) throw new Error(`The workflow failed: ${error.message} ${error.description ?? ''}`);
	const [charge] = itemsOf(execution, 'Create a QR code');
	const [payment] = itemsOf(execution, 'Make a payment');
	const report = [charge, payment].map(
		(item) =>
			`${String(item?.kind).padEnd(7)}  ${String(item?.external_id)}  ${String(item?.amount)}: ${String(item?.outcome)} (HTTP ${String(item?.statusCode)})`,
	);

	const waiting = sandbox.transactions.find((known) => known.external_id === charge?.external_id);
	if (waiting === undefined) throw new Error('The sandbox has no such charge');
	report.push(`sandbox: a customer pays the QR code of ${waiting.external_id}`);
	await sandbox.settle(waiting.id, 'paid');

	const reported = await until('two postbacks in the Pay Trigger', async () => {
		const ids = await n8n.executionIds(demo.postbackWorkflow);
		const all = await Promise.all(ids.map(async (id) => await n8n.finished(id)));
		const items = all.flatMap((one) => itemsOf(one, 'What was reported'));
		const mine = items.filter(({ external_id }) =>
			[charge?.external_id, payment?.external_id].includes(external_id),
		);
		return mine.length >= 2 && mine;
	});
	for (const { external_id, kind, reported: body } of reported) {
		report.push(`postback: ${String(kind)} ${String(external_id)} ${JSON.stringify(body)}`);
	}
	return report;
}

async function main() {
	const stay = process.argv.includes('--stay');
	let atWork = true;
	const asked = new Promise<void>((resolve) => {
		for (const signal of ['SIGINT', 'SIGTERM'] as const) {
			process.on(signal, () => {
				resolve();
				// Before everything stands there is nothing to close in good order.
				if (atWork) process.exit(130);
			});
		}
	});
	const version = (process.env.N8N_TRY_VERSION ?? 'n8n2') as N8nVersion;
	const port = process.env.N8N_TRY_PORT;
	const sandbox = await Sandbox.start({
		port: Number(process.env.SANDBOX_PORT ?? 0),
		settlePaymentsAfter: 500,
		amountsAct: true,
	});
	let n8n: N8n | undefined;
	try {
		const tarball = await packPackage();
		n8n = await N8n.start({ version, tarball, port: port ? Number(port) : undefined });
		const demo = await setUpDemo(n8n, sandbox);
		console.log((await runDemo(n8n, sandbox, demo)).join('\n'));
		if (!stay) return;
		console.log(`
n8n editor:  ${n8n.url}/workflow/${demo.chargeWorkflow}
  sign in:   ${OWNER.email} / ${OWNER.password}
sandbox:     ${sandbox.url}
Press Ctrl+C to end both.`);
		atWork = false;
		await asked;
	} finally {
		await n8n?.stop();
		await sandbox.close();
	}
}

if (require.main === module) {
	main().catch((error: unknown) => {
		console.error(error instanceof Error ? error.message : error);
		process.exitCode = 1;
	});
}
