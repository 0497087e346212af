import { randomUUID } from 'crypto';
import { sleep, type IExecuteFunctions } from 'n8n-workflow';
import { asError } from '../../inputError';
import {
	CLAIM_PAUSE_MS,
	DROPPED_FOR_EACH,
	JITTER_MS,
	LONGEST_LOOKING_MS,
	LOOKS_THAT_MAY_FAIL,
	RECORDED_AGAIN,
	REMEMBERED_PAYMENTS,
} from './bounds';
import { StoreTurns, withinTimeLimit, type TimedChange } from './StoreTurns';

/** What of n8n's duplicate store is used. */
export type Store = Pick<
	IExecuteFunctions['helpers'],
	'checkProcessedAndRecord' | 'removeProcessed' | 'getProcessedDataCount'
>;

/** Scope `node`: a separate list, which no Remove Duplicates node shares, clears or converts. */
const SCOPE = 'node';
const MODE = 'entries' as const;

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
	/** The turns in which this process changes the list. */
	readonly turns = new StoreTurns();

	/* What this process knows of the list. */

	/** How many payments this process knows, and n8n's list keeps at least. */
	protected readonly remembered = REMEMBERED_PAYMENTS;
	/** Keys that this process recorded and did not remove, the oldest first. */
	private readonly recorded = new Set<string>();
	/** Those of them that a run looks for until they are seen to last. */
	private readonly unsure = new Set<string>();
	/** How many payments the list held at the last look. */
	length = 0;
	/** Payments recorded since something could be dropped. */
	private added = 0;

	/* What runs of this process share. */

	private pending?: PendingBatch;
	/** The look under way. */
	private look?: Promise<Error | undefined>;
	/** Runs with batches to come: what they may ask for is not dropped. */
	private readonly runsWithMore = new Set<object>();
	/** Whether a run had the hint that the list is full. */
	hasHintedFull = false;

	/** Has the list hold all that is in it until {@link releaseFor} is called for the run. */
	holdAllFor(run: object): void {
		this.runsWithMore.add(run);
	}

	/** Ends what {@link holdAllFor} began. */
	releaseFor(run: object): void {
		this.runsWithMore.delete(run);
	}

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
		const known = this.turns.inTurn(async () => {
			this.pending = undefined;
			const stored = await this.addAndRepair(store, keysOfRuns.flat());
			// Within the turn: a removal that comes next must not find it undecided.
			return keysOfRuns.map((keys) => this.markNew(keys, stored));
		});
		return { keysOfRuns, known };
	}

	/** Marks keys that are new as recorded; gives those that the list holds or this process knows. */
	private markNew(keys: readonly string[], stored: Set<unknown>): Set<string> {
		// This process knows a key that another of its runs paid, or, having joined this batch first, is about to.
		const known = new Set(keys.filter((key) => this.recorded.has(key) || stored.has(key)));
		for (const key of keys) {
			if (!known.has(key)) this.markRecorded(key);
		}
		return known;
	}

	private markRecorded(key: string): void {
		this.recorded.add(key);
		this.unsure.add(key);
		this.added++;
		const [oldest] = this.recorded;
		if (this.recorded.size > this.remembered && oldest !== undefined) {
			this.recorded.delete(oldest);
		}
	}

	/**
	 * Claims a key for the caller alone. Two processes may claim it in the same instant: both find the list
	 * without it, and the last writer wins. So each adds a key of its own beside it, pauses for longer than
	 * a change takes, and looks whose own key is left.
	 * @returns whether the caller has it; throws when that is unsure
	 */
	async claim(store: Store, key: string): Promise<boolean> {
		if (this.recorded.has(key)) return false;
		const ownKey = `${key} ${randomUUID()}`;
		for (;;) {
			const stored = await this.addClaim(store, [key, ownKey]);
			// It was added before the pause, and is still there: nobody wrote over it.
			if (stored.has(ownKey)) break;
			// Another process was first, or wrote over this one's.
			if (stored.has(key)) return false;
			// Both keys are new. If a third process writes over both meanwhile, they are new again.
			await sleep(Math.max(CLAIM_PAUSE_MS, this.turns.longestExpected()));
		}
		// Not before: this process records again what it has marked, and would write over another one's key.
		this.markRecorded(key);
		// It takes the place of a payment; where it cannot be removed, it stays.
		await this.deleteFromStore(store, [ownKey]).catch(() => undefined);
		return true;
	}

	/** Adds the keys of a claim; gives those that were there before. Throws where it took too long. */
	private async addClaim(store: Store, keys: string[]): Promise<Set<unknown>> {
		return await this.turns.inTurn(async () => {
			const { result: stored, durationMs } = await this.addToStore(store, keys);
			if (durationMs <= CLAIM_PAUSE_MS) return stored;
			// Another process may have looked before this was written, and gone on.
			throw new Error(`n8n's database took longer than ${CLAIM_PAUSE_MS / 1000} s for it`);
		});
	}

	/**
	 * Adds keys, and asks for this process's newest payment too: an old list that another process wrote
	 * back lacks it, and then the last payments of this process are added again.
	 */
	private async addAndRepair(store: Store, keys: string[], room?: number): Promise<Set<unknown>> {
		const newest = [...this.recorded].slice(-1);
		const { result: stored } = await this.addToStore(
			store,
			[...new Set([...newest, ...keys])],
			room,
		);
		if (newest.some((key) => !stored.has(key))) {
			await this.addToStore(store, [...this.recorded].slice(-RECORDED_AGAIN));
		}
		return stored;
	}

	/**
	 * Looks until all of these keys last. Never throws.
	 * @param mayDrop whether the oldest payments of a long list may go
	 * @returns those that may not last, which are looked for no more, and why
	 */
	async makeLast(
		store: Store,
		keys: ReadonlySet<string>,
		mayDrop: boolean,
	): Promise<{ left: string[]; reason?: Error }> {
		const end = performance.now() + LONGEST_LOOKING_MS;
		let failures = 0;
		let reason: Error | undefined;
		let left = this.unsureOf(keys);
		while (left.length > 0 && failures < LOOKS_THAT_MAY_FAIL && performance.now() <= end) {
			const failure = await this.lookTogether(store, mayDrop);
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
	private async lookTogether(store: Store, mayDrop: boolean): Promise<Error | undefined> {
		this.look ??= this.lookOnce(store, mayDrop).finally(() => {
			this.look = undefined;
		});
		return await this.look;
	}

	/** Waits for the pause, then looks; what was gone is recorded again, and looked at once more. */
	private async lookOnce(store: Store, mayDrop: boolean): Promise<Error | undefined> {
		return await this.turns.inTurn(async () => {
			// Processes that keep in step would overwrite one another again and again.
			const jitter = Math.random() * JITTER_MS;
			// A timer may fire a moment early.
			while (this.turns.remainingPause() > 0) {
				await sleep(this.turns.remainingPause() + jitter);
			}
			const keys = [...this.unsure];
			if (keys.length === 0) return undefined;
			try {
				const room = await this.roomAfterLook(store, mayDrop);
				const stored = await this.addAndRepair(store, keys, room);
				for (const key of keys) if (stored.has(key)) this.unsure.delete(key);
				return undefined;
			} catch (error) {
				return asError(error);
			}
		});
	}

	/**
	 * How many keys the list may hold after a look, without the oldest; undefined where none may go. A list
	 * of 10,001 that runs again would find its first payment dropped, pay it, and push out its second, and
	 * so on. So only a look drops, only a few, and never while a run of this process has payments to come.
	 */
	private async roomAfterLook(store: Store, mayDrop: boolean): Promise<number | undefined> {
		const counting = store.getProcessedDataCount(SCOPE, { mode: MODE });
		this.length = await withinTimeLimit(counting);
		if (!mayDrop || this.runsWithMore.size > 0) return undefined;
		const lengthAfterDrop = this.length - DROPPED_FOR_EACH * this.added;
		const room = Math.max(this.remembered + this.added, lengthAfterDrop);
		this.added = 0;
		return room;
	}

	/** Removes keys from the list. @throws when the store does, or after the time limit */
	async remove(store: Store, keys: readonly string[]): Promise<void> {
		const unsure = keys.filter((key) => this.unsure.has(key));
		try {
			await this.deleteFromStore(store, keys);
		} catch (error) {
			// They are recorded still, and looked for as before.
			for (const key of keys) this.recorded.add(key);
			for (const key of unsure) this.unsure.add(key);
			throw asError(error);
		}
	}

	/** Looks no more for keys, and knows their payments no more; n8n's list keeps them. */
	unmark(keys: readonly string[]): void {
		for (const key of keys) {
			this.recorded.delete(key);
			this.unsure.delete(key);
		}
	}

	/**
	 * Adds keys to n8n's list; gives those that were there before. Throws when that is unsure.
	 * @param room how many the list may hold after it, without the oldest; without it nothing is dropped
	 */
	protected async addToStore(
		store: Store,
		keys: string[],
		room?: number,
	): Promise<TimedChange<Set<unknown>>> {
		const options = { mode: MODE, maxEntries: room };
		const addKeys = async () =>
			await this.turns.timed(async () => await store.checkProcessedAndRecord(keys, SCOPE, options));
		let change;
		try {
			change = await addKeys();
		} catch (error) {
			if (!isRowMadeMeanwhile(error)) throw asError(error);
			// Nothing was written then, so it is safe to do it again.
			change = await addKeys();
		}
		const fresh = new Set<unknown>(change.result.new);
		const processed = new Set<unknown>(change.result.processed);
		if (keys.some((key) => fresh.has(key) === processed.has(key))) {
			throw new Error("n8n's store does not say whether it knows them");
		}
		return { result: processed, durationMs: change.durationMs };
	}

	/** Deletes keys from n8n's list, in a separate turn, and unmarks them; throws when the store does. */
	protected async deleteFromStore(store: Store, keys: readonly string[]): Promise<void> {
		let givenUp = false;
		const work = this.turns.inTurn(async () => {
			if (givenUp) return;
			// Before the removal, or a change that waits behind it would put them back.
			this.unmark(keys);
			const options = { mode: MODE };
			await this.turns.timed(async () => await store.removeProcessed([...keys], SCOPE, options));
		});
		try {
			await withinTimeLimit(work);
		} finally {
			givenUp = true;
		}
	}
}
