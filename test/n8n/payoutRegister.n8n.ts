import { randomUUID } from 'node:crypto';
import { itemsOf, until, type N8n } from '../../dev/n8n';
import { PayoutRegister, submit, type Payout, type Row } from './payoutRegister';
import { Books, claimedByExecution, CUT_OFF, externalIdOf, RegisterLoad } from './registerLoad';
import type { QueueMode } from './queue';
import { call } from '../../dev/workflow';
import { signUrl } from '../../nodes/Pay/postback/proof';
import type { Sandbox } from '../../sandbox/service';
import { firstExecution } from './chargeAndWait';
import { reachesLastNodes } from './lastNodes';
import { newIds, onceOf, SECRET, VERSIONS, withQueueMode, type Credential } from './nodes';

/** `PAY_QUEUE=long` tries everything; without it, each kind once. */
const LONG = process.env.PAY_QUEUE === 'long';
if (LONG) jest.setTimeout(3_600_000);

const PAYOUTS = LONG ? 200 : 60;
const EXECUTIONS = LONG ? 20 : 8;

describe.each(VERSIONS)('n8n %s in queue mode', (version) => {
	const once = onceOf(version);
	let queue: QueueMode;
	let main: N8n;
	let sandbox: Sandbox;
	let payApi: Credential;
	withQueueMode(version, (running) => ({ queue, main, sandbox, payApi } = running), {
		amountsAct: true,
	});
	let register: PayoutRegister;
	let workflowId: string;

	beforeAll(async () => {
		register = await PayoutRegister.open(queue);
		await main.changeCredential(payApi, {
			baseUrl: sandbox.url,
			accessToken: 'token',
			postbackSecret: SECRET,
			postbackUrl: queue.webhook.url + register.postbackPath,
		});
		workflowId = await main.importWorkflow(register.workflow, { payApi });
		await main.activate(workflowId);
		register.make();
		register.watch();
	});
	afterEach(() => {
		sandbox.faultFor = undefined;
		register.sql('DELETE FROM payout_register; TRUNCATE transition, followed');
	});

	/** Figures of the loads, printed when all is done. */
	const table: string[] = [];
	afterAll(() => console.log(table.map((row) => `n8n ${version} | ${row}`).join('\n')));

	const books = () => new Books(sandbox);
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
	const payout = (id: string, amount: unknown = '10.50'): Payout => ({
		id,
		amount,
		key: `${id}@example.com`,
	});

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

	/** Runs one of the workflow's schedules; gives the execution, once it has ended. */
	const tick = async (schedule: 'Every five minutes' | 'Every hour') => {
		const execution = await main.finished(await main.run(workflowId, schedule));
		expect(execution.status).toBe('success');
		return execution;
	};
	/** What a person decides on the page; gives what it says then. */
	async function decide(externalId: string, decision: string, more: Record<string, string> = {}) {
		const answers = { 'External ID': externalId, Decision: decision, ...more };
		const { status, text } = await submit(queue.webhook, register.workflow, answers);
		expect(status).toBe(200);
		return text;
	}
	const [RELEASE, CLOSE, NOTE, TAKE] = [
		'Pay it (again)',
		'Close it: it is not to be paid',
		'Note it as paid',
		'Pay it from this workflow',
	];
	/** What the hourly report tells a person, as [identifier, sentence]. */
	const reported = async () => {
		const [report] = itemsOf(await tick('Every hour'), 'Tell a person');
		const rows = (report?.rows ?? []) as Array<{ external_id: string; what: string }>;
		return rows.map(({ external_id, what }) => [external_id, what]);
	};
	/** Puts a row into the table as a run leaves it, one try ago. */
	function insert(id: string, state: string, more: Record<string, string | number> = {}) {
		const row = {
			external_id: id,
			amount: '10.50',
			recipient: `${id}@example.com`,
			workflow_id: workflowId,
			state,
			attempts: 1,
			execution_id: '1',
			claimed_at: 'now',
			...more,
		};
		register.sql(
			`INSERT INTO payout_register (${Object.keys(row).join()}) VALUES ('${Object.values(row).join("', '")}')`,
		);
	}
	/** Has the database refuse changes of rows; gives what ends that. */
	function refuseChanges(when = ''): () => void {
		register.sql(`
			CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$;
			CREATE TRIGGER refuse BEFORE UPDATE ON payout_register FOR EACH ROW ${when} EXECUTE FUNCTION refuse();
		`);
		return () => register.sql('DROP TRIGGER refuse ON payout_register; DROP FUNCTION refuse');
	}
	/**
	 * A postback about a payment, with a proof; gives the status of its response. In queue mode n8n can lose
	 * the response of a job, so it is sent again after half a minute without one, as a service does.
	 */
	async function report(
		id: string,
		status: string,
		more: { kind?: 'payment' | 'qrCode'; secret?: string; amount?: number } = {},
	): Promise<number> {
		const { kind = 'payment', secret = SECRET, amount = 10.5 } = more;
		const url = queue.webhook.url + register.postbackPath;
		for (let tries = 1; ; tries++) {
			try {
				const response = await fetch(signUrl(url, { external_id: id, kind, amount }, secret), {
					method: 'POST',
					// A kept connection that a busy n8n has just closed would fail the next call.
					headers: { 'Content-Type': 'application/json', Connection: 'close' },
					body: JSON.stringify({ status }),
					signal: AbortSignal.timeout(30_000),
				});
				return response.status;
			} catch (error) {
				if (tries === 3) throw error;
			}
		}
	}
	const followed = () => register.sql('SELECT external_id FROM followed').sort();

	test('twenty first runs at once make one register, and pay its one payout once', async () => {
		const id = randomUUID();
		register.drop();
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
		const [good, refused, comma, cut, gone] = newIds(5) as [string, string, string, string, string];
		const list = [
			payout(good, '10.50'),
			payout(refused, 7),
			payout(comma, '12,00'),
			payout(cut, CUT_OFF),
			payout(gone, 3.1),
		];
		sandbox.faultFor = ({ body }) => {
			if (externalIdOf(body) === refused) return { kind: 'status', status: 422 };
			return externalIdOf(body) === gone ? { kind: 'reset-after-body' } : undefined;
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
		const numberOf = (id: string) => rows.find(({ external_id }) => external_id === id)?.number;
		const known = sandbox.transactions.find(({ external_id }) => external_id === good);
		expect([numberOf(good), numberOf(gone)]).toStrictEqual([known!.id, '']);
		expect(reasonOf(refused)).toMatch(/^The service rejected payment .* \(HTTP 422\)/);
		expect(reasonOf(comma)).toMatch(/^Amount must be a number, but is "12,00"/);
		expect(reasonOf(gone)).toMatch(/^It is not known whether payment .* was made.*Ask the service/);
		expect(amountsPaid()).toMatchObject({ [good]: 10.5, [cut]: 9.02 });
		expect(sandbox.received.length - before).toBe(4);

		expect((await ran(list)).status).toBe('success');
		expect(states(register.rows())).toStrictEqual(first);
		expect(sandbox.received.length - before).toBe(4);

		sandbox.faultFor = undefined;
		expect(await decide(comma, RELEASE, { 'Corrected amount': '12.00' })).toBe(
			`${comma} was notSent and is due now. It is paid within minutes: 12.00 to ${comma}@example.com.`,
		);
		await decide(refused, RELEASE);
		// No list has to come, and the schedule pays nothing else.
		await tick('Every five minutes');
		expect(states(register.rows())).toStrictEqual({
			...first,
			[refused]: 'accepted',
			[comma]: 'accepted',
		});
		expect(amountsPaid()).toMatchObject({ [refused]: 7, [comma]: 12 });
		expect(sandbox.received.length - before).toBe(6);
		// The list still says "12,00": what a person released stands.
		expect((await ran(list)).status).toBe('success');
		expect(register.row(comma)).toMatchObject({ state: 'accepted', amount: '12.00' });
		expect(sandbox.received.length - before).toBe(6);
	});

	test('more rows than one claim takes are all paid by one run, whichever way the first ones go', async () => {
		const list = newIds(13).map((id) => payout(id));
		const refused = new Set(list.slice(0, 5).map(({ id }) => id));
		sandbox.faultFor = ({ body }) =>
			refused.has(externalIdOf(body)) ? { kind: 'status', status: 422 } : undefined;
		expect((await ran(list)).status).toBe('success');
		const expected = list.map(({ id }) => [id, refused.has(id) ? 'rejected' : 'accepted']);
		expect(states(register.rows())).toStrictEqual(Object.fromEntries(expected));
		const after = books();
		expect(list.map(({ id }) => after.arrived(id))).toStrictEqual(Array(13).fill(1));
	});

	test('two lines that disagree about a payout nobody has tried: neither is paid, and what a person then says is, whatever the lists say', async () => {
		const [one, other] = newIds(2) as [string, string];
		const list = [payout(one, 5), payout(other), payout(one, 6)];
		await ran(list);
		const [row] = register.rows(`external_id = '${one}'`);
		expect(row).toMatchObject({ state: 'notSent', amount: '5', attempts: 0 });
		expect(register.sentences(one)).toStrictEqual([
			`A list of workflow ${workflowId} says 6 to ${one}@example.com, and this payout is 5 to ${one}@example.com, of workflow ${workflowId}: the line was not paid`,
		]);
		expect([books().arrived(one), books().paid(other)]).toStrictEqual([0, 1]);
		await decide(one, RELEASE, { 'Corrected amount': '6' });
		await ran(list);
		await ran(list);
		expect(register.row(one)).toMatchObject({ state: 'accepted', amount: '6' });
		expect(amountsPaid()[one]).toBe(6);
		expect(books().arrived(one)).toBe(1);
	});

	test('10.5 and "10.50" are one amount; a number with three decimals is refused for its line alone', async () => {
		const [one, thousandth] = newIds(2) as [string, string];
		await ran([payout(one, 10.5), payout(thousandth, 1.125), payout(one, '10.50')]);
		expect(register.row(one)).toMatchObject({ state: 'accepted' });
		expect(register.sentences(one)).toStrictEqual([]);
		expect(register.row(thousandth)).toMatchObject({ state: 'notSent' });
		expect(register.row(thousandth)?.reason).toMatch(/can be read in two ways: "1\.125"/);
		expect(books().arrived(one)).toBe(1);
	});

	test.each([
		['accepted', { reason: '' }],
		['rejected', { reason: 'no' }],
	])(
		'a list that uses the identifier of an %s payout with another amount or recipient pays nothing, and is reported once',
		async (state, more) => {
			const one = randomUUID();
			const says = (line: string) =>
				`A list of workflow ${workflowId} says ${line}, and this payout is 10.50 to ${one}@example.com, of workflow ${workflowId}: the line was not paid`;
			insert(one, state, more);
			await reported();
			for (let times = 0; times < 2; times++) await ran([payout(one, 99)]);
			await ran([{ ...payout(one), key: 'other@example.com' }]);
			expect(register.row(one)).toMatchObject({ state, amount: '10.50', attempts: 1 });
			expect(books().arrived(one)).toBe(0);
			expect(await reported()).toStrictEqual([
				[one, says(`10.50 to other@example.com`)],
				[one, says(`99 to ${one}@example.com`)],
			]);
			await ran([payout(one, 99)]);
			expect(await reported()).toStrictEqual([]);
		},
	);

	test('a due row of another workflow is left alone: it may be another account’s', async () => {
		const [theirs, ours] = newIds(2) as [string, string];
		insert(theirs, 'due', { workflow_id: 'another' });
		await ran([payout(ours)]);
		expect(states(register.rows())).toStrictEqual({ [theirs]: 'due', [ours]: 'accepted' });
		expect(books().arrived(theirs)).toBe(0);
	});

	const NO_PAYOUTS: Array<[string, unknown, object]> = [
		['without an identifier', '', {}],
		['with a NUL in it', 'nul-\u0000', {}],
		['with a character that nobody can see', 'invoice-1\u200b', {}],
		['with half a character', 'invoice-\ud83d', {}],
		['whose identifier is what an expression left', '[object Object]', {}],
		['without a recipient', 'nobody', { key: ' ' }],
		['with a NUL in its amount', 'amount', { amount: '1\u0000' }],
	];
	test.each(version === VERSIONS[0] ? NO_PAYOUTS : NO_PAYOUTS.slice(0, 1))(
		'a line %s is refused, reported once and never paid; the others are paid',
		async (_what, id, more) => {
			const one = randomUUID();
			const bad = { ...payout(''), id: id as string, ...more };
			for (let times = 0; times < 2; times++) {
				expect((await ran([bad, payout(one)])).status).toBe('success');
			}
			expect([books().arrived(one), books().paid(one)]).toStrictEqual([1, 1]);
			const [refused, ...others] = register.rows("state = 'refused'");
			expect(others).toStrictEqual([]);
			expect(await decide(refused!.external_id, RELEASE)).toMatch(/^Nothing was changed: /);
			expect(await reported()).toStrictEqual([
				[refused!.external_id, expect.stringContaining(`The line: ${JSON.stringify(bad)}`)],
			]);
			expect(await reported()).toStrictEqual([]);
			expect(await decide(refused!.external_id, CLOSE)).toContain('is closed now');
		},
	);

	test('a Pay node that is handed rows of another execution sends none of them', async () => {
		const other = structuredClone(register.workflow);
		const find = (name: string) => other.nodes.find((each) => each.name === name)!;
		const path = randomUUID();
		for (const name of ['Start', 'Pay Trigger', 'Decide on a payout']) {
			const webhookId = name === 'Start' ? path : randomUUID();
			Object.assign(find(name), { webhookId });
			if (name !== 'Pay Trigger')
				Object.assign(find(name).parameters as object, { path: webhookId });
		}
		// As where a person executes the step with the output of an earlier run.
		const handed = register.query('Claim the next', 'SELECT * FROM payout_register');
		Object.assign(find('Claim the next'), { parameters: handed.parameters });
		Object.assign(find('Claimed by this run'), {
			type: 'n8n-nodes-base.noOp',
			typeVersion: 1,
			parameters: {},
		});
		delete other.connections['Write what became of it'];
		const id = await main.importWorkflow(other, { payApi });
		await main.activate(id);
		const one = randomUUID();
		insert(one, 'claimed', { workflow_id: id, execution_id: 'another' });
		await call(queue.webhook, path, { items: [payout(one)] });
		const execution = await main.finished(await firstExecution(main, id));
		const errors = itemsOf(execution, 'Pay').map(({ error }) => error);
		expect(errors).toStrictEqual([expect.objectContaining({ outcome: 'notSent' })]);
		expect(books().arrived(one)).toBe(0);
		expect(states(register.rows())).toStrictEqual({ [one]: 'unknown' });
	});

	test('an outcome that could not be written stays claimed; the editor’s Retry writes it and pays nothing again', async () => {
		const one = randomUUID();
		const allow = refuseChanges("WHEN (NEW.state = 'accepted')");
		const { id, status } = await ran([payout(one)]);
		expect([status, states(register.rows())]).toStrictEqual(['error', { [one]: 'claimed' }]);
		allow();
		const { data } = await main.rest<{ data: { id?: string } }>('POST', `/executions/${id}/retry`, {
			loadWorkflow: false,
		});
		await until('the outcome', async () => states(register.rows())[one] === 'accepted');
		expect(data).toBeDefined();
		expect(books().arrived(one)).toBe(1);
	});

	test('the report tells of all that needs a person, each change once, and pays nothing', async () => {
		const ago = (what: string) => new Date(Date.now() - 60_000 * Number(what)).toISOString();
		const rows: Array<[id: string, state: string, more?: Record<string, string>]> = [
			['1 claimed for long', 'claimed', { claimed_at: ago('31') }],
			['2 claimed just now', 'claimed', { claimed_at: ago('29') }],
			['3 unknown', 'unknown', { reason: 'Lost.' }],
			['4 rejected', 'rejected', { reason: 'Refused.' }],
			['5 not sent', 'notSent', { reason: 'Amount.' }],
			['6 accepted for a day', 'accepted', { claimed_at: ago('1441') }],
			['7 accepted just now', 'accepted', { claimed_at: ago('1439') }],
			['8 due for long', 'due', { due_at: ago('61'), workflow_id: 'gone' }],
			['9 due just now', 'due'],
			['settled', 'settled', { ending: 'paid', claimed_at: ago('9999') }],
			['closed', 'closed', { claimed_at: ago('9999') }],
		];
		for (const [id, state, more] of rows) insert(id, state, more);
		const sent = sandbox.received.length;
		expect(await reported()).toStrictEqual([
			['1 claimed for long', expect.stringMatching(/^Execution 1 claimed it, try 1, /)],
			['3 unknown', 'Nobody knows whether it was paid, try 1. Lost.'],
			['4 rejected', 'The service rejected it, try 1. Refused.'],
			['5 not sent', 'It was not sent, try 1. Amount.'],
			[
				'6 accepted for a day',
				expect.stringMatching(/^The service accepted it, try 1, and has not/),
			],
			['8 due for long', expect.stringMatching(/and workflow gone does not pay it/)],
		]);
		const nothing = await tick('Every hour');
		expect(nothing.data.resultData.runData).not.toHaveProperty('Tell a person');
		register.sql("UPDATE payout_register SET attempts = 2 WHERE external_id = '4 rejected'");
		expect(await reported()).toStrictEqual([
			['4 rejected', 'The service rejected it, try 2. Refused.'],
		]);
		expect(sandbox.received.length).toBe(sent);
	});

	test('what could not be told is told again', async () => {
		insert('one', 'unknown', { reason: '' });
		const allow = refuseChanges();
		expect((await main.finished(await main.run(workflowId, 'Every hour'))).status).toBe('error');
		allow();
		expect(await reported()).toHaveLength(1);
		expect(await reported()).toHaveLength(0);
	});

	const LONG_AGO = { claimed_at: '2026-01-01' };
	once.each<[string, string, string, Record<string, string>?, string?]>([
		['rejected', RELEASE!, 'due'],
		['notSent', RELEASE!, 'due'],
		['claimed', RELEASE!, 'due', LONG_AGO],
		['claimed', RELEASE!, 'claimed', {}, ' A claim must be older than 30 minutes.'],
		['unknown', RELEASE!, 'unknown', {}, ' If the service does not know it, close it'],
		['accepted', RELEASE!, 'accepted'],
		['settled', RELEASE!, 'settled', { ending: 'failed' }],
		['closed', RELEASE!, 'closed'],
		['due', CLOSE!, 'closed'],
		['unknown', CLOSE!, 'closed'],
		['claimed', CLOSE!, 'closed', LONG_AGO],
		['accepted', CLOSE!, 'accepted'],
		['unknown', NOTE!, 'settled'],
		['claimed', NOTE!, 'claimed'],
		['accepted', NOTE!, 'settled'],
		['settled', NOTE!, 'settled', { ending: 'failed' }],
		['due', TAKE!, 'due', { workflow_id: 'gone' }],
		['rejected', TAKE!, 'rejected'],
	])(
		'a person and a payout that is %s: "%s" leaves it %s',
		async (was, decision, becomes, more = {}, says = '') => {
			insert('one', was, more);
			const text = await decide(' one ', decision, { 'Why, and who says so': 'Ada asked' });
			const { state, reason } = register.row('one')!;
			expect(state).toBe(becomes);
			const changed = reason === `${decision}: Ada asked`;
			expect(text.startsWith('Nothing was changed')).toBe(!changed);
			expect(text).toContain(says);
			expect(followed()).toStrictEqual(changed && decision === NOTE ? ['one'] : []);
			const workflowOf = `SELECT workflow_id FROM payout_register WHERE external_id = 'one'`;
			expect(register.sql(workflowOf)).toStrictEqual([workflowId]);
		},
	);

	test('the page asks for the password, and says when there is no such payout', async () => {
		insert('one', 'rejected');
		const answers = { 'External ID': 'one', Decision: RELEASE! };
		for (const headers of [{}, { Authorization: 'Basic cDp3cm9uZw==' }]) {
			const { status } = await submit(queue.webhook, register.workflow, answers, headers as never);
			expect(status).toBe(401);
		}
		expect(register.row('one')?.state).toBe('rejected');
		expect(await decide('two', RELEASE!)).toBe('There is no payout two in the register.');
		await decide('one', RELEASE!);
		expect(register.row('one')?.state).toBe('due');
	});

	test('only a verified postback about a payment settles a row, once, and one for a row still claimed is not overwritten', async () => {
		const [one, charge, early] = newIds(3) as [string, string, string];
		insert(one, 'accepted');
		insert(charge, 'accepted');
		expect(await report(one, 'paid', { secret: 'another secret that is long' })).toBe(401);
		expect(await report(one, 'on its way')).toBe(200);
		expect(await report(charge, 'paid', { kind: 'qrCode' })).toBe(200);
		expect(states(register.rows())).toStrictEqual({ [one]: 'accepted', [charge]: 'accepted' });
		// A word that nobody set is not lost: the report says it.
		const [word] = register.sql(
			`SELECT word FROM payout_heard WHERE external_id = '${one}' AND meaning = ''`,
		);
		expect(word).toBe('on its way');
		for (let times = 0; times < 3; times++) expect(await report(one, ' Paid ')).toBe(200);
		expect(register.row(one)).toMatchObject({
			state: 'settled',
			ending: 'paid',
			reported: 'Paid',
		});
		expect(register.sentences(one)).toStrictEqual([]);

		// It is reported before the answer to the request.
		await ran([payout(early, '1.05')]);
		expect(register.row(early)).toMatchObject({ state: 'settled', reported: 'paid' });
		expect(followed()).toStrictEqual([one, early].sort());
	});

	test.each([
		['failed', 'paid'],
		['paid', 'failed'],
	])(
		'%s, then %s: the first settles and is followed, the second is written and reported',
		async (first, then) => {
			insert('one', 'accepted');
			await report('one', first);
			await reported();
			for (let times = 0; times < 2; times++) expect(await report('one', then)).toBe(200);
			const row = register.row('one');
			expect(row).toMatchObject({ state: 'settled', ending: first, reported: first });
			const [contradiction] = register.sentences('one');
			expect(contradiction).toMatch(
				new RegExp(
					`^The service said "${first}" at [\\d: -]+UTC and then "${then}" \\([\\d: -]+UTC\\)$`,
				),
			);
			expect(followed()).toStrictEqual(['one']);
			expect(await reported()).toStrictEqual([['one', contradiction]]);
			expect(await reported()).toStrictEqual([]);
		},
	);

	const [SEVEN, TWO_TRIES] = [{ amount: 7 }, { attempts: 2 }];
	type About = { amount?: number; attempts?: number };
	once.each<[when: string, word: string, was: string, becomes: string, RegExp?, About?]>([
		['late, of a try before', 'failed', 'due', 'due'],
		['late, of a try before', 'failed', 'rejected', 'rejected'],
		['late, of a try before', 'failed', 'notSent', 'notSent'],
		['after all', 'paid', 'due', 'settled', /"paid", and this payout was due/],
		['after all', 'paid', 'rejected', 'settled', /and this payout was rejected/],
		['after all', 'paid', 'closed', 'settled', /and this payout was closed/],
		['about 7', 'paid', 'due', 'unknown', /"paid" about 7, and this payout is 10\.50/, SEVEN],
		['about 7', 'paid', 'accepted', 'accepted', /"paid" about 7/, SEVEN],
		['about 7', 'failed', 'accepted', 'accepted', undefined, SEVEN],
		['of one of two tries', 'failed', 'accepted', 'accepted', /2 tries: ask/, TWO_TRIES],
		['of one of two tries', 'paid', 'accepted', 'settled', undefined, TWO_TRIES],
		['of the only try', 'failed', 'unknown', 'settled'],
	])(
		'a word %s ("%s" for a payout that is %s) leaves it %s',
		async (_when, word, was, becomes, ...[note, about]) => {
			const { amount = 10.5, ...more } = about ?? {};
			insert('one', was, more);
			expect(await report('one', word, { amount })).toBe(200);
			expect(register.row('one')?.state).toBe(becomes);
			const sentences = note === undefined ? [] : [expect.stringMatching(note)];
			expect(register.sentences('one')).toStrictEqual(sentences);
		},
	);

	test('the late failure of a refused first try does not keep the corrected payout from being paid', async () => {
		const one = randomUUID();
		sandbox.faultFor = () => ({ kind: 'status', status: 422 });
		await ran([payout(one, 7)]);
		sandbox.faultFor = undefined;
		await decide(one, RELEASE!, { 'Corrected amount': '12.00' });
		expect(await report(one, 'failed', { amount: 7 })).toBe(200);
		await tick('Every five minutes');
		expect(register.row(one)).toMatchObject({ state: 'accepted', amount: '12.00' });
		expect(amountsPaid()[one]).toBe(12);
		await report(one, 'paid', { amount: 12 });
		expect(register.row(one)).toMatchObject({ state: 'settled', ending: 'paid' });
	});

	test('a person’s open transaction holds up its own row alone: runs, postbacks and reports of others go on', async () => {
		const [held, other, fresh] = newIds(3) as [string, string, string];
		await ran([payout(held), payout(other)]);
		const close = await queue.openTransaction(
			`UPDATE payout_register SET reason = 'looking' WHERE external_id = '${held}'`,
			'payouts',
		);
		try {
			expect((await ran([payout(fresh)])).status).toBe('success');
			expect(register.row(fresh)?.state).toBe('accepted');
			expect(await report(other, 'paid')).toBe(200);
			expect(register.row(other)?.state).toBe('settled');
			await reported();
		} finally {
			await close();
		}
	});

	// Before the load, which runs it hundreds of times more.
	reachesLastNodes('payout-register', () => main);

	test.each(LONG ? [1, 2, 3] : [1])(
		`${PAYOUTS} payouts, ${EXECUTIONS} executions at once with the same list, a worker killed, Redis restarted, 10 % refused and 10 % of the answers lost: each arrives at most once, and every row agrees with the books (round %d)`,
		async () => {
			const insertDue = (id: string, amount: string) => insert(id, 'due', { amount });
			const load = new RegisterLoad(queue, register, sandbox, insertDue);
			const list = load.orderList(PAYOUTS);
			const loss = await load.payUnderTrouble(list, EXECUTIONS);

			const rows = register.rows();
			expect(rows).toHaveLength(PAYOUTS);
			expect(load.disagreements(rows, loss)).toStrictEqual([]);
			expect(rows.filter(({ attempts }) => attempts !== 1)).toStrictEqual([]);
			const first = books();
			expect(Math.max(...list.map(({ id }) => first.arrived(id)))).toBe(1);
			// No run leaves more than one claim takes.
			expect(Math.max(0, ...claimedByExecution(rows).values())).toBeLessThanOrEqual(5);
			const transitions = register.transitions();
			for (const change of Object.keys(transitions)) {
				expect(change).toMatch(/^(due > claimed|claimed > (accepted|rejected|notSent|unknown))$/);
			}
			expect(transitions['due > claimed']).toBe(PAYOUTS);
			table.push(`register: ${counted(rows.map(({ state }) => state))}`);

			await loss.back;
			// Nobody's payout is lost, and none is paid twice.
			sandbox.faultFor = undefined;
			const changedIds = await load.decideUntilPaid(list);
			const after = books();
			const times = list.map(({ id }) => after.paid(id) + after.paid(changedIds.get(id) ?? ''));
			expect(times).toStrictEqual(Array(PAYOUTS).fill(1));

			const some = [...list.map(({ id }) => id), ...changedIds.values()]
				.filter((id) => after.paid(id) === 1)
				.slice(0, LONG ? PAYOUTS : 20);
			const { runs, settled, followed } = await load.reportThrice(some);
			expect(runs.length).toBeGreaterThanOrEqual(3 * some.length);
			expect(settled.sort()).toStrictEqual([...some].sort());
			expect(followed.sort()).toStrictEqual([...some].sort());
			table.push(
				`register: of ${runs.length} deliveries about ${some.length} payouts each settled`,
			);
		},
	);
});
