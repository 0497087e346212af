import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { PayApi } from '../../credentials/PayApi.credentials';
import type { N8nVersion } from '../../dev/install';
import { until } from '../../dev/n8n';
import { Pay } from '../../nodes/Pay/Pay.node';
import { PayTrigger } from '../../nodes/Pay/PayTrigger.node';
import { fieldsIn } from '../fields';
import {
	byId,
	canvasNode,
	escape,
	EXAMPLES,
	field,
	go,
	kept,
	newWorkflowButton,
	openTab,
	page,
	parameter,
	paste,
	payEntry,
	searchForPay,
	seen,
	turnOn,
} from './editorPage';

const ROOT = join(__dirname, '..', '..');

/** What is entered in a field, or chosen in a list, by the label that the screen shows. */
export interface Entry {
	label: string;
	value: string;
}

/** A section of a page whose steps a person follows. */
export interface Walk {
	page: string;
	heading: string;
}

/** What a section says to enter: a label in italics, a colon, and a value in code type or italics. */
export function entriesOf({ page: path, heading }: Walk): Entry[] {
	const sections = readFileSync(join(ROOT, path), 'utf8').split(/^#+ /m);
	const section = sections.find((each) => each.startsWith(`${heading}\n`)) ?? '';
	const entries: Entry[] = [];
	for (const [, label = '', typed, chosen = ''] of section.matchAll(
		/_([^_\n]+)_: [^`_\n]*(?:`([^`\n]+)`|_([^_\n]+)_)/g,
	)) {
		entries.push({ label, value: typed ?? chosen });
	}
	return entries;
}

/** What a field is called on the screen. */
function labelOf(name: string): string {
	for (const { properties } of [
		new Pay().description,
		new PayTrigger().description,
		new PayApi(),
	]) {
		const found = fieldsIn(properties).find((each) => each.name === name && each.type !== 'notice');
		if (found !== undefined) return found.displayName;
	}
	throw new Error(`No form has a field ${name}.`);
}

/** A person's hand at the editor. What it enters is kept by its label, as the page must have it. */
export class Hand {
	entries: Entry[] = [];

	constructor(
		private readonly n8nUrl: string,
		private readonly version: N8nVersion,
	) {}

	/** Enters what the page says, letter by letter. */
	async enter(name: string, text: string, form?: Locator) {
		await field(name, form).fill(text);
		this.entries.push({ label: labelOf(name), value: text });
	}

	async choose(name: string, text: string) {
		await parameter(name).click();
		await page.getByRole('option', { name: text }).first().click();
		this.entries.push({ label: labelOf(name), value: text });
	}

	/** Finds a value that an earlier page had one enter. */
	async find(name: string, text: string, form: Locator) {
		await until(`${text} in ${name}`, async () => (await field(name, form).inputValue()) === text);
		this.entries.push({ label: labelOf(name), value: text });
	}

	async turnOn(name: string, form?: Locator) {
		await turnOn(name, form);
	}

	async openNode(name: string) {
		await page.locator(`[data-test-id=canvas-node][data-node-name="${name}"]`).dblclick();
		await byId('ndv').waitFor();
	}

	async close(form: string) {
		await kept();
		await escape(form);
	}

	async paste(example: string) {
		await paste(example);
	}

	/** Gives a file to a page that asks for one. */
	async upload(file: string | { name: string; mimeType: string; buffer: Buffer }) {
		await page.locator('input[type=file]').setInputFiles(file);
	}

	/** From the home page, which n8n shows first, and again after a click. */
	async beginWorkflow() {
		// On a busy machine n8n 2 goes back to the workflow of before: then all of it once more.
		await until(
			'an empty canvas',
			async () => {
				await go(`${this.n8nUrl}/home/workflows`, newWorkflowButton());
				await newWorkflowButton().click();
				await byId('canvas-plus-button').waitFor({ timeout: 15_000 });
				return true;
			},
			180,
		);
	}

	/** By a link of README, which leads to an n8n at its own port. */
	async followLinkToNewWorkflow(text: string) {
		const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
		expect(readme).toContain(`[${text}](http://localhost:5678/workflow/new)`);
		await openTab(`${this.n8nUrl}/workflow/new`, () => byId('canvas-plus-button'));
	}

	/** Adds a node, where the panel of nodes is open. */
	async chooseAction(action: string) {
		await searchForPay();
		await payEntry().click();
		await page.getByText(action, { exact: true }).first().click();
		await byId('ndv').waitFor();
	}

	/** Begins a workflow with an action, whose group the panel keeps closed before there is a node. */
	async beginWithAction(action: string) {
		await this.beginWorkflow();
		await byId('canvas-plus-button').click();
		await searchForPay();
		await payEntry().click();
		await byId('node-creator-category-item').filter({ hasText: 'Actions' }).click();
		await page.getByText(action, { exact: true }).first().click();
		await byId('ndv').waitFor();
	}

	async beginWithTrigger(name: string) {
		await this.beginWorkflow();
		await byId('canvas-plus-button').click();
		await this.chooseAction(name);
	}

	/** Makes a data table from the CSV file of an example. */
	async importTable(name: string, file: string) {
		await go(`${this.n8nUrl}/home/workflows`, newWorkflowButton());
		await page.getByText('Data tables', { exact: true }).click();
		await page.getByText('Create data table').first().click();
		await byId('data-table-name-input-select').fill(name);
		await page.getByText('Import CSV').click();
		await this.upload(join(EXAMPLES, file));
		await byId('proceed-from-select-button').click();
		await byId('confirm-add-data-table-button').click();
		// n8n 2 keeps a hidden copy of the name, to measure it.
		await page.getByText('external_id').filter({ visible: true }).first().waitFor();
	}

	/** Empties a column of the table that is open: what n8n 1 imports as "" is not empty to its nodes. */
	async clearColumn(name: string) {
		const header = page.getByRole('columnheader').filter({ hasText: name });
		const column = await header.getAttribute('col-id');
		const cells = page.locator(`[role=gridcell][col-id="${column}"]`).filter({ hasText: 'Empty' });
		for (let left = await cells.count(); left > 0; left--) {
			await cells.first().click();
			// One change at a time: n8n 1 refuses those that overlap.
			const saved = page.waitForResponse((response) => response.request().method() === 'PATCH');
			await page.keyboard.press('Delete');
			await saved;
			await until('a cell that is null', async () => (await cells.count()) < left);
		}
	}

	/** Chooses a data table in the node that is open. */
	async chooseTable(name: string) {
		const options = byId('dataTableId-parameter-input-options-container');
		await options.getByTestId('radio-button-fixed').click();
		// The example names its table, which n8n 1 cannot find by name.
		await byId('rlc-mode-selector').first().click();
		await byId('mode-list').filter({ visible: true }).click();
		await byId('rlc-input-container').first().click();
		await byId('rlc-item').filter({ hasText: name }).click();
	}

	async editCredential(): Promise<Locator> {
		await byId('credential-edit-button').click();
		const modal = byId('editCredential-modal');
		// What n8n reads of it replaces what was entered before.
		await until('its fields', async () => (await field('baseUrl', modal).inputValue()) !== '');
		return modal;
	}

	/** Opens the form of a new credential. @param onN8n2 what the button says there */
	async newCredential(onN8n2: string): Promise<Locator> {
		if (this.version === 'n8n2') {
			await page.getByRole('button', { name: onN8n2 }).click();
		} else {
			await byId('node-credentials-select').click();
			await byId('node-credentials-select-item-new').click();
		}
		return byId('editCredential-modal');
	}

	private async clickSave(name: string): Promise<Locator> {
		const modal = byId('editCredential-modal');
		// n8n asks its server for the name of a new credential, and refuses to save one without.
		await modal.getByTestId('inline-edit-preview').getByText(name).waitFor();
		await kept();
		await byId('credential-save-button').click();
		return modal;
	}

	async saveCredential(name = 'Pay account') {
		const modal = await this.clickSave(name);
		await seen(modal, 'Saved', true);
		await this.close('editCredential-modal');
	}

	/** On n8n 2 a new credential closes by itself when its test passed. */
	async saveNewCredential(name = 'Pay account') {
		if (this.version === 'n8n1') return await this.saveCredential(name);
		const modal = await this.clickSave(name);
		await modal.waitFor({ state: 'hidden' });
	}

	/** Publishes what is open, and waits until an address of it asks for a token or a proof. */
	async publish(address: string, method = 'POST') {
		if (this.version === 'n8n2') {
			await byId('workflow-open-publish-modal-button').click();
			await byId('workflow-publish-button').click();
		} else {
			// A workflow that was never saved is saved by this.
			await byId('workflow-activate-switch').click();
		}
		const status = async () => (await fetch(address, { method })).status;
		await until(address, async () => (await status()) === 401);
	}

	/** Runs the node that is open. */
	async runStep() {
		await kept();
		await byId('node-execute-button').click();
		await seen(byId('output-panel'), 'accepted');
	}

	async runWorkflow(lastNode: string) {
		await byId('execute-workflow-button').click();
		await canvasNode(lastNode).getByTestId('canvas-node-status-success').waitFor();
	}

	/** Clicks on an address to copy it; gives it. */
	async copyUrl(shown: Locator): Promise<string> {
		await shown.click();
		const [url] = /https?:\S+/.exec(await shown.innerText())!;
		return url;
	}
}
