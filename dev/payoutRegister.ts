import { randomUUID } from 'node:crypto';
import { example } from './demo';
import { webhookPath, type Workflow } from './n8n';
import type { QueueMode } from './queue';
import { node, type Node } from './workflow';

/** One line of a list of payouts, as the example has them. */
export interface Payout {
	id: string;
	amount: string | number;
	key: string;
}

/** The database in which the register stands: not n8n's own, as a person would have it. */
const DATABASE = 'payouts';

/** The example "payout-register", made ready as a person does after importing it. */
export class PayoutRegister {
	readonly workflow: Workflow;
	/** The path of the webhook that takes a list. */
	readonly listPath = randomUUID();
	/** Where postbacks go, below the address of an n8n. */
	readonly postbackPath: string;

	private constructor(
		private readonly queue: QueueMode,
		private readonly postgres: { id: string; name: string },
	) {
		this.workflow = example('payout-register');
		for (const each of this.workflow.nodes) {
			if (each.type === 'n8n-nodes-base.postgres') each.credentials = { postgres };
			// A test need not wait as long as a person may.
			if (each.retryOnFail === true) each.waitBetweenTries = 200;
		}
		Object.assign(this.node('Start'), {
			...{ type: 'n8n-nodes-base.webhook', typeVersion: 2, webhookId: this.listPath },
			parameters: { path: this.listPath, httpMethod: 'POST', options: {} },
		});
		// By hand only: its minute is random, and may be the one of a test.
		Object.assign(this.node('Every hour').parameters as object, {
			rule: { interval: [{ field: 'cronExpression', expression: '0 0 1 1 *' }] },
		});
		const list = "={{ { payouts: $('Start').first().json.body.items } }}";
		Object.assign(this.node('Payouts').parameters as object, { jsonOutput: list });
		const trigger = Object.assign(this.node('Pay Trigger'), { webhookId: randomUUID() });
		this.postbackPath = webhookPath(trigger)!;
		// What follows a settled payout is counted.
		const { parameters } = this.query('', 'INSERT INTO followed VALUES ($1)', 'external_id');
		Object.assign(this.node('Settled'), {
			...{ type: 'n8n-nodes-base.postgres', typeVersion: 2.5, credentials: { postgres } },
			parameters,
		});
	}

	/** Makes the database and a credential for it; the table is the workflow's to make. */
	static async open(queue: QueueMode): Promise<PayoutRegister> {
		queue.sql(`CREATE DATABASE ${DATABASE}`);
		const { host, port, user } = queue.postgresAddress;
		const server = { host, port, database: DATABASE, user, password: 'none', ssl: 'disable' };
		const postgres = await queue.main.createCredential(server, 'postgres', 'Register');
		const register = new PayoutRegister(queue, postgres);
		register.sql('CREATE TABLE followed (external_id text)');
		return register;
	}

	node(wanted: string): Node {
		return this.workflow.nodes.find(({ name }) => name === wanted)!;
	}

	/** A Postgres node with the register's credential; its one parameter is a field of the item. */
	query(name: string, query: string, field?: string): Node {
		const options = field === undefined ? {} : { queryReplacement: `={{ [$json.${field}] }}` };
		return node(
			name,
			'n8n-nodes-base.postgres',
			{ operation: 'executeQuery', query, options },
			{ typeVersion: 2.5, credentials: { postgres: this.postgres } },
		);
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
}

export interface Row {
	external_id: string;
	amount: string;
	recipient: string;
	state: string;
	attempts: number;
	execution_id: string | null;
	claimed_at: string | null;
	reason: string | null;
	reported: string | null;
}
