import { randomUUID } from 'node:crypto';
import { median } from '../../dev/bench/figures';
import { pause, until, type N8n, type Workflow } from '../../dev/n8n';
import { PayoutRegister, ready } from './payoutRegister';
import type { QueueMode } from './queue';
import { call, chain, pay, splitItems, start } from '../../dev/workflow';
import type { Sandbox } from '../../sandbox/service';
import { chargeAndWait } from './chargeAndWait';
import { reachesLastNodes } from './lastNodes';
import { newIds, VERSIONS, withQueueMode, type Credential } from './nodes';
import { callOf, set } from './otherNodes';

/** `PAY_QUEUE=long` measures with five workers; without it, each kind once with two. */
const LONG = process.env.PAY_QUEUE === 'long';
const long = LONG ? test : test.skip;
if (LONG) jest.setTimeout(3_600_000);

/** What a call gives for each of its items. */
interface Answer {
	external_id: string;
	state: string;
	reason: string;
	mine: boolean;
	differs: boolean;
}

describe.each(VERSIONS)('n8n %s in queue mode', (version) => {
	let queue: QueueMode;
	let main: N8n;
	let sandbox: Sandbox;
	let payApi: Credential;
	withQueueMode(version, (running) => ({ queue, main, sandbox, payApi } = running));
	let register: PayoutRegister;
	let payOnce: Workflow;
	let payOnceId: string;
	/** Two workflows that call it and answer with its items, as their webhooks' paths. */
	let callers: Array<{ id: string; path: string }>;

	beforeAll(async () => {
		register = await PayoutRegister.open(queue);
		payOnce = ready('pay-once', register.credentials);
		payOnceId = await main.importWorkflow(payOnce, { payApi });
		await main.activate(payOnceId);
		callers = await Promise.all([caller(), caller()]);
		if (LONG) while (queue.workers.length < 5) await queue.addWorker();
	});
	afterEach(() => {
		sandbox.faultFor = undefined;
	});

	async function caller(workflowId = payOnceId) {
		const first = start({ responseMode: 'lastNode', responseData: 'allEntries' });
		const id = await main.importWorkflow(
			chain('A caller', [first, splitItems(), callOf('Pay once', workflowId)]),
		);
		await main.activate(id);
		return { id, path: first.webhookId };
	}

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
	const linesOf = (ids: string[]) => ids.map((id) => line(id));
	async function ask(items: Line[], { path }: { path: string } = callers[0]!): Promise<Answer[]> {
		const answer = await call(queue.webhook, path, { items });
		expect(answer.status).toBe(200);
		return (await answer.json()) as Answer[];
	}
	/** What arrived at the service for an external_id. */
	function arrived(id: string): Array<Record<string, unknown>> {
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
	/** Waits until no execution moves. */
	async function quiet() {
		await until('no execution to move', async () => {
			const moving = queue.sql(
				"SELECT id FROM execution_entity WHERE status IN ('new', 'running') LIMIT 1",
			);
			await pause(300);
			return moving.length === 0;
		});
	}

	const table: string[] = [];
	/** A long run may be ended before its end. */
	const note = (row: string) => {
		table.push(row);
		if (LONG) process.stderr.write(`${row}\n`);
	};
	afterAll(() => console.log(table.map((row) => `n8n ${version} | ${row}`).join('\n')));

	describe('on an empty database, a list of good and bad lines', () => {
		const [good, rejected, lost, spaced, comma, ambiguous, nobody] = newIds(7) as [
			string,
			string,
			string,
			string,
			string,
			string,
			string,
		];
		let first: Answer[];
		beforeAll(async () => {
			register.drop();
			sandbox.faultFor = ({ body }) => {
				if (body.includes(rejected)) return { kind: 'status', status: 422 };
				if (body.includes(lost)) return { kind: 'reset-after-body' };
				return undefined;
			};
			first = await ask([
				line(good),
				line('nul-\u0000'),
				line(rejected),
				line('caf\u00e9-1\u200b'),
				line(lost),
				line(comma, '12,00'),
				line(ambiguous, 1.125),
				line(''),
				line(` ${spaced} `, 7),
				{ ...line(nobody), key: '' },
				line(good),
				line(4711.5),
				line('[object Object]'),
			]);
			sandbox.faultFor = undefined;
		});

		test('gives one item for each line, in their order', () => {
			expect(first).toMatchObject([
				{ external_id: good, state: 'accepted', mine: true },
				{ external_id: 'nul-\u0000', state: 'notSent', mine: false },
				{ external_id: rejected, state: 'rejected', mine: true },
				{ external_id: 'caf\u00e9-1\u200b', state: 'notSent', mine: false },
				{ external_id: lost, state: 'unknown', mine: true },
				{ external_id: comma, state: 'notSent', mine: true },
				{ external_id: ambiguous, state: 'notSent', mine: true },
				{ external_id: '', state: 'notSent', mine: false },
				{ external_id: spaced, state: 'accepted', mine: true },
				{ external_id: nobody, state: 'notSent', mine: false },
				// The first of two lines in one batch is paid, and the other has its end.
				{ external_id: good, state: 'accepted', mine: false },
				{ external_id: '', state: 'notSent', mine: false },
				{ external_id: '[object Object]', state: 'notSent', mine: false },
			]);
			for (const { differs } of first) expect(differs).toBe(false);
		});

		test('says why of each that was not paid', () => {
			expect(first[1]!.reason).toContain('Not a payout: ');
			expect(first[2]!.reason).toContain(`The service rejected payment "${rejected}" (HTTP 422)`);
			expect(first[4]!.reason).toContain(`It is not known whether payment "${lost}" was made`);
			expect(first[6]!.reason).toContain('can be read in two ways: "1.125"');
		});

		test('sends the good lines alone, once each', () => {
			expect(arrivals([good, rejected, lost, spaced])).toStrictEqual([1, 1, 1, 1]);
			expect(sandbox.bodies('payment')).toHaveLength(4);
		});

		test('is not paid again by a second call, which is told of a line that differs', async () => {
			const before = sandbox.received.length;
			const again = await ask([
				line(good),
				line(rejected),
				line(lost),
				line(spaced, '7.00'),
				line(good, '10.51'),
				{ ...line(good), key: 'other@example.com' },
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
		expect(await ask([line(null)])).toMatchObject([
			{ external_id: '', state: 'notSent', mine: false },
		]);
	});

	test('composed and decomposed characters are one identifier', async () => {
		const id = randomUUID();
		const answers = await ask([line(`${id}-caf\u00e9`), line(`${id}-cafe\u0301`)]);
		expect(answers).toMatchObject([{ mine: true }, { mine: false }]);
		expect(arrivals([`${id}-caf\u00e9`, `${id}-cafe\u0301`])).toStrictEqual([1, 0]);
	});

	test('the key type and the description of a line are sent', async () => {
		const id = randomUUID();
		await ask([{ ...line(id), keyType: 'email', description: 'Invoice 7' }]);
		expect(arrived(id)).toMatchObject([
			{
				payerQuestion: 'Invoice 7',
				creditParty: { key: 'someone@example.com', keyType: 'email' },
			},
		]);
	});

	test('what a person released is paid by the workflow’s own schedule, once, and only with its own amount', async () => {
		const id = randomUUID();
		expect(await ask([line(id, '10,50')])).toMatchObject([{ state: 'notSent' }]);
		register.sql(
			`UPDATE payout_register SET state = 'due', amount = '10.50' WHERE external_id = '${id}'`,
		);
		expect(await ask([line(id, '99')])).toMatchObject([
			{ state: 'due', mine: false, differs: true },
		]);
		const executionIds = await Promise.all([
			main.run(payOnceId, 'Every ten minutes'),
			main.run(payOnceId, 'Every ten minutes'),
		]);
		for (const executionId of executionIds) {
			expect((await main.finished(executionId)).status).toBe('success');
		}
		expect(register.row(id)).toMatchObject({ state: 'accepted', attempts: 2 });
		expect(arrived(id)).toMatchObject([{ amount: 10.5 }]);
	});

	describe('many callers of two workflows at once with the same list, some of them backwards', () => {
		const CALLS = LONG ? 24 : 12;
		const list = newIds(LONG ? 60 : 20);
		const backwards = [...list].reverse();
		let answers: Array<{ order: string[]; items: Answer[] }>;
		beforeAll(async () => {
			answers = await Promise.all(
				Array.from({ length: CALLS }, async (_none, index) => {
					const order = index % 3 === 0 ? backwards : list;
					return { order, items: await ask(linesOf(order), callers[index % 2]) };
				}),
			);
		});

		test('each payout arrives once', () => {
			expect(arrivals(list)).toStrictEqual(list.map(() => 1));
		});

		test('one caller of all calls a payout its own', () => {
			const own: string[] = [];
			for (const { items } of answers) {
				for (const { external_id, mine } of items) if (mine) own.push(external_id);
			}
			expect(own.sort()).toStrictEqual([...list].sort());
		});

		test('each caller gets its items in its order', () => {
			for (const { order, items } of answers) {
				expect(items.map(({ external_id }) => external_id)).toStrictEqual(order);
			}
		});
	});

	/**
	 * Sends without waiting for the end; an answer may never come, where a worker is killed. On a busy
	 * machine n8n's own check of its database can run out of time: it answers 503, and a caller calls
	 * again.
	 */
	let refused = 0;
	const send = (items: Line[], { path } = callers[0]!) => {
		const sendAgain = async () => {
			const answer = await call(queue.webhook, path, { items });
			await answer.text();
			if (answer.status !== 503) return;
			refused++;
			await pause(1_000);
			await sendAgain();
		};
		sendAgain().catch(() => undefined);
	};

	describe('a worker that is killed while it pays a list', () => {
		const list = newIds(45);
		/** The payouts of the list that a run has claimed, and of which it has said no more. */
		const claimedIds = () =>
			register
				.rows("state = 'claimed'")
				.map(({ external_id }) => external_id)
				.filter((id) => list.includes(id));
		let inDoubt: string[];
		let answers: Answer[];
		beforeAll(async () => {
			sandbox.faultFor = () => ({ kind: 'delay', ms: 300 });
			const last = Number(queue.sql('SELECT coalesce(max(id), 0) FROM execution_entity')[0]);
			send(linesOf(list));
			const arrivedOnce = () => arrivals(list).filter((count) => count > 0).length;
			await until('some to arrive', async () => arrivedOnce() > 20);
			const [execution = ''] = queue.sql(
				`SELECT id FROM execution_entity WHERE id > ${last} ORDER BY id LIMIT 1`,
			);
			const victim = queue.workerOf(execution)!;
			await victim.kill();
			await pause(1_000);
			inDoubt = claimedIds();
			const before = arrivals(inDoubt).filter((count) => count > 0).length;
			note(`killed: ${inDoubt.length} of 45 in doubt, ${before} of them had arrived`);
			await victim.launch();
			answers = await ask(linesOf(list));
			await quiet();
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
			const states = answers.filter(({ external_id }) => inDoubt.includes(external_id));
			for (const { state } of states) expect(state).toBe('claimed');
			expect(claimedIds().sort()).toStrictEqual([...inDoubt].sort());
		});
	});

	test('two postbacks at once to one wait: the payment behind it is made once, on n8n 1 too', async () => {
		const first = start();
		const out = set(
			'Payout',
			"={{ { external_id: 'out-' + $('Charge').first().json.external_id, amount: '2', key: 'k' } }}",
		);
		const behind = [...chargeAndWait(), out, callOf('Pay once', payOnceId)];
		const workflow = chain('Two postbacks', [first, splitItems(), ...behind]);
		const id = await main.importWorkflow(workflow, { payApi });
		await main.activate(id);
		const list = newIds(LONG ? 40 : 10);
		const payoutIds = list.map((one) => `out-${one}`);
		for (const one of list) await call(queue.webhook, first.webhookId, { items: [{ id: one }] });
		await until('all to wait', async () => {
			const waiting = queue.sql(
				`SELECT id FROM execution_entity WHERE "workflowId" = '${id}' AND status = 'waiting'`,
			);
			return waiting.length === list.length;
		});
		const calls = () =>
			Number(
				queue.sql(`SELECT count(*) FROM execution_entity WHERE "workflowId" = '${payOnceId}'`)[0],
			);
		const before = calls();
		for (const one of list) {
			const { postbackUrl } = sandbox.transactions.find((known) => known.external_id === one)!;
			const post = async () => await fetch(postbackUrl!, { method: 'POST', body: '{}' });
			await Promise.all([post(), post()]);
		}
		await until('all to be paid', async () => !arrivals(payoutIds).includes(0));
		await quiet();
		expect(arrivals(payoutIds)).toStrictEqual(payoutIds.map(() => 1));
		const attempts = payoutIds.map((payoutId) => register.row(payoutId)!.attempts);
		expect(attempts).toStrictEqual(payoutIds.map(() => 1));
		note(
			`two postbacks at once: ${list.length} of ${list.length} paid once in ${calls() - before} calls`,
		);
	});

	test('a person’s open transaction holds up its own row alone', async () => {
		const [held, free] = newIds(2) as [string, string];
		await ask([line(held)]);
		const close = await queue.openTransaction(
			`UPDATE payout_register SET reason = 'looking' WHERE external_id = '${held}'`,
			'payouts',
		);
		try {
			expect(await ask([line(free)])).toMatchObject([
				{ external_id: free, state: 'accepted', mine: true },
			]);
		} finally {
			await close();
		}
	});

	/** What happens to the processes while the callers call. */
	const TROUBLES = {
		nothing: async () => undefined,
		'a worker killed': async () => {
			const victim = queue.workers.at(-1)!;
			await victim.kill();
			await pause(1_000);
			await victim.launch();
		},
		'a worker frozen for 20 s': async () => {
			const victim = queue.workers.at(-1)!;
			victim.freeze();
			await pause(20_000);
			victim.thaw();
		},
		'PostgreSQL restarted': async () => await queue.restartPostgres(),
		'Redis restarted': async () => await queue.restartRedis(),
	};
	/** So many lists are called for, by one caller after the other; each so many times. */
	interface TroubledCalls {
		trouble: keyof typeof TROUBLES;
		lists: number;
		itemsEach: number;
		times: number;
	}
	const TROUBLED_CALLS: TroubledCalls[] = [
		{ trouble: 'nothing', lists: 60, itemsEach: 1, times: 1 },
		{ trouble: 'nothing', lists: 4, itemsEach: 50, times: 1 },
		{ trouble: 'nothing', lists: 10, itemsEach: 1, times: 20 },
		{ trouble: 'a worker killed', lists: 4, itemsEach: 50, times: 1 },
		{ trouble: 'a worker frozen for 20 s', lists: 4, itemsEach: 50, times: 1 },
		{ trouble: 'PostgreSQL restarted', lists: 4, itemsEach: 50, times: 1 },
		{ trouble: 'Redis restarted', lists: 4, itemsEach: 50, times: 1 },
	];
	/** Waits until no request arrives for 8 s. */
	async function silent() {
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
	long.each(TROUBLED_CALLS)(
		'$trouble, $lists lists of $itemsEach, each $times times: each id arrives at most once, and once where its state says so',
		async ({ trouble, lists: count, itemsEach, times }) => {
			const lists = Array.from({ length: count }, () => newIds(itemsEach));
			const all = lists.flat();
			sandbox.faultFor = () => ({ kind: 'delay', ms: 100 });
			const callAll = () => {
				let caller = 0;
				for (const list of lists) {
					for (let time = 0; time < times; time++) {
						send(linesOf(list), callers[caller++ % 2]);
					}
				}
			};
			// Nothing here may take long: this process carries the n8ns' connections to PostgreSQL.
			const before = sandbox.received.length;
			refused = 0;
			callAll();
			await until('some to arrive', async () => sandbox.received.length > before, 300);
			await TROUBLES[trouble]();
			await silent();
			callAll();
			await silent();
			const counts = arrivals(all);
			const most = Math.max(...counts);
			const stateOf = new Map(register.rows().map((row) => [row.external_id, row.state]));
			const states = all.map((id) => stateOf.get(id) ?? 'none');
			const told = [...new Set(states)]
				.map((state) => `${states.filter((each) => each === state).length} ${state}`)
				.join(', ');
			note(
				`${trouble} | ${count} lists of ${itemsEach}, ${times} times | ${told} | most arrivals ${most} | ${refused} calls got 503`,
			);
			expect(most).toBe(1);
			for (const [index, id] of all.entries()) {
				const row = { id, state: states[index], arrived: counts[index] };
				// Without its database the duplicate check fails, and a person releases what was not sent.
				if (row.state === 'accepted') expect(row).toMatchObject({ arrived: 1 });
				else if (row.state === 'notSent') expect(row).toMatchObject({ arrived: 0 });
				else expect(['claimed', 'unknown']).toContain(row.state);
			}
		},
	);

	long('what it costs, beside a Pay node of the same workflow', async () => {
		const first = start({ responseMode: 'lastNode', responseData: 'allEntries' });
		const alone = pay(
			'Pay',
			{ amount: '={{ $json.amount }}', external_id: '={{ $json.external_id }}' },
			{ onError: 'continueRegularOutput' },
		);
		await main.activate(
			await main.importWorkflow(chain('Pay alone', [first, splitItems(), alone]), { payApi }),
		);
		for (const count of [1, 10, 100]) {
			const took = { alone: [] as number[], once: [] as number[] };
			for (let round = 0; round < 3; round++) {
				for (const way of ['alone', 'once'] as const) {
					const path = way === 'alone' ? first.webhookId : callers[0]!.path;
					const begun = Date.now();
					const answer = await ask(linesOf(newIds(count)), { path });
					took[way].push(Date.now() - begun);
					expect(answer).toHaveLength(count);
				}
			}
			note(`${count} items: Pay alone ${median(took.alone)} ms, pay-once ${median(took.once)} ms`);
		}
	});

	reachesLastNodes('pay-once', () => main);
});
