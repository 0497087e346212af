import type { ServiceOperation } from '../service/contract';
import type { Outcome } from '../service/outcome';

/**
 * What a run says of an item: what became of it, or that the run did not come to it. That is no outcome:
 * an earlier run may have sent the item.
 */
export type End = Outcome | 'notReached';

/** The items of a run by what became of them, see `Tally`. */
export interface Summary {
	readonly items: number;
	readonly operation: Pick<ServiceOperation, 'words'>;
	readonly done: ReadonlyArray<{
		index: number;
		result: { outcome?: Outcome; external_id?: string };
	}>;
	/** What acceptances say that their requests did not, in sentences. */
	readonly doubts: ReadonlySet<string>;
	/** The external_ids of items that were read and have no result yet, by index. */
	readonly remaining: ReadonlyMap<number, string>;
}

/** Every external_id of a run by outcome, and those that it did not come to. */
export function idsByOutcome({
	done,
	remaining,
}: Pick<Summary, 'done' | 'remaining'>): Record<End, string[]> {
	const ids: Record<End, string[]> = {
		accepted: [],
		rejected: [],
		duplicate: [],
		notSent: [],
		unknown: [],
		notReached: [],
	};
	for (const { result } of done) {
		const { external_id, outcome = 'notReached' } = result;
		if (external_id !== undefined) ids[outcome].push(external_id);
	}
	for (const external_id of remaining.values()) ids.notReached.push(external_id);
	return ids;
}
