import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { example } from '../../dev/demo';
import { itemsOf, until, type N8n } from '../../dev/n8n';
import { Sandbox } from '../../sandbox/service';
import { startN8n, VERSIONS } from './nodes';

const NAMES = readdirSync(join(__dirname, '..', '..', 'examples'))
	.filter((file) => file.endsWith('.json'))
	.map((file) => file.replace('.json', ''));

test.each(NAMES)('%s is complete: a note, no credentials, no pinned data', (name) => {
	const { nodes, ...rest } = example(name);
	expect(nodes.some(({ type }) => type === 'n8n-nodes-base.stickyNote')).toBe(true);
	expect(JSON.stringify([nodes, rest])).not.toMatch(/"credentials"|pinData/);
});

// charge-and-pay and postbacks run in the demo, checkout and the table in the postback tests.
describe.each(VERSIONS)('n8n %s', (version) => {
	let n8n: N8n;
	let sandbox: Sandbox;
	let credentials: Record<string, { id: string; name: string }>;
	beforeAll(async () => {
		sandbox = await Sandbox.start();
		n8n = await startN8n(version);
		credentials = {
			payApi: await n8n.createCredential({ baseUrl: sandbox.url, accessToken: 'token' }),
		};
	});
	afterAll(async () => {
		await n8n?.stop();
		await sandbox?.close();
	});
	beforeEach(() => {
		sandbox.received.length = 0;
	});

	test.each(NAMES)('%s is imported with nodes that this n8n knows', async (name) => {
		const id = await n8n.importWorkflow(example(name), credentials);
		expect((await n8n.workflow(id)).nodes).toHaveLength(example(name).nodes.length);
	});

	test('payouts: what can be paid is paid, the rest is in the report', async () => {
		const id = await n8n.importWorkflow(example('payouts'), credentials);
		const executionId = await n8n.run(id, 'Start');
		const execution = await n8n.finished(executionId);
		expect(execution.status).toBe('success');
		expect(sandbox.bodies('payment').map(({ external_id }) => external_id)).toEqual([
			`payout-a-${executionId}`,
			`payout-c-${executionId}`,
		]);
		const lines = [0, 1]
			.flatMap((run) => itemsOf(execution, 'Report', run))
			.flatMap(({ line }) => line as string[]);
		expect(lines.sort()).toEqual([
			`payout-a-${executionId}: accepted`,
			expect.stringMatching(/^payout-b-\d+: notSent\. amount .*"12,00"/),
			`payout-c-${executionId}: accepted`,
		]);
	});

	test('approval: nothing is paid before the link is opened', async () => {
		const id = await n8n.importWorkflow(example('approval'), credentials);
		const executionId = await n8n.run(id, 'Start');
		await until('the wait', async () => (await n8n.execution(executionId)).status === 'waiting');
		expect(sandbox.bodies('payment')).toEqual([]);
		const [payout] = itemsOf(await n8n.execution(executionId), 'Ask for approval');
		await fetch(payout?.approve as string);
		await until('the end', async () => (await n8n.execution(executionId)).status === 'success');
		expect(sandbox.bodies('payment')).toMatchObject([
			{ amount: 250, external_id: `approved-${executionId}` },
		]);
	});
});
