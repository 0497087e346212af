import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { prepareZXingModule, readBarcodes } from 'zxing-wasm/reader';
import { example } from '../../../dev/demo';
import { itemsOf, until, type N8n } from '../../../dev/n8n';
import type { Sandbox } from '../../../sandbox/service';
import { ended, waits } from '../chargeAndWait';
import { launch } from '../editorPage';
import { newIds, nodeOf, VERSIONS, withN8n, type Credential } from '../nodes';
import { PERSON } from '../person';
import { columnsOf, makeTable } from './table';

/** The words of the sandbox, and of the practice service. */
const DESCRIBED = {
	describeService: true,
	statusField: 'status',
	paidValues: 'paid',
	failedValues: 'failed',
	amountField: 'amount',
};

/* Getting paid and paying, as the examples do it for whoever pastes them. */
describe.each(VERSIONS)('n8n %s', (version) => {
	let n8n: N8n;
	let sandbox: Sandbox;
	let payApi: Credential;
	let described: { payApi: Credential };
	withN8n(
		version,
		(running) => ({ n8n, sandbox, payApi } = running),
		{ settlePaymentsAfter: 100 },
		version === 'n8n1' ? { DB_SQLITE_POOL_SIZE: '2' } : {},
	);
	beforeAll(async () => {
		const data = { baseUrl: sandbox.url, accessToken: 'token', ...DESCRIBED };
		described = { payApi: await n8n.createCredential(data) };
	});
	beforeEach(() => {
		sandbox.received.length = 0;
		sandbox.faultFor = undefined;
	});
	const newestCharge = () => sandbox.transactions.at(-1)!;

	/** Posts a status for the newest charge, with another amount if one is given. */
	async function report(status: string, amount = newestCharge().amount) {
		const { postbackUrl = '', external_id } = newestCharge();
		const body = JSON.stringify({ status, amount, external_id });
		const headers = { 'Content-Type': 'application/json' };
		return (await fetch(postbackUrl, { method: 'POST', headers, body })).status;
	}

	describe('get-paid', () => {
		test.each([
			{ what: 'a paid charge', status: 'paid', amount: undefined, end: 'Deliver the order' },
			{ what: 'another amount', status: 'paid', amount: 1, end: 'Look at it' },
			{ what: 'a failed charge', status: 'failed', amount: undefined, end: 'Look at it' },
		])('$what ends at $end', async ({ status, amount, end }) => {
			const id = await n8n.importWorkflow(example('get-paid'), described);
			const executionId = await n8n.run(id, 'Start');
			await waits(n8n, executionId);
			expect(await report('pending')).toBe(200);
			expect(await report(status, amount)).toBe(200);
			const { data } = await ended(n8n, executionId, end);
			const ends = ['Deliver the order', 'Look at it'].filter(
				(name) => name in data.resultData.runData,
			);
			expect(ends).toStrictEqual([end]);
		});
	});

	describe('pay-a-list', () => {
		test('pays the rows without an outcome, writes none over, and leaves what was not sent for the next run', async () => {
			const table = await makeTable(n8n, columnsOf('pay-a-list', ['amount']));
			const [good, bad, lost, done, nobody] = newIds(5);
			const row = (external_id: unknown, more: object = {}) => ({
				external_id,
				key: 'ana@example.com',
				amount: 10.5,
				outcome: null,
				...more,
			});
			await table.add([row(good), row(bad), row(lost)]);
			await table.add([row(done, { outcome: 'accepted' }), row(nobody, { key: '' })]);
			sandbox.faultFor = ({ body }) => {
				if (body.includes(bad!)) return { kind: 'status', status: 422 };
				return body.includes(lost!) ? { kind: 'status', status: 503 } : undefined;
			};
			const workflow = table.chooseIn(example('pay-a-list'));
			const id = await n8n.importWorkflow(workflow, { payApi });
			const first = await n8n.finished(await n8n.run(id, 'Start'));
			expect(sandbox.bodies('payment').map(({ external_id }) => external_id)).toStrictEqual([
				good,
				bad,
				lost,
			]);
			const outcomes = async () => (await table.rows()).map(({ outcome }) => outcome ?? '');
			expect(await outcomes()).toStrictEqual(['accepted', 'rejected', 'unknown', 'accepted', '']);
			const told = itemsOf(first, 'Tell a person');
			expect(told.map(({ external_id }) => external_id)).toStrictEqual([bad, lost, nobody]);
			for (const { why } of told) expect(why).toMatch(/\w+\. \w+/);
			const second = await n8n.finished(await n8n.run(id, 'Start'));
			expect(itemsOf(second, 'Rows to pay').map(({ external_id }) => external_id)).toStrictEqual([
				nobody,
			]);
			expect(sandbox.bodies('payment')).toHaveLength(3);
		});

		test('more than the 50 rows that n8n reads by itself', async () => {
			const table = await makeTable(n8n, columnsOf('pay-a-list', ['amount']));
			const ids = newIds(60);
			await table.add(ids.map((external_id) => ({ external_id, key: 'a@x', amount: 1 })));
			const id = await n8n.importWorkflow(table.chooseIn(example('pay-a-list')), { payApi });
			await n8n.finished(await n8n.run(id, 'Start'));
			expect(sandbox.bodies('payment').map(({ external_id }) => external_id)).toStrictEqual(ids);
		});
	});

	describe('checkout', () => {
		let page: string;
		let table: Awaited<ReturnType<typeof makeTable>>;
		let workflowId: string;
		beforeAll(async () => {
			const wasm = readFileSync(require.resolve('zxing-wasm/reader/zxing_reader.wasm'));
			await prepareZXingModule({ overrides: { wasmBinary: wasm.buffer as ArrayBuffer } });
			table = await makeTable(n8n, columnsOf('checkout', ['total']));
			const workflow = table.chooseIn(example('checkout'));
			const path = randomUUID();
			Object.assign(nodeOf(workflow, 'Customer opens the page').parameters as object, { path });
			workflowId = await n8n.importWorkflow(workflow, described);
			await n8n.activate(workflowId);
			page = `${n8n.url}/webhook/${path}`;
		});
		const look = async (order: string) => await (await fetch(`${page}?order=${order}`)).text();
		const charges = () => sandbox.bodies('qrcode').length;
		async function newOrder(total = 49.9): Promise<string> {
			const number = randomUUID();
			await table.add([{ number, total, state: null }]);
			return number;
		}
		const codeIn = (html: string) => /<textarea[^>]*>(.*?)<\/textarea>/s.exec(html)?.[1];
		const becomes = async (order: string, text: string) =>
			await until(text, async () => (await look(order)).includes(text));

		test('a reload shows the same code, and then that it is paid', async () => {
			const order = await newOrder();
			const html = await look(order);
			expect(codeIn(html)).toBe(newestCharge().qrCode);
			const [, image = ''] = /src="data:image\/png;base64,([^"]+)"/.exec(html) ?? [];
			const [found] = await readBarcodes(new Uint8Array(Buffer.from(image, 'base64')));
			expect(found!.text).toBe(newestCharge().qrCode);
			expect(codeIn(await look(order))).toBe(newestCharge().qrCode);
			expect(charges()).toBe(1);
			expect(newestCharge()).toMatchObject({ external_id: order, amount: 49.9 });
			await until('the wait', async () => (await report('paid')) === 200);
			await becomes(order, 'Paid. Thank you.');
			expect(charges()).toBe(1);
		});

		test.each([
			{ what: 'another amount', status: 'paid', amount: 1 },
			{ what: 'a failure', status: 'failed', amount: undefined },
		])('$what is not "paid", and a person looks', async ({ status, amount }) => {
			const order = await newOrder();
			await look(order);
			await until('the wait', async () => (await report(status, amount)) === 200);
			await becomes(order, 'can no longer be paid');
		});

		test('ten openings in the same moment are one charge', async () => {
			const order = await newOrder();
			const pages = await Promise.all(Array.from({ length: 10 }, async () => await look(order)));
			expect(charges()).toBe(1);
			expect(
				pages.filter((html) => html.includes('No code') || html.includes('no such')),
			).toStrictEqual([]);
		});

		test('where no code could be made, the next opening tries again; an unknown order makes none', async () => {
			const order = await newOrder();
			sandbox.faultFor = () => ({ kind: 'status', status: 500 });
			expect(await look(order)).toContain('No code could be made');
			sandbox.faultFor = undefined;
			expect(codeIn(await look(order))).toBe(newestCharge().qrCode);
			sandbox.received.length = 0;
			expect(await look('<b>nobody</b>')).toContain('There is no such order');
			expect(charges()).toBe(0);
		});
	});

	describe('payouts', () => {
		let browser: Browser;
		let url: string;
		let upload: Visitor['upload'];
		let say: Visitor['say'];
		const folder = mkdtempSync(join(tmpdir(), 'payouts-'));
		beforeAll(async () => {
			url = await publishPayouts();
			browser = await launch();
			({ upload, say } = await visit());
		});
		afterAll(async () => await browser?.close());
		const arrived = () =>
			sandbox.bodies('payment').map(({ external_id, amount }) => [external_id, amount]);

		/** Publishes the form, as a person does after the import. */
		async function publishPayouts(): Promise<string> {
			const workflow = example('payouts');
			const form = nodeOf(workflow, 'Payouts');
			form.credentials = {
				httpBasicAuth: await n8n.createCredential(PERSON, 'httpBasicAuth', 'Person'),
			};
			form.webhookId = randomUUID();
			const id = await n8n.importWorkflow(workflow, { payApi });
			await n8n.activate(id);
			return `${n8n.url}/form/${form.webhookId as string}`;
		}

		type Visitor = Awaited<ReturnType<typeof visit>>;
		/** A person with a browser window of their own. */
		async function visit() {
			const httpCredentials = { username: PERSON.user, password: PERSON.password };
			const page = await (await browser.newContext({ httpCredentials })).newPage();
			page.setDefaultTimeout(60_000);
			return {
				/** Uploads a list; gives what the next page says. */
				async upload(text: string, amounts = '10.50', separator = 'comma'): Promise<string> {
					const file = join(folder, `${randomUUID()}.csv`);
					writeFileSync(file, text);
					await page.goto(url);
					await page.locator('input[type=file]').setInputFiles(file);
					await page.getByLabel('Amounts are written as').selectOption(amounts);
					await page.getByLabel('Columns are separated by').selectOption(separator);
					await page.getByRole('button', { name: 'Check it' }).click();
					await page
						.getByText(/Nothing was sent|in all/)
						.first()
						.waitFor();
					return await page.locator('body').innerText();
				},
				/** Says yes; gives the last page and its file. */
				async say(answer: string) {
					await page.getByLabel('Pay them?').selectOption(answer);
					const download = page.waitForEvent('download');
					await page.getByRole('button', { name: 'Continue' }).click();
					const file = join(folder, `${randomUUID()}.csv`);
					await (await download).saveAs(file);
					return {
						text: await page.locator('body').innerText(),
						csv: readFileSync(file, 'utf8'),
					};
				},
			};
		}
		const listOf = (lines: object[]) =>
			['external_id,key,amount', ...lines.map((line) => Object.values(line).join(','))].join('\n');
		/** What a file says of each line: its identifier, key, amount and what became of it. */
		const becameOf = (csv: string) =>
			csv
				.split(/\r?\n/)
				.filter((line) => /^[0-9a-f-]{36},/.test(line))
				.map((line) => line.split(',').slice(0, 4));

		test('a password is asked for', async () => {
			expect((await fetch(url)).status).toBe(401);
		});

		test('a list is paid after "yes", once, and page and file say what became of each line', async () => {
			const [one, two, three] = newIds(3);
			const list = `external_id;key;amount\n${one};ana@x;10,50\n${two};ben@x;7\n${three};cho@x;0,10\n`;
			sandbox.faultFor = ({ body }) =>
				body.includes(two!) ? { kind: 'status', status: 503 } : undefined;
			expect(await upload(list, '10,50', 'semicolon')).toContain('3 payments, 17.60 in all');
			expect(arrived()).toStrictEqual([]);
			const first = await say('Yes, pay');
			expect(arrived()).toStrictEqual([
				[one, 10.5],
				[two, 7],
				[three, 0.1],
			]);
			expect(first.text).toContain('2 of 3 sent');
			expect(first.text).toContain(`${two}, 7 to ben@x: perhaps sent: ask your service`);
			expect(first.csv).toContain(`${one},ana@x,10.50,sent,`);
			expect(first.csv).not.toContain('paid,');
			await upload(list, '10,50', 'semicolon');
			const again = await say('Yes, pay');
			expect(again.text).toContain('0 of 3 sent');
			expect(arrived()).toHaveLength(3);
		});

		test.each([
			{
				what: 'a line with a cell too many',
				list: 'external_id,key,amount\na,k,1,5\n',
				says: 'could not be read',
			},
			{ what: 'nothing in it', list: '', says: 'could not be read' },
		])('a list with $what is stopped whole', async ({ list, says }) => {
			const text = await upload(list);
			expect(text).toContain('Nothing was sent');
			expect(text).toContain(says);
			expect(arrived()).toStrictEqual([]);
		});

		describe('two people at once', () => {
			let other: Visitor;
			beforeAll(async () => {
				other = await visit();
			});
			// Long enough that neither list has ended when the other begins.
			const slowly = () => ({ kind: 'delay', ms: 400 }) as const;
			const line = (key: string, amount: string) => (external_id: string) => ({
				external_id,
				key,
				amount,
			});

			test('each is asked about their own list, gets that paid, and reads of nobody else', async () => {
				const hers = newIds(6).map(line('ana@x', '1.50'));
				const his = newIds(5).map(line('ben@x', '20'));
				const asked = await Promise.all([upload(listOf(hers)), other.upload(listOf(his))]);
				expect(asked[0]).toContain('6 payments, 9.00 in all');
				expect(asked[0]).toContain(`First: 1.50 to ana@x (${hers[0]!.external_id})`);
				expect(asked[1]).toContain('5 payments, 100.00 in all');
				expect(asked[1]).toContain(`First: 20 to ben@x (${his[0]!.external_id})`);
				expect(arrived()).toStrictEqual([]);
				sandbox.faultFor = slowly;
				const [mine, theirs] = await Promise.all([say('Yes, pay'), other.say('Yes, pay')]);
				const keys = sandbox.bodies('payment').map((body) => JSON.stringify(body.creditParty));
				// They were beside each other.
				expect(keys.findIndex((key) => key !== keys[0])).toBeLessThan(keys.lastIndexOf(keys[0]!));
				const paid = (lines: typeof hers) =>
					lines.map(({ external_id, amount }) => [external_id, Number(amount)]);
				expect(arrived().sort()).toStrictEqual([...paid(hers), ...paid(his)].sort());
				expect(mine.text).toContain('6 of 6 sent');
				expect(theirs.text).toContain('5 of 5 sent');
				const sent = (lines: typeof hers) => lines.map((each) => [...Object.values(each), 'sent']);
				expect(becameOf(mine.csv)).toStrictEqual(sent(hers));
				expect(becameOf(theirs.csv)).toStrictEqual(sent(his));
			});

			test('the same file: each line is paid once, is "sent" for one of them, and for the other to be asked about', async () => {
				const lines = newIds(6).map(line('cho@x', '3'));
				await Promise.all([upload(listOf(lines)), other.upload(listOf(lines))]);
				sandbox.faultFor = slowly;
				const ends = await Promise.all([say('Yes, pay'), other.say('Yes, pay')]);
				expect(
					arrived()
						.map(([id]) => id)
						.sort(),
				).toStrictEqual(lines.map(({ external_id }) => external_id).sort());
				const [mine, theirs] = ends.map(({ csv }) => becameOf(csv).map((row) => row[3] ?? ''));
				const both = lines.map((_, index) => [mine![index], theirs![index]].sort());
				expect(both).toStrictEqual(
					lines.map(() => ['perhaps sent before: ask your service', 'sent']),
				);
				for (const { text, csv } of ends) {
					const sent = becameOf(csv).filter((row) => row[3] === 'sent').length;
					expect(text).toContain(`${sent} of 6 sent`);
				}
			});
		});
	});
});
