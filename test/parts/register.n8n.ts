import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startPostgres } from '../n8n/queue';
import {
	CLOSE,
	NOTE,
	REGISTER_SQL,
	RegisterCalls,
	RELEASE,
	TAKE,
	WORDS,
	type StatementLine,
} from './registerCalls';

/* examples/payout-register/register.sql, against PostgreSQL alone. `PAY_POSTGRES` names the programs of another. */

let postgres: Awaited<ReturnType<typeof startPostgres>>;
let register: RegisterCalls;
beforeAll(async () => {
	postgres = await startPostgres();
	register = new RegisterCalls(postgres.port);
	register.sql(REGISTER_SQL);
	console.log(register.sql('SELECT version()')[0]);
});
afterAll(async () => await postgres?.close());
afterEach(() => {
	register.sql('DELETE FROM payout_register');
});

/** A line of a payment out, with what is different. */
const line = (identifier: string, more: StatementLine = {}): StatementLine => ({
	identifier,
	day: '2026-11-12',
	amount: '10.50',
	direction: 'out',
	word: 'paid',
	number: '',
	reads: 'the line',
	...more,
});
const [OUT, IN] = [{ direction: 'out' }, { direction: 'in' }];

describe('Set up', () => {
	/** An empty database with the name of the test. */
	function emptyDatabase(name: string): RegisterCalls {
		register.sql(`CREATE DATABASE ${name}`);
		return new RegisterCalls(postgres.port, name);
	}

	test('twenty at once make one register, and no one fails', async () => {
		const other = emptyDatabase('at_once');
		const args = ['-h', '127.0.0.1', '-p', String(postgres.port), '-U', 'n8n', '-d', 'at_once'];
		const all = Array.from({ length: 20 }, async () => {
			await promisify(execFile)('psql', [...args, '-v', 'ON_ERROR_STOP=1', '-qc', REGISTER_SQL]);
		});
		await Promise.all(all);
		other.add('one');
		expect(other.state('one')).toBe('due');
	});

	test('once it is done, a role that may only read and write is enough, for every function', () => {
		const other = emptyDatabase('less');
		other.sql(REGISTER_SQL);
		other.sql(`
			CREATE ROLE paying LOGIN;
			REVOKE CREATE ON SCHEMA public FROM PUBLIC;
			REVOKE TEMPORARY ON DATABASE less FROM PUBLIC;
			GRANT SELECT, INSERT, UPDATE ON payout_register, payout_heard TO paying;
			GRANT SELECT ON payout_statement, payout_sentence TO paying;
		`);
		const one = { external_id: 'two', amount: '1', key: 'k', keyType: '', description: '' };
		const statements = [
			REGISTER_SQL,
			"SELECT add_payout('one', '10.50', 'k', '', '', 'wf1'), add_payout('one', '11', 'k', '', '', 'wf1')",
			"SELECT add_refused_line('x', 'wf1')",
			"SELECT decide('one', 'Pay it (again)', '12', 'l', '', 'wf1'), claim_payouts('ex1', 'wf1')",
			`SELECT claim_once('${JSON.stringify([one])}', 'wf1', 'ex1'), released_payouts('wf1'), payouts_to_ask()`,
			"SELECT write_outcome('one', 'ex1', 1, 'ex1', 'accepted', ''), settle('one', 'paid', 'paid', '12')",
			`SELECT compare_statement('${JSON.stringify([line('two')])}', '${JSON.stringify(WORDS)}', '2026-11-01', '2026-11-30', 'UTC', 24, '')`,
			'SELECT mark_told((SELECT jsonb_agg(told) FROM needs_person(30, 24, 1) AS told))',
		];
		for (const statement of statements) other.sql(statement, 'paying');
		expect(other.state('one')).toBe('settled');
		// The control: what makes the tables is what this role may not do.
		const another = REGISTER_SQL.replaceAll('payout_register', 'another');
		expect(() => other.sql(another, 'paying')).toThrow(/permission denied/);
	});

	test('a file of a lower version leaves a newer register alone', () => {
		const other = emptyDatabase('newer');
		other.sql(REGISTER_SQL);
		other.sql("COMMENT ON TABLE payout_register IS 'Payouts of n8n-nodes-pay, version 99'");
		other.sql('DROP FUNCTION mark_told');
		other.sql(REGISTER_SQL);
		expect(other.sql("SELECT 1 FROM pg_proc WHERE proname = 'mark_told'")).toStrictEqual([]);
	});

	test('the version of the file is the one that it leaves behind', () => {
		const [, version] = /this_version CONSTANT integer := (\d+);/.exec(REGISTER_SQL)!;
		expect(REGISTER_SQL).toContain(
			`COMMENT ON TABLE payout_register IS 'Payouts of n8n-nodes-pay, version ${version}'`,
		);
	});

	test('a register of 0.1.0 keeps its rows; what doubt had undone has ended, and no old sentence is told as if it were true', () => {
		const other = emptyDatabase('upgrade');
		other.sql(readFileSync(join(__dirname, '..', 'stored', 'payout_register-0.1.0.sql'), 'utf8'));
		other.sql(`
			INSERT INTO payout_register (external_id, amount, recipient, workflow_id, state, attempts, claimed_at, settled_at, ending, reported, reason, differs, contradicted, not_understood, told) VALUES
			('due', '1.00', 'k', 'wf1', 'due', 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{}'),
			('undone', '10.50', 'k', 'wf1', 'unknown', 1, '2026-11-10', '2026-11-11', 'paid', 'paid', 'Statement: Wrong amount: 10', NULL, NULL, NULL, '{}'),
			('noted', '1', 'k', 'wf1', 'settled', 1, '2026-11-10', '2026-11-11', 'paid', 'noted by a person', NULL, NULL, NULL, NULL, '{}'),
			('said', '12', 'b@x', 'wf1', 'settled', 1, '2026-11-10', '2026-11-11', 'paid', 'paid', NULL, E'told before\nnot told yet', NULL, NULL, '{told before}'),
			('waits', '1', 'k', 'wf1', 'accepted', 1, '2026-11-10', NULL, NULL, NULL, NULL, NULL, NULL, 'on its way', '{}')
		`);
		other.sql(REGISTER_SQL);
		other.sql(REGISTER_SQL);
		expect(other.row('undone')).toMatchObject({ state: 'settled', ending: 'paid' });
		expect(other.settle('undone', 'paid')).toBe(false);
		expect(other.row('noted')).toMatchObject({ reported_by: 'person' });
		expect(other.report()).toStrictEqual([
			'said: The register of 0.1.0 noted, and it may have changed since: not told yet',
			'waits: The service accepted it, try 1, and has not said how it ended. Its last word, which "What the word means" does not know: on its way',
		]);
		expect(other.claim()).toStrictEqual(['due']);
	});

	test('a register of version 2 gets the column for the service’s number, and its rows are kept', () => {
		const other = emptyDatabase('version2');
		other.sql(REGISTER_SQL);
		other.sql(`
			ALTER TABLE payout_register DROP COLUMN number;
			DROP FUNCTION write_outcome(text, text, integer, text, text, text, text, text), payouts_to_ask();
			CREATE FUNCTION write_outcome(text, text, integer, text, text, text) RETURNS text LANGUAGE sql AS 'SELECT NULL::text';
			CREATE FUNCTION payouts_to_ask() RETURNS text LANGUAGE sql AS 'SELECT NULL::text';
			COMMENT ON TABLE payout_register IS 'Payouts of n8n-nodes-pay, version 2';
			INSERT INTO payout_register (external_id, amount, recipient, workflow_id, state, attempts, execution_id)
				VALUES ('kept', '1', 'k', 'wf1', 'claimed', 1, 'ex1')
		`);
		other.sql(REGISTER_SQL);
		// As a workflow of before calls it, which is still running.
		other.write('kept', 1, 'unknown');
		expect(other.toAsk()).toStrictEqual([
			{ external_id: 'kept', number: '', shares_number: false },
		]);
	});

	test('a register of version 4 gets the day into what tells two lines apart; the line that it had dropped is heard when it comes again', () => {
		const other = emptyDatabase('version4');
		other.sql(REGISTER_SQL);
		other.sql(`
			ALTER TABLE payout_heard DROP COLUMN fingerprint;
			ALTER TABLE payout_heard ADD COLUMN fingerprint text NOT NULL GENERATED ALWAYS AS (md5(
				source || E'\\n' || meaning || E'\\n' || amount || E'\\n' || recipient || E'\\n' || key_type || E'\\n' || workflow_id ||
				E'\\n' || number || E'\\n' || CASE source WHEN 'statement' THEN '' ELSE attempt || E'\\n' || word END
			)) STORED, ADD PRIMARY KEY (external_id, fingerprint);
			COMMENT ON TABLE payout_register IS 'Payouts of n8n-nodes-pay, version 4'
		`);
		other.insert(['one', 'unknown']);
		other.settle('one', 'on its way', '10.5', '');
		const first = line('one', { number: 'n1', word: 'failed', day: '2026-11-11' });
		const other_day = { ...first, day: '2026-11-14' };
		const second = `INSERT INTO payout_heard (external_id, source, meaning, word, amount, number, day)
			VALUES ('one', 'statement', 'failed', 'failed', '10.5', 'n1', '2026-11-14') ON CONFLICT DO NOTHING`;
		other.apply([first]);
		// Before, the failure of another day was the same line.
		expect(other.sql(second)).toStrictEqual(['INSERT 0 0']);
		const before = other.everything().replace(/"fingerprint":"\w+"/g, '');

		other.sql(REGISTER_SQL);
		expect(other.everything().replace(/"fingerprint":"\w+"/g, '')).toBe(before);
		expect(other.apply([first]).says.at(-1)).toBe('There is nothing to change.');
		const { says, settled } = other.apply([line('one', { number: 'n2' }), first, other_day]);
		expect(says[0]).toMatch(/^Paid, and failed later: one, /);
		expect(settled).toStrictEqual([]);
	});
});

describe('Claiming', () => {
	test('only due rows of this workflow, five at a time, and no row twice', () => {
		for (const id of ['1', '2', '3', '4', '5', '6', '7']) register.add(id);
		register.add('theirs', '1', 'k', 'wf2');
		expect(register.claim('ex1')).toHaveLength(5);
		expect(register.claim('ex2').sort()).toHaveLength(2);
		expect(register.claim('ex3')).toStrictEqual([]);
		expect(register.state('theirs')).toBe('due');
	});

	test('of ten runs at once with the same lines in one claim_once, each line is the own of one', async () => {
		const lines = Array.from({ length: 20 }, (_none, position) => {
			return {
				position,
				external_id: `once-${position}`,
				amount: '1',
				key: 'k',
				keyType: '',
				description: '',
			};
		});
		const args = ['-h', '127.0.0.1', '-p', String(postgres.port), '-U', 'n8n', '-d', 'postgres'];
		const runs = Array.from({ length: 10 }, async (_none, run) => {
			const list = JSON.stringify(run % 2 === 0 ? lines : [...lines].reverse());
			const query = `SELECT external_id FROM claim_once('${list.replaceAll("'", "''")}', 'wf1', 'ex${run}') WHERE mine`;
			const { stdout } = await promisify(execFile)('psql', [...args, '-Atc', query]);
			return stdout.split('\n').filter(Boolean);
		});
		const all = (await Promise.all(runs)).flat();
		expect(all.sort()).toStrictEqual(lines.map(({ external_id }) => external_id).sort());
	});

	test('of two lines with one identifier in a call, one is its own, and the other differs only if it does', () => {
		const one = { external_id: 'one', amount: '10.5', key: 'k', keyType: '', description: '' };
		const rows = register.claimOnce([
			{ position: 0, ...one },
			{ position: 1, ...one, amount: '10.50' },
			{ position: 2, ...one, amount: '11' },
		]);
		expect(rows.map(({ mine, differs }) => [mine, differs])).toStrictEqual([
			[true, false],
			[false, false],
			[false, true],
		]);
		expect(register.report()).toStrictEqual([
			'one: It was asked for with 11 to k, and this payout is 10.5 to k: that was not paid',
		]);
	});

	test('an outcome is written for its own claim alone; the notSent of another execution says nothing', () => {
		register.add('one');
		register.claim('ex1');
		register.write('one', 2, 'accepted');
		register.write('one', 1, 'accepted', '', 'ex2');
		expect(register.state('one')).toBe('claimed');
		register.sql("SELECT write_outcome('one', 'ex1', 1, 'ex2', 'notSent', '')");
		expect(register.state('one')).toBe('unknown');
	});

	test('the service’s own number is that of the last attempt, digit by digit; where it is missing, the report says so', () => {
		for (const id of ['one', 'two', 'three']) register.add(id);
		register.claim();
		register.writeWithNumber('one', 1, 'accepted', '12345678901234567');
		register.writeWithNumber('two', 1, 'accepted', '');
		register.write('three', 1, 'accepted');
		expect(register.row('one').number).toBe('12345678901234567');
		register.sql("UPDATE payout_register SET claimed_at = now() - interval '2 days'");
		const waits = 'The service accepted it, try 1, and has not said how it ended.';
		expect(register.report()).toStrictEqual([
			`one: ${waits}`,
			`three: ${waits}`,
			`two: ${waits} Its response has no number of the service in "data.id".`,
		]);

		register.add('again');
		register.claim();
		register.writeWithNumber('again', 1, 'rejected', 'of the first');
		register.decide('again', RELEASE);
		register.claim();
		expect(register.row('again').number).toBe('');
	});

	test('of two payouts with one number of the service, each is marked: what is said about it may be about the other', () => {
		for (const id of ['a', 'b', 'c', 'd', 'e']) register.add(id);
		register.claim();
		register.writeWithNumber('a', 1, 'unknown', '17');
		register.writeWithNumber('b', 1, 'rejected', '17');
		register.writeWithNumber('c', 1, 'unknown', '017');
		register.writeWithNumber('d', 1, 'unknown', '');
		register.writeWithNumber('e', 1, 'unknown', '');
		expect(register.toAsk()).toStrictEqual([
			{ external_id: 'a', number: '17', shares_number: true },
			{ external_id: 'c', number: '017', shares_number: false },
			{ external_id: 'd', number: '', shares_number: false },
			{ external_id: 'e', number: '', shares_number: false },
		]);
	});
});

describe('Books that stay true', () => {
	test('a list’s wrong amount, corrected and paid: no report says that it was not paid', () => {
		register.add('one', '12,00', 'b@x');
		register.claim();
		register.write('one', 1, 'notSent', 'must be a number');
		register.add('one', '12', 'b@x');
		register.decide('one', RELEASE, '12');
		register.claim();
		register.write('one', 2, 'accepted');
		expect(register.settle('one', 'paid', '12')).toBe(true);
		expect(register.report()).toStrictEqual([]);
		// The control: the old list, which says something else than what was paid.
		register.add('one', '12,00', 'b@x');
		expect(register.report()).toStrictEqual([
			'one: A list of workflow wf1 says 12,00 to b@x, and this payout is 12 to b@x, of workflow wf1: the line was not paid',
		]);
	});

	test('the same for a corrected recipient, and for a call of "Pay once"', () => {
		register.add('one', '12', 'typo@x');
		register.claim();
		register.write('one', 1, 'rejected', 'no such key');
		register.add('one', '12', 'right@x');
		register.claimOnce([
			{
				position: 0,
				external_id: 'one',
				amount: '12',
				key: 'right@x',
				keyType: '',
				description: '',
			},
		]);
		register.decide('one', RELEASE, '', 'right@x');
		register.claim();
		register.write('one', 2, 'accepted');
		expect(register.report()).toStrictEqual([]);
	});

	test.each<[string, (id: string) => unknown]>([
		['the same postback again', (id) => register.settle(id, 'paid')],
		['"Note it as paid"', (id) => register.decide(id, NOTE).settled_now],
		['"Close it"', (id) => register.decide(id, CLOSE).settled_now],
		['"Pay it (again)"', (id) => register.decide(id, RELEASE).settled_now],
	])(
		'settled, and the statement has less than its amount: it stays settled; after %s too',
		(_what, then) => {
			register.send('one', 'accepted');
			expect(register.settle('one', 'paid')).toBe(true);
			const { says, settled } = register.apply([line('one', { amount: '10.00' })]);
			expect(says[0]).toMatch(/^Wrong amount: one, 10\.50 to a@x, .* \(settled stays\)$/);
			expect(settled).toStrictEqual([]);
			expect(then('one')).toBe(false);
			expect(register.row('one')).toMatchObject({ state: 'settled', ending: 'paid' });
			expect(register.report()).toStrictEqual([
				'one: Statement: Wrong amount: paid 10 on 2026-11-12, and this payout is 10.50 to a@x',
			]);
			expect(register.report()).toStrictEqual([]);
		},
	);

	test.each<[string, string, StatementLine[], string, RegExp[]]>([
		[
			'a fee with its identifier is not "paid twice"',
			'accepted',
			[line('one'), line('one', { amount: '0.50' })],
			'settled',
			[/Statement: Paid, and another amount too: paid 0\.5 on .*, paid 10\.5 on /],
		],
		[
			'a fee in a word of its own is nothing',
			'unknown',
			[line('one'), line('one', { amount: '0.50', word: 'fee' })],
			'settled',
			[],
		],
		[
			'paid twice and one sent back: it was paid',
			'unknown',
			[
				line('one', { number: '1' }),
				line('one', { number: '2' }),
				line('one', { number: '3', word: 'returned' }),
			],
			'settled',
			[/Statement: Paid more than once, and some came back/],
		],
		[
			'paid and returned the next day: nobody says that it was paid',
			'accepted',
			[line('one'), line('one', { direction: 'in', day: '2026-11-13' })],
			'accepted',
			[
				/Paid, and money came in or back: paid 10\.5 on .*, came in 10\.5/,
				/The service accepted it/,
			],
		],
	])('%s', (_what, outcome, lines, becomes, sentences) => {
		register.send('one', outcome);
		register.apply(lines);
		expect(register.state('one')).toBe(becomes);
		const report = register.report();
		expect(report).toStrictEqual(sentences.map((each) => expect.stringMatching(each)));
	});

	test('settled as paid, and returned in the statement of the next month: reported', () => {
		register.send('one', 'accepted');
		register.settle('one', 'paid');
		register.apply([line('one')]);
		expect(register.report()).toStrictEqual([]);
		register.apply([line('one', { word: 'returned', day: '2026-11-28' })]);
		expect(register.state('one')).toBe('settled');
		expect(register.report()).toStrictEqual([
			'one: Statement: Paid, and money came in or back: paid 10.5 on 2026-11-12, returned 10.5 on 2026-11-28, and this payout is 10.50 to a@x',
		]);
	});

	test('paid again in a later statement: "paid twice" is found across statements', () => {
		register.send('one', 'accepted');
		register.settle('one', 'paid');
		register.apply([line('one', { number: '1' })]);
		register.apply([line('one', { number: '2', day: '2026-11-20' })]);
		expect(register.report()).toStrictEqual([
			expect.stringMatching(/^one: Statement: Paid twice: /),
		]);
	});

	test('"The service said" is said only of the service', () => {
		register.send('noted', 'accepted');
		register.decide('noted', NOTE);
		expect(register.settle('noted', 'paid')).toBe(false);
		expect(register.report()).toStrictEqual([]);
		register.settle('noted', 'failed');
		register.send('stated', 'unknown');
		register.apply([line('stated', { word: 'confirmed' })]);
		register.settle('stated', 'failed');
		register.send('said', 'accepted');
		register.settle('said', 'failed');
		register.settle('said', 'paid');
		expect(register.report()).toStrictEqual([
			expect.stringMatching(
				/^noted: A person noted it as paid at [\d: -]+UTC, and the service then said "failed" \(/,
			),
			expect.stringMatching(/^said: The service said "failed" at [\d: -]+UTC and then "paid" \(/),
			expect.stringMatching(
				/^stated: The statement said "confirmed" at [\d: -]+UTC, and the service then said "failed" \(/,
			),
		]);
	});

	test('settled as failed, and paid in the statement: reported, and never payable', () => {
		register.send('one', 'accepted');
		expect(register.settle('one', 'failed')).toBe(true);
		const { says, settled } = register.apply([line('one')]);
		expect(says[0]).toMatch(/^Reported as failed, but paid: one, .* \(settled stays\)$/);
		expect(settled).toStrictEqual([]);
		expect(register.report()).toStrictEqual([
			expect.stringMatching(
				/^one: The service said "failed" at .*, and the statement has it as paid on 2026-11-12$/,
			),
		]);
		expect(register.decide('one', RELEASE).says).toMatch(/^Nothing was changed/);
	});

	test.each([
		['rejected', true],
		['notSent', false],
	])(
		'a "paid" after a release to another recipient, where the first try was %s',
		(first, isReported) => {
			register.send('one', first);
			register.decide('one', RELEASE, '', 'b@x');
			register.claim();
			register.write('one', 2, 'unknown', 'lost');
			expect(register.settle('one', 'paid')).toBe(true);
			expect(register.report()).toStrictEqual(
				isReported
					? [
							'one: It was paid, and try 1, which was rejected, was to a@x, not to b@x: see who got it',
						]
					: [],
			);
		},
	);

	test('a word that could be about either of two tries is reported while it is in doubt, and not after the end', () => {
		register.send('one', 'rejected');
		register.decide('one', RELEASE);
		register.claim();
		register.write('one', 2, 'accepted');
		register.settle('one', 'failed');
		expect(register.state('one')).toBe('accepted');
		expect(register.report()).toStrictEqual([
			'one: The service says "failed", and there were 2 tries: ask which one failed',
		]);
		register.settle('one', 'paid');
		expect(register.row('one')).toMatchObject({ state: 'settled', ending: 'paid' });
		expect(register.report()).toStrictEqual([]);
	});

	test.each([
		['the service', () => register.settle('one', 'paid', '7')],
		['the statement', () => register.apply([line('one', { amount: '7' })])],
	])('what %s called paid, with another amount, is not released', (_who, say) => {
		register.send('one', 'rejected');
		say();
		expect(register.state('one')).toBe('unknown');
		// As a run leaves it that wrote its outcome later.
		register.sql("UPDATE payout_register SET state = 'rejected' WHERE external_id = 'one'");
		expect(register.decide('one', RELEASE).says).toContain('It was reported as paid');
	});

	test.each([
		['the service', () => register.settle('one', 'paid', '7')],
		['the statement', () => register.apply([line('one', { amount: '7' })])],
	])(
		'a "failed" after %s called it paid, with another amount: no end, and reported',
		(_who, say) => {
			register.send('one', 'unknown');
			say();
			register.report();
			expect(register.settle('one', 'failed')).toBe(false);
			expect(register.state('one')).toBe('unknown');
			expect(register.report()).toStrictEqual([
				'one: The service says "failed", and it was called paid before: ask which is true',
			]);
			register.apply([line('one', { word: 'failed' })]);
			expect(register.state('one')).toBe('unknown');
		},
	);

	test('closed, then paid under a new identifier, then the old one arrives: settled and reported', () => {
		register.send('one', 'unknown');
		register.decide('one', CLOSE);
		const { settled } = register.apply([line('one')]);
		expect(settled).toHaveLength(1);
		expect(register.report()).toStrictEqual([
			'one: The statement has it as paid on 2026-11-12, and this payout was closed',
		]);
	});

	test('a row taken from a workflow that is gone: the old list is reported, and claims nothing', () => {
		register.add('one', '10', 'k', 'wf1');
		register.decide('one', TAKE, '', '', '', 'wf2');
		register.add('one', '10', 'k', 'wf1');
		expect([register.claim('ex1', 'wf1'), register.claim('ex1', 'wf2')]).toStrictEqual([
			[],
			['one'],
		]);
		expect(register.report()).toStrictEqual([
			'one: A list of workflow wf1 says 10 to k, and this payout is 10 to k, of workflow wf2: the line was not paid',
		]);
	});
});

describe('The statement', () => {
	/** Rows of all states that a line might settle, and one that must be left alone. */
	function everyState() {
		const states = ['unknown', 'claimed', 'accepted', 'rejected', 'notSent', 'due', 'closed'];
		register.insert(...states.map((state): [string, string] => [state, state]));
		return states;
	}

	test.each<[string, StatementLine[]]>([
		['a customer’s payment of the same number', [IN]],
		['a customer’s payment, in the letter of the bank', [{ direction: 'C' }]],
		['a customer’s payment, in capitals and spaces', [{ direction: ' IN ', word: ' PAID ' }]],
		['a customer’s payment of another amount', [{ direction: 'in', amount: '30.00' }]],
		['two customers’ payments', [IN, { direction: 'in', number: '2' }]],
		['a payment out and one in', [OUT, IN]],
		[
			'a payment out, and its return of another amount',
			[OUT, { word: 'returned', amount: '10.00' }],
		],
		['a payment that was returned', [{ word: 'returned' }]],
		['a payment that was returned, as money in', [{ word: 'returned', direction: 'in' }]],
		['a payment out, and its return the next day', [OUT, { word: 'returned', day: '2026-11-13' }]],
		['a payment that failed', [{ word: 'failed' }]],
		['a payment in that failed', [{ word: 'failed', direction: 'in' }]],
		['a payment that waits', [{ word: 'pending' }]],
		['a payment in that waits', [{ word: 'pending', direction: 'in' }]],
		['a payment that failed later', [OUT, { word: 'failed', day: '2026-11-13' }]],
		['a payment that failed on the same day, after one try', [OUT, { word: 'failed' }]],
		['a fee', [{ word: 'fee' }]],
		['a fee of another amount that is called paid', [{ amount: '0.50' }]],
		['a thousandth of it', [{ amount: '0.0105' }]],
		['a hundred times it', [{ amount: '1050' }]],
		['two parts of it', [{ amount: '10.00' }, { amount: '0.50' }]],
		['a payment before the day on which it was sent', [{ day: '2026-11-09' }]],
		['one before that day and one after it', [{ day: '2026-11-09' }, OUT]],
		['two payments and two returns', [OUT, { number: '2' }, IN, { direction: 'in', number: '2' }]],
	])('%s settles nothing, whatever the state', (_what, lines) => {
		const states = everyState();
		const { settled } = register.apply(
			states.flatMap((state) => lines.map((more) => line(state, more))),
		);
		expect(settled).toStrictEqual([]);
		const settledRows = register.sql(
			"SELECT external_id FROM payout_register WHERE state = 'settled'",
		);
		expect(settledRows).toStrictEqual([]);
		// Nothing became payable that was not.
		const payable = register.sql(
			"SELECT external_id FROM payout_register WHERE state = 'due' AND external_id <> 'due'",
		);
		expect(payable).toStrictEqual([]);
	});

	test('the control: a payment out settles each of them but the accepted one, once', () => {
		const lines = everyState().map((state) => line(state));
		expect(
			register
				.apply(lines)
				.settled.map(({ external_id }) => external_id)
				.sort(),
		).toStrictEqual(['claimed', 'closed', 'due', 'notSent', 'rejected', 'unknown']);
		const before = register.everything();
		const again = register.apply(lines);
		expect([again.says.at(-1), again.settled]).toStrictEqual(['There is nothing to change.', []]);
		expect(register.everything()).toBe(before);
	});

	test.each<[string, StatementLine[], string]>([
		['money that came in', [IN], 'unknown'],
		['a payment of another amount', [{ amount: '1.00' }], 'unknown'],
		['a payment and its return', [OUT, { word: 'returned' }], 'unknown'],
		['a payment before it was sent', [{ day: '2026-11-09' }], 'unknown'],
		['a failure', [{ word: 'failed' }], 'rejected'],
	])(
		'%s of a payable row: it is payable only after a person has looked',
		(_what, lines, becomes) => {
			register.send('one', 'rejected');
			register.apply(lines.map((more) => line('one', more)));
			expect(register.state('one')).toBe(becomes);
		},
	);

	test.each<[string, StatementLine, string, Partial<Record<'attempts' | 'claimed_at', string>>?]>([
		['the one try', { word: 'failed' }, 'rejected'],
		['one of two tries', { word: 'failed' }, 'unknown', { attempts: '2' }],
		['another amount', { word: 'failed', amount: '7' }, 'unknown'],
		['the day before it was claimed', { word: 'failed', day: '2026-11-09' }, 'unknown'],
		['money in', { word: 'failed', direction: 'in' }, 'unknown'],
	])('a failure of %s', (_what, more, becomes, columns = {}) => {
		register.send('one', 'unknown');
		for (const [column, value] of Object.entries(columns))
			register.sql(`UPDATE payout_register SET ${column} = '${value}'`);
		register.apply([line('one', more)]);
		expect(register.state('one')).toBe(becomes);
	});

	test('lines that read the same are two payments without a number, and one with the same number', () => {
		register.send('one', 'unknown');
		register.send('two', 'unknown');
		const numbered = line('two', { number: 'n1' });
		const { says } = register.apply([line('one'), line('one'), numbered, numbered]);
		expect(says.map((each) => each.split(',')[0])).toStrictEqual([
			'Arrived: two',
			'Paid twice: one',
			'2 changed',
		]);
	});

	test.each<[string, StatementLine, string]>([
		[
			'a direction that is not named',
			{ direction: 'sideways' },
			'The direction "sideways" is in none of the settings.',
		],
		['no direction', { direction: '' }, 'The direction "" is in none of the settings.'],
		['a word that is not named', { word: 'done' }, 'The word "done" is in none of the settings.'],
		['no word', { word: '' }, 'The word "" is in none of the settings.'],
		[
			'a minus in the amount',
			{ amount: '-10.50' },
			'The amount "-10.50" is not a plain number such as 1234.56.',
		],
		[
			'a decimal comma',
			{ amount: '10,50' },
			'The amount "10,50" is not a plain number such as 1234.56.',
		],
		[
			'a letter beside the amount',
			{ amount: '10.50 D' },
			'The amount "10.50 D" is not a plain number such as 1234.56.',
		],
		['three decimals', { amount: '1.234' }, 'The amount "1.234" can be read in two ways.'],
		['no amount', { amount: '' }, 'It has no amount.'],
		['no day', { day: '' }, 'It has no day.'],
		[
			'a day as in the USA',
			{ day: '11/12/2026' },
			'The day "11/12/2026" is not a day such as 2026-11-30.',
		],
		[
			'a day that does not exist',
			{ day: '2026-11-31' },
			'The day "2026-11-31" is not a day such as 2026-11-30.',
		],
		[
			'a day of another month',
			{ day: '2026-10-31' },
			'The day 2026-10-31 is not in the period from 2026-11-01 to 2026-11-30.',
		],
		[
			'a day of another month of a failure',
			{ day: '2026-10-31', word: 'failed' },
			'The day 2026-10-31 is not in the period from 2026-11-01 to 2026-11-30.',
		],
		[
			'the word in the column of the direction',
			{ direction: 'paid', word: 'out' },
			'The direction "paid" is in none of the settings.',
		],
		[
			'a word with a character that nobody sees',
			{ word: 'paid\u200b' },
			'The word "paid\u200b" is in none of the settings.',
		],
		[
			'a direction with a space that does not break',
			{ direction: 'out\u00a0' },
			'The direction "out\u00a0" is in none of the settings.',
		],
		[
			'a currency beside the amount',
			{ amount: '10.50 EUR' },
			'The amount "10.50 EUR" is not a plain number such as 1234.56.',
		],
		[
			'a plus before the amount',
			{ amount: '+10.50' },
			'The amount "+10.50" is not a plain number such as 1234.56.',
		],
		[
			'digits of another script',
			{ amount: '\uff11\uff10.50' },
			'The amount "\uff11\uff10.50" is not a plain number such as 1234.56.',
		],
		[
			'a time of day beside the day',
			{ day: '2026-11-12 23:59' },
			'The day "2026-11-12 23:59" is not a day such as 2026-11-30.',
		],
		['a column that was not found', { direction: 'undefined' }, 'A column of it was not found.'],
		[
			'letters that cannot be read',
			{ reads: 'caf\ufffd' },
			'It has letters that cannot be read: set the encoding of the file.',
		],
	])('%s refuses the whole statement, with its line and what it reads', (_what, more, problem) => {
		register.send('one', 'unknown');
		const before = register.everything();
		const bad = line('two', { line: 3, ...more });
		const { says } = register.apply([line('one'), bad]);
		expect(says[0]).toBe('Nothing was compared.');
		expect(says).toContain(`Line 3: ${problem} It reads: ${bad.reads}`);
		expect(register.everything()).toBe(before);
	});

	test.each<[string, object, string]>([
		[
			'one word for two things',
			{ failed: 'failed, Paid' },
			'The word "paid" means two things in Settings: failed and paid.',
		],
		[
			'one word for two things, its letters composed in two ways',
			{ paid: 'paid, conclu\u00edda', failed: 'conclui\u0301da' },
			'The word "conclu\u00edda" means two things in Settings: failed and paid.',
		],
		[
			'one word for both directions',
			{ in: 'in, d' },
			'The word "d" means two things in Settings: in and out.',
		],
		[
			'no words',
			{ out: '' },
			'Line 1: The direction "out" is in none of the settings. It reads: the line',
		],
	])('Settings with %s refuse it', (_what, words, problem) => {
		expect(register.compare([line('one')], '', { ...WORDS, ...words }).says).toContain(problem);
	});

	test('an empty file, one whose identifiers are all empty and a day that is none are refused; an empty line is left out', () => {
		expect(register.compare([]).says).toContain('The file has no lines.');
		expect(register.compare([line('')]).says).toContain('No line has an identifier.');
		expect(register.compare([line('one')], '', WORDS, '30/11/2026').says).toContain(
			'"30/11/2026" is not a day such as 2026-11-30.',
		);
		register.send('one', 'unknown');
		expect(register.compare([line('one'), { reads: ';;;' }]).says[0]).toMatch(/^Arrived: one/);
	});

	test('what is not there is shown, and changed by nobody: nor what was sent too late or too early to be there', () => {
		for (const id of ['1 unknown', '2 accepted', '3 late', '4 early', '5 due', '6 waits'])
			register.send(id, 'unknown');
		register.sql("UPDATE payout_register SET state = 'accepted' WHERE external_id = '2 accepted'");
		register.sql(
			"UPDATE payout_register SET claimed_at = '2026-11-30 12:00Z' WHERE external_id = '3 late'",
		);
		register.sql(
			"UPDATE payout_register SET claimed_at = '2026-10-31 12:00Z' WHERE external_id = '4 early'",
		);
		register.sql("UPDATE payout_register SET state = 'due' WHERE external_id = '5 due'");
		const before = register.everything();
		const waiting = line('6 waits', { word: 'pending', day: '2026-12-02' });
		expect(register.apply([line('another'), waiting]).says).toStrictEqual([
			'Accepted, and not in the statement: 2 accepted, 10.50 to a@x (accepted stays)',
			'Never arrived: 1 unknown, 10.50 to a@x (unknown stays)',
			'Paid, and not in the register: another, in the statement paid 10.5 on 2026-11-12',
			'There is nothing to change.',
		]);
		expect(register.everything()).toBe(before);
	});

	test('what a person decided stays, and a wrong code or one of other findings changes nothing', () => {
		register.send('one', 'accepted');
		register.send('two', 'unknown');
		const wrong = line('one', { amount: '99.00' });
		register.apply([wrong]);
		expect(register.state('one')).toBe('unknown');
		register.decide('one', CLOSE);
		const shown = register.compare([wrong, line('two')]).says;
		expect(shown[1]).toMatch(/^Wrong amount: one, .* \(closed stays\)$/);
		const code = /code (\w+)\.$/.exec(shown.at(-1)!)![1]!;
		expect(register.compare([wrong, line('two')], '00000000').says.at(-1)).toMatch(
			/^Nothing was changed: the code/,
		);
		// Meanwhile something moved.
		register.sql("UPDATE payout_register SET state = 'claimed' WHERE external_id = 'two'");
		expect(register.compare([wrong, line('two')], code).says.at(-1)).toMatch(
			/^Nothing was changed: the code/,
		);
		expect([register.state('one'), register.state('two')]).toStrictEqual(['closed', 'claimed']);
	});

	test('identifiers stay text: 00123 and 1e5 are not 123 and 100000, and composed characters are one', () => {
		for (const id of ['00123', '123', '1e5', '100000', 'caf\u00e9']) register.send(id, 'unknown');
		register.apply(['00123', '1e5', 'cafe\u0301'].map((id) => line(id)));
		const settled = register.sql(
			"SELECT external_id FROM payout_register WHERE state = 'settled' ORDER BY 1",
		);
		expect(settled.sort()).toStrictEqual(['00123', '1e5', 'caf\u00e9']);
	});

	describe('hostile lines', () => {
		/** Two payouts of one amount to one recipient, both in doubt; the service gave each a number. */
		beforeEach(() => {
			register.insert(['one', 'unknown'], ['two', 'unknown']);
			register.sql("UPDATE payout_register SET number = 'tx-' || external_id");
		});
		const notKnown = (identifier: string) =>
			`Paid, and not in the register: ${identifier}, in the statement paid 10.5 on 2026-11-12`;
		const about = (finding: string, lines: string) =>
			`${finding}: one, 10.50 to a@x, in the statement ${lines} (unknown stays)`;
		const back = (lines: string) => about('Paid, and money came in or back', lines);
		const IS_MIXED =
			'Line 1: The identifier is that of "one", and the number that of "two". If the numbers of the file are not those of the service, leave the column "number" empty. It reads: the line';
		const [FIRST, SECOND] = [{ number: 'n1' }, { number: 'n2' }];
		const RETURNED = { word: 'returned', number: 'n3' };
		const FAILED_BEFORE = { word: 'failed', number: 'n2', day: '2026-11-11' };
		const FAILED_AFTER = { word: 'failed', number: 'n2', day: '2026-11-14' };
		const FAILED_TWICE_BEFORE = [
			FAILED_BEFORE,
			{ ...FAILED_BEFORE, day: '2026-11-10' },
			{ number: 'n1' },
		];
		const FAILED_TWICE =
			'failed 10.5 on 2026-11-11, paid 10.5 on 2026-11-12, failed 10.5 on 2026-11-14';
		const FAILED_BETWEEN =
			'paid 10.5 on 2026-11-12, failed 10.5 on 2026-11-13, paid 10.5 on 2026-11-14';
		const against = (what: string) =>
			about('Paid, and a line speaks against it', `paid 10.5 on 2026-11-12, against it: ${what}`);

		test.each<[string, StatementLine[], string]>([
			['an identifier in capitals', [{ identifier: 'ONE' }], notKnown('ONE')],
			['a space within the identifier', [{ identifier: 'o ne' }], notKnown('o ne')],
			[
				'a space that does not break behind it',
				[{ identifier: 'one\u00a0' }],
				notKnown('one\u00a0'),
			],
			['a character in it that nobody sees', [{ identifier: 'o\u200bne' }], notKnown('o\u200bne')],
			['a letter of another script in it', [{ identifier: '\u043ene' }], notKnown('\u043ene')],
			['the apostrophe of a spreadsheet before it', [{ identifier: "'one" }], notKnown("'one")],
			['a payment of another account', [{ identifier: 'three' }], notKnown('three')],
			['the service’s number in its place', [{ identifier: 'tx-one' }], notKnown('tx-one')],
			[
				'no identifier, and the service’s number',
				[{ identifier: '', number: 'tx-one' }, { identifier: 'three' }],
				notKnown('without an identifier'),
			],
			['the number of another payout', [{ number: 'tx-two' }], IS_MIXED],
			['the number of another payout, in capitals', [{ number: 'TX-TWO' }], IS_MIXED],
			[
				'a failure with the number of another payout',
				[{ number: 'tx-two', word: 'failed' }],
				IS_MIXED,
			],
			[
				'a return with the number of another payout',
				[{ number: 'tx-two', word: 'returned' }],
				IS_MIXED,
			],
			[
				'money in with the number of another payout',
				[{ number: 'tx-two', direction: 'in' }],
				IS_MIXED,
			],
			[
				'the identifier and the number in each other’s place',
				[{ identifier: 'tx-one', number: 'one' }],
				notKnown('tx-one'),
			],
			[
				'a hundred-millionth more than it',
				[{ amount: '10.50000001' }],
				about('Wrong amount', 'paid 10.50000001 on 2026-11-12'),
			],
			[
				'an amount of nine decimals',
				[{ amount: '10.500000000' }],
				'Line 1: The amount "10.500000000" is not a plain number such as 1234.56. It reads: the line',
			],
			[
				'an amount of twenty digits',
				[{ amount: '00000000000000000010.50' }],
				'Line 1: The amount "00000000000000000010.50" is not a plain number such as 1234.56. It reads: the line',
			],
			[
				'a fee below nought beside it',
				[OUT, { amount: '-0.50', word: 'fee' }],
				'Line 2: The amount "-0.50" is not a plain number such as 1234.56. It reads: the line',
			],
			[
				'a payment of a day that has not come yet',
				[{ day: '2099-11-12' }],
				'Line 1: The day 2099-11-12 has not come yet. It reads: the line',
			],
			[
				'a failure under one number on two days, the earlier line first',
				[FIRST, FAILED_BEFORE, FAILED_AFTER],
				about('Paid, and failed later', FAILED_TWICE),
			],
			[
				'a failure under one number on two days, the later line first',
				[FAILED_AFTER, FAILED_BEFORE, FIRST],
				about('Paid, and failed later', FAILED_TWICE),
			],
			[
				'a payment under one number on two days, and its failure between them, in order',
				[FIRST, { ...FIRST, word: 'failed', day: '2026-11-13' }, { ...FIRST, day: '2026-11-14' }],
				about('Paid, and failed later', FAILED_BETWEEN),
			],
			[
				'a payment under one number on two days, and its failure between them, out of order',
				[{ ...FIRST, day: '2026-11-14' }, { ...FIRST, word: 'failed', day: '2026-11-13' }, FIRST],
				about('Paid, and failed later', FAILED_BETWEEN),
			],
			[
				'two payments, and two returns under one number on two days',
				[FIRST, SECOND, RETURNED, { ...RETURNED, day: '2026-11-13' }],
				back(
					'returned 10.5 on 2026-11-12, paid 10.5 on 2026-11-12, paid 10.5 on 2026-11-12, returned 10.5 on 2026-11-13',
				),
			],
			[
				'two payments, and two returns under one number on one day',
				[FIRST, SECOND, RETURNED, RETURNED],
				back(
					'returned 10.5 on 2026-11-12, returned 10.5 on 2026-11-12, paid 10.5 on 2026-11-12, paid 10.5 on 2026-11-12',
				),
			],
			[
				'two payments, and a return without a number, which may stand there for two',
				[FIRST, SECOND, { word: 'returned' }],
				back('returned 10.5 on 2026-11-12, paid 10.5 on 2026-11-12, paid 10.5 on 2026-11-12'),
			],
			[
				'a payment in that failed, after it',
				[OUT, { direction: 'in', word: 'failed', day: '2026-11-13' }],
				against('failed to come in 10.5 on 2026-11-13'),
			],
			[
				'a return that has the number of the payment, and no identifier',
				[FIRST, { ...FIRST, identifier: '', word: 'returned', day: '2026-11-13' }],
				against('returned 10.5 on 2026-11-13'),
			],
			[
				'a return that has the number of the register, and an identifier of its own',
				[OUT, { identifier: 'back-17', number: 'TX-one', word: 'returned', direction: 'in' }],
				against('returned 10.5 on 2026-11-12'),
			],
			[
				'money in with the number of the payment alone',
				[FIRST, { ...FIRST, identifier: '', direction: 'in' }],
				against('came in 10.5 on 2026-11-12'),
			],
			[
				'a failure with the number of the payment alone, before it in the file',
				[{ ...FIRST, identifier: '', word: 'failed', amount: '', day: '2026-11-13' }, FIRST],
				against('failed on 2026-11-13'),
			],
			[
				'two halves of it',
				[
					{ amount: '5.25', ...FIRST },
					{ amount: '5.25', ...SECOND },
				],
				about('Wrong amount', 'paid 5.25 on 2026-11-12, paid 5.25 on 2026-11-12'),
			],
			[
				'it and another payout in one line',
				[{ amount: '21.00' }],
				about('Wrong amount', 'paid 21 on 2026-11-12'),
			],
			[
				'its amount less a fee',
				[{ amount: '10.45' }],
				about('Wrong amount', 'paid 10.45 on 2026-11-12'),
			],
			[
				'the reversal of a reversal, in the word of the first',
				[OUT, { ...RETURNED, direction: 'in' }, { ...RETURNED, number: 'n4', day: '2026-11-13' }],
				back('returned 10.5 on 2026-11-12, paid 10.5 on 2026-11-12, returned 10.5 on 2026-11-13'),
			],
			[
				'a return that is booked before its payment',
				[{ day: '2026-11-13' }, RETURNED],
				back('returned 10.5 on 2026-11-12, paid 10.5 on 2026-11-13'),
			],
			[
				'two payments that came back in one line',
				[FIRST, SECOND, { ...RETURNED, amount: '21.00' }],
				back('returned 21 on 2026-11-12, paid 10.5 on 2026-11-12, paid 10.5 on 2026-11-12'),
			],
			[
				'two payments of which one came back and the other one failed later',
				[FIRST, SECOND, RETURNED, { ...SECOND, word: 'failed', day: '2026-11-14' }],
				back(
					'returned 10.5 on 2026-11-12, paid 10.5 on 2026-11-12, paid 10.5 on 2026-11-12, failed 10.5 on 2026-11-14',
				),
			],
			[
				'a line that stands there twice, and came back',
				[OUT, OUT, RETURNED],
				back('returned 10.5 on 2026-11-12, paid 10.5 on 2026-11-12, paid 10.5 on 2026-11-12'),
			],
			[
				'a line with and without its number, and came back',
				[OUT, FIRST, RETURNED],
				back('returned 10.5 on 2026-11-12, paid 10.5 on 2026-11-12, paid 10.5 on 2026-11-12'),
			],
			[
				'a number in small letters and in capitals, and came back',
				[FIRST, { number: 'N1' }, RETURNED],
				back('returned 10.5 on 2026-11-12, paid 10.5 on 2026-11-12, paid 10.5 on 2026-11-12'),
			],
			[
				'a failure after it, and a fee after that',
				[OUT, { word: 'failed', day: '2026-11-13' }, { amount: '0.50', day: '2026-11-14' }],
				about(
					'Paid, and failed later',
					'paid 10.5 on 2026-11-12, failed 10.5 on 2026-11-13, paid 0.5 on 2026-11-14',
				),
			],
			[
				'half of it, and half came in',
				[{ amount: '5.25' }, { amount: '5.25', direction: 'in' }],
				back('paid 5.25 on 2026-11-12, came in 5.25 on 2026-11-12'),
			],
		])('%s: told, and settles nothing', (_what, lines, told) => {
			const all = lines.map((more) => line('one', more));
			const { says, settled } = register.apply(all, WORDS, '2099-12-31');
			expect(says).toContain(told);
			expect(settled).toStrictEqual([]);
			expect([register.state('one'), register.state('two')]).toStrictEqual(['unknown', 'unknown']);
		});

		test.each<[string, StatementLine[], string]>([
			['spaces around it', [{ identifier: ' one ' }], 'Arrived'],
			['its own number', [{ number: 'tx-one' }], 'Arrived'],
			['a number that the register does not know', [FIRST], 'Arrived'],
			['another payment that waits', [OUT, { word: 'pending' }], 'Arrived'],
			['a fee in a word of its own', [OUT, { word: 'fee', amount: '0.50' }], 'Arrived'],
			[
				'two payments of which one came back',
				[FIRST, SECOND, RETURNED],
				'Paid more than once, and some came back',
			],
			[
				'its line under one number on two days',
				[FIRST, { ...FIRST, day: '2026-11-13' }],
				'Arrived',
			],
			['noughts before and behind the amount', [{ amount: '00010.50000' }], 'Arrived'],
			['a failure under one number on two days before it', FAILED_TWICE_BEFORE, 'Arrived'],
			[
				'a return that has the number of nothing that is known',
				[FIRST, { ...RETURNED, identifier: '' }],
				'Arrived',
			],
			[
				'money in of a customer whose number is that of no payout',
				[FIRST, { ...SECOND, identifier: 'order-7', direction: 'in' }],
				'Arrived',
			],
			[
				'a fee in a word of its own under its number',
				[FIRST, { ...FIRST, word: 'fee' }],
				'Arrived',
			],
		])(
			'the control: with %s it settles, and the other payout of this amount does not',
			(_what, lines, finding) => {
				const { says, settled } = register.apply(lines.map((more) => line('one', more)));
				expect(says.some((each) => each.startsWith(`${finding}: one, `))).toBe(true);
				expect(settled.map(({ external_id }) => external_id)).toStrictEqual(['one']);
				expect(register.state('two')).toBe('unknown');
			},
		);

		test.each<[string, StatementLine[], string]>([
			['one number', [FIRST, { ...FIRST, word: 'failed' }], 'unknown'],
			[
				'one number in small letters and in capitals',
				[FIRST, { number: 'N1', word: 'failed' }],
				'unknown',
			],
			['no numbers', [OUT, { word: 'failed' }], 'unknown'],
			['a number for the failure alone', [OUT, { ...SECOND, word: 'failed' }], 'unknown'],
			['a number for the payment alone', [FIRST, { word: 'failed' }], 'unknown'],
			['a number each', [FIRST, { ...SECOND, word: 'failed' }], 'settled'],
		])('two tries, paid and failed on one day, with %s', (_what, lines, becomes) => {
			register.sql("UPDATE payout_register SET attempts = 2 WHERE external_id = 'one'");
			const { says } = register.apply(lines.map((more) => line('one', more)));
			const finding = becomes === 'settled' ? 'Arrived' : 'Paid, and failed later';
			expect(says.some((each) => each.startsWith(`${finding}: one, `))).toBe(true);
			expect(register.state('one')).toBe(becomes);
		});

		test('an amount that was typed with a comma is none that a line can have paid', () => {
			register.send('comma', 'notSent', '12,00');
			const { says, settled } = register.apply([line('comma', { amount: '12.00' })]);
			expect(says).toContain(
				'Wrong amount: comma, 12,00 to a@x, in the statement paid 12 on 2026-11-12 (notSent becomes unknown)',
			);
			expect(settled).toStrictEqual([]);
		});

		test('the amount of before a release: the row of now is not settled by it', () => {
			register.send('more', 'rejected');
			register.decide('more', RELEASE, '12.00');
			register.claim();
			register.write('more', 2, 'accepted');
			const { says, settled } = register.apply([line('more')]);
			expect(says).toContain(
				'Wrong amount: more, 12.00 to a@x, in the statement paid 10.5 on 2026-11-12 (accepted becomes unknown)',
			);
			expect(settled).toStrictEqual([]);
		});

		test('settled, and a fee later: it stays settled, and is told', () => {
			register.apply([line('one')]);
			const later = register.apply([line('one', { amount: '0.50', day: '2026-11-20' })]);
			expect(later.says).toContain(
				'Paid, and another amount too: one, 10.50 to a@x, in the statement paid 10.5 on 2026-11-12, paid 0.5 on 2026-11-20 (settled stays)',
			);
			expect(later.settled).toStrictEqual([]);
			expect(register.state('one')).toBe('settled');
		});

		test('a payment under its other day in a later statement: told as a second one, and settled once', () => {
			expect(register.apply([line('one')]).settled).toHaveLength(1);
			const later = register.apply([line('one', { day: '2026-11-13' })]);
			expect(later.says.some((each) => each.startsWith('Paid twice: one, '))).toBe(true);
			expect(later.settled).toStrictEqual([]);
		});

		test.each<[string, StatementLine[][], string]>([
			[
				'a failure under one number, before the payment in one file and after it in the next',
				[[FAILED_BEFORE], [FIRST, FAILED_AFTER]],
				'Paid, and failed later',
			],
			[
				'the same files, the newer one first',
				[[FAILED_AFTER], [FIRST, FAILED_BEFORE]],
				'Paid, and failed later',
			],
			[
				'a payment that came back, and the same one under the number of another source',
				[[FIRST, RETURNED], [{ number: 'tx-one' }]],
				'Paid, and money came in or back',
			],
			[
				'a return, and its payment in a file of later',
				[[RETURNED], [FIRST]],
				'Paid, and money came in or back',
			],
			[
				'a return with the number of the register alone, and its payment in a file of later',
				[[{ identifier: '', number: 'tx-one', word: 'returned' }, { identifier: 'three' }], [OUT]],
				'Paid, and a line speaks against it',
			],
			[
				'the two returns of two payments in two files, without numbers',
				[
					[FIRST, SECOND, { word: 'returned' }],
					[FIRST, SECOND, { word: 'returned' }],
				],
				'Paid, and money came in or back',
			],
			[
				'an amount less than it, and the same again under its number with noughts',
				[[{ amount: '10.4' }], [{ amount: '10.40', ...FIRST }]],
				'Wrong amount',
			],
		])('%s: settles nothing', (_what, files, finding) => {
			const settled = files.map((lines) => {
				const { says, settled } = register.apply(lines.map((more) => line('one', more)));
				return { told: says.filter((each) => each.includes(': one, ')), settled };
			});
			expect(settled.flatMap((each) => each.settled)).toStrictEqual([]);
			expect(settled.at(-1)!.told).toStrictEqual([
				expect.stringMatching(
					new RegExp(`^${finding}: one, .* \\((rejected becomes unknown|unknown stays)\\)$`),
				),
			]);
			expect(register.state('one')).not.toBe('settled');
		});

		test.each<[string, StatementLine[][]]>([
			['its failure of the day before in one file', [[FAILED_BEFORE], [FIRST]]],
			['two files that both have it', [[FIRST], [{ ...FIRST, word: 'confirmed' }]]],
			['a file of its waiting before', [[{ word: 'pending' }], [OUT]]],
		])('the control: with %s it settles once', (_what, files) => {
			const settled = files.flatMap(
				(lines) => register.apply(lines.map((more) => line('one', more))).settled,
			);
			expect(settled.map(({ external_id }) => external_id)).toStrictEqual(['one']);
			expect(register.state('two')).toBe('unknown');
		});

		test('two payouts with one number of the service, and a return with that number alone: neither settles', () => {
			register.sql("UPDATE payout_register SET number = '17'");
			const lines = [line('one', { number: '17' }), line('two', { number: '17' })];
			const returned = line('', { number: '17', word: 'returned', day: '2026-11-13' });
			expect(register.apply([...lines, returned]).settled).toStrictEqual([]);
			expect([register.state('one'), register.state('two')]).toStrictEqual(['unknown', 'unknown']);
		});

		test('the control: two payouts with one number of the service, of which one was paid: that one settles', () => {
			register.sql("UPDATE payout_register SET number = '17'");
			const { settled } = register.apply([line('one', { number: '17' })]);
			expect(settled.map(({ external_id }) => external_id)).toStrictEqual(['one']);
		});

		test('what a person decided stays, whatever order, word and day its lines come in again', () => {
			register.apply([line('one', FIRST), line('one', { ...RETURNED, day: '2026-11-13' })]);
			register.decide('one', CLOSE);
			const again = [
				line('one', { ...RETURNED, day: '2026-11-13', direction: 'in' }),
				line('one', { ...FIRST, word: 'CONFIRMED', amount: '10.5' }),
			];
			expect(register.apply(again)).toStrictEqual({
				says: [
					'Never arrived: two, 10.50 to a@x (unknown stays)',
					expect.stringMatching(/^Paid, and money came in or back: one, .* \(closed stays\)$/),
					'There is nothing to change.',
				],
				settled: [],
			});
			const other = register.apply([line('one', { ...FIRST, day: '2026-11-14' })]);
			expect(other.settled).toStrictEqual([]);
			expect(register.state('one')).toBe('closed');
		});

		test('a failure of a claim whose run may still be working makes nothing payable', () => {
			register.sql("UPDATE payout_register SET state = 'claimed', claimed_at = now()");
			register.sql(
				"UPDATE payout_register SET claimed_at = now() - interval '31 minutes' WHERE external_id = 'two'",
			);
			const [today] = register.sql("SELECT (now() AT TIME ZONE 'UTC')::date");
			const failed = { word: 'failed', day: today! };
			register.apply([line('one', failed), line('two', failed)], WORDS, '2099-12-31');
			// The control: the second one's run is given up.
			expect([register.state('one'), register.state('two')]).toStrictEqual(['claimed', 'rejected']);
			register.write('one', 1, 'accepted');
			expect(register.state('one')).toBe('accepted');
		});

		test.each([
			['b@x', '2026-11-19', 'unknown', 'Paid before it was sent'],
			['b@x', '2026-11-20', 'settled', 'Arrived'],
			['', '2026-11-19', 'settled', 'Arrived'],
		])(
			'a release to "%s" on the 20th, and a payment of %s: %s',
			(recipient, day, becomes, finding) => {
				register.send('three', 'rejected');
				register.decide('three', RELEASE, '10.5', recipient);
				register.claim();
				register.write('three', 2, 'unknown');
				register.sql("UPDATE payout_heard SET at = '2026-11-20 12:00Z' WHERE source = 'person'");
				const { says } = register.apply([line('three', { day })]);
				expect(says.some((each) => each.startsWith(`${finding}: three, `))).toBe(true);
				expect(register.state('three')).toBe(becomes);
			},
		);

		test('what was paid to the recipient of before is told so, and is not released once more', () => {
			register.send('three', 'rejected');
			register.decide('three', RELEASE, '', 'b@x');
			register.claim();
			register.apply([line('three')]);
			register.write('three', 2, 'rejected');
			expect(register.decide('three', RELEASE).says).toContain('It was reported as paid');
			expect(register.report()).toContain(
				'three: It was paid, and try 1, which was rejected, was to a@x, not to b@x: see who got it',
			);
		});

		test('one statement sent ten times in the same moment settles once', async () => {
			const lines = [line('one')];
			const code = /with the code (\w+)\.$/.exec(register.compare(lines).says.at(-1)!)![1]!;
			const values = [JSON.stringify(lines), JSON.stringify(WORDS), '2026-11-01', '2026-11-30'];
			const query = `SELECT jsonb_array_length(settled) FROM compare_statement(${values.map((value) => `'${value}'`).join()}, 'UTC', 24, '${code}')`;
			const args = ['-h', '127.0.0.1', '-p', String(postgres.port), '-U', 'n8n', '-d', 'postgres'];
			const all = Array.from({ length: 10 }, async () => {
				const { stdout } = await promisify(execFile)('psql', [...args, '-Atc', query]);
				return Number(stdout);
			});
			expect((await Promise.all(all)).sort()).toStrictEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
		});
	});
});
