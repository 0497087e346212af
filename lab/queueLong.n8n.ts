import { randomUUID } from 'node:crypto';
import { pause, until, type N8n } from '../dev/n8n';
import type { Fault } from '../sandbox/faults';
import { Sandbox } from '../sandbox/service';
import { newIds, VERSIONS, withQueueMode } from '../test/n8n/nodes';
import type { QueueMode } from '../test/n8n/queue';
import { CONTINUE, WorkerPayments, type Strike } from '../test/n8n/workerPayments';

/*
 * Queue mode, every step of every kind of trouble, many times: with PAY_QUEUE=long alone. What came of
 * each is printed at the end.
 */
const IS_LONG = process.env.PAY_QUEUE === 'long';
if (IS_LONG) jest.setTimeout(3_600_000);

(IS_LONG ? describe : describe.skip).each(VERSIONS)('n8n %s in queue mode, long', (version) => {
	let queue: QueueMode;
	let main: N8n;
	let sandbox: Sandbox;
	let payments: WorkerPayments;
	withQueueMode(version, (running) => {
		({ queue, main, sandbox } = running);
		payments = new WorkerPayments(queue, main, sandbox, running.payApi);
	});
	beforeEach(() => {
		sandbox.faultFor = undefined;
	});
	afterEach(() => payments.releaseDatabases());

	const figures: string[] = [];
	const print = (scenario: string, figure: string) =>
		figures.push(`n8n ${version} | ${scenario} | ${figure}`);
	afterAll(() => console.log(['version | scenario | figure', ...figures].join('\n')));

	test.each([1, 2] as const)(
		'60 at once on five workers, %i Pay nodes in the workflow, sent again: none is forgotten, none is paid twice',
		async (payNodes) => {
			while (queue.workers.length < 5) await queue.addWorker();
			const lists = newIds(60).map((external_id) => [external_id]);
			const made = await payments.payOverlapping(lists, { everyMs: 0, delayMs: 50 }, payNodes);
			print(`60 at once, five workers, ${payNodes} Pay nodes`, JSON.stringify(made));
			expect(made).toStrictEqual({ arrived: expect.any(Number), forgotten: 0, twice: 0 });
			expect(made.arrived).toBeGreaterThan(0);
		},
	);

	test('of 50 simultaneous executions with one id, one of each worker can pass', async () => {
		const list = await payments.publishWarmList();
		const arrived: number[] = [];
		for (let round = 1; round <= 5; round++) {
			const same = randomUUID();
			await Promise.all(Array.from({ length: 50 }, async () => await list.send([same])));
			await list.settled(300);
			arrived.push(payments.arrivals(same));
		}
		print('50 at once, one id', arrived.join(' '));
		expect(Math.min(...arrived)).toBe(1);
		expect(Math.max(...arrived)).toBeLessThanOrEqual(2);
	});

	const STRIKES: Strike[] = [
		{ how: 'killed', at: 'before the record' },
		{ how: 'killed', at: 'within the record' },
		{ how: 'killed', at: 'after the record' },
		{ how: 'killed', at: 'in flight' },
		{ how: 'killed', at: 'before the execution is saved' },
		{ how: 'frozen', at: 'before the record' },
		{ how: 'frozen', at: 'within the record' },
		{ how: 'frozen', at: 'after the record' },
		{ how: 'frozen', at: 'in flight' },
		{ how: 'frozen', at: 'before the execution is saved' },
	];
	test.each(STRIKES)(
		'a worker $how $at: the payment does not arrive twice, also when it is run again',
		async (strike) => {
			const { arrivedFirst, arrived, first, again, outcome } =
				await payments.strikeWhilePaying(strike);
			print(
				`${strike.how} ${strike.at}`,
				`${arrivedFirst}, then ${arrived} | ${first}; again: ${again}`,
			);
			// How often it had arrived before it was run again, how often afterwards, and what the second run says.
			const paidAtOnce = [1, 1, 'duplicate'];
			const paidBySecondRun = [0, 1, 'accepted'];
			const neverSent = [0, 0, 'duplicate'];
			expect([paidAtOnce, paidBySecondRun, neverSent]).toContainEqual([
				arrivedFirst,
				arrived,
				outcome,
			]);
		},
	);

	test('a worker frozen in the middle of a list, whose job n8n 1 gives away: no worker pays twice', async () => {
		const { list, externalIds, executionId, victim } = await payments.freezeInList();
		await until(
			'another to take it',
			async () => queue.workersOf(executionId).length > 1,
			20,
		).catch(() => undefined);
		await pause(1_500);
		victim.thaw();
		await list.settled(180);
		await payments.endedOnWorkers(executionId, undefined, 300);
		const first = await payments.summaryOf(list);
		const takers = queue.workersOf(executionId).length;
		const most = Math.max(...externalIds.map((each) => payments.arrivals(each)));
		expect(most).toBeLessThanOrEqual(takers);
		const twiceBefore = payments.countArrivedTwice(externalIds);
		await list.send(externalIds);
		await list.settled(180);
		print(
			`frozen in a list, taken by ${takers}`,
			`${twiceBefore} twice, ${payments.countArrived(externalIds)} of 30 paid | ${first}; again: ${await payments.summaryOf(list)}`,
		);
		// Sending the list again pays none that was paid.
		expect(payments.countArrivedTwice(externalIds)).toBe(twiceBefore);
	});

	test.each([2, 5])(
		'%i workers, six lists of 50, one worker frozen for 20 s, all sent again: none is paid twice',
		async (workers) => {
			while (queue.workers.length < workers) await queue.addWorker();
			const options = { batching: { batch: { batchSize: 10, batchInterval: 0 } } };
			const list = await payments.publishWarmList({ options }, CONTINUE);
			const lists = Array.from({ length: 6 }, () => newIds(50));
			const all = lists.flat();
			sandbox.faultFor = () => ({ kind: 'delay', ms: 250 });
			await Promise.all(lists.map(async (ids) => await list.send(ids)));
			await until('thirty to arrive', async () => payments.countArrived(all) >= 30);
			const victim = await until('a worker of them', async () =>
				queue.workerOf(await list.newestId()),
			);
			victim.freeze();
			await pause(20_000);
			victim.thaw();
			await list.settled(600);
			const first = `${payments.countArrived(all)} of 300 paid, ${payments.countArrivedTwice(all)} twice`;
			await Promise.all(lists.map(async (ids) => await list.send(ids)));
			await list.settled(600);
			const again = `${payments.countArrived(all)} paid, ${payments.countArrivedTwice(all)} twice`;
			print(`${workers} workers, one frozen for 20 s`, `${first}; again: ${again}`);
			expect(payments.countArrivedTwice(all)).toBe(0);
		},
	);

	/** What a service says of each payment of a list, in a response with status 200. */
	function splitByResponse(all: string[]) {
		return {
			accepted: all.filter((_, index) => index % 3 === 0),
			rejected: all.filter((_, index) => index % 3 === 1),
			/** With a word that nobody named: the payment may have been made. */
			unclear: all.filter((_, index) => index % 3 === 2),
		};
	}

	const withStatus200 = (body: object): Fault => ({
		kind: 'status',
		status: 200,
		body: JSON.stringify(body),
	});

	test('5 workers, a service that says no with status 200, one frozen for 20 s: what it rejected is paid at most once when sent again', async () => {
		while (queue.workers.length < 5) await queue.addWorker();
		const service = await Sandbox.start({ saysSuccess: true });
		const described = await main.createCredential({
			baseUrl: service.url,
			accessToken: 'token',
			describeService: true,
			resultField: 'success\nresult.code',
			acceptedValues: 'true',
			rejectedValues: 'false',
		});
		const made = (external_id: string) =>
			service.transactions.filter((each) => each.external_id === external_id).length;
		const asked = (external_id: string) =>
			service.received.filter(({ body }) => body.includes(`"${external_id}"`)).length;
		const options = { batching: { batch: { batchSize: 10, batchInterval: 0 } } };
		const list = await payments.publishWarmList({ options }, CONTINUE, described);
		const lists = Array.from({ length: 6 }, () => newIds(50));
		const { accepted, rejected, unclear } = splitByResponse(lists.flat());
		service.faultFor = ({ body }) => {
			const { external_id } = JSON.parse(body) as { external_id: string };
			if (rejected.includes(external_id)) return withStatus200({ success: false });
			if (unclear.includes(external_id)) return withStatus200({ result: { code: 'runs' } });
			return { kind: 'delay', ms: 250 };
		};

		await Promise.all(lists.map(async (ids) => await list.send(ids)));
		await until('thirty to be made', async () => service.transactions.length >= 30);
		const victim = await until('a worker of them', async () =>
			queue.workerOf(await list.newestId()),
		);
		victim.freeze();
		await pause(20_000);
		victim.thaw();
		// n8n calls a frozen worker's execution ended while that worker goes on with it.
		for (const each of await list.settled(600)) {
			await payments.endedOnWorkers(each);
		}
		expect(accepted.map(made)).toStrictEqual(accepted.map(() => 1));
		expect(rejected.map(made)).toStrictEqual(rejected.map(() => 0));

		service.faultFor = undefined;
		await Promise.all(lists.map(async (ids) => await list.send(ids)));
		await list.settled(600);
		const paidNow = rejected.filter((each) => made(each) === 1).length;
		print(
			'5 workers, 100 of 300 rejected with status 200, one frozen for 20 s, all sent again',
			`${paidNow} of the 100 paid, ${unclear.filter((each) => asked(each) > 1).length} unclear ones sent twice`,
		);
		expect(accepted.map(made)).toStrictEqual(accepted.map(() => 1));
		expect(unclear.map(asked)).toStrictEqual(unclear.map(() => 1));
		// Several workers write one list, so a removed record may come back: a duplicate, and not paid.
		expect(Math.max(...rejected.map(made))).toBe(1);
		await service.close();
	});

	test('QUEUE_WORKER_MAX_STALLED_COUNT=0: the job of a frozen worker is not given away', async () => {
		for (const worker of queue.workers) await worker.kill();
		const env = { QUEUE_WORKER_MAX_STALLED_COUNT: '0' };
		await queue.addWorker({ env });
		await queue.addWorker({ env });
		const { list, externalIds, executionId, victim } = await payments.freezeInList();
		await pause(12_000);
		victim.thaw();
		await list.settled(180);
		await payments.endedOnWorkers(executionId);
		const takers = queue.workersOf(executionId);
		print(
			`frozen, QUEUE_WORKER_MAX_STALLED_COUNT=0, taken by ${takers.length}`,
			`${payments.countArrivedTwice(externalIds)} twice, ${payments.countArrived(externalIds)} of 30 paid`,
		);
		expect(takers).toStrictEqual([victim]);
		expect(payments.countArrivedTwice(externalIds)).toBe(0);
	});
});
