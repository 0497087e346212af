import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, selectors, type Browser, type Locator, type Page } from 'playwright-core';
import { example } from '../../dev/demo';
import type { N8nVersion } from '../../dev/install';
import { itemsOf, OWNER, until, webhookPath, type N8n } from '../../dev/n8n';
import { Sandbox } from '../../sandbox/service';
import { chain, node, noOp, pay, payTrigger, type Node } from '../../dev/workflow';
import { startN8n, VERSIONS } from './nodes';

/** Where the documents' pictures go, in the light theme; none are taken without it. */
const { PAY_SCREENSHOTS } = process.env;
/** For looking at only: what failed, the dark theme, and n8n 1. */
const LOOK = join(__dirname, '..', '..', '.cache', 'screenshots');
const TOKEN = 'token-of-the-editor-test';

let browser: Browser;
let page: Page;
let n8n: N8n;
let sandbox: Sandbox;
let version: N8nVersion;
let made: { id: string; name: string } | undefined;

beforeAll(async () => {
	// n8n marks its elements so.
	selectors.setTestIdAttribute('data-test-id');
	browser = await launch();
});
afterAll(async () => await browser?.close());
afterEach(() => {
	sandbox.faultFor = undefined;
});

async function launch(...more: string[]): Promise<Browser> {
	return await chromium.launch({
		executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
		args: [
			'--no-sandbox',
			'--disable-gpu',
			'--disable-background-networking',
			'--disable-component-update',
			...more,
		],
	});
}

/** A page of the editor, its owner signed in. */
async function signedIn(where: Browser, locale?: string): Promise<Page> {
	const context = await where.newContext({
		viewport: { width: 1440, height: 900 },
		locale,
		permissions: ['clipboard-read', 'clipboard-write'],
	});
	const signIn = await context.newPage();
	signIn.setDefaultTimeout(60_000);
	await signIn.goto(`${n8n.url}/signin`);
	await signIn
		.locator('input[name="emailOrLdapLoginId"], input[type="email"]')
		.first()
		.fill(OWNER.email);
	await signIn.locator('input[type="password"]').fill(OWNER.password);
	await signIn.keyboard.press('Enter');
	await signIn.waitForURL(/home|workflow/);
	return signIn;
}

/** A credential for the sandbox, made when it is first asked for: a newcomer has none. */
async function credential() {
	made ??= await n8n.createCredential({ baseUrl: sandbox.url, accessToken: TOKEN });
	return made;
}

/** What was on the screen when a test failed. */
async function watched(work: () => Promise<void>) {
	try {
		await work();
	} catch (error) {
		const name = expect.getState().currentTestName?.slice(0, 40).replace(/\W+/g, '-');
		mkdirSync(LOOK, { recursive: true });
		await page.screenshot({ path: join(LOOK, `failed-${name}.png`) });
		throw error;
	}
}

const byId = (id: string) => page.getByTestId(id);
const field = (name: string) => byId(`parameter-input-${name}`).locator('input, textarea').first();
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

/** Imports a workflow and opens the node of a name in it; gives the workflow's id. */
async function open(nodes: Node[], name: string): Promise<string> {
	const id = await n8n.importWorkflow(chain(name, nodes), { payApi: await credential() });
	await page.goto(`${n8n.url}/workflow/${id}`);
	await byId('canvas-node').filter({ hasText: name }).dblclick();
	await byId('ndv').waitFor();
	return id;
}
const manual = () => node('Start', 'n8n-nodes-base.manualTrigger');
const openPay = async (parameters: object) => await open([manual(), pay('Pay', parameters)], 'Pay');

/** The fields that a form shows, in its order. */
async function shownIn(form: Locator): Promise<string[]> {
	const fields = form.locator('[data-test-id^="parameter-input-"]').filter({ visible: true });
	const ids = await Promise.all(
		(await fields.all()).map(async (each) => (await each.getAttribute('data-test-id')) ?? ''),
	);
	// n8n's mark of the inner part of any text field.
	return ids.map((id) => id.replace('parameter-input-', '')).filter((name) => name !== 'field');
}
/** Waits until a form shows these fields: n8n draws some of them later than their form. */
async function shows(form: Locator, ...fields: string[]) {
	for (const name of fields) await form.getByTestId(`parameter-input-${name}`).first().waitFor();
}

/**
 * n8n keeps what was typed 200 ms after the last key, and runs a step with what it has kept. A timer
 * of the page that is set now ends after that one, on however slow a machine.
 */
const kept = async () => await page.evaluate('new Promise((done) => setTimeout(done, 250))');

async function execute() {
	await kept();
	await byId('node-execute-button').click();
	return byId('output-panel');
}

async function openPanel(search: string) {
	await byId('node-creator-plus-button').click();
	await page
		.getByPlaceholder(/Search/)
		.first()
		.fill(search);
}
const payEntry = () =>
	byId('item-iterator-item')
		.filter({ hasText: /^Pay(?!Pal)/ })
		.first();

async function newWorkflow() {
	await page.goto(`${n8n.url}/workflow/new`);
	await byId('canvas-plus-button').click();
	await page.getByText('Trigger manually').first().click();
	await byId('canvas-node').first().waitFor();
}

async function choose(name: string, text: string) {
	await byId(`parameter-input-${name}`).click();
	await page.getByRole('option', { name: text }).first().click();
}

async function newCredential(): Promise<Locator> {
	await page.goto(`${n8n.url}/home/credentials/create`);
	await byId('new-credential-type-button').waitFor();
	await page.getByRole('combobox').last().fill('Pay API');
	await page.getByText('Pay API', { exact: true }).last().click();
	await byId('new-credential-type-button').click();
	const modal = byId('editCredential-modal');
	await modal.waitFor();
	return modal;
}
const inputOf = (form: Locator, name: string) =>
	form.getByTestId(`parameter-input-${name}`).locator('input');
/** Saves the credential in a modal and waits until its test passed. */
async function saved(modal: Locator) {
	await kept();
	await byId('credential-save-button').click();
	await Promise.race([
		modal.getByText(/Connection tested successfully/).waitFor(),
		modal.waitFor({ state: 'hidden' }),
	]);
}

const EXAMPLES = join(__dirname, '..', '..', 'examples');
const isNote = ({ type }: { type: string }) => type === 'n8n-nodes-base.stickyNote';
/** Pastes an example into a new workflow, as its file's content is copied and pasted. */
async function pasteExample(name: string) {
	await page.goto(`${n8n.url}/workflow/new`);
	await byId('canvas-plus-button').waitFor();
	const text = readFileSync(join(EXAMPLES, `${name}.json`), 'utf8');
	await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
	await byId('canvas-wrapper').click({ position: { x: 200, y: 200 } });
	await page.keyboard.press('Control+v');
	await byId('canvas-node')
		.nth(example(name).nodes.filter((each) => !isNote(each)).length - 1)
		.waitFor();
}

/** How much of each note its text fills; it is scrolled above 1. In the page, without its types. */
const FILLED = `[...document.querySelectorAll('[data-test-id=sticky]')].map((note) => {
	const { top, height } = note.getBoundingClientRect();
	const last = [...note.querySelectorAll('p, li, h2, td')].at(-1);
	return (last.getBoundingClientRect().bottom - top) / height;
})`;
/** The wires that lie over a node or cross another one, by the names of their ends. */
const TANGLED = `(() => {
	const nodes = [...document.querySelectorAll('[data-test-id=canvas-node]')].map((node) => [
		node.dataset.nodeName,
		(node.querySelector('[data-test-id$=-node]') ?? node).getBoundingClientRect(),
	]);
	const wires = [...document.querySelectorAll('.vue-flow__edge-path')].map((path) => {
		const all = path.closest('[data-source-node-name]').dataset;
		const matrix = path.getScreenCTM();
		// Near its ends a wire is at its nodes, and beside the others of the same node.
		const points = Array.from({ length: 91 }, (_, index) =>
			path.getPointAtLength((path.getTotalLength() * (index + 5)) / 100).matrixTransform(matrix),
		);
		return [all.sourceNodeName + ' -> ' + all.targetNodeName, points];
	});
	const side = (a, b, c) => Math.sign((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x));
	const cross = (a, b, c, d) => side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0;
	const tangled = [];
	wires.forEach(([name, points], index) => {
		for (const [node, { left, right, top, bottom }] of nodes)
			if (points.some(({ x, y }) => x > left + 3 && x < right - 3 && y > top + 3 && y < bottom - 3))
				tangled.push(name + ' over ' + node);
		for (const [other, others] of wires.slice(index + 1))
			if (other !== name && points.some((a, i) => i > 0 && others.some((b, j) => j > 0 && cross(points[i - 1], a, others[j - 1], b))))
				tangled.push(name + ' crosses ' + other);
	});
	// One that leads back is drawn as two.
	return { counted: [nodes.length, new Set(wires.map(([name]) => name)).size], tangled };
})()`;

describe.each(VERSIONS)('%s', (each) => {
	beforeAll(async () => {
		version = each;
		made = undefined;
		sandbox = await Sandbox.start();
		n8n = await startN8n(each);
		page = await signedIn(browser);
	});
	afterAll(async () => {
		await page?.context().close();
		await n8n?.stop();
		await sandbox?.close();
	});

	if (each === 'n8n2') newcomer();

	test('typing "pay" finds the nodes; the entry says what for, where n8n shows it, and offers the trigger and the three actions', async () =>
		await watched(async () => {
			await newWorkflow();
			await openPanel('pay');
			await payEntry().waitFor();
			// n8n 1 lists names alone.
			if (each === 'n8n2')
				await payEntry()
					.getByText(
						'Create payment QR codes, pay out, and start workflows when a payment is reported',
					)
					.waitFor();
			await picture('node-panel');
			await payEntry().click();
			const triggers = byId('node-creator-category-item').filter({ hasText: 'Triggers' });
			await triggers.waitFor();
			for (const action of ['Create QR code', 'Make payment', 'Wait for postback']) {
				await page.getByText(action, { exact: true }).first().waitFor();
			}
		}));

	test.each(readdirSync(EXAMPLES).map((file) => file.replace('.json', '')))(
		'%s, pasted: notes are as tall as their text, no wire is tangled, the orange button starts by hand',
		async (name) =>
			await watched(async () => {
				await pasteExample(name);
				const { nodes, connections } = example(name);
				const wires = new Set(
					Object.entries(
						connections as Record<string, Record<string, Array<Array<{ node: string }>>>>,
					).flatMap(([from, outputs]) =>
						Object.values(outputs)
							.flat(2)
							.map(({ node: to }) => `${from} -> ${to}`),
					),
				);
				const isTrigger = ({ type }: { type: string }) => type === 'n8n-nodes-base.manualTrigger';
				const notes = nodes.filter(isNote);
				await until('the wires', async () => {
					const { counted } = await page.evaluate<{ counted: number[] }>(TANGLED);
					return counted[1] === wires.size;
				});
				await byId('canvas-wrapper').press('1');
				await page.waitForTimeout(500);
				expect(await page.evaluate(TANGLED)).toStrictEqual({
					counted: [nodes.length - notes.length, wires.size],
					tangled: [],
				});
				const filled = await page.evaluate<number[]>(FILLED);
				expect(filled).toHaveLength(notes.length);
				// Letters of n8n 1 are larger.
				expect(filled.filter((part) => part <= 0.7 || part >= 0.98)).toStrictEqual([]);
				const start = nodes.find(isTrigger);
				if (start === undefined) return;
				const asked = page.waitForRequest((request) => /\/workflows\/\w+\/run/.test(request.url()));
				await page.route('**/rest/workflows/*/run*', async (route) => await route.abort());
				await byId('execute-workflow-button').click();
				expect((await asked).postDataJSON()).toMatchObject({
					triggerToStartFrom: { name: start.name },
				});
				await page.unroute('**/rest/workflows/*/run*');
			}),
	);

	test.each([undefined, 'pt-BR'])(
		'a comma typed into Amount is refused, and not dropped (browser language %s)',
		async (language) => {
			const [firstBrowser, firstPage] = [browser, page];
			if (language !== undefined) {
				browser = await launch(`--lang=${language}`);
				page = await signedIn(browser, language);
			}
			try {
				await watched(async () => {
					await openPay({ external_id: `comma-${language}` });
					const before = sandbox.received.length;
					await field('amount').click();
					await page.keyboard.type('10,50');
					expect(await field('amount').inputValue()).toBe('10,50');
					const panel = await execute();
					await panel
						.getByText(/Amount \(amount\) must be a number, but is "10,50"/)
						.first()
						.waitFor();
					await panel
						.getByText(/Write 10\.50/)
						.first()
						.waitFor();
					expect(sandbox.received).toHaveLength(before);
					await field('amount').fill('10.50');
					await execute();
					await panel.getByText('accepted').first().waitFor();
					expect(sandbox.bodies('payment').at(-1)).toMatchObject({ amount: 10.5 });
				});
			} finally {
				if (browser !== firstBrowser) await browser.close();
				[browser, page] = [firstBrowser, firstPage];
			}
		},
	);

	test("the recipient's key and key type stand open at the top of a payment; without a key a hint says so", async () =>
		await watched(async () => {
			await openPay({ amount: '12.50', external_id: 'payout-7' });
			await shows(byId('ndv'), ...PAYMENT_FIELDS);
			expect((await shownIn(byId('ndv'))).slice(0, 7)).toStrictEqual(PAYMENT_FIELDS);
			await picture('pay-payment');
			const hint = byId('output-panel').getByText(/without a recipient key/);
			await execute();
			await hint.first().waitFor();
			expect(sandbox.bodies('payment').at(-1)).not.toHaveProperty('creditParty');
			await field('key').fill('ana@example.com');
			await field('keyType').fill('email');
			await field('external_id').fill('payout-8');
			await execute();
			await byId('output-panel').getByText('payout-8').first().waitFor();
			expect(sandbox.bodies('payment').at(-1)).toMatchObject({
				creditParty: { key: 'ana@example.com', keyType: 'email' },
			});
			await hint.first().waitFor({ state: 'hidden' });
		}));

	test('a QR code shows no field for splits, image or postback URL until someone chooses one', async () =>
		await watched(async () => {
			await openPay({ resource: 'qrCode', amount: '49.90', external_id: 'order-1042' });
			const ndv = byId('ndv');
			await shows(ndv, ...QR_CODE_FIELDS);
			expect(await shownIn(ndv)).toStrictEqual(QR_CODE_FIELDS);
			await picture('pay-qr-code');
			const recipients = ndv.getByText('Split Recipients');
			expect(await recipients.count()).toBe(0);
			await choose('specifySplit', 'Using Fields Below');
			await recipients.waitFor();
			await choose('specifySplit', 'Using JSON');
			await byId('parameter-input-splitJson').waitFor();
			await recipients.waitFor({ state: 'detached' });
			await choose('specifySplit', 'No Split');
			await choose('postback', 'To a URL');
			await field('postbackUrl').waitFor();
			await choose('postback', 'No Postback');
			await field('postbackUrl').waitFor({ state: 'detached' });
			await byId('parameter-input-qrCodeImage')
				.locator('.el-switch, [role=switch]')
				.first()
				.click();
			await field('binaryPropertyName').waitFor();
			expect((await shownIn(ndv)).filter((name) => !QR_CODE_FIELDS.includes(name))).toStrictEqual([
				'binaryPropertyName',
			]);
		}));

	test('the wait shows its field and values, and its time limit with a unit, once they are chosen', async () =>
		await watched(async () => {
			await openPay({ resource: 'postback', operation: 'wait' });
			await shows(byId('ndv'), ...WAIT_FIELDS);
			expect(await shownIn(byId('ndv'))).toStrictEqual(WAIT_FIELDS);
			await choose('resumeWhen', 'When a Field Has a Value');
			await field('matchField').fill('status');
			await byId('parameter-input-limitWaitTime')
				.locator('.el-switch, [role=switch]')
				.first()
				.click();
			await shows(byId('ndv'), 'resumeAmount', 'resumeUnit');
			const y = async (name: string) => (await byId(`parameter-input-${name}`).boundingBox())?.y;
			expect(await y('resumeAmount')).toBeLessThan((await y('resumeUnit')) ?? 0);
			await byId('parameter-input-resumeUnit').scrollIntoViewIfNeeded();
			await picture('pay-wait');
		}));

	test('before the first run the next node is offered the fields of an accepted payment', async () =>
		await watched(async () => {
			await open([manual(), pay('Pay', { amount: '1' }), noOp('After')], 'After');
			const input = byId('ndv-input-panel');
			for (const name of ['external_id', 'amount', 'outcome', 'statusCode', 'response']) {
				await input.getByText(name, { exact: true }).first().waitFor();
			}
			await picture('preview');
		}));

	test('on the canvas a Pay node says what is typed in it: amount and recipient, and no expression', async () =>
		await watched(async () => {
			const nodes = {
				'Typed QR code': { resource: 'qrCode', amount: '49.90' },
				'QR code of an item': { resource: 'qrCode', amount: '={{ $json.total }}' },
				'Typed payment': { amount: '12.50', creditParty: { key: 'ana@example.com' } },
				'Payment to an item': { amount: '12.50', creditParty: { key: '={{ $json.key }}' } },
				'Payment of an item': { amount: "={{ $('Start').item.json.total }}" },
				'Wait for it': { resource: 'postback', operation: 'wait' },
			};
			const all = Object.entries(nodes).map(([name, parameters]) => pay(name, parameters));
			const id = await n8n.importWorkflow(chain('Subtitles', [manual(), ...all]));
			await page.goto(`${n8n.url}/workflow/${id}`);
			const said = async (name: string) => {
				const [, subtitle] = (
					await byId('canvas-node').filter({ hasText: name }).innerText()
				).split('\n');
				return subtitle;
			};
			await byId('canvas-node').nth(6).waitFor();
			expect(await Promise.all(Object.keys(nodes).map(said))).toStrictEqual([
				'QR code of 49.90',
				'QR code',
				'Payment of 12.50 to ana@example.com',
				'Payment of 12.50',
				'Payment',
				'Wait for postback',
			]);
		}));

	test('an unknown payment is told in our words, without the token that was sent, however far it is opened', async () =>
		await watched(async () => {
			sandbox.faultFor = ({ path }) =>
				path.endsWith('/payment') ? { kind: 'status', status: 503 } : undefined;
			await openPay({
				amount: '12.50',
				external_id: 'payout-9',
				creditParty: { key: 'ana@example.com', keyType: 'email' },
			});
			const panel = await execute();
			await panel
				.getByText('It is not known whether payment "payout-9" was made')
				.first()
				.waitFor();
			await panel
				.getByText(/Ask the service whether/)
				.first()
				.waitFor();
			await picture('unknown-payment');
			await openAll(panel);
			const said = await panel.innerText();
			// That the details are open: the outcome stands there, and in no message.
			expect(said).toMatch(/outcome/);
			expect(said).not.toMatch(/try again later|retry automatically/i);
			expect(sandbox.received.at(-1)?.headers.authorization).toBe(`Bearer ${TOKEN}`);
			expect(said).not.toContain(TOKEN);
		}));

	test("the trigger's panel says in steps where its URLs go, and takes a test postback", async () =>
		await watched(async () => {
			const trigger = payTrigger({ authentication: 'none' });
			await open([trigger], 'Pay Trigger');
			const ndv = byId('ndv');
			await ndv.getByText('Take a postback while you build').waitFor();
			await ndv.getByText(/Anyone who learns this URL/).waitFor();
			const steps = ndv.locator('.notice li, [role=alert] li');
			await steps.nth(2).waitFor();
			expect(await steps.allInnerTexts()).toStrictEqual([
				'Step 1: open Webhook URLs above and copy the Production URL.',
				'Step 2: in the Pay API credential, paste it as Postback URL and enter a Postback Secret: 30 random characters from a password manager.',
				'Step 3: publish this workflow.',
			]);
			await picture('pay-trigger');
			await ndv.getByText('When will this node trigger my flow?').click();
			await ndv.getByText(/put the Test URL into the Postback URL of a Pay node/).waitFor();
			await byId('node-execute-button').click();
			await byId('trigger-listening').waitFor();
			await picture('pay-trigger-listening');
			await page.keyboard.press('Escape');
			await page
				.getByText('Waiting for a postback: run a Pay node with the Test URL')
				.first()
				.waitFor();
			await picture('pay-trigger-waiting');
			const path = webhookPath(trigger)?.replace('/webhook/', '/webhook-test/') ?? '';
			await until('the test webhook', async () => {
				const answer = await fetch(n8n.url + path, {
					method: 'POST',
					headers: { 'Content-Type': 'application/json' },
					body: JSON.stringify({ status: 'paid' }),
				});
				return answer.ok;
			});
			await byId('canvas-node').filter({ hasText: 'Pay Trigger' }).dblclick();
			await byId('output-panel').getByText('eventId').first().waitFor();
		}));

	test('Executions shows external_id and outcome as highlighted data, on an n8n whose licence has it', async () =>
		await watched(async () => {
			const id = await n8n.importWorkflow(
				chain('Orders', [manual(), pay('Pay', { amount: '12.50', external_id: 'payout-10' })]),
				{ payApi: await credential() },
			);
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
				const settings = (await answer.json()) as {
					data: { enterprise: Record<string, unknown> };
				};
				settings.data.enterprise.advancedExecutionFilters = true;
				await route.fulfill({ response: answer, json: settings });
			});
			await page.goto(`${n8n.url}/workflow/${id}/executions/${execution.id}`);
			await byId('execution-preview-ellipsis-button').click();
			const shown = byId('execution-annotation-panel');
			for (const text of ['Highlighted data', ...Object.entries(data).flat()]) {
				await shown.getByText(text, { exact: true }).waitFor();
			}
			await picture('highlighted-data');
			await page.unroute('**/rest/settings');
		}));

	test('Allow HTTP stands in the credential only for an address that begins with http:', async () =>
		await watched(async () => {
			const modal = await newCredential();
			const allowHttp = modal.getByTestId('parameter-input-allowHttp');
			const ofToken = () => inputOf(modal, 'tokenUrl');
			await inputOf(modal, 'baseUrl').fill('https://api.example.com');
			await inputOf(modal, 'accessToken').waitFor();
			expect(await allowHttp.count()).toBe(0);
			await inputOf(modal, 'baseUrl').fill('HTTP://10.0.0.7');
			await allowHttp.waitFor();
			await inputOf(modal, 'baseUrl').fill('https://api.example.com');
			await allowHttp.waitFor({ state: 'detached' });
			await choose('authentication', 'Client Credentials');
			await ofToken().fill('http://10.0.0.7/token');
			await allowHttp.waitFor();
			await inputOf(modal, 'baseUrl').fill('http://10.0.0.7');
			await ofToken().focus();
			expect(await allowHttp.count()).toBe(1);
		}));

	// The rest is the same on both versions, and takes its time.
	if (each !== 'n8n2') return;
	beyondTheForms();

	test('what the service says is shown once it is turned on, and its test says what of it cannot be used', async () =>
		await watched(async () => {
			const modal = await newCredential();
			await inputOf(modal, 'baseUrl').fill(sandbox.url);
			await inputOf(modal, 'accessToken').fill(TOKEN);
			const before = await shownIn(modal);
			await modal.getByTestId('parameter-input-describeService').locator('.el-switch').click();
			await shows(modal, ...DESCRIBED);
			expect((await shownIn(modal)).filter((name) => !before.includes(name))).toStrictEqual(
				DESCRIBED,
			);
			const text = (name: string) =>
				modal.getByTestId(`parameter-input-${name}`).locator('input, textarea').first();
			await text('paidValues').fill('paid\nSettled');
			await text('failedValues').fill('failed');
			await kept();
			await byId('credential-save-button').click();
			await modal.getByText('More details').click();
			await modal.getByText(/Status Field .* must both be there/).waitFor();
			await text('statusField').fill('data.status');
			await text('failedValues').fill('failed\nsettled');
			await kept();
			await byId('credential-save-button').click();
			// The details are open still.
			await modal.getByText(/"Settled", and the Paid Values have it too/).waitFor();
			await text('failedValues').fill('failed\nrefused');
			await text('failedValues').scrollIntoViewIfNeeded();
			await picture('credential-described');
			await saved(modal);
		}));

	test('a credential whose test fails says why, and passes once it is corrected', async () =>
		await watched(async () => {
			const modal = await newCredential();
			await inputOf(modal, 'baseUrl').fill(`${sandbox.url}/fault/status-401`);
			await inputOf(modal, 'accessToken').fill(TOKEN);
			await byId('credential-save-button').click();
			await modal.getByText('More details').click();
			await modal.getByText(/The service refused the access token \(HTTP 401\)/).waitFor();
			await picture('credential-refused');
			await inputOf(modal, 'baseUrl').fill(sandbox.url);
			await saved(modal);
		}));

	// Last, since n8n offers the newest credential to the nodes of the other tests.
	test('client credentials: their fields are shown, that of the pasted token is hidden, and it works', async () =>
		await watched(async () => {
			const service = await Sandbox.start({
				schemeName: 'fast',
				clientCredentials: { clientId: 'my-shop', clientSecret: 'the secret of the shop' },
			});
			const modal = await newCredential();
			const OF_CLIENT = ['tokenUrl', 'clientId', 'clientSecret', 'scope', 'clientAuthentication'];
			await inputOf(modal, 'accessToken').waitFor();
			expect((await shownIn(modal)).filter((name) => OF_CLIENT.includes(name))).toStrictEqual([]);
			await picture('credential');
			await choose('authentication', 'Client Credentials');
			await inputOf(modal, 'tokenUrl').waitFor();
			await inputOf(modal, 'accessToken').waitFor({ state: 'hidden' });
			await shows(modal, ...OF_CLIENT);
			expect(await shownIn(modal)).toStrictEqual(expect.arrayContaining(OF_CLIENT));
			await inputOf(modal, 'baseUrl').fill(service.url);
			await inputOf(modal, 'schemeName').fill('fast');
			await inputOf(modal, 'tokenUrl').fill(service.tokenUrl);
			await inputOf(modal, 'clientId').fill('my-shop');
			await inputOf(modal, 'clientSecret').fill('the secret of the shop');
			await inputOf(modal, 'clientSecret').blur();
			// From here on down, the fields of the token source fill the form.
			const choice = modal.getByText('Authentication', { exact: true });
			await choice.evaluate((element) =>
				(element as unknown as { scrollIntoView(top: boolean): void }).scrollIntoView(true),
			);
			await picture('credential-client-credentials');
			await saved(modal);
			expect(service.tokenRequests).toHaveLength(1);
			expect(service.received.map(({ path }) => path)).toStrictEqual(['/v2/fast/qrcode']);
			await service.close();
		}));
});

const PAYMENT_FIELDS = [
	'resource',
	'operation',
	'key',
	'keyType',
	'amount',
	'external_id',
	'payerQuestion',
];
const QR_CODE_FIELDS = [
	'resource',
	'operation',
	'amount',
	'external_id',
	'payerQuestion',
	'qrCodeImage',
	'postback',
	'specifySplit',
];
const DESCRIBED = [
	...['acceptedField', 'acceptedValues', 'qrCodePath', 'statusField', 'paidValues', 'failedValues'],
];
const WAIT_FIELDS = ['resource', 'operation', 'external_id', 'resumeWhen', 'limitWaitTime'];

/** Opens all that can be opened in an error's view. */
async function openAll(panel: Locator) {
	for (const summary of await panel.locator('summary, .node-error-view__details-title').all()) {
		await summary.click();
	}
}

/** Begins on a fresh n8n; the counts are those of n8n 2. */
function newcomer() {
	/** A person's hand: what it clicks and fills in is counted; to fill in includes going there. */
	const hand = { clicks: 0, fields: 0 };
	async function click(what: Locator) {
		await what.click();
		hand.clicks++;
	}
	async function fillIn(what: Locator, text: string) {
		await what.fill(text);
		hand.fields++;
	}
	const counts: Record<string, string> = {};
	/** The last column of the table, by its first. */
	function toldInExamples() {
		const text = readFileSync(join(__dirname, '..', '..', 'docs', 'examples.md'), 'utf8');
		const rows = text.matchAll(/^\| (.+?) +\| .* \| (\d+ clicks?, \d+ fields?) +\|$/gm);
		return Object.fromEntries([...rows].map(([, step, now]) => [step, now]));
	}
	async function counted(what: string, work: () => Promise<void>) {
		const before = { ...hand };
		await work();
		const [clicks, fields] = [hand.clicks - before.clicks, hand.fields - before.fields];
		const some = (count: number, one: string) => `${count} ${one}${count === 1 ? '' : 's'}`;
		counts[what] = `${some(clicks, 'click')}, ${some(fields, 'field')}`;
		// The enclosing step counts its own alone.
		Object.assign(hand, before);
	}
	async function chooseAction(action: string) {
		const search = page.getByPlaceholder(/Search/).first();
		await fillIn(search, 'pay');
		await click(payEntry());
		await click(page.getByText(action, { exact: true }).first());
		await byId('ndv').waitFor();
	}
	async function addAction(action: string) {
		await page.goto(`${n8n.url}/workflow/new`);
		await click(byId('canvas-plus-button'));
		await click(page.getByText('Trigger manually').first());
		await byId('canvas-node').first().waitFor();
		await click(byId('node-creator-plus-button'));
		await chooseAction(action);
	}
	/** A new credential closes by itself when its test passed, an old one by a click. */
	async function saveAndClose(isNew: boolean) {
		const modal = byId('editCredential-modal');
		// n8n asks its server for the name of a new credential, and refuses to save one without.
		await modal.getByTestId('inline-edit-preview').getByText('Pay account').waitFor();
		await kept();
		await click(byId('credential-save-button'));
		if (!isNew) {
			await modal.getByText('Saved', { exact: true }).waitFor();
			await page.keyboard.press('Escape');
			hand.clicks++;
		}
		await modal.waitFor({ state: 'hidden' });
	}

	async function publish() {
		await click(byId('workflow-open-publish-modal-button'));
		await click(byId('workflow-publish-button'));
	}

	/** From an installed package on: each goes on where the one before it ended. */
	describe('with the clicks and fields that docs/examples.md tells, one gets to', () => {
		let trigger = '';

		test('a paid QR code', async () =>
			await watched(async () => {
				await counted('Paid QR code (README)', async () => {
					await pasteExample('practice-service');
					hand.clicks++;
					await picture('practice-service');
					await publish();
					await until('the practice service', async () => {
						const path = '/webhook/v2/pay/qrcode';
						return (await fetch(n8n.url + path, { method: 'POST' })).status === 401;
					});
					await pasteExample('checkout');
					hand.clicks++;
					const creates = byId('canvas-node').filter({ hasText: 'Create QR code' });
					await creates.dblclick();
					hand.clicks++;
					await click(page.getByRole('button', { name: 'Connect to Pay' }));
					const modal = byId('editCredential-modal');
					await fillIn(inputOf(modal, 'baseUrl'), `${n8n.url}/webhook`);
					await fillIn(inputOf(modal, 'accessToken'), 'anything');
					await saveAndClose(true);
					await page.keyboard.press('Escape');
					hand.clicks++;
					await byId('ndv').waitFor({ state: 'hidden' });
					await click(byId('execute-workflow-button'));
					const last = byId('canvas-node').filter({ hasText: 'Fulfil the order' });
					await last.getByTestId('canvas-node-status-success').waitFor();
					await picture('checkout-executed');
				});
			}));

		test('a QR code made by hand', async () =>
			await watched(async () => {
				await counted('QR code by hand', async () => {
					await addAction('Create QR code');
					await fillIn(field('amount'), '49.9');
					await fillIn(field('external_id'), 'order-1042');
					await kept();
					await click(byId('node-execute-button'));
					await byId('output-panel').getByText('accepted').first().waitFor();
				});
			}));

		test('a postback in a workflow of one’s own', async () =>
			await watched(async () => {
				await counted('Postback in a workflow', async () => {
					await page.goto(`${n8n.url}/workflow/new`);
					await click(byId('canvas-plus-button'));
					await chooseAction('On new Pay event');
					await click(page.getByText('Webhook URLs', { exact: true }));
					await click(page.getByText('Production URL', { exact: true }).first());
					const shown = page.getByText(/\/webhook\/[\w-]+\/postback/).first();
					await click(shown);
					const url = /https?:\S+/.exec(await shown.innerText())?.[0] ?? '';
					await click(byId('credential-edit-button'));
					const modal = byId('editCredential-modal');
					await fillIn(inputOf(modal, 'postbackUrl'), url);
					await fillIn(inputOf(modal, 'postbackSecret'), 'kX3v9QmZ7tB2wN8rL5yH1cJ6pD4sFa');
					await saveAndClose(false);
					await page.keyboard.press('Escape');
					hand.clicks++;
					await publish();
					await until(
						'the webhook',
						async () => (await fetch(url, { method: 'POST' })).status === 401,
					);
					trigger = /\/workflow\/(\w+)/.exec(page.url())?.[1] ?? '';
				});
			}));

		test('a settled payout', async () =>
			await watched(async () => {
				await counted('Settled payout', async () => {
					await addAction('Make payment');
					await fillIn(field('key'), 'ana@example.com');
					await fillIn(field('keyType'), 'email');
					await fillIn(field('amount'), '12.5');
					await fillIn(field('external_id'), 'payout-1');
					await kept();
					await click(byId('node-execute-button'));
					await byId('output-panel').getByText('accepted').first().waitFor();
					const reported = await until('the postback', async () => {
						const [id] = await n8n.executionIds(trigger);
						return id !== undefined && itemsOf(await n8n.finished(id), 'Pay Trigger')[0];
					});
					expect(reported).toMatchObject({
						reference: { external_id: 'payout-1', kind: 'payment', amount: 12.5 },
						body: { status: 'paid' },
					});
				});
			}));

		test('and these are all that it tells', () => {
			expect(counts).toStrictEqual(toldInExamples());
		});
	});
}

/** What n8n does with what the nodes give. */
function beyondTheForms() {
	test('the image of a QR code can be looked at in the output', async () =>
		await watched(async () => {
			await openPay({
				resource: 'qrCode',
				amount: '49.90',
				external_id: 'order-1043',
				qrCodeImage: true,
			});
			const panel = await execute();
			await panel.getByText('Binary', { exact: true }).first().click();
			await panel.getByRole('button', { name: 'View' }).first().click();
			const image = page
				.locator(
					'img[src*="binary-data"], [data-test-id="embedded-value"] img, .binary-data-window img, img[src^="data:image/png"], img[src^="blob:"]',
				)
				.first();
			await image.waitFor();
			const size = async () =>
				await image.evaluate(
					(element) => (element as unknown as { naturalWidth: number }).naturalWidth,
				);
			await until('the image', async () => (await size()) >= 400);
			await picture('qr-image');
		}));

	test('a trigger without a Postback Secret: the editor says why it is not published, and what to do', async () =>
		await watched(async () => {
			const payApi = await n8n.createCredential({ baseUrl: sandbox.url, accessToken: TOKEN });
			const trigger = payTrigger();
			const workflow = chain('No secret', [trigger, noOp('After')]);
			const id = await n8n.importWorkflow(workflow, { payApi });
			await page.goto(`${n8n.url}/workflow/${id}`);
			await byId('canvas-node').first().waitFor();
			await byId('workflow-open-publish-modal-button').click();
			await byId('workflow-publish-button').click();
			await page
				.getByText(/Postbacks could not be verified: enter 30 random characters as Postback Secret/)
				.first()
				.waitFor();
			expect((await fetch(n8n.url + webhookPath(trigger), { method: 'POST' })).status).toBe(404);
			await n8n.rest('DELETE', `/credentials/${payApi.id}`);
		}));
}
