import type { NodeProcess } from '../nodeProcess';
import { contextOf } from './context';
import type { Kind } from '../../serviceOperations';
import type { NodePlan, Options, Plan, TypedItem } from './plan';
import type { Result } from './report';
import { judgeReport } from './rules';
import { itemFor, type NodeRun } from './send';
import { OPERATION_FACTS } from './service';
import type { World } from './world';

/** What n8n keeps of an execution in its database. */
interface Saved {
	contexts: string;
	knows: Set<NodeRun>;
	position: number;
}

const NOTHING_SAVED: Saved = { contexts: '{}', knows: new Set(), position: 0 };

let executionsMade = 0;
/** Makes an identifier that changes another one at each run of its node. */
let idsMade = 0;

/** An execution as n8n's engine runs it (`workflow-execute.js`): nodes one after the other. */
export class Execution {
	cancelled = false;
	ended = false;
	status: 'running' | 'success' | 'failed' | 'cancelled' | 'crashed' = 'running';
	readonly name: string;
	saved: Saved;
	/** All that was saved of it, the first first. */
	readonly states: Saved[];
	private readonly additionalData = {};
	private readonly controller = new AbortController();
	private readonly contexts: Record<string, Record<string, unknown>>;
	private readonly knows: Set<NodeRun>;
	private currentRun: NodeRun | undefined;

	/** @param runAgainOf the name of the execution that this is another run of */
	constructor(
		private readonly world: World,
		readonly process: NodeProcess,
		readonly plan: Plan,
		from: Saved = NOTHING_SAVED,
		runAgainOf?: string,
	) {
		this.name = runAgainOf ?? `execution ${(executionsMade += 1)}`;
		if (runAgainOf !== undefined) world.runAgain.add(runAgainOf);
		this.saved = from;
		this.states = [from];
		this.contexts = JSON.parse(from.contexts) as typeof this.contexts;
		this.knows = new Set(from.knows);
	}

	static restartCount() {
		executionsMade = 0;
		idsMade = 0;
	}

	/** Stop, or the workflow's time-out. */
	cancel() {
		if (this.ended || this.process.dead) return;
		this.cancelled = true;
		this.world.note(`${this.name} is cancelled`);
		this.controller.abort();
	}

	/** The process died: what was not saved is gone. */
	crash() {
		if (this.ended) return;
		this.end('crashed');
		if (this.currentRun === undefined) return;
		this.currentRun.crashed = true;
		this.currentRun.ended = this.world.clock.now;
	}

	private end(status: Execution['status']) {
		this.ended = true;
		this.status = status;
		this.world.note(`${this.name} ends: ${status}`);
	}

	private save(position: number) {
		const contexts = JSON.stringify(this.contexts);
		this.saved = { contexts, knows: new Set(this.knows), position };
		this.states.push(this.saved);
		if (this.world.isTokenEchoed && contexts.includes('token-of-account')) {
			this.world.violate('token', `the access token is saved with ${this.name}`);
		}
	}

	async run() {
		if (this.plan.isAgent) await this.runTools();
		else await this.runNodes();
	}

	private endWell() {
		this.end(this.cancelled ? 'cancelled' : 'success');
	}

	/** An agent's tools, at once. */
	private async runTools() {
		const { nodes } = this.plan;
		await Promise.all(nodes.map(async (_, position) => await this.runOnce(position)));
		this.save(nodes.length);
		this.endWell();
	}

	private async runNodes() {
		const { nodes } = this.plan;
		for (let position = this.saved.position; position < nodes.length; position++) {
			if (this.cancelled) break;
			const mayGoOn = await this.runWithRetries(position);
			if (this.cancelled) break;
			if (!mayGoOn) {
				this.save(position);
				this.end('failed');
				return;
			}
			const isLast = position === nodes.length - 1;
			if (isLast || this.world.settings.savesProgress) this.save(position + 1);
		}
		this.endWell();
	}

	/** Runs a node with Retry On Fail; false where the execution stops at it. */
	private async runWithRetries(position: number): Promise<boolean> {
		for (let left = this.plan.tries; ; left--) {
			const result = await this.runOnce(position);
			if (hasFailed(result) && left > 1 && !this.cancelled) continue;
			return 'returned' in result || this.plan.onError !== 'stopWorkflow';
		}
	}

	private async runOnce(position: number): Promise<Result> {
		const { world, process, plan } = this;
		await world.clock.step('starts', process);
		const node = plan.nodes[position]!;
		const earlierNodes = plan.nodes.slice(0, position);
		const runIndex = earlierNodes.filter(({ id }) => id === node.id).length;
		const run = this.newRun(node, runIndex);
		this.knows.add(run);
		this.currentRun = run;
		const defaults = process.defaults(node.kind);
		const context = contextOf(world, run, {
			contexts: this.contexts,
			runIndex,
			additionalData: this.additionalData,
			signal: this.controller.signal,
			parameters: run.items.map((item) => parametersOf(defaults, node.kind, item, plan.options)),
		});
		const result = await resultOf(process, context);
		run.ended = world.clock.now;
		judgeReport(world, run, result);
		return result;
	}

	private newRun(node: NodePlan, runIndex: number): NodeRun {
		const { world, process, plan } = this;
		const items = node.items.map((item, index) => ({
			...itemFor(node.kind, item, plan.evaluation !== undefined),
			id: item.changing ? `${item.id} ${(idsMade += 1)}` : item.id,
			place: `${node.id} ${runIndex} ${index}`,
		}));
		return {
			// Tools that run at once write into one ledger.
			knows: plan.isAgent ? this.knows : new Set(this.knows),
			execution: this,
			process,
			node: node.id,
			kind: node.kind,
			isTool: plan.isAgent,
			evaluation: plan.evaluation,
			items,
			options: plan.options,
			begun: world.clock.now,
			ended: undefined,
			continues: plan.isAgent || plan.onError !== 'stopWorkflow',
			crashed: false,
			storeFailed: false,
			sends: [],
			logged: [],
		};
	}
}

async function resultOf(process: NodeProcess, context: unknown): Promise<Result> {
	try {
		const [returned = []] = await process.execute(context);
		return { returned };
	} catch (thrown) {
		return { thrown };
	}
}

/** Whether n8n runs the node again where it is to: also one that returned an `error`. */
function hasFailed(result: Result): boolean {
	if ('thrown' in result) return true;
	const error = result.returned[0]?.json.error;
	return error !== undefined && error !== null && error !== false;
}

function parametersOf(
	defaults: Record<string, unknown>,
	kind: Kind,
	item: TypedItem,
	{ batchSize, timeout }: Options,
): Record<string, unknown> {
	const { resource, operation, agentPermission } = OPERATION_FACTS[kind];
	const permissions = agentPermission === undefined ? {} : { [agentPermission]: true };
	return {
		...defaults,
		resource,
		operation,
		postback: 'none',
		amount: item.amount,
		external_id: item.id,
		creditParty: { key: item.key },
		options: {
			batching: { batch: { batchSize } },
			timeout: item.timeout ?? timeout,
			additionalMembers: item.members,
			...permissions,
		},
	};
}
