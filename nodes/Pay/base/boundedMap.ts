/**
 * A memory that lasts as long as n8n's process, and so must not grow without end: beyond its bound the entries
 * that were set longest ago are thrown out. What that costs is said beside each bound.
 */
export class BoundedMap<Key, Value> {
	/** The entry that was set longest ago comes first. */
	readonly #entries = new Map<Key, Value>();

	/**
	 * @param most how many entries it holds
	 * @param mayGo whether an entry may be thrown out; where none may, there are more of them for a while
	 */
	constructor(
		private readonly most: number,
		private readonly mayGo: (value: Value) => boolean = () => true,
	) {}

	get size(): number {
		return this.#entries.size;
	}

	has(key: Key): boolean {
		return this.#entries.has(key);
	}

	get(key: Key): Value | undefined {
		return this.#entries.get(key);
	}

	/** Sets an entry, which is the newest then, also if it was there before. */
	set(key: Key, value: Value): void {
		this.#entries.delete(key);
		this.throwOut();
		this.#entries.set(key, value);
	}

	/** Makes room for one entry. */
	private throwOut(): void {
		for (const [key, value] of this.#entries) {
			if (this.#entries.size < this.most) return;
			if (this.mayGo(value)) this.#entries.delete(key);
		}
	}

	delete(key: Key): boolean {
		return this.#entries.delete(key);
	}

	/** The entries, beginning with the one that was set longest ago; those that it has given may be deleted. */
	entries(): IterableIterator<[Key, Value]> {
		return this.#entries.entries();
	}
}
