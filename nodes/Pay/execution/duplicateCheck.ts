import type { IExecuteFunctions } from 'n8n-workflow';
import { asError, InputError } from '../inputError';
import { RememberedList, type Entry } from './rememberedList';
import { cancelled } from './refusals';
import { LONGEST_CHANGE_MS } from './storedList';
import { quotedIds } from './summary';

/** How often one run tries again when the store fails while it looks. */
const LOOKS_THAT_MAY_FAIL = 3;
/** How long one run waits until all it recorded lasts. */
const LONGEST_LOOKING_MS = 60_000;
/** At most this many may wait for the look at the end. */
const MOST_UNSETTLED = 1_000;

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
	helpers: Pick<IExecuteFunctions['helpers'], 'checkProcessedAndRecord' | 'removeProcessed'>;
	/** Workflow id and node id: n8n keeps a list for each. */
	listKey: string;
	/** The execution's cancel signal. */
	signal?: AbortSignal;
}) {
	const { helpers, listKey, signal } = options;
	const list = lists.get(listKey) ?? new RememberedList();
	lists.set(listKey, list);
	/** What this run recorded and did not remove, by id. */
	const mine = new Map<string, Entry>();
	const overlongBefore = list.overlong;

	/**
	 * A process that was frozen in the middle of a change wrote an old list over what others recorded,
	 * and n8n may have given its execution to another worker: what looks new may be paid already.
	 */
	function frozen(): Error | undefined {
		if (list.overlong === overlongBefore) return undefined;
		return new Error(`n8n's database took longer than ${LONGEST_CHANGE_MS / 1000} s for it`);
	}

	const unsettled = () => [...mine.values()].filter(({ state }) => state === 'recorded');

	/** Changes the list until none of these entries is pending. */
	async function settle(what: () => Entry[], quiet: boolean): Promise<Error | undefined> {
		const end = performance.now() + LONGEST_LOOKING_MS;
		let failures = 0;
		for (let turn = 0; what().length > 0; turn++) {
			// What still has no verdict after a turn waits behind too much that is not settled.
			const failed = await list.change(helpers, quiet || turn > 0);
			if (failed !== undefined && ++failures >= LOOKS_THAT_MAY_FAIL) return failed;
			if (performance.now() > end) return failed ?? new Error('other executions overwrite it');
		}
		return undefined;
	}

	/** Removes ids that this run recorded, never others; gives those that stay. Never throws. */
	async function remove(
		ids: readonly string[],
	): Promise<{ remembered: string[]; reason?: string }> {
		const own = ids.flatMap((id) => mine.get(id) ?? []);
		if (own.length === 0) return { remembered: [] };
		try {
			await list.remove(helpers, own);
			for (const { id } of own) mine.delete(id);
			return { remembered: [] };
		} catch (error) {
			const reason = `n8n's database failed (${asError(error).message})`;
			return { remembered: own.map(({ id }) => id), reason };
		}
	}

	/** Records ids before they are sent; gives those that were recorded before. Throws an InputError. */
	async function record(ids: readonly string[]): Promise<Set<string>> {
		const frozenBefore = frozen();
		if (frozenBefore !== undefined) throw checkFailed(frozenBefore);
		if (unsettled().length > MOST_UNSETTLED) await settle(unsettled, true);
		const batch = ids.map((id) => list.add(id));
		const error = await settle(() => batch.filter(({ state }) => state === 'waiting'), false);
		const isMine = ({ state }: Entry) => state === 'recorded' || state === 'lasting';
		for (const entry of batch.filter(isMine)) mine.set(entry.id, entry);
		const unsure = error ?? batch.find(({ state }) => state === 'failed')?.error ?? frozen();
		if (unsure === undefined && signal?.aborted !== true) {
			return new Set(batch.filter(({ state }) => state === 'known').map(({ id }) => id));
		}
		// What another may have recorded too must not be removed.
		const { remembered } = unsure === undefined ? await remove(ids) : { remembered: [] };
		for (const entry of batch) {
			list.drop(entry);
			if (mine.delete(entry.id)) list.forget(entry);
		}
		throw unsure === undefined ? cancelled(remembered) : checkFailed(unsure);
	}

	/** Looks again at what this run recorded, if that costs no waiting. Never throws. */
	async function lookAgain(): Promise<void> {
		if (unsettled().length > 0 && list.isQuiet) await list.change(helpers, false);
	}

	/** Looks again until all of it lasts; gives a hint where that is not sure. Never throws. */
	async function close(): Promise<string | undefined> {
		const error = await settle(unsettled, true);
		if (error === undefined) return undefined;
		const left = unsettled();
		for (const entry of left) {
			list.drop(entry);
			mine.delete(entry.id);
		}
		return `n8n may forget ${quotedIds(left.map(({ id }) => id))}: the duplicate check could not make sure that they stay recorded (${error.message}). Do not send them again without asking the service.`;
	}

	return { record, remove, lookAgain, close };
}
