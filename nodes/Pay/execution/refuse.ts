import type { InputError } from '../inputError';
import { hasAsked } from '../postback/expectation';
import type { Words } from '../service/contract';
import { resultOfAttempt, resultOfRefusal } from './report/itemResult';
import { consult, type Verdict } from './ledger/ledger';
import { refusedByLimits } from './ledger/limits';
import { compareResponse } from './report/notes';
import type { Done, Ready, Step } from './item';
import type { Run } from './runState';
import { firstWaitsBehind, refusalOfWaits } from './waitsBehind';
import { attemptInWords } from './words/place';
import {
	acceptedWithOtherDetails,
	cancelled,
	noWaitBehind,
	sentInThisExecution,
	sentUnderAnotherId,
	severalForOneWait,
} from './words/refusal';

/* Which items a run does not send, and why. */

/** An item that could be read and is not sent, for the reason in `error`. */
export function refuseItem(
	{ operation }: Run,
	{ index, request }: Ready,
	error: unknown,
	end: 'notSent' | 'duplicate' | 'notReached' = 'notSent',
): Done {
	return { index, result: resultOfRefusal(operation, request.external_id, error, end) };
}

/**
 * An item that a cancelled run does not send. An earlier run may have sent it: perhaps the duplicate
 * check was not asked.
 */
export function refuseCancelled(run: Run, item: Ready, error: unknown = cancelled()): Done {
	return refuseItem(run, item, error, 'notReached');
}

/** Why the ledger does not let an item out, in words. */
function refusalByLedger(
	words: Words,
	{ attempt, because }: Extract<Verdict, { do: 'refuse' }>,
): InputError {
	switch (because) {
		case 'otherItem':
			return sentInThisExecution(words, attempt);
		case 'otherDetails':
			return acceptedWithOtherDetails(words, attempt);
		case 'otherExternalId':
			return sentUnderAnotherId(words, attempt);
	}
}

/** What the ledger knows of an item that was tried before in this execution. */
export function triedBefore(run: Run, item: Ready): Done | undefined {
	const { index, finish } = item;
	const verdict = consult(run.ledger, item);
	if (verdict.do === 'send') return undefined;
	if (verdict.do === 'refuse') {
		const refusal = refusalByLedger(run.operation.words, verdict);
		return refuseItem(run, item, refusal, 'duplicate');
	}
	const { attempt, outcome } = verdict;
	if (outcome === 'accepted') compareResponse(run.tally, attempt, attempt.response);
	const earlier = attemptInWords(attempt);
	const result = resultOfAttempt(run.operation, attempt, { ...attempt, outcome }, earlier);
	return { index, result, finish };
}

/** Takes refused items out of some. */
function withoutRefused(run: Run, items: Ready[], refused: Map<Ready, InputError>): Step {
	return {
		ready: items.filter((item) => !refused.has(item)),
		done: [...refused].map(([item, error]) => refuseItem(run, item, error)),
	};
}

/** Refuses the items that the limits of their accounts do not let out. */
export function withinLimits(run: Run, items: Ready[]): Step {
	return withoutRefused(run, items, refusedByLimits(run.ledger, items));
}

/** Refuses the items whose postback no wait behind this node could take, as far as the workflow says it. */
export function refuseForWaits(run: Run, items: Ready[]): Step {
	return withoutRefused(run, items, refusedByWaits(run, items));
}

/**
 * The items whose postback no wait behind this node could take, and why: all that ask for one, or none.
 * Where a wait can take one of them, the workflow may send the others another way.
 */
function refusedByWaits(run: Run, items: Ready[]): Map<Ready, InputError> {
	const { context, expectations, ledger, operation, tally } = run;
	const refused = new Map<Ready, InputError>();
	const asking = items.filter(({ expectation }) => expectation !== undefined);
	if (asking.length === 0 || ledger.isTool) return refused;
	const first = firstWaitsBehind(context);
	if (first === undefined) return refused;
	if (first.waits.length === 0) {
		tally.hints.add(noWaitBehind(operation.words));
		return refused;
	}
	const next = first.waits.find(({ isNext }) => isNext);
	if (asking.length > 1 && next !== undefined) {
		const refusal = severalForOneWait(next.name, asking.length, operation.words);
		for (const item of asking) refused.set(item, refusal);
		return refused;
	}
	// Otherwise the wait may be for an item that is done already, or for an earlier request of this execution.
	const isForTheseItems =
		items.length === tally.items && !hasAsked(expectations, context.getExecutionId());
	for (const item of asking) {
		const { expectation } = item;
		if (expectation === undefined) continue;
		const refusal = refusalOfWaits(first, tally.node.name, expectation, isForTheseItems);
		if (refusal === undefined) return new Map();
		refused.set(item, refusal);
	}
	return refused;
}
