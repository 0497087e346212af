import { randomUUID } from 'crypto';
import { sleep } from 'n8n-workflow';
import { asError, EXCLUSIVE_MS, REMEMBERED_PAYMENTS, StoredList, type Store } from './storedList';

const PREFIX = 'n8n-nodes-pay:payment:';

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
	private readonly stored = new StoredList();
	private spent = new Set<string>();
	private readonly reliedOn = new Set<string>();

	/** Adds an id that the next change records. */
	add(id: string, check: { exclusive: boolean; evenIfKnown: boolean }): Entry {
		const entry: Entry = { id, ...check, state: 'waiting' };
		this.entries.add(entry);
		return entry;
	}

	/** Changes so slow that they may have undone what other processes recorded meanwhile. */
	get overlong(): number {
		return this.stored.overlong;
	}

	/** Whether this process has let the list alone for long enough, and nobody waits to change it. */
	get isQuiet(): boolean {
		return this.next === undefined && this.stored.rest(false) <= 0;
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
		next.done = this.stored.inTurn(async () => {
			// A token that is looked for without the pause would be put back, and prove nothing.
			const contended = [...this.entries].some(({ token }) => token !== undefined);
			if (next.quiet || contended) {
				// Processes that keep in step would overwrite one another again and again.
				const step = Math.random() * JITTER_MS;
				// A timer may fire a moment early.
				while (this.stored.rest(contended) > 0) await sleep(this.stored.rest(contended) + step);
			}
			if ([...this.entries].some(({ exclusive }) => exclusive)) await calm();
			this.next = undefined;
			return await this.recordAndLook(store, this.stored.rest(contended) <= 0);
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
			there = await this.stored.record(store, all);
		} catch (error) {
			for (const entry of waiting) this.fail(entry, asError(error));
			// A look that failed may have put a token back: it proves nothing any more.
			for (const entry of watched) if (entry.token !== undefined) this.fail(entry, asError(error));
			return asError(error);
		}
		const late = this.stored.wasLate;
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
			await this.stored.remove(
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
		await this.stored.remove(store, tokens).catch(keep);
	}
}
