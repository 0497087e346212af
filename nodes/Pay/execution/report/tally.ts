import type { INode } from 'n8n-workflow';
import type { Done, FailedResult } from '../item';
import { stoppingError } from './n8nError';
import type { Summary } from '../summary';

/** What has become of the items of a run so far. */
export interface Tally extends Summary {
	readonly node: INode;
	/** Whether failures become items; else the first one stops the node. */
	readonly continuesOnFailure: boolean;
	/** Only {@link addResults} adds to it. */
	readonly done: Done[];
	/** Whether one of `done` has failed: that list is too long to look through it after each item. */
	hasFailed: boolean;
	readonly remaining: Map<number, string>;
	/** The external_ids whose requests were sent and of which `done` says nothing yet. */
	readonly inFlight: Set<string>;
	/** For the person in the editor. */
	readonly hints: Set<string>;
	/** What an acceptance says that its request did not: a stopped run says it too. */
	readonly doubts: Set<string>;
	/** Hints about single items, with the external_ids of those that were sent. */
	readonly itemHints: Map<string, string[]>;
	/** Whether an item of the batch under way failed and the run does not go on. */
	isStopping: boolean;
	/** How many characters of responses the run keeps. */
	responseLength: number;
}

/** A tally of a run of which nothing is known but how many items it has. */
export function openTally(
	node: INode,
	operation: Summary['operation'],
	items: number,
	continuesOnFailure: boolean,
): Tally {
	return {
		node,
		operation,
		items,
		continuesOnFailure,
		done: [],
		hasFailed: false,
		remaining: new Map(),
		inFlight: new Set(),
		hints: new Set(),
		doubts: new Set(),
		itemHints: new Map(),
		isStopping: false,
		responseLength: 0,
	};
}

/** Writes results down. */
export function addResults(tally: Tally, results: readonly Done[]): void {
	// One by one: a list is longer than what a call takes as arguments.
	for (const done of results) {
		const { index, result } = done;
		tally.done.push(done);
		tally.remaining.delete(index);
		if (result.external_id !== undefined) tally.inFlight.delete(result.external_id);
		if (result.outcome !== 'accepted') tally.hasFailed = true;
	}
}

/** A failure and the place of its item. */
interface Failure {
	index: number;
	result: FailedResult;
}

/** The failures of a run, in the order of its items. */
function failuresOf({ done }: Tally): Failure[] {
	const failures: Failure[] = [];
	for (const { index, result } of done) {
		if (result.outcome !== 'accepted') failures.push({ index, result });
	}
	return failures.sort((a, b) => a.index - b.index);
}

/**
 * Throws at a failure unless the run goes on: the one place that does. An unknown payment is reported
 * before any other failure, and what was not reached behind all of them.
 */
export function throwIfFailed(tally: Tally): void {
	if (tally.continuesOnFailure || !tally.hasFailed) return;
	const failures = failuresOf(tally);
	const worst =
		failures.find(({ result }) => result.outcome === 'unknown') ??
		failures.find(({ result }) => result.outcome !== undefined) ??
		failures[0];
	if (worst !== undefined) throw stoppingError(tally.node, worst, tally);
}
