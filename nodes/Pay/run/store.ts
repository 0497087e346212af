import type { IExecuteFunctions } from 'n8n-workflow';
import { within } from '../base/time';

/* How much a workflow's list of payments holds, and how long its changes and looks take. */

/** n8n reads and writes the whole list at each change, so what is older than so many may be dropped. */
export const REMEMBERED_PAYMENTS = 10_000;

/** Beyond so many, marks of what was accepted are cleared when a run adds its first ones: 135 kB. */
export const MOST_MARKS = 5_000;
/** A mark is a help, and holds no payment up as long as a record may. */
export const TIME_LIMIT_OF_MARKS_MS = 5_000;

/** No change waits longer for n8n's database: a silent connection must not stop all payments. */
const TIME_LIMIT_MS = 30_000;
/**
 * A pause is longer than a change takes: several times the slowest of the last ones, at least this. With a
 * pause of 0.3 s alone, of 60 payments at once on two workers whose changes took 3 s now and then, 23 were
 * forgotten, and 12 of them paid again (README.md).
 */
const SLOWEST_TIMES = 4;
const SHORTEST_PAUSE_MS = 300;
const MOST_PAUSE_MS = 5_000;
const CHANGES_KEPT = 20;
/** A change that takes longer was frozen, not slow: n8n may have given its execution to another worker. */
export const MOST_CHANGE_MS = 10_000;

/** So many of its last payments a process records again where the list has lost the newest of them. */
export const RECORDED_AGAIN = 1_000;
/** So many are dropped at most for each payment: one more than it adds, so that a long list shrinks. */
export const DROPPED_FOR_EACH = 2;
/** How often one run tries again when the store fails while it looks. */
export const LOOKS_THAT_MAY_FAIL = 3;
/** How long one run waits until all it recorded lasts. */
export const MOST_LOOKING_MS = 60_000;

/** What of n8n's duplicate store is used. */
export type Store = Pick<
	IExecuteFunctions['helpers'],
	'checkProcessedAndRecord' | 'removeProcessed' | 'getProcessedDataCount' | 'clearAllProcessedItems'
>;

const notInTime = () =>
	new Error(`n8n's database did not respond within ${TIME_LIMIT_MS / 1000} s`);

/** Waits for work no longer than n8n's database may take; the work itself goes on. */
export async function withinTimeLimit<Result>(work: Promise<Result>): Promise<Result> {
	return await within(work, TIME_LIMIT_MS, notInTime);
}

/** The turns in which this process changes one list, and how long the changes took. */
export class StoreTurns {
	/** Changes so slow that they may have undone what other processes recorded meanwhile. */
	slowChanges = 0;
	/** How many turns wait or are under way. */
	private count = 0;
	/** The last piece of work in the queue. */
	private lastTurn: Promise<unknown> = Promise.resolve();
	private lastEnd = -Infinity;
	/** Of the last changes, in milliseconds. */
	private durations: number[] = [];

	/** Works when all that came before has ended; what fails does not hold up what comes after. */
	async inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
		const turn = this.lastTurn.then(work, work);
		this.lastTurn = turn.catch(() => undefined);
		this.count++;
		try {
			return await turn;
		} finally {
			this.count--;
		}
	}

	/**
	 * Whether the process was frozen in a change since then.
	 * @param slowChanges how many there were
	 */
	hasFrozenSince(slowChanges: number): boolean {
		return this.slowChanges !== slowChanges;
	}

	get isBusy(): boolean {
		return this.count > 0;
	}

	/** Makes one change of n8n's list, with a time limit that lets the next one go on. */
	async timed<Result>(change: () => Promise<Result>): Promise<Result> {
		const start = performance.now();
		const startDate = Date.now();
		try {
			return await withinTimeLimit(change());
		} finally {
			this.noteEnd(start, startDate);
		}
	}

	/** Notes how long a change took. */
	private noteEnd(start: number, startDate: number): void {
		this.lastEnd = performance.now();
		// A virtual machine that was suspended may have stopped one of its clocks.
		const duration = Math.max(this.lastEnd - start, Date.now() - startDate);
		this.durations = [...this.durations, duration].slice(-CHANGES_KEPT);
		if (duration > MOST_CHANGE_MS) this.slowChanges++;
	}

	/** How long the last change took, in milliseconds. */
	get lastDuration(): number {
		return this.durations.at(-1) ?? 0;
	}

	/** How long a change may take, in milliseconds: several times the slowest of the last ones. */
	longestExpected(): number {
		return SLOWEST_TIMES * Math.max(0, ...this.durations);
	}

	/** What is left of the pause since this process's last change, in milliseconds. */
	remainingPause(): number {
		const pause = Math.min(MOST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, this.longestExpected()));
		return this.lastEnd + pause - performance.now();
	}
}
