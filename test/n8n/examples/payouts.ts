import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { example } from '../../../dev/demo';
import { itemsOf, until, type Execution, type N8n, type Workflow } from '../../../dev/n8n';
import { EXAMPLES } from '../editorPage';
import { allFinished, nodeOf, type Credential } from '../nodes';
import { PASSWORD, PERSON } from '../person';

export const BOOK_COLUMNS = readFileSync(join(EXAMPLES, 'book-of-payouts.csv'), 'utf8')
	.trim()
	.split(',');

/** The report that the page shows, and the execution that made it. */
export interface Uploaded {
	status: number;
	html: string;
	text: string;
	execution: Execution;
}

/** The example "payouts" after what its notes ask for, at a page of its own. */
export class PayoutsPage {
	private submitted = 0;

	private constructor(
		private readonly n8n: N8n,
		readonly workflowId: string,
		readonly url: string,
	) {}

	static async publish(
		n8n: N8n,
		payApi: Credential,
		change: (workflow: Workflow) => void = () => {},
	): Promise<PayoutsPage> {
		const workflow = example('payouts');
		const form = nodeOf(workflow, 'Payouts');
		const path = randomUUID();
		Object.assign(form.parameters as object, { path });
		form.credentials = {
			httpBasicAuth: await n8n.createCredential(PERSON, 'httpBasicAuth', 'Person'),
		};
		change(workflow);
		const id = await n8n.importWorkflow(workflow, { payApi });
		await n8n.publish(id);
		const page = new PayoutsPage(n8n, id, `${n8n.url}/form/${path}`);
		await until('the page', async () => (await fetch(page.url)).status === 401);
		return page;
	}

	/** Sends the form as a browser does, with what its page holds in this order. */
	async send(file: File | undefined, ...fields: string[]): Promise<Uploaded> {
		const { status, html } = await this.post(file, fields);
		const [execution] = await this.finished();
		const text = String(itemsOf(execution!, 'Report')[0]?.text);
		return { status, html, text, execution: execution! };
	}

	/** The executions of all that was sent, once they have ended, newest first. */
	async finished(): Promise<Execution[]> {
		return await allFinished(this.n8n, this.workflowId, this.submitted);
	}

	async post(file: File | undefined, fields: string[] = [], headers: object = PASSWORD) {
		const body = new FormData();
		if (file) body.append('field-0', file);
		for (const index of [0, 1, 2]) body.append(`field-${index + 1}`, fields[index] ?? '');
		const answer = await fetch(this.url, {
			method: 'POST',
			headers: headers as Record<string, string>,
			body,
		});
		if (answer.status === 200) this.submitted++;
		return { status: answer.status, html: await answer.text() };
	}

	async uploadCsv(text: string): Promise<Uploaded> {
		return await this.send(new File([text], 'list.csv', { type: 'text/csv' }));
	}

	async uploadFile(name: string): Promise<Uploaded> {
		const bytes = readFileSync(join(__dirname, '..', 'lists', name));
		return await this.send(new File([bytes], name, { type: 'application/octet-stream' }));
	}

	async decide(identifier: string, answer: string, source: string): Promise<Uploaded> {
		return await this.send(undefined, identifier, answer, source);
	}
}

/** A line of each part of a report, by the part's first word. */
export function linesOf(text: string): string[] {
	return text.split('\n').filter((line) => line.startsWith('- '));
}
