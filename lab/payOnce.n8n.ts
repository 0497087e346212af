import { randomUUID } from 'node:crypto';
import { itemsOf, pause, until, type N8n } from '../dev/n8n';
import { majorOf } from '../dev/versions';
import type { Sandbox } from '../sandbox/service';
import { allIn, sectionOf } from '../test/markdown';
import { newIds, VERSIONS, withQueueMode, type Credential } from '../test/n8n/nodes';
import type { QueueMode } from '../test/n8n/queue';
import { line, outcomeOf, PayOnce, type Answer } from '../test/n8n/examples/payOnceTable';

describe.each(VERSIONS)('n8n %s in queue mode', (version) => {
	const isN8n2 = majorOf(version) === 2;
	const workers = isN8n2 ? 5 : 2;
	// Several workers, one of which dies or stands still: n8n 1 gives its jobs away (docs/pay-once.md).
	const describeOnN8n2 = isN8n2 ? describe : describe.skip;
	const testOnN8n2 = isN8n2 ? test : test.skip;
	let queue: QueueMode;
	let main: N8n;
	let sandbox: Sandbox;
	let payApi: Credential;
	let payOnce: PayOnce;
	withQueueMode(version, (running) => ({ queue, main, sandbox, payApi } = running));
	beforeAll(async () => {
		while (queue.workers.length < workers) await queue.addWorker();
		payOnce = await PayOnce.setUp(queue, payApi);
	});
	afterEach(() => {
		sandbox.faultFor = undefined;
	});

	/** How often each of these arrived at the service, in their order. */
	function arrivals(ids: string[]): number[] {
		const counts = new Map<unknown, number>();
		for (const { external_id } of sandbox.bodies('payment'))
			counts.set(external_id, (counts.get(external_id) ?? 0) + 1);
		return ids.map((id) => counts.get(id) ?? 0);
	}
	const countArrived = (ids: string[]) => arrivals(ids).filter((count) => count > 0).length;

	async function untilNoExecutionMoves(): Promise<void> {
		const moving = "SELECT id FROM execution_entity WHERE status IN ('new', 'running') LIMIT 1";
		await until('no execution to move', async () => queue.sql(moving).length === 0, 300);
	}

	/** Begins a call of one line alone; gives its execution, which the worker's log names. */
	async function beginCall(begin: () => void): Promise<string> {
		const [last] = queue.sql('SELECT coalesce(max(id), 0) FROM execution_entity');
		begin();
		return await until('the execution', async () => {
			const [id] = queue.sql(`SELECT min(id) FROM execution_entity WHERE id > ${last}`);
			return id !== undefined && id !== '' && id;
		});
	}
	const workerOf = async (executionId: string) =>
		await until('a worker to take it', async () => queue.workerOf(executionId));

	const figures: string[] = [];
	const print = (figure: string) => figures.push(`n8n ${version}, ${workers} workers | ${figure}`);
	afterAll(() => console.log(figures.join('\n')));

	describe('a list of good and bad lines', () => {
		const good = randomUUID();
		const rejected = randomUUID();
		const lost = randomUUID();
		const spaced = randomUUID();
		const comma = randomUUID();
		const tooLong = randomUUID();
		const nobody = randomUUID();
		/** The lines of one call, each with what is to become of it. */
		const LINES: Array<[line: Parameters<typeof payOnce.pay>[0][number], outcome: string]> = [
			[line(good), 'accepted'],
			[line('nul-\u0000'), 'notSent'],
			[line(rejected), 'rejected'],
			[line('caf\u00e9-1\u200b'), 'notSent'],
			[line(lost), 'unknown'],
			[line(comma, '12,00'), 'notSent'],
			[line(tooLong, 0.1 + 0.2), 'notSent'],
			[line(''), 'notSent'],
			[line(` ${spaced} `, 7), 'accepted'],
			[{ external_id: nobody, amount: '10.50', key: '' }, 'notSent'],
			[line(good), 'duplicate'],
			[line(4711.5), 'notSent'],
			[{ ...line(good), amount: '10.51' }, 'duplicate'],
			[{ ...line(good), key: 'other@example.com' }, 'duplicate'],
		];
		let answers: Answer[];
		/** The answers to the lines of an External ID, in their order. */
		const answersTo = (external_id: string) =>
			answers.filter((_, index) => LINES[index]![0].external_id === external_id);
		beforeAll(async () => {
			sandbox.faultFor = ({ body }) => {
				if (body.includes(rejected)) return { kind: 'status', status: 422 };
				if (body.includes(lost)) return { kind: 'reset-after-body' };
				return undefined;
			};
			answers = await payOnce.pay(LINES.map(([each]) => each));
			sandbox.faultFor = undefined;
		});

		test('gives one item for each line, in their order, as a Pay node does', () => {
			expect(answers.map(outcomeOf)).toStrictEqual(LINES.map(([, outcome]) => outcome));
			const [paid] = answersTo(good);
			expect(paid).toMatchObject({ external_id: good, kind: 'payment', amount: 10.5 });
			expect(answersTo(` ${spaced} `)).toMatchObject([{ external_id: spaced }]);
		});

		test('says why of each that was not paid', () => {
			const whyNot = (external_id: string) => answersTo(external_id).at(-1)!.error!;
			expect(whyNot(rejected).message).toContain(
				`The service rejected payment "${rejected}" (HTTP 422)`,
			);
			expect(whyNot(lost).message).toContain(`It is not known whether payment "${lost}" was made`);
			expect(whyNot(comma).message).toBe(
				`Nothing was sent for payment "${comma}": it could not be claimed`,
			);
			expect(whyNot(comma).description).toContain('a number with a point, such as 10.50?');
			const [, again] = answersTo(good);
			expect(again!.error!.message).toMatch(/: execution \d+ has claimed it: no outcome yet$/);
		});

		test('of a line with another amount or recipient it says both', () => {
			const [, , otherAmount, otherRecipient] = answersTo(good);
			expect(otherAmount!.error!.message).toMatch(
				/\. The row says 10\.50 to someone@example\.com, this line 10\.51 to someone@example\.com$/,
			);
			expect(otherRecipient!.error!.message).toMatch(
				/\. The row says 10\.50 to someone@example\.com, this line 10\.50 to other@example\.com$/,
			);
		});

		test('sends the good lines alone, once each', () => {
			expect(arrivals([good, rejected, lost, spaced])).toStrictEqual([1, 1, 1, 1]);
			expect(arrivals([comma, tooLong, nobody])).toStrictEqual([0, 0, 0]);
		});

		test('called again, what was rejected or not sent is paid, corrected; the rest is refused', async () => {
			const again = await payOnce.pay([
				line(good),
				line(rejected, '9'),
				line(lost),
				line(spaced, '7.00'),
				line(tooLong, '0.30'),
			]);
			expect(again.map(outcomeOf)).toStrictEqual([
				'duplicate',
				'accepted',
				'duplicate',
				'duplicate',
				'accepted',
			]);
			expect(again[0]!.error!.message).toMatch(/: execution \d+ has claimed it: accepted$/);
			expect(arrivals([good, rejected, lost, spaced, tooLong])).toStrictEqual([1, 2, 1, 1, 1]);
			expect(payOnce.row(rejected)).toMatchObject({ amount: 9, outcome: 'accepted' });
		});

		test('what is in doubt is told, once it is ten minutes old', async () => {
			payOnce.sql(
				`UPDATE pay_once SET claimed_at = now() - interval '11 minutes' WHERE external_id = '${lost}'`,
			);
			const execution = await main.finished(await main.run(payOnce.workflowId, 'Every hour'));
			const told = itemsOf(execution, 'Tell a person').filter((row) => row.external_id === lost);
			expect(told).toMatchObject([{ outcome: 'unknown', recipient: 'someone@example.com' }]);
		});

		test('a person who asked decides, once, about the execution that was named', () => {
			const row = payOnce.row(lost)!;
			const NOTHING =
				'Nothing was changed: it is not in doubt, or another execution has claimed it';
			expect(payOnce.decide({ ...row, execution: '1' }, false)).toBe(NOTHING);
			expect(payOnce.decide(row, true)).toBe('Recorded as paid');
			expect(payOnce.decide(row, false)).toBe(NOTHING);
			expect(payOnce.row(lost)).toMatchObject({ outcome: 'accepted', reason: 'Ana asked' });
			const doubtful = `SELECT * FROM pay_once_in_doubt WHERE external_id = '${lost}'`;
			expect(payOnce.sql(doubtful)).toStrictEqual([]);
		});
	});

	test('what was paid is written whoever has the row: as it was paid, and that it was paid twice', () => {
		const id = randomUUID();
		const claim = (amount: string, execution: string) =>
			payOnce.sql(`SELECT * FROM pay_once_claim('${id}', '${amount}', 'a@x', '${execution}')`);
		const end = (amount: string, execution: string, outcome: string) =>
			payOnce.sql(
				`SELECT pay_once_end('${id}', '${amount}', 'a@x', '${execution}', '${outcome}', '')`,
			);
		expect(claim('10.50', 'one')).toStrictEqual(['t|']);
		expect(payOnce.decide(payOnce.row(id)!, false)).toContain('Released. ');
		expect(claim('99', 'two')).toStrictEqual(['t|']);
		expect(end('10.50', 'one', 'unknown')).toStrictEqual(['f']);
		expect(payOnce.row(id)).toMatchObject({ execution: 'two', outcome: null });
		expect(end('10.50', 'one', 'accepted')).toStrictEqual(['t']);
		expect(end('99', 'two', 'rejected')).toStrictEqual(['f']);
		expect(payOnce.row(id)).toMatchObject({
			amount: 10.5,
			execution: 'one',
			outcome: 'accepted',
			also_paid_by: null,
		});
		expect(end('99', 'two', 'accepted')).toStrictEqual(['f']);
		expect(end('10.50', 'one', 'accepted')).toStrictEqual(['t']);
		const doubtful = `SELECT amount, also_paid_by FROM pay_once_in_doubt WHERE external_id = '${id}'`;
		expect(payOnce.sql(doubtful)).toStrictEqual(['10.50|two']);
	});

	test('after a restore, what the statement has is written as paid: what is gone, and any row', () => {
		const section = sectionOf('docs/backups.md', '## Restore a backup');
		const [sql = ''] = allIn(section, /(INSERT INTO pay_once .*?;)/gs);
		const ids: string[] = [];
		/** What becomes of a row that says this outcome, or is gone. */
		const written = (row: string) => {
			const id = randomUUID();
			ids.push(id);
			const values = `'${id}', '12', 'anna@example.com', 'one'`;
			if (row !== 'gone') payOnce.sql(`SELECT pay_once_claim(${values})`);
			if (row !== 'gone' && row !== 'claimed') {
				payOnce.sql(`SELECT pay_once_end(${values}, '${row}', 'a reason')`);
			}
			payOnce.sql(sql.replace('invoice-2041', id));
			return payOnce.row(id);
		};
		const asPaid = {
			amount: 12.5,
			recipient: 'ana@example.com',
			outcome: 'accepted',
			reason: null,
		};
		for (const row of ['gone', 'claimed', 'rejected', 'notSent', 'unknown', 'duplicate']) {
			expect(written(row)).toMatchObject(asPaid);
		}
		expect(written('accepted')).toMatchObject({ amount: 12, execution: 'one', reason: 'a reason' });
		const claimed = (id: string) =>
			payOnce.sql(`SELECT claimed FROM pay_once_claim('${id}', '12.50', 'ana@example.com', 'two')`);
		for (const id of ids) expect(claimed(id)).toStrictEqual(['f']);
		expect(claimed(randomUUID())).toStrictEqual(['t']);
		const inDoubt = payOnce.sql('SELECT external_id FROM pay_once_in_doubt');
		expect(inDoubt.filter((id) => ids.includes(id))).toStrictEqual([]);
	});

	test('one line alone that is refused gives one item', async () => {
		expect((await payOnce.pay([line(null)])).map(outcomeOf)).toStrictEqual(['notSent']);
	});

	test('composed and decomposed characters are one identifier', async () => {
		const id = randomUUID();
		const answers = await payOnce.pay([line(`${id}-caf\u00e9`), line(`${id}-cafe\u0301`)]);
		expect(answers.map(outcomeOf)).toStrictEqual(['accepted', 'duplicate']);
	});

	test('the key type and the description of a line are sent', async () => {
		const id = randomUUID();
		await payOnce.pay([{ ...line(id), keyType: 'email', description: 'Invoice 7' }]);
		const sent = sandbox.bodies('payment').filter(({ external_id }) => external_id === id);
		expect(sent).toMatchObject([{ payerQuestion: 'Invoice 7', creditParty: { keyType: 'email' } }]);
	});

	test('many calls at once with one list, some of them backwards: each line is paid by one', async () => {
		const list = newIds(40);
		const begun = Date.now();
		const calls = await Promise.all(
			Array.from({ length: 20 }, async (_none, index) => {
				const order = index % 3 === 0 ? [...list].reverse() : list;
				const answers = await payOnce.pay(order.map((id) => line(id)));
				const ids = answers.map(({ external_id }) => external_id);
				expect(ids).toStrictEqual(order);
				return answers.filter(({ outcome }) => outcome === 'accepted');
			}),
		);
		print(`20 calls at once with one list of 40: ${Date.now() - begun} ms`);
		expect(arrivals(list)).toStrictEqual(list.map(() => 1));
		const paid = calls.flat().map(({ external_id }) => external_id);
		expect(paid.sort()).toStrictEqual([...list].sort());
	});

	describeOnN8n2('a worker that is killed while it pays a list', () => {
		const list = newIds(45);
		const inDoubtOf = () =>
			payOnce
				.rows('outcome IS NULL')
				.map(({ external_id }) => external_id)
				.filter((id) => list.includes(id));
		let inDoubt: string[];
		/** How often each of those in doubt had arrived before another call was made. */
		let arrivedOnce: number[];
		let answers: Answer[];
		beforeAll(async () => {
			sandbox.faultFor = () => ({ kind: 'delay', ms: 200 });
			const executionId = await beginCall(() => void payOnce.begin(list.map((id) => line(id))));
			await until('some to arrive', async () => countArrived(list) > 25);
			const victim = await workerOf(executionId);
			await victim.kill();
			await until('PostgreSQL to have carried out what it had sent', async () => {
				const active = `SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND pid <> pg_backend_pid() AND datname = current_database()`;
				return payOnce.sql(active).length === 0;
			});
			inDoubt = inDoubtOf();
			await victim.launch();
			arrivedOnce = arrivals(inDoubt);
			print(`killed: ${inDoubt.length} of 45 in doubt, ${countArrived(inDoubt)} had arrived`);
			answers = await payOnce.pay(list.map((id) => line(id)));
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

		test('has none of those in doubt paid again: the call is told, and so is a person', () => {
			expect(arrivedOnce).toContain(1);
			expect(Math.max(...arrivedOnce)).toBe(1);
			expect(arrivals(inDoubt)).toStrictEqual(arrivedOnce);
			for (const { external_id = '', error } of answers) {
				if (error === undefined || !inDoubt.includes(external_id)) continue;
				expect(error.message).toContain('has claimed it: no outcome yet');
			}
			expect(inDoubtOf()).toStrictEqual(inDoubt);
			const told = payOnce.sql('SELECT external_id FROM pay_once_in_doubt');
			expect(told).toEqual(expect.arrayContaining(inDoubt));
		});
	});

	describeOnN8n2('a worker that is frozen, and thawed after a person released its row', () => {
		/** Calls until another execution than the frozen one has ended with the row; the frozen worker may take calls, too. */
		async function callUntilTaken(id: string, frozen: string): Promise<void> {
			await until(
				'another execution to take the row',
				async () => {
					void payOnce.begin([line(id)]);
					await pause(2_000);
					const row = payOnce.row(id)!;
					return row.execution !== frozen && row.outcome !== null;
				},
				120,
			);
		}

		test('it had claimed and not sent: it finds that the payment was made, and sends nothing', async () => {
			const id = randomUUID();
			let answer: Promise<Answer[] | undefined> | undefined;
			const unlock = await payOnce.hold();
			const executionId = await beginCall(() => {
				answer = payOnce.begin([line(id)]);
			});
			const victim = await workerOf(executionId);
			await until('its claim to wait', async () => {
				const waiting = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%${id}%'`;
				return payOnce.sql(waiting).length > 0;
			});
			victim.freeze();
			await unlock();
			const claimed = await until('the claim', async () => payOnce.row(id));
			expect(payOnce.decide(claimed, false)).toBe(
				`Released. Execution ${claimed.execution} had claimed it: if it is still running, it can still pay`,
			);
			await callUntilTaken(id, claimed.execution);
			const before = payOnce.row(id)!;
			expect(before.outcome).toBe('accepted');
			victim.thaw();
			const [late] = (await answer!)!;
			await untilNoExecutionMoves();
			print(`frozen after its claim, thawed after a release: ${outcomeOf(late!)}`);
			expect(late!.outcome).toBe('duplicate');
			expect(late!.notWritten).toBe(
				'Table pay_once: another execution has claimed the row, or a person has decided',
			);
			expect(arrivals([id])).toStrictEqual([1]);
			expect(payOnce.row(id)).toStrictEqual(before);
		});

		test('it had sent: no other pays, and what it was told is written when it wakes up', async () => {
			const id = randomUUID();
			let answer: Promise<Answer[] | undefined> | undefined;
			sandbox.faultFor = () => ({ kind: 'delay', ms: 2_000 });
			const executionId = await beginCall(() => {
				answer = payOnce.begin([line(id)]);
			});
			const victim = await workerOf(executionId);
			await until('it to arrive', async () => arrivals([id])[0] === 1);
			victim.freeze();
			sandbox.faultFor = undefined;
			const claimed = payOnce.row(id)!;
			expect(payOnce.decide(claimed, false)).toContain('Released. ');
			await callUntilTaken(id, claimed.execution);
			expect(payOnce.row(id)!.outcome).toBe('duplicate');
			victim.thaw();
			const [late] = (await answer!)!;
			await untilNoExecutionMoves();
			print(`frozen after it had sent, thawed after a release: ${outcomeOf(late!)}`);
			expect(late).toMatchObject({ external_id: id, outcome: 'accepted' });
			expect(arrivals([id])).toStrictEqual([1]);
			expect(payOnce.row(id)).toMatchObject({ execution: claimed.execution, outcome: 'accepted' });
		});
	});

	describeOnN8n2(
		'lists of fifty, each called twice at once, while one worker is killed and one frozen for 20 s',
		() => {
			const lists = Array.from({ length: 6 }, () => newIds(50));
			const all = lists.flat();
			beforeAll(async () => {
				sandbox.faultFor = () => ({ kind: 'delay', ms: 100 });
				const callAll = () =>
					lists.map((list) =>
						Promise.all([0, 1].map(() => payOnce.begin(list.map((id) => line(id))))),
					);
				void callAll();
				await until('some to arrive', async () => countArrived(all) > 60, 120);
				const [killed, frozen] = queue.workers;
				frozen!.freeze();
				await killed!.kill();
				await pause(20_000);
				frozen!.thaw();
				await killed!.launch();
				await untilNoExecutionMoves();
				await Promise.all(callAll());
				await untilNoExecutionMoves();
			});

			test('no External ID arrives twice', () => {
				const rows = payOnce.rows().filter(({ external_id }) => all.includes(external_id));
				const counts = new Map<string, number>();
				for (const { outcome } of rows) {
					const word = outcome ?? 'no outcome yet';
					counts.set(word, (counts.get(word) ?? 0) + 1);
				}
				print(
					`6 lists of 50, called twice, one killed, one frozen, called again: ${JSON.stringify(Object.fromEntries(counts))}, ${countArrived(all)} arrived, most ${Math.max(...arrivals(all))} times`,
				);
				expect(Math.max(...arrivals(all))).toBe(1);
			});

			test('what is accepted arrived; of all that may have arrived otherwise, a person is told', () => {
				const doubtful = new Set(payOnce.sql('SELECT external_id FROM pay_once_in_doubt'));
				const outcomes = new Map(
					payOnce.rows().map(({ external_id, outcome }) => [external_id, outcome]),
				);
				const counts = arrivals(all);
				const wrong = all.filter((id, index) => {
					if (outcomes.get(id) === 'accepted') return counts[index] !== 1;
					return counts[index] !== 0 && !doubtful.has(id);
				});
				expect(wrong).toStrictEqual([]);
			});
		},
	);

	testOnN8n2(
		'while PostgreSQL is not there, nothing is sent that was not claimed, and the call is told',
		async () => {
			const list = newIds(30);
			sandbox.faultFor = () => ({ kind: 'delay', ms: 200 });
			const calling = payOnce.begin(list.map((id) => line(id)));
			await until('some to arrive', async () => countArrived(list) > 3);
			await queue.restartPostgres();
			await calling;
			await untilNoExecutionMoves();
			sandbox.faultFor = undefined;
			await payOnce.begin(list.map((id) => line(id)));
			await untilNoExecutionMoves();
			const rows = payOnce.rows().filter(({ external_id }) => list.includes(external_id));
			const accepted = rows.filter(({ outcome }) => outcome === 'accepted');
			print(
				`PostgreSQL restarted in a list of 30, called again: ${accepted.length} accepted, ${rows.length - accepted.length} others, ${countArrived(list)} arrived`,
			);
			expect(Math.max(...arrivals(list))).toBe(1);
			for (const { external_id } of accepted) expect(arrivals([external_id])).toStrictEqual([1]);
		},
	);
});
