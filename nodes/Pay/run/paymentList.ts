import { sleep } from 'n8n-workflow';
import { asError } from '../base/inputError';
import { AcceptedMarks } from './acceptedMarks';
import {
	DROPPED_FOR_EACH,
	MOST_LOOKING_MS,
	LOOKS_THAT_MAY_FAIL,
	RECORDED_AGAIN,
	REMEMBERED_PAYMENTS,
	type Store,
	StoreTurns,
	withinTimeLimit,
} from './store';

/**
 * The list belongs to the workflow. Under scope `node` n8n keeps it by the node's id, which a deployment of JSON
 * without ids, or a node made anew, replaces: the same list was paid again (measured on 2.41.1 and 1.123.81).
 */
const SCOPE = 'workflow';
const MODE = 'entries' as const;

/** Two processes that make the first record of a workflow at once: one of them finds the row made. */
const isRowMadeMeanwhile = (error: unknown) =>
	/unique constraint|duplicate (key|entry)/i.test(asError(error).message);

/** The next change that records, while it waits for its turn: runs that come meanwhile join it. */
interface PendingChange {
	readonly keys: Set<string>;
	/** The keys that nobody had recorded before. A run that takes one out of this set may send its payment. */
	readonly fresh: Promise<Set<string>>;
}

/**
 * One workflow's list in n8n's duplicate store, as this process uses it: all its Pay nodes share it. Within the
 * process one change comes after the other. Between processes n8n has no lock: the last writer wins, and what
 * another recorded is gone. So what was recorded is looked at again after a pause, and recorded again until it
 * lasts; and the process refuses its own payments whatever the list says. Why that holds: README.md.
 */
export class PaymentList {
	/** The turns in which this process changes the list. */
	readonly turns = new StoreTurns();
	/** Which payments were accepted, in rows of their own. */
	readonly marks = new AcceptedMarks();

	/* What this process knows of the list. */

	/** Keys that this process has recorded and not removed, the oldest first. */
	private readonly recorded = new Set<string>();
	private newestRecorded?: string;
	/** Keys among these that have not been seen to last yet, so that a run still looks for them. */
	private readonly notSeenToLast = new Set<string>();
	/** How many entries the list held at the last look. */
	length = 0;
	/** How many of its entries are claims of this process, on n8n 1: the list is allowed to be longer by these. */
	claims = 0;

	/* What runs of this process share. */

	/** Runs that have it open. */
	private readonly runs = new Set<object>();
	private pendingChange?: PendingChange;
	/** The look under way. */
	private lookUnderWay?: Promise<Error | undefined>;
	/** Runs with batches to come: what they may ask for is not dropped. */
	private readonly runsWithMore = new Set<object>();
	/** Whether a run had the hint that the list is full. */
	hasHintedFull = false;

	/** @param remembered how many payments this process knows, and n8n's list keeps at least */
	constructor(readonly remembered = REMEMBERED_PAYMENTS) {}

	/** Keeps this list in the process until {@link endRun} is called for the run. */
	beginRun(run: object): void {
		this.runs.add(run);
	}

	/** Ends what {@link beginRun} began. */
	endRun(run: object): void {
		this.runs.delete(run);
	}

	/** A list in use must not be replaced: the two would change n8n's list at the same time. */
	get isInUse(): boolean {
		return this.runs.size > 0 || this.turns.isBusy;
	}

	/** Drops nothing from the list until {@link releaseFor} is called for the run. */
	holdAllFor(run: object): void {
		this.runsWithMore.add(run);
	}

	/** Ends what {@link holdAllFor} began. */
	releaseFor(run: object): void {
		this.runsWithMore.delete(run);
	}

	/** Records keys; gives those that were recorded before. Throws when that is unsure. */
	async record(store: Store, keys: readonly string[]): Promise<Set<string>> {
		this.pendingChange ??= this.queueChange(store);
		const { keys: keysOfAll, fresh } = this.pendingChange;
		for (const key of keys) keysOfAll.add(key);
		// Shared by the runs that joined this change: each key goes to the first run that asks for it.
		const unclaimed = await fresh;
		const known = new Set<string>();
		for (const key of keys) {
			if (!unclaimed.delete(key)) known.add(key);
		}
		return known;
	}

	/** Queues a change that records what runs ask for until its turn comes. */
	private queueChange(store: Store): PendingChange {
		const keys = new Set<string>();
		const fresh = this.turns.inTurn(async () => {
			this.pendingChange = undefined;
			const stored = await this.addAndRepair(store, [...keys]);
			const freshKeys = new Set<string>();
			for (const key of keys) {
				// This process knows its own payments, whatever the list says.
				if (!this.recorded.has(key) && !stored.has(key)) freshKeys.add(key);
			}
			// Within the turn: a removal that comes next must not find it undecided.
			for (const key of freshKeys) this.remember(key);
			return freshKeys;
		});
		return { keys, fresh };
	}

	/** Remembers that this process recorded a key, and looks for it until it lasts. */
	private remember(key: string): void {
		this.recorded.add(key);
		this.notSeenToLast.add(key);
		this.newestRecorded = key;
		const [oldest] = this.recorded;
		if (this.recorded.size > this.remembered && oldest !== undefined) {
			this.recorded.delete(oldest);
		}
	}

	knows(key: string): boolean {
		return this.recorded.has(key);
	}

	/** As {@link remember}, for a claim on n8n 1. */
	rememberClaim(key: string): void {
		this.remember(key);
		this.claims++;
	}

	/** How long a change may take, in milliseconds. */
	longestExpected(): number {
		return this.turns.longestExpected();
	}

	/** Adds keys in a turn; gives those that were there before, and how long it took in milliseconds. */
	async add(
		store: Store,
		keys: string[],
	): Promise<{ stored: ReadonlySet<unknown>; durationMs: number }> {
		return await this.turns.inTurn(async () => {
			const stored = await this.addStored(store, keys);
			return { stored, durationMs: this.turns.lastDuration };
		});
	}

	/**
	 * Adds keys, and asks for this process's newest payment too: an old list that another process wrote
	 * back lacks it, and then the last payments of this process are added again.
	 */
	private async addAndRepair(store: Store, keys: string[], room?: number): Promise<Set<unknown>> {
		const newest = this.newestRecorded;
		if (newest === undefined) return await this.addStored(store, keys, room);
		const stored = await this.addStored(store, [...new Set([newest, ...keys])], room);
		if (!stored.has(newest)) {
			await this.addStored(store, [...this.recorded].slice(-RECORDED_AGAIN));
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
	): Promise<{ notSeen: string[]; reason?: Error }> {
		const end = performance.now() + MOST_LOOKING_MS;
		let failures = 0;
		let reason: Error | undefined;
		let notSeen = this.notSeenOf(keys);
		while (notSeen.length > 0 && failures < LOOKS_THAT_MAY_FAIL && performance.now() <= end) {
			const failure = await this.lookTogether(store, mayDrop);
			if (failure !== undefined) failures++;
			reason = failure ?? new Error('other executions keep overwriting it');
			notSeen = this.notSeenOf(keys);
		}
		if (notSeen.length === 0) return { notSeen };
		for (const key of notSeen) this.notSeenToLast.delete(key);
		return { notSeen, reason };
	}

	private notSeenOf(keys: ReadonlySet<string>): string[] {
		return [...keys].filter((key) => this.notSeenToLast.has(key));
	}

	/** Looks, or waits for the look that another run has begun. */
	private async lookTogether(store: Store, mayDrop: boolean): Promise<Error | undefined> {
		this.lookUnderWay ??= this.lookOnce(store, mayDrop).finally(() => {
			this.lookUnderWay = undefined;
		});
		return await this.lookUnderWay;
	}

	/** Waits for the pause, then looks; what was gone is recorded again, and looked at once more. */
	private async lookOnce(store: Store, mayDrop: boolean): Promise<Error | undefined> {
		return await this.turns.inTurn(async () => {
			// A timer may fire a moment early.
			while (this.turns.remainingPause() > 0) await sleep(this.turns.remainingPause());
			const keys = [...this.notSeenToLast];
			if (keys.length === 0) return undefined;
			try {
				const room = await this.roomAfterLook(store, mayDrop, keys.length);
				const stored = await this.addAndRepair(store, keys, room);
				for (const key of keys) if (stored.has(key)) this.notSeenToLast.delete(key);
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
	 * @param added how many payments it looks for
	 */
	private async roomAfterLook(
		store: Store,
		mayDrop: boolean,
		added: number,
	): Promise<number | undefined> {
		const counting = store.getProcessedDataCount(SCOPE, { mode: MODE });
		this.length = await withinTimeLimit(counting);
		if (!mayDrop || this.runsWithMore.size > 0) return undefined;
		const least = this.remembered + this.claims + added;
		return Math.max(least, this.length - DROPPED_FOR_EACH * added);
	}

	/** Removes keys from the list. @throws when the store does, or after the time limit */
	async takeBack(store: Store, keys: readonly string[]): Promise<void> {
		const notSeen = keys.filter((key) => this.notSeenToLast.has(key));
		try {
			await this.deleteStored(store, keys);
		} catch (error) {
			// They are still recorded, so they are looked for as before.
			for (const key of keys) this.recorded.add(key);
			for (const key of notSeen) this.notSeenToLast.add(key);
			this.newestRecorded = [...this.recorded].at(-1);
			throw asError(error);
		}
	}

	/** Forgets that this process recorded keys, and stops looking for them. They stay in n8n's list. */
	forget(keys: readonly string[]): void {
		for (const key of keys) {
			this.recorded.delete(key);
			this.notSeenToLast.delete(key);
		}
		if (this.newestRecorded !== undefined && !this.recorded.has(this.newestRecorded)) {
			this.newestRecorded = [...this.recorded].at(-1);
		}
	}

	/**
	 * Adds keys to n8n's list; gives those that were there before. Throws when that is unsure.
	 * @param room how many the list may hold after it, without the oldest; without it nothing is dropped
	 */
	private async addStored(store: Store, keys: string[], room?: number): Promise<Set<unknown>> {
		const options = { mode: MODE, maxEntries: room };
		const addKeys = async () =>
			await this.turns.timed(async () => await store.checkProcessedAndRecord(keys, SCOPE, options));
		let output;
		try {
			output = await addKeys();
		} catch (error) {
			if (!isRowMadeMeanwhile(error)) throw asError(error);
			// Nothing was written then, so it is safe to do it again.
			output = await addKeys();
		}
		const fresh = new Set<unknown>(output.new);
		const processed = new Set<unknown>(output.processed);
		if (keys.some((key) => fresh.has(key) === processed.has(key))) {
			throw new Error("n8n's store does not say whether they are recorded");
		}
		return processed;
	}

	/** Deletes keys from n8n's list in a separate turn, and forgets them. Throws when the store does. */
	async deleteStored(store: Store, keys: readonly string[]): Promise<void> {
		let givenUp = false;
		const work = this.turns.inTurn(async () => {
			if (givenUp) return;
			// Before the removal, or a change that waits behind it would put them back.
			this.forget(keys);
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
