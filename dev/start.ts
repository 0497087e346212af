import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Sandbox } from '../sandbox/service';
import { example, runDemo, setUpDemo, type Demo } from './demo';
import { exampleNames } from './examples';
import { discard, packPackage, type N8nVersion } from './install';
import { freePort, N8n, OWNER, type Workflow } from './n8n';

/*
 * `npm start`: an n8n with the package and every example, and the sandbox, open until Ctrl+C. What
 * is done there is kept for the next start, unless it is `npm start -- --fresh`.
 */
const ROOT = join(__dirname, '..');
const { N8N_TRY_VERSION, N8N_TRY_PORT, N8N_TRY_FOLDER, SANDBOX_PORT } = process.env;

/** What has to stay the same for addresses to stay true. */
interface Kept extends Demo {
	port: number;
	sandboxPort: number;
}

/** Who may use the pages of the examples; it guards nothing but throw-away data. */
const APPROVER = { user: 'approver', password: OWNER.password };

/** An example whose page asks for a password, with that credential. */
function withApprover(workflow: Workflow, httpBasicAuth: { id: string; name: string }): Workflow {
	const nodes = workflow.nodes.map((node) => {
		const { incomingAuthentication, authentication } = (node.parameters ?? {}) as Record<
			string,
			unknown
		>;
		return [incomingAuthentication, authentication].includes('basicAuth')
			? { ...node, credentials: { httpBasicAuth } }
			: node;
	});
	return { ...workflow, nodes };
}

/** The port that people know, if it is free, else another. */
async function portLike(wanted: string | undefined, known: number): Promise<number> {
	if (wanted !== undefined) return Number(wanted);
	return await fetch(`http://127.0.0.1:${known}`).then(freePort, () => known);
}

async function main() {
	const asked = new Promise<void>((resolve) => {
		for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
			process.on(signal, () => {
				resolve();
				// Before everything stands there is nothing to close in good order.
				if (atWork) process.exit(130);
			});
		}
	});
	let atWork = true;
	const version = (N8N_TRY_VERSION ?? 'n8n2') as N8nVersion;
	const folder = N8N_TRY_FOLDER ?? join(ROOT, '.cache', `start-${version}`);
	const file = join(folder, 'start.json');
	// Without the file an earlier first start did not come to its end.
	if (process.argv.includes('--fresh') || !existsSync(file)) discard(folder);
	let kept: Kept | undefined;
	if (existsSync(file)) kept = JSON.parse(readFileSync(file, 'utf8')) as Kept;
	mkdirSync(folder, { recursive: true });

	const port = kept?.port ?? (await portLike(N8N_TRY_PORT, 5678));
	const sandboxPort = kept?.sandboxPort ?? (await portLike(SANDBOX_PORT, 8787));
	const sandbox = await Sandbox.start({
		port: sandboxPort,
		settlePaymentsAfter: 500,
		amountsAct: true,
	});
	let n8n: N8n | undefined;
	try {
		n8n = await N8n.start({
			version,
			tarball: await packPackage(),
			port,
			userFolder: folder,
		});
		if (kept === undefined) {
			const approver = await n8n.createCredential(APPROVER, 'httpBasicAuth', 'Approver');
			const demo = await setUpDemo(
				n8n,
				sandbox,
				exampleNames().map((name) => withApprover(example(name), approver)),
			);
			console.log((await runDemo(n8n, sandbox, demo)).join('\n'));
			kept = { ...demo, port, sandboxPort };
			writeFileSync(file, JSON.stringify(kept), { mode: 0o600 });
		}
		console.log(`
n8n editor:  ${n8n.url}/workflow/${kept.chargeWorkflow}
  sign in:   ${OWNER.email} / ${OWNER.password}
sandbox:     ${sandbox.url}

Try this:
  1. In the editor, "Execute workflow": it creates a QR code and makes a payment.
  2. In the sandbox, "Customer pays" beside the new charge: a postback goes out.
  3. In the editor, the executions of ${n8n.url}/workflow/${kept.postbackWorkflow}: it has arrived.
  4. The examples are at ${n8n.url}/home/workflows, each with the credential "Sandbox"
     (the pages of approval and payouts ask for ${APPROVER.user} / ${APPROVER.password}).

Kept for the next start; "npm start -- --fresh" begins anew. Press Ctrl+C to end both.`);
		atWork = false;
		await asked;
	} finally {
		await n8n?.stop();
		await sandbox.close();
	}
}

main().catch((error: unknown) => {
	console.error(error instanceof Error ? error.message : error);
	process.exitCode = 1;
});
