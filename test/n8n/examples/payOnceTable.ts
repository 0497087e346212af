import { randomUUID } from 'node:crypto';
import { example } from '../../../dev/demo';
import { call, chain, node, splitItems, start, type Node } from '../../../dev/workflow';
import type { Credential } from '../nodes';
import { callOf } from '../otherNodes';
import { psql, type QueueMode } from '../queue';

/** The database in which the table stands: not n8n's own, as a person would have it. */
const DATABASE = 'payouts';

/** A row of the table `pay_once`. */
export interface Row {
	external_id: string;
	amount: number;
	recipient: string;
	execution: string;
	outcome: string | null;
	reason: string | null;
}

/** What a caller gives for one payment. */
export interface Line {
	external_id: unknown;
	amount: unknown;
	key: string;
	keyType?: string;
	description?: string;
}

/** What a call gives for each of its lines, as a Pay node does. */
export interface Answer {
	external_id?: string;
	outcome?: string;
	notWritten?: string;
	error?: { message: string; description: string };
}

/**
 * A workflow that a webhook gives items, and that answers with what its last node gives. It does so with
 * Respond to Webhook: in queue mode, n8n 1 lost 3 of 950 answers of "When Last Node Finishes", each of an
 * execution that ended before the webhook process, just started and busy, listened for its end; and none of
 * 1,000 this way.
 */
function answering(name: string, last: Node) {
	const first = start({ responseMode: 'responseNode' });
	const answer = node('Answer', 'n8n-nodes-base.respondToWebhook', {
		respondWith: 'allIncomingItems',
	});
	return { path: first.webhookId, workflow: chain(name, [first, splitItems(), last, answer]) };
}

/** The example "pay-once", set up in a queue mode as its notes ask, with its table and a caller. */
export class PayOnce {
	private constructor(
		private readonly queue: QueueMode,
		readonly workflowId: string,
		private readonly callerPath: string,
	) {}

	static async setUp(queue: QueueMode, payApi: Credential): Promise<PayOnce> {
		const { main } = queue;
		queue.sql(`CREATE DATABASE ${DATABASE}`);
		const address = { ...queue.postgresAddress, database: DATABASE };
		const server = { ...address, password: 'none', ssl: 'disable' };
		const postgres = await main.createCredential(server, 'postgres', 'Payouts');
		const workflow = example('pay-once');
		for (const node of workflow.nodes) {
			if (node.type === 'n8n-nodes-base.postgres') node.credentials = { postgres };
			// A test need not wait as long as a person may.
			if (node.retryOnFail === true) node.waitBetweenTries = 200;
			if (node.type !== 'n8n-nodes-base.scheduleTrigger') continue;
			delete node.disabled;
			// By hand only: it could come in the middle of a test.
			node.parameters = {
				rule: { interval: [{ field: 'cronExpression', expression: '0 0 1 1 *' }] },
			};
		}
		const id = await main.importWorkflow(workflow, { payApi });
		await main.activate(id);
		const made = await main.finished(await main.run(id, 'Make the table'));
		expect(made.status).toBe('success');
		const { path, workflow: caller } = answering('A caller', callOf('Pay once', id));
		await main.activate(await main.importWorkflow(caller));
		return new PayOnce(queue, id, path);
	}

	/** Calls it with lines; gives what the call answers. */
	async pay(lines: Line[]): Promise<Answer[]> {
		const response = await call(this.queue.webhook, this.callerPath, { items: lines });
		const text = await response.text();
		if (response.status !== 200) throw new Error(`The call failed: ${response.status} ${text}`);
		return JSON.parse(text) as Answer[];
	}

	/** The same where the answer may never come. */
	begin(lines: Line[]): Promise<Answer[] | undefined> {
		return this.pay(lines).catch(() => undefined);
	}

	/** Asks the database; gives the rows, their columns separated by |. */
	sql(query: string): string[] {
		return psql(this.queue.postgresAddress.port, DATABASE, query);
	}

	rows(where = 'true'): Row[] {
		const found = this.sql(
			`SELECT row_to_json(pay_once) FROM pay_once WHERE ${where} ORDER BY external_id`,
		);
		return found.map((row) => JSON.parse(row) as Row);
	}

	row(externalId: string): Row | undefined {
		return this.rows(`external_id = '${externalId}'`)[0];
	}

	/** What a person decides who asked the service, and what the database says to it. */
	decide({ external_id, execution }: Row, wasPaid: boolean): string {
		const [said = ''] = this.sql(
			`SELECT pay_once_decide('${external_id}', '${execution}', ${wasPaid}, 'Ana asked')`,
		);
		return said;
	}

	/** Lets no statement change the table until what it gives is called. */
	async hold(): Promise<() => Promise<void>> {
		return await this.queue.openTransaction('LOCK TABLE pay_once IN EXCLUSIVE MODE', DATABASE);
	}
}

export const line = (external_id: unknown = randomUUID(), amount: unknown = '10.50'): Line => ({
	external_id,
	amount,
	key: 'someone@example.com',
});

/** How an answer ended, in one word. */
export const outcomeOf = ({ outcome }: Answer): string | undefined => outcome;
