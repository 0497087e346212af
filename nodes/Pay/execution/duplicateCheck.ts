import { asError } from '../inputError';
import type { Words } from '../service/contract';
import { RememberedList } from './rememberedList';
import { cancelled, checkFailed, listWasFull, mayBeForgotten } from './words/refusal';
import { LONGEST_CHANGE_MS, REMEMBERED_PAYMENTS, type Store } from './storedList';

/** One per node and process: within a process changes of one list go one after the other. */
const lists = new Map<string, RememberedList>();

/** What one run of a node records in n8n's duplicate store. */
export type Records = ReturnType<typeof openRecords>;

/** Opens the records of one run of a node. */
export function openRecords(options: {
	helpers: Store;
	/** Workflow id and node id: n8n keeps a list for each. */
	listKey: string;
	/** The execution's cancel signal. */
	signal?: AbortSignal;
	/** Whether the node has paid in this execution before. */
	isLater: boolean;
	/** How people read of what is recorded. */
	words: Words;
}) {
	const { helpers, listKey, signal, isLater, words } = options;
	const list = lists.get(listKey) ?? new RememberedList();
	lists.set(listKey, list);
	/** What this run recorded and did not remove. */
	const idsOfRun = new Set<string>();
	/** Whether some of what this run asked for was recorded before: it may be a list that runs again. */
	let foundKnown = false;
	const { overlong } = list.stored;

	/**
	 * A process that was frozen in the middle of a change wrote an old list over what others recorded,
	 * and n8n may have given its execution to another worker: what looks new may be paid already.
	 */
	const isFrozen = () => list.stored.overlong !== overlong;
	const frozen = () =>
		checkFailed(
			words,
			new Error(`n8n's database took longer than ${LONGEST_CHANGE_MS / 1000} s for it`),
		);

	/** Removes ids that this run recorded, never others; gives those that stay. Never throws. */
	async function remove(
		ids: readonly string[],
	): Promise<{ remembered: string[]; reason?: string }> {
		const removable = ids.filter((id) => idsOfRun.has(id));
		if (removable.length === 0) return { remembered: [] };
		try {
			await list.remove(helpers, removable);
			for (const id of removable) idsOfRun.delete(id);
			return { remembered: [] };
		} catch (error) {
			return { remembered: removable, reason: `n8n's database failed (${asError(error).message})` };
		}
	}

	/** Records ids before they are sent; gives those that were recorded before. Throws an InputError. */
	async function record(ids: readonly string[]): Promise<Set<string>> {
		if (isFrozen()) throw frozen();
		let known: Set<string>;
		try {
			known = await list.record(helpers, ids);
		} catch (error) {
			throw checkFailed(words, asError(error));
		}
		foundKnown ||= known.size > 0;
		const fresh = ids.filter((id) => !known.has(id));
		if (isFrozen()) {
			// What another may have recorded too must not be removed.
			list.forget(fresh);
			throw frozen();
		}
		for (const id of fresh) idsOfRun.add(id);
		if (signal?.aborted !== true) return known;
		const { remembered } = await remove(fresh);
		// Not forgotten by the list: another run may have recorded it since.
		for (const id of remembered) idsOfRun.delete(id);
		throw cancelled(remembered);
	}

	/** Looks again until all of it lasts; gives hints where something is not sure. Never throws. */
	async function close(): Promise<string[]> {
		list.keepers.delete(idsOfRun);
		// Not where a list runs again, or a loop's next turn: it asks for what would be dropped.
		const mayDrop = !isLater && !foundKnown;
		const { left, reason } = await list.makeLast(helpers, idsOfRun, mayDrop);
		const hints: string[] = [];
		const before = list.length - idsOfRun.size;
		const isFull = idsOfRun.size > 0 && before >= REMEMBERED_PAYMENTS;
		// Not at each run of a node that has simply paid so many.
		if (isFull && (foundKnown || !list.saidFull)) {
			list.saidFull = true;
			hints.push(listWasFull(words, before));
		}
		if (reason !== undefined) {
			hints.push(mayBeForgotten(left, reason));
		}
		return hints;
	}

	/** Has the list drop nothing until the run is closed: more batches come. */
	function keepAll(): void {
		list.keepers.add(idsOfRun);
	}

	return { keepAll, record, remove, close };
}
