import { randomUUID } from 'node:crypto';
import { median } from '../../dev/bench/figures';
import { pause, until, type N8n, type Workflow } from '../../dev/n8n';
import { nodeOf, PayoutRegister, ready } from './payoutRegister';
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

	type Line = { external_id: unknown; amount: unknown; key?: unknown; keyType?: string };
	const line = (external_id: unknown, amount: unknown = '10.50'): Line => ({
		external_id,
		amount,
		key: 'someone@example.com',
	});
	async function ask(items: Line[], { path }: { path: string } = callers[0]!): Promise<Answer[]> {
		const answer = await call(queue.webhook, path, { items });
		expect(answer.status).toBe(200);
		return (await answer.json()) as Answer[];
	}
	/** How often each external_id arrived at the service. */
	function arrivals(): (id: string) => number {
		const counted = new Map<string, number>();
		for (const { external_id } of sandbox.bodies('payment')) {
			const id = String(external_id);
			counted.set(id, (counted.get(id) ?? 0) + 1);
		}
		return (id) => counted.get(id) ?? 0;
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

	test('on an empty database: one item out for each that came in, in its order, and no second call pays again', async () => {
		register.drop();
		const [good, refused, lost, other] = newIds(4) as [string, string, string, string];
		sandbox.faultFor = ({ body }) =>
			body.includes(refused)
				? { kind: 'status', status: 422 }
				: body.includes(lost)
					? { kind: 'reset-after-body' }
					: undefined;
		const list = [
			line(good),
			line('nul-\u0000'),
			line(refused),
			line('caf\u00e9-1\u200b'),
			line(lost),
			line(`${other}-comma`, '12,00'),
			line(`${other}-two readings`, 1.125),
			line(''),
			line(` ${other} `, 7),
			{ ...line(`${other}-nobody`), key: '' },
			line(good),
			line(4711.5),
			line('[object Object]'),
		];
		const first = await ask(list);
		const rows = first.map(({ external_id, state, mine, differs }) => [
			external_id,
			state,
			mine,
			differs,
		]);
		expect(rows).toStrictEqual([
			[good, 'accepted', true, false],
			['nul-\u0000', 'notSent', false, false],
			[refused, 'rejected', true, false],
			['caf\u00e9-1\u200b', 'notSent', false, false],
			[lost, 'unknown', true, false],
			[`${other}-comma`, 'notSent', true, false],
			[`${other}-two readings`, 'notSent', true, false],
			['', 'notSent', false, false],
			[other, 'accepted', true, false],
			[`${other}-nobody`, 'notSent', false, false],
			// The first of two lines in one batch is paid, and the other has its end.
			[good, 'accepted', false, false],
			['', 'notSent', false, false],
			['[object Object]', 'notSent', false, false],
		]);
		expect(first[1]!.reason).toMatch(/^Not a payout: /);
		expect(first[2]!.reason).toMatch(/^The service rejected payment .* \(HTTP 422\)/);
		expect(first[4]!.reason).toMatch(/^It is not known whether payment /);
		expect(first[6]!.reason).toMatch(/can be read in two ways: "1\.125"/);
		expect(sandbox.bodies('payment').map(({ external_id }) => external_id)).toStrictEqual(
			expect.arrayContaining([good, refused, lost, other]),
		);
		const sent = sandbox.received.length;

		sandbox.faultFor = undefined;
		const again = await ask([
			line(good),
			line(refused),
			line(lost),
			line(other, '7.00'),
			line(good, '10.51'),
			{ ...line(good), key: 'other@example.com' },
		]);
		expect(again.map(({ state, mine, differs }) => [state, mine, differs])).toStrictEqual([
			['accepted', false, false],
			['rejected', false, false],
			['unknown', false, false],
			['accepted', false, false],
			['accepted', false, true],
			['accepted', false, true],
		]);
		// One item alone, which is refused.
		expect(await ask([line(null)])).toStrictEqual([
			expect.objectContaining({ external_id: '', state: 'notSent', mine: false }),
		]);
		expect(sandbox.received.length).toBe(sent);
	});

	test('composed and decomposed characters are one identifier, and a row has a key type and a description', async () => {
		const id = randomUUID();
		const [one, other] = await ask([
			{ ...line(`${id}-caf\u00e9`), keyType: 'email', description: 'Invoice 7' } as Line,
			line(`${id}-cafe\u0301`),
		]);
		expect([one!.mine, other!.mine, other!.differs]).toStrictEqual([true, false, true]);
		const sent = sandbox
			.bodies('payment')
			.filter(({ external_id }) => String(external_id).startsWith(id));
		expect(sent).toStrictEqual([
			expect.objectContaining({
				external_id: `${id}-caf\u00e9`,
				payerQuestion: 'Invoice 7',
				creditParty: { key: 'someone@example.com', keyType: 'email' },
			}),
		]);
	});

	test('what a person released is paid by the workflow’s own schedule, once, and only with its own amount', async () => {
		const id = randomUUID();
		sandbox.faultFor = () => ({ kind: 'status', status: 422 });
		const [first] = await ask([line(id, '10,50')]);
		expect(first).toMatchObject({ state: 'notSent' });
		sandbox.faultFor = undefined;
		register.sql(
			`UPDATE payout_register SET state = 'due', amount = '10.50' WHERE external_id = '${id}'`,
		);
		const [stale] = await ask([line(id, '99')]);
		expect(stale).toMatchObject({ state: 'due', mine: false, differs: true });
		const runs = await Promise.all(
			[1, 2].map(async () => await main.run(payOnceId, 'Every ten minutes')),
		);
		for (const run of runs) expect((await main.finished(run)).status).toBe('success');
		expect(register.row(id)).toMatchObject({ state: 'accepted', attempts: 2 });
		expect(sandbox.bodies('payment').filter(({ external_id }) => external_id === id)).toStrictEqual(
			[expect.objectContaining({ amount: 10.5 })],
		);
	});

	const CALLS = LONG ? 24 : 12;
	test(`${CALLS} callers of two workflows at once with the same list: each is paid once, and one of them calls it its own`, async () => {
		const list = newIds(LONG ? 60 : 20);
		const answers = await Promise.all(
			Array.from({ length: CALLS }, async (_none, index) => {
				const mine = index % 3 === 0 ? [...list].reverse() : list;
				return await ask(
					mine.map((id) => line(id)),
					callers[index % 2],
				);
			}),
		);
		const arrived = arrivals();
		expect(list.map(arrived)).toStrictEqual(list.map(() => 1));
		const paidBy = answers.flat().filter(({ mine }) => mine);
		expect(paidBy.map(({ external_id }) => external_id).sort()).toStrictEqual([...list].sort());
		for (const [index, answer] of answers.entries()) {
			const order = index % 3 === 0 ? [...list].reverse() : list;
			expect(answer.map(({ external_id }) => external_id)).toStrictEqual(order);
		}
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

	test('a worker that is killed leaves at most twenty in doubt; another call pays the rest, and none twice', async () => {
		const list = newIds(45);
		sandbox.faultFor = () => ({ kind: 'delay', ms: 300 });
		const last = Number(queue.sql('SELECT coalesce(max(id), 0) FROM execution_entity')[0]);
		send(list.map((id) => line(id)));
		await until('some to arrive', async () => list.filter(arrivals()).length > 20);
		const [execution = ''] = queue.sql(
			`SELECT id FROM execution_entity WHERE id > ${last} ORDER BY id LIMIT 1`,
		);
		const victim = queue.workerOf(execution)!;
		await victim.kill();
		await pause(1_000);
		const claimed = () =>
			register
				.rows("state = 'claimed'")
				.filter(({ external_id }) => list.some((id) => id === external_id));
		const inDoubt = claimed();
		expect(inDoubt.length).toBeLessThanOrEqual(20);
		expect(inDoubt.length).toBeGreaterThan(0);
		const before = inDoubt.filter(({ external_id }) => arrivals()(external_id) > 0).length;
		await victim.launch();
		const answers = await ask(list.map((id) => line(id)));
		await quiet();
		const arrived = arrivals();
		for (const { external_id, state } of answers) {
			const left = inDoubt.some((row) => row.external_id === external_id);
			if (!left) expect([external_id, arrived(external_id)]).toStrictEqual([external_id, 1]);
			else expect([state, arrived(external_id) <= 1]).toStrictEqual(['claimed', true]);
		}
		expect(claimed()).toHaveLength(inDoubt.length);
		note(`killed: ${inDoubt.length} of 45 in doubt, ${before} of them had arrived`);
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
			const post = async () => (await fetch(postbackUrl!, { method: 'POST', body: '{}' })).status;
			await Promise.all([post(), post()]);
		}
		await until('all to be paid', async () => list.every((one) => arrivals()(`out-${one}`) > 0));
		await quiet();
		const times = calls() - before;
		const arrived = arrivals();
		expect(list.map((one) => arrived(`out-${one}`))).toStrictEqual(list.map(() => 1));
		const twice = list.filter((one) => register.row(`out-${one}`)!.attempts > 1);
		expect(twice).toStrictEqual([]);
		note(`two postbacks at once: ${list.length} of ${list.length} paid once in ${times} calls`);
	});

	test('a role that may only read and write is enough, and a person’s open transaction holds up its own row alone', async () => {
		register.sql(`
			CREATE ROLE paying LOGIN;
			REVOKE CREATE ON SCHEMA public FROM PUBLIC;
			GRANT SELECT, INSERT, UPDATE ON payout_register, payout_heard TO paying;
		`);
		const { host, port } = queue.postgresAddress;
		const server = { host, port, database: 'payouts', user: 'paying', password: 'none' };
		const postgres = await main.createCredential({ ...server, ssl: 'disable' }, 'postgres', 'Less');
		const workflow = ready('pay-once', { ...register.credentials, postgres });
		const sub = await main.importWorkflow(workflow, { payApi });
		await main.activate(sub);
		const [held, free] = newIds(2) as [string, string];
		await ask([line(held)]);
		const asking = await caller(sub);
		const close = await queue.openTransaction(
			`UPDATE payout_register SET reason = 'looking' WHERE external_id = '${held}'`,
			'payouts',
		);
		try {
			const [answer] = await ask([line(free)], asking);
			expect(answer).toMatchObject({ external_id: free, state: 'accepted', mine: true });
		} finally {
			await close();
		}
		// The control: the statement that makes the table is one that this role may not carry out.
		const { query } = nodeOf(workflow, 'Set up').parameters as { query: string };
		expect(() =>
			queue.sql(query.replaceAll('payout_register', 'another'), 'payouts', 'paying'),
		).toThrow(/permission denied/);
	});

	/** What happens to the processes while the callers call; gives what has to be done after it. */
	const TROUBLES = {
		nothing: async () => async () => undefined,
		'a worker killed': async () => {
			const victim = queue.workers.at(-1)!;
			await victim.kill();
			return async () => await victim.launch();
		},
		'a worker frozen for 20 s': async () => {
			const victim = queue.workers.at(-1)!;
			victim.freeze();
			await pause(20_000);
			victim.thaw();
			return async () => undefined;
		},
		'PostgreSQL restarted': async () => {
			await queue.restartPostgres();
			return async () => undefined;
		},
		'Redis restarted': async () => {
			await queue.restartRedis();
			return async () => undefined;
		},
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
						send(
							list.map((id) => line(id)),
							callers[caller++ % 2],
						);
					}
				}
			};
			// Nothing here may take long: this process carries the n8ns' connections to PostgreSQL.
			const before = sandbox.received.length;
			refused = 0;
			callAll();
			await until('some to arrive', async () => sandbox.received.length > before, 300);
			const after = await TROUBLES[trouble]();
			await pause(1_000);
			await after();
			await silent();
			callAll();
			await silent();
			const arrived = arrivals();
			const most = Math.max(...all.map(arrived));
			const stateOf = new Map(register.rows().map((row) => [row.external_id, row.state]));
			const states = all.map((id) => stateOf.get(id) ?? 'none');
			const counted = [...new Set(states)]
				.map((state) => `${states.filter((each) => each === state).length} ${state}`)
				.join(', ');
			note(
				`${trouble} | ${count} lists of ${itemsEach}, ${times} times | ${counted} | most arrivals ${most} | ${refused} calls got 503`,
			);
			expect(most).toBe(1);
			for (const [index, id] of all.entries()) {
				// Without its database the duplicate check fails, and a person releases what was not sent.
				const expected = { accepted: 1, notSent: 0 }[states[index]!];
				if (expected !== undefined) expect([id, arrived(id)]).toStrictEqual([id, expected]);
				else expect(['claimed', 'unknown']).toContain(states[index]);
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
					const answer = await ask(
						newIds(count).map((id) => line(id)),
						{ path },
					);
					took[way].push(Date.now() - begun);
					expect(answer).toHaveLength(count);
				}
			}
			note(`${count} items: Pay alone ${median(took.alone)} ms, pay-once ${median(took.once)} ms`);
		}
	});

	reachesLastNodes('pay-once', () => main);
});
