import crypto, { createHash } from 'node:crypto';
import path from 'node:path';
import { env } from 'node:process';
import { buildSync } from 'esbuild';
import * as n8nWorkflow from 'n8n-workflow';
import type { INodeProperties, INodeType } from 'n8n-workflow';
import type { Clock, Machine } from './clock';
import { withFault } from './putBack';

type Load = (
	module: { exports: Record<string, unknown> },
	require: (name: string) => unknown,
	globals: Record<(typeof REPLACED)[number] | 'list', unknown>,
) => void;

/** What the node's code finds in the place of these: all that has to do with time and chance. */
const REPLACED = ['AbortSignal', 'Date', 'Math', 'performance'] as const;

let load: Load | undefined;

/**
 * The Pay node as one piece of code, without its libraries, so that every simulated process gets
 * its own copy of what the node keeps in memory, with a clock of its own.
 */
export function builtPayNode(): string {
	const { outputFiles } = buildSync({
		entryPoints: [path.join(__dirname, '../../nodes/Pay/Pay.node.ts')],
		bundle: true,
		write: false,
		platform: 'node',
		packages: 'external',
		target: 'node20',
		format: 'cjs',
	});
	return outputFiles[0]?.text ?? '';
}

function payNodeCode(): Load {
	if (load !== undefined) return load;
	const [before, after, ...more] = withFault(builtPayNode(), env.SIMULATION_FAULT).split(
		/^var REMEMBERED_PAYMENTS = 1e4;$/m,
	);
	if (after === undefined || more.length > 0) throw new Error('What is the length of the list?');
	const code = (before + after).replaceAll('REMEMBERED_PAYMENTS', 'globals.list.remembered');
	const globals = `const { ${REPLACED.join(', ')} } = globals;`;
	load = new Function('module', 'require', 'globals', `${globals}\n${code}`) as Load;
	return load;
}

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

/** One copy of the package in memory, with the clock and the chance of whoever has it now. */
class LoadedNode {
	readonly pay: INodeType;
	clock: Clock;
	machine: Machine;
	/** The process, by which chance differs. */
	name = '';
	/** How many payments its list keeps at least. */
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
		const module = { exports: {} as Record<string, unknown> };
		const required = (id: string): unknown => instead[id] ?? require(id);
		payNodeCode()(module, required, {
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
			list: this.list,
		});
		this.pay = new (module.exports.Pay as new () => INodeType)();
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

	/** All parameters of a resource with what a new node has. */
	defaults(resource: string): Record<string, unknown> {
		return defaultsOf(this.loaded.pay.description.properties, resource);
	}
}
