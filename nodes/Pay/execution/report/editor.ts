import type { IExecuteFunctions } from 'n8n-workflow';
import { logWarning } from '../../log';
import { idsByOutcome } from '../summary';
import type { Tally } from './tally';
import { failuresInWords, stoppedInWords } from '../words/run';
import { quotedIds } from '../words/sentences';

/*
 * What a run shows besides its items. Requests have been sent by then, so nothing in here throws;
 * older versions of n8n, and the contexts of AI agents' tools, lack some of the functions.
 */

/** More than a person reads; items of one kind bring the same hint anyway. */
const MAX_HINTS = 10;
/** n8n keeps ten values per execution, which other nodes may want too. */
const MAX_HIGHLIGHTED = 3;

/** Shows hints beside the output, where this n8n can. */
export function showHints(context: IExecuteFunctions, tally: Tally): void {
	try {
		const failures = tally.continuesOnFailure ? failuresInWords(tally) : undefined;
		const ofItems = [...tally.itemHints].map(([hint, ids]) => `${quotedIds(ids)}: ${hint}`);
		const shown = [failures, ...tally.doubts, ...ofItems, ...tally.hints].filter(
			(each) => each !== undefined,
		);
		const hints = shown.map((message) => ({ message, location: 'outputPane' }) as const);
		context.addExecutionHints?.(...hints.slice(0, MAX_HINTS));
	} catch {
		// The items say all that matters.
	}
}

/** n8n 2 gives a node its own way to highlighted data; n8n 1 only through expressions. */
function highlightedData(context: IExecuteFunctions): IExecuteFunctions['customData'] | undefined {
	if (context.customData) return context.customData;
	const { $execution } = context.getWorkflowDataProxy(0);
	return ($execution as Partial<Pick<IExecuteFunctions, 'customData'>>).customData;
}

/** Makes an execution of few items findable by external_id and outcome (n8n's highlighted data). */
export function highlight(context: IExecuteFunctions, { done, items }: Tally): void {
	try {
		if (items > MAX_HIGHLIGHTED) return;
		const data = highlightedData(context);
		for (const { index, result } of done) {
			const { kind, external_id, outcome } = result;
			if (external_id === undefined) continue;
			const prefix = items === 1 ? kind : `${kind}_${index + 1}`;
			data?.set(`${prefix}_external_id`, external_id);
			if (outcome !== undefined) data?.set(`${prefix}_outcome`, outcome);
		}
	} catch {
		// The items say all that matters.
	}
}

/** Logs what was accepted and what is in flight. It never throws: in a listener it would end the process. */
function logCancelled(context: IExecuteFunctions, tally: Tally, areSomeInFlight: boolean): void {
	try {
		const { accepted, unknown, notReached } = idsByOutcome(tally);
		logWarning(context, stoppedInWords(tally, areSomeInFlight), {
			executionId: context.getExecutionId(),
			accepted,
			unknown,
			inFlight: [...tally.inFlight],
			notReached: notReached.filter((id) => !tally.inFlight.has(id)),
		});
	} catch {
		// The items say all that matters.
	}
}

/** What {@link beginCancelLog} began. */
interface CancelLog {
	context: IExecuteFunctions;
	tally: Tally;
	signal: AbortSignal | undefined;
	onAbort: () => void;
}

/**
 * Logs what was accepted and what is in flight as soon as the execution is cancelled: n8n shows neither,
 * and may end before the responses come.
 */
export function beginCancelLog(context: IExecuteFunctions, tally: Tally): CancelLog {
	const signal = context.getExecutionCancelSignal?.();
	const onAbort = () => logCancelled(context, tally, true);
	signal?.addEventListener('abort', onAbort);
	return { context, tally, signal, onAbort };
}

/** Ends what {@link beginCancelLog} began, and logs what became of the requests of a cancelled run. */
export function endCancelLog({ context, tally, signal, onAbort }: CancelLog): void {
	signal?.removeEventListener('abort', onAbort);
	if (signal?.aborted === true) logCancelled(context, tally, false);
}
