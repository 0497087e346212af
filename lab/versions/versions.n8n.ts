import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { installN8n } from '../../dev/install';
import { itemsOf, N8n, until, webhookPath, type Execution, type Workflow } from '../../dev/n8n';
import { NODES } from '../../dev/versions';
import { call, chain, noOp, node, pay, payTrigger, splitItems, start } from '../../dev/workflow';
import { signUrl } from '../../nodes/Pay/postback/proof';
import { Sandbox } from '../../sandbox/service';
import { deliver, deliverLate } from '../../test/n8n/deliveries';
import { startModel } from '../../test/n8n/model';
import { allFinished, publishTrigger, SECRET, startN8n, WITH_PAGES } from '../../test/n8n/nodes';
import { agent, chatModel, toAgent } from '../../test/n8n/otherNodes';
import { ended, startWaiting } from '../../test/n8n/chargeAndWait';
import { tell } from './facts';
import { tried } from './tried';

/*
 * The titles are the lines of the table in docs/versions.md, which a run over all versions writes.
 */

const AGENT = '@n8n/n8n-nodes-langchain.agent';

/** One of n8n's node or credential types, as the editor is told of them. */
interface Offered {
	name: string;
	version: number | number[];
	defaultVersion?: number;
}

describe.each(tried)('$number', ({ version, node: major }) => {
	// The first time, n8n is installed.
	jest.setTimeout(900_000);
	let n8n: N8n;
	let sandbox: Sandbox;
	let credential: Record<string, string>;
	let payApi: { id: string; name: string };

	beforeAll(async () => {
		const { folder } = await installN8n(version);
		const lock = readFileSync(join(folder, 'pnpm-lock.yaml'), 'utf8');
		tell(version, 'Node', NODES[major]);
		tell(version, 'Lockfile', createHash('sha256').update(lock).digest('hex').slice(0, 8));
		sandbox = await Sandbox.start();
		sandbox.faultFor = ({ body }) => {
			if (body.includes('"lost-')) return { kind: 'reset-after-body' };
			return body.includes('"refused-') ? { kind: 'status', status: 422 } : undefined;
		};
		n8n = await startN8n(version, { env: WITH_PAGES });
		credential = { baseUrl: sandbox.url, accessToken: 'token', postbackSecret: SECRET };
		payApi = await n8n.createCredential(credential);
	});
	afterAll(async () => {
		await n8n?.stop();
		await sandbox?.close();
	});

	const offered = async (what: 'nodes' | 'credentials') => {
		const answer = await fetch(`${n8n.url}/types/${what}.json`, {
			headers: { Cookie: n8n.session },
		});
		return (await answer.json()) as Offered[];
	};
	/** Publishes a workflow that begins with a webhook, and runs it with the items. */
	async function run(workflow: Workflow, ...items: object[]): Promise<Execution> {
		const id = await n8n.importWorkflow(workflow, { payApi });
		await n8n.activate(id);
		return await again(id, ...items);
	}
	async function again(id: string, ...items: object[]): Promise<Execution> {
		const before = (await n8n.executionIds(id)).length;
		const [first] = (await n8n.workflow(id)).nodes;
		const { path } = first!.parameters as { path: string };
		expect((await call(n8n, path, { items })).status).toBe(200);
		return (await allFinished(n8n, id, before + 1))[0]!;
	}
	const payment = {
		amount: 5,
		external_id: '={{ $json.id }}',
		postback: 'none',
		// A key that comes as a number brings a hint.
		creditParty: { key: '={{ 12345 }}' },
	};
	const arrived = (external_id: string) =>
		sandbox.bodies('payment').filter((body) => body.external_id === external_id).length;

	test('Loads: both nodes, the tool for agents, the credential', async () => {
		const nodes = (await offered('nodes')).map(({ name }) => name);
		const ours = nodes.filter((name) => name.startsWith('n8n-nodes-pay.'));
		expect(ours.sort()).toStrictEqual(
			['pay', 'payTool', 'payTrigger'].map((name) => `n8n-nodes-pay.${name}`),
		);
		expect((await offered('credentials')).map(({ name }) => name)).toContain('payApi');
	});

	test('The credential test passes, and says why it fails', async () => {
		const test = async (data: object) => {
			const body = { credentials: { ...payApi, type: 'payApi', data } };
			const { data: said } = await n8n.rest('POST', '/credentials/test', body);
			return said;
		};
		expect(await test(credential)).toMatchObject({ status: 'OK' });
		const refusing = { ...credential, baseUrl: `${sandbox.url}/fault/status-401` };
		expect(await test(refusing)).toMatchObject({
			status: 'Error',
			message: expect.stringMatching(/rejected the access token/),
		});
	});

	test('A QR code, with its image', async () => {
		const charge = { ...payment, resource: 'qrCode', qrCodeImage: true };
		const nodes = [start(), splitItems(), pay('Charge', charge)];
		const execution = await run(chain('Charge', nodes), { id: 'charge-1' });
		const [item] = execution.data.resultData.runData.Charge![0]!.data!.main![0]!;
		expect(item).toMatchObject({
			json: { outcome: 'accepted', external_id: 'charge-1', qrCode: expect.any(String) },
			binary: { data: { mimeType: 'image/png' } },
		});
	});

	test('A payment, and not a second time after a crash and restart', async () => {
		const workflow = chain('Pay', [start(), splitItems(), pay('Pay', payment)]);
		const id = await n8n.importWorkflow(workflow, { payApi });
		await n8n.activate(id);
		const first = await again(id, { id: 'once' });
		expect(itemsOf(first, 'Pay')).toStrictEqual([expect.objectContaining({ outcome: 'accepted' })]);
		// The hint that the agent's payment brings too.
		expect(first.data.resultData.runData.Pay![0]!.hints).toHaveLength(1);
		await n8n.kill();
		await n8n.launch();
		await n8n.answering(id);
		const second = await again(id, { id: 'once' });
		expect(second.data.resultData.error?.message).toMatch(/was not sent again/);
		expect(arrived('once')).toBe(1);
	});

	test('Retry On Fail does not pay again after a lost answer', async () => {
		const retry = { retryOnFail: true, maxTries: 3 };
		const retrying = () => chain('Retry', [start(), splitItems(), pay('Pay', payment, retry)]);
		const lost = await run(retrying(), { id: 'lost-1' });
		expect(lost.data.resultData.error?.message).toMatch(/not known whether/);
		expect(arrived('lost-1')).toBe(1);
		const refused = await run(retrying(), { id: 'refused-1' });
		expect(refused.status).toBe('error');
		expect(arrived('refused-1')).toBe(3);
	});

	test('Failed payments go to the error output, the others on', async () => {
		const nodes = [
			start(),
			splitItems(),
			pay('Pay', payment, { onError: 'continueErrorOutput' }),
			noOp('Good'),
			noOp('Bad'),
		];
		const to = (name: string) => [{ node: name, type: 'main', index: 0 }];
		const workflow = chain('Outputs', nodes, { Pay: { main: [to('Good'), to('Bad')] }, Good: {} });
		const ids = ['good-1', 'refused-2', 'lost-2', 'good-2'];
		const execution = await run(workflow, ...ids.map((id) => ({ id })));
		expect(itemsOf(execution, 'Good').map(({ external_id }) => external_id)).toStrictEqual([
			'good-1',
			'good-2',
		]);
		expect(
			itemsOf(execution, 'Bad').map(({ error }) => (error as { outcome: string }).outcome),
		).toStrictEqual(['rejected', 'unknown']);
		expect(ids.map(arrived)).toStrictEqual([1, 1, 1, 1]);
	});

	test('A published trigger refuses an unsigned postback and takes a signed one', async () => {
		const { id, url } = await publishTrigger(n8n, payApi);
		const reference = { external_id: 'order-1', kind: 'payment' as const, amount: 5 };
		expect(await deliver(url)).toBe(401);
		expect(await deliver(signUrl(url, reference, SECRET))).toBe(200);
		const [execution] = await allFinished(n8n, id, 1);
		expect(itemsOf(execution!, 'Pay Trigger')).toStrictEqual([
			expect.objectContaining({ reference, body: { data: { status: 'paid' } } }),
		]);
	});

	test('A trigger without a Postback Secret takes nothing', async () => {
		const open = await n8n.createCredential({ ...credential, postbackSecret: '' });
		const trigger = payTrigger();
		const id = await n8n.importWorkflow(chain('Open', [trigger]), { payApi: open });
		const publishing = n8n.publish(id).then(() => 'answered 200, then an error', String);
		const said = await publishing;
		if (said.startsWith('Error'))
			expect(said).toMatch(/enter 30 random characters as Postback Secret/);
		await until('the reason in the log', async () =>
			n8n.log.includes('enter 30 random characters as Postback Secret'),
		);
		const url = n8n.url + webhookPath(trigger);
		await until('the webhook to be gone', async () => (await deliver(url)) === 404);
		tell(version, 'Publishing such a trigger is', said.startsWith('Error') ? 'refused' : said);
	});

	test('An execution waits, refuses an unsigned postback, goes on with a signed one', async () => {
		const waiting = await startWaiting(n8n, sandbox, payApi);
		const { bare, url, executionId, about } = waiting;
		expect(await deliver(bare)).toBe(401);
		expect((await n8n.execution(executionId)).status).toBe('waiting');
		const late = deliverLate(url, 1_000);
		expect(await deliver(url)).toBe(200);
		expect(await late).toBe(409);
		expect(itemsOf(await ended(n8n, executionId), 'After')).toStrictEqual([
			expect.objectContaining({
				external_id: about.external_id,
				postback: expect.objectContaining({ reference: about }),
			}),
		]);
		const token = new URL(url).searchParams.has('signature');
		tell(version, "n8n's own token in resume URLs", token ? 'yes' : 'no');
	});

	test("An AI agent's payment that brings a hint: one request, and it hears accepted", async () => {
		const agents = (await offered('nodes')).filter(({ name }) => name === AGENT);
		// What the editor takes when one is added.
		const typeVersion = Math.max(
			...agents.flatMap(({ version: all, defaultVersion }) => defaultVersion ?? all),
		);
		const external_id = randomUUID();
		const model = await startModel(/./, { amount: 5 }, 2);
		const tool = node('Tool', 'n8n-nodes-pay.payTool', {
			...payment,
			operation: 'create',
			resource: 'payment',
			amount: "={{ $fromAI('amount', 'how much', 'number') }}",
			external_id,
			options: { allowAiPayments: true },
		});
		const workflow = chain('Agent', [start(), agent('Do it', typeVersion)], {
			Model: toAgent('ai_languageModel'),
			Tool: toAgent('ai_tool'),
		});
		workflow.nodes.push(await chatModel(n8n, model.url), tool);
		const execution = await run(workflow, {});
		model.close();
		expect(execution.data.resultData.error).toBeUndefined();
		expect(model.heard.join()).toMatch(/"outcome":"accepted"/);
		// Asked twice by the model: an error that it heard would have it try again.
		expect(arrived(external_id)).toBe(1);
		tell(version, 'Version of the agent', String(typeVersion));
	});
});
