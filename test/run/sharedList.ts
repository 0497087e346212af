import fc from 'fast-check';
import { type RunOfNode, RunRecords } from '../../nodes/Pay/run/records';
import { OPERATIONS } from '../serviceOperations';
import { DuplicateStore } from '../simulation/duplicateStore';

type Helpers = RunOfNode['helpers'];

/** Random numbers that a seed gives again. */
export function randomOf(seed: number): () => number {
	const steps = fc.noBias(fc.infiniteStream(fc.nat(1_000_000)));
	const [drawn] = fc.sample(steps, { seed, numRuns: 1 });
	return () => (drawn!.next().value as number) / 1_000_001;
}

export const passing = async (ms: number) =>
	await new Promise<void>((resolve) => setTimeout(resolve, ms));

const CONTEXT = {
	workflow: { id: 'workflow', active: true },
	node: { id: 'node', name: 'Pay', type: '', typeVersion: 1, position: [0, 0], parameters: {} },
} satisfies Parameters<DuplicateStore['getProcessedDataCount']>[1];

/** One workflow's list of payments, which several processes change: each change takes its time. */
export class SharedList {
	private readonly store = new DuplicateStore();

	/** @param takes how long a change is under way between its reading and its writing, in ms */
	constructor(private readonly takes: () => number) {}

	has(id: string): boolean {
		return this.store.has(`n8n-nodes-pay:payment:${id}`);
	}

	get length(): number {
		return this.store.size;
	}

	/** As it is before the workflow's first payment: without a row in the database. */
	clear() {
		this.store.clear();
	}

	/** As the workflow's earlier payments have left it: those of these ids, or one that is forgotten. */
	async fill(ids?: string[]): Promise<void> {
		this.clear();
		const keys = ids?.map((id) => `n8n-nodes-pay:payment:${id}`) ?? ['an earlier payment'];
		await this.store.checkProcessedAndRecord(keys, 'workflow', CONTEXT, { mode: 'entries' });
	}

	process(name: string): SimulatedProcess {
		return new SimulatedProcess(name, (hold) => {
			const seen = this.store.seenBy(async (moment) => {
				await passing(moment === 'write' ? this.takes() : this.takes() / 4);
				if (moment === 'write') await hold();
			});
			return {
				checkProcessedAndRecord: async (keys, scope, options) =>
					await seen.checkProcessedAndRecord(keys, scope, CONTEXT, options),
				removeProcessed: async (keys, scope, options) =>
					await seen.removeProcessed(keys, scope, CONTEXT, options),
				clearAllProcessedItems: async (scope) => await seen.clearAllProcessedItems(scope, CONTEXT),
				getProcessedDataCount: async (scope, options) =>
					await seen.getProcessedDataCount(scope, CONTEXT, options),
			};
		});
	}
}

/** An n8n process: its changes of the list can be frozen between their reading and their writing. */
export class SimulatedProcess {
	private frozen: Promise<void> = Promise.resolve();
	readonly helpers: Helpers;

	constructor(
		private readonly name: string,
		helpers: (hold: () => Promise<void>) => Helpers,
	) {
		this.helpers = helpers(async () => await this.frozen);
	}

	freeze(ms: number) {
		this.frozen = passing(ms);
	}

	/** Opens records as a run of the node in this process does. */
	open(signal?: AbortSignal, hasTriedBefore = false, passageName?: string): RunRecords {
		return new RunRecords({
			helpers: this.helpers,
			workflowId: this.name,
			signal,
			hasTriedBefore,
			passage: passageName === undefined ? undefined : { store: {}, name: passageName },
			operation: OPERATIONS.payment,
		});
	}
}
