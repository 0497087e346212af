import { randomUUID } from 'node:crypto';
import { median } from '../../dev/bench/figures';
import { pause, until, type N8n } from '../../dev/n8n';
import { call, chain, pay, splitItems, start } from '../../dev/workflow';
import type { Sandbox } from '../../sandbox/service';
import { chargeAndWait } from './chargeAndWait';
import { reachesLastNodes } from './lastNodes';
import { newIds, VERSIONS, withQueueMode, type Credential } from './nodes';
import { callOf, set } from './otherNodes';
import { ready, registerCredentials } from './payoutRegister';
import type { QueueMode } from './queue';
import { RegisterDatabase, type Row } from './registerDatabase';

/** `PAY_QUEUE=long` measures with five workers; without it, each kind once with two. */
const IS_LONG = process.env.PAY_QUEUE === 'long';
const describeLong = IS_LONG ? describe : describe.skip;
const testLong = IS_LONG ? test : test.skip;
if (IS_LONG) jest.setTimeout(3_600_000);

/** What a caller gives for one payout. */
interface Line {
	external_id: unknown;
	amount: unknown;
	key: string;
	keyType?: string;
	description?: string;
}

const line = (external_id: unknown, amount: unknown = '10.50'): Line => ({
	external_id,
	amount,
	key: 'someone@example.com',
});

/** What a call gives for each of its items. */
interface Answer {
	external_id: string;
	state: string;
	reason: string;
	mine: boolean;
	differs: boolean;
}

/** A workflow that calls "Pay once" and answers with its items, by the path of its webhook. */
interface Caller {
	path: string;
}

describe.each(VERSIONS)('n8n %s in queue mode', (version) => {
	let queue: QueueMode;
	let main: N8n;
	let sandbox: Sandbox;
	let payApi: Credential;
	withQueueMode(version, (running) => ({ queue, main, sandbox, payApi } = running));
	let register: RegisterDatabase;
	let payOnceId: string;
	let caller: Caller;
	let otherCaller: Caller;

	beforeAll(async () => {
		register = RegisterDatabase.create(queue);
		const credentials = await registerCredentials(main, queue.postgresAddress);
		payOnceId = await main.importWorkflow(ready('pay-once', credentials), { payApi });
		await main.activate(payOnceId);
		caller = await publishCaller();
		otherCaller = await publishCaller();
		if (IS_LONG) while (queue.workers.length < 5) await queue.addWorker();
	});
	afterEach(() => {
		sandbox.faultFor = undefined;
	});

	async function publishCaller(): Promise<Caller> {
		const first = start({ responseMode: 'lastNode', responseData: 'allEntries' });
		const nodes = [first, splitItems(), callOf('Pay once', payOnceId)];
		await main.activate(await main.importWorkflow(chain('A caller', nodes)));
		return { path: first.webhookId };
	}

	/** Has a caller pay lines; gives what the call answers. */
	async function payOnce(lines: Line[], { path }: Caller = caller): Promise<Answer[]> {
		const response = await call(queue.webhook, path, { items: lines });
		expect(response.status).toBe(200);
		return (await response.json()) as Answer[];
	}

	/** How many calls n8n answered 503. */
	let refusedCalls = 0;

	/**
	 * The same without waiting for the end: the response may never come, where a worker is killed. On a
	 * busy machine n8n's own check of its database can run out of time; a caller calls again then.
	 */
	function startCall(lines: Line[], { path }: Caller = caller): void {
		const callUntilTaken = async () => {
			const response = await call(queue.webhook, path, { items: lines });
			await response.text();
			if (response.status !== 503) return;
			refusedCalls++;
			await pause(1_000);
			await callUntilTaken();
		};
		callUntilTaken().catch(() => undefined);
	}

	/** The bodies of the payments with an external_id that arrived at the service. */
	function paymentsWith(id: string): Array<Record<string, unknown>> {
		return sandbox.bodies('payment').filter(({ external_id }) => external_id === id);
	}

	/** How often each of these arrived, in their order. */
	function arrivals(ids: string[]): number[] {
		const counts = new Map<unknown, number>();
		for (const { external_id } of sandbox.bodies('payment')) {
			counts.set(external_id, (counts.get(external_id) ?? 0) + 1);
		}
		return ids.map((id) => counts.get(id) ?? 0);
	}

	/** How many of these arrived. */
	const countArrived = (ids: string[]) => arrivals(ids).filter((count) => count > 0).length;

	async function untilNoExecutionMoves() {
		await until('no execution to move', async () => {
			const moving = queue.sql(
				"SELECT id FROM execution_entity WHERE status IN ('new', 'running') LIMIT 1",
			);
			await pause(300);
			return moving.length === 0;
		});
	}

	const figures: string[] = [];
	function print(figure: string) {
		figures.push(`n8n ${version} | ${figure}`);
		// A long run may be ended before its end.
		if (IS_LONG) process.stderr.write(`${figure}\n`);
	}
	afterAll(() => console.log(figures.join('\n')));

	describe('on an empty database, a list of good and bad lines', () => {
		const good = randomUUID();
		const rejected = randomUUID();
		const lost = randomUUID();
		const spaced = randomUUID();
		const comma = randomUUID();
		const ambiguous = randomUUID();
		const nobody = randomUUID();
		let answers: Answer[];
		beforeAll(async () => {
			register.drop();
			sandbox.faultFor = ({ body }) => {
				if (body.includes(rejected)) return { kind: 'status', status: 422 };
				if (body.includes(lost)) return { kind: 'reset-after-body' };
				return undefined;
			};
			answers = await payOnce([
				line(good),
				line('nul-\u0000'),
				line(rejected),
				line('caf\u00e9-1\u200b'),
				line(lost),
				line(comma, '12,00'),
				line(ambiguous, 1.125),
				line(''),
				line(` ${spaced} `, 7),
				{ external_id: nobody, amount: '10.50', key: '' },
				line(good),
				line(4711.5),
				line('[object Object]'),
			]);
			sandbox.faultFor = undefined;
		});

		test('gives one item for each line, in their order', () => {
			expect(answers).toMatchObject([
				{ external_id: good, state: 'accepted', mine: true, differs: false },
				{ external_id: 'nul-\u0000', state: 'notSent', mine: false, differs: false },
				{ external_id: rejected, state: 'rejected', mine: true, differs: false },
				{ external_id: 'caf\u00e9-1\u200b', state: 'notSent', mine: false, differs: false },
				{ external_id: lost, state: 'unknown', mine: true, differs: false },
				{ external_id: comma, state: 'notSent', mine: true, differs: false },
				{ external_id: ambiguous, state: 'notSent', mine: true, differs: false },
				{ external_id: '', state: 'notSent', mine: false, differs: false },
				{ external_id: spaced, state: 'accepted', mine: true, differs: false },
				{ external_id: nobody, state: 'notSent', mine: false, differs: false },
				// The first of two lines in one batch is paid, and the other has its end.
				{ external_id: good, state: 'accepted', mine: false, differs: false },
				{ external_id: '', state: 'notSent', mine: false, differs: false },
				{ external_id: '[object Object]', state: 'notSent', mine: false, differs: false },
			]);
		});

		test('says why of each that was not paid', () => {
			expect(answers[1]!.reason).toContain('Not a payout: ');
			expect(answers[2]!.reason).toContain(`The service rejected payment "${rejected}" (HTTP 422)`);
			expect(answers[4]!.reason).toContain(`It is not known whether payment "${lost}" was made`);
			expect(answers[6]!.reason).toContain('can be read in two ways: "1.125"');
		});

		test('sends the good lines alone, once each', () => {
			expect(arrivals([good, rejected, lost, spaced])).toStrictEqual([1, 1, 1, 1]);
			expect(sandbox.bodies('payment')).toHaveLength(4);
		});

		test('is not paid again by a second call, which is told of a line that differs', async () => {
			const before = sandbox.received.length;
			const again = await payOnce([
				line(good),
				line(rejected),
				line(lost),
				line(spaced, '7.00'),
				line(good, '10.51'),
				{ external_id: good, amount: '10.50', key: 'other@example.com' },
			]);
			expect(again).toMatchObject([
				{ state: 'accepted', mine: false, differs: false },
				{ state: 'rejected', mine: false, differs: false },
				{ state: 'unknown', mine: false, differs: false },
				{ state: 'accepted', mine: false, differs: false },
				{ state: 'accepted', mine: false, differs: true },
				{ state: 'accepted', mine: false, differs: true },
			]);
			expect(sandbox.received).toHaveLength(before);
		});
	});

	test('one line alone that is refused gives one item', async () => {
		expect(await payOnce([line(null)])).toMatchObject([
			{ external_id: '', state: 'notSent', mine: false },
		]);
	});

	test('composed and decomposed characters are one identifier', async () => {
		const id = randomUUID();
		const answers = await payOnce([line(`${id}-caf\u00e9`), line(`${id}-cafe\u0301`)]);
		expect(answers).toMatchObject([{ mine: true }, { mine: false }]);
		expect(arrivals([`${id}-caf\u00e9`, `${id}-cafe\u0301`])).toStrictEqual([1, 0]);
	});

	test('the key type and the description of a line are sent', async () => {
		const id = randomUUID();
		await payOnce([
			{
				external_id: id,
				amount: '10.50',
				key: 'someone@example.com',
				keyType: 'email',
				description: 'Invoice 7',
			},
		]);
		expect(paymentsWith(id)).toMatchObject([
			{
				payerQuestion: 'Invoice 7',
				creditParty: { key: 'someone@example.com', keyType: 'email' },
			},
		]);
	});

	describe('a payout that a person released with another amount', () => {
		const id = randomUUID();
		beforeAll(async () => {
			const [answer] = await payOnce([line(id, '10,50')]);
			expect(answer!.state).toBe('notSent');
			register.sql(
				`UPDATE payout_register SET state = 'due', amount = '10.50' WHERE external_id = '${id}'`,
			);
		});

		test('is not paid by a call with a third amount', async () => {
			expect(await payOnce([line(id, '99')])).toMatchObject([
				{ state: 'due', mine: false, differs: true },
			]);
			expect(paymentsWith(id)).toStrictEqual([]);
		});

		test('is paid by the workflow’s own schedule, once, though it runs twice at the same time', async () => {
			const executionIds = await Promise.all([
				main.run(payOnceId, 'Every ten minutes'),
				main.run(payOnceId, 'Every ten minutes'),
			]);
			for (const executionId of executionIds) {
				expect((await main.finished(executionId)).status).toBe('success');
			}
			expect(register.row(id)).toMatchObject({ state: 'accepted', attempts: 2 });
			expect(paymentsWith(id)).toMatchObject([{ amount: 10.5 }]);
		});
	});

	describe('many callers of two workflows at once with the same list, some of them backwards', () => {
		const CALLS = IS_LONG ? 24 : 12;
		const list = newIds(IS_LONG ? 60 : 20);
		const backwards = [...list].reverse();
		let calls: Array<{ order: string[]; answers: Answer[] }>;
		beforeAll(async () => {
			const calling = Array.from({ length: CALLS }, async (_none, index) => {
				const order = index % 3 === 0 ? backwards : list;
				const lines = order.map((id) => line(id));
				const answers = await payOnce(lines, index % 2 === 0 ? caller : otherCaller);
				return { order, answers };
			});
			calls = await Promise.all(calling);
		});

		test('each payout arrives once', () => {
			expect(arrivals(list)).toStrictEqual(list.map(() => 1));
		});

		test('one caller of all calls a payout its own', () => {
			const own: string[] = [];
			for (const { answers } of calls) {
				for (const { external_id, mine } of answers) {
					if (mine) own.push(external_id);
				}
			}
			expect(own.sort()).toStrictEqual([...list].sort());
		});

		test('each caller gets its items in its order', () => {
			for (const { order, answers } of calls) {
				expect(answers.map(({ external_id }) => external_id)).toStrictEqual(order);
			}
		});
	});

	describe('a worker that is killed while it pays a list', () => {
		const list = newIds(45);
		const lines = list.map((id) => line(id));
		/** The payouts of the list that a run has claimed, and of which it has said no more. */
		function claimedIds(): string[] {
			const claimed = register.rows("state = 'claimed'").map(({ external_id }) => external_id);
			return claimed.filter((id) => list.includes(id)).sort();
		}
		let inDoubt: string[];
		let answers: Answer[];
		beforeAll(async () => {
			sandbox.faultFor = () => ({ kind: 'delay', ms: 300 });
			const [last] = queue.sql('SELECT coalesce(max(id), 0) FROM execution_entity');
			startCall(lines);
			await until('some to arrive', async () => countArrived(list) > 20);
			const [executionId = ''] = queue.sql(
				`SELECT id FROM execution_entity WHERE id > ${last} ORDER BY id LIMIT 1`,
			);
			const victim = queue.workerOf(executionId)!;
			await victim.kill();
			// What it had sent to PostgreSQL is carried out then.
			await pause(1_000);
			inDoubt = claimedIds();
			print(
				`killed: ${inDoubt.length} of 45 in doubt, ${countArrived(inDoubt)} of them had arrived`,
			);
			await victim.launch();
			answers = await payOnce(lines);
			await untilNoExecutionMoves();
		});

		test('leaves some in doubt, at most twenty', () => {
			expect(inDoubt.length).toBeGreaterThan(0);
			expect(inDoubt.length).toBeLessThanOrEqual(20);
		});

		test('has the rest paid by another call, once each', () => {
			const others = list.filter((id) => !inDoubt.includes(id));
			expect(arrivals(others)).toStrictEqual(others.map(() => 1));
		});

		test('has none of those in doubt paid again: they stay so', () => {
			expect(Math.max(...arrivals(inDoubt))).toBeLessThanOrEqual(1);
			for (const { external_id, state } of answers) {
				if (inDoubt.includes(external_id)) expect(state).toBe('claimed');
			}
			expect(claimedIds()).toStrictEqual(inDoubt);
		});
	});

	describe('two postbacks at once to each of several waits, with a payment behind them', () => {
		const charges = newIds(IS_LONG ? 40 : 10);
		const payouts = charges.map((charge) => `out-${charge}`);
		beforeAll(async () => {
			const first = start();
			const out = set(
				'Payout',
				"={{ { external_id: 'out-' + $('Charge').first().json.external_id, amount: '2', key: 'k' } }}",
			);
			const nodes = [first, splitItems(), ...chargeAndWait(), out, callOf('Pay once', payOnceId)];
			const id = await main.importWorkflow(chain('Two postbacks', nodes), { payApi });
			await main.activate(id);
			for (const charge of charges) {
				await call(queue.webhook, first.webhookId, { items: [{ id: charge }] });
			}
			await until('all to wait', async () => {
				const waiting = queue.sql(
					`SELECT id FROM execution_entity WHERE "workflowId" = '${id}' AND status = 'waiting'`,
				);
				return waiting.length === charges.length;
			});
			for (const charge of charges) {
				const { postbackUrl } = sandbox.transactions.find(
					({ external_id }) => external_id === charge,
				)!;
				const post = async () => await fetch(postbackUrl!, { method: 'POST', body: '{}' });
				await Promise.all([post(), post()]);
			}
			await until('all to be paid', async () => !arrivals(payouts).includes(0));
			await untilNoExecutionMoves();
		});

		test('each payment arrives once, on n8n 1 too', () => {
			expect(arrivals(payouts)).toStrictEqual(payouts.map(() => 1));
		});

		test('each payment was claimed once', () => {
			const attempts = payouts.map((id) => register.row(id)!.attempts);
			expect(attempts).toStrictEqual(payouts.map(() => 1));
		});
	});

	test('a person’s open transaction holds up its own row alone', async () => {
		const held = randomUUID();
		const free = randomUUID();
		await payOnce([line(held)]);
		const close = await queue.openTransaction(
			`UPDATE payout_register SET reason = 'looking' WHERE external_id = '${held}'`,
			'payouts',
		);
		try {
			expect(await payOnce([line(free)])).toMatchObject([
				{ external_id: free, state: 'accepted', mine: true },
			]);
		} finally {
			await close();
		}
	});

	/** What happens to the processes while the callers call. */
	async function makeTrouble(trouble: TroubledCalls['trouble']): Promise<void> {
		const victim = queue.workers.at(-1)!;
		switch (trouble) {
			case 'nothing':
				return;
			case 'a worker killed':
				await victim.kill();
				await pause(1_000);
				return await victim.launch();
			case 'a worker frozen for 20 s':
				victim.freeze();
				await pause(20_000);
				return victim.thaw();
			case 'PostgreSQL restarted':
				return await queue.restartPostgres();
			case 'Redis restarted':
				return await queue.restartRedis();
		}
	}

	/** So many lists of so many payouts each; each list is called for so many times, by both callers. */
	interface TroubledCalls {
		trouble:
			| 'nothing'
			| 'a worker killed'
			| 'a worker frozen for 20 s'
			| 'PostgreSQL restarted'
			| 'Redis restarted';
		lists: number;
		payoutsEach: number;
		times: number;
	}
	const TROUBLED_CALLS: TroubledCalls[] = [
		{ trouble: 'nothing', lists: 60, payoutsEach: 1, times: 1 },
		{ trouble: 'nothing', lists: 4, payoutsEach: 50, times: 1 },
		{ trouble: 'nothing', lists: 10, payoutsEach: 1, times: 20 },
		{ trouble: 'a worker killed', lists: 4, payoutsEach: 50, times: 1 },
		{ trouble: 'a worker frozen for 20 s', lists: 4, payoutsEach: 50, times: 1 },
		{ trouble: 'PostgreSQL restarted', lists: 4, payoutsEach: 50, times: 1 },
		{ trouble: 'Redis restarted', lists: 4, payoutsEach: 50, times: 1 },
	];

	async function untilNothingArrivesForEightSeconds() {
		await until(
			'nothing to arrive',
			async () => {
				const before = sandbox.received.length;
				await pause(8_000);
				return sandbox.received.length === before;
			},
			300,
		);
	}

	describeLong.each(TROUBLED_CALLS)(
		'$trouble, $lists lists of $payoutsEach, each called for $times times, and all again',
		({ trouble, lists: count, payoutsEach, times }) => {
			const lists = Array.from({ length: count }, () => newIds(payoutsEach));
			const all = lists.flat();
			/** How often each payout arrived, and the row that it has, if it has one. */
			let payouts: Array<{ id: string; arrived: number; row: Row | undefined }>;

			function callForAll(): void {
				let next = caller;
				for (const list of lists) {
					for (let time = 0; time < times; time++) {
						startCall(
							list.map((id) => line(id)),
							next,
						);
						next = next === caller ? otherCaller : caller;
					}
				}
			}

			beforeAll(async () => {
				// Nothing here may take long: this process carries the n8ns' connections to PostgreSQL.
				sandbox.faultFor = () => ({ kind: 'delay', ms: 100 });
				const before = sandbox.received.length;
				refusedCalls = 0;
				callForAll();
				await until('some to arrive', async () => sandbox.received.length > before, 300);
				await makeTrouble(trouble);
				await untilNothingArrivesForEightSeconds();
				callForAll();
				await untilNothingArrivesForEightSeconds();

				const rows = new Map(register.rows().map((row) => [row.external_id, row]));
				const counts = arrivals(all);
				payouts = all.map((id, index) => ({
					id,
					arrived: counts[index]!,
					row: rows.get(id),
				}));
				const inState: Record<string, number> = {};
				for (const { row } of payouts) {
					const state = row?.state ?? 'none';
					inState[state] = (inState[state] ?? 0) + 1;
				}
				print(
					`${trouble} | ${count} lists of ${payoutsEach}, ${times} times | ${JSON.stringify(inState)} | most arrivals ${Math.max(...counts)} | ${refusedCalls} calls got 503`,
				);
			});

			test('some payout arrives, and none twice', () => {
				expect(Math.max(...payouts.map(({ arrived }) => arrived))).toBe(1);
			});

			test('a payout that is accepted arrived, one that was not sent did not; of others there is doubt', () => {
				const wrong = payouts.filter(({ arrived, row }) => {
					switch (row?.state) {
						case 'accepted':
							return arrived !== 1;
						// Without its database the duplicate check fails, and a person releases what was not sent.
						case 'notSent':
							return arrived !== 0;
						case 'claimed':
						case 'unknown':
							return false;
						default:
							return true;
					}
				});
				expect(wrong).toStrictEqual([]);
			});
		},
	);

	testLong('what it costs, beside a Pay node of the same workflow', async () => {
		const first = start({ responseMode: 'lastNode', responseData: 'allEntries' });
		const payNode = pay(
			'Pay',
			{ amount: '={{ $json.amount }}', external_id: '={{ $json.external_id }}' },
			{ onError: 'continueRegularOutput' },
		);
		const workflow = chain('Pay alone', [first, splitItems(), payNode]);
		await main.activate(await main.importWorkflow(workflow, { payApi }));
		const payNodeAlone: Caller = { path: first.webhookId };
		/** How long it takes to pay a new list, in ms. */
		const timeOf = async (through: Caller, count: number) => {
			const lines = newIds(count).map((id) => line(id));
			const begun = Date.now();
			expect(await payOnce(lines, through)).toHaveLength(count);
			return Date.now() - begun;
		};
		for (const count of [1, 10, 100]) {
			const alone: number[] = [];
			const once: number[] = [];
			for (let round = 0; round < 3; round++) {
				alone.push(await timeOf(payNodeAlone, count));
				once.push(await timeOf(caller, count));
			}
			print(`${count} items: Pay alone ${median(alone)} ms, pay-once ${median(once)} ms`);
		}
	});

	reachesLastNodes('pay-once', () => main);
});
