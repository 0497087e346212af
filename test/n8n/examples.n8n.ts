import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import AxeBuilder from '@axe-core/playwright';
import express from 'express';
import { prepareZXingModule, readBarcodes } from 'zxing-wasm/reader';
import { example, runDemo, setUpDemo } from '../../dev/demo';
import { exampleNames } from '../../dev/examples';
import { itemsOf, until, webhookPath, type N8n, type Workflow } from '../../dev/n8n';
import { nodeOf } from './payoutRegister';
import { signUrl, type Reference } from '../../nodes/Pay/postback/proof';
import type { Sandbox } from '../../sandbox/service';
import { makeTable } from './book';
import { ended, firstExecution, waits } from './chargeAndWait';
import { launch } from './editorPage';
import { reachesLastNodes } from './lastNodes';
import { startModel } from './model';
import { allFinished, SECRET, VERSIONS, withN8n } from './nodes';
import { chatModel, toAgent } from './otherNodes';

/** The tests that run an example to each of its last nodes, as a person does who reads its notes. */
const RUN_BY: Record<string, string> = {
	agent: 'examples.n8n.ts',
	approval: 'examples.n8n.ts',
	'ask-the-service': 'askTheService.n8n.ts',
	checkout: 'examples.n8n.ts',
	'pay-once': 'payOnce.n8n.ts',
	'payout-register': 'payoutRegister.n8n.ts',
	payouts: 'payouts.n8n.ts',
	'postbacks-without-repeats': 'examples.n8n.ts',
	'practice-service': 'practice.n8n.ts',
	reconcile: 'reconcile.n8n.ts',
	'short-lived-token': 'examples.n8n.ts',
};

test('each example is run by tests, and no other', () => {
	expect(Object.keys(RUN_BY)).toStrictEqual(exampleNames());
	const isNotRun = ([name, file]: [string, string]) => {
		const source = readFileSync(join(__dirname, file), 'utf8');
		return !source.includes(`'${name}'`) || !source.includes('reachesLastNodes(');
	};
	expect(Object.entries(RUN_BY).filter(isNotRun)).toStrictEqual([]);
});

test.each(exampleNames())('%s is complete: a note, no credentials, no pinned data', (name) => {
	const { nodes, ...rest } = example(name);
	expect(nodes.some(({ type }) => type === 'n8n-nodes-base.stickyNote')).toBe(true);
	expect(JSON.stringify([nodes, rest])).not.toMatch(/"credentials"|pinData/);
});

test.each(exampleNames())(
	'%s: no schedule is active as it is pasted, and its first note says that n8n filled in an account',
	(name) => {
		const { nodes } = example(name);
		const schedules = nodes.filter(({ type }) => type === 'n8n-nodes-base.scheduleTrigger');
		expect(schedules.filter(({ disabled }) => disabled !== true)).toStrictEqual([]);
		if (!nodes.some(({ type }) => type.startsWith('n8n-nodes-pay.'))) return;
		const { content } = nodeOf({ nodes } as Workflow, 'Note').parameters as { content: string };
		expect(content.split('\n')[1]).toContain(
			'n8n filled in one of your accounts, perhaps for real money',
		);
	},
);

test.each(exampleNames())(
	'%s: its first note is a title and three short lines, and each other one stands beside a node',
	(name) => {
		const { nodes } = example(name);
		const notes = nodes.filter(({ type }) => type === 'n8n-nodes-base.stickyNote');
		expect(notes[0]?.name).toBe('Note');
		const [title, ...lines] = (notes[0]!.parameters as { content: string }).content.split('\n');
		expect(title).toMatch(/^## \S/);
		expect(lines).toHaveLength(3);
		// As they are read: a link is its text.
		const shown = lines.map((line) => line.replace(/\]\([^)]*\)/g, ']').replace(/[*`[\]]/g, ''));
		expect(shown.filter((line) => line.length > 120)).toStrictEqual([]);
		const others = nodes.filter((node) => !notes.includes(node)).map(roomOf);
		const lonely = notes.filter((note) => {
			const { left, top, right, bottom } = roomOf(note);
			return !others.some(
				(node) =>
					node.left < right + 300 &&
					left < node.right + 300 &&
					node.top < bottom + 300 &&
					top < node.bottom + 300,
			);
		});
		expect(lonely.map((note) => note.name)).toStrictEqual([]);
	},
);

/** Room that a node takes on the canvas, its name below it included; a note says its own. */
function roomOf({ position, type, parameters }: Workflow['nodes'][number]) {
	const [left, top] = position as [number, number];
	const { width = 120, height = 140 } = parameters as { width?: number; height?: number };
	const isNote = type === 'n8n-nodes-base.stickyNote';
	return { left, top, right: left + (isNote ? width : 120), bottom: top + (isNote ? height : 140) };
}

test.each(exampleNames())('%s: no node or note covers another on the canvas', (name) => {
	const rooms = example(name).nodes.map((node) => ({ name: node.name, ...roomOf(node) }));
	const covered = rooms.flatMap((one, index) =>
		rooms
			.slice(index + 1)
			.filter(
				(other) =>
					one.left < other.right &&
					other.left < one.right &&
					one.top < other.bottom &&
					other.top < one.bottom,
			)
			.map((other) => `${one.name} and ${other.name}`),
	);
	expect(covered).toStrictEqual([]);
});

test('pay-once and payout-register set the same register up', () => {
	const setUpIn = (name: string) =>
		(nodeOf(example(name), 'Set up').parameters as { query: string }).query;
	expect(setUpIn('pay-once')).toBe(setUpIn('payout-register'));
});

describe.each(VERSIONS)('n8n %s', (version) => {
	let n8n: N8n;
	let sandbox: Sandbox;
	let credentials: Record<string, { id: string; name: string }>;
	withN8n(
		version,
		({ payApi, ...running }) => {
			({ n8n, sandbox } = running);
			credentials = { payApi };
		},
		{ settlePaymentsAfter: 100 },
		// As the notes say where an example keeps a data table.
		version === 'n8n1' ? { DB_SQLITE_POOL_SIZE: '2' } : {},
	);
	beforeEach(() => {
		sandbox.received.length = 0;
		sandbox.faultFor = undefined;
	});

	test('the demo: a QR code, a payment and both postbacks', async () => {
		const report = await runDemo(n8n, sandbox, await setUpDemo(n8n, sandbox));
		expect(report.filter((line) => /accepted \(HTTP 201\)/.test(line))).toHaveLength(2);
		expect(report.filter((line) => line.startsWith('postback: '))).toHaveLength(2);
	});

	const errorOf = async (executionId: string) =>
		await until(
			`the error of execution ${executionId}`,
			async () => (await n8n.execution(executionId)).data.resultData.error,
		);

	describe('approval', () => {
		const APPROVER = { user: 'approver', password: 'a password' };
		const allowed = {
			Authorization: `Basic ${Buffer.from(Object.values(APPROVER).join(':')).toString('base64')}`,
		};
		let page: string;
		let executionId: string;

		/** Runs the workflow, as it is after the import, until it waits; with its id again, once more. */
		async function start(more: object = {}, imported?: string): Promise<string> {
			const workflow = example('approval');
			const wait = nodeOf(workflow, 'Wait for the decision');
			// What a person does after the import, as the note says.
			wait.credentials = {
				httpBasicAuth: await n8n.createCredential(APPROVER, 'httpBasicAuth', 'Approver'),
			};
			Object.assign(wait.parameters as object, more);
			const id = imported ?? (await n8n.importWorkflow(workflow, credentials));
			executionId = await n8n.run(id, 'Start');
			await waits(n8n, executionId);
			const [payout] = itemsOf(await n8n.execution(executionId), 'Payout');
			page = payout?.page as string;
			return id;
		}
		/** Submits the page's form as a browser does. */
		async function decide(decision: string, headers: Record<string, string> = allowed) {
			const body = new FormData();
			body.append('field-0', decision);
			return await fetch(page, { method: 'POST', headers, body });
		}
		const paid = () => sandbox.bodies('payment');

		test('the page shows amount, recipient, Approve and Decline; opening it pays nothing, Approve pays exactly that, once', async () => {
			const id = await start();
			const shown = await (await fetch(page, { headers: allowed })).text();
			expect(shown).toContain('Pay 250.00 to partner@example.com?');
			expect(shown).toContain('invoice-2061');
			const offered = [...shown.matchAll(/<option value='(\w+)'/g)].map(([, value]) => value);
			expect(offered).toStrictEqual(['Approve', 'Decline']);
			// What link previews and virus scanners do.
			for (const method of ['GET', 'HEAD', 'GET']) {
				await fetch(page, {
					method,
					headers: { ...allowed, 'User-Agent': 'Slackbot-LinkExpanding' },
				});
				await fetch(page.replace('/form-waiting/', '/webhook-waiting/'), { method });
			}
			expect((await n8n.execution(executionId)).status).toBe('waiting');
			expect(paid()).toStrictEqual([]);

			// A double click.
			const [first, second] = await Promise.all([decide('Approve'), decide('Approve')]);
			expect([first.status, second.status]).toContain(200);
			// n8n 1 may resume twice; then the second payment is refused, and may be what is stored.
			const { data } = await until('the end', async () => {
				const execution = await n8n.execution(executionId);
				return ['success', 'error'].includes(execution.status) && execution;
			});
			expect(data.resultData.runData).not.toHaveProperty('Not paid');
			await until('the payment', async () => paid().length > 0);
			await decide('Approve');
			const expected = {
				amount: 250,
				external_id: 'invoice-2061',
				creditParty: { key: 'partner@example.com' },
			};
			expect(paid()).toStrictEqual([expect.objectContaining(expected)]);

			await start({}, id);
			await decide('Approve');
			const refusal = await errorOf(executionId);
			expect(refusal.message).toMatch(/was not sent again/);
			expect(paid()).toHaveLength(1);
		});

		test('without the approver’s password nobody sees the page or decides', async () => {
			await start();
			const wrong = { Authorization: `Basic ${Buffer.from('approver:guess').toString('base64')}` };
			for (const headers of [{}, wrong] as Array<Record<string, string>>) {
				expect((await fetch(page, { headers })).status).toBe(401);
				expect((await decide('Approve', headers)).status).toBe(401);
			}
			expect((await n8n.execution(executionId)).status).toBe('waiting');
			expect(paid()).toStrictEqual([]);
		});

		test.each([
			['Decline is chosen', async () => await decide('Decline'), 'Decline'],
			['nothing is chosen', async () => await decide(''), ''],
		])('nothing is paid when %s', async (_when, answer, decision) => {
			await start();
			await answer();
			const execution = await ended(n8n, executionId, 'Not paid');
			expect(itemsOf(execution, 'Not paid')).toStrictEqual([
				{ payoutId: 'invoice-2061', decision },
			]);
			expect(paid()).toStrictEqual([]);
		});

		test('what comes with the password but is no form pays nothing', async () => {
			await start();
			const answer = await fetch(page, {
				method: 'POST',
				headers: { ...allowed, 'Content-Type': 'application/json' },
				body: '{"Decision":"Approve","data":{"field-0":"Approve"}}',
			});
			expect(answer.status).toBeGreaterThanOrEqual(400);
			if (version === 'n8n2') {
				// It still waits for the form.
				await decide('Decline');
				await ended(n8n, executionId, 'Not paid');
			} else {
				// n8n 1 resumes the execution with an empty item, and without what ran before.
				await errorOf(executionId);
				const { data } = await n8n.execution(executionId);
				expect(data.resultData.runData).not.toHaveProperty('Pay');
			}
			expect(paid()).toStrictEqual([]);
		});

		test('nothing is paid when nobody decides in time', async () => {
			await start({ resumeAmount: 1, resumeUnit: 'seconds' });
			const execution = await ended(n8n, executionId, 'Not paid', 120);
			expect(itemsOf(execution, 'Not paid')).toMatchObject([{ decision: 'none' }]);
			expect(paid()).toStrictEqual([]);
		});
	});

	describe('checkout', () => {
		beforeAll(async () => {
			const wasm = readFileSync(require.resolve('zxing-wasm/reader/zxing_reader.wasm'));
			await prepareZXingModule({ overrides: { wasmBinary: wasm.buffer as ArrayBuffer } });
		});
		const ENDS = [
			'Fulfil the order',
			'Offer another try',
			'Cancel the order',
			'Look at the postback',
		];
		const told = () => sandbox.transactions.at(-1)!;
		const parametersOf = (nodes: Workflow['nodes'], wanted: string) =>
			nodes.find(({ name }) => name === wanted)!.parameters as Record<string, unknown>;

		/** Publishes it at a path of its own, changed as told, with an account. */
		async function publish(
			change: (nodes: Workflow['nodes']) => void = () => {},
			account = credentials,
		) {
			const workflow = example('checkout');
			const path = randomUUID();
			// What a person does before it is published, as the notes say.
			for (const [name, at] of [
				['Customer opens the page', path],
				['Page asks', `${path}/state`],
			] as const) {
				const opened = nodeOf(workflow, name);
				Object.assign(opened.parameters as object, { path: at });
				delete opened.disabled;
			}
			// n8n 2 makes its book; on n8n 1 a person does, from the example's file.
			const [head = ''] = readFileSync(
				join(__dirname, '..', '..', 'examples', 'book-of-orders.csv'),
				'utf8',
			).split('\n');
			const columns = head.split(',').map((name) => ({ name, type: 'string' }));
			if (version === 'n8n1') (await makeTable(n8n, columns)).chooseIn(workflow, 'Open the book');
			change(workflow.nodes);
			const id = await n8n.importWorkflow(workflow, account);
			await n8n.activate(id);
			return { id, page: `${n8n.url}/webhook/${path}` };
		}
		/** What a page was given to show; what it shows as text is made from it. */
		async function look(page: string, order: string) {
			const response = await fetch(`${page}?order=${order}`);
			const html = await response.text();
			const [, facts = 'null'] = /type="application\/json">(.*?)<\/script>/s.exec(html) ?? [];
			return { response, html, facts: JSON.parse(facts) as Record<string, string> };
		}
		async function stateOf(page: string, order: string) {
			const answer = await fetch(`${page}/state?id=order-${order}`, {
				headers: { Origin: 'null' },
			});
			// n8n's pages have no origin: a browser lets them read only what says so.
			expect(answer.headers.get('access-control-allow-origin')).toBe('null');
			return (await answer.json()) as unknown;
		}
		/** A customer opens the page of an order; gives it with the execution that waits for the money. */
		async function open(change?: (nodes: Workflow['nodes']) => void, account = credentials) {
			const { id, page } = await publish(change, account);
			const order = randomUUID().slice(0, 8);
			const { response, facts } = await look(page, order);
			expect([response.status, response.headers.get('content-type')]).toStrictEqual([
				200,
				'text/html; charset=utf-8',
			]);
			const executionId = await firstExecution(n8n, id);
			await waits(n8n, executionId);
			return { id, executionId, page, order, facts };
		}
		async function endsIn(executionId: string, node: string, seconds?: number) {
			const { runData } = (await ended(n8n, executionId, node, seconds)).data.resultData;
			expect(ENDS.filter((end) => end in runData)).toStrictEqual([node]);
		}

		test('the customer’s page shows order, amount and QR code, and a paid charge fulfils the order', async () => {
			const { executionId, page, order, facts } = await open();
			const { qrCode, postbackUrl = '' } = told();
			const [found] = await readBarcodes(new Uint8Array(Buffer.from(facts.image!, 'base64')), {
				formats: ['QRCode'],
			});
			expect(found?.text).toBe(qrCode);
			expect(facts).toMatchObject({ order: `order-${order}`, state: 'open', code: qrCode });
			expect(Number(facts.amount)).toBe(49.9);
			expect(told()).toMatchObject({ external_id: `order-${order}`, amount: 49.9 });
			expect(await stateOf(page, order)).toStrictEqual({ state: 'open' });

			// "waiting" is a status too, and none that ends the wait.
			await sandbox.settle(told().id, 'waiting');
			const forged = await fetch(postbackUrl.replace(/pay_proof=[^&]*/, ''), {
				method: 'POST',
				headers: { 'Content-Type': 'application/json' },
				body: '{"status":"paid"}',
			});
			expect(forged.status).toBe(401);
			expect((await n8n.execution(executionId)).status).toBe('waiting');
			expect(await stateOf(page, order)).toStrictEqual({ state: 'open' });
			await sandbox.settle(told().id, 'paid');
			await endsIn(executionId, 'Fulfil the order');
			expect(await stateOf(page, order)).toStrictEqual({ state: 'paid' });
		});

		test('a reload is not a second charge: it shows the same code, then "paid", and no secret', async () => {
			const { executionId, page, order, facts } = await open();
			const reloaded = await look(page, order);
			expect(reloaded.facts).toStrictEqual(facts);
			expect(reloaded.html).not.toMatch(/pay_proof|webhook-waiting|signature/);
			await sandbox.settle(told().id, 'paid');
			await endsIn(executionId, 'Fulfil the order');
			for (const time of [1, 2]) {
				const after = await look(page, order);
				expect([time, after.facts]).toStrictEqual([
					time,
					{ order: `order-${order}`, amount: '49.9', state: 'paid' },
				]);
			}
			expect(sandbox.bodies('qrcode')).toHaveLength(1);

			// Another order is another charge, and knows nothing of this one.
			expect(await stateOf(page, `${order}2`)).toStrictEqual({ state: 'moment' });
			const other = await look(page, `${order}2`);
			expect(other.facts).toMatchObject({ state: 'open', code: told().qrCode });
			expect(other.facts.code).not.toBe(facts.code);
			expect(await stateOf(page, `${order}2`)).toStrictEqual({ state: 'open' });
			expect(await stateOf(page, order)).toStrictEqual({ state: 'paid' });
		});

		test('on a phone the page shows the code, copies it, becomes "paid" by itself, and can be read by all', async () => {
			const { page, order } = await open();
			const browser = await launch();
			const context = await browser.newContext({ viewport: { width: 360, height: 740 } });
			const phone = await context.newPage();
			await phone.goto(`${page}?order=${order}`);
			const picture = async (name: string) => {
				const folder = join(__dirname, '..', '..', '.cache', 'screenshots', version);
				await phone.screenshot({ path: join(folder, `order-${name}.png`), fullPage: true });
				const { violations } = await new AxeBuilder({ page: phone }).analyze();
				expect(violations).toStrictEqual([]);
			};
			expect(await phone.locator('h1').innerText()).toBe(`Order ${order}`);
			expect(await phone.locator('#amount').innerText()).toBe('49.90');
			const image = phone.locator('#image');
			expect(await image.getAttribute('src')).toMatch(/^data:image\/png/);
			expect(await phone.evaluate('document.documentElement.scrollWidth')).toBe(360);
			await phone.getByRole('button', { name: 'Copy the code' }).click();
			await phone.getByRole('button', { name: 'Copied' }).waitFor();
			await picture('open');
			// What was copied is what a person pastes.
			await phone.locator('#code').evaluate((field) => field.removeAttribute('readonly'));
			await phone.locator('#code').fill('');
			await phone.keyboard.press('Control+v');
			expect(await phone.locator('#code').inputValue()).toBe(told().qrCode);

			await sandbox.settle(told().id, 'paid');
			await phone.getByText('Paid. Thank you!').waitFor();
			expect(await image.isVisible()).toBe(false);
			await picture('paid');
			await phone.reload();
			await phone.getByText('Paid. Thank you!').waitFor();
			expect(sandbox.bodies('qrcode')).toHaveLength(1);
			await browser.close();
		});

		test('several openings in the same moment are one charge: the others wait a moment and see its code', async () => {
			const { page } = await publish();
			// The book is made by the first run; n8n's note asks for one.
			await look(page, 'first');
			for (let round = 1; round <= 3; round++) {
				const before = sandbox.bodies('qrcode').length;
				const opened = await Promise.all(
					Array.from({ length: 6 }, async () => await look(page, `at-once-${round}`)),
				);
				expect(sandbox.bodies('qrcode').slice(before)).toHaveLength(1);
				const states = opened.map(({ facts }) => facts.state);
				expect(states).toContain('open');
				expect(states.filter((state) => !['open', 'moment'].includes(state!))).toStrictEqual([]);
				const { facts } = await look(page, `at-once-${round}`);
				expect(facts).toMatchObject({ state: 'open', code: told().qrCode });
			}
		});

		test('a total that changed is not paid with the code of before', async () => {
			const { page, order } = await open((nodes) => {
				const { assignments } = parametersOf(nodes, 'Order').assignments as {
					assignments: Array<{ name: string; value: unknown }>;
				};
				assignments.find(({ name }) => name === 'total')!.value =
					'={{ $json.query.total ? 10 : 49.9 }}';
			});
			const { facts } = await look(page, `${order}&total=changed`);
			expect(facts).toStrictEqual({ order: `order-${order}`, amount: 10, state: 'changed' });
			expect((await look(page, order)).facts.state).toBe('open');
			expect(sandbox.bodies('qrcode')).toHaveLength(1);
		});

		test('without one order there is no charge', async () => {
			const { page } = await publish((nodes) => {
				Object.assign(parametersOf(nodes, 'Order'), {
					mode: 'raw',
					jsonOutput:
						"={{ $json.query.order === 'none' ? {} : { orderId: 'order-' + $json.query.order, total: 1 } }}",
				});
			});
			for (const order of ['none', '', '1&order=2']) {
				const { response, facts } = await look(page, order);
				expect([order, response.status, facts.state]).toStrictEqual([order, 404, 'unknown']);
			}
			expect((await fetch(page)).status).toBe(404);
			expect(sandbox.bodies('qrcode')).toStrictEqual([]);
		});

		test('without its book a customer gets no code, and who runs it by hand does', async () => {
			const { id, page } = await publish((nodes) => {
				Object.assign(parametersOf(nodes, 'Open the book'), {
					dataTableId: { __rl: true, mode: 'id', value: 'none' },
				});
			});
			expect((await look(page, '1042')).facts).toMatchObject({ state: 'problem' });
			expect(sandbox.bodies('qrcode')).toStrictEqual([]);
			const executionId = await n8n.run(id, 'Start');
			await waits(n8n, executionId);
			await sandbox.settle(told().id, 'paid');
			await endsIn(executionId, 'Fulfil the order');
		});

		test('HTML in an order or a code is text on the page', async () => {
			const { page } = await publish();
			const evil = '</script><img src=x onerror=alert(1)>{{ 1 + 1 }}';
			const { html, facts } = await look(page, encodeURIComponent(evil));
			expect(facts.order).toBe(`order-${evil}`);
			expect(html).not.toContain('<img src=x');
		});

		test('"paid" with another amount does not fulfil the order: a person looks', async () => {
			const { executionId, page, order } = await open();
			const { postbackUrl = '' } = told();
			const answer = await fetch(postbackUrl, {
				method: 'POST',
				headers: { 'Content-Type': 'application/json' },
				body: '{"status":"paid","amount":0.01}',
			});
			expect(answer.status).toBe(200);
			await endsIn(executionId, 'Look at the postback');
			expect(await stateOf(page, order)).toStrictEqual({ state: 'other' });
		});

		describe('where the credential has the words of the service and its Amount Field', () => {
			let described: typeof credentials;
			/** What a person does once the credential has the words. */
			const asTheNoteSays = (nodes: Workflow['nodes']) => {
				parametersOf(nodes, 'Wait for the postback').resumeWhen = 'paidOrFailed';
			};
			beforeAll(async () => {
				const payApi = await n8n.createCredential({
					baseUrl: sandbox.url,
					accessToken: 'token',
					describeService: true,
					statusField: 'data.state',
					paidValues: 'settled',
					failedValues: 'refused',
					amountField: 'data.value',
				});
				described = { payApi };
			});
			test.each([
				['paid', { state: 'settled', value: 49.9 }, 'Fulfil the order', 'paid'],
				['another amount', { state: 'settled', value: 4.99 }, 'Look at the postback', 'other'],
				['no amount', { state: 'settled' }, 'Look at the postback', 'other'],
				['failed', { state: 'refused' }, 'Offer another try', 'failed'],
			])(
				'%s ends the wait at once, and only "paid" fulfils the order',
				async (_what, data, node, state) => {
					const { executionId, page, order } = await open(asTheNoteSays, described);
					const say = async (said: object) => {
						const { status } = await fetch(told().postbackUrl ?? '', {
							method: 'POST',
							headers: { 'Content-Type': 'application/json' },
							body: JSON.stringify({ status: 'paid', data: said }),
						});
						expect(status).toBe(200);
					};
					await say({ state: 'on its way', value: 49.9 });
					expect((await n8n.execution(executionId)).status).toBe('waiting');
					await say(data);
					await endsIn(executionId, node);
					expect(await stateOf(page, order)).toStrictEqual({ state });
				},
			);
		});

		test('a failed charge does not fulfil the order, and goes its own way', async () => {
			const { executionId, page, order } = await open();
			await sandbox.settle(told().id, 'failed');
			await endsIn(executionId, 'Offer another try');
			expect(await stateOf(page, order)).toStrictEqual({ state: 'failed' });
			expect((await look(page, order)).facts.state).toBe('failed');
			expect(sandbox.bodies('qrcode')).toHaveLength(1);
		});

		test('an order that nobody pays in time is not fulfilled, and goes its own way', async () => {
			const { executionId, page, order } = await open((nodes) => {
				const limit = { resumeAmount: 1, resumeUnit: 'seconds' };
				Object.assign(parametersOf(nodes, 'Wait for the postback'), limit);
			});
			await endsIn(executionId, 'Cancel the order', 120);
			expect(await stateOf(page, order)).toStrictEqual({ state: 'time is up' });
			expect((await look(page, order)).facts.code).toBeUndefined();
			expect(sandbox.bodies('qrcode')).toHaveLength(1);
		});

		test('a word that only the wait knows does not fulfil the order: a person looks', async () => {
			const { executionId, page, order } = await open((nodes) => {
				parametersOf(nodes, 'Wait for the postback').matchValues = ['waiting'];
			});
			await sandbox.settle(told().id, 'waiting');
			await endsIn(executionId, 'Look at the postback');
			expect(await stateOf(page, order)).toStrictEqual({ state: 'other' });
		});

		test('an answer without a code ends in words that say what to set, and the next opening tries again', async () => {
			sandbox.faultFor = () => ({ kind: 'status', status: 201, body: '{"ok":true}' });
			const { id, page } = await publish();
			expect((await look(page, '1042')).facts).toMatchObject({ state: 'no code' });
			const [execution] = await allFinished(n8n, id, 1);
			expect(execution?.data.resultData.error?.message).toMatch(
				/^No QR code was found in the service's answer for order-1042\. .*QR Code Path/,
			);
			// So does a charge that was refused or is unknown, in the words of Pay.
			sandbox.faultFor = () => ({ kind: 'status', status: 503, body: '{}' });
			expect((await look(page, '1042')).facts).toMatchObject({ state: 'no code' });
			const [second] = await allFinished(n8n, id, 2);
			expect(second?.data.resultData.error?.message).toMatch(/It is not known whether .*503/s);
			sandbox.faultFor = undefined;
			expect((await look(page, '1042')).facts).toMatchObject({ state: 'open' });
		});
	});

	describe('postbacks-without-repeats', () => {
		const about = (external_id: string, more: Partial<Reference> = {}): Reference => ({
			external_id,
			kind: 'qrCode',
			amount: 49.9,
			...more,
		});

		/** Publishes it with a table of its own that has these columns; counts what it was sent. */
		async function publish(columns: object[]) {
			const table = await makeTable(n8n, columns);
			const workflow = example('postbacks-without-repeats');
			table.chooseIn(workflow, 'Credit the order');
			const id = await n8n.importWorkflow(workflow, credentials);
			await n8n.activate(id);
			const path = (await n8n.workflow(id)).nodes.map(webhookPath).find(Boolean);
			const url = `${n8n.url}${path}`;
			let started = 0;
			const executions = async () => await allFinished(n8n, id, started);
			const deliver = async (reference: Reference, body: object, secret = SECRET) => {
				const answer = await fetch(signUrl(url, reference, secret), {
					method: 'POST',
					headers: { 'Content-Type': 'application/json' },
					body: JSON.stringify(body),
				});
				if (answer.status === 200) started++;
				// Nothing here makes n8n itself fail; where it does, its own words say why.
				if (answer.status >= 500) throw new Error(`${answer.status}\n${n8n.log.slice(-3000)}`);
				return answer.status;
			};
			const rows = async () =>
				(await table.rows()).map(({ external_id, amount }) => ({ external_id, amount }));
			/** The orders whose goods were sent, sorted; more often, if they were sent more often. */
			const sent = async () =>
				(await executions())
					.flatMap((each) => itemsOf(each, 'Send the goods'))
					.map(({ external_id }) => external_id)
					.sort();
			return { path: table.path, executions, deliver, rows, sent };
		}
		const COLUMNS = [
			{ name: 'external_id', type: 'string' },
			{ name: 'amount', type: 'number' },
		];

		test('an order is credited once, with the amount that was asked for, whatever a redelivered body says', async () => {
			const { executions, deliver, rows, sent } = await publish(COLUMNS);
			const one = about('order-1');
			const bodies = [
				{ status: 'waiting' },
				{ status: 'paid', id: 1 },
				{ status: 'PAID', id: 1 },
				{ status: 'paid', id: 2, at: 'later', amount: 9999, external_id: 'order-2' },
				{ status: 'failed' },
			];
			for (const body of bodies) {
				expect(await deliver(one, body)).toBe(200);
				await executions();
			}
			// A payment of one's own under the same name, a charge that failed, and forgers.
			expect(await deliver(about('order-3', { kind: 'payment' }), { status: 'paid' })).toBe(200);
			expect(await deliver(about('order-4'), { status: 'failed' })).toBe(200);
			expect(await deliver(about('order-5'), { status: 'paid' }, 'another secret')).toBe(401);
			expect(await deliver(about('order-6', { amount: 12 }), { status: 'paid' })).toBe(200);
			for (const { status } of await executions()) expect(status).toBe('success');
			expect(await rows()).toStrictEqual([
				{ external_id: 'order-1', amount: 49.9 },
				{ external_id: 'order-6', amount: 12 },
			]);
			expect(await sent()).toStrictEqual(['order-1', 'order-6']);
		});

		test('an order whose row could not be written is credited by the next delivery', async () => {
			const { path, executions, deliver, rows, sent } = await publish(COLUMNS.slice(0, 1));
			expect(await deliver(about('order-8'), { status: 'paid' })).toBe(200);
			const [failed] = await executions();
			expect(failed?.status).toBe('error');
			expect([await rows(), await sent()]).toStrictEqual([[], []]);
			await n8n.rest('POST', `${path}/columns`, COLUMNS[1]);
			expect(await deliver(about('order-8'), { status: 'paid' })).toBe(200);
			await executions();
			expect(await rows()).toStrictEqual([{ external_id: 'order-8', amount: 49.9 }]);
			expect(await sent()).toStrictEqual(['order-8']);
		});

		// n8n 1's default SQLite driver has one connection for all transactions: ten upserts at once
		// broke its database layer until the next start (measured, 1 of 2 runs).
		const onN8n2 = version === 'n8n2' ? test : test.skip;
		onN8n2('ten deliveries at once, each with another body, leave one row', async () => {
			const { executions, deliver, rows, sent } = await publish(COLUMNS);
			// n8n's first record in a workflow is made in another way than those that follow.
			expect(await deliver(about('order-0'), { status: 'paid' })).toBe(200);
			await executions();
			const answers = Array.from({ length: 10 }, async (_none, id) =>
				deliver(about('order-7'), { status: 'paid', id }),
			);
			expect(await Promise.all(answers)).toStrictEqual(Array(10).fill(200));
			for (const { status } of await executions()) expect(status).toBe('success');
			expect(await rows()).toStrictEqual([
				{ external_id: 'order-0', amount: 49.9 },
				{ external_id: 'order-7', amount: 49.9 },
			]);
			const times = (await sent()).filter((id) => id === 'order-7').length;
			console.log(
				`n8n ${version}: of ten deliveries at once, ${times} passed "Only the first time"`,
			);
			expect(times).toBeGreaterThan(0);
		});
	});

	test('short-lived-token: each run gets one token, and all its payments go with it', async () => {
		const came: string[] = [];
		const app = express();
		app.post('/login', (request, response) => {
			came.push(`${request.method} ${request.headers['x-api-key']}`);
			response.json({ token: `token-${came.length}`, validForSeconds: 60 });
		});
		const server = app.listen(0, '127.0.0.1');
		await once(server, 'listening');
		const { port } = server.address() as AddressInfo;
		const workflow = example('short-lived-token');
		const note = nodeOf(workflow, 'Note on the account').parameters;
		// What a person does after the import, as the notes say.
		const login = nodeOf(workflow, 'Get a token');
		const key = { name: 'X-Api-Key', value: 'the key' };
		Object.assign(login.parameters as object, { url: `http://127.0.0.1:${port}/login` });
		login.credentials = {
			httpHeaderAuth: await n8n.createCredential(key, 'httpHeaderAuth', 'Key'),
		};
		const [, expression] = /`({{ .* }})`/.exec((note as { content: string }).content) ?? [];
		const payApi = await n8n.createCredential(
			{ baseUrl: sandbox.url, accessToken: `=${expression}` },
			'payApi',
			'Pay API with a short-lived token',
		);
		const id = await n8n.importWorkflow(workflow, { payApi });
		for (const run of [1, 2]) {
			sandbox.received.length = 0;
			const execution = await n8n.finished(await n8n.run(id, 'Start'));
			expect(execution.data.resultData.error).toBeUndefined();
			expect(itemsOf(execution, 'Pay').map(({ outcome }) => outcome)).toStrictEqual([
				'accepted',
				'accepted',
			]);
			expect(sandbox.received.map(({ headers }) => headers.authorization)).toStrictEqual(
				Array(2).fill(`Bearer token-${run}`),
			);
			expect(came).toStrictEqual(Array(run).fill('POST the key'));
		}
		server.close();
	});

	/** What a person does after the import: connects a model to the agent. */
	async function connect(workflow: Workflow, { url }: { url: string }) {
		workflow.nodes.push(await chatModel(n8n, url));
		workflow.connections.Model = toAgent('ai_languageModel');
	}

	const allowPayments = (workflow: Workflow) =>
		Object.assign(nodeOf(workflow, 'Make payment').parameters as object, {
			options: { allowAiPayments: true },
		});

	const GATE = 'Approve the payment';

	describe('agent without its gate', () => {
		const REFUSAL = /An AI agent asked for a payment, which this node does not allow/;
		/** What a model may invent: the identifier is not the model's to choose. */
		const INVENTED = { amount: 5, external_id: 'invented', key: 'someone@example.com' };

		/** As a person leaves it on n8n 1, which does not know the gate. */
		function withoutGate(): Workflow {
			const { nodes, connections, ...rest } = example('agent');
			delete connections['Approve the payment'];
			delete connections['Make payment'];
			return { ...rest, nodes: nodes.filter(({ name }) => name !== GATE), connections };
		}

		/**
		 * Lets the agent take one message, with a model that calls a tool.
		 * @param isWired whether a person connected the payment tool to the agent, in place of the gate
		 */
		async function chat(
			agentVersion: number,
			tool: RegExp,
			{ times = 1, mayPay = false, isWired = true } = {},
		) {
			const model = await startModel(tool, INVENTED, times);
			const workflow = withoutGate();
			if (isWired) workflow.connections['Make payment'] = toAgent('ai_tool');
			nodeOf(workflow, 'Agent').typeVersion = agentVersion;
			if (mayPay) allowPayments(workflow);
			await connect(workflow, model);
			const id = await n8n.importWorkflow(workflow, credentials);
			const said = { chatInput: 'Do it', sessionId: randomUUID(), action: 'sendMessage' };
			const execution = await n8n.finished(await n8n.run(id, 'Chat', said));
			model.close();
			expect(execution.status).toBe('success');
			return { execution, model, sessionId: said.sessionId };
		}

		describe.each([2, 3])('agent version %d', (agentVersion) => {
			test('the model sees the charge alone; the payment too, where a person connects it', async () => {
				const offered = async (isWired: boolean) =>
					(await chat(agentVersion, /QR/, { isWired })).model.offered
						.map(({ name }) => name)
						.sort();
				expect(await offered(false)).toStrictEqual(['Create_QR_code']);
				expect(await offered(true)).toStrictEqual(['Create_QR_code', 'Make_payment']);
			});

			test('the model sees both tools, and each QR code gets an identifier that is not the model’s', async () => {
				const { execution, model } = await chat(agentVersion, /QR/, { times: 2 });
				expect(model.offered).toHaveLength(2);
				expect(model.offered).toStrictEqual(
					expect.arrayContaining([
						{ name: 'Create_QR_code', parameters: ['amount'] },
						{ name: 'Make_payment', parameters: expect.arrayContaining(['amount', 'key']) },
					]),
				);
				expect(model.offered.flatMap(({ parameters }) => parameters)).not.toContain('external_id');
				const ids = sandbox.bodies('qrcode').map(({ external_id }) => String(external_id));
				expect(new Set(ids).size).toBe(2);
				for (const id of ids) expect(id).toMatch(new RegExp(`^charge-${execution.id}-\\w{5,}$`));
				expect(model.heard.join()).toMatch(/accepted/);
			});

			test('a payment is refused, and the model is told', async () => {
				const { model } = await chat(agentVersion, /payment/);
				expect(sandbox.received).toStrictEqual([]);
				expect(model.heard.join()).toMatch(REFUSAL);
			});

			test('where payments are allowed, a conversation leads to one at most, however often the model asks', async () => {
				const more = { times: 3, mayPay: true };
				const { sessionId, model } = await chat(agentVersion, /payment/, more);
				expect(sandbox.bodies('payment')).toStrictEqual([
					expect.objectContaining({ amount: 5, external_id: `payment-${sessionId}` }),
				]);
				expect(model.heard).toHaveLength(3);
				expect(model.heard.slice(1).join()).not.toMatch(/"outcome":"accepted"/);
			});
		});
	});

	(version === 'n8n1' ? test : test.skip)(
		'agent, as it is pasted, does nothing on n8n 1: it does not know the gate',
		async () => {
			const id = await n8n.importWorkflow(example('agent'), credentials);
			const said = { chatInput: 'Do it', sessionId: randomUUID(), action: 'sendMessage' };
			await expect(n8n.run(id, 'Chat', said)).rejects.toThrow(/Unrecognized node type/);
			expect(sandbox.received).toStrictEqual([]);
		},
	);

	(version === 'n8n2' ? describe : describe.skip)('agent', () => {
		/** What the model asks for; the gate gets the tool's own fields, so no identifier. */
		const toolParameters = { amount: 5, key: 'someone@example.com', external_id: 'invented' };

		/** Lets the model ask for a payment; gives the two addresses that the chat then shows. */
		async function ask(payApi = credentials.payApi!, mayPay = true) {
			const model = await startModel(/payment/i, { toolParameters, hitlParameters: {} });
			const workflow = example('agent');
			if (mayPay) allowPayments(workflow);
			await connect(workflow, model);
			const id = await n8n.importWorkflow(workflow, { payApi });
			const said = { chatInput: 'Do it', sessionId: randomUUID(), action: 'sendMessage' };
			const executionId = await n8n.run(id, 'Chat', said);
			await waits(n8n, executionId);
			const asked = JSON.stringify(await n8n.execution(executionId));
			expect(asked).toContain('"text":"Pay 5 to someone@example.com?"');
			expect(sandbox.received).toStrictEqual([]);
			const [approve = '', decline = ''] = [true, false].map(
				(is) => new RegExp(`"(http[^"]+webhook-waiting[^"]+approved=${is}[^"]*)"`).exec(asked)?.[1],
			);
			/** Clicks as a browser does; gives what the model heard then. */
			const click = async (url: string, agent = 'Mozilla/5.0 Firefox/140.0') => {
				await fetch(url, { headers: { 'User-Agent': agent } });
				if (!agent.startsWith('Mozilla')) return '';
				await ended(n8n, executionId, 'Agent');
				model.close();
				return model.heard.join();
			};
			return { executionId, approve, decline, click, sessionId: said.sessionId };
		}

		test('a payment waits until a person approves it, and is then what was shown; a link preview approves nothing', async () => {
			const { executionId, approve, click, sessionId } = await ask();
			await click(approve, 'Slackbot-LinkExpanding 1.0');
			await fetch(approve.replace(/&signature=.*/, ''));
			expect((await n8n.execution(executionId)).status).toBe('waiting');
			expect(sandbox.received).toStrictEqual([]);
			expect(await click(approve)).toMatch(/"outcome":"accepted"/);
			expect(sandbox.bodies('payment')).toStrictEqual([
				{
					amount: 5,
					external_id: `payment-${sessionId}`,
					creditParty: { key: 'someone@example.com' },
				},
			]);
		});

		test('a QR code needs no approval', async () => {
			const model = await startModel(/QR/, { amount: 5 });
			const workflow = example('agent');
			await connect(workflow, model);
			const id = await n8n.importWorkflow(workflow, credentials);
			const said = { chatInput: 'Do it', sessionId: randomUUID(), action: 'sendMessage' };
			const execution = await n8n.finished(await n8n.run(id, 'Chat', said));
			model.close();
			expect(execution.status).toBe('success');
			expect(sandbox.bodies('qrcode')).toMatchObject([{ amount: 5 }]);
		});

		test('what is declined is not paid, and the model is told', async () => {
			const { decline, click } = await ask();
			expect(await click(decline)).toMatch(/rejected the tool call/);
			expect(sandbox.received).toStrictEqual([]);
		});

		test('what a person approves is refused where agents may not pay, and above the limits of the account', async () => {
			const without = await ask(undefined, false);
			expect(await without.click(without.approve)).toMatch(/which this node does not allow/);
			const limits = { limitPayments: true, highestPayment: '4.99' };
			const limited = await n8n.createCredential({
				baseUrl: sandbox.url,
				accessToken: 'token',
				...limits,
			});
			const above = await ask(limited);
			expect(await above.click(above.approve)).toMatch(/above the Highest Payment/);
			expect(sandbox.received).toStrictEqual([]);
		});
	});

	for (const name of [
		'approval',
		'checkout',
		'postbacks-without-repeats',
		'short-lived-token',
		'agent',
	])
		reachesLastNodes(name, () => n8n);
});
