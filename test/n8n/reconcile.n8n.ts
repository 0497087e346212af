import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { itemsOf, until, type N8n, type Workflow } from '../../dev/n8n';
import { nodeOf, ready, registerCredentials, submit } from '../../dev/payoutRegister';
import { psql, startPostgres } from '../../dev/queue';
import { enterSettings } from './book';
import { allFinished, onceOf, startN8n, VERSIONS } from './nodes';

type Line = [transaction: string, id: string, amount: string, status: string, day?: string];
const HEAD = 'Transaction;Date;Your ID;Amount;Status';
/** Lines as "identifier;amount;status" and a day; the same text is the same transaction. */
const linesOf = (text: string) =>
	text.split('|').map((line, _at, all): Line => {
		const [id = '', amount = '', status = '', day] = line.split(';');
		const transaction = `t${all.indexOf(line) + 1}`;
		return day === undefined
			? [transaction, id, amount, status]
			: [transaction, id, amount, status, day];
	});
/** Of another payout. */
const OTHER = 'two;1,00;failed';
const ONE = ': one, 10.50 to k';
/** A row's state, amount and more. */
type State = [state: string, amount?: string, more?: Record<string, string | null>];
const FAILED: State = ['settled', '10.50', { ending: 'failed', reported: 'failed' }];
const PAID: State = ['settled', '10.50', { ending: 'paid', reported: 'paid' }];
const WRONG: State = ['unknown', '10.50', { found: 'Wrong amount: 105' }];
const claimed = (claimed_at: string | null): State => ['unknown', '10.50', { claimed_at }];
const PERIOD = { From: '2026-11-01', To: '2026-11-20' };
const INSIDE = '2026-11-15 12:00Z';

/** A statement as services send them: a BOM, the columns that Settings names, and one more. */
const csv = (lines: Line[]) =>
	`\ufeff${[HEAD, ...lines.map(([transaction, id, amount, status, day = '2026-11-15']) => [transaction, day, id, amount, status].join(';'))].join('\r\n')}\r\n`;

/** In the forms of banks, with invented contents: "one" and "two" are paid, "café" failed. */
const STATEMENTS = join(__dirname, 'statements');

describe.each(VERSIONS)('n8n %s', (version) => {
	const once = onceOf(version);
	let n8n: N8n;
	let postgres: Awaited<ReturnType<typeof startPostgres>>;
	let credentials: Awaited<ReturnType<typeof registerCredentials>>;
	let workflow: Workflow;
	let workflowId: string;
	let executions = 0;

	const sql = (query: string) => psql(postgres.port, 'postgres', query);
	beforeAll(async () => {
		[postgres, n8n] = await Promise.all([startPostgres(), startN8n(version)]);
		const address = { host: '127.0.0.1', port: postgres.port, user: 'n8n' };
		credentials = await registerCredentials(n8n, address, 'postgres');
		workflow = ready('reconcile', credentials);
		// What a person does for a bank whose words are in another language.
		const words = { paidWords: 'paid, concluída', failedWords: 'failed, não realizada' };
		enterSettings(workflow, words);
		workflowId = await n8n.importWorkflow(workflow);
		await n8n.activate(workflowId);
		const { query } = nodeOf(ready('payout-register', credentials), 'Make the register')
			.parameters as { query: string };
		sql(query);
	});
	afterAll(async () => {
		await n8n?.stop();
		await postgres?.close();
	});
	afterEach(() => {
		sql('DELETE FROM payout_register');
	});

	/** A row as a run leaves it, claimed inside the period if nothing else is said. */
	function row(id: string, ...[state, amount = '10.50', more = {}]: State) {
		const columns = { claimed_at: INSIDE, attempts: '1', ...more };
		sql(
			`INSERT INTO payout_register (external_id, amount, recipient, workflow_id, state, execution_id, ${Object.keys(columns).join()})
			VALUES ('${id}', '${amount}', 'k', '1', '${state}', '1', ${Object.values(columns)
				.map((value) => (value === null ? 'NULL' : `'${value}'`))
				.join()})`,
		);
	}
	const stateOf = (id: string) =>
		sql(`SELECT state FROM payout_register WHERE external_id = '${id}'`)[0];
	const everything = () =>
		sql('SELECT row_to_json(r) FROM payout_register r ORDER BY external_id').join('\n');

	/** Brings a statement; gives the lines that the page shows. */
	async function bring(
		statement: Line[] | string | Buffer,
		code = '',
		Encoding = '',
		To = PERIOD.To,
	): Promise<string[]> {
		const content = Array.isArray(statement) ? csv(statement) : statement;
		const file = new Blob([content], { type: 'text/csv' });
		const fields = { ...PERIOD, To, File: file, Code: code, Encoding };
		const { status, text } = await submit(n8n, workflow, fields);
		expect(status).toBe(200);
		executions++;
		return text.split('\n');
	}
	/** Brings it to be shown, sees that nothing changed, and brings it again with the code. */
	async function change(statement: Line[]): Promise<string[]> {
		const before = everything();
		const shown = await bring(statement);
		expect(everything()).toBe(before);
		const code = /with the code ([0-9a-f]{8})\.$/.exec(shown.at(-1)!)?.[1];
		if (code === undefined) throw new Error(`There is no code in: ${shown.join('\n')}`);
		const changed = await bring(statement, code);
		expect(changed.slice(0, -1)).toStrictEqual(shown.slice(0, -1));
		return changed;
	}
	const NOTHING = 'There is nothing to change.';

	test('the page asks for the password', async () => {
		// n8n takes calls a moment after it has published a workflow.
		const none = await until('the page', async () => {
			const answer = await submit(n8n, workflow, PERIOD, {});
			return answer.status !== 404 && answer;
		});
		const wrong = await submit(n8n, workflow, PERIOD, { Authorization: 'Basic cDp3cm9uZw==' });
		expect([none.status, wrong.status]).toStrictEqual([401, 401]);
		// The control: with it, the page is shown.
		expect(await bring([])).toContain('Nothing was compared.');
	});

	once.each<[string, State, string, string]>([
		['Arrived', ['unknown'], 'one;-10,50;Paid', 'settled'],
		['Arrived', ['claimed', '1234.5'], 'one;1.234,50;paid', 'settled'],
		['Failed in the statement', ['claimed'], 'one;10,50;failed', 'rejected'],
		['Paid, and nobody knew', ['rejected'], 'one;10,5;paid', 'settled'],
		['Paid, and nobody knew', ['due'], 'one;10,50;paid', 'settled'],
		['Paid twice', ['accepted'], 'one;10,50;paid|one;10,5;paid', 'settled'],
		['Wrong amount', ['accepted'], 'one;105,00;paid', 'unknown'],
		['Wrong amount', ['due', '1'], 'one;100;paid', 'unknown'],
		['Reported as failed, but paid', FAILED, 'one;10,50;paid', 'settled'],
		['Paid, and failed later', ['due'], 'one;10,50;paid;2026-11-12|one;10,50;failed', 'unknown'],
		['Money came in', ['rejected'], 'one;10,50 D;paid|one;10,50 C;paid', 'unknown'],
		['Paid, and nobody knew', ['due'], 'one;10,50;paid|;-0,50;paid', 'settled'],
	])(
		'%s: shown, then changed, and changed no further by the same statement',
		async (finding, state, lines, becomes) => {
			row('one', ...state);
			row('other', 'accepted', '12.00');
			const sign = lines.includes(';-10') ? '-' : '';
			const statement = linesOf(`${lines}|other;${sign}12,00;paid`);
			const shown = await change(statement);
			const says = new RegExp(`^${finding}: one, .*\\(${state[0]} becomes ${becomes}\\)$`);
			const found = shown.filter((line) => !/^(Left out|Paid, and not in the register)/.test(line));
			expect(found).toStrictEqual([expect.stringMatching(says), '1 changed.']);
			expect([stateOf('one'), stateOf('other')]).toStrictEqual([becomes, 'accepted']);
			const after = everything();
			expect((await bring(statement)).at(-1)).toBe(NOTHING);
			expect(everything()).toBe(after);
		},
	);

	once.each<[string, State | undefined, string, string]>([
		[
			'Paid, and not in the register',
			undefined,
			'"foreign: ""one""";1.234,56;paid',
			': foreign: "one", in the statement 1234.56 on 2026-11-15',
		],
		['Accepted, and not in the statement', ['accepted'], OTHER, ONE],
		['Accepted, and not in the statement', PAID, OTHER, ONE],
		['Accepted, and failed in the statement', ['accepted'], 'one;10,50;failed', ONE],
		// A file that was cut, a statement of another account, a line under another id: all look like this.
		['Never arrived', ['unknown'], OTHER, ONE],
		['Never arrived', ['claimed'], OTHER, ONE],
		['Failed in the statement', claimed('2026-11-16 12:00Z'), 'one;10,50;failed', ONE],
		// Which try failed?
		['Failed in the statement', ['unknown', '10.50', { attempts: '2' }], 'one;10,50;failed', ONE],
		[
			'Paid, and failed later',
			['accepted'],
			'one;10,50;paid;2026-11-12|one;10,50;failed',
			`${ONE}, in the statement 10.5 on 2026-11-12`,
		],
	])('%s: shown to a person, and changed by nobody', async (finding, state, lines, says) => {
		if (state !== undefined) row('one', ...state);
		const before = everything();
		const stays = state === undefined ? '' : ` (stays ${state[0]})`;
		expect(await bring(linesOf(lines))).toStrictEqual([finding + says + stays, NOTHING]);
		expect(everything()).toBe(before);
	});

	once.each<[string, State, string]>([
		[
			'a line that stands there twice is one payment',
			['accepted', '4'],
			'one;4,00;paid|one;4,00;paid',
		],
		['what was sent before the period is no finding', claimed('2026-10-31 23:59Z'), OTHER],
		['nor what was sent within the margin before its end', claimed('2026-11-20 00:01Z'), OTHER],
		['nor what no run has claimed, so it was not sent', claimed(null), OTHER],
		['nor what another statement has with a wrong amount', WRONG, OTHER],
		['a pending one is left alone', ['unknown'], 'one;10,50;Pending;21/11/2026'],
		[
			'a failed try before the paid one says nothing',
			['accepted'],
			'one;10,50;failed|one;10,50;paid',
		],
	])('%s', async (_what, state, lines) => {
		row('one', ...state);
		expect(await bring(linesOf(lines))).toStrictEqual([NOTHING]);
	});

	once(
		'what was sent a minute ago is not missing, whatever day is entered as the last',
		async () => {
			row('one', 'claimed', '10.50', { claimed_at: new Date(Date.now() - 60_000).toISOString() });
			const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
			const to = day(Date.now() + 30 * 86_400_000);
			expect(await bring([['t1', 'two', '1,00', 'failed']], '', '', to)).toStrictEqual([NOTHING]);
		},
	);

	once.each([
		['with C', 'one;10,50 D;paid|one;10,50 C;paid'],
		['without the minus of the others', 'one;-10,50;paid|one;10,50;paid'],
	])('money that came in %s is no payment: a person sees it', async (_how, lines) => {
		row('one', 'unknown');
		const [, amount] = lines.split('|')[1]!.split(';');
		expect((await bring(linesOf(lines))).slice(0, -1)).toStrictEqual([
			`Left out, line 3 (money that came in): t2;2026-11-15;one;${amount};paid`,
			`Money came in${ONE}, in the statement 10.5 on 2026-11-15 (stays unknown)`,
		]);
	});

	once.each([
		...['+10,50', '(10,50)', '\u221210,50', '10,50 DR', '10,50 USD', 'CAD 10,50', 'R$ 10,50-'],
		...['15/11/26', '2026/11/15', '15.11.2026\u00a009:30'],
	])('"%s" is read as a bank writes it', async (form) => {
		row('one', 'unknown');
		const line: Line = form.includes('15')
			? ['t1', 'one', '10,50', 'paid', form]
			: ['t1', 'one', form, 'paid'];
		expect(await change([line])).toStrictEqual([
			'Arrived: one, 10.50 to k, in the statement 10.5 on 2026-11-15 (unknown becomes settled)',
			'1 changed.',
		]);
	});

	test('identifiers stay text: 00123 and 1e5 are not 123 and 100000, and composed characters are one', async () => {
		for (const id of ['00123', '123', '1e5', '100000', 'caf\u00e9']) row(id, 'unknown', '8');
		const shown = await change([
			['t1', '00123', '8,00', 'paid'],
			['t2', '1e5', '8,00', 'paid'],
			['t3', 'cafe\u0301', '8,00', 'paid'],
			['t4', '123', '8,00', 'pending'],
			['t5', '100000', '8,00', 'pending'],
		]);
		expect(shown.at(-1)).toBe('3 changed.');
		expect(['00123', '1e5', 'caf\u00e9', '123', '100000'].map(stateOf)).toStrictEqual([
			...['settled', 'settled', 'settled', 'unknown', 'unknown'],
		]);
	});

	once.each<[string, string | Buffer, string]>([
		['a word that no setting knows', csv([['t1', 'one', '10,50', 'done']]), 'The word "done" is'],
		['an amount in another spelling', csv([['t1', 'one', '10.50', 'paid']]), 'The amount "10.50"'],
		[
			'a date as in the USA',
			csv([['t1', 'one', '10,50', 'paid', '11/15/2026']]),
			'Line 2: The date',
		],
		['no date', csv([['t1', 'one', '10,50', 'paid', '']]), 'The date "" is not like 30/11/2026'],
		[
			'another month than was entered, which would make what it lacks "Never arrived"',
			csv([['t1', 'two', '1,00', 'failed', '31/10/2026']]),
			'Line 2: The date "31/10/2026" is not in the period from 2026-11-01 to 2026-11-20.',
		],
		['a missing column', 'Your ID;Amount\none;1,00\n', 'The statement has no column "Status".'],
		['another separator', 'Your ID,Amount,Status\none,1,paid\n', 'has no column "Your ID"'],
		['no lines', '', 'no lines'],
		[
			'a payment above the header, which has a column more',
			`t1;2026-11-15;one;10,50;paid;\n${HEAD};Note\nt0;2026-11-15;one;10,50;failed;`,
			'Line 1: It stands above the header, and has a word of the settings.',
		],
		[
			'quotation marks that swallow a short line',
			`Your ID;Amount;Status;Date;Transaction;Text\none;10,50;failed;2026-11-15;t1;"Joe\none;10,50;paid;2026-11-15"`,
			'Line 2: A quotation mark holds whole lines.',
		],
		[
			'quotation marks that swallow a line',
			csv([
				['t1', 'one', '10,50', 'paid;"Joe'],
				['t2', 'two', '5,00', 'paid;Ann'],
				['t3', 'three', '6,00', 'paid;"Bob'],
			]),
			'Line 2: A quotation mark holds whole lines. It reads: t1;2026-11-15;one;10,50;paid;"Joe',
		],
		[
			'a payment above the header',
			csv([['t1', 'one', '10,50', 'paid']]).replace('Your ID', 'your id') +
				csv([]).slice(1) +
				't2;2026-11-15;two;1,00;paid',
			'Line 2: It stands above the header, and has a word of the settings.',
		],
		[
			'a payee whose name is a total, and no status',
			`${HEAD};Payee\nt1;2026-11-15;one;10,50;;Total Energia Ltda`,
			'Line 2: The word "" is in none of the settings.',
		],
		[
			'UTF-8 with a broken letter',
			Buffer.concat([Buffer.from(csv([['t1', 'caf\u00e9', '10,50', 'paid']])), Buffer.of(0xff)]),
			'choose its encoding',
		],
		[
			'UTF-16, as spreadsheets write "Unicode text"',
			Buffer.from(csv([['t1', 'one', '10,50', 'paid']]), 'utf16le'),
			'such as UTF-16: save it as CSV in UTF-8.',
		],
	])('%s: the statement is refused, and nothing changes', async (_what, statement, problem) => {
		row('one', 'unknown');
		const [first, ...problems] = await bring(statement, '00000000');
		expect(first).toBe('Nothing was compared.');
		expect(problems.join('\n')).toContain(problem);
		expect(stateOf('one')).toBe('unknown');
	});

	test.each<[string, string[]]>([
		['debit-and-credit', ['Left out, line 5 (money that came in): t4;16/11/2026;;99,00 C;paid']],
		['negative-quoted', []],
		[
			'pages',
			[
				'Left out: 2 empty lines.',
				'Left out, line 1 (above the header): Page 1',
				'Left out, line 5 (a total): Balance;;;Balance carried;',
				`Left out, line 6 (the header again): ${HEAD}`,
			],
		],
		['reordered-currency-behind', []],
		[
			'titles-iso-8859-1',
			[
				'Left out: 1 empty line.',
				'Left out, line 1 (above the header): Banco Exemplo S.A.;;;;',
				'Left out, line 2 (above the header): Extrato de pagamentos - São Paulo;;;;',
				'Left out, line 3 (above the header): Período: 01/11/2026 a 20/11/2026',
			],
		],
		[
			'totals-and-trailing',
			[
				'Left out: 1 empty line.',
				'Left out, line 6 (a total): Total;;;1.245,06;;;;;',
				'Left out, line 7 (a total): Saldo final:;;;88.000,00;;;;;',
			],
		],
		['utf8-mark', []],
		['windows-1252-currency', []],
	])('the file %s is read, and what was left out is shown', async (name, leftOut) => {
		row('one', 'unknown');
		row('two', 'accepted', '1234.56');
		row('café', 'claimed', '7');
		const shown = await bring(readFileSync(join(STATEMENTS, `${name}.csv`)));
		expect(shown.slice(0, -1)).toStrictEqual([
			...leftOut,
			'Arrived: one, 10.50 to k, in the statement 10.5 on 2026-11-15 (unknown becomes settled)',
			'Failed in the statement: café, 7 to k (claimed becomes rejected)',
		]);
	});

	test('all eight files are read above, and an encoding that is chosen is taken', async () => {
		expect(readdirSync(STATEMENTS)).toHaveLength(8);
		row('café', 'claimed', '7');
		const latin = readFileSync(join(STATEMENTS, 'windows-1252-currency.csv'));
		expect((await bring(latin, '', 'UTF-8')).slice(0, 2)).toStrictEqual([
			'Nothing was compared.',
			'The file is not in the encoding that was chosen.',
		]);
		const utf8 = readFileSync(join(STATEMENTS, 'utf8-mark.csv'));
		expect((await bring(utf8, '', 'windows-1252')).join()).not.toContain('café');
		expect((await bring(latin, '', 'windows-1252')).join()).toContain('café');
	});

	once(
		'settings with a column without a name, or one word for two things, are refused',
		async () => {
			const other = ready('reconcile', credentials);
			enterSettings(other, { columnDate: '', failedWords: 'failed, Paid', pendingWords: 'failed' });
			await n8n.activate(await n8n.importWorkflow(other));
			const file = new Blob([csv([['t1', 'one', '10,50', 'paid']])]);
			const answer = await until('the page', async () => {
				const { status, text } = await submit(n8n, other, { ...PERIOD, File: file });
				return status === 200 && text;
			});
			expect(answer.split('\n')).toStrictEqual([
				'Nothing was compared.',
				'The statement has no column "".',
				'A column has no name in the settings.',
				'The word "paid" is paid and something else in the settings.',
				'The word "failed" is failed and pending in the settings.',
			]);
		},
	);

	test('every line that cannot be read is shown with its number and content', async () => {
		const lines = Array.from({ length: 9 }, (_none, n): Line => [`t${n}`, 'one', '1.50', 'done']);
		const [, ...problems] = await bring(lines);
		expect(problems).toStrictEqual(
			lines.map(
				([transaction], n) =>
					`Line ${n + 2}: The word "done" is in none of the settings. It reads: ${transaction};2026-11-15;one;1.50;done`,
			),
		);
	});

	test('what a person decided stays, and a wrong code or one for other findings changes nothing', async () => {
		row('one', 'accepted');
		row('two', 'unknown');
		const wrong: Line = ['t1', 'one', '99,00', 'paid'];
		const two: Line = ['t2', 'two', '10,50', 'paid'];
		await change([wrong, ['t3', 'two', '10,50', 'pending']]);
		sql("UPDATE payout_register SET state = 'closed' WHERE external_id = 'one'");
		const shown = await bring([wrong, two]);
		expect(shown[1]).toBe(
			'Wrong amount: one, 10.50 to k, in the statement 99 on 2026-11-15 (stays closed)',
		);
		const code = /code (\w+)\.$/.exec(shown.at(-1)!)![1]!;
		expect((await bring([wrong, two], '00000000')).at(-1)).toMatch(
			/^Nothing was changed: the code/,
		);
		// Meanwhile something moved.
		sql("UPDATE payout_register SET state = 'claimed' WHERE external_id = 'two'");
		expect((await bring([wrong, two], code)).at(-1)).toMatch(/^Nothing was changed: the code/);
		expect([stateOf('one'), stateOf('two')]).toStrictEqual(['closed', 'claimed']);
	});

	test('what follows a settled payout runs for each that the statement settled, and for no other', async () => {
		row('one', 'unknown');
		row('two', 'accepted');
		await change([
			['t1', 'one', '10,50', 'paid'],
			['t2', 'two', '10,50', 'paid'],
		]);
		const [last] = await allFinished(n8n, workflowId, Math.min(executions, 100));
		expect(itemsOf(last!, 'Settled')).toStrictEqual([
			expect.objectContaining({ external_id: 'one', reported: 'paid', state: 'settled' }),
		]);
	});
});
