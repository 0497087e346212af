import { createHash } from 'node:crypto';
import { pause, until, type Execution, type N8n, type Workflow } from '../../dev/n8n';
import { call, chain, pay, splitItems, start, type Node } from '../../dev/workflow';
import type { Sandbox } from '../../sandbox/service';
import { chargeAndWait } from './chargeAndWait';
import type { Play } from './databaseProxy';
import { allFinished, newIds, outcomesOf, payEach, type Credential } from './nodes';
import { link } from './otherNodes';
import type { QueueMode } from './queue';

/** A published workflow Start -> Items -> Pay, called through the webhook process. */
export class PaymentList {
	/** How many executions it has had. */
	private count = 0;

	constructor(
		private readonly payments: WorkerPayments,
		readonly id: string,
		private readonly path: string,
	) {}

	/** Has an execution pay these. */
	async send(externalIds: string[]): Promise<void> {
		const items = externalIds.map((each) => ({ id: each }));
		const { status } = await call(this.payments.queue.webhook, this.path, { items });
		expect(status).toBe(200);
		this.count++;
	}

	/** Waits until all its executions have ended, as the database has it; gives their ids, newest last. */
	async settled(seconds?: number): Promise<string[]> {
		return await this.payments.settled(this.id, this.count, seconds);
	}

	/** Waits until all its executions have ended, as main has it; gives them, newest first. */
	async finished(): Promise<Execution[]> {
		return await allFinished(this.payments.main, this.id, this.count);
	}

	/** The newest of its executions. */
	async newestId(): Promise<string> {
		const [id] = await this.payments.main.executionIds(this.id, 1);
		return id!;
	}
}

/** What came of payments that were sent, and then all of them again. */
export interface SentTwice {
	/** How many payments arrived the first time. */
	arrived: number;
	/** How many of those the duplicate check had no record of. */
	forgotten: number;
	/** How many arrived more than once. */
	twice: number;
}

export const CONTINUE = { onError: 'continueRegularOutput' };

/** The statements with which n8n records a payment, and saves an execution. */
export const RECORD = /UPDATE [^ ]*"processed_data"/;
export const SAVE = /UPDATE [^ ]*"execution_(data|entity)"/;

/** Which worker sent the statement that was waited for. */
export interface Played {
	metBy: N8n | undefined;
}

/** Something that happens to a worker while it makes a payment. */
export interface Strike {
	how: 'killed' | 'frozen';
	at: keyof typeof STEPS | 'in flight';
}

/** The steps of a worker that makes a payment, by what it sends to the database. */
const STEPS = {
	'before the record': {
		statement: /SELECT[^;]*"processed_data"/,
		play: 'hold',
		isAfterResponse: false,
	},
	'within the record': { statement: RECORD, play: 'hold', isAfterResponse: false },
	'after the record': { statement: RECORD, play: 'holdAnswer', isAfterResponse: false },
	'before the execution is saved': { statement: SAVE, play: 'hold', isAfterResponse: true },
} as const satisfies Record<string, { statement: RegExp; play: Play; isAfterResponse: boolean }>;

/** Payments in queue mode: published, sent, watched on the workers, and counted at the service. */
export class WorkerPayments {
	constructor(
		readonly queue: QueueMode,
		readonly main: N8n,
		readonly sandbox: Sandbox,
		private readonly payApi: Credential,
	) {}

	async publish(workflow: Workflow, credential = this.payApi): Promise<string> {
		const id = await this.main.importWorkflow(workflow, { payApi: credential });
		await this.main.activate(id);
		return id;
	}

	async publishList(
		parameters: object = {},
		settings: object = {},
		credential = this.payApi,
	): Promise<PaymentList> {
		return await this.publishAsList(payEach(parameters, settings), credential);
	}

	/** Publishes a workflow that begins with the webhook of a list. */
	async publishAsList(workflow: Workflow, credential = this.payApi): Promise<PaymentList> {
		const id = await this.publish(workflow, credential);
		return new PaymentList(this, id, String(workflow.nodes[0]!.webhookId));
	}

	/** A list whose node has paid before: a first payment ever hides races. */
	async publishWarmList(
		parameters: object = {},
		settings: object = {},
		credential = this.payApi,
		payNodes: 1 | 2 = 1,
	): Promise<PaymentList> {
		const workflow = payEach(parameters, settings);
		if (payNodes === 2) {
			const external_id = "={{ $('Items').item.json.id + '-too' }}";
			const second = pay('Pay too', { amount: 1, external_id, ...parameters }, settings);
			workflow.nodes.push(second);
			workflow.connections.Pay = { main: [[link(second.name)]] };
		}
		const list = await this.publishAsList(workflow, credential);
		await list.send(newIds(1));
		await list.settled();
		return list;
	}

	/**
	 * Starts so many executions that wait, each for the postback of its own charge, before some nodes.
	 * @param beside what is connected to these in another way: an agent's model and tools
	 */
	async waitBefore(
		next: Node[],
		count: number,
		beside: Pick<Workflow, 'nodes' | 'connections'> = { nodes: [], connections: {} },
	): Promise<{ id: string; externalIds: string[] }> {
		const first = start();
		const nodes = [first, splitItems(), ...chargeAndWait(), ...next];
		const workflow = chain('Wait', nodes, beside.connections);
		workflow.nodes.push(...beside.nodes);
		const id = await this.publish(workflow);
		const externalIds = newIds(count);
		for (const external_id of externalIds) {
			await call(this.queue.webhook, first.webhookId, { items: [{ id: external_id }] });
		}
		await until('all to wait', async () => {
			const waiting = this.queue.sql(
				`SELECT id FROM execution_entity WHERE "workflowId" = '${id}' AND status = 'waiting'`,
			);
			return waiting.length === count;
		});
		return { id, externalIds };
	}

	/** Where the postback of a charge goes: the webhook process, and main, which takes postbacks too. */
	postbackUrlsOf(external_id: string): { url: string; atMain: string } {
		const charge = this.sandbox.transactions.find((known) => known.external_id === external_id);
		const url = String(charge!.postbackUrl);
		return { url, atMain: url.replace(this.queue.webhook.url, this.main.url) };
	}

	/** How often a request with this external_id arrived at the service. */
	arrivals(external_id: string): number {
		return this.sandbox.received.filter(({ body }) => body.includes(`"${external_id}"`)).length;
	}

	/** How many of these arrived. */
	countArrived(externalIds: string[]): number {
		return externalIds.filter((each) => this.arrivals(each) > 0).length;
	}

	/** How many of these arrived more than once. */
	countArrivedTwice(externalIds: string[]): number {
		return externalIds.filter((each) => this.arrivals(each) > 1).length;
	}

	/** How many payments arrived of which n8n's duplicate store holds no record. */
	countForgotten(workflowId: string, externalIds: string[]): number {
		const records = new Set(
			this.queue.sql(
				`SELECT json_array_elements_text(value::json->'data') FROM processed_data WHERE "workflowId" = '${workflowId}'`,
			),
		);
		let forgotten = 0;
		for (const external_id of externalIds) {
			if (this.arrivals(external_id) === 0) continue;
			const key = `n8n-nodes-pay:payment:${external_id}`;
			const record = createHash('md5').update(key).digest('base64');
			if (!records.has(record)) forgotten++;
		}
		return forgotten;
	}

	/** Waits until a workflow has so many executions and none is on its way; gives their ids, newest last. */
	async settled(workflowId: string, count: number, seconds = 120): Promise<string[]> {
		const query = `SELECT id, status FROM execution_entity WHERE "workflowId" = '${workflowId}' ORDER BY id`;
		const rows = await until(
			`${count} executions to settle`,
			async () => {
				// This process carries the n8ns' connections to PostgreSQL, which psql would hold up.
				await pause(500);
				const found = this.queue.sql(query);
				const isMoving = found.some((row) => row.endsWith('|new') || row.endsWith('|running'));
				return found.length >= count && !isMoving && found;
			},
			seconds,
		);
		return rows.map((row) => row.split('|')[0]!);
	}

	/** Waits until all workers that took an execution have ended it, but for one that was killed. */
	async endedOnWorkers(executionId: string, killed?: N8n, seconds = 180): Promise<void> {
		await until(
			`the end of execution ${executionId} on its workers`,
			async () => {
				for (const worker of this.queue.workersOf(executionId)) {
					const { begun, ended } = logged(worker, executionId);
					const expected = worker === killed ? begun - 1 : begun;
					if (ended < expected) return false;
				}
				return true;
			},
			seconds,
		);
	}

	/** The outcome of the only payment of a list's newest execution, be it an item's or that of its error. */
	async outcomeOf(list: PaymentList): Promise<unknown> {
		const execution = await this.main.execution(await list.newestId());
		const { error } = execution.data.resultData as {
			error?: { context?: { data?: { outcome?: unknown } } };
		};
		return outcomesOf(execution)[0] ?? error?.context?.data?.outcome;
	}

	/** What the newest execution of a list says, to be printed: its status, its outcomes and its error. */
	async summaryOf(list: PaymentList): Promise<string> {
		const execution = await this.main.execution(await list.newestId());
		const counts = new Map<string, number>();
		for (const outcome of outcomesOf(execution)) {
			const name = String(outcome);
			counts.set(name, (counts.get(name) ?? 0) + 1);
		}
		const words: string[] = [execution.status];
		for (const [outcome, count] of counts) words.push(`${count} ${outcome}`);
		const { error } = execution.data.resultData;
		if (error) words.push(error.message.replace(/"[0-9a-f-]{36}"/g, '…'));
		return words.join(' ');
	}

	/** Plays something at the first statement of any worker that is like this; gives the worker it met. */
	playOnce(statement: RegExp, play: Play): Played {
		const played: Played = { metBy: undefined };
		for (const worker of this.queue.workers) {
			this.queue.databaseOf(worker).play = (sent) => {
				if (played.metBy !== undefined || !statement.test(sent)) return undefined;
				played.metBy = worker;
				return play;
			};
		}
		return played;
	}

	/** Lets the workers' connections to the database be as they are. */
	releaseDatabases(): void {
		for (const worker of this.queue.workers) {
			const database = this.queue.databaseOf(worker);
			database.play = undefined;
			database.down = false;
			database.release();
		}
	}

	/** Lists at once, or one after the other; then all their payments again, in one execution. */
	async payOverlapping(
		lists: string[][],
		{ everyMs, delayMs }: { everyMs: number; delayMs: number },
		payNodes: 1 | 2 = 1,
	): Promise<SentTwice> {
		const list = await this.publishWarmList({}, CONTINUE, this.payApi, payNodes);
		if (delayMs > 0) this.sandbox.faultFor = () => ({ kind: 'delay', ms: delayMs });
		const sending = lists.map(async (ids, index) => {
			await pause(index * everyMs);
			await list.send(ids);
		});
		await Promise.all(sending);
		await list.settled(600);
		const sent = lists.flat();
		const all = payNodes === 1 ? sent : sent.flatMap((id) => [id, `${id}-too`]);
		const arrived = this.countArrived(all);
		const forgotten = this.countForgotten(list.id, all);
		await list.send(sent);
		await list.settled(600);
		return { arrived, forgotten, twice: this.countArrivedTwice(all) };
	}

	/** Freezes the worker that pays a list of 30 slowly, after three have arrived. */
	async freezeInList() {
		const list = await this.publishWarmList({}, CONTINUE);
		const externalIds = newIds(30);
		this.sandbox.faultFor = () => ({ kind: 'delay', ms: 250 });
		await list.send(externalIds);
		await until('three to arrive', async () => this.countArrived(externalIds) >= 3);
		const executionId = await list.newestId();
		const victim = this.queue.workerOf(executionId)!;
		victim.freeze();
		return { list, externalIds, executionId, victim };
	}

	/**
	 * Strikes a worker while it makes a payment, lets n8n settle it, and asks for the payment again.
	 * @returns how often the payment arrived, and what both executions say
	 */
	async strikeWhilePaying({ how, at }: Strike) {
		const list = await this.publishWarmList();
		const [external_id] = newIds(1) as [string];
		const victim = await this.reach(list, external_id, at);
		if (how === 'killed') await victim.kill();
		else {
			victim.freeze();
			// Longer than the queue's lock, and than any pause of the node.
			await pause(12_000);
		}
		this.releaseDatabases();
		if (how === 'killed') await victim.launch();
		else victim.thaw();
		const executionId = (await list.settled(180)).at(-1)!;
		// A frozen one goes on after the execution has been given up.
		await this.endedOnWorkers(executionId, how === 'killed' ? victim : undefined);
		const first = await this.summaryOf(list);
		const arrivedFirst = this.arrivals(external_id);
		this.sandbox.faultFor = undefined;
		await list.send([external_id]);
		await list.settled();
		const again = await this.summaryOf(list);
		const outcome = await this.outcomeOf(list);
		return { arrivedFirst, arrived: this.arrivals(external_id), first, again, outcome };
	}

	/** Sends a payment; gives the worker that makes it, as it stands at the given step. */
	private async reach(list: PaymentList, external_id: string, at: Strike['at']): Promise<N8n> {
		if (at === 'in flight') {
			this.sandbox.faultFor = () => ({ kind: 'delay', ms: 3_000 });
			await list.send([external_id]);
			return await until('the payment to arrive', async () => {
				const isThere = this.arrivals(external_id) > 0;
				return isThere && this.queue.workerOf(await list.newestId());
			});
		}
		const { statement, play, isAfterResponse } = STEPS[at];
		let played: Played = { metBy: undefined };
		if (!isAfterResponse) played = this.playOnce(statement, play);
		this.sandbox.faultFor = () => {
			if (isAfterResponse) played = this.playOnce(statement, play);
			return undefined;
		};
		await list.send([external_id]);
		return await until('the step', async () => played.metBy);
	}
}

/** How often a worker's log says that it began an execution, and that it ended it. */
function logged({ log }: N8n, executionId: string): { begun: number; ended: number } {
	const count = (words: string) =>
		log.split(`Worker ${words} execution ${executionId} `).length - 1;
	return { begun: count('started'), ended: count('finished') + count('errored while running') };
}
