import type { INode } from 'n8n-workflow';
import type { Done } from './read';
import { stoppingError, type FailedResult } from './report';

/** What has become of the items of a run so far. Only {@link conclude} adds to `done`. */
export interface Tally {
	readonly node: INode;
	/** How many items came in. */
	readonly items: number;
	/** Whether failures become items; otherwise the first one stops the run. */
	readonly goesOn: boolean;
	readonly done: Done[];
	/** The external_ids of items that were read and have no result yet, by index. */
	readonly waiting: Map<number, string>;
	/** The external_ids whose requests were sent and have no response yet. */
	readonly inFlight: Set<string>;
	/** For the person in the editor. */
	readonly hints: Set<string>;
	/** Whether an item of the batch under way failed and the run does not go on: no request starts. */
	isStopping: boolean;
	/** How many characters of responses the run keeps. */
	kept: number;
}

/** A tally without any result. */
export function openTally(node: INode, items: number, goesOn: boolean): Tally {
	return {
		...{ node, items, goesOn, done: [], isStopping: false, kept: 0 },
		...{ waiting: new Map(), inFlight: new Set(), hints: new Set() },
	};
}

/**
 * Writes results down, and throws at a failure unless the run goes on: the one place that does. An
 * unknown payment is reported before any other failure.
 */
export function conclude(tally: Tally, done: Done[]): void {
	tally.done.push(...done);
	for (const { index } of done) tally.waiting.delete(index);
	if (tally.goesOn) return;
	const failures = tally.done.flatMap(({ index, result }) =>
		result.outcome === 'accepted' ? [] : [{ index, result }],
	);
	const isUnknown = ({ result }: { result: FailedResult }) => result.outcome === 'unknown';
	const worst = failures.find(isUnknown) ?? failures.sort((a, b) => a.index - b.index)[0];
	if (worst !== undefined) throw stoppingError(tally.node, worst, tally);
}
