import type { Scheduler } from 'fast-check';
import type { INodeExecutionData, IRunExecutionData, IWebhookFunctions } from 'n8n-workflow';
import { randomProof, withRandomProof } from '../../../nodes/Pay/postback/proof';
import { Clock } from '../clock';
import { NodeProcess } from '../nodeProcess';
import { webhookContext } from '../../contexts';
import type { Plan, PlannedPostback } from './plan';
import { judgeRefusal, judgeResumption, type TakenPostback, type Wait } from './rules';

/** The simulation's time 0 as the node sees it, in milliseconds since 1970. */
const EPOCH = 1_700_000_000_000;
const NODE = 'Wait';
const RESUME_URL = 'https://n8n.example.com/webhook-waiting/1';

/** What n8n has in its database of the execution; the data is text, so that nobody shares it. */
interface Stored {
	status: 'waiting' | 'running' | 'success';
	data: string;
}

/** An execution as n8n loads it. */
type Loaded = IRunExecutionData & { wait: number };

/** What a wait of the simulation has beside what its rules ask for. */
interface OwnWait extends Wait {
	/** The URL that the service was given. */
	url: string;
	hash: string;
}

/** What the node wrote to the sender of a postback, and who waits for n8n to end its response. */
class Response {
	statusCode = 200;
	readonly headersSent = false;
	private readonly listeners: Array<() => void> = [];

	setHeader() {
		return this;
	}

	status(code: number) {
		this.statusCode = code;
		return this;
	}

	json() {
		return this;
	}

	once(_event: 'finish', listener: () => void) {
		this.listeners.push(listener);
	}

	finish() {
		for (const listener of this.listeners) listener();
	}
}

/** The waits of all scenarios have ids that differ, since processes remember them. */
let waitsOfAll = 0;

/** n8n and one of its executions, as far as waiting has to do with them. */
export class World {
	private readonly clock: Clock;
	private readonly processes: NodeProcess[];
	private readonly waits: OwnWait[] = [];
	private stored: Stored = { status: 'running', data: '' };
	private attemptsToStore = 0;
	private workUnderWay = 0;
	private mistake: unknown;

	constructor(
		scheduler: Scheduler,
		private readonly plan: Plan,
	) {
		this.clock = new Clock(scheduler);
		const names = ['first', 'second'].slice(0, plan.processes);
		this.processes = names.map((name) => new NodeProcess(name, this.clock, 0, false));
	}

	/** Plays the plan to its end; throws a Violation where something happens that must not. */
	async play(): Promise<void> {
		this.beginWait();
		const isDone = () => this.workUnderWay === 0;
		await this.clock.run(isDone, () => {
			if (this.mistake !== undefined) throw this.mistake;
		});
		for (const process of this.processes) process.release();
	}

	/** Does something beside everything else. */
	private start(work: () => Promise<void>): void {
		this.workUnderWay++;
		work()
			.catch((error: unknown) => (this.mistake ??= error))
			.finally(() => this.workUnderWay--);
	}

	/** The execution sends a charge and waits for its postback. */
	private beginWait(): void {
		const number = this.waits.length;
		const limit = this.plan.limits[number];
		const about = { external_id: `order-${number}`, kind: 'qrCode', amount: 1 };
		const { url, hash } = withRandomProof(RESUME_URL, randomProof());
		const until = limit === undefined ? undefined : this.clock.now + limit;
		this.waits.push({
			url,
			hash,
			until,
			passes: [],
			resuming: 0,
			failedAt: undefined,
			isOverwritten: false,
		});
		const awaited = {
			proofs: [{ hash, reference: about, match: { field: ['status'], values: ['paid'] } }],
			given: this.waits.map((wait) => wait.hash),
			id: `wait ${++waitsOfAll}`,
			until: until === undefined ? undefined : EPOCH + until,
		};
		const data = {
			wait: number,
			waitTill: '3000-01-01T00:00:00.000Z',
			resultData: { lastNodeExecuted: NODE },
			executionData: { contextData: { [`node:${NODE}`]: { awaited } } },
		};
		this.stored = { status: 'waiting', data: JSON.stringify(data) };
		for (const postback of this.plan.postbacks) {
			if (postback.wait === number) this.start(async () => await this.takePostback(postback));
		}
		if (limit !== undefined) this.start(async () => await this.endAtLimit(number, limit));
	}

	private async load(process?: NodeProcess): Promise<Stored> {
		await this.clock.sleep(this.plan.loadTime, process);
		return this.stored;
	}

	/** n8n's own timer. On n8n 2 no later wait begins while it runs: the node sees to that. */
	private async endAtLimit(number: number, limit: number): Promise<void> {
		await this.clock.sleep(limit);
		const { status, data } = await this.load();
		if (status === 'success') return;
		const loaded = JSON.parse(data) as Loaded;
		const isOwn = loaded.wait === number;
		if (!isOwn && this.plan.major === 2) return;
		await this.goOn(loaded, isOwn ? 'ownTimer' : 'otherTimer');
	}

	/** n8n loads the execution, the node reads the body and decides, n8n resumes what it had loaded. */
	private async takePostback(planned: PlannedPostback): Promise<void> {
		const number = planned.process % this.processes.length;
		const process = this.processes[number]!;
		await this.clock.sleep(planned.after, process);
		const begunAt = this.clock.now;
		const { status, data } = await this.load(process);
		if (status !== 'waiting') return;
		const loaded = JSON.parse(data) as Loaded;
		delete loaded.waitTill;
		const taken: TakenPostback = {
			planned,
			process: number,
			begunAt,
			lookedAt: begunAt,
			statusCode: 200,
		};
		const response = new Response();
		const context = this.contextOf(process, loaded, taken, response);
		const { workflowData } = await process.webhook(context);
		const wait = this.waits[loaded.wait]!;
		if (workflowData !== undefined) {
			await this.resume(wait, loaded, taken, response);
			return;
		}
		taken.statusCode = response.statusCode;
		// After the postback on whose account it was refused, if both ended at the same moment.
		await this.clock.sleep(0);
		if (planned.wait === loaded.wait) judgeRefusal(wait, taken, this.plan, this.clock.now);
	}

	private async resume(wait: OwnWait, loaded: Loaded, taken: TakenPostback, response: Response) {
		wait.resuming++;
		const isStored = await this.goOn(loaded, 'postback', taken);
		wait.resuming--;
		if (!isStored) {
			wait.failedAt = this.clock.now;
			// n8n 1 responds before it stores.
			if (this.plan.major === 2) response.statusCode = 500;
		}
		response.finish();
	}

	/**
	 * Stores that the execution goes on, as it was loaded, and lets it.
	 * @returns false where n8n says that this cannot be
	 */
	private async goOn(
		loaded: Loaded,
		by: 'postback' | 'ownTimer' | 'otherTimer',
		taken?: TakenPostback,
	): Promise<boolean> {
		await this.clock.sleep(this.plan.storeTime);
		if (this.plan.failures.includes(this.attemptsToStore++)) return false;
		// n8n 1 does not ask.
		if (this.plan.major === 2 && this.stored.status !== 'waiting') return false;
		const wait = this.waits[loaded.wait]!;
		if (taken !== undefined) judgeResumption(wait, taken, this.plan);
		wait.passes.push({ by, process: taken?.process, storedAt: this.clock.now });
		this.markOverwritten(loaded);
		this.stored = { status: 'running', data: JSON.stringify(loaded) };
		this.start(async () => {
			await this.clock.sleep(this.plan.workTime);
			const isNewest = loaded.wait === this.waits.length - 1;
			if (isNewest && this.waits.length < this.plan.limits.length) this.beginWait();
			else this.stored = { ...this.stored, status: 'success' };
		});
		return true;
	}

	/** n8n 1 stores what it loaded, though the execution may have begun its next wait since. */
	private markOverwritten(loaded: Loaded): void {
		if (this.stored.status !== 'waiting') return;
		const stored = JSON.parse(this.stored.data) as Loaded;
		if (stored.wait !== loaded.wait) this.waits[stored.wait]!.isOverwritten = true;
	}

	/** What n8n hands to webhook(), as far as it was measured on a running n8n. */
	private contextOf(
		process: NodeProcess,
		loaded: Loaded,
		taken: TakenPostback,
		response: Response,
	): IWebhookFunctions {
		const { planned, begunAt } = taken;
		const item: INodeExecutionData = { json: { external_id: 'order' } };
		const { awaited } = loaded.executionData!.contextData[`node:${NODE}`]!;
		const parameters: Record<string, string> = { resource: 'postback', operation: 'wait' };
		const request = {
			method: 'POST',
			complete: false,
			rawBody: undefined as Buffer | undefined,
			on: () => undefined,
			readRawBody: async () => {
				const left = begunAt + planned.late - this.clock.now;
				if (left > 0) await this.clock.sleep(left, process);
				request.complete = true;
				taken.lookedAt = this.clock.now;
				request.rawBody = Buffer.from(JSON.stringify({ status: planned.status }));
			},
		};
		return webhookContext({
			getNode: () => ({ name: NODE, parameters }),
			getNodeParameter: (name: string) => parameters[name],
			getExecutionId: () => '1',
			getQueryData: () => Object.fromEntries(new URL(this.waits[planned.wait]!.url).searchParams),
			getHeaderData: () => ({ 'content-type': 'application/json' }),
			getRequestObject: () => request,
			getResponseObject: () => response,
			evaluateExpression: (expression: string) =>
				expression.includes('resumeUrl') ? RESUME_URL : JSON.stringify([item, awaited]),
			additionalData: {
				getRunExecutionData: async () => {
					const { data } = await this.load(process);
					taken.lookedAt = this.clock.now;
					return JSON.parse(data) as IRunExecutionData;
				},
			},
		});
	}
}
