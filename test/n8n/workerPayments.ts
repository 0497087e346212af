import { createHash } from 'node:crypto';
import { itemsOf, pause, until, type N8n, type Workflow } from '../../dev/n8n';
import { call, chain, splitItems, start, type Node } from '../../dev/workflow';
import type { Sandbox } from '../../sandbox/service';
import { chargeAndWait } from './chargeAndWait';
import type { DatabaseProxy, Play } from './databaseProxy';
import { newIds, payEach, type Credential } from './nodes';
import type { QueueMode } from './queue';

/** A published workflow Start -> Items -> Pay, called through the webhook process. */
export interface PaymentList {
	id: string;
	send(externalIds: string[]): Promise<void>;
}

/** What came of payments that were made, and then asked for again. */
export interface MadeTwice {
	/** How many payments arrived the first time. */
	arrived: number;
	/** How many of those the duplicate check had no record of. */
	forgotten: number;
	/** How many arrived more than once. */
	twice: number;
}

export const CONTINUE = { onError: 'continueRegularOutput' };

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
		const workflow = payEach(parameters, settings);
		const path = String(workflow.nodes[0]!.webhookId);
		const id = await this.publish(workflow, credential);
		const send = async (externalIds: string[]) => {
			const items = externalIds.map((each) => ({ id: each }));
			const { status } = await call(this.queue.webhook, path, { items });
			expect(status).toBe(200);
		};
		return { id, send };
	}

	/** A list whose node has paid before: a first payment ever hides races. */
	async publishWarmList(
		parameters: object = {},
		settings: object = {},
		credential = this.payApi,
	): Promise<PaymentList> {
		const list = await this.publishList(parameters, settings, credential);
		await list.send(newIds(1));
		await this.settled(list.id, 1);
		return list;
	}

	/** Starts so many executions that wait, each for the postback of its own charge, before a node. */
	async waitBefore(next: Node, count: number): Promise<{ id: string; externalIds: string[] }> {
		const first = start();
		const nodes = [first, splitItems(), ...chargeAndWait(), next];
		const id = await this.publish(chain('Wait', nodes));
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

	countPaid(externalIds: string[]): number {
		return externalIds.filter((each) => this.arrivals(each) > 0).length;
	}

	countPaidTwice(externalIds: string[]): number {
		return externalIds.filter((each) => this.arrivals(each) > 1).length;
	}

	/** How many payments arrived of which n8n's duplicate store holds no record. */
	countForgotten(workflowId: string, externalIds: string[]): number {
		const records = new Set(
			this.queue.sql(
				`SELECT json_array_elements_text(value::json->'data') FROM processed_data WHERE "workflowId" = '${workflowId}'`,
			),
		);
		const arrived = externalIds.filter((each) => this.arrivals(each) > 0);
		return arrived.filter((external_id) => {
			const key = `n8n-nodes-pay:payment:${external_id}`;
			return !records.has(createHash('md5').update(key).digest('base64'));
		}).length;
	}

	/** Waits until a workflow has this many executions and none is on its way; gives their ids, newest last. */
	async settled(workflowId: string, count: number, seconds = 120): Promise<string[]> {
		const query = `SELECT id, status FROM execution_entity WHERE "workflowId" = '${workflowId}' ORDER BY id`;
		const rows = await until(
			`${count} executions to settle`,
			async () => {
				// This process carries the n8ns' connections to PostgreSQL, which psql would hold up.
				await pause(500);
				const found = this.queue.sql(query);
				const isMoving = found.some((row) => /\|(new|running)$/.test(row));
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
			async () =>
				this.queue.workersOf(executionId).every((worker) => {
					const countOf = (what: string) =>
						worker.log.split(`Worker ${what} execution ${executionId} `).length - 1;
					const begun = countOf('started');
					const ended = countOf('finished') + countOf('errored while running');
					return ended >= (worker === killed ? begun - 1 : begun);
				}),
			seconds,
		);
	}

	/** What the newest execution says, briefly: its status, its outcomes and its error. */
	async summaryOf(workflowId: string): Promise<string> {
		const [id] = (await this.main.executionIds(workflowId, 1)) as [string];
		const execution = await this.main.execution(id);
		const counts = new Map<string, number>();
		for (const { error, outcome } of itemsOf(execution, 'Pay')) {
			const name = String((error as { outcome?: string } | undefined)?.outcome ?? outcome);
			counts.set(name, (counts.get(name) ?? 0) + 1);
		}
		const words: string[] = [execution.status];
		for (const [outcome, count] of counts) words.push(`${count} ${outcome}`);
		const { error } = execution.data.resultData;
		if (error) words.push(error.message.replace(/"[0-9a-f-]{36}"/g, '…'));
		return words.join(' ');
	}

	/** Plays something at the first statement of any worker that is like this; gives the worker it met. */
	playOnce(statement: RegExp, play: Play): { metBy: N8n | undefined } {
		const played: { metBy: N8n | undefined } = { metBy: undefined };
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
		for (const database of this.databases()) {
			database.play = undefined;
			database.down = false;
			database.release();
		}
	}

	private databases(): DatabaseProxy[] {
		return this.queue.workers.map((worker) => this.queue.databaseOf(worker));
	}

	/** Lists at once, or one after the other; then all their payments again, in one execution. */
	async payOverlapping(
		lists: string[][],
		{ everyMs, delayMs }: { everyMs: number; delayMs: number },
	): Promise<MadeTwice> {
		const list = await this.publishWarmList({}, CONTINUE);
		if (delayMs > 0) this.sandbox.faultFor = () => ({ kind: 'delay', ms: delayMs });
		const sending = lists.map(async (ids, index) => {
			await pause(index * everyMs);
			await list.send(ids);
		});
		await Promise.all(sending);
		await this.settled(list.id, 1 + lists.length, 600);
		const all = lists.flat();
		const arrived = this.countPaid(all);
		const forgotten = this.countForgotten(list.id, all);
		await list.send(all);
		await this.settled(list.id, 2 + lists.length, 600);
		return { arrived, forgotten, twice: this.countPaidTwice(all) };
	}

	/** Freezes the worker that pays a list of 30 slowly, after three have arrived. */
	async freezeInList() {
		const list = await this.publishWarmList({}, CONTINUE);
		const externalIds = newIds(30);
		this.sandbox.faultFor = () => ({ kind: 'delay', ms: 250 });
		await list.send(externalIds);
		await until('three to arrive', async () => this.countPaid(externalIds) >= 3);
		const [executionId] = (await this.main.executionIds(list.id, 1)) as [string];
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
		const [executionId] = (await this.settled(list.id, 2, 180)).slice(-1) as [string];
		// A frozen one goes on after the execution has been given up.
		await this.endedOnWorkers(executionId, how === 'killed' ? victim : undefined);
		const first = await this.summaryOf(list.id);
		const arrivedFirst = this.arrivals(external_id);
		this.sandbox.faultFor = undefined;
		await list.send([external_id]);
		await this.settled(list.id, 3, 120);
		const again = await this.summaryOf(list.id);
		return { arrivedFirst, arrived: this.arrivals(external_id), first, again };
	}

	/** Sends a payment; gives the worker that makes it, as it stands at the given step. */
	private async reach(list: PaymentList, external_id: string, at: Step): Promise<N8n> {
		if (at === 'in flight') {
			this.sandbox.faultFor = () => ({ kind: 'delay', ms: 3_000 });
			await list.send([external_id]);
			return await until('the payment to arrive', async () => {
				const [newest] = (await this.main.executionIds(list.id, 1)) as [string];
				return this.arrivals(external_id) > 0 && this.queue.workerOf(newest);
			});
		}
		const { statement, play, isAfterResponse } = STEPS[at];
		let played: { metBy: N8n | undefined } = { metBy: undefined };
		if (!isAfterResponse) played = this.playOnce(statement, play);
		this.sandbox.faultFor = () => {
			if (isAfterResponse) played = this.playOnce(statement, play);
			return undefined;
		};
		await list.send([external_id]);
		return await until('the step', async () => played.metBy);
	}
}

export const RECORD = /UPDATE [^ ]*"processed_data"/;
export const SAVE = /UPDATE [^ ]*"execution_(data|entity)"/;

/** A step of a worker that makes a payment, by what it sends to the database. */
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

type Step = keyof typeof STEPS | 'in flight';

export interface Strike {
	how: 'killed' | 'frozen';
	at: Step;
}
