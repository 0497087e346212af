import { Sandbox } from './service';

async function main() {
	const port = Number(process.env.SANDBOX_PORT ?? 8787);
	const sandbox = await Sandbox.start({ port, settlePaymentsAfter: 1000 });
	console.log(`Sandbox service: ${sandbox.url} (any access token; its answers are illustrations)`);
	console.log(`Faults: use a base URL such as ${sandbox.url}/fault/status-500`);
}

void main();
