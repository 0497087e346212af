import type { ServiceOperation } from '../service/contract';
import type { Outcome } from '../service/outcome';

/** The items of a run by what became of them, see `Tally`. */
export interface Summary {
	readonly items: number;
	readonly operation: Pick<ServiceOperation, 'words'>;
	readonly done: ReadonlyArray<{
		index: number;
		result: { outcome: Outcome; external_id?: string };
	}>;
	/** The external_ids of items that were read and not reached. */
	readonly waiting: ReadonlyMap<number, string>;
}

/** Every external_id of a run by outcome; items that were not reached are among `notSent`. */
export function idsByOutcome({ done, waiting }: Summary): Record<Outcome, string[]> {
	const ids: Record<Outcome, string[]> = {
		accepted: [],
		rejected: [],
		duplicate: [],
		notSent: [],
		unknown: [],
	};
	for (const { result } of done) {
		if (result.external_id !== undefined) ids[result.outcome].push(result.external_id);
	}
	ids.notSent.push(...waiting.values());
	return ids;
}
