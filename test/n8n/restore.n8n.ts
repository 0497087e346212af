import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { NODE_24 } from '../../dev/install';
import type { N8n } from '../../dev/n8n';
import { majorOf } from '../../dev/versions';
import { noOp, pay } from '../../dev/workflow';
import { Sandbox } from '../../sandbox/service';
import { allIn, sectionOf } from '../markdown';
import { ended, startWaiting, type Waiting } from './chargeAndWait';
import { deliver } from './deliveries';
import { credentialFor, startN8n, VERSIONS, type Credential } from './nodes';

/*
 * What docs/backups.md says under "Restore a backup", done as it stands there: a charge that waits must not
 * let the payment behind it be made again. Only cancelled in the database, n8n 1 resumed it.
 */
const PAGE = sectionOf('docs/backups.md', '## Restore a backup');
const [SQL = ''] = allIn(PAGE, /```sql\s+(.*?)\s+```/gs);
const COMMANDS = allIn(PAGE, /n8n (\w+:workflow [^`\n]*)/g);

/** The command of the page that begins so. */
const commandOf = (beginning: string) =>
	COMMANDS.find((command) => command.startsWith(beginning))!.split(' ');

describe.each(VERSIONS)('n8n %s on a restored database', (version) => {
	let n8n: N8n;
	let sandbox: Sandbox;
	let payApi: Credential;
	let waiting: Waiting;
	let published: string;
	let publishedAfterwards: string;

	/** A charge, its wait, and a payment behind it. */
	async function startWithPaymentBehind(): Promise<Waiting> {
		const external_id = '={{ "out-" + $json.external_id }}';
		const payment = pay('Out', { amount: 2, external_id, postback: 'none' });
		return await startWaiting(n8n, sandbox, payApi, { after: [payment, noOp('After')] });
	}

	beforeAll(async () => {
		sandbox = await Sandbox.start();
		n8n = await startN8n(version);
		payApi = await credentialFor(sandbox, n8n);
		waiting = await startWithPaymentBehind();
		const starting = await startWithPaymentBehind();
		await n8n.kill();
		published = await n8n.command(...commandOf('list:'));
		await n8n.command(...commandOf(majorOf(version) === 2 ? 'unpublish:' : 'update:'));
		publishedAfterwards = await n8n.command(...commandOf('list:'));
		const script = `
			const { DatabaseSync } = require('node:sqlite');
			new DatabaseSync(process.argv[1]).exec(process.argv[2]);`;
		const file = join(n8n.userFolder, '.n8n', 'database.sqlite');
		// n8n runs at its start what stands there as new.
		const asNew = `UPDATE execution_entity SET status = 'new', "waitTill" = NULL WHERE id = ${starting.executionId}`;
		for (const sql of [asNew, SQL])
			execFileSync(NODE_24, ['--no-warnings', '-e', script, file, sql]);
		await n8n.launch();
	});
	afterAll(async () => {
		await n8n?.stop();
		await sandbox?.close();
	});

	test('what was published is listed before, and nothing afterwards', () => {
		expect(published).toContain(`${waiting.workflowId}|`);
		expect(publishedAfterwards).not.toContain(`${waiting.workflowId}|`);
	});

	test('a postback to what waited gets 409; no payment behind it, or of what was to start, is made', async () => {
		expect(await deliver(waiting.url)).toBe(409);
		const other = await startWithPaymentBehind();
		expect(await deliver(other.url)).toBe(200);
		await ended(n8n, other.executionId);
		const paid = sandbox.bodies('payment').map(({ external_id }) => external_id);
		expect(paid).toStrictEqual([`out-${other.about.external_id}`]);
	});
});
