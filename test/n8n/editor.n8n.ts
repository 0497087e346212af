import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, selectors, type Browser, type Page } from 'playwright-core';
import { example } from '../../dev/demo';
import { OWNER, until, webhookPath, type N8n } from '../../dev/n8n';
import { Sandbox } from '../../sandbox/service';
import { chain, node, noOp, pay, payTrigger } from '../../dev/workflow';
import { startN8n } from './nodes';

/** Where the pictures go; the README's come from here too, in the light theme. */
const DARK = join(__dirname, '..', '..', '.cache', 'screenshots', 'dark');
const PICTURES = process.env.PAY_SCREENSHOTS ?? join(DARK, '..');

let browser: Browser;
let page: Page;
let n8n: N8n;
let sandbox: Sandbox;

beforeAll(async () => {
	// n8n marks its elements so.
	selectors.setTestIdAttribute('data-test-id');
	mkdirSync(PICTURES, { recursive: true });
	mkdirSync(DARK, { recursive: true });
	sandbox = await Sandbox.start();
	n8n = await startN8n('n8n2');
	browser = await launch();
	page = await signedIn(browser);
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
	const context = await where.newContext({ viewport: { width: 1440, height: 900 }, locale });
	const signIn = await context.newPage();
	signIn.setDefaultTimeout(30_000);
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
afterAll(async () => {
	await browser?.close();
	await n8n?.stop();
	await sandbox?.close();
});

/** What was on the screen when a test failed. */
async function watched(work: () => Promise<void>) {
	try {
		await work();
	} catch (error) {
		await picture(`failed-${expect.getState().currentTestName?.slice(0, 12).replace(/\W+/g, '-')}`);
		throw error;
	}
}

afterEach(() => {
	sandbox.faultFor = undefined;
});

const byId = (id: string) => page.getByTestId(id);
const field = (name: string) => byId(`parameter-input-${name}`).locator('input, textarea').first();
async function picture(name: string) {
	await page.waitForTimeout(700);
	await page.screenshot({ path: join(PICTURES, `${name}.png`) });
	const colour = async () => await page.evaluate<string>('getComputedStyle(document.body).color');
	const light = await colour();
	await page.emulateMedia({ colorScheme: 'dark' });
	await until('the dark theme', async () => (await colour()) !== light, 5);
	await page.waitForTimeout(200);
	await page.screenshot({ path: join(DARK, `${name}.png`) });
	await page.emulateMedia({ colorScheme: 'light' });
	await until('the light theme', async () => (await colour()) === light, 5);
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

/** Adds an action of the Pay node to the open workflow, and its panel opens. */
async function addPay(action: string) {
	await openPanel('pay');
	await payEntry().click();
	const category = byId('node-creator-category-item').filter({ hasText: 'Actions' }).first();
	if (!(await page.getByText(action, { exact: true }).first().isVisible())) await category.click();
	await page.getByText(action, { exact: true }).first().click();
	await byId('ndv').waitFor();
}

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

test('typing "pay" finds the nodes; the entry offers the trigger and the three actions', async () => {
	await newWorkflow();
	await openPanel('pay');
	await payEntry().waitFor();
	await picture('node-panel');
	await payEntry().click();
	const triggers = byId('node-creator-category-item').filter({ hasText: 'Triggers' });
	await triggers.waitFor();
	for (const action of ['Create a QR code', 'Make a payment', 'Wait for a postback']) {
		await page.getByText(action, { exact: true }).first().waitFor();
	}
	await picture('node-actions');
});

test('by mouse and keyboard: a credential whose test fails and then passes, a QR code, its image', async () =>
	await watched(async () => {
		await newWorkflow();
		await addPay('Create a QR code');
		await page.getByRole('button', { name: 'Connect to Pay' }).click();
		const modal = byId('editCredential-modal');
		await modal.waitFor();
		await modal
			.getByTestId('parameter-input-baseUrl')
			.locator('input')
			.fill(`${sandbox.url}/fault/status-401`);
		await modal
			.getByTestId('parameter-input-accessToken')
			.locator('input')
			.fill('token-of-the-editor-test');
		await byId('credential-save-button').click();
		await modal.getByText('More details').click();
		await modal.getByText(/The service refused the access token \(HTTP 401\)/).waitFor();
		await picture('credential-refused');
		await modal.getByTestId('parameter-input-baseUrl').locator('input').fill(sandbox.url);
		await byId('credential-save-button').click();
		await Promise.race([
			modal.getByText(/Connection tested successfully/).waitFor(),
			modal.waitFor({ state: 'hidden' }),
		]);
		if (await modal.isVisible()) await page.keyboard.press('Escape');

		await field('amount').fill('49.9');
		await field('external_id').fill('order-1042');
		await field('payerQuestion').fill('Order 1042');
		await byId('parameter-input-qrCodeImage')
			.locator('.el-switch, [role=switch]')
			.first()
			.click({ force: true });
		await picture('pay-qr-code');
		await byId('node-execute-button').click();
		await byId('output-panel').getByText('Table', { exact: true }).click();
		await byId('output-panel').getByText('accepted').first().waitFor();
		expect(sandbox.bodies('qrcode').at(-1)).toEqual({
			amount: 49.9,
			external_id: 'order-1042',
			payerQuestion: 'Order 1042',
		});
		await picture('pay-qr-code-output');
		await byId('output-panel').getByText('Binary', { exact: true }).first().click();
		await byId('output-panel').getByRole('button', { name: 'View' }).first().click();
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
		await until('the image', async () => (await size()) >= 400, 10);
		await picture('qr-image');
	}));

test('an unknown payment is told in our words', async () =>
	await watched(async () => {
		sandbox.faultFor = ({ path }) =>
			path.endsWith('/payment') ? { kind: 'status', status: 503 } : undefined;
		await newWorkflow();
		await addPay('Make a payment');
		await field('amount').fill('12.5');
		await field('external_id').fill('payout-7');
		await picture('pay-payment');
		await byId('node-execute-button').click();
		const panel = byId('output-panel');
		await panel.getByText('It is not known whether payment "payout-7" was made').first().waitFor();
		await panel
			.getByText(/Ask the service whether/)
			.first()
			.waitFor();
		expect(await panel.innerText()).not.toMatch(
			/try again later|retry automatically|token-of-the-editor-test/i,
		);
		await picture('unknown-payment');
	}));

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
				await newWorkflow();
				await addPay('Make a payment');
				const before = sandbox.received.length;
				await field('amount').click();
				await page.keyboard.type('10,50');
				expect(await field('amount').inputValue()).toBe('10,50');
				await field('external_id').fill(`comma-${language}`);
				await byId('node-execute-button').click();
				const panel = byId('output-panel');
				await panel
					.getByText(/Amount \(amount\) must be a number, but is "10,50"/)
					.first()
					.waitFor();
				await panel
					.getByText(/Write 10\.50/)
					.first()
					.waitFor();
				expect(sandbox.received).toHaveLength(before);
				if (language === undefined) await picture('comma-refused');
				await field('amount').fill('10.50');
				await byId('node-execute-button').click();
				await panel.getByText('accepted').first().waitFor();
				expect(sandbox.bodies('payment').at(-1)).toMatchObject({ amount: 10.5 });
			});
		} finally {
			if (browser !== firstBrowser) await browser.close();
			[browser, page] = [firstBrowser, firstPage];
		}
	},
);

test("the recipient's key and key type stand open at the top of a payment", async () =>
	await watched(async () => {
		await newWorkflow();
		await addPay('Make a payment');
		const at = async (name: string) => (await field(name).boundingBox())?.y ?? 0;
		const [key, keyType, amount] = [await at('key'), await at('keyType'), await at('amount')];
		expect(Math.min(key, keyType)).toBeGreaterThan(0);
		expect(Math.max(key, keyType)).toBeLessThan(amount);
	}));

test('before the first run the next node is offered the fields of an accepted payment', async () =>
	await watched(async () => {
		const workflow = chain('Preview', [
			node('Start', 'n8n-nodes-base.manualTrigger'),
			pay('Pay', { amount: '1' }),
			noOp('After'),
		]);
		const id = await n8n.importWorkflow(workflow);
		await page.goto(`${n8n.url}/workflow/${id}`);
		await byId('canvas-node').filter({ hasText: 'After' }).dblclick();
		const input = byId('ndv-input-panel');
		for (const name of ['external_id', 'amount', 'outcome', 'statusCode', 'response']) {
			await input.getByText(name, { exact: true }).first().waitFor();
		}
		await picture('preview');
	}));

test('a trigger workflow is published, and its URL can be copied', async () =>
	await watched(async () => {
		await page.goto(`${n8n.url}/workflow/new`);
		await byId('canvas-plus-button').click();
		await page
			.getByPlaceholder(/Search/)
			.first()
			.fill('pay');
		await payEntry().click();
		await page.getByText('On new Pay event').first().click();
		await byId('ndv').waitFor();
		await choose('authentication', 'None');
		await page.getByText(/Anyone who learns this URL/).waitFor();
		await page.getByText('Webhook URLs').click();
		await page.getByText('Production URL', { exact: true }).first().click();
		const shown = page.getByText(/\/webhook\/[\w-]+\/postback/).first();
		const url = (await shown.innerText()).trim().replace(/^(GET|POST|ANY)\s*/, '');
		await picture('pay-trigger');
		await page.keyboard.press('Escape');
		await byId('workflow-open-publish-modal-button').click();
		await page.getByRole('button', { name: 'Publish' }).last().click();
		const address = /https?:\S+/.exec(url)?.[0] ?? '';
		const end = Date.now() + 20_000;
		let status = 0;
		while (status !== 200 && Date.now() < end) {
			status = (await fetch(address, { method: 'POST' })).status;
			await page.waitForTimeout(200);
		}
		expect(status).toBe(200);
	}));

test('a trigger without a Postback Secret: the editor says why it is not published, and what to do', async () =>
	await watched(async () => {
		const payApi = await n8n.createCredential({ baseUrl: sandbox.url, accessToken: 'token' });
		const trigger = payTrigger();
		const workflow = chain('No secret', [trigger, noOp('After')]);
		const id = await n8n.importWorkflow(workflow, { payApi });
		await page.goto(`${n8n.url}/workflow/${id}`);
		await byId('canvas-node').first().waitFor();
		await byId('workflow-open-publish-modal-button').click();
		await page.getByRole('button', { name: 'Publish' }).last().click();
		await page
			.getByText(/Postbacks could not be verified: enter a long random text as Postback Secret/)
			.first()
			.waitFor();
		await picture('publish-refused');
		expect((await fetch(n8n.url + webhookPath(trigger), { method: 'POST' })).status).toBe(404);
		await n8n.rest('DELETE', `/credentials/${payApi.id}`);
	}));

test('a checkout is run, waits, and goes on when the customer has paid', async () =>
	await watched(async () => {
		const payApi = await n8n.createCredential({
			baseUrl: sandbox.url,
			accessToken: 'token-of-the-editor-test',
			postbackSecret: 'the secret of the editor test',
		});
		const id = await n8n.importWorkflow(example('checkout'), { payApi });
		await page.goto(`${n8n.url}/workflow/${id}`);
		const before = sandbox.transactions.length;
		// The other way to start it waits for a customer to open its page.
		await byId('execute-workflow-button-Start').dispatchEvent('click');
		const charge = await until('the charge', async () => sandbox.transactions[before], 20);
		const [executionId] = await n8n.executionIds(id);
		await until('the wait', async () => {
			const { status } = await n8n.execution(executionId ?? '');
			return status === 'waiting';
		});
		await sandbox.settle(charge.id, 'paid');
		const last = byId('canvas-node').filter({ hasText: 'Fulfil the order' });
		await last.getByTestId('canvas-node-status-success').waitFor();
		await picture('checkout-executed');
	}));

// Last, since n8n offers the newest credential to the nodes of the other tests.
test('client credentials: their fields are shown, that of the pasted token is hidden, and it works', async () =>
	await watched(async () => {
		const service = await Sandbox.start({
			schemeName: 'fast',
			clientCredentials: { clientId: 'my-shop', clientSecret: 'the secret of the shop' },
		});
		await page.goto(`${n8n.url}/home/credentials/create`);
		await page.getByRole('combobox').last().fill('Pay API');
		await page.getByText('Pay API', { exact: true }).last().click();
		await byId('new-credential-type-button').click();
		const modal = byId('editCredential-modal');
		await modal.waitFor();
		const input = (name: string) => modal.getByTestId(`parameter-input-${name}`).locator('input');
		const shown = async () => {
			const fields = await modal.locator('[data-test-id^="parameter-input-"]').all();
			const names = await Promise.all(
				fields.map(async (each) => await each.getAttribute('data-test-id')),
			);
			return names.map((name) => name?.replace('parameter-input-', ''));
		};
		await input('accessToken').waitFor();
		const OF_CLIENT = ['tokenUrl', 'clientId', 'clientSecret', 'scope', 'clientAuthentication'];
		expect((await shown()).filter((name) => OF_CLIENT.includes(name ?? ''))).toEqual([]);
		await modal.getByTestId('parameter-input-authentication').click();
		await page.getByRole('option', { name: 'Client Credentials' }).first().click();
		await input('tokenUrl').waitFor();
		await input('accessToken').waitFor({ state: 'hidden' });
		expect(await shown()).toEqual(expect.arrayContaining(OF_CLIENT));
		expect(await shown()).not.toContain('accessToken');
		await input('baseUrl').fill(service.url);
		await input('schemeName').fill('fast');
		await input('tokenUrl').fill(service.tokenUrl);
		await input('clientId').fill('my-shop');
		await input('clientSecret').fill('the secret of the shop');
		await input('clientSecret').blur();
		// From here on down, the fields of the token source fill the form.
		const choice = modal.getByText('Authentication', { exact: true });
		await choice.evaluate((element) =>
			(element as unknown as { scrollIntoView(top: boolean): void }).scrollIntoView(true),
		);
		await picture('credential-client-credentials');
		await byId('credential-save-button').click();
		await Promise.race([
			modal.getByText(/Connection tested successfully/).waitFor(),
			modal.waitFor({ state: 'hidden' }),
		]);
		expect(service.tokenRequests).toHaveLength(1);
		expect(service.received.map(({ path }) => path)).toEqual(['/v2/fast/qrcode']);
		await service.close();
	}));
