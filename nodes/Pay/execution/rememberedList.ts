import { sleep } from 'n8n-workflow';
import { asError } from '../inputError';
import { REMEMBERED_PAYMENTS, StoredList, type Store } from './storedList';

const PREFIX = 'n8n-nodes-pay:payment:';

const JITTER_MS = 50;
/** So many of its last payments a process records again where the list has lost the newest of them. */
const RECORDED_AGAIN = 1_000;
/** So many are dropped at most for each payment: one more than it adds, so that a long list shrinks. */
const DROPPED_FOR_EACH = 2;
/** How often one run tries again when the store fails while it looks. */
const LOOKS_THAT_MAY_FAIL = 3;
/** How long one run waits until all it recorded lasts. */
const LONGEST_LOOKING_MS = 60_000;

const storedKey = (id: string) => PREFIX + id;

/**
 * One node's list of payments in n8n's duplicate store, as this process uses it.
 *
 * A change of the list (n8n reads it, adds to it, writes it back whole) has no lock: of two
 * processes that change it at once the last writer wins, and what the other added is gone. Within
 * this process changes go one after the other. Between processes the rule is the pause: a change
 * that starts when this process has left the list unchanged for longer than a change takes (a look)
 * sees what all changes that overlapped with this process's last one have left. An id that is still
 * there then stays, and one that is gone is recorded again by the same look. Without the pause two
 * processes whose changes interlock would each go on seeing its own list.
 *
 * A worker that was frozen writes an old list back after everybody has looked. So the process knows
 * its own payments whatever the list says. Each change asks for the newest of them too: an old list lacks
 * it, and the last of them are recorded again then.
 *
 * n8n drops the oldest beyond a bound that each change names. Paying one that was dropped would push out
 * the next, so a change that records names none: only a look drops, a few, and never while a run of this
 * process has payments to come.
 */
export class RememberedList {
	/** What this process recorded and did not remove, the oldest first. */
	private readonly payments = new Set<string>();
	/** Those of them that a run looks for until they are seen to last. */
	private readonly unsure = new Set<string>();
	/** The next change that records, while it waits for its turn: other runs join it. */
	private next?: { batches: Array<readonly string[]>; known: Promise<Array<Set<string>>> };
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
	readonly stored = new StoredList();

	/** Records ids; gives those that were recorded before. Throws when that is unsure. */
	async record(store: Store, ids: readonly string[]): Promise<Set<string>> {
		if (this.next === undefined) {
			const batches: Array<readonly string[]> = [];
			const known = this.stored.inTurn(async () => {
				this.next = undefined;
				const stored = await this.change(store, batches.flat());
				// Within the turn: a removal that comes next must not find it undecided.
				return batches.map((batch) => this.takeNew(batch, stored));
			});
			this.next = { batches, known };
		}
		const { batches, known } = this.next;
		const place = batches.push(ids) - 1;
		return (await known)[place] as Set<string>;
	}

	/** Takes ids that are new; gives those that the list holds or this process knows. */
	private takeNew(ids: readonly string[], stored: Set<unknown>): Set<string> {
		// Or another run of this process has paid it, or, having joined before this one, is about to.
		const known = new Set(ids.filter((id) => this.payments.has(id) || stored.has(storedKey(id))));
		for (const id of ids) {
			if (!known.has(id)) this.take(id);
		}
		return known;
	}

	/** One change of the list: records ids, and what it has lost of this process again. */
	private async change(store: Store, ids: string[], room?: number): Promise<Set<unknown>> {
		const newest = [...this.payments].slice(-1).map(storedKey);
		const keys = [...new Set([...newest, ...ids.map(storedKey)])];
		const stored = await this.stored.record(store, keys, room);
		if (newest.some((key) => !stored.has(key))) {
			const last = [...this.payments].slice(-RECORDED_AGAIN);
			await this.stored.record(store, last.map(storedKey));
		}
		return stored;
	}

	private take(id: string) {
		this.payments.add(id);
		this.unsure.add(id);
		this.added++;
		const [oldest] = this.payments;
		if (this.payments.size > REMEMBERED_PAYMENTS && oldest !== undefined)
			this.payments.delete(oldest);
	}

	/** Waits for the pause, then looks; what was gone is recorded again, and looked at once more. */
	private async lookOnce(store: Store, drops: boolean): Promise<Error | undefined> {
		return await this.stored.inTurn(async () => {
			// Processes that keep in step would overwrite one another again and again.
			const step = Math.random() * JITTER_MS;
			// A timer may fire a moment early.
			while (this.stored.rest() > 0) await sleep(this.stored.rest() + step);
			const ids = [...this.unsure];
			if (ids.length === 0) return undefined;
			try {
				this.length = await this.stored.length(store);
				const few = this.length - DROPPED_FOR_EACH * this.added;
				const room = Math.max(REMEMBERED_PAYMENTS + this.added, few);
				const mayDrop = drops && this.keepers.size === 0;
				if (mayDrop) this.added = 0;
				const stored = await this.change(store, ids, mayDrop ? room : undefined);
				for (const id of ids) if (stored.has(storedKey(id))) this.unsure.delete(id);
				return undefined;
			} catch (error) {
				return asError(error);
			}
		});
	}

	/**
	 * Looks until all of these ids last. Never throws.
	 * @param drops whether the oldest payments of a long list may go
	 * @returns those that may not last, which are looked for no more, and why
	 */
	async makeLast(
		store: Store,
		ids: ReadonlySet<string>,
		drops: boolean,
	): Promise<{ left: string[]; reason?: Error }> {
		const end = performance.now() + LONGEST_LOOKING_MS;
		let failures = 0;
		let reason: Error | undefined;
		let left = this.unsureOf(ids);
		while (left.length > 0 && failures < LOOKS_THAT_MAY_FAIL && performance.now() <= end) {
			const failure = await this.lookTogether(store, drops);
			if (failure !== undefined) failures++;
			reason = failure ?? new Error('other executions overwrite it');
			left = this.unsureOf(ids);
		}
		if (left.length === 0) return { left };
		for (const id of left) this.unsure.delete(id);
		return { left, reason };
	}

	private unsureOf(ids: ReadonlySet<string>): string[] {
		return [...ids].filter((id) => this.unsure.has(id));
	}

	/** Looks, or waits for the look that another run has begun. */
	private async lookTogether(store: Store, drops: boolean): Promise<Error | undefined> {
		if (this.look === undefined) {
			this.look = this.lookOnce(store, drops).finally(() => {
				this.look = undefined;
			});
		}
		return await this.look;
	}

	/** Removes ids from the list. @throws when the store does, or after the time limit */
	async remove(store: Store, ids: readonly string[]): Promise<void> {
		const unsure = ids.filter((id) => this.unsure.has(id));
		try {
			// Before the removal, or a change that waits behind it would put them back.
			await this.stored.remove(store, ids.map(storedKey), () => this.forget(ids));
		} catch (error) {
			// They are recorded still, and looked for as before.
			for (const id of ids) this.payments.add(id);
			for (const id of unsure) this.unsure.add(id);
			throw asError(error);
		}
	}

	/** Looks no more for ids, and knows their payments no more. */
	forget(ids: readonly string[]) {
		for (const id of ids) {
			this.payments.delete(id);
			this.unsure.delete(id);
		}
	}
}
