import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { itemsOf, until, type N8n, type Workflow } from '../../dev/n8n';
import { nodeOf, ready, registerCredentials, submit } from './payoutRegister';
import { startPostgres } from './queue';
import { RegisterCalls } from '../parts/registerCalls';
import { enterSettings } from './book';
import { reachesLastNodes } from './lastNodes';
import { allFinished, startN8n, VERSIONS } from './nodes';
import { link } from './otherNodes';

/* What a line means is in test/parts/register.n8n.ts. Here: the page, the file, its columns, and Settled. */

const PERIOD = { From: '2026-11-01', To: '2026-11-20' };

/** The forms of statements that the example shows, with invented contents. */
const FORMS: Array<[form: string, file: string]> = [
	['From a type', 'type.csv'],
	['From credit and debit', 'credit-and-debit.csv'],
	['From D or C', 'd-or-c.csv'],
	['From a sign', 'sign.csv'],
];
const fileOf = (name: string) => readFileSync(join(__dirname, 'statements', name));

describe.each(VERSIONS)('n8n %s', (version) => {
	let n8n: N8n;
	let postgres: Awaited<ReturnType<typeof startPostgres>>;
	let register: RegisterCalls;
	let credentials: Awaited<ReturnType<typeof registerCredentials>>;
	/** The workflow with each of the forms, and its identifier. */
	const workflows = new Map<string, { workflow: Workflow; id: string }>();

	beforeAll(async () => {
		[postgres, n8n] = await Promise.all([startPostgres(), startN8n(version)]);
		const address = { host: '127.0.0.1', port: postgres.port, user: 'n8n' };
		credentials = await registerCredentials(n8n, address, 'postgres');
		register = new RegisterCalls(postgres.port);
		for (const [form] of FORMS) {
			const workflow = ready('reconcile', credentials);
			// What a person does for another form of statement.
			workflow.connections['Read the file'] = { main: [[link(form)]] };
			const id = await n8n.importWorkflow(workflow);
			await n8n.activate(id);
			workflows.set(form, { workflow, id });
			await pageOf(workflow);
		}
	});
	afterAll(async () => {
		await n8n?.stop();
		await postgres?.close();
	});
	afterEach(() => {
		register.sql('DELETE FROM payout_register');
	});

	/** Waits for the page: n8n takes calls a moment after it has published a workflow. */
	async function pageOf(workflow: Workflow) {
		await until('the page', async () => (await submit(n8n, workflow, PERIOD, {})).status !== 404);
	}

	/** Brings a statement; gives the lines that the page shows. */
	async function bring(content: string | Buffer, Code = '', form = 'From a type') {
		const file = new Blob([content], { type: 'text/csv' });
		const { workflow } = workflows.get(form)!;
		const { status, text } = await submit(n8n, workflow, { ...PERIOD, File: file, Code });
		expect([status, text]).toStrictEqual([200, text]);
		return text.split('\n');
	}
	const HEAD = 'Date;Your ID;Type;Amount;Status;Transaction';
	const csv = (...lines: string[]) => [HEAD, ...lines, ''].join('\r\n');
	const codeIn = (shown: string[]) => /with the code (\w+)\.$/.exec(shown.at(-1)!)?.[1] ?? '';

	test('the page asks for the password, and the first statement makes the register', async () => {
		const { workflow } = workflows.get('From a type')!;
		const none = await submit(n8n, workflow, PERIOD, {});
		const wrong = await submit(n8n, workflow, PERIOD, { Authorization: 'Basic cDp3cm9uZw==' });
		expect([none.status, wrong.status]).toStrictEqual([401, 401]);
		// The control: with it, the statement is compared.
		expect(await bring(csv('2026-11-15;one;cashout;10.50;confirmed;t1'))).toStrictEqual([
			'Paid, and not in the register: one, in the statement paid 10.5 on 2026-11-15',
			'There is nothing to change.',
		]);
	});

	test.each(FORMS)(
		'the form "%s": what was paid out settles, and nothing else',
		async (form, file) => {
			register.insert(
				['one', 'unknown'],
				['in', 'unknown'],
				['failed', 'unknown'],
				['back', 'unknown'],
				['café', 'unknown', '1234.56'],
			);
			const before = register.everything();
			const shown = await bring(fileOf(file), '', form);
			expect(register.everything()).toBe(before);
			const changed = await bring(fileOf(file), codeIn(shown), form);
			expect(changed.slice(0, -1)).toStrictEqual(shown.slice(0, -1));
			const isBank = form === 'From credit and debit';
			expect(changed.map((line) => line.split(',')[0])).toStrictEqual([
				'Arrived: café',
				'Arrived: one',
				...(isBank ? [] : ['Failed in the statement: failed']),
				...(isBank ? ['Money came in or back: in', 'Never arrived: failed', 'Paid'] : []),
				...(isBank ? [] : ['Money came in or back: back', 'Money came in or back: in']),
				`${isBank ? 2 : 3} changed`,
			]);
			expect(['one', 'in', 'failed', 'back', 'café'].map((id) => register.state(id))).toStrictEqual(
				['settled', 'unknown', isBank ? 'unknown' : 'rejected', 'unknown', 'settled'],
			);
			const again = await bring(fileOf(file), '', form);
			expect(again.at(-1)).toBe('There is nothing to change.');
		},
	);

	test('a customer’s payment of the same number settles nothing, and makes nothing payable', async () => {
		register.insert(['order-1043', 'unknown', '30.00'], ['order-1042', 'rejected', '30.00']);
		const statement = csv(
			'2026-11-15;order-1043;cashin;30.00;confirmed;t1',
			'2026-11-15;order-1042;cashin;30.00;confirmed;t2',
		);
		await bring(statement, codeIn(await bring(statement)));
		expect([register.state('order-1043'), register.state('order-1042')]).toStrictEqual([
			'unknown',
			'unknown',
		]);
	});

	test.each([
		['From credit and debit', 'Date;Reference;Credit;Debit\n15/11/2026;one;;10.50\n'],
		['From D or C', 'Date;Reference;Amount;Status\n15/11/2026;one;10.50 D;paid\n'],
	])(
		'"%s" with a decimal point: 10.50 is not a payout of 1050, and is told as it stands there',
		async (form, statement) => {
			register.insert(['one', 'unknown', '1050']);
			const shown = await bring(statement, '', form);
			expect(shown[0]).toBe(
				'Wrong amount: one, 1050 to a@x, in the statement paid 10.5 on 2026-11-15 (unknown stays)',
			);
			await bring(statement, codeIn(shown), form);
			expect(register.state('one')).toBe('unknown');
		},
	);

	test.each<[string, string, string | Buffer, string]>([
		[
			'a direction that no setting names',
			'From a type',
			csv('2026-11-15;one;payout;10.50;confirmed;t1'),
			'Line 2: The direction "payout" is in none of the settings. It reads: 2026-11-15;one;payout;10.50;confirmed;t1',
		],
		[
			'a word that no setting names',
			'From a type',
			csv('2026-11-15;two;cashout;1.00;failed;t0', '2026-11-15;one;cashout;10.50;done;t1'),
			'Line 3: The word "done" is in none of the settings. It reads: 2026-11-15;one;cashout;10.50;done;t1',
		],
		[
			'another column for the type',
			'From a type',
			csv('2026-11-15;one;cashout;10.50;confirmed;t1').replace('Type', 'Kind'),
			'Line 2: The direction "" is in none of the settings. It reads: 2026-11-15;one;cashout;10.50;confirmed;t1',
		],
		[
			'both a credit and a debit',
			'From credit and debit',
			'Date;Reference;Credit;Debit\n15/11/2026;one;10,50;10,50\n',
			'Line 2: The direction "outin" is in none of the settings. It reads: 15/11/2026;one;10,50;10,50',
		],
		[
			'a minus in both columns',
			'From credit and debit',
			'Date;Reference;Credit;Debit\n15/11/2026;one;-10,50;-10,50\n',
			[
				'Line 2: The direction "outin" is in none of the settings. It reads: 15/11/2026;one;-10,50;-10,50',
				'Line 2: The amount "-10,50" is not a plain number such as 1234.56. It reads: 15/11/2026;one;-10,50;-10,50',
			].join('\n'),
		],
		[
			'a debit with a minus: a reversal',
			'From credit and debit',
			'Date;Reference;Credit;Debit\n15/11/2026;one;;-10,50\n',
			'Line 2: The amount "-10,50" is not a plain number such as 1234.56. It reads: 15/11/2026;one;;-10,50',
		],
		[
			'a credit with a minus',
			'From credit and debit',
			'Date;Reference;Credit;Debit\n15/11/2026;one;-10,50;\n',
			'Line 2: The amount "-10,50" is not a plain number such as 1234.56. It reads: 15/11/2026;one;-10,50;',
		],
		[
			'nought in the other column',
			'From credit and debit',
			'Date;Reference;Credit;Debit\n15/11/2026;one;0,00;10,50\n',
			'Line 2: The direction "outin" is in none of the settings. It reads: 15/11/2026;one;0,00;10,50',
		],
		[
			'the minus of a printer',
			'From a sign',
			'Date;Reference;Amount;Status\n2026-11-15;one;\u221210.50;paid\n',
			'Line 2: The amount "\u221210.50" is not a plain number such as 1234.56. It reads: 2026-11-15;one;\u221210.50;paid',
		],
		[
			'an amount in brackets',
			'From a sign',
			'Date;Reference;Amount;Status\n2026-11-15;one;(10.50);paid\n',
			'Line 2: The amount "(10.50)" is not a plain number such as 1234.56. It reads: 2026-11-15;one;(10.50);paid',
		],
		[
			'a date as in the USA',
			'From credit and debit',
			'Date;Reference;Credit;Debit\n11/15/2026;one;;10,50\n',
			'Line 2: It has no day. It reads: 11/15/2026;one;;10,50',
		],
		[
			'no letter beside the amount',
			'From D or C',
			'Date;Reference;Amount;Status\n15/11/2026;one;10,50;paid\n',
			'Line 2: The direction "0" is in none of the settings. It reads: 15/11/2026;one;10,50;paid',
		],
		[
			'a minus behind the amount',
			'From a sign',
			'Date;Reference;Amount;Status\n2026-11-15;one;10.50-;paid\n',
			'Line 2: The amount "10.50-" is not a plain number such as 1234.56. It reads: 2026-11-15;one;10.50-;paid',
		],
		[
			'another encoding than is set',
			'From a type',
			Buffer.from(csv('2026-11-15;caf\u00e9;cashout;10.50;confirmed;t1'), 'latin1'),
			'Line 2: It has letters that cannot be read: set the encoding of the file. It reads: 2026-11-15;caf\ufffd;cashout;10.50;confirmed;t1',
		],
	])(
		'%s: the statement is refused with its line, and nothing changes',
		async (_what, form, statement, problem) => {
			register.insert(['one', 'unknown']);
			const before = register.everything();
			expect(await bring(statement, '00000000', form)).toStrictEqual([
				'Nothing was compared.',
				...problem.split('\n'),
			]);
			expect(register.everything()).toBe(before);
		},
	);

	/** An amount as each form of a bank with a decimal comma has it. */
	const inForm = (form: string, amount: string) =>
		form === 'From D or C'
			? `Date;Reference;Amount;Status\n15/11/2026;one;${amount} D;paid\n`
			: `Date;Reference;Credit;Debit\n15/11/2026;one;;${amount}\n`;
	const COMMA_FORMS = ['From credit and debit', 'From D or C'];

	test.each([
		'12.345.67',
		'1.234.56',
		'12.345.678',
		'1,23,456.00',
		'1,010.50',
		'12,345,67',
		'1234.567,00',
		'12.34,56',
		'1.2345,00',
		'0.123,45',
		'1..234,56',
		'.234,56',
		'1 234,56',
		'1,234',
		'10,',
		',50',
	])('"%s" is refused with its line and as it stands there, in each form', async (amount) => {
		register.insert(['one', 'unknown']);
		const before = register.everything();
		for (const form of COMMA_FORMS) {
			const statement = inForm(form, amount);
			const reads = statement.split('\n')[1]!;
			expect([form, ...(await bring(statement, '00000000', form))]).toStrictEqual([
				form,
				'Nothing was compared.',
				`Line 2: The amount "${amount}" is not a plain number such as 1234.56. It reads: ${reads}`,
			]);
		}
		expect(register.everything()).toBe(before);
	});

	test('"1.234" can be read in two ways, so it is refused', async () => {
		for (const form of COMMA_FORMS) {
			const [, problem] = await bring(inForm(form, '1.234'), '', form);
			expect(problem).toMatch(/^Line 2: The amount "1\.234" can be read in two ways\. It reads: /);
		}
	});

	test.each([
		['1.234,56', '1234.56'],
		['12.345.678,90', '12345678.90'],
		['1234,56', '1234.56'],
		['12,34', '12.34'],
		['10,5', '10.50'],
		['0,50', '0.50'],
		['1234', '1234.00'],
	])('the control: "%s" is %s, in each form', async (amount, registered) => {
		for (const form of COMMA_FORMS) {
			register.insert(['one', 'unknown', registered]);
			const [shown] = await bring(inForm(form, amount), '', form);
			expect(shown).toMatch(/^Arrived: one, /);
			register.sql('DELETE FROM payout_register');
		}
	});

	test.each([
		['a quotation mark that is never closed', csv('2026-11-15;"one;cashout;10.50;confirmed;t1')],
		[
			'a line with more cells than the header',
			csv('2026-11-15;one;cashout;10.50;confirmed;t1;more'),
		],
		[
			'two columns with one name',
			csv('2026-11-15;one;cashout;10.50;confirmed;t1').replace('Transaction', 'Amount'),
		],
	])('%s: the page says why the file cannot be read', async (_what, statement) => {
		register.insert(['one', 'unknown']);
		const [said] = await bring(statement, '00000000');
		expect(said).toMatch(/^Nothing was compared\. The file cannot be read: \S/);
		expect(register.state('one')).toBe('unknown');
	});

	test('an encoding that nobody knows: the page says why the file cannot be read', async () => {
		const workflow = ready('reconcile', credentials);
		const { assignments } = nodeOf(workflow, 'Settings').parameters as {
			assignments: { assignments: Array<{ name: string; value: unknown }> };
		};
		assignments.assignments.find(({ name }) => name === 'encoding')!.value = 'utf-9';
		await n8n.activate(await n8n.importWorkflow(workflow));
		await pageOf(workflow);
		const file = new Blob([csv('2026-11-15;one;cashout;10.50;confirmed;t1')]);
		const { text } = await submit(n8n, workflow, { ...PERIOD, File: file, Code: '' });
		expect(text).toMatch(/^Nothing was compared\. The file cannot be read: \S/);
	});

	test.each([
		['the names of its columns alone', csv()],
		['nothing at all', ' '],
		['only lines without a word', csv(';;;;;', ';;;;;')],
	])('a statement with %s: the page says that it has no lines', async (_what, statement) => {
		for (const [form] of FORMS) {
			const said = await bring(statement, '', form);
			expect([form, said]).toStrictEqual([form, ['Nothing was compared. The file has no lines.']]);
		}
	});

	test('Settings with words of another language are taken, upper and lower case alike', async () => {
		const workflow = ready('reconcile', credentials);
		enterSettings(workflow, { paidWords: 'concluída', outWords: 'saída' });
		const id = await n8n.importWorkflow(workflow);
		await n8n.activate(id);
		await pageOf(workflow);
		workflows.set('another language', { workflow, id });
		register.insert(['one', 'unknown']);
		const [found] = await bring(
			csv('2026-11-15;one;SAÍDA;10.50;Conclui\u0301da;t1'),
			'',
			'another language',
		);
		expect(found).toMatch(/^Arrived: one/);
	});

	test('what follows a settled payout runs for each that the statement settled, and for no other', async () => {
		register.insert(['one', 'unknown'], ['two', 'accepted']);
		const statement = csv(
			'2026-11-15;one;cashout;10.50;confirmed;t1',
			'2026-11-15;two;cashout;10.50;confirmed;t2',
		);
		const { id } = workflows.get('From a type')!;
		await bring(statement, codeIn(await bring(statement)));
		const [last] = await allFinished(n8n, id, 2);
		expect(itemsOf(last!, 'Settled')).toStrictEqual([
			expect.objectContaining({ external_id: 'one', reported: 'confirmed', state: 'settled' }),
		]);
		await bring(statement, codeIn(await bring(statement)));
		const executions = await allFinished(n8n, id, 4);
		expect(executions[0]!.data.resultData.runData).not.toHaveProperty('Settled');
		expect(nodeOf(ready('reconcile', credentials), 'Settled').type).toBe('n8n-nodes-base.noOp');
	});

	reachesLastNodes('reconcile', () => n8n);
});
