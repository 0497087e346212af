import { rmSync } from 'node:fs';
import { temporaryFolder } from '../../dev/children';
import { freePort, itemsOf, webhookPath, type N8n } from '../../dev/n8n';
import { MATRIX, type NpmVersion } from '../../dev/versions';
import { call, chain, payTrigger } from '../../dev/workflow';
import { Sandbox } from '../../sandbox/service';
import { ended, startWaiting } from '../../test/n8n/chargeAndWait';
import { deliver } from '../../test/n8n/deliveries';
import { allFinished, outcomesOf, payEach, publish, SECRET, startN8n } from '../../test/n8n/nodes';
import { tried } from './tried';

/*
 * n8n itself is updated, with its database and its folder `nodes`: from the version before it in the
 * matrix. The package stays as it is.
 */
const versionBefore = (version: NpmVersion): NpmVersion | undefined =>
	MATRIX[MATRIX.findIndex((row) => row.version === version) - 1]?.version;

describe.each(tried.filter(({ version }) => versionBefore(version) !== undefined))(
	'$number',
	({ version }) => {
		// The first time, both are installed.
		jest.setTimeout(1_800_000);
		let n8n: N8n | undefined;
		let sandbox: Sandbox;
		let userFolder: string;

		beforeAll(async () => {
			sandbox = await Sandbox.start();
			userFolder = temporaryFolder('update');
		});
		afterAll(async () => {
			await n8n?.stop();
			await sandbox?.close();
			rmSync(userFolder, { recursive: true, force: true });
		});

		test('n8n updated from the version on its left: nothing is paid twice, and what waits goes on', async () => {
			const port = await freePort();
			const before = await startN8n(versionBefore(version)!, { userFolder, port });
			n8n = before;
			const trigger = payTrigger();
			const payApi = await before.createCredential({
				baseUrl: sandbox.url,
				accessToken: 'token',
				postbackSecret: SECRET,
				postbackUrl: before.url + webhookPath(trigger),
			});
			const triggered = await before.importWorkflow(chain('Trigger', [trigger]), { payApi });
			await before.activate(triggered);
			const workflow = payEach({}, { onError: 'continueRegularOutput' });
			const payments = await publish(before, workflow, payApi);
			await payments.run({ id: 'paid' });
			const waiting = await startWaiting(before, sandbox, payApi);
			const paymentUrl = String(sandbox.bodies('payment')[0]!.postbackUrl);
			await before.stop();

			n8n = await startN8n(version, { userFolder, port, tarball: undefined });
			await n8n.answering(triggered);
			await n8n.answering(payments.id);
			await call(n8n, payments.path, { items: [{ id: 'paid' }, { id: 'new' }] });
			const [again] = await allFinished(n8n, payments.id, 2);
			expect(outcomesOf(again!)).toStrictEqual(['duplicate', 'accepted']);
			const arrived = sandbox.bodies('payment').map(({ external_id }) => external_id);
			expect(arrived).toStrictEqual(['paid', 'new']);

			expect(await deliver(waiting.bare)).toBe(401);
			expect(await deliver(waiting.url)).toBe(200);
			const execution = await ended(n8n, waiting.executionId);
			expect(itemsOf(execution, 'After')).toHaveLength(1);

			expect(await deliver(paymentUrl.split('?')[0]!)).toBe(401);
			expect(await deliver(paymentUrl)).toBe(200);
			const [started] = await allFinished(n8n, triggered, 1);
			expect(itemsOf(started!, 'Pay Trigger')).toHaveLength(1);
		});
	},
);
