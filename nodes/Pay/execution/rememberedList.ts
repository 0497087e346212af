import { sleep } from 'n8n-workflow';
import { asError } from '../inputError';
import { REMEMBERED_PAYMENTS, StoredList, type Store } from './storedList';

const PREFIX = 'n8n-nodes-pay:payment:';

const JITTER_MS = 50;
/** Far below what the list holds, so that a look never pushes out what it looks for. */
const MOST_AT_ONCE = 2_000;
/** So many of its last payments a process records again: all would push those of others out. */
const RECORDED_AGAIN = 1_000;

/**
 * One external_id of one run, on its way into the list.
 * - `waiting`: not recorded yet
 * - `recorded`: written; whether the write lasts is not known yet
 * - `lasting`: seen in the list after all changes that could have overwritten it had ended
 * - `known`: recorded before, by this process or another
 * - `failed`: the store failed before that was known
 */
export interface Entry {
	readonly id: string;
	state: 'waiting' | 'recorded' | 'lasting' | 'known' | 'failed';
	error?: Error;
}

const storedKey = (id: string) => PREFIX + id;

/**
 * One node's list of payments in n8n's duplicate store, as this process uses it.
 *
 * A change of the list (n8n reads it, adds to it, writes it back whole) has no lock: of two
 * processes that change it at once the last writer wins, and what the other added is gone. Within
 * this process changes go one after the other. Between processes the rule is the pause: a change
 * that starts when this process has left the list unchanged for longer than a change takes
 * (`quiet`) sees what all changes that overlapped with this process's last one have left. An id that
 * is still there then stays, and one that is gone is recorded again by the same change. Without the
 * pause two processes whose changes interlock would each go on seeing its own list.
 *
 * A worker that was frozen writes an old list back after everybody has looked. So the process knows
 * its own payments whatever the list says, and each change records the last of them again.
 */
export class RememberedList {
	private readonly entries = new Set<Entry>();
	/** What this process recorded and did not remove, the oldest first. */
	private readonly own = new Set<string>();
	/** The next change, while it waits for its turn or its pause: others join it. */
	private next?: { quiet: boolean; done: Promise<Error | undefined> };
	private readonly stored = new StoredList();

	/** Adds an id that the next change records. */
	add(id: string): Entry {
		const entry: Entry = { id, state: 'waiting' };
		this.entries.add(entry);
		return entry;
	}

	/** Changes so slow that they may have undone what other processes recorded meanwhile. */
	get overlong(): number {
		return this.stored.overlong;
	}

	/** Whether this process has left the list unchanged for long enough, and nobody waits to change it. */
	get isQuiet(): boolean {
		return this.next === undefined && this.stored.rest() <= 0;
	}

	/**
	 * Changes the list once: records what waits, looks at what was recorded, and writes the states.
	 * @param quiet after the pause, so that what is seen lasts
	 * @returns why the store failed, if it did; never throws
	 */
	async change(store: Store, quiet: boolean): Promise<Error | undefined> {
		if (this.next !== undefined) {
			this.next.quiet ||= quiet;
			return await this.next.done;
		}
		const next: NonNullable<RememberedList['next']> = { quiet, done: Promise.resolve(undefined) };
		this.next = next;
		next.done = this.stored.inTurn(async () => {
			if (next.quiet) {
				// Processes that keep in step would overwrite one another again and again.
				const step = Math.random() * JITTER_MS;
				// A timer may fire a moment early.
				while (this.stored.rest() > 0) await sleep(this.stored.rest() + step);
			}
			this.next = undefined;
			return await this.recordAndLook(store, this.stored.rest() <= 0);
		});
		return await next.done;
	}

	private async recordAndLook(store: Store, quiet: boolean): Promise<Error | undefined> {
		const entries = [...this.entries].slice(0, MOST_AT_ONCE);
		const watched = entries.filter(({ state }) => state === 'recorded');
		const waiting = entries.filter(({ state }) => state === 'waiting');
		const paid = new Set(waiting.filter(({ id }) => this.own.has(id)));
		const ids = new Set(entries.map(({ id }) => id));
		if (ids.size === 0) return undefined;
		for (const id of [...this.own].slice(-RECORDED_AGAIN)) {
			if (ids.size < MOST_AT_ONCE) ids.add(id);
		}
		let there: Set<unknown>;
		try {
			there = await this.stored.record(store, [...ids].map(storedKey));
		} catch (error) {
			for (const entry of waiting) {
				entry.error = asError(error);
				this.settle(entry, 'failed');
			}
			return asError(error);
		}
		for (const entry of waiting) {
			// Or another run of this process has paid it, or, by an entry before this one, is about to.
			const isKnown = there.has(storedKey(entry.id)) || paid.has(entry) || this.own.has(entry.id);
			if (isKnown) this.settle(entry, 'known');
			else this.take(entry);
		}
		if (!quiet) return undefined;
		// What was gone this change has recorded again: it is looked at once more.
		for (const entry of watched) if (there.has(storedKey(entry.id))) this.settle(entry, 'lasting');
		return undefined;
	}

	private take(entry: Entry) {
		entry.state = 'recorded';
		this.own.add(entry.id);
		const [oldest] = this.own;
		if (this.own.size > REMEMBERED_PAYMENTS && oldest !== undefined) this.own.delete(oldest);
	}

	private settle(entry: Entry, state: 'lasting' | 'known' | 'failed') {
		entry.state = state;
		this.entries.delete(entry);
	}

	/** Removes ids from the list. @throws when the store does, or after the time limit */
	async remove(store: Store, entries: Entry[]): Promise<void> {
		try {
			await this.stored.remove(
				store,
				entries.map(({ id }) => storedKey(id)),
				// Before the removal, or a change that waits behind it would put them back.
				() => entries.forEach((entry) => this.forget(entry)),
			);
		} catch (error) {
			// They are recorded still, and looked for as before.
			for (const entry of entries) {
				this.own.add(entry.id);
				if (entry.state === 'recorded') this.entries.add(entry);
			}
			throw asError(error);
		}
	}

	/** Looks no more for an entry, whose payment is still known to this process. */
	drop(entry: Entry) {
		this.entries.delete(entry);
	}

	/** Looks no more for an entry, and knows its payment no more. */
	forget(entry: Entry) {
		this.drop(entry);
		this.own.delete(entry.id);
	}
}
