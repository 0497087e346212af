import crypto, { createHash } from 'node:crypto';
import { env } from 'node:process';
import * as n8nWorkflow from 'n8n-workflow';
import type { INodeProperties, INodeType } from 'n8n-workflow';
import type { Clock, Machine } from './clock';
import { loadModule } from './modules';
import { patchesOf } from './putBack';
import { patchedSource, type Patch, type Source } from './source';

/** The parameters as the editor saves them: what nobody touched has its default. */
const defaults = new Map<string, Record<string, unknown>>();

function defaultsOf(properties: INodeProperties[], resource: string) {
	let found = defaults.get(resource);
	if (found === undefined) {
		const shown = properties.filter(({ displayOptions }) => {
			const resources = displayOptions?.show?.resource;
			return resources === undefined || resources.includes(resource);
		});
		found = Object.fromEntries(shown.map(({ name, default: value }) => [name, value]));
		defaults.set(resource, found);
	}
	return found;
}

/** Lists of a few payments, so that a scenario can fill one. */
const SHORT_LISTS: Patch = {
	find: 'new PaymentList()',
	replace: 'new PaymentList(simulatedList.remembered)',
};

/** Marks of a few payments, so that a scenario clears them. */
const FEW_MARKS: Patch = {
	find: 'export const MOST_MARKS = 5_000;',
	replace: 'export const MOST_MARKS = 4;',
};

let patched: Source | undefined;

/** The node's source as this process simulates it: with a fault put back, where it has to find one. */
function simulatedSource(): Source {
	patched ??= patchedSource([...patchesOf(env.SIMULATION_FAULT), SHORT_LISTS, FEW_MARKS]);
	return patched;
}

/** One copy of the package in memory, with the clock and the chance of whoever has it now. */
export class LoadedNode {
	readonly pay: INodeType;
	clock: Clock;
	machine: Machine;
	/** The process, by which chance differs. */
	name = '';
	/** How many payments a list keeps at least that it opens now. */
	readonly list = { remembered: 0 };
	/** Counts what was drawn by chance: the same scenario has to run the same way each time. */
	drawn = 0;

	constructor(clock: Clock, machine: Machine) {
		this.clock = clock;
		this.machine = machine;
		const sleep = async (ms: number) => await this.clock.sleep(ms, this.machine);
		const bytes = () =>
			createHash('sha256')
				.update(`${this.name} ${(this.drawn += 1)}`)
				.digest();
		const uuid = () =>
			bytes()
				.toString('hex')
				.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
		const now = () => this.clock.now;
		class VirtualDate extends Date {
			static override now() {
				return 1_700_000_000_000 + now();
			}
		}
		const timeout = (ms: number) => {
			const controller = new AbortController();
			const passed = () =>
				controller.abort(new DOMException('The operation timed out', 'TimeoutError'));
			void sleep(ms).then(passed);
			return controller.signal;
		};
		const instead: Record<string, unknown> = {
			'n8n-workflow': Object.create(n8nWorkflow, {
				sleep: { value: sleep },
				sleepWithAbort: { value: sleep },
			}),
			crypto: Object.create(crypto, {
				randomUUID: { value: uuid },
				randomBytes: { value: (size: number) => bytes().subarray(0, size) },
			}),
		};
		const { Pay } = loadModule('Pay.node', {
			source: simulatedSource(),
			library: (id) => instead[id] ?? require(id),
			// All that has to do with time and chance.
			globals: {
				AbortSignal: {
					any: (list: AbortSignal[]) => AbortSignal.any(list),
					abort: (reason?: unknown) => AbortSignal.abort(reason),
					timeout,
					[Symbol.hasInstance]: (value: unknown) => value instanceof AbortSignal,
				},
				Date: VirtualDate,
				Math: Object.create(Math, {
					random: { value: () => bytes().readUInt32BE() / 2 ** 32 },
				}) as unknown,
				performance: { now },
				simulatedList: this.list,
			},
		});
		this.pay = new (Pay as new () => INodeType)();
	}
}

/** Copies whose process ended well, for the next scenario: Node has compiled what it runs often. */
const spare: LoadedNode[] = [];

/** An n8n process, with a copy of the package of its own. */
export class NodeProcess implements Machine {
	dead = false;
	frozen: Promise<void> | undefined;
	/** Up to when it was frozen last, in the simulation's milliseconds. */
	frozenUntil = -1;
	private readonly loaded: LoadedNode;

	/**
	 * @param remembered how many payments a list keeps at least
	 * @param fresh whether its copy must not have run before
	 */
	constructor(
		readonly name: string,
		clock: Clock,
		remembered: number,
		fresh: boolean,
	) {
		const loaded = (fresh ? undefined : spare.pop()) ?? new LoadedNode(clock, this);
		Object.assign(loaded, { clock, machine: this, name, drawn: 0 });
		loaded.list.remembered = remembered;
		this.loaded = loaded;
	}

	/** Gives the copy on; not one that a scenario left in the middle of something. */
	release() {
		if (!this.dead) spare.push(this.loaded);
	}

	/** Runs the node, as n8n's engine does. */
	async execute(context: unknown): Promise<n8nWorkflow.INodeExecutionData[][]> {
		const { execute } = this.loaded.pay;
		return (await execute?.call(
			context as n8nWorkflow.IExecuteFunctions,
		)) as n8nWorkflow.INodeExecutionData[][];
	}

	/** Calls the node's webhook, as n8n does. */
	async webhook(context: n8nWorkflow.IWebhookFunctions): Promise<n8nWorkflow.IWebhookResponseData> {
		const { webhook } = this.loaded.pay;
		return (await webhook?.call(context)) as n8nWorkflow.IWebhookResponseData;
	}

	/** All parameters of a resource with what a new node has. */
	defaults(resource: string): Record<string, unknown> {
		return defaultsOf(this.loaded.pay.description.properties, resource);
	}
}
