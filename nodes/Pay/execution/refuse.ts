import type { InputError } from '../inputError';
import { otherStillAwaited } from '../postback/expectation';
import type { Words } from '../service/contract';
import { resultOfAttempt, resultOfRefusal } from './report/itemResult';
import { consult, type Verdict } from './ledger/ledger';
import { refusedByLimits } from './ledger/limits';
import { compareResponse } from './report/notes';
import type { Done, Ready, Step } from './item';
import { pausesBetween } from './pauses';
import type { Run } from './runState';
import { faultOfAll, waitsBehind } from './waitsBehind';
import { attemptInWords } from './words/place';
import {
	acceptedWithOtherDetails,
	cancelled,
	noWaitBehind,
	otherHeardFirst,
	pausesBeforeWait,
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
	return { index, result: resultOfRefusal(operation, request, error, end) };
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
	const result = resultOfAttempt(run.operation, attempt, { ...attempt, outcome }, { earlier });
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

/** Refuses all items where their postbacks could not be heard, as far as the workflow says it. */
export function refuseForWaits(run: Run, items: Ready[]): Step {
	const refusal = refusalByWaits(run, items);
	if (refusal === undefined) return { ready: items, done: [] };
	return { ready: [], done: items.map((item) => refuseItem(run, item, refusal)) };
}

/** Why the postback that an item asks for could not be heard. An execution waits for one at a time. */
function refusalByWaits(run: Run, items: Ready[]): InputError | undefined {
	const { context, expectations, ledger, operation, tally } = run;
	const asking = items.find((item) => item.expectation !== undefined);
	if (asking?.expectation === undefined || ledger.isTool) return undefined;
	const { expectation, account } = asking;
	const waits = waitsBehind(context);
	if (waits === undefined) return undefined;
	const [first] = waits;
	if (first === undefined) {
		tally.hints.add(noWaitBehind(operation.words));
		return undefined;
	}
	if (items.length > 1) return severalForOneWait(first.name, items.length, operation.words);
	const other = otherStillAwaited(expectations, expectation);
	if (other !== undefined) return otherHeardFirst(other, operation.words);
	const { name, type } = tally.node;
	for (const wait of waits) {
		const pauses = pausesBetween(
			context,
			{ name, type, external_id: expectation.external_id },
			wait.name,
		);
		if (pauses.length > 0) tally.hints.add(pausesBeforeWait(pauses, wait.name));
	}
	const { senderForWaits: sender } = account;
	return faultOfAll(waits, { name, expectation, sender });
}
