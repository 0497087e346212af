import { startPostgres, type Server } from '../n8n/queue';
import { CLOSE, NOTE, REGISTER_SQL, RegisterCalls, RELEASE, TAKE } from './registerCalls';

/*
 * What a person's decision, a word of the service and a line of a list make of a payout in each of its
 * states: the functions of examples/payout-register/register.sql, in PostgreSQL alone.
 */

let postgres: Server;
let register: RegisterCalls;
beforeAll(async () => {
	postgres = await startPostgres();
	register = new RegisterCalls(postgres.port);
	register.sql(REGISTER_SQL);
});
afterAll(async () => await postgres?.close());
afterEach(() => {
	register.sql('DELETE FROM payout_register');
});

/** A row as a run leaves it that claimed it long ago, in its first try. */
function insert(state: string): void {
	register.insert(['one', state]);
	if (state === 'settled') register.sql("UPDATE payout_register SET ending = 'failed'");
}

const claimedJustNow = () => register.sql('UPDATE payout_register SET claimed_at = now()');
const claimedTwice = () => register.sql('UPDATE payout_register SET attempts = 2');

/** The sentences about the payout that the hourly report has, beside that of its state. */
const sentences = () =>
	register.sql("SELECT what FROM payout_sentence WHERE external_id = 'one' ORDER BY what");

const IS_PAID_SOON = 'It is paid within minutes: 10.50 to a@x.';

describe('What a person decides', () => {
	test.each([
		{
			was: 'rejected',
			decision: RELEASE,
			becomes: 'due',
			says: `one was rejected and is due now. ${IS_PAID_SOON}`,
		},
		{
			was: 'notSent',
			decision: RELEASE,
			becomes: 'due',
			says: `one was not sent and is due now. ${IS_PAID_SOON}`,
		},
		{
			was: 'claimed',
			decision: RELEASE,
			becomes: 'due',
			says: `one was claimed and is due now. ${IS_PAID_SOON}`,
		},
		{
			was: 'due',
			decision: CLOSE,
			becomes: 'closed',
			says: 'one was due and is closed now.',
		},
		{
			was: 'unknown',
			decision: CLOSE,
			becomes: 'closed',
			says: 'one was unknown and is closed now.',
		},
		{
			was: 'claimed',
			decision: CLOSE,
			becomes: 'closed',
			says: 'one was claimed and is closed now.',
		},
		{
			was: 'unknown',
			decision: NOTE,
			becomes: 'settled',
			says: 'one was unknown and is settled now.',
		},
		{
			was: 'accepted',
			decision: NOTE,
			becomes: 'settled',
			says: 'one was accepted and is settled now.',
		},
	])(
		'a payout that is $was: "$decision" leaves it $becomes, with who said so',
		({ was, decision, becomes, says }) => {
			insert(was);
			const decided = register.decide('one', decision, '', '', 'Ada asked');
			expect(decided).toMatchObject({ says, settled_now: decision === NOTE });
			expect(register.row('one')).toMatchObject({
				state: becomes,
				reason: `${decision}: Ada asked`,
			});
		},
	);

	test('a due payout of a workflow that is gone: "Pay it from this workflow" takes it', () => {
		register.add('one', '10.50', 'a@x', 'gone');
		register.decide('one', TAKE, '', '', '', 'wf1');
		expect(register.row('one')).toMatchObject({ state: 'due', workflow_id: 'wf1' });
	});

	const ASK_FIRST = ' If the service does not know it, close it and pay it under a new identifier.';
	test.each([
		{ is: 'unknown', decision: RELEASE, hint: ASK_FIRST },
		{ is: 'accepted', decision: RELEASE, hint: '' },
		{ is: 'settled', decision: RELEASE, hint: '' },
		{ is: 'closed', decision: RELEASE, hint: '' },
		{ is: 'accepted', decision: CLOSE, hint: '' },
		{ is: 'settled', decision: NOTE, hint: '' },
		{ is: 'rejected', decision: TAKE, hint: '' },
	])('a payout that is $is: "$decision" changes nothing', ({ is, decision, hint }) => {
		insert(is);
		const before = register.everything();
		expect(register.decide('one', decision, '', '', 'Ada asked')).toMatchObject({
			says: `Nothing was changed: one is ${is}, and this decision does not go with that.${hint}`,
			settled_now: false,
		});
		expect(register.everything()).toBe(before);
	});

	test.each([RELEASE, CLOSE, NOTE])(
		'a payout that was claimed just now, and may be on its way: "%s" changes nothing',
		(decision) => {
			insert('claimed');
			claimedJustNow();
			expect(register.decide('one', decision).says).toBe(
				'Nothing was changed: one is claimed, and this decision does not go with that. A claim must be older than 30 minutes.',
			);
			expect(register.state('one')).toBe('claimed');
		},
	);
});

describe('What the service says', () => {
	test.each(['due', 'rejected', 'notSent'])(
		'"failed" for a payout that is %s is about a try before: it changes nothing',
		(state) => {
			insert(state);
			expect(register.settle('one', 'failed')).toBe(false);
			expect(register.state('one')).toBe(state);
			expect(sentences()).toStrictEqual([]);
		},
	);

	test.each(['due', 'rejected', 'closed'])(
		'"paid" for a payout that is %s settles it, and a person is told',
		(state) => {
			insert(state);
			expect(register.settle('one', 'paid')).toBe(true);
			expect(register.row('one')).toMatchObject({ state: 'settled', ending: 'paid' });
			expect(sentences()).toStrictEqual([`The service says "paid", and this payout was ${state}`]);
		},
	);

	test('"failed" for a payout that is unknown, and was tried once, settles it as failed', () => {
		insert('unknown');
		expect(register.settle('one', 'failed')).toBe(true);
		expect(register.row('one')).toMatchObject({ state: 'settled', ending: 'failed' });
		expect(sentences()).toStrictEqual([]);
	});

	test('"failed" for a payout that was tried twice settles nothing, and a person is told', () => {
		insert('accepted');
		claimedTwice();
		expect(register.settle('one', 'failed')).toBe(false);
		expect(register.state('one')).toBe('accepted');
		expect(sentences()).toStrictEqual([
			'The service says "failed", and there were 2 tries: ask which one failed',
		]);
	});

	test('"paid" for a payout that was tried twice settles it', () => {
		insert('accepted');
		claimedTwice();
		expect(register.settle('one', 'paid')).toBe(true);
		expect(register.state('one')).toBe('settled');
		expect(sentences()).toStrictEqual([]);
	});

	test.each([
		{ was: 'due', becomes: 'unknown' },
		{ was: 'accepted', becomes: 'accepted' },
	])(
		'"paid" with another amount leaves a payout that is $was $becomes, and a person is told',
		({ was, becomes }) => {
			insert(was);
			expect(register.settle('one', 'paid', '7')).toBe(false);
			expect(register.state('one')).toBe(becomes);
			expect(sentences()).toStrictEqual([
				'The service says "paid" about 7, and this payout is 10.50',
			]);
		},
	);

	test('"failed" with another amount changes nothing', () => {
		insert('accepted');
		expect(register.settle('one', 'failed', '7')).toBe(false);
		expect(register.state('one')).toBe('accepted');
		expect(sentences()).toStrictEqual([]);
	});
});

describe('What a list says', () => {
	test.each(['claimed', 'accepted', 'rejected', 'notSent', 'unknown', 'settled', 'closed'])(
		'a line with another amount for a payout that is %s pays nothing, and a person is told once',
		(state) => {
			insert(state);
			register.report();
			register.add('one', '99', 'a@x');
			register.add('one', '99', 'a@x');
			expect(register.row('one')).toMatchObject({ state, amount: '10.50', attempts: 1 });
			expect(register.claim()).toStrictEqual([]);
			expect(register.report()).toStrictEqual([
				'one: A list of workflow wf1 says 99 to a@x, and this payout is 10.50 to a@x, of workflow wf1: the line was not paid',
			]);
			register.add('one', '99', 'a@x');
			expect(register.report()).toStrictEqual([]);
		},
	);

	test('a line with another recipient is told by itself', () => {
		insert('accepted');
		register.report();
		register.add('one', '10.50', 'other@x');
		expect(register.report()).toStrictEqual([
			'one: A list of workflow wf1 says 10.50 to other@x, and this payout is 10.50 to a@x, of workflow wf1: the line was not paid',
		]);
	});
});
