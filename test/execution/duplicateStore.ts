import type { DeduplicationItemTypes, ICheckProcessedOptions } from 'n8n-workflow';
import { openRecords, type Records } from '../../nodes/Pay/execution/duplicateCheck';
import type { DuplicateCheck } from '../../nodes/Pay/parameters/duplicateCheck';

type Helpers = Parameters<typeof openRecords>[0]['helpers'];

/** Random numbers that a seed gives again. */
export function randomOf(seed: number): () => number {
	let state = seed;
	return () => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
	};
}

export const passing = async (ms: number) =>
	await new Promise<void>((resolve) => setTimeout(resolve, ms));

/**
 * n8n's duplicate store as its source has it: the row of a node is read, changed and written back
 * whole, without a lock, so of two changes that overlap the last writer wins.
 */
export class DuplicateStore {
	row?: DeduplicationItemTypes[];
	changes = 0;

	/** @param takes how long a change is under way between its reading and its writing, in ms */
	constructor(private readonly takes: () => number) {}

	has(id: string): boolean {
		return this.row?.some((key) => String(key).endsWith(`:${id}`)) === true;
	}

	process(name: string): SimulatedProcess {
		return new SimulatedProcess(this, name);
	}

	/** The helpers of one process; `hold` is awaited between reading and writing. */
	helpers(hold: () => Promise<void>): Helpers {
		const change = async <T>(
			options: ICheckProcessedOptions,
			work: (list: DeduplicationItemTypes[], isNew: boolean) => T,
		): Promise<T> => {
			this.changes++;
			await passing(this.takes() / 4);
			const read = this.row;
			await passing(this.takes());
			await hold();
			const list = [...(read ?? [])];
			const result = work(list, read === undefined);
			// The primary key: of two first records one fails.
			if (read === undefined && this.row !== undefined) {
				throw new Error('duplicate key value violates unique constraint "PK_processed_data"');
			}
			list.splice(0, list.length - (options.maxEntries ?? list.length));
			this.row = list;
			await passing(this.takes() / 4);
			return result;
		};
		return {
			checkProcessedAndRecord: async (keys, _scope, options) =>
				await change(options, (list) => {
					const known = new Set(list);
					const processed = keys.filter((key) => known.has(key));
					const fresh = keys.filter((key) => !known.has(key));
					list.push(...fresh);
					return { new: fresh, processed };
				}),
			removeProcessed: async (keys, _scope, options) => {
				if (this.row === undefined) return;
				await change(options, (list) => {
					for (const key of keys) {
						const at = list.indexOf(key);
						if (at !== -1) list.splice(at, 1);
					}
				});
			},
		};
	}
}

/** An n8n process: its changes of the list can be frozen between their reading and their writing. */
export class SimulatedProcess {
	private frozen: Promise<void> = Promise.resolve();
	readonly helpers: Helpers;

	constructor(
		store: DuplicateStore,
		private readonly name: string,
	) {
		this.helpers = store.helpers(async () => await this.frozen);
	}

	freeze(ms: number) {
		this.frozen = passing(ms);
	}

	/** Opens records as a run of the node in this process does. */
	open(check: DuplicateCheck, signal?: AbortSignal): Records {
		return openRecords({ helpers: this.helpers, check, place: this.name, signal });
	}
}
