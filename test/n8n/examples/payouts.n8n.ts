import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { example } from '../../../dev/demo';
import { itemsOf, until, webhookPath, type N8n, type Workflow } from '../../../dev/n8n';
import { majorOf } from '../../../dev/versions';
import { signUrl, type Reference } from '../../../nodes/Pay/postback/proof';
import { Sandbox } from '../../../sandbox/service';
import { enterSettings, makeBook, makeTable } from './book';
import { launch } from '../editorPage';
import {
	allFinished,
	credentialFor,
	nodeOf,
	SECRET,
	startN8n,
	VERSIONS,
	type Credential,
} from '../nodes';
import { BOOK_COLUMNS, linesOf, PayoutsPage, type Uploaded } from './payouts';
import { csvIn } from '../hand';
import { PASSWORD, PERSON, WRONG_PASSWORD } from '../person';

/** Where the documents' pictures go; none are taken without it. */
const { PAY_SCREENSHOTS } = process.env;

/** A list with the columns of the example, from its lines. */
const csv = (...lines: string[]) => ['id,amount,key', ...lines].join('\n');
const fileOf = (text: string) => new File([text], 'list.csv');

/** The first line of a report: what was accepted, and how much is in doubt. */
const headOf = (text: string) => text.split('\n')[0];

describe.each(VERSIONS)('n8n %s', (version) => {
	const isN8n2 = majorOf(version) === 2;
	const testOnN8n2 = isN8n2 ? test : test.skip;
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

	/** The payments that arrived since a test began, or since this was called in it. */
	function takePayments() {
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

	describe('a bank’s file (semicolons, windows-1252, an empty line, a line twice, a total)', () => {
		let book: Awaited<ReturnType<typeof makeBook>>;
		let page: PayoutsPage;
		let first: Uploaded;
		let payments: ReturnType<typeof takePayments>;
		const ROWS = [
			{
				external_id: 'Rechnung-Ä1',
				amount: '10.5',
				recipient: 'a@example.com',
				outcome: 'accepted',
				decision: null,
				source: null,
			},
			{
				external_id: 'Rechnung-2',
				amount: '7',
				recipient: 'b@example.com',
				outcome: 'accepted',
				decision: null,
				source: null,
			},
			{
				external_id: 'Rechnung-3',
				amount: '5.03',
				recipient: 'c@example.com',
				outcome: 'unknown',
				decision: null,
				source: null,
			},
			{
				external_id: 'Rechnung-4',
				amount: '4.22',
				recipient: 'd@example.com',
				outcome: 'rejected',
				decision: null,
				source: null,
			},
		];
		beforeAll(async () => {
			({ book, page } = await publishWithBook());
			sandbox.received.length = 0;
			first = await page.uploadFile('bank.csv');
			payments = takePayments();
		});

		test('each payout is paid once', () => {
			expect(first.execution.data.resultData.error).toBeUndefined();
			expect(payments).toStrictEqual([
				{ external_id: 'Rechnung-Ä1', amount: 10.5, key: 'a@example.com' },
				{ external_id: 'Rechnung-2', amount: 7, key: 'b@example.com' },
				{ external_id: 'Rechnung-3', amount: 5.03, key: 'c@example.com' },
				{ external_id: 'Rechnung-4', amount: 4.22, key: 'd@example.com' },
			]);
		});

		test('the report tells of every line, what is in doubt first', () => {
			expect(headOf(first.text)).toBe('2 of 7 lines accepted now: 17.50 in all. 1 in doubt.');
			expect(linesOf(first.text)).toStrictEqual([
				expect.stringContaining(
					'- Line 6: Rechnung-3, 5.03 to c@example.com. It is not known whether ',
				),
				expect.stringContaining(
					'- Line 7: Rechnung-4, 4.22 to d@example.com. The service rejected ',
				),
				'- Line 3: The line is empty.',
				'- Line 5: Rechnung-2, 7.00 to b@example.com. It says the same as line 4, which counts.',
				'- Line 8: Total, 26.75. It has no recipient.',
				'- Line 2: Rechnung-Ä1, 10.50 to a@example.com.',
				'- Line 4: Rechnung-2, 7.00 to b@example.com.',
			]);
		});

		test('the report says where a person decides about what is in doubt', () => {
			expect(first.text).toContain(`then say so on this page: ${page.url}\n`);
			expect(first.text).toContain(` ${page.url}?Payment%20in%20doubt=Rechnung-3\n`);
			expect(first.html).toContain('2 of 7 lines accepted now: 17.50 in all. 1 in doubt.');
			expect(first.html).toContain(`href="${page.url}?Payment%20in%20doubt=Rechnung-3"`);
		});

		test('the book has a row for each payout', async () => {
			expect(await book.rows()).toStrictEqual(ROWS);
		});

		test('uploaded again, what was rejected alone goes out, and gets another row', async () => {
			const { text } = await page.uploadFile('bank.csv');
			expect(takePayments()).toMatchObject([{ external_id: 'Rechnung-4' }]);
			expect(await book.rows()).toStrictEqual([...ROWS, ROWS[3]]);
			const lines = linesOf(text);
			const byFirst = `(execution ${first.execution.id}).`;
			expect(lines[0]).toContain('- Line 6: Rechnung-3, 5.03 to c@example.com. Unknown on ');
			expect(lines[0]).toContain(`${byFirst} http://`);
			expect(lines[1]).toContain(
				'- Line 7: Rechnung-4, 4.22 to d@example.com. The service rejected',
			);
			expect(lines[5]).toContain('- Line 2: Rechnung-Ä1, 10.50 to a@example.com. Accepted on ');
			expect(lines[6]).toContain('- Line 4: Rechnung-2, 7.00 to b@example.com. Accepted on ');
			expect(lines[5]!.endsWith(byFirst)).toBe(true);
			expect(lines[6]!.endsWith(byFirst)).toBe(true);
		});

		test('an identifier of it in UTF-8, with another amount, is not paid, and the change is told', async () => {
			const { text } = await page.uploadCsv(csv('Rechnung-Ä1,105,a@example.com'));
			expect(linesOf(text)[0]).toContain(
				'- Line 2: Rechnung-Ä1, 105.00 to a@example.com. The book has 10.50 to a@example.com under this identifier. Accepted on ',
			);
			expect(takePayments()).toStrictEqual([]);
		});
	});

	/** The list that this page gives to try. */
	const LIST_TO_TRY = csvIn('docs/pay-a-list.md');

	test('the list of docs/pay-a-list.md: one is accepted, one rejected, one in doubt', async () => {
		const { page } = await publishWithBook();
		const { text } = await page.uploadCsv(LIST_TO_TRY);
		expect(headOf(text)).toBe('1 of 3 lines accepted now: 12.50 in all. 1 in doubt.');
		expect(linesOf(text)).toStrictEqual([
			expect.stringContaining(
				'- Line 4: test-2053, 5.03 to lia@example.com. It is not known whether ',
			),
			expect.stringContaining(
				'- Line 3: test-2052, 4.22 to rui@example.com. The service rejected ',
			),
			'- Line 2: test-2051, 12.50 to ana@example.com.',
		]);
	});

	// What the report says of it, and of a decision: test/examples/payouts.test.ts.
	test('what a gateway rejected with 403 is told apart from another rejection, and sent again', async () => {
		const { page } = await publishWithBook();
		const list = csv('token-a,7,x', 'token-b,4.22,x');
		sandbox.faultFor = ({ body }) =>
			body.includes('token-a') ? { kind: 'status', status: 403 } : undefined;
		const first = await page.uploadCsv(list);
		expect(headOf(first.text)).toBe(
			'0 of 2 lines accepted now: 0.00 in all. 1 to ask the service about.',
		);
		sandbox.faultFor = undefined;
		sandbox.received.length = 0;
		await page.uploadCsv(list);
		expect(takePayments().map(({ external_id }) => external_id)).toStrictEqual([
			'token-a',
			'token-b',
		]);
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
				buffer: Buffer.from(LIST_TO_TRY),
			});
			await tab.getByRole('button', { name: 'Send' }).click();
			await tab.getByText('1 of 3 lines accepted now: 12.50 in all. 1 in doubt.').waitFor();
			await picture('payouts-report');
			await tab.getByRole('link', { name: 'Decide' }).click();
			const identifier = tab.getByPlaceholder('Its identifier. Empty, if you upload a list');
			await identifier.waitFor();
			expect(await identifier.inputValue()).toBe('test-2053');
			await picture('payouts-page');
		} finally {
			await browser.close();
		}
	});

	describe('a sheet, its columns named in Columns', () => {
		let page: PayoutsPage;
		beforeAll(async () => {
			({ page } = await publishWithBook((workflow) => {
				const { assignments } = nodeOf(workflow, 'Columns').parameters as {
					assignments: { assignments: Array<{ name: string; value: string }> };
				};
				const [identifier, amount, recipient] = assignments.assignments;
				identifier!.value = 'Invoice';
				amount!.value = 'Amount';
				recipient!.value = 'Pay to';
			}));
		});

		test('is paid, and the report tells of every line', async () => {
			const { text } = await page.uploadFile('sheet.xlsx');
			expect(takePayments()).toStrictEqual([
				{ external_id: 'inv-1', amount: 10.5, key: 'a@example.com' },
				{ external_id: '1002', amount: 7, key: 'b@example.com' },
			]);
			expect(linesOf(text)).toStrictEqual([
				expect.stringContaining(
					'- Line 5: inv-3, 3.00 to 5511999990000. The recipient is a number',
				),
				'- Line 3: The line is empty.',
				'- Line 6: Total, 20.50. It has no recipient.',
				'- Line 2: inv-1, 10.50 to a@example.com.',
				'- Line 4: 1002, 7.00 to b@example.com.',
			]);
		});
	});

	describe('the page', () => {
		test('nobody sees it, uploads a list or decides without the password', async () => {
			const { page } = await publishWithBook();
			const list = fileOf(csv('a,1,b'));
			for (const headers of [{}, WRONG_PASSWORD]) {
				expect([401, 403]).toContain((await fetch(page.url, { headers })).status);
				expect([401, 403]).toContain((await page.post(list, [], headers)).status);
				expect([401, 403]).toContain((await page.post(undefined, ['a'], headers)).status);
			}
			expect((await fetch(page.url, { headers: PASSWORD })).status).toBe(200);
			expect(await n8n.executionIds(page.workflowId)).toStrictEqual([]);
		});

		test('as it is pasted, without a Basic Auth credential, nothing can be uploaded', async () => {
			const workflow = example('payouts');
			const path = randomUUID();
			Object.assign(nodeOf(workflow, 'Payouts').parameters as object, { path });
			const id = await n8n.importWorkflow(workflow, { payApi });
			if (isN8n2) {
				return await expect(n8n.publish(id)).rejects.toThrow(
					'Missing required credential: httpBasicAuth',
				);
			}
			await n8n.publish(id);
			const url = `${n8n.url}/form/${path}`;
			await until('the page', async () => (await fetch(url)).status !== 404);
			const body = new FormData();
			body.append('field-0', fileOf(csv('a,1,b')));
			const statuses = [
				(await fetch(url, { headers: PASSWORD })).status,
				(await fetch(url, { method: 'POST', headers: PASSWORD, body })).status,
			];
			expect(statuses).toStrictEqual([401, 401]);
			expect(await n8n.executionIds(id)).toStrictEqual([]);
		});

		test('of two decisions at once that do not agree, "It was paid" counts; the next list goes by them', async () => {
			const list = csv('a,5.03,x', 'b,5.03,y', 'c,5.03,z', 'd,1,z');
			const { page } = await publishWithBook();
			await page.uploadCsv(list);
			const { html } = await page.decide('a', 'It was not paid', 'Ana at the service');
			expect(html).toContain('Written down about &quot;a&quot;: It was not paid. 2 in doubt.');
			await Promise.all([
				page.post(undefined, ['b', 'It was paid', 'the statement']),
				page.post(undefined, ['b', 'It was not paid', 'Bo']),
			]);
			await page.finished();
			sandbox.received.length = 0;
			const lines = linesOf((await page.uploadCsv(list)).text);
			expect(lines).toHaveLength(4);
			expect(lines[0]).toContain('- Line 4: c, 5.03 to z. Unknown on ');
			expect(lines[1]).toContain('- Line 2: a, 5.03 to x. ');
			expect(lines[1]).toContain('It was not paid (Ana at the service).');
			expect(lines[2]).toContain('- Line 3: b, 5.03 to y. ');
			expect(lines[2]).toContain('It was paid (the statement).');
			expect(lines[3]).toContain('- Line 5: d, 1.00 to z. Accepted on ');
			expect(takePayments()).toStrictEqual([]);
		});
	});

	describe('the book', () => {
		const NO_BOOK =
			'Nothing was paid. The book could not be opened. On n8n 1, make a data table from the file book-of-payouts.csv. Then open this workflow and choose the table in the node Open the book, above the right end of the note "The book". ';

		describe('that is not there', () => {
			let page: PayoutsPage;
			beforeAll(async () => {
				if (isN8n2) page = await PayoutsPage.publish(n8n, payApi);
			});

			testOnN8n2('is made by the first run, and found by the next', async () => {
				const first = await page.uploadCsv(csv('made-1,1,x'));
				const second = await page.uploadCsv(csv('made-1,1,x'));
				expect(linesOf(first.text)).toStrictEqual(['- Line 2: made-1, 1.00 to x.']);
				expect(linesOf(second.text)).toStrictEqual([
					expect.stringContaining('- Line 2: made-1, 1.00 to x. Accepted on '),
				]);
			});

			testOnN8n2(
				'is found by a copy of the workflow: what one has paid, the other does not',
				async () => {
					const copy = await PayoutsPage.publish(n8n, payApi);
					await copy.uploadCsv(csv('made-1,1,x'));
					expect(takePayments()).toStrictEqual([]);
				},
			);

			testOnN8n2('is found beside a table whose name begins with its own', async () => {
				const personal = await n8n.rest<{ data: { id: string } }>('GET', '/projects/personal');
				const tables = `/projects/${personal.data.id}/data-tables`;
				const { data: old } = await n8n.rest('POST', tables, {
					name: 'Book of payouts, old',
					columns: [{ name: 'other', type: 'string' }],
				});
				const { text } = await page.uploadCsv(csv('made-1,1,x', 'made-2,1,x'));
				expect(headOf(text)).toBe('1 of 2 lines accepted now: 1.00 in all.');
				expect(takePayments()).toMatchObject([{ external_id: 'made-2' }]);
				await n8n.rest('DELETE', `${tables}/${old.id}`);
			});

			const testOnN8n1 = isN8n2 ? test.skip : test;
			testOnN8n1('on n8n 1: nothing is paid, and the page says what to do', async () => {
				const missing = await PayoutsPage.publish(n8n, payApi);
				const { text } = await missing.uploadCsv(csv('a,1,x'));
				expect(text).toContain(NO_BOOK);
				expect(takePayments()).toStrictEqual([]);
			});
		});

		test('that is another table: nothing is paid, and the page says what to do', async () => {
			const another = await makeTable(n8n, [{ name: 'amount', type: 'string' }]);
			const page = await PayoutsPage.publish(n8n, payApi, (workflow) =>
				another.chooseIn(workflow, 'Open the book'),
			);
			const { text } = await page.uploadCsv(csv('a,1,x'));
			expect(text).toContain(NO_BOOK);
			expect(text).toContain(' n8n says: ');
			expect(takePayments()).toStrictEqual([]);
		});

		describe('of before "number"', () => {
			const SAYS =
				'The book was made before it had all of its columns. Open it under Data tables and add, ' +
				'with the type String: number. Its rows stay as they are. Then do this again.';
			const list = csv('old-1,1,x', 'old-2,5.03,x', 'new-1,2,x');
			let book: Awaited<ReturnType<typeof makeBook>>;
			let page: PayoutsPage;
			beforeAll(async () => {
				book = await makeBook(
					n8n,
					BOOK_COLUMNS.filter((name) => name !== 'number'),
				);
				page = await PayoutsPage.publish(n8n, payApi, (workflow) => {
					book.in('payouts', workflow);
				});
				await book.add([
					{ external_id: 'old-1', amount: '1', recipient: 'x', outcome: 'accepted' },
					{ external_id: 'old-2', amount: '5.03', recipient: 'x', outcome: 'unknown' },
				]);
			});

			test('nothing is paid, and the page says which column to add', async () => {
				const { text, html } = await page.uploadCsv(list);
				expect(text).toBe(`Nothing was paid. ${SAYS}`);
				expect(html).toContain(SAYS);
				expect(takePayments()).toStrictEqual([]);
			});

			test('nothing can be decided, for the same reason', async () => {
				expect((await page.decide('old-2', 'It was paid', 'Ana')).text).toBe(SAYS);
			});

			test('with that column the same book goes on', async () => {
				await book.addColumn('number');
				const { text } = await page.uploadCsv(list);
				expect(headOf(text)).toBe('1 of 3 lines accepted now: 2.00 in all. 1 in doubt.');
				expect(takePayments()).toMatchObject([{ external_id: 'new-1' }]);
				expect(await book.rows()).toHaveLength(3);
			});
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
			const second = await page.uploadCsv(csv('unwritten,1,x'));
			expect(first.text).toContain('1 of 1 line accepted now: 1.00 in all. ');
			expect(first.text).toContain('The book could not be written: keep this report. ');
			expect(second.text).toContain('0 of 1 line accepted now: 0.00 in all. 1 in doubt. ');
			expect(takePayments()).toHaveLength(1);
		});
	});

	test('the service’s own number is kept, where Settings name its field', async () => {
		const { book, page } = await publishWithBook((workflow) => {
			enterSettings(workflow, { paymentNumberField: 'id' });
		});
		const { text } = await page.uploadCsv(csv('kept-a,1,x', 'kept-b,5.03,x'));
		expect(headOf(text)).toBe('1 of 2 lines accepted now: 1.00 in all. 1 in doubt.');
		const known = sandbox.transactions.find(({ external_id }) => external_id === 'kept-a');
		expect(await book.numbers()).toStrictEqual([
			['kept-a', known!.id],
			['kept-b', ''],
		]);
	});

	describe('what the service reports', () => {
		let book: Awaited<ReturnType<typeof makeBook>>;
		let page: PayoutsPage;
		let address: string;
		let described: Credential;
		beforeAll(async () => {
			const account = {
				baseUrl: sandbox.url,
				accessToken: 'token',
				postbackSecret: SECRET,
				describeService: true,
				statusField: 'status',
				paidValues: 'paid',
				failedValues: 'failed',
				amountField: 'amount',
			};
			described = await n8n.createCredential(account);
			({ book, page } = await publishWithBook((workflow) => {
				const trigger = nodeOf(workflow, 'The postback');
				delete trigger.disabled;
				// As the editor does with what is pasted.
				trigger.webhookId = randomUUID();
				for (const name of ['The postback', 'Pay'])
					Object.assign(nodeOf(workflow, name), { credentials: { payApi: described } });
			}));
			const { nodes } = await n8n.workflow(page.workflowId);
			const trigger = nodes.find(({ name }) => name === 'The postback')!;
			address = `${n8n.url}${webhookPath(trigger)}`;
			await n8n.changeCredential(described, { ...account, postbackUrl: address });
			await until('the trigger', async () => (await fetch(address)).status === 401);
		});

		/** Delivers a signed postback; gives the status that it is answered with. */
		async function deliver(external_id: string, body: object, kind: Reference['kind'] = 'payment') {
			const url = signUrl(address, { external_id, kind, amount: 7 }, SECRET);
			const headers = { 'Content-Type': 'application/json' };
			return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).status;
		}
		const outcomesIn = async (external_id: string) =>
			(await book.rows())
				.filter((row) => row.external_id === external_id)
				.map(({ outcome }) => outcome);
		const settle = async (external_id: string) => {
			const found = sandbox.transactions.find((each) => each.external_id === external_id)!;
			await sandbox.settle(found.id, 'paid');
		};

		test('"accepted" becomes "paid", also where the postback comes before the list is through', async () => {
			sandbox.faultFor = () => ({ kind: 'delay', ms: 1_000 });
			const uploading = page.post(fileOf(csv('told-1,7,x', 'told-2,7,x', 'told-3,7,x')));
			await until('the second payment', async () => sandbox.bodies('payment').length >= 2);
			await settle('told-1');
			expect(await outcomesIn('told-1')).toStrictEqual(['paid']);
			await uploading;
			await settle('told-2');
			expect(await outcomesIn('told-1')).toStrictEqual(['paid', 'accepted']);
			expect(await outcomesIn('told-2')).toStrictEqual(['accepted', 'paid']);
			expect(await outcomesIn('told-3')).toStrictEqual(['accepted']);
		});

		test('each word is written once, and a person is told of what is not simply paid', async () => {
			const paid = { status: 'paid', amount: 7 };
			for (const body of [
				{ status: 'waiting', amount: 7 },
				{ status: 'paid', amount: 0.7 },
				paid,
				paid,
				{ status: 'failed', amount: 7 },
				paid,
			])
				expect(await deliver('told-4', body)).toBe(200);
			expect(await outcomesIn('told-4')).toStrictEqual(['otherAmount', 'paid', 'failed']);
			const told: unknown[] = [];
			for (const id of await n8n.executionIds(page.workflowId)) {
				const [item] = itemsOf(await n8n.finished(id), 'Tell a person of it');
				if (item?.external_id === 'told-4') told.push(item.outcome);
			}
			expect(told.sort()).toStrictEqual(['failed', 'otherAmount']);
		});

		test('a charge, and what nobody signed, is not written', async () => {
			expect(await deliver('told-5', { status: 'paid', amount: 7 }, 'qrCode')).toBe(200);
			const forged = signUrl(
				address,
				{ external_id: 'told-5', kind: 'payment', amount: 7 },
				'another secret, which is long',
			);
			expect((await fetch(forged, { method: 'POST', body: '{"status":"paid"}' })).status).toBe(401);
			expect(await outcomesIn('told-5')).toStrictEqual([]);
		});

		test('where the book cannot be written, the service is told to send it again', async () => {
			const another = await publishWithBook((workflow) => {
				const trigger = nodeOf(workflow, 'The postback');
				delete trigger.disabled;
				Object.assign(trigger, { webhookId: randomUUID(), credentials: { payApi: described } });
				Object.assign(nodeOf(workflow, 'Write what was reported').parameters as object, {
					dataTableId: { __rl: true, mode: 'id', value: 'gone' },
				});
			});
			const { nodes } = await n8n.workflow(another.page.workflowId);
			const path = webhookPath(nodes.find(({ name }) => name === 'The postback')!);
			const url = signUrl(
				`${n8n.url}${path}`,
				{ external_id: 'told-6', kind: 'payment', amount: 7 },
				SECRET,
			);
			const answer = await until('the trigger', async () => {
				const headers = { 'Content-Type': 'application/json' };
				const body = '{"status":"paid","amount":7}';
				const { status } = await fetch(url, { method: 'POST', headers, body });
				return status !== 404 && status;
			});
			expect(answer).toBe(500);
		});
	});

	test('one list uploaded twice at once: each payout is paid once, and afterwards nothing is in doubt', async () => {
		const { page } = await publishWithBook();
		const list = fileOf(csv('twice-0,7,x', 'twice-1,7,x', 'twice-2,7,x'));
		await Promise.all([page.post(list), page.post(list)]);
		await allFinished(n8n, page.workflowId, 2);
		expect(takePayments()).toHaveLength(3);
		const { text } = await page.send(undefined);
		expect(text).toBe('Nothing is in doubt.');
	});

	test('ten lists at once lose no row', async () => {
		const { book, page } = await publishWithBook();
		const ids: string[] = [];
		const uploads: Array<Promise<{ html: string }>> = [];
		for (let number = 0; number < 10; number++) {
			ids.push(`ten-${number}-a`, `ten-${number}-b`);
			uploads.push(page.post(fileOf(csv(`ten-${number}-a,7,x`, `ten-${number}-b,7,x`))));
		}
		for (const { html } of await Promise.all(uploads)) {
			expect(html).toContain('2 of 2 lines accepted now');
		}
		const rows = await book.rows();
		expect(rows.map(({ external_id }) => external_id).sort()).toStrictEqual(ids);
	});

	test('a run that stops sounds the alarm, with where and why', async () => {
		const { page } = await publishWithBook((workflow) => {
			Object.assign(nodeOf(workflow, 'Pay'), { onError: 'stopWorkflow' });
		});
		await page.post(fileOf(csv('a,4.22,x')));
		const alarm = await until('the alarm', async () => {
			for (const execution of await allFinished(n8n, page.workflowId, 2)) {
				const [item] = itemsOf(execution, 'Sound the alarm');
				if (item !== undefined) return item;
			}
			return undefined;
		});
		expect(alarm.text).toContain('Payouts from a file stopped at Pay: ');
		expect(alarm.text).toContain('/executions/');
	});
});
