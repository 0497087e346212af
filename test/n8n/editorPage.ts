import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, selectors, type Browser, type Locator, type Page } from 'playwright-core';
import { example } from '../../dev/demo';
import { OWNER, until } from '../../dev/n8n';
import { PERSON } from './person';

export const EXAMPLES = join(__dirname, '..', '..', 'examples');

export async function launch(...more: string[]): Promise<Browser> {
	// n8n marks its elements so.
	selectors.setTestIdAttribute('data-test-id');
	const quiet = ['--disable-gpu', '--disable-background-networking', '--disable-component-update'];
	return await chromium.launch({
		executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
		args: ['--no-sandbox', ...quiet, ...more],
	});
}

/** How long a page may take on a busy machine, in milliseconds. */
const PATIENCE = 180_000;

/** What all below is about: {@link look} at another. */
export let page: Page;
export function look(at: Page) {
	page = at;
}

/** Opens an address in a new tab, which becomes the one that all below is about. */
export async function openTab(url: string, shown: () => Locator) {
	const tab = await page.context().newPage();
	tab.setDefaultTimeout(PATIENCE);
	await tab.goto(url);
	look(tab);
	await shown().waitFor();
}
export async function closeOtherTabs() {
	for (const tab of page.context().pages()) if (tab !== page) await tab.close();
}

/** On the home page: a card while there is no workflow, a button from then on. */
export const newWorkflowButton = (on = page) =>
	on.getByTestId('new-workflow-card').or(on.getByTestId('add-resource-workflow')).first();

/** A page of the editor, its owner signed in. */
export async function signedIn(url: string, where: Browser, locale?: string): Promise<Page> {
	const context = await where.newContext({
		viewport: { width: 1440, height: 900 },
		locale,
		permissions: ['clipboard-read', 'clipboard-write'],
		// What a person enters where a page of an example asks for it.
		httpCredentials: { username: PERSON.user, password: PERSON.password },
	});
	const signIn = await context.newPage();
	signIn.setDefaultTimeout(PATIENCE);
	await signIn.goto(`${url}/signin`);
	const name = signIn.locator('input[name="emailOrLdapLoginId"], input[type="email"]');
	await name.first().fill(OWNER.email);
	await signIn.locator('input[type="password"]').fill(OWNER.password);
	await signIn.keyboard.press('Enter');
	await signIn.waitForURL(/home|workflow/);
	// Until the home page is drawn, n8n would go back to it.
	await newWorkflowButton(signIn).waitFor();
	return signIn;
}

export const byId = (id: string) => page.getByTestId(id);
export const canvasNode = (name: string) => byId('canvas-node').filter({ hasText: name });
/** Waits until a text is there to be seen. */
export async function seen(where: Page | Locator, text: string | RegExp, exact = false) {
	await where.getByText(text, { exact }).first().waitFor();
}

export const parameter = (name: string, form?: Locator) =>
	(form ?? page).getByTestId(`parameter-input-${name}`);
export const field = (name: string, form?: Locator) =>
	parameter(name, form).locator('input, textarea').first();
export async function turnOn(name: string, form?: Locator) {
	await parameter(name, form).locator('.el-switch, [role=switch]').first().click();
}
export async function choose(name: string, text: string) {
	await parameter(name).click();
	await page.getByRole('option', { name: text }).first().click();
}

/** The fields that a form shows, in its order. */
export async function shownIn(form: Locator): Promise<string[]> {
	const fields = form.locator('[data-test-id^="parameter-input-"]').filter({ visible: true });
	const ids = await Promise.all(
		(await fields.all()).map(async (each) => (await each.getAttribute('data-test-id')) ?? ''),
	);
	// n8n's mark of the inner part of any text field.
	return ids.map((id) => id.replace('parameter-input-', '')).filter((name) => name !== 'field');
}
/** Waits until a form shows these fields: n8n draws some of them later than their form. */
export async function shows(form: Locator, ...fields: string[]) {
	for (const name of fields) await parameter(name, form).first().waitFor();
}

/**
 * n8n keeps what was typed 200 ms after the last key, and runs a step with what it has kept. A timer
 * of the page that is set now ends after that one, on however slow a machine.
 */
export const kept = async () => await page.evaluate('new Promise((done) => setTimeout(done, 250))');

/** Runs the step that is open; gives the panel of its output. */
export async function execute(): Promise<Locator> {
	await kept();
	await byId('node-execute-button').click();
	return byId('output-panel');
}

export const payEntry = () =>
	byId('item-iterator-item')
		.filter({ hasText: /^Pay(?!Pal)/ })
		.first();

/** Types what a person looks for into the panel of nodes, where it is open. */
export async function searchForPay() {
	await page
		.getByPlaceholder(/Search/)
		.first()
		.fill('pay');
}

const isNote = ({ type }: { type: string }) => type === 'n8n-nodes-base.stickyNote';
/** Pastes an example, as its file's content is copied and pasted. */
export async function paste(name: string) {
	const before = await byId('canvas-node').count();
	const text = readFileSync(join(EXAMPLES, `${name}.json`), 'utf8');
	await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
	await page.keyboard.press('Control+v');
	const added = example(name).nodes.filter((each) => !isNote(each)).length;
	await byId('canvas-node')
		.nth(before + added - 1)
		.waitFor();
}
/** Closes a form. */
export async function escape(form: string) {
	// In a field, this key leaves the field alone.
	await page.evaluate('document.activeElement.blur()');
	await page.keyboard.press('Escape');
	await byId(form).waitFor({ state: 'hidden' });
}

/**
 * Goes to an address of the editor as its links do: to load its page anew takes 20 s. By way of the
 * home page, so that nothing of an earlier workflow is taken for the next one's.
 * @param shown what stands there once it is drawn; waited for
 */
export async function go(url: string, shown: Locator) {
	const { origin, pathname } = new URL(url);
	const isElsewhere = new URL(page.url()).origin !== origin || page.url().includes('/executions/');
	// A credential that is open would stay so, and n8n would go back to what was executed.
	if (isElsewhere || (await byId('editCredential-modal').isVisible())) {
		await page.goto(url);
		return await shown.waitFor();
	}
	// n8n 1 would open the node of this name in the next workflow too.
	if (await byId('ndv').isVisible()) {
		await escape('ndv');
		// The node is in the address, and taken out of it a moment later.
		await page.waitForURL(/\/workflow\/[^/]+$/);
	}
	// n8n 2 saves a new workflow by itself, and goes back to it then.
	const isUnsaved = page.url().endsWith('?new=true') && (await byId('canvas-node').count()) > 0;
	if (isUnsaved) await page.waitForURL(/\/workflow\/\w+$/);
	const router = "document.getElementById('app').__vue_app__.config.globalProperties.$router";
	const push = async (path: string) => {
		const gone = page.evaluate(`${router}.push('${path}').then(() => undefined)`);
		await Promise.race([gone, page.getByRole('button', { name: /without saving/i }).click()]);
		await gone;
	};
	const soon = { timeout: 15_000 };
	// On a busy machine n8n 2 goes back to the workflow of before, even so: then all of it once more.
	await until(
		pathname,
		async () => {
			await push('/home/workflows');
			// Until it is drawn, n8n would go back to it; while the canvas is there, n8n would keep that.
			await newWorkflowButton().waitFor(soon);
			await byId('canvas-node')
				.first()
				.waitFor({ state: 'detached', ...soon });
			await push(pathname);
			await shown.waitFor(soon);
			await page.waitForTimeout(250);
			const at = new URL(page.url());
			return at.pathname === pathname || at.searchParams.has('new');
		},
		180,
	);
}
export async function newWorkflow(url: string) {
	await go(`${url}/workflow/new`, byId('canvas-plus-button'));
}
