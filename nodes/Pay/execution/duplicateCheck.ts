import { asError, InputError } from '../inputError';
import { RememberedList } from './rememberedList';
import { cancelled } from './words/refusal';
import { LONGEST_CHANGE_MS, REMEMBERED_PAYMENTS, type Store } from './storedList';
import { quotedIds } from './words/sentences';

/** One per node and process: within a process changes of one list go one after the other. */
const lists = new Map<string, RememberedList>();

function checkFailed(error: Error): InputError {
	// n8n asserts that the workflow has an id, in words that say nothing.
	if ('code' in error && error.code === 'ERR_ASSERTION') {
		const message = 'The duplicate check failed, because the workflow has not been saved';
		return new InputError('', message, 'Nothing was sent. Save the workflow, then run again.');
	}
	return new InputError(
		'',
		`The duplicate check failed: ${error.message}`,
		"Nothing was sent. Run again when n8n's database responds. If the payment is then refused as a duplicate, it may have been recorded although it was not sent: ask the service whether it was made. Pay with a new External ID only if the service says that it was not made.",
	);
}

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
}) {
	const { helpers, listKey, signal, isLater } = options;
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
		checkFailed(new Error(`n8n's database took longer than ${LONGEST_CHANGE_MS / 1000} s for it`));

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
			throw checkFailed(asError(error));
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
			hints.push(
				`Before this run the duplicate check knew the last ${before} payments of this node, and perhaps none before them. If one of these is older, it was paid again: compare with your records.`,
			);
		}
		if (reason !== undefined) {
			hints.push(
				`n8n may forget ${quotedIds(left)}: the duplicate check could not make sure that they stay recorded (${reason.message}). Do not send them again without asking the service.`,
			);
		}
		return hints;
	}

	/** Has the list drop nothing until the run is closed: more batches come. */
	function keepAll(): void {
		list.keepers.add(idsOfRun);
	}

	return { keepAll, record, remove, close };
}
