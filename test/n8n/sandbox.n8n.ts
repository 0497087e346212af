import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import AxeBuilder from '@axe-core/playwright';
import {
	chromium,
	type Browser,
	type BrowserContext,
	type Locator,
	type Page,
} from 'playwright-core';
import { prepareZXingModule, readBarcodes } from 'zxing-wasm/reader';
import { until } from '../../dev/n8n';
import { Sandbox } from '../../sandbox/service';
import { send, startReceiver, type Receiver } from '../../sandbox/caller';

/** Where the documents' pictures go; none are taken without it. */
const { PAY_SCREENSHOTS } = process.env;

let browser: Browser;
let context: BrowserContext;
let page: Page;
let sandbox: Sandbox;
let receiver: Receiver;

beforeAll(async () => {
	if (PAY_SCREENSHOTS !== undefined) mkdirSync(PAY_SCREENSHOTS, { recursive: true });
	browser = await chromium.launch({
		executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
		args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
	});
});
afterAll(async () => await browser?.close());
beforeEach(async () => {
	sandbox = await Sandbox.start({ amountsAct: true });
	receiver = await startReceiver();
	context = await browser.newContext({
		viewport: { width: 1280, height: 1000 },
		permissions: ['clipboard-read', 'clipboard-write'],
		locale: 'en-GB',
		timezoneId: 'Asia/Tokyo',
	});
	page = await context.newPage();
	page.setDefaultTimeout(60_000);
	await page.goto(sandbox.url);
	await page.getByText('Nothing yet. What n8n sends').waitFor();
	// Drawn by the first event, which would undo what was chosen before it.
	await page.getByRole('definition').getByText(sandbox.url, { exact: true }).waitFor();
});
afterEach(async () => {
	await context.close();
	receiver.close();
	await sandbox.close();
});

async function accessible() {
	for (const colorScheme of ['light', 'dark'] as const) {
		await page.emulateMedia({ colorScheme });
		const { violations } = await new AxeBuilder({ page }).analyze();
		expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toStrictEqual(
			[],
		);
	}
	await page.emulateMedia({ colorScheme: 'light' });
}
async function picture(name: string) {
	if (PAY_SCREENSHOTS !== undefined) {
		await page.screenshot({ path: join(PAY_SCREENSHOTS, `${name}.png`) });
	}
}

/** Opens all that can be opened. */
async function openAll() {
	await page
		.locator('details')
		.evaluateAll((all) => all.forEach((node) => node.setAttribute('open', '')));
	expect(await page.locator('details:not([open])').count()).toBe(0);
}

const charge = async (external_id: string, more: object = {}) =>
	await send(sandbox, '/v2/pay/qrcode', {
		amount: 49.9,
		external_id,
		postbackUrl: `${receiver.url}?pay_proof=WyJxckNvZGUiLDQ5LjldLg.a-proof`,
		...more,
	});
const pay = async (external_id: string, more: object = {}) =>
	await send(sandbox, '/v2/pay/payment', {
		amount: 12.5,
		external_id,
		creditParty: { key: 'ana@example.com', keyType: 'email' },
		postbackUrl: receiver.url,
		...more,
	});
const card = (name: string) => page.getByRole('article', { name });

test('a charge appears without a reload, is paid by a click, and its postback is sent again and twice', async () => {
	await charge('order-1042', { payerQuestion: 'Order 1042', payer: { name: 'Ana' } });
	const order = card('order-1042');
	await order.getByText('Waiting', { exact: true }).waitFor();
	for (const field of ['payerQuestion', '"Order 1042"', 'payer.name', '"Ana"']) {
		await order.getByText(field, { exact: true }).waitFor();
	}
	await order.getByRole('button', { name: 'Customer pays' }).click();
	await order.getByText('response 200', { exact: false }).first().waitFor();
	expect(receiver.came).toHaveLength(1);
	await order.getByRole('button', { name: 'Send again' }).click();
	await receiver.count(2);
	// Once it is drawn: a click on a card that is being replaced is lost.
	await order.getByText('Postback 2, sent again').waitFor();
	await order.getByRole('button', { name: 'Send twice: postback 1 ' }).click();
	await receiver.count(4);
	await order.getByText('Postback 4').first().waitFor();
	expect(new Set(receiver.came).size).toBe(1);
});

test('a payment has buttons of its own, and shows each member of its request', async () => {
	await pay('payout-7');
	const payout = card('payout-7');
	for (const field of ['creditParty.key', '"ana@example.com"']) {
		await payout.getByText(field, { exact: true }).waitFor();
	}
	expect(await payout.getByRole('button', { name: /Customer/ }).count()).toBe(0);
	await payout.getByRole('button', { name: 'Fails' }).click();
	await receiver.count(1);
	expect(JSON.parse(receiver.came[0]!)).toMatchObject({ event: 'payment.failed' });
	await payout.getByText('Failed', { exact: true }).first().waitFor();
});

test('a card says what happened last and who was told; the credential’s test is no rejection', async () => {
	await charge('order-1', { postbackUrl: undefined });
	const alone = card('order-1').locator('[data-part=latest]');
	await alone.getByText(/^Asked for \d.*\. Nobody will be told: no postback URL\.$/).waitFor();
	await card('order-1').getByRole('button', { name: 'Customer pays' }).click();
	await alone.getByText(/^Paid \d.*\. Nobody was told: no postback URL\.$/).waitFor();
	await pay('payout-1');
	const told = card('payout-1').locator('[data-part=latest]');
	await told.getByText(/^Asked for \d[\d:]+\. $/).waitFor();
	await card('payout-1').getByRole('button', { name: 'Fails' }).click();
	await told.getByText(/^Failed \d.*\. The last postback: response 200\.$/).waitFor();

	await send(sandbox, '/v2/pay/qrcode', {});
	const tested = page.getByRole('listitem').filter({ hasText: 'the credential’s test, passed' });
	await tested.locator('strong.good').waitFor();
	// One that lacks only a field stays a rejection.
	await send(sandbox, '/v2/pay/qrcode', { amount: 1 });
	await page.getByRole('listitem').locator('strong.bad').getByText('422').waitFor();
	await page.getByRole('button', { name: /^Copy Access Token/ }).click();
	const token = await page.evaluate<string>('navigator.clipboard.readText()');
	expect(token).toMatch(/^\S{8,}$/);
});

test('the QR code is a picture that a phone reads, and its code can be copied', async () => {
	const wasm = readFileSync(require.resolve('zxing-wasm/reader/zxing_reader.wasm'));
	await prepareZXingModule({ overrides: { wasmBinary: wasm.buffer as ArrayBuffer } });
	await charge('order-1042');
	const image = page.getByRole('img', { name: 'QR code of order-1042' });
	await image.waitFor();
	for (const colorScheme of ['light', 'dark'] as const) {
		await page.emulateMedia({ colorScheme });
		await until('the picture to be read', async () => {
			const [found] = await readBarcodes(new Uint8Array(await image.screenshot()), {
				formats: ['QRCode'],
			});
			return found?.text === sandbox.transactions[0]?.qrCode;
		});
	}
	await page.getByRole('button', { name: 'Copy code of order-1042' }).click();
	await page.getByText('Code copied').waitFor();
	expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(
		sandbox.transactions[0]?.qrCode,
	);
});

test('the payer’s page is a phone with one button, and the sandbox’s page sees it used', async () => {
	await charge('order-1042', { payerQuestion: 'Order 1042' });
	const [phone] = await Promise.all([
		context.waitForEvent('page'),
		page.getByRole('link', { name: 'Payer’s page of order-1042' }).click(),
	]);
	await phone.setViewportSize({ width: 900, height: 760 });
	const button = phone.getByRole('button');
	await button.waitFor();
	expect(await button.allInnerTexts()).toStrictEqual(['Pay 49.90']);
	await phone.getByText('Order 1042').waitFor();
	const sandboxPage = page;
	page = phone;
	await picture('sandbox-payer');
	await accessible();
	await button.dblclick();
	await phone.getByText('Paid').waitFor();
	expect(await button.count()).toBe(0);
	await receiver.count(1);
	await accessible();
	page = sandboxPage;
	await card('order-1042').getByText('Paid', { exact: true }).first().waitFor();
	expect(sandbox.transactions[0]?.changes).toHaveLength(1);
});

test('a service with tokens says how to connect, and revokes them by a click', async () => {
	const other = await Sandbox.start({
		schemeName: 'instant',
		clientCredentials: { clientId: 'client-1', clientSecret: 'secret-of-the-client' },
	});
	const form = { client_id: 'client-1', client_secret: 'secret-of-the-client' };
	await fetch(other.tokenUrl, {
		method: 'POST',
		body: new URLSearchParams({ ...form, grant_type: 'client_credentials' }),
	});
	await page.goto(other.url);
	for (const shown of [other.url, 'instant', other.tokenUrl, 'client-1', 'secr…']) {
		await page.getByRole('definition').getByText(shown, { exact: true }).waitFor();
	}
	await page.getByText('1 active, 3600 s each').waitFor();
	await page.getByRole('button', { name: 'Revoke all access tokens' }).click();
	await page.getByText('0 active, 3600 s each').waitFor();
	expect(other.tokens?.active).toBe(0);
	await accessible();
	await other.close();
});

test('the next request is ordered with the keyboard alone, once, and the page shows when it was used', async () => {
	await page.getByRole('radio', { name: 'Normal' }).focus();
	await page.keyboard.press('ArrowRight');
	await page.getByRole('radio', { name: 'Reject (422)', checked: true }).waitFor();
	while (sandbox.orderedRehearsal === undefined) await page.waitForTimeout(20);
	expect((await pay('payout-1')).status).toBe(422);
	await page.getByText('Carries the request out and responds with 201.').waitFor();
	await page.getByRole('radio', { name: 'Normal', checked: true }).waitFor();
	const rejected = page.getByRole('listitem').filter({ hasText: 'payout-1' });
	await rejected.getByText('422', { exact: true }).waitFor();
	await rejected.locator('summary').focus();
	await page.keyboard.press('Enter');
	await rejected.getByText('Rejected, as ordered').waitFor();
	expect((await pay('payout-2')).status).toBe(201);
});

test('what a person opened and where the keyboard is survive a change', async () => {
	await charge('order-1');
	await card('order-1').getByText('Headers and body as sent').click();
	const button = card('order-1').getByRole('button', { name: 'Customer pays' });
	await button.focus();
	await page.keyboard.press('Enter');
	await card('order-1').getByText('Postback 1').waitFor();
	await charge('order-2');
	await card('order-2').waitFor();
	expect(await card('order-1').getByText('user-agent: node').isVisible()).toBe(true);
	const focused = page.locator(':focus');
	expect(await focused.getAttribute('aria-label')).toBe('Customer pays: order-1');
});

test('times are the person’s own', async () => {
	await charge('order-1');
	const time = card('order-1').locator('time').first();
	const iso = (await time.getAttribute('datetime'))!;
	const tokyo = new Date(iso).toLocaleTimeString('en-GB', { timeZone: 'Asia/Tokyo' });
	expect(await time.innerText()).toBe(tokyo);
});

test('nothing that came from a request becomes markup', async () => {
	const evil = (where: string) =>
		`<img src=x class=evil onerror="document.title='${where}'"><script>document.title='${where}'</script>"'>`;
	receiver.close();
	receiver = await startReceiver(evil('the receiver'));
	// First that the check finds what it looks for, and that the policy stops what would run.
	await page.evaluate(
		`new Promise((refused) => {
			document.addEventListener('securitypolicyviolation', () => refused(), { once: true });
			document.querySelector('header').insertAdjacentHTML('beforeend', ${JSON.stringify(evil('control').replace(/<script.*/, ''))});
		})`,
	);
	expect(await page.locator('.evil').count()).toBe(1);
	expect(await page.title()).toBe('Sandbox');
	await page.evaluate(`document.querySelector('.evil').remove()`);

	await charge(evil('external_id'), {
		payerQuestion: evil('description'),
		payer: { name: evil('name') },
		[evil('member')]: { [evil('nested')]: evil('value') },
		__proto__: null,
		postbackUrl: `${receiver.url}?${encodeURIComponent(evil('url'))}`,
	});
	await pay(evil('payment'), { creditParty: { key: evil('key') }, postbackUrl: evil('no URL') });
	await send(sandbox, `/v2/${evil('path').replace(/[\s]/g, '/')}`, evil('body'), {
		Authorization: `${evil('scheme').replace(/\s/g, '')} ${evil('token')}`,
		'User-Agent': evil('agent'),
	});
	for (const { id } of sandbox.transactions) await sandbox.settle(id, 'paid').catch(() => {});
	await page.reload();
	await page.getByRole('article').nth(1).waitFor();
	await openAll();
	for (const where of ['external_id', 'description', 'name', 'value', 'payment', 'the receiver']) {
		expect(await page.getByText(`document.title='${where}'`).count()).toBeGreaterThan(0);
	}
	expect(await page.locator('.evil').count()).toBe(0);
	expect(await page.locator('script').count()).toBe(1);
	await page.goto(`${sandbox.url}/pay/${sandbox.transactions[0]!.id}`);
	await page.getByText(`document.title='description'`).waitFor();
	expect(await page.locator('.evil').count()).toBe(0);
	expect(await page.title()).toBe('Payer’s page');
});

test('full: accessible in both themes, wide and at 400 px, where nothing sticks out', async () => {
	expect((await pay('payout-8', { amount: undefined })).status).toBe(422);
	await pay('payout-7');
	await pay('payout-7', { postbackUrl: undefined });
	const wide = 'a-very-long-external-id-'.repeat(8);
	await charge(wide);
	await charge('order-1042', { payerQuestion: 'Order 1042', payer: { name: 'Ana' } });
	await card('order-1042').getByRole('button', { name: 'Customer pays' }).click();
	await card('order-1042').getByRole('button', { name: 'Send again' }).click();
	await card('order-1042').getByText('Postback 2, sent again').waitFor();
	await page.getByText(/^New request/).waitFor({ state: 'detached' });
	await accessible();
	expect(await card('order-1042').getByText('49.90', { exact: true }).count()).toBe(1);
	await page.evaluate('scrollTo(0, 0)');
	await picture('sandbox');
	await page.emulateMedia({ colorScheme: 'dark' });
	await picture('sandbox-dark');
	await page.emulateMedia({ colorScheme: 'light' });
	await page.setViewportSize({ width: 400, height: 900 });
	await picture('sandbox-narrow');
	await openAll();
	await accessible();
	expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(400);
});

test('every button can be reached with the Tab key, and says what it is for', async () => {
	await charge('order-1');
	await sandbox.settle(sandbox.transactions[0]!.id, 'paid');
	await card('order-1').getByRole('button', { name: 'Send twice' }).waitFor();
	const nameOf = async (node: Locator) =>
		(await node.getAttribute('aria-label')) ?? (await node.innerText());
	const names = await Promise.all((await page.getByRole('button').all()).map(nameOf));
	expect(names.length).toBeGreaterThan(6);
	expect(new Set(names).size).toBe(names.length);
	const reached = new Set<string>();
	for (let presses = 0; presses < 60 && reached.size < names.length; presses++) {
		await page.keyboard.press('Tab');
		const focused = page.locator('button:focus');
		if ((await focused.count()) === 1) reached.add(await nameOf(focused));
	}
	expect([...reached].sort()).toStrictEqual([...names].sort());
});
