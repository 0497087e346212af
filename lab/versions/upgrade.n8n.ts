import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../dev/children';
import { itemsOf, webhookPath, type Execution, type N8n } from '../../dev/n8n';
import { Registry } from './registry';
import { isPinned } from '../../dev/versions';
import { call, chain, node, payTrigger, splitItems, start } from '../../dev/workflow';
import { Sandbox } from '../../sandbox/service';
import { deliver } from '../../test/n8n/deliveries';
import { allFinished, outcomesOf, SECRET, startN8n } from '../../test/n8n/nodes';
import { ended, startWaiting } from '../../test/n8n/chargeAndWait';
import { tried } from './tried';
import { unpack } from './unpack';

/*
 * The package is upgraded on the page Community nodes of an n8n that runs: from the releases' last tarball in
 * test/stored to this code; from this code, until there is a release. It prints a table.
 */
const STORED = join(__dirname, '..', '..', 'test', 'stored');
const [last] = readdirSync(STORED)
	.filter((file) => file.endsWith('.tgz'))
	.sort((one, other) => one.localeCompare(other, 'en', { numeric: true }))
	.slice(-1);
const LAST = last === undefined ? process.env.PAY_TARBALL! : join(STORED, last);
const NAME = 'n8n-nodes-pay';

describe.each(tried.filter(({ version }) => isPinned(version)))('$number', ({ version }) => {
	jest.setTimeout(900_000);
	let registry: Registry;
	let sandbox: Sandbox;
	let n8n: N8n;
	let payApi: { id: string; name: string };
	const folders: string[] = [];
	const rows: Array<[what: string, before: unknown, after: unknown]> = [];

	beforeAll(async () => {
		registry = await Registry.start();
		sandbox = await Sandbox.start();
		const userFolder = temporaryFolder('upgrade');
		for (const place of [userFolder, join(userFolder, '.n8n', 'nodes')]) {
			mkdirSync(place, { recursive: true });
			writeFileSync(join(place, '.npmrc'), registry.npmrc);
		}
		const [last, next] = [unpack(LAST, '0.1.0'), unpack(process.env.PAY_TARBALL!, '0.1.1')];
		folders.push(userFolder, last, next);
		n8n = await startN8n(version, { userFolder, tarball: undefined, env: registry.env });
		await registry.publish(last);
		await n8n.rest('POST', '/community-packages', { name: NAME });
	});
	afterAll(async () => {
		await n8n?.stop();
		await registry?.close();
		await sandbox?.close();
		for (const folder of folders) rmSync(folder, { recursive: true, force: true });
	});

	const credentialOf = (postbackUrl = '') => ({
		baseUrl: sandbox.url,
		accessToken: 'token',
		postbackSecret: SECRET,
		postbackUrl,
	});
	const bodiesOf = (id: string) =>
		[...sandbox.bodies('payment'), ...sandbox.bodies('qrcode')].filter(
			(body) => body.external_id === id,
		);

	/** Publishes Start -> Items -> Pay; gives what runs it with some ids. */
	async function published(parameters: object, settings: object = {}) {
		const first = start();
		// As it is stored: n8n leaves out what has its default.
		const type = 'n8n-nodes-pay.pay';
		const own = { amount: 5, external_id: '={{ $json.id }}', ...parameters };
		const nodes = [first, splitItems(), node('Pay', type, own, settings)];
		const id = await n8n.importWorkflow(chain('Pay', nodes), { payApi });
		await n8n.activate(id);
		const run = async (...ids: string[]): Promise<Execution> => {
			const before = (await n8n.executionIds(id)).length;
			const items = ids.map((each) => ({ id: each }));
			expect((await call(n8n, first.webhookId, { items })).status).toBe(200);
			return (await allFinished(n8n, id, before + 1))[0]!;
		};
		return { id, run };
	}

	test('Upgraded in place: nothing is paid twice, and what waits goes on', async () => {
		payApi = await n8n.createCredential(credentialOf());
		const trigger = payTrigger();
		const triggered = await n8n.importWorkflow(chain('Trigger', [trigger]), { payApi });
		await n8n.activate(triggered);
		await n8n.changeCredential(payApi, credentialOf(n8n.url + webhookPath(trigger)));

		let spoil = true;
		sandbox.faultFor = ({ body }) => {
			if (!spoil) return undefined;
			if (body.includes('"lost"')) return { kind: 'reset-after-body' };
			return body.includes('"refused"') ? { kind: 'status', status: 422 } : undefined;
		};
		const payment = { resource: 'payment', creditParty: { key: 'k' } };
		const paying = await published(payment, { onError: 'continueRegularOutput' });
		const paid = await paying.run('paid', 'lost');
		expect(outcomesOf(paid)).toStrictEqual(['accepted', 'unknown']);
		const stopping = await published({ ...payment, postback: 'none' });
		const failed = await stopping.run('first', 'refused');
		expect(failed.status).toBe('error');
		const charging = await published({
			specifySplit: 'fields',
			split: { recipient: [{ username: 'shop', percentageSplit: '12.5' }] },
			qrCodeImage: true,
		});
		const charge = await charging.run('charge-1');
		const waiting = await startWaiting(n8n, sandbox, payApi);
		const { postbackUrl, ...chargeBody } = bodiesOf('charge-1')[0]!;

		const next = folders[2]!;
		await registry.publish(next);
		await n8n.rest('PATCH', '/community-packages', { name: NAME });
		const { data: listed } = await n8n.rest<{ data: Array<{ installedVersion: string }> }>(
			'GET',
			'/community-packages',
		);
		expect(listed.map(({ installedVersion }) => installedVersion)).toStrictEqual(['0.1.1']);
		spoil = false;

		const again = await paying.run('paid', 'lost', 'new');
		rows.push(['A payment that was accepted', 'accepted', outcomesOf(again)[0]]);
		rows.push(['A payment that was unknown', 'unknown', outcomesOf(again)[1]]);
		rows.push(['A new payment', '', outcomesOf(again)[2]]);

		await n8n.rest('POST', `/executions/${failed.id}/retry`, { loadWorkflow: true });
		const [retried] = await allFinished(n8n, stopping.id, 2);
		const counts = () => ['first', 'refused'].map((id) => bodiesOf(id).length).join(' and ');
		rows.push(['Retry: an accepted and a refused one', 'error', outcomesOf(retried!).join(', ')]);
		rows.push(['… requests for each', '1 and 1', counts()]);

		const { postbackUrl: _, ...after } = await charging
			.run('charge-2')
			.then(() => bodiesOf('charge-2')[0]!);
		rows.push([
			'A stored workflow with split: its body',
			JSON.stringify(chargeBody),
			JSON.stringify(after),
		]);
		const imageOf = (execution: Execution) => {
			const [item] = execution.data.resultData.runData.Pay![0]!.data!.main![0]!;
			return Object.keys((item as { binary?: object }).binary ?? {}).join();
		};
		const second = (await allFinished(n8n, charging.id, 2))[0]!;
		rows.push(['… its image', imageOf(charge), imageOf(second)]);

		rows.push(['The waiting execution, unsigned', '', await deliver(waiting.bare)]);
		const resumed = await deliver(waiting.url);
		rows.push(['The waiting execution, its old URL', 'waits', resumed]);
		const items = resumed === 200 && itemsOf(await ended(n8n, waiting.executionId), 'After');
		rows.push(['… goes on with', '', items ? items.length : 'nothing']);

		const old = String(postbackUrl);
		await n8n.answering(triggered);
		rows.push(['The trigger, unsigned', '', await deliver(old.split('?')[0]!)]);
		rows.push(['The trigger, an old URL', '', await deliver(old)]);
		const xml = {
			headers: { 'Content-Type': 'application/xml' },
			body: '<a><status>paid</status></a>',
		};
		rows.push(['The trigger, an old URL with XML', '', await deliver(old, xml)]);
		const taken = rows.slice(-2).filter(([, , status]) => status === 200).length;
		const started = await allFinished(n8n, triggered, taken);
		const bodies = started.map((execution) => itemsOf(execution, 'Pay Trigger')[0]!);
		rows.push(['… charges that they name', 'charge-1', namesOf(bodies)]);

		console.log(
			[`n8n ${version}`, ...rows.map((row) => `| ${row.map(String).join(' | ')} |`)].join('\n'),
		);
		expect(rows.map(([what, , found]) => [what, found])).toStrictEqual([
			['A payment that was accepted', 'duplicate'],
			['A payment that was unknown', 'duplicate'],
			['A new payment', 'accepted'],
			['Retry: an accepted and a refused one', 'accepted, accepted'],
			['… requests for each', '1 and 2'],
			[
				'A stored workflow with split: its body',
				JSON.stringify({ ...chargeBody, external_id: 'charge-2' }),
			],
			['… its image', 'data'],
			['The waiting execution, unsigned', 401],
			['The waiting execution, its old URL', 200],
			['… goes on with', 1],
			['The trigger, unsigned', 401],
			['The trigger, an old URL', 200],
			['The trigger, an old URL with XML', 200],
			['… charges that they name', 'charge-1, charge-1'],
		]);
		expect(chargeBody).toHaveProperty('split');
		expect(['paid', 'lost'].map((id) => bodiesOf(id).length)).toStrictEqual([1, 1]);
	});
});

const namesOf = (items: Array<Record<string, unknown>>) =>
	items.map(({ reference }) => (reference as { external_id: string }).external_id).join(', ');
