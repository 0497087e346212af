import { randomUUID } from 'crypto';
import { sleep, type IExecuteFunctions } from 'n8n-workflow';

/** n8n reads and writes the whole list at each change, so it has to have an end. */
export const REMEMBERED_PAYMENTS = 10_000;

/** What of n8n's duplicate store is used. */
export type Store = Pick<
	IExecuteFunctions['helpers'],
	'checkProcessedAndRecord' | 'removeProcessed'
>;

/** Scope `node`: a list of its own, which no Remove Duplicates node shares, clears or converts. */
const SCOPE = 'node';
const OPTIONS = { mode: 'entries', maxEntries: REMEMBERED_PAYMENTS } as const;
const PREFIX = 'n8n-nodes-pay:payment:';

/** No change waits longer for n8n's database: a silent connection must not stop all payments. */
const LIMIT_MS = 30_000;
/** A pause is longer than a change takes: several times the slowest of the last ones, at least this. */
const SLOWEST_TIMES = 4;
const SHORTEST_PAUSE_MS = 300;
const LONGEST_PAUSE_MS = 5_000;
/** A change that takes longer was frozen, not slow: n8n may have given its execution to another worker. */
export const LONGEST_CHANGE_MS = 10_000;
/**
 * `workers`: each process waits at least this before it looks who was last, so a record that took
 * longer to make may have come after another one's look.
 */
const EXCLUSIVE_MS = 2_000;
const CHANGES_KEPT = 20;
const JITTER_MS = 50;
/** Far below what the list holds, so that a look never pushes out what it looks for. */
const MOST_AT_ONCE = 2_000;
/** Spent tokens are thrown away together: each removal is one more change of the list. */
const MOST_SPENT_TOKENS = 20;

/**
 * One external_id of one run, on its way into the list.
 * - `waiting`: not recorded yet
 * - `recorded`: written; whether the write lasts is not known yet
 * - `lasting`: seen in the list after all changes that could have overwritten it had ended
 * - `known`: in the list before, or another process that recorded it at the same time was last
 * - `failed`: the store failed before it could be told
 */
export interface Entry {
	readonly id: string;
	/** `workers`: recorded together with a token that only this write has. */
	readonly exclusive: boolean;
	/** `execution`: an id that is in the list already does not stop the payment. */
	readonly evenIfKnown: boolean;
	state: 'waiting' | 'recorded' | 'lasting' | 'known' | 'failed';
	token?: string;
	/** Whether this entry put the id in the list, and may take it out again. */
	own?: boolean;
	error?: Error;
}

const keyOf = (id: string) => PREFIX + id;

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
	const clock = AbortSignal.timeout(ms);
	return await new Promise<T>((resolve, reject) => {
		work.then(resolve, reject);
		const message = `n8n's database did not answer within ${ms / 1000} s`;
		clock.addEventListener('abort', () => reject(new Error(message)), { once: true });
	});
}

const asError = (error: unknown) => (error instanceof Error ? error : new Error(String(error)));

/**
 * Waits until this process gets to its work at once. Executions that start together keep it busy for
 * a while, and a change that begins then takes too long to prove anything.
 */
async function calm(): Promise<void> {
	for (let tries = 0; tries < 50; tries++) {
		const begun = performance.now();
		await sleep(10);
		if (performance.now() - begun < 50) return;
	}
}

const tooLate = () =>
	new Error(
		`n8n's database took longer than ${EXCLUSIVE_MS / 1000} s for it, so another worker may have been faster`,
	);

/** Two processes that make the first record of a node at once: one of them finds the row made. */
const isRowMadeMeanwhile = (error: unknown) =>
	/unique constraint|duplicate (key|entry)/i.test(asError(error).message);

/**
 * One node's list of payments in n8n's duplicate store, as this process uses it.
 *
 * A change of the list (n8n reads it, adds to it, writes it back whole) has no lock: of two
 * processes that change it at once the last writer wins, and what the other added is gone. Within
 * this process changes go one after the other. Between processes the rule is the pause: a change
 * that starts when this process has let the list alone for longer than a change takes
 * (`quiet`) sees what all changes that overlapped with this process's last one have left. An id that
 * is still there then stays, and one that is gone is recorded again by the same change. Without the
 * pause two processes whose changes interlock would each go on seeing its own list.
 * For exclusiveness an id is recorded with a token. Who finds, after the pause, the id without the
 * token was overwritten by another process that recorded the same id.
 */
export class RememberedList {
	private readonly entries = new Set<Entry>();
	/** The next change, while it waits for its turn or its pause: whoever comes meanwhile joins it. */
	private next?: { quiet: boolean; done: Promise<Error | undefined> };
	private last: Promise<unknown> = Promise.resolve();
	private ended = -Infinity;
	private durations: number[] = [];
	/** Changes so slow that they may have undone what other processes recorded meanwhile. */
	overlong = 0;
	private spent = new Set<string>();
	private readonly reliedOn = new Set<string>();

	/** Adds an id that the next change records. */
	add(id: string, check: { exclusive: boolean; evenIfKnown: boolean }): Entry {
		const entry: Entry = { id, ...check, state: 'waiting' };
		this.entries.add(entry);
		return entry;
	}

	/** Whether this process has let the list alone for long enough, and nobody waits to change it. */
	get isQuiet(): boolean {
		return this.next === undefined && this.rest(false) <= 0;
	}

	/** What is left of the pause since this process's last change, in ms. */
	private rest(contended: boolean): number {
		const measured = SLOWEST_TIMES * Math.max(0, ...this.durations);
		const shortest = contended ? EXCLUSIVE_MS : SHORTEST_PAUSE_MS;
		const pause = Math.min(LONGEST_PAUSE_MS, Math.max(shortest, measured));
		return this.ended + pause - performance.now();
	}

	private async inTurn<T>(work: () => Promise<T>): Promise<T> {
		const turn = this.last.then(work, work);
		this.last = turn.catch(() => undefined);
		return await turn;
	}

	/** One change of the list, with a time limit that lets the next one go on. */
	private async timed<T>(work: () => Promise<T>): Promise<T> {
		const begun = performance.now();
		const begunAt = Date.now();
		try {
			return await within(LIMIT_MS, work());
		} finally {
			this.ended = performance.now();
			// A virtual machine that was suspended may have stopped one of its clocks.
			const duration = Math.max(this.ended - begun, Date.now() - begunAt);
			this.durations = [...this.durations, duration].slice(-CHANGES_KEPT);
			if (duration > LONGEST_CHANGE_MS) this.overlong++;
		}
	}

	/**
	 * Changes the list once: records what waits, looks at what was recorded, and writes the states.
	 * Never throws.
	 * @param quiet after the pause, so that what is seen lasts
	 * @returns why the store failed, if it did
	 */
	async change(store: Store, quiet: boolean): Promise<Error | undefined> {
		if (this.next !== undefined) {
			this.next.quiet ||= quiet;
			return await this.next.done;
		}
		const next: NonNullable<RememberedList['next']> = { quiet, done: Promise.resolve(undefined) };
		this.next = next;
		next.done = this.inTurn(async () => {
			// A token that is looked for without the pause would be put back, and prove nothing.
			const contended = [...this.entries].some(({ token }) => token !== undefined);
			if (next.quiet || contended) {
				// Processes that keep in step would overwrite one another again and again.
				const step = Math.random() * JITTER_MS;
				// A timer may fire a moment early.
				while (this.rest(contended) > 0) await sleep(this.rest(contended) + step);
			}
			if ([...this.entries].some(({ exclusive }) => exclusive)) await calm();
			this.next = undefined;
			return await this.recordAndLook(store, this.rest(contended) <= 0);
		});
		return await next.done;
	}

	private async recordAndLook(store: Store, quiet: boolean): Promise<Error | undefined> {
		const entries = [...this.entries].slice(0, MOST_AT_ONCE);
		const watched = entries.filter(({ state }) => state === 'recorded');
		const held = new Set(watched.map(({ id }) => id));
		const waiting: Entry[] = [];
		for (const entry of entries.filter(({ state }) => state === 'waiting')) {
			if (!held.has(entry.id)) waiting.push(entry);
			// Another run of this process has it under way.
			else if (!entry.evenIfKnown) this.settle(entry, 'known');
			else this.takeAsRecorded(entry);
			held.add(entry.id);
		}
		const token = waiting.some(({ exclusive }) => exclusive) ? randomUUID() : undefined;
		const tokens = new Set(watched.flatMap((entry) => entry.token ?? []));
		const keys = [...held].map(keyOf);
		const all = [...keys, ...tokens, ...(token === undefined ? [] : [token])];
		if (all.length === 0) return undefined;
		let there: Set<unknown>;
		try {
			there = await this.record(store, all);
		} catch (error) {
			for (const entry of waiting) this.fail(entry, asError(error));
			// A look that failed may have put a token back: it proves nothing any more.
			for (const entry of watched) if (entry.token !== undefined) this.fail(entry, asError(error));
			return asError(error);
		}
		const late = (this.durations.at(-1) ?? 0) >= EXCLUSIVE_MS;
		for (const entry of waiting) {
			entry.own = !there.has(keyOf(entry.id));
			if (!entry.own && !entry.evenIfKnown) this.settle(entry, 'known');
			else if (late && entry.exclusive) this.fail(entry, tooLate());
			else if (!entry.own) this.takeAsRecorded(entry);
			else {
				entry.state = 'recorded';
				if (entry.exclusive) entry.token = token;
			}
		}
		if (token !== undefined && !waiting.some((entry) => entry.token === token)) {
			this.spent.add(token);
		}
		if (!quiet) return undefined;
		for (const entry of watched) {
			const id = there.has(keyOf(entry.id));
			if (entry.token === undefined ? id : there.has(entry.token)) this.settle(entry, 'lasting');
			else if (id && entry.token !== undefined) {
				entry.own = false;
				this.settle(entry, 'known');
			} else if (late && entry.token !== undefined) this.fail(entry, tooLate());
			// Else it was gone, and this change has recorded it again: it is looked at once more.
		}
		return undefined;
	}

	private settle(entry: Entry, state: 'lasting' | 'known' | 'failed') {
		entry.state = state;
		this.drop(entry);
	}

	private fail(entry: Entry, error: Error) {
		entry.error = error;
		entry.own = false;
		this.settle(entry, 'failed');
	}

	private async record(store: Store, keys: string[]): Promise<Set<unknown>> {
		const once = async () =>
			await this.timed(async () => await store.checkProcessedAndRecord(keys, SCOPE, OPTIONS));
		const answer = await once().catch(async (error) => {
			// Nothing was written then, so it is safe to do it again.
			if (isRowMadeMeanwhile(error)) return await once();
			throw asError(error);
		});
		const [fresh, processed] = [new Set<unknown>(answer.new), new Set<unknown>(answer.processed)];
		if (keys.some((key) => fresh.has(key) === processed.has(key))) {
			throw new Error("n8n's store does not say whether it knows them");
		}
		return processed;
	}

	/**
	 * Whether another run of this process sent an id that it found in the list, on the word of that
	 * record alone. Such a record is not taken out, whatever becomes of who made it.
	 */
	isReliedOn(id: string): boolean {
		return this.reliedOn.has(id);
	}

	/** An entry that goes on although somebody else recorded its id. */
	private takeAsRecorded(entry: Entry) {
		entry.state = 'recorded';
		this.reliedOn.add(entry.id);
		const [oldest] = this.reliedOn;
		if (this.reliedOn.size > REMEMBERED_PAYMENTS && oldest !== undefined) {
			this.reliedOn.delete(oldest);
		}
	}

	/** Takes ids out of the list. @throws when the store does, or after the time limit */
	async remove(store: Store, entries: Entry[]): Promise<void> {
		let removed = false;
		try {
			await this.removeKeys(
				store,
				entries.map(({ id }) => keyOf(id)),
				// Before the removal, or a change that waits behind it would put them back.
				() => entries.forEach((entry) => this.drop(entry)),
			);
			removed = true;
		} finally {
			// They are recorded still, and looked for as before.
			if (!removed) entries.forEach((entry) => this.entries.add(entry));
		}
	}

	private async removeKeys(store: Store, keys: string[], before = () => {}): Promise<void> {
		let givenUp = false;
		const work = this.inTurn(async () => {
			if (givenUp) return;
			before();
			await this.timed(async () => await store.removeProcessed(keys, SCOPE, OPTIONS));
		});
		try {
			await within(LIMIT_MS, work);
		} finally {
			givenUp = true;
		}
	}

	/** Looks no more for an entry. */
	drop(entry: Entry) {
		this.entries.delete(entry);
		if (entry.token !== undefined) this.spent.add(entry.token);
		entry.token = undefined;
	}

	/** Takes spent tokens out of the list, once there are enough of them to be worth a change. */
	async tidy(store: Store): Promise<void> {
		if (this.spent.size < MOST_SPENT_TOKENS) return;
		const tokens = [...this.spent];
		this.spent.clear();
		const keep = () => tokens.forEach((each) => this.spent.add(each));
		await this.removeKeys(store, tokens).catch(keep);
	}
}
