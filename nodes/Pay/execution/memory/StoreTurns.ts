import { within } from '../../within';
import {
	CHANGES_KEPT,
	LONGEST_CHANGE_MS,
	LONGEST_PAUSE_MS,
	SHORTEST_PAUSE_MS,
	SLOWEST_TIMES,
	TIME_LIMIT_MS,
} from './bounds';

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

	/** Whether there is work that has not ended. */
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
		if (duration > LONGEST_CHANGE_MS) this.slowChanges++;
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
		const pause = Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, this.longestExpected()));
		return this.lastEnd + pause - performance.now();
	}
}
