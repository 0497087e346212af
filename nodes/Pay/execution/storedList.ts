import type { IExecuteFunctions } from 'n8n-workflow';
import { asError } from '../inputError';
import { within } from '../within';

/** n8n reads and writes the whole list at each change, so what is older than so many may be dropped. */
export const REMEMBERED_PAYMENTS = 10_000;

/** What of n8n's duplicate store is used. */
export type Store = Pick<
	IExecuteFunctions['helpers'],
	'checkProcessedAndRecord' | 'removeProcessed' | 'getProcessedDataCount'
>;

/** Scope `node`: a separate list, which no Remove Duplicates node shares, clears or converts. */
const SCOPE = 'node';
const OPTIONS = { mode: 'entries' } as const;

/** No change waits longer for n8n's database: a silent connection must not stop all payments. */
const LIMIT_MS = 30_000;
/** A pause is longer than a change takes: several times the slowest of the last ones, at least this. */
const SLOWEST_TIMES = 4;
const SHORTEST_PAUSE_MS = 300;
const LONGEST_PAUSE_MS = 5_000;
const CHANGES_KEPT = 20;
/** A change that takes longer was frozen, not slow: n8n may have given its execution to another worker. */
export const LONGEST_CHANGE_MS = 10_000;

const silent = () => new Error(`n8n's database did not respond within ${LIMIT_MS / 1000} s`);

/** Two processes that make the first record of a node at once: one of them finds the row made. */
const isRowMadeMeanwhile = (error: unknown) =>
	/unique constraint|duplicate (key|entry)/i.test(asError(error).message);

/** One node's list of keys in n8n's duplicate store: one change after the other, each measured. */
export class StoredList {
	private last: Promise<unknown> = Promise.resolve();
	private lastEnd = -Infinity;
	private durations: number[] = [];
	/** Changes so slow that they may have undone what other processes recorded meanwhile. */
	overlong = 0;

	/** What is left of the pause since this process's last change, in ms. */
	rest(): number {
		const measured = SLOWEST_TIMES * Math.max(0, ...this.durations);
		const pause = Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, measured));
		return this.lastEnd + pause - performance.now();
	}

	/** Works when all that came before has ended; what fails does not hold up what comes after. */
	async inTurn<T>(work: () => Promise<T>): Promise<T> {
		const turn = this.last.then(work, work);
		this.last = turn.catch(() => undefined);
		return await turn;
	}

	/** One change of the list, with a time limit that lets the next one go on. */
	private async timed<T>(work: () => Promise<T>): Promise<T> {
		const start = performance.now();
		const startDate = Date.now();
		try {
			return await within(work(), LIMIT_MS, silent);
		} finally {
			this.lastEnd = performance.now();
			// A virtual machine that was suspended may have stopped one of its clocks.
			const duration = Math.max(this.lastEnd - start, Date.now() - startDate);
			this.durations = [...this.durations, duration].slice(-CHANGES_KEPT);
			if (duration > LONGEST_CHANGE_MS) this.overlong++;
		}
	}

	/** How many keys the list holds. */
	async length(store: Store): Promise<number> {
		return await within(store.getProcessedDataCount(SCOPE, OPTIONS), LIMIT_MS, silent);
	}

	/**
	 * Adds keys, in its caller's turn; gives those that were there before. Throws when that is unsure.
	 * @param room how many the list may hold after it, without the oldest; without it nothing is dropped
	 */
	async record(store: Store, keys: string[], room?: number): Promise<Set<unknown>> {
		const options = { ...OPTIONS, maxEntries: room };
		const recordKeys = async () =>
			await this.timed(async () => await store.checkProcessedAndRecord(keys, SCOPE, options));
		let result;
		try {
			result = await recordKeys();
		} catch (error) {
			if (!isRowMadeMeanwhile(error)) throw asError(error);
			// Nothing was written then, so it is safe to do it again.
			result = await recordKeys();
		}
		const fresh = new Set<unknown>(result.new);
		const processed = new Set<unknown>(result.processed);
		if (keys.some((key) => fresh.has(key) === processed.has(key))) {
			throw new Error("n8n's store does not say whether it knows them");
		}
		return processed;
	}

	/** Removes keys, in a separate turn that begins with `before`; throws when the store does. */
	async remove(store: Store, keys: string[], before = () => {}): Promise<void> {
		let givenUp = false;
		const work = this.inTurn(async () => {
			if (givenUp) return;
			before();
			await this.timed(async () => await store.removeProcessed(keys, SCOPE, OPTIONS));
		});
		try {
			await within(work, LIMIT_MS, silent);
		} finally {
			givenUp = true;
		}
	}
}
