import crypto from 'node:crypto';
import path from 'node:path';
import { buildSync } from 'esbuild';
import * as n8nWorkflow from 'n8n-workflow';
import type { INodeProperties, INodeType } from 'n8n-workflow';
import type { Clock, Machine } from './clock';

type Load = (
	module: { exports: Record<string, unknown> },
	require: (name: string) => unknown,
	globals: Record<(typeof REPLACED)[number], unknown>,
) => void;

/** What the node's code finds in the place of these: all that has to do with time and chance. */
const REPLACED = ['AbortSignal', 'Date', 'Math', 'performance'] as const;

let load: Load | undefined;

/**
 * The Pay node as one piece of code, without its libraries, so that every simulated process gets
 * its own copy of what the node keeps in memory, with a clock of its own.
 */
function payNodeCode(): Load {
	if (load !== undefined) return load;
	const { outputFiles } = buildSync({
		entryPoints: [path.join(__dirname, '../../nodes/Pay/Pay.node.ts')],
		bundle: true,
		write: false,
		platform: 'node',
		packages: 'external',
		target: 'node20',
		format: 'cjs',
	});
	const code = outputFiles[0]?.text ?? '';
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

/** An n8n process: one copy of the package in memory. */
export class NodeProcess implements Machine {
	dead = false;
	frozen: Promise<void> | undefined;
	/** Up to when it was frozen last, in the simulation's milliseconds. */
	frozenUntil = -1;
	private readonly pay: INodeType;

	constructor(
		readonly name: string,
		clock: Clock,
	) {
		const machine = this as Machine;
		let random = 0;
		const workflow: unknown = Object.create(n8nWorkflow, {
			sleep: { value: async (ms: number) => await clock.sleep(ms, machine) },
			sleepWithAbort: {
				value: async (ms: number, signal?: AbortSignal) => {
					if (signal?.aborted) throw new Error('aborted');
					await clock.sleep(ms, machine);
				},
			},
		});
		// The same scenario has to run the same way each time.
		const bytes = () =>
			crypto
				.createHash('sha256')
				.update(`${name} ${(random += 1)}`)
				.digest();
		const repeatable: unknown = Object.create(crypto, {
			randomUUID: {
				value: () =>
					bytes()
						.toString('hex')
						.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5'),
			},
			randomBytes: { value: (size: number) => bytes().subarray(0, size) },
		});
		class VirtualDate extends Date {
			static override now() {
				return 1_700_000_000_000 + clock.now;
			}
		}
		const signals = {
			any: (list: AbortSignal[]) => AbortSignal.any(list),
			abort: (reason?: unknown) => AbortSignal.abort(reason),
			timeout: (ms: number) => {
				const controller = new AbortController();
				const passed = () =>
					controller.abort(new DOMException('The operation timed out', 'TimeoutError'));
				void clock.sleep(ms, machine).then(passed);
				return controller.signal;
			},
			[Symbol.hasInstance]: (value: unknown) => value instanceof AbortSignal,
		};
		const module = { exports: {} as Record<string, unknown> };
		const required = (id: string): unknown => {
			if (id === 'n8n-workflow') return workflow;
			if (id === 'crypto' || id === 'node:crypto') return repeatable;
			return require(id);
		};
		const repeatableMath: unknown = Object.create(Math, {
			random: { value: () => bytes().readUInt32BE() / 2 ** 32 },
		});
		payNodeCode()(module, required, {
			AbortSignal: signals,
			Date: VirtualDate,
			Math: repeatableMath,
			performance: { now: () => clock.now },
		});
		this.pay = new (module.exports.Pay as new () => INodeType)();
	}

	/** Runs the node, as n8n's engine does. */
	async execute(context: unknown): Promise<n8nWorkflow.INodeExecutionData[][]> {
		const { execute } = this.pay;
		return (await execute?.call(
			context as n8nWorkflow.IExecuteFunctions,
		)) as n8nWorkflow.INodeExecutionData[][];
	}

	/** All parameters of a resource with what a new node has. */
	defaults(resource: string): Record<string, unknown> {
		return defaultsOf(this.pay.description.properties, resource);
	}
}
