import type { INode } from 'n8n-workflow';
import type { ServiceOperation } from '../service/contract';
import type { Done } from './read';
import { stoppingError } from './n8nError';

/** What has become of the items of a run so far. */
export type Tally = ReturnType<typeof openTally>;

/** A tally without any result, of so many items; `goesOn` says whether failures become items. */
export function openTally(
	node: INode,
	operation: Pick<ServiceOperation, 'words'>,
	items: number,
	goesOn: boolean,
) {
	return {
		node,
		operation,
		items,
		goesOn,
		/** Only {@link conclude} adds to it. */
		done: [] as Done[],
		/** The external_ids of items that were read and have no result yet, by index. */
		waiting: new Map<number, string>(),
		/** The external_ids whose requests were sent and of which `done` says nothing yet. */
		inFlight: new Set<string>(),
		/** For the person in the editor. */
		hints: new Set<string>(),
		/** What an acceptance says that its request did not: a stopped run says it too. */
		doubts: new Set<string>(),
		/** Hints about single items, with the external_ids of those that were sent. */
		itemHints: new Map<string, string[]>(),
		/** Whether an item of the batch under way failed and the run does not go on. */
		isStopping: false,
		/** How many characters of responses the run keeps. */
		responseLength: 0,
	};
}

/**
 * Writes results down, and throws at a failure unless the run goes on: the one place that does. An
 * unknown payment is reported before any other failure.
 */
export function conclude(tally: Tally, done: Done[]): void {
	// One by one: a list is longer than what a call takes as arguments.
	for (const each of done) {
		const { index, result } = each;
		tally.done.push(each);
		tally.waiting.delete(index);
		if (result.external_id !== undefined) tally.inFlight.delete(result.external_id);
	}
	// All are looked at only where one can have failed: a list is long.
	const isAccepted = ({ result }: Done) => result.outcome === 'accepted';
	if (tally.goesOn || (done.length > 0 && done.every(isAccepted))) return;
	const failures = tally.done.flatMap(({ index, result }) =>
		result.outcome === 'accepted' ? [] : [{ index, result }],
	);
	failures.sort((a, b) => a.index - b.index);
	const worst =
		failures.find(({ result }) => result.outcome === 'unknown') ??
		failures.find(({ result }) => result.outcome !== undefined) ??
		failures[0];
	if (worst !== undefined) throw stoppingError(tally.node, worst, tally);
}
