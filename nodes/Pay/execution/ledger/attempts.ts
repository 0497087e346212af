import type { Attempt, Place } from '../item';
import { itemKey } from './place';

/**
 * The attempts of an execution, in the order in which they began, and an index of them. The list is what n8n
 * stores; an attempt of it is completed in place and never replaced.
 */
export class Attempts {
	/** By kind and external_id, the last attempt. */
	private readonly lastWithId = new Map<string, Attempt>();
	/** By kind and {@link itemKey}, the last attempt. */
	private readonly lastOfItem = new Map<string, Attempt>();

	constructor(readonly list: Attempt[]) {
		this.indexAll();
	}

	private indexAll(): void {
		this.lastWithId.clear();
		this.lastOfItem.clear();
		for (const attempt of this.list) this.index(attempt);
	}

	private index(attempt: Attempt): void {
		const { kind, external_id, place, fingerprint } = attempt;
		this.lastWithId.set(`${kind} ${external_id}`, attempt);
		this.lastOfItem.set(`${kind} ${itemKey(place, fingerprint)}`, attempt);
	}

	/** Appends an attempt. */
	add(attempt: Attempt): void {
		this.list.push(attempt);
		this.index(attempt);
	}

	/** The last attempt with an external_id, whichever item it was for. */
	withId(kind: string, external_id: string): Attempt | undefined {
		return this.lastWithId.get(`${kind} ${external_id}`);
	}

	/** The last attempt of an item, whatever its external_id was. */
	ofItem(kind: string, place: Place, fingerprint: string): Attempt | undefined {
		return this.lastOfItem.get(`${kind} ${itemKey(place, fingerprint)}`);
	}

	/** Takes attempts out of the list. */
	remove(isToGo: (attempt: Attempt) => boolean): void {
		const { list } = this;
		const left = list.filter((attempt) => !isToGo(attempt));
		if (left.length === list.length) return;
		// The list itself: n8n stores it, and others have it open.
		list.length = 0;
		for (const attempt of left) list.push(attempt);
		this.indexAll();
	}
}

/** The index of each stored list, shared by all that have it open: some agents run two tools at once. */
const opened = new WeakMap<Attempt[], Attempts>();

/** Opens a stored list of attempts. */
export function openAttempts(list: Attempt[]): Attempts {
	const attempts = opened.get(list) ?? new Attempts(list);
	opened.set(list, attempts);
	return attempts;
}
