import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { example } from '../../dev/demo';
import { itemsOf, until, type N8n, type Workflow } from '../../dev/n8n';
import { nodeOf } from './payoutRegister';
import { majorOf } from '../../dev/versions';
import { Sandbox } from '../../sandbox/service';
import { enterSettings, makeBook, makeTable } from './book';
import { reachesLastNodes } from './lastNodes';
import { launch, PERSON } from './editorPage';
import { allFinished, credentialFor, startN8n, VERSIONS, type Credential } from './nodes';
import { BOOK_COLUMNS, linesOf, PASSWORD, PayoutsPage } from './payouts';

/** Where the documents' pictures go; none are taken without it. */
const { PAY_SCREENSHOTS } = process.env;

/** What this service says of each identifier; it does not know any other. */
async function startAnswers() {
	const came: string[] = [];
	const says = new Map<string, object>();
	const server = createServer((request, response) => {
		const id = new URL(request.url!, 'http://here').searchParams.get('id') ?? '';
		came.push(id);
		const said = says.get(id);
		response.writeHead(said ? 200 : 404, { 'content-type': 'application/json' });
		response.end(JSON.stringify(said ?? {}));
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/what-of`;
	return { url, came, says, close: () => (server.closeAllConnections(), server.close()) };
}

describe.each(VERSIONS)('n8n %s', (version) => {
	const isN8n2 = majorOf(version) === 2;
	const onN8n2 = isN8n2 ? test : test.skip;
	let n8n: N8n;
	let sandbox: Sandbox;
	let payApi: Credential;
	beforeAll(async () => {
		sandbox = await Sandbox.start({ amountsAct: true });
		// As docs/examples.md says: else runs at once break n8n's database layer.
		n8n = await startN8n(version, isN8n2 ? {} : { env: { DB_SQLITE_POOL_SIZE: '2' } });
		payApi = await credentialFor(sandbox, n8n);
	});
	afterAll(async () => {
		await n8n?.stop();
		await sandbox?.close();
	});
	beforeEach(() => {
		sandbox.received.length = 0;
		sandbox.faultFor = undefined;
	});

	/** What was paid since this was asked last. */
	function paid() {
		const payments = sandbox.bodies('payment').map(({ external_id, amount, creditParty }) => ({
			external_id,
			amount,
			key: (creditParty as { key: string }).key,
		}));
		sandbox.received.length = 0;
		return payments;
	}
	/** The example with a book of its own, chosen as a person chooses it. */
	async function publishWithBook(change: (workflow: Workflow) => void = () => {}) {
		const book = await makeBook(n8n);
		const page = await PayoutsPage.publish(n8n, payApi, (workflow) => {
			book.in('payouts', workflow);
			change(workflow);
		});
		return { book, page };
	}
	const csv = (...lines: string[]) => ['id,amount,key', ...lines].join('\n');

	test('a bank’s file (semicolons, windows-1252, an empty line, a line twice, a total): each payout is paid once, and every line is told', async () => {
		const { book, page } = await publishWithBook();
		const first = await page.uploadFile('bank.csv');
		expect(first.execution.data.resultData.error).toBeUndefined();
		expect(paid()).toStrictEqual([
			{ external_id: 'Rechnung-Ä1', amount: 10.5, key: 'a@example.com' },
			{ external_id: 'Rechnung-2', amount: 7, key: 'b@example.com' },
			{ external_id: 'Rechnung-3', amount: 5.03, key: 'c@example.com' },
			{ external_id: 'Rechnung-4', amount: 4.22, key: 'd@example.com' },
		]);
		const address = page.url.replace('127.0.0.1', 'localhost');
		expect(first.text.split('\n')[0]).toBe('2 of 7 lines accepted now: 17.50 in all. 1 in doubt.');
		expect(linesOf(first.text)).toStrictEqual([
			expect.stringMatching(/^- Line 6: Rechnung-3, 5\.03 to c@example\.com\. It is not known /),
			expect.stringMatching(/^- Line 7: Rechnung-4, 4\.22 to d@example\.com\. The service reje/),
			'- Line 3: The line is empty.',
			'- Line 5: Rechnung-2, 7.00 to b@example.com. It says the same as line 4, which counts.',
			'- Line 8: Total, 26.75. It has no recipient.',
			'- Line 2: Rechnung-Ä1, 10.50 to a@example.com.',
			'- Line 4: Rechnung-2, 7.00 to b@example.com.',
		]);
		expect(first.text).toContain(`then say so on this page: ${address}\n`);
		expect(first.text).toContain(` ${address}?Payment%20in%20doubt=Rechnung-3\n`);
		expect(first.html).toContain('2 of 7 lines accepted now: 17.50 in all. 1 in doubt.');
		expect(first.html).toContain(`href="${address}?Payment%20in%20doubt=Rechnung-3"`);
		const row = (external_id: string, amount: string, key: string, outcome: string) => ({
			external_id,
			amount,
			recipient: key,
			outcome,
			decision: null,
			source: null,
		});
		const rows = [
			row('Rechnung-Ä1', '10.5', 'a@example.com', 'accepted'),
			row('Rechnung-2', '7', 'b@example.com', 'accepted'),
			row('Rechnung-3', '5.03', 'c@example.com', 'unknown'),
			row('Rechnung-4', '4.22', 'd@example.com', 'rejected'),
		];
		expect(await book.rows()).toStrictEqual(rows);

		// The same list again: only what was rejected goes out, and gets a row of this run.
		const second = await page.uploadFile('bank.csv');
		expect(paid()).toMatchObject([{ external_id: 'Rechnung-4' }]);
		expect(await book.rows()).toStrictEqual([...rows, rows[3]]);
		const day = String.raw`on \d+ \w+ 20\d\d \(execution ${first.execution.id}\)\.`;
		expect(linesOf(second.text)).toStrictEqual([
			expect.stringMatching(new RegExp(`^- Line 6: .* Unknown ${day} http://`)),
			expect.stringMatching(/^- Line 7: .* The service rejected/),
			expect.any(String),
			expect.any(String),
			expect.any(String),
			expect.stringMatching(new RegExp(`^- Line 2: .* Accepted ${day}$`)),
			expect.stringMatching(new RegExp(`^- Line 4: .* Accepted ${day}$`)),
		]);

		// As UTF-8, with another amount: the identifier is the same, and the change is said first.
		const changed = await page.uploadCsv(csv('Rechnung-Ä1,105,a@example.com'));
		expect(linesOf(changed.text)[0]).toMatch(
			/^- Line 2: Rechnung-Ä1, 105\.00 to a@example\.com\. The book has 10\.50 to a@example\.com under this identifier\. Accepted on /,
		);
		expect(paid()).toStrictEqual([]);
	});

	/** The list that docs/pay-a-list.md gives to try. */
	function listOfTheDocument(): string {
		const text = readFileSync(join(__dirname, '..', '..', 'docs', 'pay-a-list.md'), 'utf8');
		return /```csv\n(.*?)```/s.exec(text)?.[1] ?? '';
	}

	test('the list of docs/pay-a-list.md: one is accepted, one rejected, one in doubt', async () => {
		const { page } = await publishWithBook();
		const report = await page.uploadCsv(listOfTheDocument());
		expect(report.text.split('\n')[0]).toBe('1 of 3 lines accepted now: 12.50 in all. 1 in doubt.');
		expect(linesOf(report.text)).toStrictEqual([
			expect.stringMatching(
				/^- Line 4: invoice-2053, 5\.03 to lia@example\.com\. It is not known /,
			),
			expect.stringMatching(
				/^- Line 3: invoice-2052, 4\.22 to rui@example\.com\. The service reje/,
			),
			'- Line 2: invoice-2051, 12.50 to ana@example.com.',
		]);
		paid();
	});

	test('in a browser the report is shown after the upload, and "Decide" leads to the form for that payment', async () => {
		const { page } = await publishWithBook();
		const browser = await launch();
		try {
			const context = await browser.newContext({
				viewport: { width: 840, height: 760 },
				httpCredentials: { username: PERSON.user, password: PERSON.password },
			});
			const tab = await context.newPage();
			const picture = async (name: string) => {
				if (PAY_SCREENSHOTS === undefined || !isN8n2) return;
				mkdirSync(PAY_SCREENSHOTS, { recursive: true });
				await tab.screenshot({ path: join(PAY_SCREENSHOTS, `${name}.png`), fullPage: true });
			};
			await tab.goto(page.url);
			await tab.locator('input[type=file]').setInputFiles({
				name: 'list.csv',
				mimeType: 'text/csv',
				buffer: Buffer.from(listOfTheDocument()),
			});
			await tab.getByRole('button', { name: 'Send' }).click();
			await tab.getByText('1 of 3 lines accepted now: 12.50 in all. 1 in doubt.').waitFor();
			await picture('payouts-report');
			await tab.getByRole('link', { name: 'Decide' }).click();
			const identifier = tab.getByPlaceholder('Its identifier. Empty, if you upload a list');
			await identifier.waitFor();
			expect(await identifier.inputValue()).toBe('invoice-2053');
			await picture('payouts-page');
		} finally {
			await browser.close();
		}
		paid();
	});

	test('a list in which n8n is killed, uploaded again: what was sent is in doubt, the rest is paid, nothing twice', async () => {
		const { page } = await publishWithBook();
		const invoices = Array.from(
			{ length: 10 },
			(_, index) => `invoice-${randomUUID()},${index + 7}`,
		);
		const list = new File([csv(...invoices.map((line) => `${line},a@example.com`))], 'list.csv');
		sandbox.faultFor = () => ({ kind: 'delay', ms: 500 });
		const broken = page.post(list).catch(() => undefined);
		await until('four payments', async () => sandbox.bodies('payment').length >= 4);
		await n8n.kill();
		await broken;
		const sent = sandbox.bodies('payment').length;
		sandbox.faultFor = undefined;
		await n8n.launch();
		await until('the page', async () => (await fetch(page.url)).status === 401);
		const { html } = await page.post(list);
		const [, accepted, inDoubt] =
			/(\d+) of 10 lines accepted now: .*? (\d+) in doubt\./.exec(html) ?? [];
		expect(Number(accepted) + Number(inDoubt)).toBe(10);
		// One may have been recorded and not sent.
		expect([sent, sent + 1]).toContain(Number(inDoubt));
		const arrived = paid().map(({ external_id }) => external_id);
		expect(new Set(arrived).size).toBe(arrived.length);
	});

	test('a sheet, its columns named in Columns', async () => {
		const { page } = await publishWithBook((workflow) => {
			const { assignments } = nodeOf(workflow, 'Columns').parameters as {
				assignments: { assignments: Array<{ name: string; value: string }> };
			};
			const [identifier, amount, recipient] = assignments.assignments;
			[identifier!.value, amount!.value, recipient!.value] = ['Invoice', 'Amount', 'Pay to'];
		});
		const { text } = await page.uploadFile('sheet.xlsx');
		expect(paid()).toStrictEqual([
			{ external_id: 'inv-1', amount: 10.5, key: 'a@example.com' },
			{ external_id: '1002', amount: 7, key: 'b@example.com' },
		]);
		expect(linesOf(text)).toStrictEqual([
			expect.stringMatching(/^- Line 5: inv-3, 3\.00 to 5511999990000\. The recipient is a number/),
			'- Line 3: The line is empty.',
			'- Line 6: Total, 20.5. It has no recipient.'.replace('20.5', '20.50'),
			'- Line 2: inv-1, 10.50 to a@example.com.',
			'- Line 4: 1002, 7.00 to b@example.com.',
		]);
		const other = await page.uploadCsv(csv('a,1,b'));
		expect(other.text).toMatch(
			/^Nothing was paid\. The file has no column "Invoice"\. Its line 1 has: "id", "amount", "key"\./,
		);
		const broken = await page.send(new File(['no sheet\u0000'], 'broken.xlsx'));
		expect(broken.text).toMatch(/^Nothing was paid\. The file /);
		expect(paid()).toStrictEqual([]);
	});

	describe('the page', () => {
		test('nobody sees it, uploads a list or decides without the password', async () => {
			const { page } = await publishWithBook();
			const list = new File([csv('a,1,b')], 'list.csv');
			const wrong = { Authorization: `Basic ${btoa('person:guess')}` };
			for (const headers of [{}, wrong]) {
				expect([401, 403]).toContain((await fetch(page.url, { headers })).status);
				expect([401, 403]).toContain((await page.post(list, [], headers)).status);
				expect([401, 403]).toContain((await page.post(undefined, ['a'], headers)).status);
			}
			expect((await fetch(page.url, { headers: PASSWORD })).status).toBe(200);
			expect(await n8n.executionIds(page.workflowId)).toStrictEqual([]);
		});

		test('as it is pasted, without a Basic Auth credential, nothing can be uploaded', async () => {
			const workflow = example('payouts');
			Object.assign(nodeOf(workflow, 'Payouts').parameters as object, { path: randomUUID() });
			const id = await n8n.importWorkflow(workflow, { payApi });
			const { path } = nodeOf(workflow, 'Payouts').parameters as { path: string };
			if (isN8n2)
				return await expect(n8n.publish(id)).rejects.toThrow(
					/Missing required credential: httpBasicAuth/,
				);
			await n8n.publish(id);
			const url = `${n8n.url}/form/${path}`;
			await until('the page', async () => (await fetch(url)).status !== 404);
			const body = new FormData();
			body.append('field-0', new File([csv('a,1,b')], 'list.csv'));
			const statuses = [
				(await fetch(url, { headers: PASSWORD })).status,
				(await fetch(url, { method: 'POST', headers: PASSWORD, body })).status,
			];
			expect(statuses).toStrictEqual([401, 401]);
			expect(await n8n.executionIds(id)).toStrictEqual([]);
		});

		test('a decision is made there, the next list goes by it, and "It was paid" wins', async () => {
			const { book, page } = await publishWithBook();
			await page.uploadCsv(csv('a,5.03,x', 'b,5.03,y', 'c,5.03,z', 'd,1,z'));
			paid();
			const open = await page.send(undefined);
			expect(open.text).toMatch(/^3 in doubt\.\n\nIn doubt: 3, 15\.09 in all\. /);
			expect(open.html).toContain('3 in doubt.');
			const decided = await page.decide('a', 'It was not paid', 'Ana at the service');
			expect(decided.html).toContain(
				'Written down about &quot;a&quot;: It was not paid. 2 in doubt.',
			);
			// Two people at once, who do not agree.
			await Promise.all([
				page.post(undefined, ['b', 'It was paid', 'the statement']),
				page.post(undefined, ['b', 'It was not paid', 'Bo']),
			]);
			await allFinished(n8n, page.workflowId, 5);
			const next = await page.uploadCsv(csv('a,5.03,x', 'b,5.03,y', 'c,5.03,z', 'd,1,z'));
			expect(linesOf(next.text)).toStrictEqual([
				expect.stringMatching(/^- Line 4: c, 5\.03 to z\. Unknown on .*\. http:/),
				expect.stringMatching(/^- Line 2: .* It was not paid \(Ana at the service\)\.$/),
				expect.stringMatching(/^- Line 3: .*It was paid \(the statement\)\.$/),
				expect.stringMatching(/^- Line 5: d, 1\.00 to z\. Accepted on /),
			]);
			expect(paid()).toStrictEqual([]);
			// The other way round, after the fact.
			const later = await page.decide('a', 'It was paid', 'the statement');
			expect(later.text).toMatch(/^Written down about "a": It was paid\. 1 in doubt\./);
			const about = (await book.rows()).filter(({ external_id }) => external_id === 'a');
			expect(
				about.map(({ outcome, amount, decision }) => [outcome, amount, decision]),
			).toStrictEqual([
				['unknown', '5.03', 'It was not paid'],
				[null, '5.03', 'It was paid'],
			]);
		});
	});

	describe('the book', () => {
		onN8n2('is made by the first run, and found by the next', async () => {
			const page = await PayoutsPage.publish(n8n, payApi);
			const first = await page.uploadCsv(csv('made-1,1,x'));
			expect(linesOf(first.text)).toStrictEqual(['- Line 2: made-1, 1.00 to x.']);
			const second = await page.uploadCsv(csv('made-1,1,x'));
			expect(linesOf(second.text)).toStrictEqual([
				expect.stringMatching(/^- Line 2: made-1, 1\.00 to x\. Accepted on /),
			]);
			// A copy of the workflow finds it too: what one has paid, the other does not pay.
			const copy = await PayoutsPage.publish(n8n, payApi);
			paid();
			expect(linesOf((await copy.uploadCsv(csv('made-1,1,x'))).text)).toHaveLength(1);
			// n8n looks for names that contain this one; the first of them is another.
			const personal = await n8n.rest<{ data: { id: string } }>('GET', '/projects/personal');
			const tables = `/projects/${personal.data.id}/data-tables`;
			const columns = [{ name: 'other', type: 'string' }];
			const name = 'Book of payouts, old';
			const { data: old } = await n8n.rest('POST', tables, { name, columns });
			const third = await page.uploadCsv(csv('made-1,1,x', 'made-2,1,x'));
			expect(third.text).toMatch(/^1 of 2 lines accepted now/);
			expect(paid()).toMatchObject([{ external_id: 'made-2' }]);
			await n8n.rest('DELETE', `${tables}/${old.id}`);
		});

		test('that is missing, or another table: nothing is paid, and the page says what to do', async () => {
			const says =
				/^Nothing was paid\. The book could not be opened\. On n8n 1, make a data table from the file book-of-payouts\.csv .* n8n says: /;
			const another = await makeTable(n8n, [{ name: 'amount', type: 'string' }]);
			const wrong = await PayoutsPage.publish(n8n, payApi, (workflow) =>
				another.chooseIn(workflow, 'Open the book'),
			);
			expect((await wrong.uploadCsv(csv('a,1,x'))).text).toMatch(says);
			if (!isN8n2) {
				const missing = await PayoutsPage.publish(n8n, payApi);
				expect((await missing.uploadCsv(csv('a,1,x'))).text).toMatch(says);
			}
			expect(paid()).toStrictEqual([]);
		});

		test('of before "number": nothing is paid, the page says which column to add, and with it the same book goes on', async () => {
			const columns = BOOK_COLUMNS.filter((name) => name !== 'number');
			const book = await makeBook(n8n, columns);
			const page = await PayoutsPage.publish(n8n, payApi, (workflow) => {
				book.in('payouts', workflow);
			});
			await book.add([
				{ external_id: 'old-1', amount: '1', recipient: 'x', outcome: 'accepted' },
				{ external_id: 'old-2', amount: '5.03', recipient: 'x', outcome: 'unknown' },
			]);
			const says =
				'The book was made before it had all of its columns. Open it under Data tables and add, ' +
				'with the type String: number. Its rows stay as they are. Then do this again.';
			const list = csv('old-1,1,x', 'old-2,5.03,x', 'new-1,2,x');
			const refused = await page.uploadCsv(list);
			expect([refused.text, refused.html]).toStrictEqual([
				`Nothing was paid. ${says}`,
				expect.stringContaining(says),
			]);
			expect((await page.decide('old-2', 'It was paid', 'Ana')).text).toBe(says);
			expect(paid()).toStrictEqual([]);

			await book.addColumn('number');
			const { text } = await page.uploadCsv(list);
			expect(text).toMatch(/^1 of 3 lines accepted now: 2\.00 in all\. 1 in doubt\./);
			expect(paid()).toMatchObject([{ external_id: 'new-1' }]);
			expect(await book.rows()).toHaveLength(3);
		});

		test('has the columns of the file to import', () => {
			const { columns } = nodeOf(example('payouts'), 'Make the book').parameters as {
				columns: { column: Array<{ name: string; type: string }> };
			};
			expect(columns.column).toStrictEqual(BOOK_COLUMNS.map((name) => ({ name, type: 'string' })));
		});

		test('that cannot be written after the payments: the report says so, and the next run asks', async () => {
			const { page } = await publishWithBook((workflow) => {
				Object.assign(nodeOf(workflow, 'Write it into the book').parameters as object, {
					dataTableId: { __rl: true, mode: 'id', value: 'gone' },
				});
			});
			const first = await page.uploadCsv(csv('unwritten,1,x'));
			expect(first.text).toMatch(/^1 of 1 .* The book could not be written: keep this report\. /);
			const second = await page.uploadCsv(csv('unwritten,1,x'));
			expect(second.text).toMatch(/^0 of 1 .* 1 in doubt\./);
			expect(paid()).toHaveLength(1);
		});
	});

	describe('the service, where an address is entered', () => {
		/** A service that is asked, at an address of its own. */
		let asked: Awaited<ReturnType<typeof startAnswers>>;
		beforeAll(async () => {
			asked = await startAnswers();
		});
		afterAll(() => asked.close());
		const publishAsking = async (more: object = {}, isActive = true) =>
			await publishWithBook((workflow) => {
				Object.assign(nodeOf(workflow, 'Ask the service'), {
					credentials: { payApi },
					disabled: !isActive,
				});
				enterSettings(workflow, {
					paymentNumberField: 'transaction.id',
					address: `${asked.url}?id={identifier}`,
					idField: 'reference',
					statusField: 'state',
					paidWords: 'done',
					failedWords: 'gone',
					amountField: 'value',
					directionField: 'way',
					outWords: 'out',
					...more,
				});
			});
		const answer = (reference: string, state: string, value = 5.03, way = 'out') =>
			asked.says.set(reference, { reference, state, value, way });

		test('an address without the node that asks: the report says so, and a person decides', async () => {
			const { page } = await publishAsking({}, false);
			const { text } = await page.uploadCsv(csv('ask-h,5.03,x'));
			expect(text).toMatch(/Nobody asked the service: the node Ask the service is not active\./);
			expect(text.split('\n')[0]).toBe('0 of 1 line accepted now: 0.00 in all. 1 in doubt.');
			expect(asked.came).toStrictEqual([]);
		});

		test('what is in doubt is asked before a person is; only a clear answer is written into the book', async () => {
			const { book, page } = await publishAsking();
			answer('ask-a', 'done');
			answer('ask-b', 'gone');
			answer('ask-c', 'on its way');
			answer('ask-d', 'done', 50.3);
			answer('ask-e', 'done', 5.03, 'in');
			asked.says.set('ask-f', { reference: 'ask-a', state: 'done', value: 5.03, way: 'out' });
			answer('ask-g', 'gone', 7);
			const ids = ['a', 'b', 'c', 'd', 'e', 'f'].map((each) => `ask-${each},5.03,x`);
			const list = csv(...ids, 'ask-g,7,x');
			const first = await page.uploadCsv(list);
			expect(first.execution.data.resultData.error).toBeUndefined();
			expect(asked.came).toStrictEqual(['a', 'b', 'c', 'd', 'e', 'f'].map((each) => `ask-${each}`));
			expect(first.text.split('\n')[0]).toBe('1 of 7 lines accepted now: 7.00 in all. 4 in doubt.');
			const source = String.raw`\(The service said ".*", execution \d+, .*\)\.`;
			const lines = linesOf(first.text);
			for (const [external_id, says] of [
				['ask-a', `It was paid ${source}$`],
				['ask-b', `It was not paid ${source}$`],
				['ask-c', 'The service was asked: the service says "on its way"\\. http'],
				['ask-d', 'The service was asked: it says "done" about 50\\.3, not 5\\.03\\. http'],
				['ask-e', 'has the direction "in", which is none of outWords\\. http'],
				['ask-f', 'its response does not name this payment\\. http'],
				['ask-g', 'Its response has no number of the service in "transaction\\.id"\\.$'],
			] as const)
				expect(lines.find((line) => line.includes(external_id))).toMatch(new RegExp(says));
			const decided = async () =>
				(await book.rows())
					.filter(({ decision }) => decision !== null)
					.map(({ external_id, decision }) => [external_id, decision]);
			expect(await decided()).toStrictEqual([
				['ask-a', 'It was paid'],
				['ask-b', 'It was not paid'],
			]);
			paid();

			// The page asks too; what a person decides is not asked, and nothing is paid again.
			asked.came.length = 0;
			answer('ask-c', 'done');
			const page2 = await page.decide('ask-d', 'It was not paid', 'Ana');
			expect(asked.came).toStrictEqual(['ask-c', 'ask-e', 'ask-f']);
			expect(page2.text).toMatch(/^Written down about "ask-d": It was not paid\. 2 in doubt\./);
			expect(await decided()).toHaveLength(4);
			const again = await page.uploadCsv(list);
			expect(again.text).toMatch(/^0 of 7 lines accepted now: 0\.00 in all\. 2 in doubt\./);
			expect(paid()).toStrictEqual([]);
		});

		test('the number of a response is kept, and a service that cannot be asked changes nothing', async () => {
			const { book, page } = await publishAsking({
				paymentNumberField: 'id',
				address: 'http://127.0.0.1:1/{identifier}',
			});
			const { text } = await page.uploadCsv(csv('kept-a,1,x', 'kept-b,5.03,x'));
			expect(text).toMatch(/^1 of 2 lines accepted now: 1\.00 in all\. 1 in doubt\./);
			expect(text).toMatch(/The service was asked: it could not be asked: /);
			expect((await book.rows()).map(({ decision }) => decision)).toStrictEqual([null, null]);
			const numbers = await book.numbers();
			expect(numbers).toStrictEqual([
				['kept-a', expect.stringMatching(/^\S+$/)],
				['kept-b', ''],
			]);
			paid();
		});

		test('Settings that lack something: nothing is asked, and the report says what to enter', async () => {
			const { page } = await publishAsking({ statusField: '', paymentNumberField: '' });
			asked.came.length = 0;
			const { text } = await page.uploadCsv(csv('lacks-a,1,x', 'lacks-b,5.03,x'));
			expect(text).toMatch(
				/^1 of 2 lines accepted now: 1\.00 in all\. 1 in doubt\. Nothing was asked\. Enter statusField in Settings/,
			);
			expect(asked.came).toStrictEqual([]);
			paid();
		});
	});

	test('of thirty payouts, sent again and in another order, each is paid once', async () => {
		const { book, page } = await publishWithBook();
		const lines = Array.from({ length: 30 }, (_none, index) => `supplier-${index},${index + 10},x`);
		await page.uploadCsv(csv(...lines, lines[0]!, lines[7]!));
		expect(paid()).toHaveLength(30);
		const { text } = await page.uploadCsv(csv(...lines.toReversed(), 'supplier-30,1,x'));
		expect(paid()).toMatchObject([{ external_id: 'supplier-30' }]);
		expect(text.split('\n')[0]).toBe('1 of 31 lines accepted now: 1.00 in all.');
		expect(await book.rows()).toHaveLength(31);
	});

	test('one list uploaded twice at once: each payout is paid once, and afterwards nothing is in doubt', async () => {
		const { page } = await publishWithBook();
		const list = csv(...Array.from({ length: 5 }, (_none, index) => `twice-${index},7,x`));
		await Promise.all([
			page.post(new File([list], 'list.csv')),
			page.post(new File([list], 'list.csv')),
		]);
		await allFinished(n8n, page.workflowId, 2);
		expect(paid()).toHaveLength(5);
		const { text } = await page.send(undefined);
		expect(text).toBe('Nothing is in doubt.');
	});

	test('ten lists at once lose no row', async () => {
		const { book, page } = await publishWithBook();
		const lists = Array.from({ length: 10 }, (_none, index) => [
			`ten-${index}-a`,
			`ten-${index}-b`,
		]);
		await Promise.all(
			lists.map(async (ids) => {
				const file = new File([csv(...ids.map((id) => `${id},7,x`))], 'list.csv');
				expect((await page.post(file)).html).toContain('2 of 2 lines accepted now');
			}),
		);
		expect((await book.rows()).map(({ external_id }) => external_id).sort()).toStrictEqual(
			lists.flat(),
		);
	});

	test('a run that stops sounds the alarm, with where and why', async () => {
		const { page } = await publishWithBook((workflow) => {
			Object.assign(nodeOf(workflow, 'Pay'), { onError: 'stopWorkflow' });
		});
		await page.post(new File([csv('a,4.22,x')], 'list.csv'));
		const alarm = await until('the alarm', async () => {
			const executions = await allFinished(n8n, page.workflowId, 2);
			const [item] = executions.flatMap((each) => itemsOf(each, 'Sound the alarm'));
			return item;
		});
		expect(alarm.text).toMatch(
			/^Payouts from a file stopped at Pay: .*\. http:\/\/.*\/executions\/\d+$/,
		);
	});

	reachesLastNodes('payouts', () => n8n);
});
