import type { Scheduler } from 'fast-check';
import { Clock } from '../clock';
import { DuplicateStore } from '../duplicateStore';
import { NodeProcess } from '../nodeProcess';
import { Violation } from '../violation';
import type { Settings, StoreFate } from './plan';
import { RecordHistory } from './recordHistory';
import { inWords, type NodeRun, type Send } from './send';
import type { ResponseFate, TokenFate } from './service';

let nextWorld = 1;

/** The service, n8n's duplicate store and its processes, and what happened among them so far. */
export class World {
	readonly clock: Clock;
	readonly store: DuplicateStore;
	readonly records = new RecordHistory();
	/** One of its own: what a process remembers of another scenario does not meet it. */
	readonly workflow = { id: `workflow-${nextWorld++}`, name: 'Payouts', active: true };
	/** How often somebody deployed its JSON without the ids of its nodes: each time they get others. */
	private deployments = 0;
	readonly sends: Send[] = [];
	readonly processes: NodeProcess[] = [];
	/** The names of the executions that n8n runs more than once. */
	readonly runAgain = new Set<string>();
	/** Whether a call to the store took longer than the node's pauses count on. */
	isStoreSlow = false;
	/** Whether any call to the store met a fault. */
	hasStoreFailed = false;
	/** How often a run said of a payment that it was accepted before. */
	acceptedBefore = 0;
	/** Whether any answer repeated a request's headers, the token among them. */
	isTokenEchoed = false;
	readonly history: string[] = [];
	/** The first broken promise; it ends the scenario at the end of the step. */
	violation: Violation | undefined;
	private requests = 0;
	private tokens = 0;
	private storeCalls = 0;
	private processesMade = 0;

	constructor(
		readonly settings: Settings,
		scheduler: Scheduler,
		/** Rules that are not looked at: to find what is behind a known fault. */
		private readonly ignoredRules: ReadonlySet<string>,
		/** Whether processes are new ones, that no other scenario used. */
		private readonly isFresh: boolean,
	) {
		this.clock = new Clock(scheduler);
		this.store = new DuplicateStore({
			written: (write, call) => this.records.addWrite(write, call),
		});
	}

	/** Makes a list that already holds a record: the first one of a list is made in another way. */
	async warmUp() {
		const options = { mode: 'entries', maxEntries: 10_000 } as const;
		await this.store.checkProcessedAndRecord(['warm'], 'workflow', this.placeOf('node-1'), options);
	}

	/** Deploys the workflow as it is, from JSON in which no node has an id. */
	deploy() {
		this.deployments += 1;
		this.note('the workflow is deployed again, without the ids of its nodes');
	}

	/** The id that a node of the workflow has by now. */
	nodeIdOf(node: string): string {
		return `${node}, deployment ${this.deployments}`;
	}

	/** The nodes of the workflow that are no Pay nodes. */
	get otherNodes() {
		const row = {
			name: 'Row',
			type: 'n8n-nodes-base.evaluationTrigger',
			typeVersion: 4.7,
			parameters: {},
		};
		if (!this.settings.sharesRecord) return { [row.name]: row };
		const remove = {
			name: 'Remove Duplicates',
			type: 'n8n-nodes-base.removeDuplicates',
			typeVersion: 2,
			parameters: {
				operation: 'removeItemsSeenInPreviousExecutions',
				options: { scope: 'workflow' },
			},
		};
		return { [row.name]: row, [remove.name]: remove };
	}

	/** What n8n hands to the store for a node of the workflow. */
	placeOf(node: string) {
		return { node: { id: this.nodeIdOf(node) } as never, workflow: this.workflow };
	}

	process(index: number): NodeProcess {
		return (this.processes[index] ??= this.newProcess(index));
	}

	private newProcess(index: number): NodeProcess {
		this.processesMade += 1;
		// Each has a name of its own, as chance has to differ between them.
		const name = `process ${index}.${this.processesMade}`;
		return new NodeProcess(name, this.clock, this.settings.remembered, this.isFresh);
	}

	/** Ends a process where it stands. A new one takes its place. */
	crash(index: number): NodeProcess | undefined {
		const process = this.processes[index];
		if (process === undefined) return undefined;
		process.dead = true;
		delete this.processes[index];
		this.note(`${process.name} dies`);
		return process;
	}

	/** Stops a process where it stands, for a while. */
	freeze(index: number, ms: number): void {
		const process = this.processes[index];
		if (process === undefined || process.frozen !== undefined) return;
		this.note(`${process.name} is frozen for ${ms} ms`);
		process.frozenUntil = this.clock.now + ms;
		process.frozen = new Promise((resolve) => {
			this.clock.after(ms, () => {
				process.frozen = undefined;
				resolve();
			});
		});
	}

	note(text: string) {
		this.history.push(`${this.clock.now} ms: ${text}`);
	}

	violate(rule: string, text: string) {
		if (this.ignoredRules.has(rule)) return;
		this.violation ??= new Violation(rule, text);
	}

	/** What the next request meets: an ordinary answer unless the scenario says otherwise. */
	nextFate(): ResponseFate {
		return this.settings.fates[this.requests++] ?? { does: 'answer', status: 200, books: true };
	}

	/** What the next request for a token meets, and its number. */
	nextToken(): { fate: TokenFate; number: number } {
		const number = this.tokens++;
		return { fate: this.settings.tokenFates[number] ?? { does: 'give' }, number };
	}

	nextStoreFate(): StoreFate | undefined {
		return this.settings.storeFates[this.storeCalls++];
	}

	/** Notes what a run's list holds, the first time that it asks. */
	beginStoreCall(run: NodeRun) {
		this.records.addFirstLook(run, this.store.list(this.placeOf(run.node)));
	}

	/** Notes that a request leaves. */
	addSend(send: Send) {
		send.run.sends.push(send);
		this.sends.push(send);
	}

	/** Notes what the node was told of a request. */
	endSend(send: Send, outcome: NonNullable<Send['outcome']>) {
		send.outcome = outcome;
		send.endedAt = this.clock.now;
		this.note(`${inWords(send)} ends ${outcome}`);
	}

	/** Notes that a request is at the service. */
	arrive(send: Send, fate: ResponseFate) {
		send.arrived = true;
		this.note(`${inWords(send)} arrives: ${JSON.stringify(fate)}`);
		if (fate.does === 'answer' && fate.echo) this.isTokenEchoed = true;
	}
}
