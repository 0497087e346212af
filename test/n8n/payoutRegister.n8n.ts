import { randomUUID } from 'node:crypto';
import { itemsOf, pause, until, type N8n } from '../../dev/n8n';
import { PayoutRegister, type Payout, type Row } from '../../dev/payoutRegister';
import type { QueueMode } from '../../dev/queue';
import { call, chain, node, pay, splitItems, start, type Node } from '../../dev/workflow';
import { signUrl } from '../../nodes/Pay/postback/proof';
import { Sandbox } from '../../sandbox/service';
import { startN8n, startQueueMode, VERSIONS } from './nodes';

/** `npm run test:queue` tries everything; without it, each kind once. */
const LONG = process.env.PAY_QUEUE === 'long';
const long = LONG ? test : test.skip;
if (LONG) jest.setTimeout(3_600_000);

const SECRET = 'the postback secret of the register';
const PAYOUTS = 200;
const EXECUTIONS = 20;

/** What becomes of a payout at the service at first; a person has it put right later. */
type Fate = 'paid' | 'refused' | 'lost, made' | 'lost, not made';
/** An amount that the sandbox pays, and whose answer it cuts off. */
const CUT_OFF = '9.02';

describe.each(VERSIONS)('n8n %s in queue mode', (version) => {
	let queue: QueueMode;
	let main: N8n;
	let sandbox: Sandbox;
	let register: PayoutRegister;
	let payApi: { id: string; name: string };
	let workflowId: string;

	beforeAll(async () => {
		sandbox = await Sandbox.start({ amountsAct: true });
		queue = await startQueueMode(version);
		main = queue.main;
		register = await PayoutRegister.open(queue);
		payApi = await main.createCredential({
			baseUrl: sandbox.url,
			accessToken: 'token',
			postbackSecret: SECRET,
			postbackUrl: queue.webhook.url + register.postbackPath,
		});
		workflowId = await main.importWorkflow(register.workflow, { payApi });
		await main.activate(workflowId);
		const { query } = register.node('Create the register').parameters as { query: string };
		register.sql(query);
		register.watch();
	});
	afterAll(async () => {
		await queue?.stop();
		await sandbox?.close();
	});
	afterEach(() => {
		sandbox.faultFor = undefined;
		register.sql('DELETE FROM payout_register; TRUNCATE transition, followed');
	});

	/** Figures of the loads, printed when all is done. */
	const table: string[] = [];
	afterAll(() => console.log(table.map((row) => `n8n ${version} | ${row}`).join('\n')));

	const idOf = (body: string) => (JSON.parse(body) as { external_id?: string }).external_id ?? '';
	/** How often each external_id arrived at the service, and how often it was paid there. */
	function books() {
		const [arrived, paid] = [new Map<string, number>(), new Map<string, number>()];
		const count = (map: Map<string, number>, id: string) => map.set(id, (map.get(id) ?? 0) + 1);
		for (const { path, body } of sandbox.received) {
			if (path.endsWith('/payment') && body !== '') count(arrived, idOf(body));
		}
		for (const { external_id } of sandbox.transactions) count(paid, external_id);
		const times = (map: Map<string, number>) => (id: string) => map.get(id) ?? 0;
		return { arrived: times(arrived), paid: times(paid) };
	}
	const amountsPaid = () =>
		Object.fromEntries(
			sandbox.transactions.map(({ external_id, amount }) => [external_id, amount]),
		);
	const states = (rows: Row[]) =>
		Object.fromEntries(rows.map(({ external_id, state }) => [external_id, state]));
	const counted = (values: string[]) =>
		[...new Set(values)]
			.sort()
			.map((value) => `${values.filter((each) => each === value).length} ${value}`)
			.join(', ');
	const payout = (id: string, amount: string | number = '10.50'): Payout => ({
		...{ id, amount, key: `${id}@example.com` },
	});
	const ids = (count: number) => Array.from({ length: count }, () => randomUUID());

	/** Runs the workflow with a list; gives the execution, once it has ended. */
	async function ran(list: Payout[]) {
		const before = new Set(await main.executionIds(workflowId));
		await register.send(list);
		const id = await until('the execution', async () => {
			const found = await main.executionIds(workflowId);
			// Its own postbacks may follow it.
			return found.filter((each) => !before.has(each)).at(-1);
		});
		return await main.finished(id);
	}

	test('twenty first runs at once make one register, and pay its one payout once', async () => {
		const [id] = ids(1) as [string];
		register.sql('DROP TABLE payout_register');
		const sent = Array.from({ length: EXECUTIONS }, async () => await register.send([payout(id)]));
		await Promise.all(sent);
		const ended = await until('all to end', async () => {
			const rows = queue.sql(
				`SELECT status FROM execution_entity WHERE "workflowId" = '${workflowId}'`,
			);
			const moving = rows.some((status) => /new|running/.test(status));
			return rows.length === EXECUTIONS && !moving && rows;
		});
		expect(ended).toStrictEqual(Array(EXECUTIONS).fill('success'));
		expect(states(register.rows())).toStrictEqual({ [id]: 'accepted' });
		expect([books().arrived(id), books().paid(id)]).toStrictEqual([1, 1]);
		register.watch();
	});

	test('each row tells what became of its payout; the same list again sends nothing, and what a person released is paid', async () => {
		const [good, refused, comma, cut, gone] = ids(5) as [string, string, string, string, string];
		const list = [
			payout(good, '10.50'),
			payout(refused, 7),
			payout(comma, '12,00'),
			payout(cut, CUT_OFF),
			payout(gone, 3.1),
		];
		sandbox.faultFor = ({ body }) => {
			if (idOf(body) === refused) return { kind: 'status', status: 422 };
			return idOf(body) === gone ? { kind: 'reset-after-body' } : undefined;
		};
		const before = sandbox.received.length;
		expect((await ran(list)).status).toBe('success');
		const first = {
			[good]: 'accepted',
			[refused]: 'rejected',
			[comma]: 'notSent',
			[cut]: 'unknown',
			[gone]: 'unknown',
		};
		const rows = register.rows();
		expect(states(rows)).toStrictEqual(first);
		const reasonOf = (id: string) => rows.find(({ external_id }) => external_id === id)?.reason;
		expect(reasonOf(good)).toBeNull();
		expect(reasonOf(refused)).toMatch(/^The service rejected payment .* \(HTTP 422\)/);
		expect(reasonOf(comma)).toMatch(/^Amount \(amount\) .*"12,00"/);
		expect(reasonOf(gone)).toMatch(/^It is not known whether payment .* was made.*Ask the service/);
		expect(amountsPaid()).toMatchObject({ [good]: 10.5, [cut]: 9.02 });
		expect(sandbox.received.length - before).toBe(4);

		expect((await ran(list)).status).toBe('success');
		expect(states(register.rows())).toStrictEqual(first);
		expect(sandbox.received.length - before).toBe(4);

		sandbox.faultFor = undefined;
		register.sql(
			`UPDATE payout_register SET amount = '12.00', state = 'due' WHERE external_id = '${comma}' AND state = 'notSent';
			UPDATE payout_register SET state = 'due' WHERE external_id = '${refused}' AND state = 'rejected'`,
		);
		// The list still says "12,00": what a person released after a try stands.
		expect((await ran(list)).status).toBe('success');
		expect(states(register.rows())).toStrictEqual({
			...first,
			[refused]: 'accepted',
			[comma]: 'accepted',
		});
		expect(amountsPaid()).toMatchObject({ [refused]: 7, [comma]: 12 });
		expect(sandbox.received.length - before).toBe(6);
	});

	test('more rows than one claim takes are all paid by one run, whichever way the first ones go', async () => {
		const list = ids(13).map((id) => payout(id));
		const refused = new Set(list.slice(0, 5).map(({ id }) => id));
		sandbox.faultFor = ({ body }) =>
			refused.has(idOf(body)) ? { kind: 'status', status: 422 } : undefined;
		expect((await ran(list)).status).toBe('success');
		const expected = list.map(({ id }) => [id, refused.has(id) ? 'rejected' : 'accepted']);
		expect(states(register.rows())).toStrictEqual(Object.fromEntries(expected));
		const { arrived } = books();
		expect(list.map(({ id }) => arrived(id))).toStrictEqual(Array(13).fill(1));
	});

	test('two lines that disagree about a payout nobody has tried: neither is paid, a person decides', async () => {
		const [one, other] = ids(2) as [string, string];
		await ran([payout(one, 5), payout(other), payout(one, 6)]);
		const [row] = register.rows(`external_id = '${one}'`);
		expect(row).toMatchObject({ state: 'notSent', amount: '5', attempts: 0 });
		expect(row?.reason).toMatch(/^A later line of a list says 6 to /);
		expect([books().arrived(one), books().paid(other)]).toStrictEqual([0, 1]);
	});

	test('a due row of another workflow is left alone: it may be another account’s', async () => {
		const [theirs, ours] = ids(2) as [string, string];
		register.sql(
			`INSERT INTO payout_register (external_id, amount, recipient, workflow_id) VALUES ('${theirs}', '1', 'a', 'another')`,
		);
		await ran([payout(ours)]);
		expect(states(register.rows())).toStrictEqual({ [theirs]: 'due', [ours]: 'accepted' });
		expect(books().arrived(theirs)).toBe(0);
	});

	test('a line without an identifier stops the run before anything is paid', async () => {
		const [one] = ids(1) as [string];
		const { status, data } = await ran([payout(one), { ...payout(''), id: '' }]);
		expect([status, data.resultData.error?.message]).toStrictEqual([
			'error',
			expect.stringContaining('a_payout_needs_an_external_id'),
		]);
		expect(books().arrived(one)).toBe(0);
		// The control: without that line it is paid.
		await ran([payout(one)]);
		expect(books().paid(one)).toBe(1);
	});

	test('a Pay node that is handed rows of another execution sends none of them', async () => {
		const other = structuredClone(register.workflow);
		const find = (name: string) => other.nodes.find((each) => each.name === name)!;
		const path = randomUUID();
		Object.assign(find('Start'), { webhookId: path });
		Object.assign(find('Start').parameters as object, { path });
		Object.assign(find('Pay Trigger'), { webhookId: randomUUID() });
		// As where a person executes the step with the output of an earlier run.
		const handed = register.query('Claim the next', 'SELECT * FROM payout_register');
		Object.assign(find('Claim the next'), { parameters: handed.parameters });
		Object.assign(find('Claimed by this run'), {
			...{ type: 'n8n-nodes-base.noOp', typeVersion: 1, parameters: {} },
		});
		delete other.connections['Both written'];
		const id = await main.importWorkflow(other, { payApi });
		await main.activate(id);
		const [one] = ids(1) as [string];
		register.sql(
			`INSERT INTO payout_register (external_id, amount, recipient, workflow_id, state, attempts, execution_id)
			VALUES ('${one}', '1', 'a', '${id}', 'claimed', 1, 'another')`,
		);
		await call(queue.webhook, path, { items: [payout(one)] });
		const [execution] = await until('the execution', async () => {
			const found = await main.executionIds(id);
			return found.length > 0 && (await Promise.all(found.map((each) => main.finished(each))));
		});
		const errors = itemsOf(execution!, 'Pay', 0, 1).map(({ error }) => error);
		expect(errors).toStrictEqual([expect.objectContaining({ outcome: 'notSent' })]);
		expect(books().arrived(one)).toBe(0);
		expect(states(register.rows())).toStrictEqual({ [one]: 'unknown' });
	});

	test('an outcome that could not be written stays claimed; the editor’s Retry writes it and pays nothing again', async () => {
		const [one] = ids(1) as [string];
		register.sql(`
			CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$;
			CREATE TRIGGER refuse BEFORE UPDATE ON payout_register FOR EACH ROW
				WHEN (NEW.state = 'accepted') EXECUTE FUNCTION refuse();
		`);
		const { id, status } = await ran([payout(one)]);
		expect([status, states(register.rows())]).toStrictEqual(['error', { [one]: 'claimed' }]);
		register.sql('DROP TRIGGER refuse ON payout_register; DROP FUNCTION refuse');
		const { data } = await main.rest<{ data: { id?: string } }>('POST', `/executions/${id}/retry`, {
			loadWorkflow: false,
		});
		await until('the outcome', async () => states(register.rows())[one] === 'accepted');
		expect(data).toBeDefined();
		expect(books().arrived(one)).toBe(1);
	});

	test('what is in doubt for longer than the limit is shown to a person, and not paid', async () => {
		const [old, fresh, unknown, settled] = ids(4) as [string, string, string, string];
		const insert = (id: string, state: string, minutes: number) =>
			register.sql(
				`INSERT INTO payout_register (external_id, amount, recipient, workflow_id, state, attempts, execution_id, claimed_at)
				VALUES ('${id}', '1', 'a', '${workflowId}', '${state}', 1, '1', now() - interval '${minutes} minutes')`,
			);
		insert(old, 'claimed', 31);
		insert(fresh, 'claimed', 29);
		insert(unknown, 'unknown', 40);
		insert(settled, 'settled', 90);
		const execution = await main.finished(await main.run(workflowId, 'Every hour'));
		const [report, ...more] = itemsOf(execution, 'Tell a person');
		expect(more).toStrictEqual([]);
		const shown = (report?.rows as Row[]).map(({ external_id, state }) => [external_id, state]);
		expect(shown).toStrictEqual([
			[unknown, 'unknown'],
			[old, 'claimed'],
		]);
		const { arrived } = books();
		for (const id of [old, fresh, unknown, settled]) expect(arrived(id)).toBe(0);
		register.sql('DELETE FROM payout_register');
		const nothing = await main.finished(await main.run(workflowId, 'Every hour'));
		expect(nothing.data.resultData.runData).not.toHaveProperty('Tell a person');
	});

	test('only a verified postback about a payment settles a row, and one for a row still claimed is not overwritten', async () => {
		const [one, charge, early] = ids(3) as [string, string, string];
		register.sql(
			`INSERT INTO payout_register (external_id, amount, recipient, workflow_id, state)
			VALUES ('${one}', '1', 'a', '1', 'accepted'), ('${charge}', '1', 'a', '1', 'accepted')`,
		);
		const url = queue.webhook.url + register.postbackPath;
		const post = async (id: string, kind: 'payment' | 'qrCode', secret: string, status: string) =>
			(
				await fetch(signUrl(url, { external_id: id, kind, amount: 1 }, secret), {
					method: 'POST',
					headers: { 'Content-Type': 'application/json' },
					body: JSON.stringify({ status }),
				})
			).status;
		expect(await post(one, 'payment', 'another secret', 'paid')).toBe(401);
		expect(await post(one, 'payment', SECRET, 'waiting')).toBe(200);
		expect(await post(charge, 'qrCode', SECRET, 'paid')).toBe(200);
		expect(states(register.rows())).toStrictEqual({ [one]: 'accepted', [charge]: 'accepted' });
		expect(await post(one, 'payment', SECRET, 'failed')).toBe(200);
		expect(await post(one, 'payment', SECRET, 'paid')).toBe(200);
		expect(register.rows(`external_id = '${one}'`)).toMatchObject([
			{ state: 'settled', reported: 'failed' },
		]);

		// It is reported before the answer to the request.
		await ran([payout(early, '1.05')]);
		expect(register.rows(`external_id = '${early}'`)).toMatchObject([
			{ state: 'settled', reported: 'paid' },
		]);
		expect(register.sql('SELECT external_id FROM followed').sort()).toStrictEqual(
			[one, early].sort(),
		);
	});

	const fateOf = (index: number): Fate =>
		index % 10 === 3
			? 'refused'
			: index % 20 === 7
				? 'lost, made'
				: index % 20 === 17
					? 'lost, not made'
					: 'paid';

	/** A list of which the service refuses a tenth, and loses the answer to a tenth. */
	function orderedList(): Payout[] {
		const list = ids(PAYOUTS).map((id, index) =>
			payout(id, fateOf(index) === 'lost, made' ? CUT_OFF : '10.50'),
		);
		const fates = new Map(list.map(({ id }, index) => [id, fateOf(index)]));
		sandbox.faultFor = ({ body }) => {
			switch (fates.get(idOf(body))) {
				case 'refused':
					return { kind: 'status', status: 422 };
				case 'lost, not made':
					return { kind: 'reset-after-body' };
				default:
					return { kind: 'delay', ms: 100 };
			}
		};
		return list;
	}

	const arrivals = (list: Payout[]) => {
		const { arrived } = books();
		return list.filter(({ id }) => arrived(id) > 0).length;
	};

	/** Whether a row was in the hands of a run that is gone: nobody can say whether it was sent. */
	type IsLost = (row: Row) => boolean;

	/**
	 * Kills a worker when a quarter has arrived, restarts Redis at half, and brings the worker back.
	 * @returns which rows that worker had claimed, and when it is there again
	 */
	async function disturb(list: Payout[]): Promise<{ isLost: IsLost; back: Promise<void> }> {
		const victim = queue.workers.at(-1)!;
		await until('a quarter to arrive', async () => arrivals(list) >= list.length / 4);
		await victim.kill();
		// What it had sent to PostgreSQL is carried out then, and what it had printed is in the log.
		await pause(1_000);
		const at = Date.now();
		const took = victim.log;
		await until('half to arrive', async () => arrivals(list) >= list.length / 2);
		await queue.restartRedis();
		const back = victim.launch();
		back.catch(() => undefined);
		// Executions that n8n 1 gives to the other worker keep their id.
		const isLost: IsLost = ({ execution_id, claimed_at }) =>
			Date.parse(claimed_at!) <= at && took.includes(`execution ${execution_id} `);
		return { isLost, back };
	}

	/** Waits until nothing arrives for a while, and no living run has a row in its hands. */
	async function quiet(isLost: IsLost) {
		let last = '';
		await until(
			'nothing to move',
			async () => {
				const rows = register.rows();
				const inHand = rows.filter((row) => row.state === 'claimed' && !isLost(row));
				const now = JSON.stringify([states(rows), sandbox.received.length]);
				const same = now === last;
				last = now;
				await pause(1_000);
				return same && inHand.length === 0;
			},
			120,
		);
	}

	/** Runs the workflow until nothing is due; n8n may need a moment after Redis was restarted. */
	async function payWhatIsDue(list: Payout[], isLost: IsLost) {
		await until(
			'nothing to be due',
			async () => {
				await register.send(list.slice(0, 1)).catch(() => undefined);
				await quiet(isLost);
				return register.rows("state = 'due'").length === 0;
			},
			120,
		);
	}

	/** The rows that do not agree with the service's books, and how. */
	function disagreements(rows: Row[], isLost: IsLost): string[] {
		const { arrived, paid } = books();
		const agrees = (row: Row) => {
			const { external_id: id, state } = row;
			switch (state) {
				case 'due':
				case 'notSent':
					return arrived(id) === 0;
				case 'accepted':
					return paid(id) === 1;
				case 'rejected':
					return arrived(id) === 1 && paid(id) === 0;
				case 'unknown':
					return arrived(id) === 1;
				case 'claimed':
					return arrived(id) <= 1 && isLost(row);
				default:
					return false;
			}
		};
		return rows
			.filter((row) => !agrees(row))
			.map(
				(row) =>
					`${row.external_id} ${row.state} of ${row.execution_id}: arrived ${arrived(row.external_id)}, paid ${paid(row.external_id)}`,
			);
	}

	/**
	 * What a person does, who asks the service about each payout in doubt and has the refused ones
	 * put right. An unknown payout that was not made gets a new identifier, as the node demands.
	 * @returns how many rows were changed
	 */
	function decide(newIds: Map<string, string>): number {
		const { paid } = books();
		let changed = 0;
		const set = (id: string, what: string) => {
			register.sql(`UPDATE payout_register SET ${what} WHERE external_id = '${id}'`);
			changed++;
		};
		for (const { external_id: id, state, amount } of register.rows("state <> 'accepted'")) {
			if (newIds.has(id)) continue;
			if (state === 'rejected' || state === 'notSent') set(id, "state = 'due'");
			else if (paid(id) > 0) set(id, "state = 'accepted'");
			else if (state === 'claimed') set(id, "state = 'due'");
			else {
				const other = `${id}/2`;
				newIds.set(id, other);
				set(id, `state = 'rejected', reason = 'Not known to the service; now ${other}'`);
				register.sql(
					`INSERT INTO payout_register (external_id, amount, recipient, workflow_id) VALUES ('${other}', '${amount}', 'a', '${workflowId}')`,
				);
			}
		}
		return changed;
	}

	/** Has every payment reported three times at once; gives how often each settled and was followed. */
	async function reportThrice(list: string[]) {
		const wanted = new Set(list);
		const known = sandbox.transactions.filter(({ external_id }) => wanted.has(external_id));
		const [last = '0'] = queue.sql('SELECT max(id) FROM execution_entity');
		for (let each = 0; each < known.length; each += 5) {
			const some = known.slice(each, each + 5);
			await Promise.all(
				some.flatMap(({ id }) => [1, 2, 3].map(async () => await sandbox.settle(id, 'paid'))),
			);
		}
		// On a busy machine a delivery may be given up, and be repeated while the first still runs.
		const runs = await until('all deliveries to be worked off', async () => {
			const rows = queue.sql(`SELECT status FROM execution_entity WHERE id > ${last}`);
			return !rows.some((status) => /new|running/.test(status)) && rows;
		});
		const settled = register.sql("SELECT external_id FROM transition WHERE became = 'settled'");
		return { runs, settled, followed: register.sql('SELECT external_id FROM followed') };
	}

	const ROUNDS = LONG ? 3 : 1;
	test(`${PAYOUTS} payouts, ${EXECUTIONS} executions at once with the same list, a worker killed, Redis restarted, 10 % refused and 10 % of the answers lost: each arrives at most once, and every row agrees with the books (${ROUNDS} times)`, async () => {
		for (let round = 0; round < ROUNDS; round++) {
			const list = orderedList();
			const begun = Date.now();
			const sends = Array.from({ length: EXECUTIONS }, async () => await register.send(list));
			const [{ isLost, back }] = await Promise.all([disturb(list), ...sends]);
			await quiet(isLost);
			const atFirst = counted(register.rows().map(({ state }) => state));
			await payWhatIsDue(list, isLost);
			const seconds = Math.round((Date.now() - begun) / 1000);

			const rows = register.rows();
			expect(rows).toHaveLength(PAYOUTS);
			expect(disagreements(rows, isLost)).toStrictEqual([]);
			expect(rows.filter(({ attempts }) => attempts !== 1)).toStrictEqual([]);
			const { arrived } = books();
			const most = Math.max(...list.map(({ id }) => arrived(id)));
			expect(most).toBe(1);
			const claimed = rows.filter(({ state }) => state === 'claimed');
			const perExecution = claimed.map(({ execution_id }) => execution_id);
			// No run leaves more than one claim takes.
			for (const id of perExecution) {
				expect(perExecution.filter((each) => each === id).length).toBeLessThanOrEqual(5);
			}
			const sent = claimed.filter(({ external_id }) => arrived(external_id) > 0).length;
			table.push(
				`register: ${counted(rows.map(({ state }) => state))} after ${seconds} s (before the last run: ${atFirst}); of the claimed ${sent} had arrived; most arrivals of one: ${most}`,
			);
			for (const change of Object.keys(register.transitions())) {
				expect(change).toMatch(/^(due > claimed|claimed > (accepted|rejected|notSent|unknown))$/);
			}
			expect(register.transitions()['due > claimed']).toBe(PAYOUTS);

			await back;
			// A person decides; nobody's payout is lost, and none is paid twice.
			sandbox.faultFor = undefined;
			const newIds = new Map<string, string>();
			let turns = 0;
			while (decide(newIds) > 0 && turns++ < 4) await payWhatIsDue(list, () => false);
			const { paid } = books();
			const times = list.map(({ id }) => paid(id) + paid(newIds.get(id) ?? ''));
			expect(times).toStrictEqual(Array(PAYOUTS).fill(1));
			table.push(
				`register, after a person's ${turns} turns: ${counted(register.rows().map(({ state }) => state))}, ${newIds.size} of them under a new id`,
			);

			const some = [...list.map(({ id }) => id), ...newIds.values()]
				.filter((id) => paid(id) === 1)
				.slice(0, LONG ? PAYOUTS : 20);
			const { runs, settled, followed } = await reportThrice(some);
			expect(runs.length).toBeGreaterThanOrEqual(3 * some.length);
			expect(settled.sort()).toStrictEqual([...some].sort());
			expect(followed.sort()).toStrictEqual([...some].sort());
			table.push(
				`register: of ${runs.length} deliveries about ${some.length} payouts ${settled.length} settled a row, and ${followed.length} were followed`,
			);
			register.sql('DELETE FROM payout_register; TRUNCATE transition, followed');
		}
	});

	long.each(['workflow', 'workers'])(
		'the same load with the Duplicate Check alone (%s)',
		async (duplicateCheck) => {
			const first = start();
			const options = { duplicateCheck, batching: { batch: { batchSize: 25, batchInterval: 0 } } };
			const paying = pay(
				'Pay',
				{ amount: '={{ $json.amount }}', external_id: '={{ $json.id }}', options },
				{ onError: 'continueErrorOutput' },
			);
			const id = await main.importWorkflow(chain('Check alone', [first, splitItems(), paying]), {
				payApi,
			});
			await main.activate(id);
			const send = async (items: Payout[]) => await call(queue.webhook, first.webhookId, { items });
			// The first record of a node is made in another way than those that follow.
			const warm = [payout(randomUUID())];
			await send(warm);
			await until('the first', async () => arrivals(warm) === 1);
			const list = orderedList();
			const sends = Array.from({ length: EXECUTIONS }, async () => await send(list));
			const [{ back }] = await Promise.all([disturb(list), ...sends]);
			await back;
			let last = '';
			await until(
				'nothing to arrive',
				async () => {
					const { arrived } = books();
					const now = list.map(({ id: each }) => arrived(each)).join();
					const same = now === last;
					last = now;
					await pause(6_000);
					return same;
				},
				300,
			);
			const { arrived, paid } = books();
			const made = list.filter(({ id: each }) => paid(each) > 0).length;
			const twice = list.filter(({ id: each }) => paid(each) > 1).length;
			const most = Math.max(...list.map(({ id: each }) => arrived(each)));
			table.push(
				`Duplicate Check alone (${duplicateCheck}): ${made} of ${PAYOUTS} paid, ${twice} paid twice or more; most arrivals of one: ${most}`,
			);
			expect(made).toBeGreaterThan(PAYOUTS / 2);
		},
	);

	/** A data table of n8n as the register, in a queue and in the n8n that most people begin with. */
	describe('n8n’s data tables', () => {
		let single: N8n;
		beforeAll(async () => {
			if (LONG) single = await startN8n(version);
		});
		afterAll(async () => await single?.stop());

		long.each(['PostgreSQL, two workers', 'SQLite, one process'])(
			'as the register, on %s: 20 executions at once claim none of 50 payouts twice; those that they add themselves may be paid twice',
			async (place) => {
				const isQueue = place.startsWith('PostgreSQL');
				const [via, entry] = isQueue ? [main, queue.webhook] : [single, single];
				const account = await via.createCredential({ baseUrl: sandbox.url, accessToken: 'token' });
				const { data: project } = await via.rest('GET', '/projects/personal');
				const { data: made } = await via.rest('POST', `/projects/${project.id}/data-tables`, {
					name: `payouts ${randomUUID().slice(0, 8)}`,
					columns: ['external_id', 'state', 'execution_id'].map((name) => ({
						...{ name, type: 'string' },
					})),
				});
				const row = (name: string, operation: string, conditions: object[], value: object = {}) =>
					node(name, 'n8n-nodes-base.dataTable', {
						...{ resource: 'row', operation, matchType: 'allConditions', options: {} },
						dataTableId: { __rl: true, mode: 'id', value: made.id },
						filters: { conditions },
						columns: { mappingMode: 'defineBelow', value, matchingColumns: [], schema: [] },
					});
				const isIt = (field: string) => ({
					...{ keyName: 'external_id', condition: 'eq', keyValue: `={{ $json.${field} }}` },
				});
				const isDue = { keyName: 'state', condition: 'eq', keyValue: 'due' };
				const due = { external_id: '={{ $json.id }}', state: 'due', execution_id: 'none' };
				const add = () => row('Add', 'insert', [], due);
				const claim = (field: string) => [
					row('Claim', 'update', [isIt(field), isDue], {
						...{ state: 'claimed', execution_id: '={{ String($execution.id) }}' },
					}),
					node(
						'Claimed by this run',
						'n8n-nodes-base.filter',
						register.node('Claimed by this run').parameters as object,
						{ typeVersion: 2.2 },
					),
					pay(
						'Pay',
						{
							...{ amount: 1, external_id: '={{ $json.external_id }}' },
							options: {
								duplicateCheck: 'execution',
								batching: { batch: { batchSize: 25, batchInterval: 0 } },
							},
						},
						{ onError: 'continueRegularOutput' },
					),
				];
				/** Publishes the nodes and runs them so many times at once; gives how the runs ended. */
				const run = async (nodes: Node[], times: number, list: string[]) => {
					const first = start();
					const workflow = chain('Data table', [first, splitItems(), ...nodes]);
					const id = await via.importWorkflow(workflow, { payApi: account });
					await via.activate(id);
					const items = list.map((each) => ({ id: each }));
					const sends = Array.from({ length: times }, async () => {
						await call(entry, first.webhookId, { items });
					});
					await Promise.all(sends);
					// n8n 1's SQLite may leave some of them running for good.
					let now: string[] = [];
					const end = async () => {
						const all = await Promise.all(
							(await via.executionIds(id)).map(async (each) => await via.execution(each)),
						);
						now = all.map(({ status }) => status);
						return now.length >= times && !now.some((status) => /new|running/.test(status));
					};
					await until('all to end', end, 240).catch(() => undefined);
					return counted(now);
				};
				const figures = (list: string[]) => {
					const { arrived } = books();
					const paid = list.filter((id) => arrived(id) > 0).length;
					const twice = list.filter((id) => arrived(id) > 1).length;
					return `${paid} of ${list.length} paid, ${twice} twice or more`;
				};
				const [there, added] = [ids(50), ids(50)];
				await run([add()], 1, there);
				const claimed = await run(claim('id'), EXECUTIONS, there);
				table.push(`data table, ${place}: claimed alone: ${figures(there)} (${claimed})`);
				const absent = row('Not there?', 'rowNotExists', [isIt('id')]);
				const both = await run([absent, add(), ...claim('external_id')], EXECUTIONS, added).catch(
					(error: unknown) => String(error).slice(0, 80),
				);
				table.push(`data table, ${place}: added and claimed: ${figures(added)} (${both})`);
				const { arrived } = books();
				expect(there.filter((id) => arrived(id) > 1)).toStrictEqual([]);
			},
		);
	});
});
