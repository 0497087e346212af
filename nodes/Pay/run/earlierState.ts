import { BoundedMap } from '../base/boundedMap';

/*
 * n8n can run an execution again from a wait that it has left. Its timer of a time limit loads the
 * execution and then waits for a place under the concurrency limit; by the time it has one, the
 * execution may stand in its next wait, and n8n only asks whether it waits at all (measured on 2.41.1:
 * a payment behind the wait was made twice, 4 of 4). n8n 1 asks nothing. And n8n 1 takes webhooks before
 * it has started: an execution that begins then can be found as one that was left, and is run once more.
 */

/** n8n's context object of the execution, saved with it. */
export interface RunCount {
	/** How many runs of Pay nodes there were. */
	runs?: number;
}

/** About 10 MB. A timer that waits longer for its place than so many executions take is not noticed. */
const MOST_EXECUTIONS = 100_000;
/** How many runs of Pay nodes this process has seen of each execution. */
const seenRuns = new BoundedMap<string, number>(MOST_EXECUTIONS);

/**
 * Counts a run of a Pay node, in its execution and in this process, which knows what it has run itself.
 * Nothing is awaited, so of two runs of one state one is told that it is the second.
 * @returns whether the execution has been further than this: then n8n runs it again from an earlier state, and
 * what follows may have been sent
 */
export function isEarlierState(executionId: string | undefined, store: RunCount): boolean {
	if (executionId === undefined) return false;
	const { runs = 0 } = store;
	// Such a run is not counted, so the next one of the same state is found too: Retry On Fail makes one.
	if (runs < (seenRuns.get(executionId) ?? 0)) return true;
	store.runs = runs + 1;
	seenRuns.set(executionId, store.runs);
	return false;
}
