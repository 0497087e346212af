import { randomUUID } from 'node:crypto';
import { example } from '../../dev/demo';
import { webhookPath, type N8n, type Workflow } from '../../dev/n8n';
import { enterSettings } from './book';
import type { QueueMode } from './queue';
import { node, type Node } from '../../dev/workflow';

/** One line of a list of payouts, as the example has them. */
export interface Payout {
	id: string;
	amount: unknown;
	key: string;
}

/** The database in which the register stands: not n8n's own, as a person would have it. */
const DATABASE = 'payouts';

/** Who may decide on a payout, and bring a statement. */
const PERSON = { user: 'person', password: 'the password of a person' };
export const PASSWORD = `Basic ${Buffer.from(`${PERSON.user}:${PERSON.password}`).toString('base64')}`;

type Made = { id: string; name: string };

/** The credentials that the examples with a register ask for. */
export interface RegisterCredentials {
	postgres: Made;
	httpBasicAuth: Made;
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
	for (const each of workflow.nodes) {
		delete each.disabled;
		if (each.type === 'n8n-nodes-base.postgres') each.credentials = { postgres };
		// A test need not wait as long as a person may.
		if (each.retryOnFail === true) each.waitBetweenTries = 200;
		if (each.type === 'n8n-nodes-base.formTrigger') {
			const webhookId = randomUUID();
			Object.assign(each, { webhookId, credentials: { httpBasicAuth } });
			// As the editor does with what is pasted.
			Object.assign(each.parameters as object, { path: webhookId });
		}
		// By hand only: it may come in the middle of a test.
		if (each.type === 'n8n-nodes-base.scheduleTrigger') {
			const never = { interval: [{ field: 'cronExpression', expression: '0 0 1 1 *' }] };
			each.parameters = { rule: never };
		}
	}
	return workflow;
}

/** The node of a workflow that has this name. */
export const nodeOf = (workflow: Workflow, wanted: string): Node =>
	workflow.nodes.find(({ name }) => name === wanted)!;

/**
 * Fills in the one form of a workflow and submits it, as a browser does.
 * @returns the status, and what the page then shows
 */
export async function submit(
	n8n: N8n,
	workflow: Workflow,
	answers: Record<string, string | Blob>,
	headers: Record<string, string> = { Authorization: PASSWORD },
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
	const answer = await fetch(`${n8n.url}/form/${String(form.webhookId)}`, {
		method: 'POST',
		headers: { ...headers, Connection: 'close' },
		body,
		signal: AbortSignal.timeout(30_000),
	});
	const text = await answer.text();
	const shown = answer.ok ? (JSON.parse(text) as { formSubmittedText: string }) : undefined;
	return { status: answer.status, text: shown?.formSubmittedText ?? text };
}

/** The example "payout-register", with a webhook that takes its list. */
export class PayoutRegister {
	readonly workflow: Workflow;
	/** The path of the webhook that takes a list. */
	readonly listPath = randomUUID();
	/** Where postbacks go, below the address of an n8n. */
	readonly postbackPath: string;

	private constructor(
		private readonly queue: QueueMode,
		readonly credentials: RegisterCredentials,
	) {
		this.workflow = ready('payout-register', credentials);
		enterSettings(this.workflow, { paymentNumberField: 'id' });
		Object.assign(this.node('Start'), {
			type: 'n8n-nodes-base.webhook',
			typeVersion: 2,
			webhookId: this.listPath,
			parameters: { path: this.listPath, httpMethod: 'POST', options: {} },
		});
		const list = "={{ { payouts: $('Start').first().json.body.items } }}";
		Object.assign(this.node('Payouts').parameters as object, { jsonOutput: list });
		const trigger = Object.assign(this.node('Pay Trigger'), { webhookId: randomUUID() });
		this.postbackPath = webhookPath(trigger)!;
		// What follows a settled payout is counted.
		const { parameters } = this.query('', 'INSERT INTO followed VALUES ($1)', 'external_id');
		Object.assign(this.node('Settled'), {
			type: 'n8n-nodes-base.postgres',
			typeVersion: 2.5,
			credentials: { postgres: credentials.postgres },
			parameters,
		});
	}

	/** Makes the database and a credential for it; the table is the workflow's to make. */
	static async open(queue: QueueMode): Promise<PayoutRegister> {
		queue.sql(`CREATE DATABASE ${DATABASE}`);
		const credentials = await registerCredentials(queue.main, queue.postgresAddress);
		const register = new PayoutRegister(queue, credentials);
		register.sql('CREATE TABLE followed (external_id text)');
		return register;
	}

	node(wanted: string): Node {
		return nodeOf(this.workflow, wanted);
	}

	/** A Postgres node with the register's credential; its one parameter is a field of the item. */
	query(name: string, query: string, field?: string): Node {
		const options = field === undefined ? {} : { queryReplacement: `={{ [$json.${field}] }}` };
		return node(
			name,
			'n8n-nodes-base.postgres',
			{ operation: 'executeQuery', query, options },
			{ typeVersion: 2.5, credentials: { postgres: this.credentials.postgres } },
		);
	}

	/** Makes the register as the workflow's first run does. */
	make(): void {
		this.sql((this.node('Set up').parameters as { query: string }).query);
	}

	sql(query: string): string[] {
		return this.queue.sql(query, DATABASE);
	}

	/** Sends a list through the webhook process; the execution goes on by itself. */
	async send(items: Payout[]): Promise<void> {
		const answer = await fetch(`${this.queue.webhook.url}/webhook/${this.listPath}`, {
			method: 'POST',
			headers: { 'Content-Type': 'application/json', Connection: 'close' },
			body: JSON.stringify({ items }),
		});
		if (!answer.ok) throw new Error(`The list was answered ${answer.status}`);
	}

	/** Writes every change of a state down from now on, with no part of the workflow in it. */
	watch(): void {
		this.sql(`
			CREATE TABLE IF NOT EXISTS transition (external_id text, was text, became text, execution_id text);
			CREATE OR REPLACE FUNCTION write_transition() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
				INSERT INTO transition VALUES (NEW.external_id, OLD.state, NEW.state, NEW.execution_id);
				RETURN NEW;
			END $$;
			CREATE TRIGGER transition AFTER UPDATE ON payout_register
				FOR EACH ROW WHEN (OLD.state <> NEW.state) EXECUTE FUNCTION write_transition();
		`);
	}

	/** How often a change of state was made, by its two states. */
	transitions(): Record<string, number> {
		const counted = this.sql(
			"SELECT was || ' > ' || became, count(*) FROM transition GROUP BY 1 ORDER BY 1",
		);
		return Object.fromEntries(
			counted.map((row) => {
				const [change = '', count] = row.split('|');
				return [change, Number(count)];
			}),
		);
	}

	/** The rows, in the order of their identifiers. */
	rows(where = 'true'): Row[] {
		return this.sql(
			`SELECT row_to_json(payout) FROM payout_register payout WHERE ${where} ORDER BY external_id`,
		).map((row) => JSON.parse(row) as Row);
	}

	/** What was heard about a payout and does not fit it, in the words of the report. */
	sentences(externalId: string): string[] {
		return this.sql(`SELECT what FROM payout_sentence WHERE external_id = '${externalId}'`);
	}

	/** Takes the register away, as if there had never been one. */
	drop(): void {
		this.sql('DROP TABLE IF EXISTS payout_register, payout_heard CASCADE');
	}

	/** The one row of a payout. */
	row(externalId: string): Row | undefined {
		return this.rows(`external_id = '${externalId}'`)[0];
	}
}

export interface Row {
	external_id: string;
	amount: string;
	recipient: string;
	state: string;
	attempts: number;
	execution_id: string | null;
	number: string;
	claimed_at: string | null;
	reason: string | null;
	ending: string | null;
	reported: string | null;
}
