import { randomUUID } from 'node:crypto';
import { itemsOf, until, type N8n } from '../../dev/n8n';
import { call } from '../../dev/workflow';
import type { Sandbox } from '../../sandbox/service';
import { CLOSE, NOTE, RELEASE, TAKE } from '../parts/registerCalls';
import { firstExecution } from './chargeAndWait';
import { reachesLastNodes } from './lastNodes';
import { newIds, nodeOf, VERSIONS, withQueueMode, type Credential } from './nodes';
import {
	PayoutRegister,
	becomeQuery,
	payout,
	registerWorkflow,
	type Payout,
} from './payoutRegister';
import { WRONG_PASSWORD } from './person';
import type { QueueMode } from './queue';
import type { RegisterDatabase, Row } from './registerDatabase';
import { Books, CUT_OFF, externalIdOf, mostClaimedByOne, RegisterLoad } from './registerLoad';

/*
 * The example "payout-register" in queue mode. What its functions in SQL make of each state is in
 * test/parts/register.n8n.ts and registerStates.n8n.ts; here, what the workflow does with them.
 */

/** `PAY_QUEUE=long` runs the load longer. */
const IS_LONG = process.env.PAY_QUEUE === 'long';
if (IS_LONG) jest.setTimeout(3_600_000);

const PAYOUTS = IS_LONG ? 200 : 40;
const EXECUTIONS = IS_LONG ? 20 : 6;
/** Of so many payouts the service reports the end. */
const REPORTED = IS_LONG ? PAYOUTS : 10;
const ROUNDS = IS_LONG ? [1, 2, 3] : [1];

describe.each(VERSIONS)('n8n %s in queue mode', (version) => {
	let queue: QueueMode;
	let main: N8n;
	let sandbox: Sandbox;
	let payApi: Credential;
	withQueueMode(version, (running) => ({ queue, main, sandbox, payApi } = running), {
		amountsAct: true,
	});
	let register: PayoutRegister;
	let database: RegisterDatabase;
	beforeAll(async () => {
		register = await PayoutRegister.publish(queue, sandbox, payApi);
		database = register.database;
	});
	afterEach(() => {
		sandbox.faultFor = undefined;
	});

	/** Figures of the load, printed when all is done. */
	const figures: string[] = [];
	afterAll(() => console.log(figures.join('\n')));

	/** How often a payout arrived at the service. */
	const timesArrived = (id: string) => new Books(sandbox).arrived(id);
	/** How often the service paid it. */
	const timesPaid = (id: string) => new Books(sandbox).paid(id);
	/** The payment that the service knows. */
	const paymentOf = (id: string) =>
		sandbox.transactions.find(({ external_id }) => external_id === id);

	describe('many first runs at once', () => {
		const id = randomUUID();
		let statuses: string[];
		beforeAll(async () => {
			database.drop();
			const runs = Array.from({ length: EXECUTIONS }, async () => {
				await register.sendList([payout(id)]);
			});
			await Promise.all(runs);
			statuses = await until('all to end', async () => {
				const found = queue.sql(
					`SELECT status FROM execution_entity WHERE "workflowId" = '${register.workflowId}'`,
				);
				if (found.length < EXECUTIONS) return false;
				if (found.includes('new') || found.includes('running')) return false;
				return found;
			});
		});
		afterAll(() => {
			database.watchTransitions();
			database.empty();
		});

		test('make one register, and none fails', () => {
			expect(statuses).toStrictEqual(Array(EXECUTIONS).fill('success'));
			expect(database.states()).toStrictEqual({ [id]: 'accepted' });
		});

		test('pay its one payout once', () => {
			expect(timesArrived(id)).toBe(1);
			expect(timesPaid(id)).toBe(1);
		});
	});

	describe('a list of good and bad payouts', () => {
		const [good, refused, comma, cutOff, lost] = newIds(5) as [
			string,
			string,
			string,
			string,
			string,
		];
		const list = [
			payout(good, '10.50'),
			payout(refused, 7),
			payout(comma, '12,00'),
			payout(cutOff, CUT_OFF),
			payout(lost, 3.1),
		];
		const STATES = {
			[good]: 'accepted',
			[refused]: 'rejected',
			[comma]: 'notSent',
			[cutOff]: 'unknown',
			[lost]: 'unknown',
		};
		let before: number;
		/** How many requests arrived since the list was sent first. */
		const requests = () => sandbox.received.length - before;
		beforeAll(async () => {
			before = sandbox.received.length;
			sandbox.faultFor = ({ body }) => {
				if (externalIdOf(body) === refused) return { kind: 'status', status: 422 };
				if (externalIdOf(body) === lost) return { kind: 'reset-after-body' };
				return undefined;
			};
			const { status } = await register.runList(list);
			expect(status).toBe('success');
			sandbox.faultFor = undefined;
		});
		afterAll(() => database.empty());

		test('each row has what became of its payout', () => {
			expect(database.states()).toStrictEqual(STATES);
		});

		test('a row says why it is not accepted', () => {
			const reasonOf = (id: string) => database.row(id)!.reason;
			expect(reasonOf(good)).toBeNull();
			expect(reasonOf(refused)).toContain(`The service rejected payment "${refused}" (HTTP 422)`);
			expect(reasonOf(comma)).toContain('Amount must be a number, but is "12,00"');
			expect(reasonOf(lost)).toContain(`It is not known whether payment "${lost}" was made`);
		});

		test('a row has the number of the service, if its response came', () => {
			expect(database.row(good)!.number).toBe(paymentOf(good)!.id);
			expect(database.row(lost)!.number).toBe('');
		});

		test('each is sent once, but for the one whose amount is no number', () => {
			expect(requests()).toBe(4);
			expect(paymentOf(good)!.amount).toBe(10.5);
			expect(paymentOf(cutOff)!.amount).toBe(9.02);
		});

		test('the same list again sends nothing and changes nothing', async () => {
			const { status } = await register.runList(list);
			expect(status).toBe('success');
			expect(database.states()).toStrictEqual(STATES);
			expect(requests()).toBe(4);
		});

		describe('of which a person released two, one with another amount', () => {
			let says: string;
			beforeAll(async () => {
				says = await register.decide(comma, RELEASE, { 'Corrected amount': '12.00' });
				await register.decide(refused, RELEASE);
				await register.runSchedule('Every five minutes');
			});

			test('the page says what will be paid', () => {
				expect(says).toBe(
					`${comma} was not sent and is due now. It is paid within minutes: 12.00 to ${comma}@example.com.`,
				);
			});

			test('the schedule pays those two, and nothing else', () => {
				expect(database.states()).toStrictEqual({
					[good]: 'accepted',
					[refused]: 'accepted',
					[comma]: 'accepted',
					[cutOff]: 'unknown',
					[lost]: 'unknown',
				});
				expect(paymentOf(refused)!.amount).toBe(7);
				expect(paymentOf(comma)!.amount).toBe(12);
				expect(requests()).toBe(6);
			});

			test('the list, which still has the first amount, changes nothing', async () => {
				await register.runList(list);
				expect(database.row(comma)).toMatchObject({ state: 'accepted', amount: '12.00' });
				expect(requests()).toBe(6);
			});
		});
	});

	describe('lists', () => {
		afterEach(() => database.empty());

		test('more rows than one claim takes are all paid by one run, although the first ones are refused', async () => {
			const ids = newIds(13);
			const refused = ids.slice(0, 5);
			sandbox.faultFor = ({ body }) =>
				refused.includes(externalIdOf(body)) ? { kind: 'status', status: 422 } : undefined;
			await register.runList(ids.map((id) => payout(id)));
			const expected: Record<string, string> = {};
			for (const id of ids) expected[id] = refused.includes(id) ? 'rejected' : 'accepted';
			expect(database.states()).toStrictEqual(expected);
			expect(ids.map(timesArrived)).toStrictEqual(ids.map(() => 1));
		});

		test('of two lines that disagree about one payout neither is paid; the others are', async () => {
			const one = randomUUID();
			const other = randomUUID();
			await register.runList([payout(one, 5), payout(other), payout(one, 6)]);
			expect(database.row(one)).toMatchObject({ state: 'notSent', amount: '5', attempts: 0 });
			expect(database.sentences(one)).toStrictEqual([
				`A list of workflow ${register.workflowId} says 6 to ${one}@example.com, and this payout is 5 to ${one}@example.com, of workflow ${register.workflowId}: the line was not paid`,
			]);
			expect(timesArrived(one)).toBe(0);
			expect(timesPaid(other)).toBe(1);
		});

		test('once a person said which of two lines is right, that one is paid, whatever the lists say', async () => {
			const one = randomUUID();
			const list = [payout(one, 5), payout(one, 6)];
			await register.runList(list);
			await register.decide(one, RELEASE, { 'Corrected amount': '6' });
			await register.runList(list);
			await register.runList(list);
			expect(database.row(one)).toMatchObject({ state: 'accepted', amount: '6' });
			expect(paymentOf(one)!.amount).toBe(6);
			expect(timesArrived(one)).toBe(1);
		});

		test('10.5 and "10.50" are one amount', async () => {
			const one = randomUUID();
			await register.runList([payout(one, 10.5), payout(one, '10.50')]);
			expect(database.row(one)).toMatchObject({ state: 'accepted' });
			expect(database.sentences(one)).toStrictEqual([]);
			expect(timesArrived(one)).toBe(1);
		});

		test('a number with three decimals is refused for its line alone', async () => {
			const one = randomUUID();
			const thousandth = randomUUID();
			await register.runList([payout(thousandth, 1.125), payout(one)]);
			expect(database.states()).toStrictEqual({ [one]: 'accepted', [thousandth]: 'notSent' });
			expect(database.row(thousandth)!.reason).toContain('can be read in two ways: "1.125"');
		});

		test('a list that has an accepted payout with another amount or recipient pays nothing, and is told once', async () => {
			const one = randomUUID();
			register.insertRow(one, 'accepted');
			const list = [payout(one, 99), { id: one, amount: '10.50', key: 'other@example.com' }];
			await register.runList(list);
			const toldFirst = await register.hourlyReport();
			await register.runList(list);
			const toldThen = await register.hourlyReport();
			expect(database.row(one)).toMatchObject({ state: 'accepted', amount: '10.50', attempts: 1 });
			expect(timesArrived(one)).toBe(0);
			const says = (line: string) =>
				`A list of workflow ${register.workflowId} says ${line}, and this payout is 10.50 to ${one}@example.com, of workflow ${register.workflowId}: the line was not paid`;
			expect(toldFirst).toStrictEqual([
				{ external_id: one, what: says('10.50 to other@example.com') },
				{ external_id: one, what: says(`99 to ${one}@example.com`) },
			]);
			expect(toldThen).toStrictEqual([]);
		});

		test('a due row of another workflow is left alone: it may be another account’s', async () => {
			const theirs = randomUUID();
			const ours = randomUUID();
			register.insertRow(theirs, 'due', { workflow_id: 'another' });
			await register.runList([payout(ours)]);
			expect(database.states()).toStrictEqual({ [theirs]: 'due', [ours]: 'accepted' });
			expect(timesArrived(theirs)).toBe(0);
		});

		test('a person’s open transaction holds up its own row alone', async () => {
			const [held, other, fresh] = newIds(3) as [string, string, string];
			await register.runList([payout(held), payout(other)]);
			const close = await queue.openTransaction(
				`UPDATE payout_register SET reason = 'looking' WHERE external_id = '${held}'`,
				'payouts',
			);
			try {
				await register.runList([payout(fresh)]);
				await register.sendPostback(other, 'paid');
				await register.hourlyReport();
				expect(database.row(fresh)!.state).toBe('accepted');
				expect(database.row(other)!.state).toBe('settled');
			} finally {
				await close();
			}
		});
	});

	describe('lines that are no payouts', () => {
		const good = randomUUID();
		const NO_PAYOUTS: Array<{ what: string; line: Payout }> = [
			{
				what: 'without an identifier',
				line: { id: '', amount: '10.50', key: '@example.com' },
			},
			{
				what: 'with a NUL in its identifier',
				line: { id: 'nul-\u0000', amount: '10.50', key: '@example.com' },
			},
			{
				what: 'with a character that nobody can see',
				line: { id: 'invoice-1\u200b', amount: '10.50', key: '@example.com' },
			},
			{
				what: 'with half a character',
				line: { id: 'invoice-\ud83d', amount: '10.50', key: '@example.com' },
			},
			{
				what: 'whose identifier is what an expression left',
				line: { id: '[object Object]', amount: '10.50', key: '@example.com' },
			},
			{
				what: 'without a recipient',
				line: { id: 'nobody', amount: '10.50', key: ' ' },
			},
			{
				what: 'with a NUL in its amount',
				line: { id: 'amount', amount: '1\u0000', key: '@example.com' },
			},
		];
		const list = [...NO_PAYOUTS.map(({ line }) => line), payout(good)];
		let statuses: string[];
		let refused: Row[];
		let told: Array<{ external_id: string; what: string }>;
		let toldAgain: Array<{ external_id: string; what: string }>;
		let released: string;
		let closed: string;
		beforeAll(async () => {
			const first = await register.runList(list);
			const second = await register.runList(list);
			statuses = [first.status, second.status];
			refused = database.rows("state = 'refused'");
			told = await register.hourlyReport();
			toldAgain = await register.hourlyReport();
			released = await register.decide(refused[0]!.external_id, RELEASE);
			closed = await register.decide(refused[0]!.external_id, CLOSE);
		});
		afterAll(() => database.empty());

		/** The refused rows that have a line as their reason. */
		const rowsOf = (line: Payout) =>
			refused.filter(({ reason }) => reason!.endsWith(`The line: ${JSON.stringify(line)}`));

		test.each(NO_PAYOUTS)('a line $what is refused, and told once', ({ line }) => {
			const rows = rowsOf(line);
			expect(rows).toHaveLength(1);
			const { external_id, reason } = rows[0]!;
			expect(told).toContainEqual({ external_id, what: reason });
		});

		test('a list with such lines, sent twice, ends well, and pays its other line once', () => {
			expect(statuses).toStrictEqual(['success', 'success']);
			expect(timesArrived(good)).toBe(1);
			expect(timesPaid(good)).toBe(1);
		});

		test('nothing else is told of, and nothing is told again', () => {
			expect(told).toHaveLength(NO_PAYOUTS.length);
			expect(toldAgain).toStrictEqual([]);
		});

		test('a person cannot have one paid, and can close it', () => {
			const { external_id } = refused[0]!;
			expect(released).toBe(
				`Nothing was changed: ${external_id} is refused, and this decision does not go with that.`,
			);
			expect(closed).toBe(`${external_id} was refused and is closed now.`);
		});
	});

	describe('runs that are not as usual', () => {
		afterEach(() => database.empty());

		test('a Pay node that is handed rows of another execution sends none of them', async () => {
			const { workflow, listPath } = registerWorkflow(register.credentials);
			// As where a person executes the step with the output of an earlier run.
			becomeQuery(
				nodeOf(workflow, 'Claim the next'),
				register.credentials,
				'SELECT * FROM payout_register',
			);
			Object.assign(nodeOf(workflow, 'Claimed by this run'), {
				type: 'n8n-nodes-base.noOp',
				typeVersion: 1,
				parameters: {},
			});
			delete workflow.connections['Write what became of it'];
			const id = await main.importWorkflow(workflow, { payApi });
			await main.activate(id);
			const one = randomUUID();
			register.insertRow(one, 'claimed', { workflow_id: id, execution_id: 'another' });
			await call(queue.webhook, listPath, { items: [payout(one)] });
			const execution = await main.finished(await firstExecution(main, id));
			const [item, ...others] = itemsOf(execution, 'Pay');
			expect(item!.error).toMatchObject({ outcome: 'notSent' });
			expect(others).toStrictEqual([]);
			expect(timesArrived(one)).toBe(0);
			expect(database.states()).toStrictEqual({ [one]: 'unknown' });
		});

		test('an outcome that could not be written stays claimed; the editor’s Retry writes it and pays nothing again', async () => {
			const one = randomUUID();
			database.refuseChanges("NEW.state = 'accepted'");
			const { id, status } = await register.runList([payout(one)]);
			const statesThen = database.states();
			database.allowChanges();
			await main.rest('POST', `/executions/${id}/retry`, { loadWorkflow: false });
			await until('the outcome', async () => database.row(one)!.state === 'accepted');
			expect(status).toBe('error');
			expect(statesThen).toStrictEqual({ [one]: 'claimed' });
			expect(timesArrived(one)).toBe(1);
		});
	});

	describe('the hourly report', () => {
		afterEach(() => database.empty());
		const minutesAgo = (minutes: number) => new Date(Date.now() - 60_000 * minutes).toISOString();

		test('tells of all that needs a person, and pays nothing', async () => {
			register.insertRow('1 claimed long ago', 'claimed', { claimed_at: minutesAgo(31) });
			register.insertRow('2 claimed just now', 'claimed', { claimed_at: minutesAgo(29) });
			register.insertRow('3 unknown', 'unknown', { reason: 'Lost.' });
			register.insertRow('4 rejected', 'rejected', { reason: 'Refused.' });
			register.insertRow('5 not sent', 'notSent', { reason: 'Amount.' });
			register.insertRow('6 accepted a day ago', 'accepted', { claimed_at: minutesAgo(1441) });
			register.insertRow('7 accepted just now', 'accepted', { claimed_at: minutesAgo(1439) });
			register.insertRow('8 due long ago', 'due', { due_at: minutesAgo(61), workflow_id: 'gone' });
			register.insertRow('9 due just now', 'due');
			register.insertRow('settled', 'settled', { ending: 'paid', claimed_at: minutesAgo(9999) });
			register.insertRow('closed', 'closed', { claimed_at: minutesAgo(9999) });
			const before = sandbox.received.length;
			expect(await register.hourlyReport()).toStrictEqual([
				{
					external_id: '1 claimed long ago',
					what: expect.stringContaining('Execution 1 claimed it, try 1, '),
				},
				{
					external_id: '3 unknown',
					what: 'Nobody knows whether it was paid, try 1. Lost.',
				},
				{
					external_id: '4 rejected',
					what: 'The service rejected it, try 1. Refused.',
				},
				{
					external_id: '5 not sent',
					what: 'It was not sent, try 1. Amount.',
				},
				{
					external_id: '6 accepted a day ago',
					what: 'The service accepted it, try 1, and has not said how it ended.',
				},
				{
					external_id: '8 due long ago',
					what: expect.stringContaining('and workflow gone does not pay it'),
				},
			]);
			expect(sandbox.received).toHaveLength(before);
		});

		test('tells of each change once: without one, nobody is told', async () => {
			register.insertRow('one', 'rejected', { reason: 'Refused.' });
			await register.hourlyReport();
			const { data } = await register.runSchedule('Every hour');
			expect(data.resultData.runData).not.toHaveProperty('Tell a person');
			database.sql('UPDATE payout_register SET attempts = 2');
			expect(await register.hourlyReport()).toStrictEqual([
				{ external_id: 'one', what: 'The service rejected it, try 2. Refused.' },
			]);
		});

		test('tells again what could not be told', async () => {
			register.insertRow('one', 'unknown', { reason: '' });
			database.refuseChanges();
			const { status } = await register.runSchedule('Every hour');
			database.allowChanges();
			expect(status).toBe('error');
			expect(await register.hourlyReport()).toHaveLength(1);
			expect(await register.hourlyReport()).toStrictEqual([]);
		});
	});

	describe('the page "Decide on a payout"', () => {
		afterEach(() => database.empty());

		test('takes an identifier with spaces around it, and why', async () => {
			register.insertRow('one', 'due');
			await register.decide(' one ', CLOSE, { 'Why, and who says so': 'Ada asked' });
			expect(database.row('one')).toMatchObject({
				state: 'closed',
				reason: `${CLOSE}: Ada asked`,
			});
		});

		test('what a person notes as paid is settled, and followed once', async () => {
			register.insertRow('one', 'unknown');
			await register.decide('one', NOTE);
			await register.decide('one', NOTE);
			expect(database.row('one')).toMatchObject({ state: 'settled', ending: 'paid' });
			expect(database.followed()).toStrictEqual(['one']);
		});

		test('a decision that does not go with the state changes nothing, and is not followed', async () => {
			register.insertRow('one', 'settled', { ending: 'failed' });
			expect(await register.decide('one', NOTE)).toBe(
				'Nothing was changed: one is settled, and this decision does not go with that.',
			);
			expect(database.row('one')).toMatchObject({ state: 'settled', ending: 'failed' });
			expect(database.followed()).toStrictEqual([]);
		});

		test('takes a due payout of a workflow that is gone', async () => {
			register.insertRow('one', 'due', { workflow_id: 'gone' });
			await register.decide('one', TAKE);
			expect(database.row('one')).toMatchObject({
				state: 'due',
				workflow_id: register.workflowId,
			});
		});

		test('says when there is no such payout', async () => {
			expect(await register.decide('two', RELEASE)).toBe('There is no payout two in the register.');
		});

		test.each([
			{ who: 'nobody', headers: {} },
			{ who: 'somebody with another password', headers: WRONG_PASSWORD },
		])('asks $who for the password, and changes nothing', async ({ headers }) => {
			register.insertRow('one', 'rejected');
			const answers = { 'External ID': 'one', Decision: RELEASE };
			const { status } = await register.submitDecision(answers, headers);
			expect(status).toBe(401);
			expect(database.row('one')!.state).toBe('rejected');
		});
	});

	describe('postbacks', () => {
		afterEach(() => database.empty());

		test('one with another secret is refused', async () => {
			register.insertRow('one', 'accepted');
			const secret = 'another secret that is long';
			expect(await register.sendPostback('one', 'paid', { secret })).toBe(401);
			expect(database.row('one')!.state).toBe('accepted');
		});

		test('one about a charge settles no payout', async () => {
			register.insertRow('one', 'accepted');
			expect(await register.sendPostback('one', 'paid', { kind: 'qrCode' })).toBe(200);
			expect(database.row('one')!.state).toBe('accepted');
		});

		test('a word that nobody set settles nothing, and is not lost', async () => {
			register.insertRow('one', 'accepted');
			expect(await register.sendPostback('one', 'on its way')).toBe(200);
			expect(database.row('one')!.state).toBe('accepted');
			expect(database.sql("SELECT word FROM payout_heard WHERE meaning = ''")).toStrictEqual([
				'on its way',
			]);
		});

		test('"paid" settles the payout, and what follows runs once, however often it comes', async () => {
			register.insertRow('one', 'accepted');
			expect(await register.sendPostback('one', ' Paid ')).toBe(200);
			expect(await register.sendPostback('one', ' Paid ')).toBe(200);
			expect(database.row('one')).toMatchObject({
				state: 'settled',
				ending: 'paid',
				reported: 'Paid',
			});
			expect(database.sentences('one')).toStrictEqual([]);
			expect(database.followed()).toStrictEqual(['one']);
		});

		test('"paid" before the response to the request: the outcome does not overwrite it', async () => {
			const early = randomUUID();
			await register.runList([payout(early, '1.05')]);
			expect(database.row(early)).toMatchObject({ state: 'settled', reported: 'paid' });
			expect(database.followed()).toStrictEqual([early]);
		});

		test.each([
			{ first: 'failed', then: 'paid' },
			{ first: 'paid', then: 'failed' },
		])(
			'"$first", then "$then": the first settles and is followed, the second is told once',
			async ({ first, then }) => {
				register.insertRow('one', 'accepted');
				await register.sendPostback('one', first);
				await register.sendPostback('one', then);
				await register.sendPostback('one', then);
				expect(database.row('one')).toMatchObject({
					state: 'settled',
					ending: first,
					reported: first,
				});
				expect(database.followed()).toStrictEqual(['one']);
				const [sentence] = database.sentences('one');
				expect(sentence).toContain(`The service said "${first}" at `);
				expect(sentence).toContain(`UTC and then "${then}" (`);
				expect(await register.hourlyReport()).toStrictEqual([
					{ external_id: 'one', what: sentence },
				]);
				expect(await register.hourlyReport()).toStrictEqual([]);
			},
		);

		test('"paid" with another amount settles nothing', async () => {
			register.insertRow('one', 'accepted');
			expect(await register.sendPostback('one', 'paid', { amount: 7 })).toBe(200);
			expect(database.row('one')!.state).toBe('accepted');
			expect(database.followed()).toStrictEqual([]);
		});

		test('the late failure of a refused first try does not keep the corrected payout from being paid', async () => {
			const one = randomUUID();
			sandbox.faultFor = () => ({ kind: 'status', status: 422 });
			await register.runList([payout(one, 7)]);
			sandbox.faultFor = undefined;
			await register.decide(one, RELEASE, { 'Corrected amount': '12.00' });
			await register.sendPostback(one, 'failed', { amount: 7 });
			await register.runSchedule('Every five minutes');
			expect(database.row(one)).toMatchObject({ state: 'accepted', amount: '12.00' });
			expect(paymentOf(one)!.amount).toBe(12);
			await register.sendPostback(one, 'paid', { amount: 12 });
			expect(database.row(one)).toMatchObject({ state: 'settled', ending: 'paid' });
		});
	});

	// Before the load, which runs it hundreds of times more.
	reachesLastNodes('payout-register', () => main);

	describe.each(ROUNDS)(
		`${PAYOUTS} payouts, ${EXECUTIONS} executions at once with the same list, a worker killed, Redis restarted, a tenth refused and a tenth of the responses lost (round %i)`,
		() => {
			let load: RegisterLoad;
			/** The rows after the trouble, and how often each payout had arrived. */
			let rows: Row[];
			let books: Books;
			let transitions: Record<string, number>;
			beforeAll(async () => {
				load = new RegisterLoad(queue, register, sandbox, PAYOUTS);
				await load.payUnderTrouble(EXECUTIONS);
				rows = database.rows();
				books = new Books(sandbox);
				transitions = database.transitions();
				const statesOf = rows.map(({ state }) => state).sort();
				figures.push(`n8n ${version} | register: ${countsIn(statesOf)}`);
			});
			afterAll(() => database.empty());

			test('each payout has one row, and was claimed once', () => {
				expect(rows).toHaveLength(PAYOUTS);
				expect(rows.filter(({ attempts }) => attempts !== 1)).toStrictEqual([]);
				expect(transitions['due > claimed']).toBe(PAYOUTS);
			});

			test('each arrives at most once', () => {
				expect(Math.max(...load.list.map(({ id }) => books.arrived(id)))).toBe(1);
			});

			test('every row agrees with the books of the service', () => {
				expect(load.disagreements(rows, books)).toStrictEqual([]);
			});

			test('no run leaves more rows claimed than one claim takes', () => {
				expect(mostClaimedByOne(rows)).toBeLessThanOrEqual(5);
			});

			test('a row goes from due to claimed, and from there to its outcome', () => {
				const allowed = [
					'due > claimed',
					'claimed > accepted',
					'claimed > rejected',
					'claimed > notSent',
					'claimed > unknown',
				];
				const others = Object.keys(transitions).filter((change) => !allowed.includes(change));
				expect(others).toStrictEqual([]);
			});

			test('once a person decided about each that was not paid, each is paid once, and settled and followed once', async () => {
				await load.decideUntilPaid();
				expect(load.timesPaid()).toStrictEqual(Array(PAYOUTS).fill(1));

				const some = load.paidIds().slice(0, REPORTED);
				const runs = await load.reportThrice(some);
				expect(runs).toBeGreaterThanOrEqual(3 * some.length);
				expect(database.settled()).toStrictEqual(some.sort());
				expect(database.followed()).toStrictEqual(some.sort());
				figures.push(
					`n8n ${version} | register: of ${runs} deliveries about ${some.length} payouts each settled`,
				);
			});
		},
	);
});

/** How often each value is in a sorted list, in words. */
function countsIn(values: string[]): string {
	const counts = new Map<string, number>();
	for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
	return [...counts].map(([value, count]) => `${count} ${value}`).join(', ');
}
