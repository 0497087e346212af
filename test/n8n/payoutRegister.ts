import { randomUUID } from 'node:crypto';
import { example } from '../../dev/demo';
import {
	itemsOf,
	until,
	webhookPath,
	type Execution,
	type N8n,
	type Workflow,
} from '../../dev/n8n';
import { signUrl } from '../../nodes/Pay/postback/proof';
import type { Sandbox } from '../../sandbox/service';
import { enterSettings } from './book';
import { nodeOf, SECRET, type Credential } from './nodes';
import { PASSWORD, PERSON } from './person';
import type { QueueMode } from './queue';
import { DATABASE, RegisterDatabase } from './registerDatabase';

/** One line of a list of payouts, as the example has them. */
export interface Payout {
	id: string;
	amount: unknown;
	key: string;
}

/** A line of a list that can be paid. */
export const payout = (id: string, amount: unknown = '10.50'): Payout => ({
	id,
	amount,
	key: `${id}@example.com`,
});

/** The credentials that the examples with a register ask for. */
export interface RegisterCredentials {
	postgres: Credential;
	httpBasicAuth: Credential;
}

/** Makes a credential for a database of a PostgreSQL that lets everyone in, and one for the forms. */
export async function registerCredentials(
	n8n: N8n,
	address: { host: string; port: number; user: string },
	database = DATABASE,
): Promise<RegisterCredentials> {
	const server = { ...address, database, password: 'none', ssl: 'disable' };
	return {
		postgres: await n8n.createCredential(server, 'postgres', 'Register'),
		httpBasicAuth: await n8n.createCredential(PERSON, 'httpBasicAuth', 'Person'),
	};
}

/** An example with a register, made ready as a person does after importing it. */
export function ready(name: string, { postgres, httpBasicAuth }: RegisterCredentials): Workflow {
	const workflow = example(name);
	for (const node of workflow.nodes) {
		delete node.disabled;
		// A test need not wait as long as a person may.
		if (node.retryOnFail === true) node.waitBetweenTries = 200;
		switch (node.type) {
			case 'n8n-nodes-base.postgres':
				node.credentials = { postgres };
				break;
			case 'n8n-nodes-base.formTrigger':
				node.credentials = { httpBasicAuth };
				// As the editor does with what is pasted.
				node.webhookId = randomUUID();
				Object.assign(node.parameters as object, { path: node.webhookId });
				break;
			case 'n8n-nodes-base.scheduleTrigger':
				// By hand only: it could come in the middle of a test.
				node.parameters = {
					rule: { interval: [{ field: 'cronExpression', expression: '0 0 1 1 *' }] },
				};
				break;
		}
	}
	return workflow;
}

/**
 * Fills in the one form of a workflow and submits it, as a browser does.
 * @returns the status, and what the page then shows
 */
export async function submit(
	n8n: N8n,
	workflow: Workflow,
	answers: Record<string, string | Blob>,
	headers: Record<string, string> = PASSWORD,
): Promise<{ status: number; text: string }> {
	const form = workflow.nodes.find(({ type }) => type === 'n8n-nodes-base.formTrigger')!;
	const { formFields } = form.parameters as {
		formFields: { values: Array<{ fieldLabel: string }> };
	};
	const body = new FormData();
	for (const [index, { fieldLabel }] of formFields.values.entries()) {
		const answer = answers[fieldLabel] ?? '';
		if (typeof answer === 'string') body.append(`field-${index}`, answer);
		else body.append(`field-${index}`, answer, 'statement.csv');
	}
	const response = await fetch(`${n8n.url}/form/${String(form.webhookId)}`, {
		method: 'POST',
		headers: { ...headers, Connection: 'close' },
		body,
		signal: AbortSignal.timeout(30_000),
	});
	const text = await response.text();
	if (!response.ok) return { status: response.status, text };
	const { formSubmittedText } = JSON.parse(text) as { formSubmittedText?: string };
	return { status: response.status, text: formSubmittedText ?? text };
}

/** Turns a node into a Postgres node that carries out a query. */
export function becomeQuery(
	node: Workflow['nodes'][number],
	{ postgres }: RegisterCredentials,
	query: string,
	options: { queryReplacement?: string } = {},
): void {
	Object.assign(node, {
		type: 'n8n-nodes-base.postgres',
		typeVersion: 2.5,
		credentials: { postgres },
		parameters: { operation: 'executeQuery', query, options },
	});
}

/** The example "payout-register" with addresses of its own. */
export interface RegisterWorkflow {
	workflow: Workflow;
	/** The path of the webhook that takes a list, in place of the manual start. */
	listPath: string;
	/** Where postbacks go, below the address of an n8n. */
	postbackPath: string;
}

export function registerWorkflow(credentials: RegisterCredentials): RegisterWorkflow {
	const workflow = ready('payout-register', credentials);
	enterSettings(workflow, { paymentNumberField: 'id' });
	const listPath = randomUUID();
	Object.assign(nodeOf(workflow, 'Start'), {
		type: 'n8n-nodes-base.webhook',
		typeVersion: 2,
		webhookId: listPath,
		parameters: { path: listPath, httpMethod: 'POST', options: {} },
	});
	Object.assign(nodeOf(workflow, 'Payouts').parameters as object, {
		jsonOutput: "={{ { payouts: $('Start').first().json.body.items } }}",
	});
	becomeQuery(nodeOf(workflow, 'Settled'), credentials, 'INSERT INTO followed VALUES ($1)', {
		queryReplacement: '={{ [$json.external_id] }}',
	});
	const trigger = nodeOf(workflow, 'Pay Trigger');
	trigger.webhookId = randomUUID();
	return { workflow, listPath, postbackPath: webhookPath(trigger)! };
}

/** A postback about a payment of 10.50, where nothing else is said. */
interface PostbackOptions {
	kind?: 'payment' | 'qrCode';
	secret?: string;
	amount?: number;
}

/** The example "payout-register", published in queue mode. */
export class PayoutRegister {
	private constructor(
		private readonly queue: QueueMode,
		readonly database: RegisterDatabase,
		readonly credentials: RegisterCredentials,
		private readonly registerWorkflow: RegisterWorkflow,
		readonly workflowId: string,
	) {}

	/** Publishes it with an empty register. */
	static async publish(
		queue: QueueMode,
		sandbox: Sandbox,
		payApi: Credential,
	): Promise<PayoutRegister> {
		const database = RegisterDatabase.create(queue);
		database.setUp();
		database.watchTransitions();
		database.sql('CREATE TABLE followed (external_id text)');
		const credentials = await registerCredentials(queue.main, queue.postgresAddress);
		const published = registerWorkflow(credentials);
		await queue.main.changeCredential(payApi, {
			baseUrl: sandbox.url,
			accessToken: 'token',
			postbackSecret: SECRET,
			postbackUrl: queue.webhook.url + published.postbackPath,
		});
		const workflowId = await queue.main.importWorkflow(published.workflow, { payApi });
		await queue.main.activate(workflowId);
		return new PayoutRegister(queue, database, credentials, published, workflowId);
	}

	/** Puts a row into the register as a run leaves it, one try ago. */
	insertRow(external_id: string, state: string, columns: Record<string, string | number> = {}) {
		this.database.insert({
			external_id,
			amount: '10.50',
			recipient: `${external_id}@example.com`,
			workflow_id: this.workflowId,
			state,
			attempts: 1,
			execution_id: '1',
			claimed_at: 'now',
			...columns,
		});
	}

	/** Sends a list through the webhook process; the execution goes on by itself. */
	async sendList(items: Payout[]): Promise<void> {
		const { listPath } = this.registerWorkflow;
		const response = await fetch(`${this.queue.webhook.url}/webhook/${listPath}`, {
			method: 'POST',
			headers: { 'Content-Type': 'application/json', Connection: 'close' },
			body: JSON.stringify({ items }),
		});
		if (!response.ok) throw new Error(`The list was answered ${response.status}`);
	}

	/** Runs the workflow with a list; gives the execution, once it has ended. */
	async runList(items: Payout[]): Promise<Execution> {
		const { main } = this.queue;
		const before = await main.executionIds(this.workflowId);
		await this.sendList(items);
		const id = await until('the execution', async () => {
			const now = await main.executionIds(this.workflowId);
			// The first of the new ones: its own postbacks may follow it.
			return now.filter((each) => !before.includes(each)).at(-1);
		});
		return await main.finished(id);
	}

	/** Runs one of the workflow's schedules; gives the execution, once it has ended. */
	async runSchedule(schedule: 'Every five minutes' | 'Every hour'): Promise<Execution> {
		const { main } = this.queue;
		return await main.finished(await main.run(this.workflowId, schedule));
	}

	/** What the hourly report tells a person. */
	async hourlyReport(): Promise<Array<{ external_id: string; what: string }>> {
		const execution = await this.runSchedule('Every hour');
		expect(execution.status).toBe('success');
		const [report] = itemsOf(execution, 'Tell a person');
		if (report === undefined) return [];
		const rows = report.rows as Array<{ external_id: string; what: string }>;
		return rows.map(({ external_id, what }) => ({ external_id, what }));
	}

	/** Submits the page "Decide on a payout"; gives the status and what the page says then. */
	async submitDecision(answers: Record<string, string>, headers?: Record<string, string>) {
		return await submit(this.queue.webhook, this.registerWorkflow.workflow, answers, headers);
	}

	/** What a person decides on that page; gives what it says then. */
	async decide(externalId: string, decision: string, answers: Record<string, string> = {}) {
		const { status, text } = await this.submitDecision({
			'External ID': externalId,
			Decision: decision,
			...answers,
		});
		expect(status).toBe(200);
		return text;
	}

	/** Sends a postback with a proof about a payment; gives the status of the response. */
	async sendPostback(id: string, word: string, options: PostbackOptions = {}): Promise<number> {
		const { kind = 'payment', secret = SECRET, amount = 10.5 } = options;
		const url = this.queue.webhook.url + this.registerWorkflow.postbackPath;
		const signed = signUrl(url, { external_id: id, kind, amount }, secret);
		const send = async () => {
			const response = await fetch(signed, {
				method: 'POST',
				// A kept connection that a busy n8n has just closed would fail the next call.
				headers: { 'Content-Type': 'application/json', Connection: 'close' },
				body: JSON.stringify({ status: word }),
				signal: AbortSignal.timeout(30_000),
			});
			return response.status;
		};
		// In queue mode n8n can lose the response of a job: it is sent again, as a service does.
		return await send().catch(send).catch(send);
	}
}
