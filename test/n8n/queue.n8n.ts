import { randomUUID } from 'node:crypto';
import { signUrl } from '../../nodes/Pay/postback/proof';
import { itemsOf, pause, until, webhookPath, type N8n } from '../../dev/n8n';
import { node, noOp, pay, payTrigger } from '../../dev/workflow';
import { Sandbox } from '../../sandbox/service';
import {
	chargeAndWait,
	ended,
	payoutAndSecondWait,
	payoutsBehind,
	startWaiting,
	type Waiting,
} from './chargeAndWait';
import type { Play } from './databaseProxy';
import { deliver, deliverLate, deliverWhen } from './deliveries';
import { line, outcomeOf, PayOnce } from './examples/payOnceTable';
import { startModel } from './model';
import { beforeNightly, nightly } from './nightly';
import {
	allFinished,
	newIds,
	outcomesOf,
	payEach,
	publishTrigger,
	SECRET,
	VERSIONS,
	withQueueMode,
	type Credential,
} from './nodes';
import { agent, chatModel, toAgent } from './otherNodes';
import type { QueueMode } from './queue';
import { CONTINUE, RECORD, SAVE, WorkerPayments, type PaymentList } from './workerPayments';

/*
 * Queue mode: in the gate its promises, at night each kind of trouble once. lab/queueLong.n8n.ts has every step of
 * every kind, many times.
 * What is begun first is looked at later, and what ends a worker comes last.
 */
describe.each(VERSIONS)('n8n %s in queue mode', (version) => {
	let queue: QueueMode;
	let main: N8n;
	let sandbox: Sandbox;
	let payApi: Credential;
	let payments: WorkerPayments;
	withQueueMode(version, (running) => {
		({ queue, main, sandbox, payApi } = running);
		payments = new WorkerPayments(queue, main, sandbox, payApi);
	});
	beforeEach(() => {
		sandbox.faultFor = undefined;
	});
	afterEach(() => payments.releaseDatabases());

	// docs/n8n-1.md says what n8n 1 does.
	const testOnN8n2 = version === 'n8n2' ? nightly.test : test.skip;
	const testOnN8n1 = version === 'n8n1' ? nightly.test : test.skip;

	/** Until an execution waits, after a node has run. */
	async function untilWaitingBehind(name: string, { executionId }: Waiting): Promise<void> {
		await until(`the wait behind ${name}`, async () => {
			const { status, data } = await main.execution(executionId);
			return status === 'waiting' && name in data.resultData.runData;
		});
	}

	/** In seconds: n8n, which looks at limits once a minute, sets its timer in that time. */
	const LIMIT = 75;

	/** A wait with a limit, whose postback comes shortly before it; behind it another charge. */
	interface LimitedWait {
		waiting: Waiting;
		/** The status that the service was given. */
		postback: Promise<number>;
	}

	async function beginLimitedWait(): Promise<LimitedWait> {
		const external_id = '={{ $json.external_id }}-2';
		const [charge, wait] = chargeAndWait({}, {}, { external_id });
		charge.name = 'Charge 2';
		wait.name = 'Wait 2';
		const waiting = await startWaiting(main, sandbox, payApi, {
			wait: { limitWaitTime: true, resumeAmount: LIMIT, resumeUnit: 'seconds' },
			after: [charge, wait, noOp('After')],
		});
		const deliverInTime = async () => {
			await pause((LIMIT - 9) * 1000);
			return await deliver(waiting.url);
		};
		const postback = deliverInTime();
		// Where no test asks for it, n8n may have ended by then.
		postback.catch(() => undefined);
		return { waiting, postback };
	}

	let limitedWait: Promise<LimitedWait>;
	beforeNightly(() => {
		if (version !== 'n8n2') return;
		limitedWait = beginLimitedWait();
		limitedWait.catch(() => undefined);
	});

	describe('calls through the webhook process', () => {
		nightly.test(
			'share tokens of 4 s on each worker: 80 payments by fives are all accepted, none twice',
			async () => {
				const client = { clientId: 'the shop', clientSecret: 'a secret: of+the/shop=' };
				const service = await Sandbox.start({
					clientCredentials: {
						clientId: client.clientId,
						clientSecret: client.clientSecret,
						// Sent in its last half, one may be too old on arrival: longer than a busy machine takes.
						tokenLife: 4,
					},
				});
				const credential = await main.createCredential({
					baseUrl: service.url,
					authentication: 'clientCredentials',
					tokenUrl: service.tokenUrl,
					clientId: client.clientId,
					clientSecret: client.clientSecret,
				});
				const options = { batching: { batch: { batchSize: 5, batchInterval: 500 } } };
				const list = await payments.publishWarmList({ options }, {}, credential);
				service.transactions.length = 0;
				service.tokenRequests.length = 0;
				const toPay = newIds(80);
				for (let from = 0; from < 80; from += 20) await list.send(toPay.slice(from, from + 20));
				const executions = await list.finished();
				await service.close();
				expect(executions.map(({ status }) => status)).toStrictEqual(Array(5).fill('success'));
				const accepted = service.transactions.map(({ external_id }) => external_id);
				expect(accepted.sort()).toStrictEqual(toPay.sort());
				const workers = new Set(executions.slice(0, 4).map(({ id }) => queue.workerOf(id)));
				expect(workers).toStrictEqual(new Set(queue.workers));
				// Each worker has tokens of its own, which the executions that it runs at once share.
				expect(service.tokenRequests.length).toBeGreaterThanOrEqual(2);
				expect(service.tokenRequests.length).toBeLessThanOrEqual(8);
			},
		);

		test('signed postbacks start a Pay Trigger on a worker, others are refused', async () => {
			const entry = payTrigger();
			const { id } = await publishTrigger(main, payApi, entry);
			const url = queue.webhook.url + webhookPath(entry);
			const reference = { external_id: randomUUID(), kind: 'payment', amount: 1 } as const;
			expect(await deliver(url)).toBe(401);
			expect(await deliver(signUrl(url, reference, 'another secret'))).toBe(401);
			expect(await deliver(signUrl(url, reference, SECRET))).toBe(200);
			const executions = await allFinished(main, id, 1);
			expect(executions).toHaveLength(1);
			expect(itemsOf(executions[0]!, 'Pay Trigger')).toMatchObject([
				{ reference, body: { data: { status: 'paid' } } },
			]);
			await until('its worker', async () => queue.workerOf(executions[0]!.id));
		});
	});

	test('what one worker paid, the other refuses', async () => {
		const list = await payments.publishWarmList({}, CONTINUE);
		const external_id = randomUUID();
		const pay = async () => {
			await list.send([external_id]);
			const [newest] = await list.finished();
			const worker = await until('its worker', async () => queue.workerOf(newest!.id));
			return { outcomes: outcomesOf(newest!), worker };
		};
		const paid = await pay();
		expect(paid.outcomes).toStrictEqual(['accepted']);
		// Redis gives each job to the worker that has waited longest.
		const refusedBy = new Set<N8n>();
		for (let again = 0; again < 6 && refusedBy.size < 2; again++) {
			const { outcomes, worker } = await pay();
			expect(outcomes).toStrictEqual(['duplicate']);
			refusedBy.add(worker);
		}
		expect(refusedBy).toStrictEqual(new Set(queue.workers));
		expect(payments.arrivals(external_id)).toBe(1);
	});

	test('with pay-once, one of six calls at the same moment pays, whichever worker has it', async () => {
		const payOnce = await PayOnce.setUp(queue, payApi);
		const external_id = randomUUID();
		const calls = Array.from({ length: 6 }, async () => await payOnce.pay([line(external_id)]));
		const outcomes = (await Promise.all(calls)).flat().map(outcomeOf);
		expect(outcomes.sort()).toStrictEqual(['accepted', ...Array<string>(5).fill('duplicate')]);
		expect(payments.arrivals(external_id)).toBe(1);
		const [other] = await payOnce.pay([line(external_id, '99')]);
		expect(other?.error?.message).toMatch(/The row says 10\.50 .*, this line 99 /);
		expect(payments.arrivals(external_id)).toBe(1);
	});

	describe('executions at the same moment on two workers', () => {
		// On a machine that is too slow a check may not come about in time: that is refused, never paid twice.
		nightly.test(
			'40 of one payment each, sent again: none is forgotten, none is paid twice',
			async () => {
				const lists = newIds(40).map((external_id) => [external_id]);
				const made = await payments.payOverlapping(lists, { everyMs: 0, delayMs: 50 });
				expect(made).toStrictEqual({ arrived: expect.any(Number), forgotten: 0, twice: 0 });
				expect(made.arrived).toBeGreaterThan(0);
			},
		);

		test('four lists of 25, sent again: none is forgotten, none is paid twice', async () => {
			const lists = [newIds(25), newIds(25), newIds(25), newIds(25)];
			const made = await payments.payOverlapping(lists, { everyMs: 0, delayMs: 0 });
			expect(made).toStrictEqual({ arrived: expect.any(Number), forgotten: 0, twice: 0 });
			expect(made.arrived).toBeGreaterThan(0);
		});
	});

	describe('postbacks', () => {
		test('resume the executions that wait for them through the webhook process, each its own alone', async () => {
			const approval = node(
				'Approval',
				'n8n-nodes-base.wait',
				{ resume: 'webhook', httpMethod: 'POST', options: {} },
				{ typeVersion: 1.1, webhookId: randomUUID() },
			);
			const after = [approval, noOp('After')];
			const starting = newIds(5).map(
				async (external_id) =>
					await startWaiting(main, sandbox, payApi, { charge: { external_id }, after }),
			);
			const all = await Promise.all(starting);
			for (const waiting of all) {
				expect(waiting.url.startsWith(queue.webhook.url)).toBe(true);
				expect(await deliver(waiting.url)).toBe(200);
			}
			for (const waiting of all) {
				await untilWaitingBehind('Wait', waiting);
				expect([404, 409]).toContain(await deliver(waiting.url));
				await untilWaitingBehind('Wait', waiting);
				expect(await deliver(waiting.bare.replace('/pay-postback', ''))).toBe(200);
				const execution = await ended(main, waiting.executionId);
				const [item] = itemsOf(execution, 'Wait');
				expect(item).toMatchObject({ postback: { reference: waiting.about } });
			}
		});

		nightly.test(
			'whose body comes to another process at the next wait run what follows the first once',
			async () => {
				const after = payoutAndSecondWait();
				const waiting = await startWaiting(main, sandbox, payApi, { after });
				const atMain = waiting.url.replace(queue.webhook.url, main.url);
				const atNextWait = untilWaitingBehind('Charge 2', waiting);
				const late = deliverWhen(atMain, atNextWait);
				const received = `for execution "${waiting.executionId}"`;
				await until('its head at main', async () => main.log.includes(received));
				expect(await deliver(waiting.url)).toBe(200);
				expect(await late).toBe(409);
				await untilWaitingBehind('Charge 2', waiting);
				expect(payoutsBehind(sandbox, waiting)).toHaveLength(1);
			},
		);

		/** Sends the postback of each charge twice, through two processes; gives what the service was told. */
		async function deliverInPairs(externalIds: string[]): Promise<string[]> {
			const statuses: string[] = [];
			for (const charge of externalIds) {
				const { url, atMain } = payments.postbackUrlsOf(charge);
				const pair = await Promise.all([deliver(url), deliverLate(atMain, 15)]);
				statuses.push(pair.join('/'));
				await pause(150);
			}
			return statuses;
		}

		/** How many payments were made whose External ID begins so. */
		const countOf = (beginning: string) =>
			sandbox.bodies('payment').filter(({ external_id }) => {
				return String(external_id).startsWith(beginning);
			}).length;

		nightly.test.each([
			{ what: 'a payment', names: ['Pay'] },
			{ what: 'a payment of each of two Pay nodes', names: ['Pay', 'Pay too'] },
		])(
			'in pairs through two processes make $what once whose identifier changes',
			async ({ names }) => {
				const paying = names.map((name) =>
					pay(name, {
						amount: 2,
						external_id: `={{ $("Charge").item.json.external_id + "-${name}-" + $now.toMillis() }}`,
					}),
				);
				const { id, externalIds } = await payments.waitBefore(paying, 12);
				const beginnings = externalIds.flatMap((charge) =>
					names.map((name) => `${charge}-${name}-`),
				);
				const statuses = await deliverInPairs(externalIds);
				await until('all to be paid', async () => beginnings.every((each) => countOf(each) > 0));
				await payments.settled(id, externalIds.length);
				expect(beginnings.map(countOf)).toStrictEqual(beginnings.map(() => 1));
				// On n8n 1 both go on from the wait: without that the test shows nothing.
				if (version === 'n8n1') expect(statuses).toContain('200/200');
			},
		);

		nightly.test(
			'in pairs through two processes make the payments of two tools, which an agent calls at once, once each',
			async () => {
				const made: number[] = [];
				for (let round = 0; round < 4; round++) {
					const args = [
						{ amount: 1, key: 'ana' },
						{ amount: 2, key: 'bob' },
					];
					const model = await startModel(/Pay/, args, 2, true);
					const tools = ['Pay', 'Pay too'].map((name) =>
						node(name, 'n8n-nodes-pay.payTool', {
							resource: 'payment',
							operation: 'create',
							amount: "={{ $fromAI('amount', '', 'number') }}",
							external_id: `={{ $('Items').first().json.id + '-${name}-' }}`,
							creditParty: { key: "={{ $fromAI('key', '', 'string') }}", keyType: '' },
							options: { allowAiPayments: true },
						}),
					);
					// Those before version 3 run the tools of one message at once.
					const { id, externalIds } = await payments.waitBefore([agent('Pay both', 2.2)], 1, {
						nodes: [await chatModel(main, model.url), ...tools],
						connections: {
							Model: toAgent('ai_languageModel'),
							Pay: toAgent('ai_tool'),
							'Pay too': toAgent('ai_tool'),
						},
					});
					await deliverInPairs(externalIds);
					const beginnings = ['Pay', 'Pay too'].map((name) => `${externalIds[0]}-${name}-`);
					// The worker that lost the claim ends first, and n8n has the execution as ended then.
					await until('both to be paid', async () => beginnings.every((each) => countOf(each) > 0));
					for (const each of await payments.settled(id, 1)) await payments.endedOnWorkers(each);
					model.close();
					made.push(...beginnings.map(countOf));
				}
				expect(made).toStrictEqual(Array(8).fill(1));
			},
		);

		testOnN8n2(
			"in the last seconds of a limit: the next charge outlasts, on its worker, main's timer",
			async () => {
				const { waiting, postback } = await limitedWait;
				expect(await postback).toBe(200);
				await untilWaitingBehind('Charge 2', waiting);
				const second = `${waiting.about.external_id}-2`;
				const charge = sandbox.bodies('qrcode').find((body) => body.external_id === second);
				expect(await deliver(String(charge!.postbackUrl))).toBe(200);
				const [item] = itemsOf(await ended(main, waiting.executionId), 'After');
				expect(item).toMatchObject({ postback: { reference: { external_id: second } } });
			},
		);
	});

	nightly.describe('a connection to the database', () => {
		let list: PaymentList;
		beforeAll(async () => {
			list = await payments.publishWarmList({}, { retryOnFail: true, maxTries: 3 });
		});
		interface Cut {
			name: string;
			statement: RegExp;
			play: Play;
			isAfterResponse: boolean;
			/** How often the payment arrives in all; a record of which nobody knows lets nothing out. */
			arrives: 0 | 1;
		}
		const CUTS: Cut[] = [
			{
				name: 'before the record',
				statement: RECORD,
				play: 'cutBefore',
				isAfterResponse: false,
				arrives: 1,
			},
			{
				name: 'after the record',
				statement: RECORD,
				play: 'cutAfter',
				isAfterResponse: false,
				arrives: 0,
			},
			{
				name: 'while the execution is saved',
				statement: SAVE,
				play: 'cutBefore',
				isAfterResponse: true,
				arrives: 1,
			},
		];
		test.each(CUTS)(
			'cut $name: neither Retry On Fail nor a second execution pays twice',
			async ({ statement, play, isAfterResponse, arrives }) => {
				const external_id = randomUUID();
				if (!isAfterResponse) payments.playOnce(statement, play);
				sandbox.faultFor = () => {
					if (isAfterResponse) payments.playOnce(statement, play);
					return undefined;
				};
				await list.send([external_id]);
				await list.settled();
				payments.releaseDatabases();
				sandbox.faultFor = undefined;
				await list.send([external_id]);
				await list.settled();
				const told = [payments.arrivals(external_id), await payments.outcomeOf(list)];
				expect(told).toStrictEqual([arrives, 'duplicate']);
			},
		);

		describe('held while the execution runs out of time in the check', () => {
			let timed: PaymentList;
			beforeAll(async () => {
				const settings = { executionOrder: 'v1', executionTimeout: 5 };
				timed = await payments.publishAsList({ ...payEach(), settings });
				await timed.send(newIds(1));
				await timed.settled();
			});

			/** Sends a payment; gives the worker whose check of it is held. */
			async function holdCheck(external_id: string): Promise<N8n> {
				const held = payments.playOnce(RECORD, 'hold');
				await timed.send([external_id]);
				return await until('the check to be held', async () => held.metBy);
			}

			testOnN8n2('n8n 2 cancels it: it pays nothing, and can be run again', async () => {
				const external_id = randomUUID();
				const worker = await holdCheck(external_id);
				const before = worker.log.length;
				const untilLogged = async (words: string) =>
					await until(words, async () => worker.log.slice(before).includes(words));
				await untilLogged('Responses to the requests in flight are still expected.');
				payments.releaseDatabases();
				const executionId = (await timed.settled()).at(-1)!;
				// A cancelled execution ends at once; its node says when it has ended itself.
				await untilLogged('This is what became of its requests.');
				expect((await main.execution(executionId)).status).toBe('canceled');
				expect(payments.arrivals(external_id)).toBe(0);

				await timed.send([external_id]);
				await timed.settled();
				expect(payments.arrivals(external_id)).toBe(1);
			});

			testOnN8n1('n8n 1 looks at the time only between nodes: it pays, and once', async () => {
				const external_id = randomUUID();
				await holdCheck(external_id);
				// n8n 1 has nothing to say when the time is up.
				await pause(6_500);
				payments.releaseDatabases();
				const executionId = (await timed.settled()).at(-1)!;
				await payments.endedOnWorkers(executionId);
				expect((await main.execution(executionId)).status).toBe('success');
				expect(payments.arrivals(external_id)).toBe(1);

				await timed.send([external_id]);
				await timed.settled();
				expect(payments.arrivals(external_id)).toBe(1);
			});
		});
	});

	nightly.test(
		'Redis restarted, empty, while a worker pays: no payment arrives twice',
		async () => {
			const list = await payments.publishWarmList({}, CONTINUE);
			const toPay = newIds(8);
			sandbox.faultFor = () => ({ kind: 'delay', ms: 300 });
			await list.send(toPay);
			await until('two to arrive', async () => payments.countArrived(toPay) >= 2);
			await queue.restartRedis();
			await until('all to arrive', async () => payments.countArrived(toPay) === 8);
			// n8n may have lost sight of the execution; a new one must come through.
			const others: string[] = [];
			await until('n8n to take executions again', async () => {
				const other = randomUUID();
				others.push(other);
				await list.send([other]).catch(() => undefined);
				return payments.countArrived(others) > 0;
			});
			await list.send(toPay);
			await until('the list to be run again', async () => {
				const execution = await main.execution(await list.newestId());
				return itemsOf(execution, 'Pay').length === 8;
			});
			expect(payments.countArrived(toPay)).toBe(8);
			expect(payments.countArrivedTwice(toPay)).toBe(0);
		},
	);

	nightly.describe('a worker', () => {
		test('frozen while it records a payment: it does not arrive twice, also when it is run again', async () => {
			const { arrived, outcome } = await payments.strikeWhilePaying({
				how: 'frozen',
				at: 'within the record',
			});
			// Another worker may have taken it over. Else nothing was sent, for nobody knows what became of the record.
			const oncePaid = [1, 'duplicate'];
			const neverSent = [0, 'duplicate'];
			expect([oncePaid, neverSent]).toContainEqual([arrived, outcome]);
		});

		test('killed with a payment in flight: the list is run again, and each arrives once', async () => {
			const list = await payments.publishList({}, CONTINUE);
			const toPay = newIds(20);
			// The fifth is long on its way: the worker is killed then, and not between record and request.
			sandbox.faultFor = () => ({
				kind: 'delay',
				ms: payments.countArrived(toPay) === 5 ? 10_000 : 0,
			});
			await list.send(toPay);
			await until('five payments to arrive', async () => payments.countArrived(toPay) >= 5);
			const executionId = await list.newestId();
			await queue.workerOf(executionId)!.kill();
			// The queue gives the job to the other worker (n8n 1), or n8n reports it as crashed (n8n 2).
			await main.finished(executionId);
			await list.send(toPay);
			const [again] = await list.finished();
			expect(toPay.map((each) => payments.arrivals(each))).toStrictEqual(Array(20).fill(1));
			expect(itemsOf(again!, 'Pay')).toHaveLength(20);
		});

		test('without the package fails the execution before anything is sent', async () => {
			const list = await payments.publishList();
			for (const worker of queue.workers) await worker.kill();
			await queue.addWorker({ bare: true });
			const external_id = randomUUID();
			await list.send([external_id]);
			const [execution] = await list.finished();
			expect(['error', 'crashed']).toContain(execution!.status);
			expect(payments.arrivals(external_id)).toBe(0);
		});
	});
});
