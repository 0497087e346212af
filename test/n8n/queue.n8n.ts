import { randomUUID } from 'node:crypto';
import { signUrl } from '../../nodes/Pay/postback/proof';
import { itemsOf, until, webhookPath, type N8n, type Workflow } from '../../dev/n8n';
import { QueueMode } from '../../dev/queue';
import { Sandbox } from '../../sandbox/service';
import { call, chain, noOp, pay, payTrigger, splitItems, start } from '../../dev/workflow';
import { allFinished, VERSIONS } from './nodes';

const SECRET = 'the postback secret of the test';

describe.each(VERSIONS)('n8n %s in queue mode', (version) => {
	let queue: QueueMode;
	let main: N8n;
	let sandbox: Sandbox;
	let payApi: { id: string; name: string };

	beforeAll(async () => {
		sandbox = await Sandbox.start();
		queue = await QueueMode.start({
			version,
			tarball: process.env.PAY_TARBALL,
			env: {
				// A worker that is gone is missed within seconds instead of a minute.
				QUEUE_WORKER_LOCK_DURATION: '5000',
				QUEUE_WORKER_LOCK_RENEW_TIME: '2000',
				QUEUE_WORKER_STALLED_INTERVAL: '3000',
				N8N_LOG_LEVEL: 'debug',
			},
		});
		main = queue.main;
		payApi = await main.createCredential({
			baseUrl: sandbox.url,
			accessToken: 'token',
			postbackSecret: SECRET,
		});
	});
	afterAll(async () => {
		await queue?.stop();
		await sandbox?.close();
	});
	beforeEach(() => {
		sandbox.faultFor = undefined;
	});

	const ids = (count: number): string[] => Array.from({ length: count }, () => randomUUID());
	const FROM_ITEM = { amount: 1, external_id: '={{ $json.id }}' };
	const arrivals = (external_id: string) =>
		sandbox.received.filter(({ body }) => body.includes(`"${external_id}"`)).length;

	async function publish(workflow: Workflow) {
		const id = await main.importWorkflow(workflow, { payApi });
		await main.activate(id);
		return id;
	}

	/** Publishes Start -> Items -> Pay; gives what calls it through the webhook process. */
	async function payList(parameters: object, settings: object = {}) {
		const first = start();
		const nodes = [first, splitItems(), pay('Pay', { ...FROM_ITEM, ...parameters }, settings)];
		const id = await publish(chain('Pay a list', nodes));
		const send = async (list: string[]) => {
			const items = list.map((one) => ({ id: one }));
			const answer = await call(queue.webhook, first.webhookId, { items });
			expect(answer.status).toBe(200);
		};
		return { id, send };
	}

	test('QR codes and payments, called through the webhook process, run on both workers', async () => {
		const [charges, payments] = [await payList({ resource: 'qrCode' }), await payList({})];
		const [toCharge, toPay] = [ids(30), ids(30)];
		for (let each = 0; each < 30; each += 3) {
			await charges.send(toCharge.slice(each, each + 3));
			await payments.send(toPay.slice(each, each + 3));
		}
		for (const [{ id }, list] of [
			[charges, toCharge],
			[payments, toPay],
		] as const) {
			const executions = await allFinished(main, id, 10);
			expect(executions.map(({ status }) => status)).toEqual(Array(10).fill('success'));
			const outcomes = executions.flatMap((execution) => itemsOf(execution, 'Pay'));
			expect(outcomes.map(({ external_id }) => external_id).sort()).toEqual([...list].sort());
			expect(list.map(arrivals)).toEqual(Array(30).fill(1));
		}
		const taken = await Promise.all(
			[charges.id, payments.id].map(async (id) => await main.executionIds(id)),
		);
		const workers = new Set(taken.flat().map((id) => queue.workerOf(id)));
		expect(workers).toEqual(new Set(queue.workers));
	});

	test('a payment of an earlier execution is refused, whichever worker made it', async () => {
		const { id, send } = await payList({}, { onError: 'continueRegularOutput' });
		const list = ids(5);
		for (let round = 0; round < 6; round++) {
			await send(list);
			await allFinished(main, id, round + 1);
		}
		expect(list.map(arrivals)).toEqual(Array(5).fill(1));
		const [last] = await allFinished(main, id, 6);
		for (const { error } of itemsOf(last!, 'Pay')) {
			expect(error).toMatchObject({
				outcome: 'notSent',
				message: expect.stringMatching(/was sent by an earlier execution/),
			});
		}
	});

	test('simultaneous executions on two workers: the check is best effort, this is how many pass', async () => {
		const { id, send } = await payList({});
		const [same] = ids(1) as [string];
		await Promise.all(Array.from({ length: 20 }, async () => await send([same])));
		await allFinished(main, id, 20);
		console.log(
			`n8n ${version}: of 20 simultaneous executions with one id on two workers, ${arrivals(same)} passed`,
		);
		// One after the other within each worker, so at most one passes in each.
		expect(arrivals(same)).toBeGreaterThanOrEqual(1);
		expect(arrivals(same)).toBeLessThanOrEqual(2);
	});

	test('Retry On Fail sends a rejected payment again, and one with a lost answer never', async () => {
		const { id, send } = await payList({}, { retryOnFail: true, maxTries: 3 });
		const [lost, rejected] = ids(2) as [string, string];
		sandbox.faultFor = ({ body }) =>
			body.includes(lost) ? { kind: 'reset-after-body' } : { kind: 'status', status: 422 };
		await send([lost]);
		await send([rejected]);
		const executions = await allFinished(main, id, 2);
		const messages = executions.map(({ data }) => data.resultData.error?.message).sort();
		expect(messages).toEqual([
			`It is not known whether payment "${lost}" was made`,
			`The service rejected payment "${rejected}" (HTTP 422)`,
		]);
		expect([arrivals(lost), arrivals(rejected)]).toEqual([1, 3]);
	});

	test('the trigger takes signed postbacks at the webhook process and refuses others', async () => {
		const entry = payTrigger();
		const id = await publish(chain('Postbacks', [entry]));
		const url = queue.webhook.url + webhookPath(entry);
		const reference = { external_id: randomUUID(), kind: 'payment', amount: 1 } as const;
		const post = async (to: string) =>
			(
				await fetch(to, {
					method: 'POST',
					headers: { 'Content-Type': 'application/json' },
					body: '{"status":"paid"}',
				})
			).status;
		expect(await post(url)).toBe(401);
		expect(await post(signUrl(url, reference, 'another secret'))).toBe(401);
		expect(await post(signUrl(url, reference, SECRET))).toBe(200);
		const executions = await allFinished(main, id, 1);
		expect(executions).toHaveLength(1);
		expect(itemsOf(executions[0]!, 'Pay Trigger')).toMatchObject([
			{ reference, body: { status: 'paid' } },
		]);
		expect(queue.workerOf(executions[0]!.id)).toBeDefined();
	});

	test('executions that wait are resumed through the webhook process', async () => {
		const first = start();
		const charge = pay('Charge', { ...FROM_ITEM, resource: 'qrCode', postback: 'resume' });
		const wait = pay('Wait', {
			resource: 'postback',
			operation: 'wait',
			external_id: '={{ $json.external_id }}',
			resumeWhen: 'any',
		});
		const id = await publish(chain('Waiting', [first, splitItems(), charge, wait, noOp('After')]));
		const list = ids(5);
		for (const external_id of list) {
			await call(queue.webhook, first.webhookId, { items: [{ id: external_id }] });
		}
		await until('all to wait', async () => {
			const executions = await allFinished(main, id, list.length);
			return executions.every(({ status }) => status === 'waiting');
		});
		const known = () => sandbox.transactions.filter((each) => list.includes(each.external_id));
		for (const transaction of known()) {
			expect(transaction.postbackUrl?.startsWith(queue.webhook.url)).toBe(true);
			await sandbox.settle(transaction.id, 'paid');
		}
		const executions = await until('all to end', async () => {
			const now = await allFinished(main, id, list.length);
			return now.every((each) => 'After' in each.data.resultData.runData) && now;
		});
		const items = executions.flatMap((execution) => itemsOf(execution, 'After'));
		expect(items).toHaveLength(list.length);
		for (const { external_id, postback } of items) {
			expect(postback).toMatchObject({ reference: { external_id } });
		}
	});

	test('a worker killed while it pays: no payment arrives twice', async () => {
		const { id, send } = await payList({}, { onError: 'continueRegularOutput' });
		const list = ids(20);
		sandbox.faultFor = () => ({ kind: 'delay', ms: 300 });
		await send(list);
		const arrived = () => list.filter((external_id) => arrivals(external_id) > 0).length;
		await until('five payments to arrive', async () => arrived() >= 5);
		const [executionId] = (await main.executionIds(id)) as [string];
		const victim = queue.workerOf(executionId);
		expect(victim).toBeDefined();
		await victim!.kill();
		const before = arrived();
		// The queue gives the job to the other worker (n8n 1), or n8n reports it as crashed (n8n 2).
		const { status } = await main.finished(executionId);
		const takers = queue.workers.filter(({ log }) => log.includes(`execution ${executionId} `));
		const between = arrived();
		await send(list);
		const [again] = await allFinished(main, id, 2);
		const items = itemsOf(again!, 'Pay');
		const refused = items.filter(({ error }) => error !== undefined).length;
		const most = Math.max(...list.map(arrivals));
		console.log(
			`n8n ${version}: worker killed after ${before} of 20 payments had arrived; the job was taken by ${takers.length} worker(s) and ended as "${status}" with ${between} paid; a second execution with the same list: ${refused} refused, ${items.length - refused} paid; most arrivals of one id: ${most}`,
		);
		expect(most).toBe(1);
		expect(arrived()).toBe(20);
		expect(items).toHaveLength(20);
		await victim!.launch();
	});

	test('a worker without the package fails the execution before anything is sent', async () => {
		const { id, send } = await payList({});
		const packaged = [...queue.workers];
		for (const worker of packaged) await worker.kill();
		const bare = await queue.addWorker(true);
		const [external_id] = ids(1) as [string];
		await send([external_id]);
		const [execution] = await allFinished(main, id, 1);
		console.log(
			`n8n ${version}: a worker without the package: ${execution?.status}, ${execution?.data.resultData.error?.message}`,
		);
		expect(execution?.status).toMatch(/error|crashed/);
		expect(arrivals(external_id)).toBe(0);
		await bare.stop();
	});
});
