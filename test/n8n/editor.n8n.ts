import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Locator } from 'playwright-core';
import { exampleNames } from '../../dev/examples';
import { example } from '../../dev/demo';
import type { N8nVersion } from '../../dev/install';
import { itemsOf, until, webhookPath, type N8n } from '../../dev/n8n';
import { signUrl } from '../../nodes/Pay/postback/proof';
import { Sandbox } from '../../sandbox/service';
import { chain, node, noOp, pay, payTrigger, type Node } from '../../dev/workflow';
import {
	byId,
	canvasNode,
	choose,
	closeOtherTabs,
	execute,
	escape,
	field,
	go,
	kept,
	launch,
	look,
	newWorkflow,
	page,
	parameter,
	paste,
	payEntry,
	searchForPay,
	seen,
	shownIn,
	shows,
	signedIn,
	turnOn,
} from './editorPage';
import { entriesOf, Hand, type Walk } from './hand';
import { nightly } from './nightly';
import { SECRET, startN8n, VERSIONS, WITH_PAGES } from './nodes';

/** Where the documents' pictures go, in the light theme; none are taken without it. */
const { PAY_SCREENSHOTS } = process.env;
/** For looking at only: what failed, the dark theme, and n8n 1. */
const LOOK = join(__dirname, '..', '..', '.cache', 'screenshots');
const TOKEN = 'token-of-the-editor-test';

let browser: Browser;
let n8n: N8n;
let sandbox: Sandbox;
let version: N8nVersion;
let made: { id: string; name: string } | undefined;
/** A walk has published the practice service, and made a credential for it. */
let hasPracticeService = false;

beforeAll(async () => {
	browser = await launch();
});
afterAll(async () => await browser?.close());
afterEach(() => {
	sandbox.faultFor = undefined;
});

/** When a test is run: `it`, or `nightly.test`. */
type Tier = (title: string, work: () => Promise<void>) => void;

/** A test; what was on the screen when it failed is kept. */
const test = (title: string, work: () => Promise<void>, when: Tier = it) =>
	when(title, async () => {
		try {
			await work();
		} catch (error) {
			const name = expect.getState().currentTestName?.slice(0, 40).replace(/\W+/g, '-');
			mkdirSync(LOOK, { recursive: true });
			await page.screenshot({ path: join(LOOK, `failed-${name}.png`) });
			throw error;
		}
	});

/** A credential for the sandbox, made when it is first asked for: a newcomer has none. */
async function credential() {
	made ??= await n8n.createCredential({
		baseUrl: sandbox.url,
		accessToken: TOKEN,
		postbackSecret: SECRET,
	});
	return made;
}

/** What a page takes for granted, where its walk is run without the walk of README before it. */
async function havePracticeService() {
	if (hasPracticeService) return;
	await n8n.activate(await n8n.importWorkflow(example('practice-service')));
	const practice = { baseUrl: `${n8n.url}/webhook`, accessToken: 'anything' };
	await n8n.createCredential(practice, 'payApi', 'Practice');
	// n8n 1 offers data tables once it has a workflow, which it learns as its page loads.
	await page.goto(`${n8n.url}/home/workflows`);
}

/** The nodes of a canvas without its notes, at the size of a phone's page. */
async function pictureOfNodes(name: string) {
	if (PAY_SCREENSHOTS === undefined || version !== 'n8n2') return;
	mkdirSync(PAY_SCREENSHOTS, { recursive: true });
	await page.waitForTimeout(700);
	const boxes = await Promise.all(
		(await byId('canvas-node').all()).map(async (node) => (await node.boundingBox())!),
	);
	const x = Math.min(...boxes.map((box) => box.x)) - 90;
	const y = Math.min(...boxes.map((box) => box.y)) - 40;
	const width = Math.max(...boxes.map((box) => box.x + box.width)) + 110 - x;
	const height = Math.max(...boxes.map((box) => box.y + box.height)) + 80 - y;
	await page.screenshot({
		path: join(PAY_SCREENSHOTS, `${name}.png`),
		clip: { x, y, width, height },
		style:
			'[data-test-id=sticky], .vue-flow__panel, [data-test-id=execute-workflow-button] { visibility: hidden }',
	});
}

async function picture(name: string) {
	if (PAY_SCREENSHOTS === undefined) return;
	const folder = version === 'n8n2' ? PAY_SCREENSHOTS : join(LOOK, version);
	for (const each of [folder, join(LOOK, 'dark')]) mkdirSync(each, { recursive: true });
	await page.waitForTimeout(700);
	await page.screenshot({ path: join(folder, `${name}.png`) });
	if (version !== 'n8n2') return;
	const colour = async () => await page.evaluate<string>('getComputedStyle(document.body).color');
	const light = await colour();
	await page.emulateMedia({ colorScheme: 'dark' });
	await until('the dark theme', async () => (await colour()) !== light, 5);
	await page.waitForTimeout(200);
	await page.screenshot({ path: join(LOOK, 'dark', `${name}.png`) });
	await page.emulateMedia({ colorScheme: 'light' });
	await until('the light theme', async () => (await colour()) === light, 5);
}

/** Imports a workflow and opens the node of a name in it. */
async function open(nodes: Node[], name: string): Promise<void> {
	const id = await n8n.importWorkflow(chain(name, nodes), { payApi: await credential() });
	await go(`${n8n.url}/workflow/${id}`, canvasNode(name));
	await canvasNode(name).dblclick();
	await byId('ndv').waitFor();
}
const manual = () => node('Start', 'n8n-nodes-base.manualTrigger');
const openPay = async (parameters: object) => await open([manual(), pay('Pay', parameters)], 'Pay');

/** Opens the form of a new credential, its address filled in. */
async function openNewCredential(baseUrl: string): Promise<Locator> {
	await go(`${n8n.url}/home/credentials/create`, byId('new-credential-type-button'));
	await page.getByRole('combobox').last().fill('Pay API');
	await page.getByText('Pay API', { exact: true }).last().click();
	await byId('new-credential-type-button').click();
	const modal = byId('editCredential-modal');
	await modal.waitFor();
	await field('baseUrl', modal).fill(baseUrl);
	await field('accessToken', modal).waitFor();
	return modal;
}

/** Saves a credential, which n8n then tests. */
async function saveCredential() {
	await kept();
	await byId('credential-save-button').click();
}

/** Saves a credential whose test fails in these words. */
async function saveFailing(modal: Locator, words: string) {
	await saveCredential();
	await modal.getByText('More details').click();
	await seen(modal, words);
}

async function savePassing(modal: Locator) {
	await saveCredential();
	await Promise.race([
		modal.getByText('Connection tested successfully').waitFor(),
		modal.waitFor({ state: 'hidden' }),
	]);
}

describe.each(VERSIONS)('%s', (each) => {
	beforeAll(async () => {
		version = each;
		made = undefined;
		hasPracticeService = false;
		sandbox = await Sandbox.start();
		n8n = await startN8n(each, { env: WITH_PAGES });
		look(await signedIn(n8n.url, browser));
	});
	afterAll(async () => {
		await page?.context().close();
		await n8n?.stop();
		await sandbox?.close();
	});

	describe('with the values of each page, one gets to', () => newcomer(each));
	nightly.describe('in the editor', () => ofEditor(each));
});

function ofEditor(each: N8nVersion) {
	test('Pay is offered, also as a tool for AI agents, the trigger not as one, and no Custom API Call', async () => {
		const headers = { Cookie: n8n.session };
		const types = await (await fetch(`${n8n.url}/types/nodes.json`, { headers })).json();
		const ours = (types as Array<{ name: string }>).filter(({ name }) =>
			name.startsWith('n8n-nodes-pay.'),
		);
		expect(ours.map(({ name }) => name).sort()).toStrictEqual([
			'n8n-nodes-pay.pay',
			'n8n-nodes-pay.payTool',
			'n8n-nodes-pay.payTrigger',
		]);
		expect(JSON.stringify(ours)).not.toContain('Custom API Call');
	});

	test('typing "pay" finds the nodes; the entry says what for, where n8n shows it, and offers the trigger and the three actions', async () => {
		await newWorkflow(n8n.url);
		await byId('canvas-plus-button').click();
		await page.getByText('Trigger manually').first().click();
		await byId('canvas-node').first().waitFor();
		await byId('node-creator-plus-button').click();
		await searchForPay();
		await payEntry().waitFor();
		const purpose =
			'Create payment QR codes, pay out, and start workflows when a payment is reported';
		// n8n 1 lists names alone.
		if (each === 'n8n2') await seen(payEntry(), purpose);
		await picture('node-panel');
		await payEntry().click();
		await byId('node-creator-category-item').filter({ hasText: 'Triggers' }).waitFor();
		for (const action of ['Create QR code', 'Create payment', 'Wait for postback']) {
			await seen(page, action, true);
		}
	});

	const names = exampleNames();
	// n8n 1 does not know the gate of the agent's tool.
	const known = names.filter((name) => each === 'n8n2' || name !== 'agent');
	describe.each(known)('%s, pasted', pasted);
	describe.each(each === 'n8n2' ? [undefined, 'pt-BR'] : [undefined])(
		'browser language %s',
		commas,
	);
	forms();
	executions();

	// The rest is the same on both versions, and takes its time.
	if (each !== 'n8n2') return;
	outputs();
	credentials();
}

/** Begins on a fresh n8n, with an installed package; each goes on where the one before it ended. */
function newcomer(on: N8nVersion) {
	function walk(
		title: string,
		steps: Walk | Walk[],
		work: (hand: Hand) => Promise<void>,
		when?: Tier,
	) {
		const walked = async () => {
			const hand = new Hand(n8n.url, on);
			await work(hand);
			expect(hand.entries).toStrictEqual([steps].flat().flatMap(entriesOf));
		};
		test(title, walked, when);
	}

	const practice = { page: 'README.md', heading: 'Try it without an account' };
	walk('a paid QR code', practice, async (hand) => {
		await hand.followLinkToNewWorkflow('a new workflow');
		await hand.paste('practice-service');
		await picture('practice-service');
		await hand.publish(`${n8n.url}/webhook/v2/pay/qrcode`);
		// n8n says that it is published, and may go on saying so in its tab.
		await hand.followLinkToNewWorkflow('a second new workflow');
		await closeOtherTabs();
		await hand.paste('get-paid');
		await hand.openNode('Create QR code');
		const modal = await hand.newCredential('Connect to Pay');
		await field('baseUrl', modal).fill(`${n8n.url}/webhook`);
		// The page has n8n's own port; the n8n of this test has another.
		hand.entries.push({ label: 'Base URL', value: 'http://127.0.0.1:5678/webhook' });
		await hand.enter('accessToken', 'anything', modal);
		await hand.turnOn('describeService', modal);
		await hand.enter('statusField', 'status', modal);
		await hand.enter('paidValues', 'paid', modal);
		await hand.enter('failedValues', 'failed', modal);
		await hand.enter('amountField', 'amount', modal);
		await hand.saveNewCredential();
		hasPracticeService = true;
		await hand.close('ndv');
		await hand.runWorkflow('Deliver the order');
		await byId('canvas-wrapper').press('1');
		await pictureOfNodes('get-paid');
	});

	const byHand = { page: 'docs/get-paid.md', heading: 'Make a QR code' };
	walk('a QR code made by hand', byHand, async (hand) => {
		await hand.beginWithAction('Create QR code');
		await hand.enter('amount', '49.90');
		await hand.enter('external_id', 'order-1042');
		await hand.runStep();
	});

	const waiting = { page: 'docs/know-when-paid.md', heading: 'Set up a wait' };
	walk('a QR code that is waited for', waiting, async (hand) => {
		await hand.enter('external_id', 'order-1043');
		await hand.choose('postback', 'Resume This Execution');
		const modal = await hand.editCredential();
		// README's walk has entered them.
		await hand.find('statusField', 'status', modal);
		await hand.find('paidValues', 'paid', modal);
		await hand.find('failedValues', 'failed', modal);
		await hand.find('amountField', 'amount', modal);
		await hand.close('editCredential-modal');
		await hand.close('ndv');
		await byId('node-creator-plus-button').click();
		await hand.chooseAction('Wait for postback');
		await hand.choose('resumeWhen', 'When Paid');
		await hand.close('ndv');
		await hand.runWorkflow('Wait for postback');
	});

	const triggered = { page: 'docs/know-when-paid.md', heading: 'Set up a trigger' };
	const payout = { page: 'docs/pay-people.md', heading: 'Send your first payment' };
	const title = 'a postback in a workflow of one’s own, and a payout that it says is settled';
	walk(title, [triggered, payout], async (hand) => {
		await hand.beginWithTrigger('On new Pay event');
		await hand.choose('startWhen', 'When Paid');
		await page.getByText('Webhook URLs', { exact: true }).click();
		await page.getByText('Production URL', { exact: true }).first().click();
		const url = await hand.copyUrl(page.getByText(/\/webhook\/[\w-]+\/postback/).first());
		const modal = await hand.editCredential();
		await field('postbackUrl', modal).fill(url);
		await field('postbackSecret', modal).fill('kX3v9QmZ7tB2wN8rL5yH1cJ6pD4sFa');
		await hand.saveCredential();
		await hand.close('ndv');
		if (on === 'n8n1') await byId('workflow-save-button').click();
		await hand.publish(url);
		await page.getByRole('button', { name: 'Got it' }).click();
		const triggerId = new URL(page.url()).pathname.split('/')[2]!;

		await hand.beginWithAction('Create payment');
		await hand.enter('key', 'ana@example.com');
		await hand.enter('keyType', 'email');
		await hand.enter('amount', '12.50');
		await hand.enter('external_id', 'test-1');
		await hand.runStep();
		const reported = await until('the postback', async () => {
			const [id] = await n8n.executionIds(triggerId);
			return id !== undefined && itemsOf(await n8n.finished(id), 'Pay Trigger')[0];
		});
		expect(reported).toMatchObject({
			reference: { external_id: 'test-1', kind: 'payment', amount: 12.5 },
			body: { status: 'paid' },
		});
	});

	const list = { page: 'docs/pay-a-list.md', heading: 'Set it up' };
	walk(
		'a list that is paid',
		list,
		async (hand) => {
			await havePracticeService();
			await hand.importTable('payments', 'pay-a-list.csv');
			if (on === 'n8n1') await hand.clearColumn('outcome');
			await hand.beginWorkflow();
			await hand.paste('pay-a-list');
			for (const name of on === 'n8n1' ? ['Rows to pay', 'Write it down'] : []) {
				await hand.openNode(name);
				await hand.chooseTable('payments');
				await hand.close('ndv');
			}
			await hand.openNode('Create payment');
			await hand.close('ndv');
			await hand.runWorkflow('Write it down');
			await byId('canvas-wrapper').press('1');
			await pictureOfNodes('pay-a-list');
		},
		nightly.test,
	);
}

/** An example as it lies on the canvas. */
function pasted(name: string) {
	const { nodes } = example(name);
	const start = nodes.find(({ type }) => type === 'n8n-nodes-base.manualTrigger');
	if (start === undefined) return;
	test('the orange button starts by hand', async () => {
		await newWorkflow(n8n.url);
		await paste(name);
		const button = await byId('execute-workflow-button').innerText();
		// Where there is a choice, n8n names where it starts.
		const texts = ['Execute workflow', `Execute workflow from ${start.name}`];
		expect(texts).toContain(button.replaceAll(/\s+/g, ' '));
	});
}

/** In a browser of a language, which a number's input would follow. */
function commas(language: string | undefined) {
	let first = { browser, page };
	beforeAll(async () => {
		first = { browser, page };
		if (language === undefined) return;
		browser = await launch(`--lang=${language}`);
		look(await signedIn(n8n.url, browser, language));
	});
	afterAll(async () => {
		if (browser !== first.browser) await browser.close();
		browser = first.browser;
		look(first.page);
	});

	test('a comma typed into Amount is refused, and not dropped', async () => {
		await openPay({ external_id: `comma-${language}` });
		const before = sandbox.received.length;
		await field('amount').click();
		await page.keyboard.type('10,50');
		expect(await field('amount').inputValue()).toBe('10,50');
		const panel = await execute();
		await seen(panel, 'Amount must be a number, but is "10,50"');
		await seen(panel, 'Write 10.50');
		expect(sandbox.received).toHaveLength(before);
		await field('amount').fill('10.50');
		await execute();
		await seen(panel, 'accepted');
		expect(sandbox.bodies('payment').at(-1)).toMatchObject({ amount: 10.5 });
	});
}

/** What the forms show, and say about what is typed. */
function forms() {
	const HEAD = ['resource', 'operation'];
	const TEXTS = ['amount', 'external_id', 'payerQuestion'];

	test("the recipient's key and key type stand open at the top of a payment; without a key nothing is sent", async () => {
		const fields = [...HEAD, 'key', 'keyType', ...TEXTS];
		await openPay({
			amount: '12.50',
			external_id: 'payout-7',
			creditParty: { key: '', keyType: '' },
		});
		await shows(byId('ndv'), ...fields);
		expect((await shownIn(byId('ndv'))).slice(0, 7)).toStrictEqual(fields);
		await picture('pay-payment');
		const before = sandbox.received.length;
		await seen(await execute(), 'Key (creditParty.key) is missing, so the request would not say');
		expect(sandbox.received).toHaveLength(before);
		await field('key').fill('ana@example.com');
		await field('keyType').fill('email');
		await field('external_id').fill('payout-8');
		await seen(await execute(), 'payout-8');
		expect(sandbox.bodies('payment').at(-1)).toMatchObject({
			creditParty: { key: 'ana@example.com', keyType: 'email' },
		});
	});

	test('the forms of a QR code and of a wait are as the documents show them', async () => {
		await openPay({ resource: 'qrCode', amount: '49.90', external_id: 'order-1042' });
		await shows(byId('ndv'), ...HEAD, ...TEXTS, 'qrCodeImage', 'postback', 'specifySplit');
		await picture('pay-qr-code');
		await openPay({ resource: 'postback', operation: 'wait' });
		await choose('resumeWhen', 'When a Field Has a Value');
		await field('matchField').fill('status');
		await turnOn('limitWaitTime');
		await shows(byId('ndv'), 'resumeAmount', 'resumeUnit');
		await parameter('resumeUnit').scrollIntoViewIfNeeded();
		await picture('pay-wait');
	});

	test('before the first run the next node is offered the fields of an accepted payment', async () => {
		await open([manual(), pay('Pay', { amount: '1' }), noOp('After')], 'After');
		for (const name of ['external_id', 'amount', 'outcome', 'statusCode', 'response']) {
			await seen(byId('ndv-input-panel'), name, true);
		}
		await picture('preview');
	});

	test('on the canvas a Pay node says what is typed in it: amount and recipient, and no expression', async () => {
		// All that it may say: operations/parity.test.ts.
		const typed = { amount: '12.50', creditParty: { key: 'ana@example.com' } };
		const ofItem = { amount: "={{ $('Start').item.json.total }}", creditParty: {} };
		const rows = [
			{ node: pay('Typed payment', typed), says: 'Payment of 12.50 to ana@example.com' },
			{ node: pay('Payment of an item', ofItem), says: 'Payment' },
		];
		const workflow = chain('Subtitles', [manual(), ...rows.map((row) => row.node)]);
		const id = await n8n.importWorkflow(workflow);
		await go(`${n8n.url}/workflow/${id}`, byId('canvas-node').nth(rows.length));
		for (const row of rows) {
			const [name, says] = (await canvasNode(row.node.name).innerText()).split('\n');
			expect({ name, says }).toStrictEqual({ name: row.node.name, says: row.says });
		}
	});
}

/** What is shown of what ran. */
function executions() {
	test('an unknown payment is told in our words, without the token that was sent, however far it is opened', async () => {
		sandbox.faultFor = ({ path }) =>
			path.endsWith('/payment') ? { kind: 'status', status: 503 } : undefined;
		const creditParty = { key: 'ana@example.com', keyType: 'email' };
		await openPay({ amount: '12.50', external_id: 'payout-9', creditParty });
		const panel = await execute();
		await seen(panel, 'It is not known whether payment "payout-9" was made');
		await seen(panel, 'Ask the service whether');
		await picture('unknown-payment');
		for (const summary of await panel.locator('summary, .node-error-view__details-title').all()) {
			await summary.click();
		}
		const said = await panel.innerText();
		// That the details are open: the outcome stands there, and in no message.
		expect(said).toContain('outcome');
		expect(said.toLowerCase()).not.toContain('try again later');
		expect(said.toLowerCase()).not.toContain('retry automatically');
		expect(sandbox.received.at(-1)?.headers.authorization).toBe(`Bearer ${TOKEN}`);
		expect(said).not.toContain(TOKEN);
	});

	test('a wait that goes on says what does not end it, and where that is told', async () => {
		const charge = { resource: 'qrCode', amount: '49.90', external_id: 'order-1044' };
		const match = { resumeWhen: 'match', matchField: 'status', matchValues: ['paid'] };
		const nodes = [
			manual(),
			pay('Charge', { ...charge, postback: 'resume' }),
			pay('Wait', { resource: 'postback', operation: 'wait', ...match }),
		];
		await open(nodes, 'Wait');
		await escape('ndv');
		await byId('execute-workflow-button').click();
		await canvasNode('Charge').getByTestId('canvas-node-status-success').waitFor();
		await canvasNode('Wait').dblclick();
		const told =
			/^Waiting for a postback that meets the condition under Resume\..* say what was missing\.$/;
		await seen(byId('output-panel'), told);
		await choose('resumeWhen', 'On Any Postback');
		await seen(byId('output-panel'), 'Waiting for a postback.', true);
	});

	test("the trigger's panel says in steps where its URLs go, and in words what the Test URL is for", async () => {
		await open([payTrigger()], 'Pay Trigger');
		const ndv = byId('ndv');
		await seen(ndv, 'Receive a postback while you build');
		const steps = ndv.locator('.notice li, [role=alert] li');
		await steps.nth(2).waitFor();
		expect(await steps.allInnerTexts()).toStrictEqual([
			'Step 1: open Webhook URLs above and copy the Production URL.',
			'Step 2: in the Pay API credential, paste it as Postback URL and enter a Postback Secret: 30 random characters from a password manager.',
			'Step 3: publish this workflow.',
		]);
		await picture('pay-trigger');
		await choose('authentication', 'None');
		await seen(ndv, 'Anyone who learns this URL');
		await seen(ndv, "then enter the URL in your service's dashboard.");
		await choose('authentication', 'Sender');
		await seen(ndv, 'choose under Check the Sender how the service shows');
		await seen(ndv, 'compare its External ID and amount with your own order');
		await choose('authentication', 'Signed URL');
		await ndv.getByText('When will this node trigger my flow?').click();
		await seen(ndv, 'put the Test URL into the Postback URL of a Pay node');
	});

	test('the trigger takes a test postback', async () => {
		const trigger = payTrigger();
		await open([trigger], 'Pay Trigger');
		await byId('node-execute-button').click();
		await byId('trigger-listening').waitFor();
		await picture('pay-trigger-listening');
		await page.keyboard.press('Escape');
		await seen(page, 'Waiting for a postback: run a Pay node with the Test URL');
		await picture('pay-trigger-waiting');
		const path = webhookPath(trigger)?.replace('/webhook/', '/webhook-test/') ?? '';
		const url = signUrl(n8n.url + path, { external_id: 'a', kind: 'payment', amount: 1 }, SECRET);
		const request = {
			method: 'POST',
			headers: { 'Content-Type': 'application/json' },
			body: JSON.stringify({ status: 'paid' }),
		};
		await until('the test webhook', async () => (await fetch(url, request)).ok);
		await canvasNode('Pay Trigger').dblclick();
		await seen(byId('output-panel'), 'eventId');
	});

	test('Executions shows external_id and outcome as highlighted data, on an n8n whose licence has it', async () => {
		const orders = [manual(), pay('Pay', { amount: '12.50', external_id: 'payout-10' })];
		const id = await n8n.importWorkflow(chain('Orders', orders), { payApi: await credential() });
		const execution = await n8n.finished(await n8n.run(id, 'Start'));
		// n8n 1 writes it after the execution itself.
		const data = await until('the data', async () => {
			const { customData = {} } = (await n8n.execution(execution.id)) as {
				customData?: Record<string, string>;
			};
			return Object.keys(customData).length > 0 && customData;
		});
		expect(data).toStrictEqual({ payment_external_id: 'payout-10', payment_outcome: 'accepted' });
		// What a registration changes in the editor: without one it leaves this panel out.
		await page.route('**/rest/settings', async (route) => {
			const answer = await route.fetch();
			const settings = (await answer.json()) as { data: { enterprise: Record<string, unknown> } };
			settings.data.enterprise.advancedExecutionFilters = true;
			await route.fulfill({ response: answer, json: settings });
		});
		// Anew: n8n reads its settings as its page loads.
		await page.goto(`${n8n.url}/workflow/${id}/executions/${execution.id}`);
		await byId('execution-preview-ellipsis-button').click();
		for (const text of ['Highlighted data', ...Object.entries(data).flat()]) {
			await seen(byId('execution-annotation-panel'), text, true);
		}
		await picture('highlighted-data');
		await page.unroute('**/rest/settings');
	});
}

/** What n8n does with what the nodes give. */
function outputs() {
	test('the image of a QR code can be looked at in the output', async () => {
		const order = { amount: '49.90', external_id: 'order-1043' };
		await openPay({ resource: 'qrCode', ...order, qrCodeImage: true });
		const panel = await execute();
		await panel.getByText('Binary', { exact: true }).first().click();
		await panel.getByRole('button', { name: 'View' }).first().click();
		const places = ['img[src*="binary-data"]', '[data-test-id="embedded-value"] img'];
		const forms = ['img[src^="data:image/png"]', 'img[src^="blob:"]'];
		const image = page.locator([...places, ...forms, '.binary-data-window img'].join(', ')).first();
		await image.waitFor();
		const size = async () =>
			await image.evaluate(
				(element) => (element as unknown as { naturalWidth: number }).naturalWidth,
			);
		await until('the image', async () => (await size()) >= 400);
		await picture('qr-image');
	});

	test('a trigger without a Postback Secret: the editor says why it is not published, and what to do', async () => {
		const payApi = await n8n.createCredential({ baseUrl: sandbox.url, accessToken: TOKEN });
		const trigger = payTrigger();
		const workflow = chain('No secret', [trigger, noOp('After')]);
		const id = await n8n.importWorkflow(workflow, { payApi });
		await go(`${n8n.url}/workflow/${id}`, canvasNode('After'));
		await byId('workflow-open-publish-modal-button').click();
		await byId('workflow-publish-button').click();
		await seen(
			page,
			'Postbacks could not be verified. Enter 30 random characters as Postback Secret',
		);
		expect((await fetch(n8n.url + webhookPath(trigger), { method: 'POST' })).status).toBe(404);
		await n8n.rest('DELETE', `/credentials/${payApi.id}`);
	});
}

/** Last, since n8n offers the newest credential to the nodes of the other tests. */
function credentials() {
	describe('a new credential', () => {
		test('has a short form, shows more once that is turned on, and passes its test when all of it is filled in', async () => {
			// Which fields it has: operations/shown.test.ts. It says what the secret of postbacks is for.
			const modal = await openNewCredential(sandbox.url);
			await field('accessToken', modal).fill(TOKEN);
			await field('statusField', modal).waitFor({ state: 'hidden' });
			await seen(modal, 'For a Pay Trigger with Signed URL, enter a Postback Secret');

			// It shows what the service says once that is turned on.
			await turnOn('describeService', modal);
			await shows(modal, 'statusField', 'externalIdHeader');

			// One whose words lack a field fails its test, and says so. credential/credentialTest.test.ts and parameters/ have
			// all that cannot be used.
			await field('paidValues', modal).fill('paid\nSettled');
			await field('failedValues', modal).fill('failed\nrefused');
			await saveFailing(
				modal,
				'The Status Field of the Pay API credential and its values must both be entered',
			);

			// Whose required values are another comparison fails its test, and says how to write them.
			await field('statusField', modal).fill('data.status');
			await field('requiredValues', modal).fill('data.success == true');
			await saveCredential();
			// The details of the last failure are open still.
			await seen(modal, 'The Required Values of the Pay API credential cannot be read in line 1');

			// It shows how the service signs, and what may go out, once these are turned on.
			await field('requiredValues', modal).fill('data.success = true\ndata.livemode = true');
			await field('refundField', modal).fill('data.refund');
			await shows(modal, 'refundedValues');
			expect(await field('refundedValues', modal).inputValue()).toBe('*');
			await field('refundedValues', modal).fill('done\npartly');
			await field('amountField', modal).fill('data.amount\ndata.total');
			await field('requiredValues', modal).scrollIntoViewIfNeeded();
			await picture('credential-described');
			await shows(modal, 'amountUnit');
			await choose('senderCheck', 'Secret Header');
			await shows(modal, 'secretHeaderName', 'secretHeaderValue');
			await choose('senderCheck', 'Signature');
			await shows(modal, 'signatureHeader', 'signatureAlgorithm', 'signatureSecret');
			await turnOn('limitPayments', modal);
			await shows(modal, 'highestPayment', 'highestSum', 'onlyRecipients');

			// It asks for the secret alone where the public standard is chosen, whatever was chosen before.
			await choose('signatureAlgorithm', 'RSA-SHA256');
			await shows(modal, 'signaturePublicKey');
			await choose('signedContent', 'Standard Webhooks');
			await field('signatureHeader', modal).waitFor({ state: 'hidden' });
			await shows(modal, 'signatureSecret');
			await choose('signedContent', 'Template');
			await shows(modal, 'signatureHeader', 'signaturePublicKey', 'signedTemplate');
			await choose('signatureAlgorithm', 'HMAC-SHA256');
			await choose('signedContent', 'Body');
			await field('signedTemplate', modal).waitFor({ state: 'hidden' });

			// With a secret of postbacks it asks for the previous one, and says no more what it is for.
			const sentence = modal.getByText(
				'For a Pay Trigger with Signed URL, enter a Postback Secret',
			);
			await sentence.waitFor();
			await field('previousPostbackSecret', modal).waitFor({ state: 'hidden' });
			await field('postbackSecret', modal).fill('a secret of thirty characters.');
			await field('previousPostbackSecret', modal).waitFor();
			await sentence.waitFor({ state: 'hidden' });

			// It passes its test once all of it is filled in.
			await field('signatureHeader', modal).fill('X-Signature');
			await field('signatureSecret', modal).fill('the secret of the service');
			await field('highestPayment', modal).fill('500');
			await field('highestSum', modal).fill('2000');
			const recipients = field('onlyRecipients', modal);
			await field('variableMembers', modal).waitFor({ state: 'hidden' });
			await recipients.fill('supplier@example.com\nrent@example.com');
			await field('variableMembers', modal).fill('creditParty.taxId');
			await recipients.scrollIntoViewIfNeeded();
			await picture('credential-limits');
			await savePassing(modal);
		});
	});

	test('a credential whose test fails says why, and passes once it is corrected', async () => {
		const modal = await openNewCredential(`${sandbox.url}/fault/status-401`);
		await field('accessToken', modal).fill(TOKEN);
		await saveFailing(modal, 'The service rejected the access token (HTTP 401)');
		await picture('credential-refused');
		await field('baseUrl', modal).fill(sandbox.url);
		await savePassing(modal);
	});

	test('client credentials: their fields are shown, that of the pasted token is hidden, and it works', async () => {
		const clientId = 'my-shop';
		const clientSecret = 'the secret of the shop';
		const service = await Sandbox.start({
			schemeName: 'fast',
			clientCredentials: { clientId, clientSecret },
		});
		const modal = await openNewCredential('');
		const OF_CLIENT = ['tokenUrl', 'clientId', 'clientSecret', 'scope', 'clientAuthentication'];
		expect((await shownIn(modal)).filter((name) => OF_CLIENT.includes(name))).toStrictEqual([]);
		await picture('credential');
		await choose('authentication', 'Client Credentials');
		await shows(modal, ...OF_CLIENT);
		await field('accessToken', modal).waitFor({ state: 'hidden' });
		await turnOn('describeService', modal);
		await field('schemeName', modal).fill('fast');
		await field('baseUrl', modal).fill(service.url);
		await field('tokenUrl', modal).fill(service.tokenUrl!);
		await field('clientId', modal).fill(clientId);
		await field('clientSecret', modal).fill(clientSecret);
		await field('clientSecret', modal).blur();
		// From here on down, the fields of the token source fill the form.
		const choice = modal.getByText('Authentication', { exact: true });
		await choice.evaluate((element) =>
			(element as unknown as { scrollIntoView(top: boolean): void }).scrollIntoView(true),
		);
		await picture('credential-client-credentials');
		await savePassing(modal);
		expect(service.tokenRequests).toHaveLength(1);
		expect(service.received.map(({ path }) => path)).toStrictEqual(['/v2/fast/qrcode']);
		await service.close();
	});
}
