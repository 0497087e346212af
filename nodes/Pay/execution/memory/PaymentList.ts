import { randomUUID } from 'crypto';
import { sleep, type IExecuteFunctions } from 'n8n-workflow';
import { asError } from '../../inputError';
import { within } from '../../within';
import {
	CHANGES_KEPT,
	CLAIM_PAUSE_MS,
	DROPPED_FOR_EACH,
	JITTER_MS,
	LIMIT_MS,
	LONGEST_CHANGE_MS,
	LONGEST_LOOKING_MS,
	LONGEST_PAUSE_MS,
	LOOKS_THAT_MAY_FAIL,
	RECORDED_AGAIN,
	REMEMBERED_PAYMENTS,
	SHORTEST_PAUSE_MS,
	SLOWEST_TIMES,
} from './bounds';

/** What of n8n's duplicate store is used. */
export type Store = Pick<
	IExecuteFunctions['helpers'],
	'checkProcessedAndRecord' | 'removeProcessed' | 'getProcessedDataCount'
>;

/** Scope `node`: a separate list, which no Remove Duplicates node shares, clears or converts. */
const SCOPE = 'node';
const OPTIONS = { mode: 'entries' } as const;

const silent = () => new Error(`n8n's database did not respond within ${LIMIT_MS / 1000} s`);

/** Two processes that make the first record of a node at once: one of them finds the row made. */
const isRowMadeMeanwhile = (error: unknown) =>
	/unique constraint|duplicate (key|entry)/i.test(asError(error).message);

/** The next change that records, while it waits for its turn: runs that come meanwhile join it. */
interface PendingBatch {
	/** The keys of each run. */
	keysOfRuns: Array<readonly string[]>;
	/** Those of them that were recorded before, run by run. */
	known: Promise<Array<Set<string>>>;
}

/**
 * One node's list in n8n's duplicate store, as this process uses it. Within the process one change comes
 * after the other. Between processes n8n has no lock: the last writer wins, and what another recorded is
 * gone. So what was recorded is looked at again after a pause, and recorded again until it lasts; and the
 * process refuses its own payments whatever the list says. Why that holds: CONTRIBUTING.md.
 */
export class PaymentList {
	/** How many payments are kept at least. */
	readonly leastKept = REMEMBERED_PAYMENTS;
	/** Keys that this process recorded and did not remove, the oldest first. */
	private readonly recorded = new Set<string>();
	/** Those of them that a run looks for until they are seen to last. */
	private readonly unsure = new Set<string>();
	private pending?: PendingBatch;
	/** The look under way, which all runs share. */
	private look?: Promise<Error | undefined>;
	/** Runs with batches to come: what they may ask for is not dropped. */
	readonly keepers = new Set<object>();
	/** Payments recorded since something could be dropped. */
	private added = 0;
	/** How many payments the list held at the last look. */
	length = 0;
	/** Whether a run of this process was told that the list is full. */
	saidFull = false;
	/** Changes so slow that they may have undone what other processes recorded meanwhile. */
	overlong = 0;

	/** The last piece of work in the queue. */
	private last: Promise<unknown> = Promise.resolve();
	private lastEnd = -Infinity;
	private durations: number[] = [];

	/** Records keys; gives those that were recorded before. Throws when that is unsure. */
	async record(store: Store, keys: readonly string[]): Promise<Set<string>> {
		this.pending ??= this.queueBatch(store);
		const { keysOfRuns, known } = this.pending;
		const place = keysOfRuns.push(keys) - 1;
		return (await known)[place] as Set<string>;
	}

	/** Queues a change that records what runs ask for until its turn comes. */
	private queueBatch(store: Store): PendingBatch {
		const keysOfRuns: Array<readonly string[]> = [];
		const known = this.inTurn(async () => {
			this.pending = undefined;
			const stored = await this.change(store, keysOfRuns.flat());
			// Within the turn: a removal that comes next must not find it undecided.
			return keysOfRuns.map((keys) => this.takeNew(keys, stored));
		});
		return { keysOfRuns, known };
	}

	/** Takes keys that are new; gives those that the list holds or this process knows. */
	private takeNew(keys: readonly string[], stored: Set<unknown>): Set<string> {
		// Or another run of this process has paid it, or, having joined before this one, is about to.
		const known = new Set(keys.filter((key) => this.recorded.has(key) || stored.has(key)));
		for (const key of keys) {
			if (!known.has(key)) this.take(key);
		}
		return known;
	}

	private take(key: string): void {
		this.recorded.add(key);
		this.unsure.add(key);
		this.added++;
		const [oldest] = this.recorded;
		if (this.recorded.size > this.leastKept && oldest !== undefined) {
			this.recorded.delete(oldest);
		}
	}

	/**
	 * Claims a key for the caller alone, also where two processes claim it in the same instant; gives
	 * whether it did. Throws when that is unsure. Both would find the list without the key, and the last
	 * writer wins: so each adds a key of its own beside it, and after a pause that no change outlasts it
	 * looks whose is left. Nothing records these again before that, or the other one's would be lost.
	 */
	async claim(store: Store, key: string): Promise<boolean> {
		if (this.recorded.has(key)) return false;
		const ownKey = `${key} ${randomUUID()}`;
		let stored = await this.addClaim(store, [key, ownKey]);
		while (!stored.has(ownKey)) {
			if (stored.has(key)) return false;
			await sleep(Math.max(CLAIM_PAUSE_MS, this.slowest()));
			// Where a change of neither has written over both, this claims it once more.
			stored = await this.addClaim(store, [key, ownKey]);
		}
		this.take(key);
		// It takes the place of a payment; where it cannot be removed, it stays.
		await this.takeOut(store, [ownKey]).catch(() => undefined);
		return true;
	}

	private async addClaim(store: Store, keys: string[]): Promise<Set<unknown>> {
		return await this.inTurn(async () => {
			const stored = await this.add(store, keys);
			if ((this.durations.at(-1) ?? 0) <= CLAIM_PAUSE_MS) return stored;
			// Another process may have looked before this was written, and gone on.
			throw new Error(`n8n's database took longer than ${CLAIM_PAUSE_MS / 1000} s for it`);
		});
	}

	/**
	 * One change of the list: adds keys. It asks for this process's newest payment too: an old list that
	 * another process wrote back lacks it, and then the last of them are added again.
	 */
	private async change(store: Store, keys: string[], room?: number): Promise<Set<unknown>> {
		const newest = [...this.recorded].slice(-1);
		const stored = await this.add(store, [...new Set([...newest, ...keys])], room);
		if (newest.some((key) => !stored.has(key))) {
			await this.add(store, [...this.recorded].slice(-RECORDED_AGAIN));
		}
		return stored;
	}

	/**
	 * Looks until all of these keys last. Never throws.
	 * @param drops whether the oldest payments of a long list may go
	 * @returns those that may not last, which are looked for no more, and why
	 */
	async makeLast(
		store: Store,
		keys: ReadonlySet<string>,
		drops: boolean,
	): Promise<{ left: string[]; reason?: Error }> {
		const end = performance.now() + LONGEST_LOOKING_MS;
		let failures = 0;
		let reason: Error | undefined;
		let left = this.unsureOf(keys);
		while (left.length > 0 && failures < LOOKS_THAT_MAY_FAIL && performance.now() <= end) {
			const failure = await this.lookTogether(store, drops);
			if (failure !== undefined) failures++;
			reason = failure ?? new Error('other executions overwrite it');
			left = this.unsureOf(keys);
		}
		if (left.length === 0) return { left };
		for (const key of left) this.unsure.delete(key);
		return { left, reason };
	}

	private unsureOf(keys: ReadonlySet<string>): string[] {
		return [...keys].filter((key) => this.unsure.has(key));
	}

	/** Looks, or waits for the look that another run has begun. */
	private async lookTogether(store: Store, drops: boolean): Promise<Error | undefined> {
		this.look ??= this.lookOnce(store, drops).finally(() => {
			this.look = undefined;
		});
		return await this.look;
	}

	/** Waits for the pause, then looks; what was gone is recorded again, and looked at once more. */
	private async lookOnce(store: Store, drops: boolean): Promise<Error | undefined> {
		return await this.inTurn(async () => {
			// Processes that keep in step would overwrite one another again and again.
			const step = Math.random() * JITTER_MS;
			// A timer may fire a moment early.
			while (this.rest() > 0) await sleep(this.rest() + step);
			const keys = [...this.unsure];
			if (keys.length === 0) return undefined;
			try {
				const stored = await this.change(store, keys, await this.roomAfterLook(store, drops));
				for (const key of keys) if (stored.has(key)) this.unsure.delete(key);
				return undefined;
			} catch (error) {
				return asError(error);
			}
		});
	}

	/**
	 * How many keys the list may hold after a look, without the oldest; undefined where none may go. Paying
	 * one that was dropped would push out the next: so only a look drops, a few, and never while a run of
	 * this process has payments to come.
	 */
	private async roomAfterLook(store: Store, drops: boolean): Promise<number | undefined> {
		const counting = store.getProcessedDataCount(SCOPE, OPTIONS);
		this.length = await within(counting, LIMIT_MS, silent);
		if (!drops || this.keepers.size > 0) return undefined;
		const few = this.length - DROPPED_FOR_EACH * this.added;
		const room = Math.max(this.leastKept + this.added, few);
		this.added = 0;
		return room;
	}

	/** Removes keys from the list. @throws when the store does, or after the time limit */
	async remove(store: Store, keys: readonly string[]): Promise<void> {
		const unsure = keys.filter((key) => this.unsure.has(key));
		try {
			await this.takeOut(store, keys);
		} catch (error) {
			// They are recorded still, and looked for as before.
			for (const key of keys) this.recorded.add(key);
			for (const key of unsure) this.unsure.add(key);
			throw asError(error);
		}
	}

	/** Looks no more for keys, and knows their payments no more. */
	forget(keys: readonly string[]): void {
		for (const key of keys) {
			this.recorded.delete(key);
			this.unsure.delete(key);
		}
	}

	/** Longer than a change takes: several times the slowest of the last ones, in ms. */
	private slowest(): number {
		return SLOWEST_TIMES * Math.max(0, ...this.durations);
	}

	/** What is left of the pause since this process's last change, in ms. */
	rest(): number {
		const pause = Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, this.slowest()));
		return this.lastEnd + pause - performance.now();
	}

	/** Works when all that came before has ended; what fails does not hold up what comes after. */
	private async inTurn<T>(work: () => Promise<T>): Promise<T> {
		const turn = this.last.then(work, work);
		this.last = turn.catch(() => undefined);
		return await turn;
	}

	/** One change of n8n's list, with a time limit that lets the next one go on. */
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

	/**
	 * Adds keys to n8n's list; gives those that were there before. Throws when that is unsure.
	 * @param room how many the list may hold after it, without the oldest; without it nothing is dropped
	 */
	async add(store: Store, keys: string[], room?: number): Promise<Set<unknown>> {
		const options = { ...OPTIONS, maxEntries: room };
		const addKeys = async () =>
			await this.timed(async () => await store.checkProcessedAndRecord(keys, SCOPE, options));
		let result;
		try {
			result = await addKeys();
		} catch (error) {
			if (!isRowMadeMeanwhile(error)) throw asError(error);
			// Nothing was written then, so it is safe to do it again.
			result = await addKeys();
		}
		const fresh = new Set<unknown>(result.new);
		const processed = new Set<unknown>(result.processed);
		if (keys.some((key) => fresh.has(key) === processed.has(key))) {
			throw new Error("n8n's store does not say whether it knows them");
		}
		return processed;
	}

	/** Takes keys out of n8n's list, in a separate turn; throws when the store does. */
	async takeOut(store: Store, keys: readonly string[]): Promise<void> {
		let givenUp = false;
		const work = this.inTurn(async () => {
			if (givenUp) return;
			// Before the removal, or a change that waits behind it would put them back.
			this.forget(keys);
			await this.timed(async () => await store.removeProcessed([...keys], SCOPE, OPTIONS));
		});
		try {
			await within(work, LIMIT_MS, silent);
		} finally {
			givenUp = true;
		}
	}
}
