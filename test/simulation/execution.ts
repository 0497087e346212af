import { contextOf } from './context';
import type { NodeProcess } from './nodeProcess';
import { checkTold, type Result } from './told';
import type { Kind, Options, Try, TypedItem, World } from './world';

/** One node of the simulated workflow, with what runs through it; a loop is the same id again. */
export interface NodePlan {
	id: string;
	kind: Kind;
	items: TypedItem[];
}

export interface Plan {
	nodes: NodePlan[];
	options: Options;
	onError: 'stopWorkflow' | 'continueRegularOutput' | 'continueErrorOutput';
	/** How often Retry On Fail runs the node, 1 for off. */
	tries: number;
	/** Whether the nodes are an AI agent's tools, which one message of the model calls at once. */
	isAgent: boolean;
}

/** What n8n keeps of an execution in its database. */
interface Saved {
	contexts: string;
	knows: Set<Try>;
	position: number;
}

let count = 0;
/** Makes an identifier that changes another one at each try. */
let tries = 0;

/** An execution as n8n's engine runs it (`workflow-execute.js`): nodes one after the other. */
export class Execution {
	cancelled = false;
	ended = false;
	status: 'running' | 'success' | 'failed' | 'cancelled' | 'crashed' = 'running';
	readonly name: string;
	saved: Saved;
	/** All that was saved of it, the first first. */
	readonly states: Saved[];
	private readonly controller = new AbortController();
	private readonly contexts: Record<string, Record<string, unknown>>;
	private readonly knows: Set<Try>;
	private current: Try | undefined;

	constructor(
		private readonly world: World,
		readonly process: NodeProcess,
		readonly plan: Plan,
		from?: Saved,
		/** Of the execution that this is another run of. */
		again?: string,
	) {
		this.name = again ?? `execution ${(count += 1)}`;
		if (again !== undefined) world.runAgain.add(again);
		this.saved = from ?? { contexts: '{}', knows: new Set(), position: 0 };
		this.states = [this.saved];
		this.contexts = JSON.parse(this.saved.contexts) as typeof this.contexts;
		this.knows = new Set(this.saved.knows);
	}

	static restartCount() {
		[count, tries] = [0, 0];
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
		if (this.current !== undefined) {
			this.current.crashed = true;
			this.current.ended = this.world.clock.now;
		}
	}

	private end(status: Execution['status']) {
		this.ended = true;
		this.status = status;
		this.world.note(`${this.name} ends: ${status}`);
	}

	private save(position: number) {
		this.saved = { contexts: JSON.stringify(this.contexts), knows: new Set(this.knows), position };
		this.states.push(this.saved);
		if (this.world.echoed && /token-of-account/.test(this.saved.contexts)) {
			this.world.violate('token', `the access token is saved with ${this.name}`);
		}
	}

	async run() {
		const { nodes } = this.plan;
		if (this.plan.isAgent) {
			await Promise.all(nodes.map(async (_, position) => await this.runOnce(position)));
			this.save(nodes.length);
			return this.end(this.cancelled ? 'cancelled' : 'success');
		}
		for (let position = this.saved.position; position < nodes.length; position++) {
			if (this.cancelled) break;
			const ok = await this.runNode(position);
			if (this.cancelled) break;
			if (!ok) {
				this.save(position);
				return this.end('failed');
			}
			if (this.world.settings.savesProgress || position === nodes.length - 1) {
				this.save(position + 1);
			}
		}
		this.end(this.cancelled ? 'cancelled' : 'success');
	}

	/** Runs a node with Retry On Fail; false where the execution stops at it. */
	private async runNode(position: number): Promise<boolean> {
		for (let left = this.plan.tries; ; left--) {
			const result = await this.runOnce(position);
			const failed = 'thrown' in result || hasError(result.returned[0]?.json.error);
			if (failed && left > 1 && !this.cancelled) continue;
			return 'returned' in result || this.plan.onError !== 'stopWorkflow';
		}
	}

	private async runOnce(position: number): Promise<Result> {
		const { world, process, plan } = this;
		const node = plan.nodes[position] as NodePlan;
		await world.clock.step('starts', process);
		const runIndex = plan.nodes.slice(0, position).filter(({ id }) => id === node.id).length;
		const { isAgent: isTool } = plan;
		const items = node.items.map((item, index) => ({
			...item,
			id: item.changing ? `${item.id} ${(tries += 1)}` : item.id,
			place: `${node.id} ${runIndex} ${index}`,
		}));
		const by: Try = {
			// Tools that run at once write into one ledger.
			knows: isTool ? this.knows : new Set(this.knows),
			execution: this,
			process,
			node: node.id,
			kind: node.kind,
			isTool,
			items,
			options: plan.options,
			begun: world.clock.now,
			ended: undefined,
			continues: isTool || plan.onError !== 'stopWorkflow',
			crashed: false,
			storeFailed: false,
			sends: [],
			logged: [],
		};
		this.knows.add(by);
		this.current = by;
		const defaults = process.defaults(node.kind);
		const context = contextOf(world, by, {
			contexts: this.contexts,
			runIndex,
			signal: this.controller.signal,
			parameters: (item) => parametersOf(defaults, node.kind, item, plan.options),
			nodeType: isTool ? 'n8n-nodes-pay.payTool' : 'n8n-nodes-pay.pay',
			continues: by.continues,
		});
		let result: Result;
		try {
			const [output = []] = await process.execute(context);
			result = { returned: output };
		} catch (thrown) {
			result = { thrown };
		}
		by.ended = world.clock.now;
		checkTold(world, by, result);
		return result;
	}
}

/** What makes n8n run a node again although it returned. */
const hasError = (error: unknown) => error !== undefined && error !== null && error !== false;

function parametersOf(
	defaults: Record<string, unknown>,
	kind: Kind,
	item: TypedItem,
	{ batchSize, timeout }: Options,
): Record<string, unknown> {
	return {
		...defaults,
		resource: kind,
		operation: 'create',
		postback: 'none',
		amount: item.amount,
		external_id: item.id,
		creditParty: { key: item.key },
		options: {
			batching: { batch: { batchSize } },
			timeout: item.timeout ?? timeout,
			...(item.members === undefined ? {} : { additionalMembers: item.members }),
			...(kind === 'payment' ? { allowAiPayments: true } : {}),
		},
	};
}
