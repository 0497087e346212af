import type { ServiceOperation } from '../../service/contract';
import { isRejectedForToken, type RequestResult } from '../../service/client';
import { openAttempts, type Attempts } from './attempts';
import { addToSum, outlayOf, type Outlay } from './outlays';
import { itemKey } from './place';
import type { Attempt, Place, Ready } from '../item';

/** What the ledger says about an item that is about to be sent. */
export type Verdict =
	| { do: 'send' }
	/**
	 * This item was sent before: it was accepted, nobody knows what became of it, or it was rejected for its
	 * token in this very execution.
	 */
	| { do: 'replay'; attempt: Attempt; outcome: 'accepted' | 'rejected' | 'unknown' }
	| { do: 'refuse'; attempt: Attempt; because: Refusal };

/**
 * Why an item is not sent: its External ID was sent for another item; this item was accepted with other
 * details; or this item was sent under another External ID.
 */
type Refusal = 'otherItem' | 'otherDetails' | 'otherExternalId';

/** n8n's context object of the execution, saved with it. */
export interface LedgerStore {
	/** In the order in which they began. */
	attempts?: Attempt[];
	/** What may have gone out, account by account. */
	paid?: Outlay[];
}

/**
 * The attempts of one execution. After a failure n8n runs the WHOLE node again with all items (Retry
 * On Fail, the editor's Retry) and keeps this store, so the ledger knows which items are paid.
 */
export interface Ledger {
	readonly attempts: Attempts;
	/** What may have gone out, account by account. */
	readonly paid: Outlay[];
	readonly operation: Pick<ServiceOperation, 'kind' | 'isMoneyOut' | 'meanings' | 'words'>;
	readonly executionId: string;
	readonly node: string;
	/** The number of the node's run: loops run a node several times. */
	readonly run: string;
	/** Whether an AI agent runs the node as its tool. */
	readonly isTool: boolean;
	/** The node's credential, as n8n knows it. */
	readonly credentialId: string;
	/** The pasted tokens of this run, by `tokenIdOf`. */
	readonly tokenIds: Set<string>;
}

type Sendable = Pick<Ready, 'index' | 'fingerprint' | 'request' | 'accountId' | 'tokenId'>;

/** Opens the ledger of an execution; `store` is written to in place. */
export function openLedger(
	store: LedgerStore,
	about: Omit<Ledger, 'attempts' | 'paid' | 'tokenIds'>,
): Ledger {
	store.attempts ??= [];
	store.paid ??= [];
	const { paid } = store;
	return { ...about, attempts: openAttempts(store.attempts), paid, tokenIds: new Set() };
}

function placeOf({ node, run, isTool }: Ledger, item: Sendable): Place {
	return isTool ? { isTool, node } : { isTool, node, run, item: item.index };
}

/** Whether an attempt was made for this item, or by a tool for the same request. */
function isOfItem({ place, fingerprint }: Attempt, ledger: Ledger, item: Sendable): boolean {
	if (place.isTool !== ledger.isTool) return false;
	return itemKey(place, fingerprint) === itemKey(placeOf(ledger, item), item.fingerprint);
}

/** Whether an attempt counts as not made: then a person may try again. See also {@link wasRejectedForToken}. */
export function wasNotMade({ outcome }: Pick<Attempt, 'outcome'>): boolean {
	return outcome === 'rejected' || outcome === 'notSent';
}

/**
 * The attempt with this item's external_id, if it may have been carried out. That is the last one: while an
 * earlier one may have been, no other is begun.
 */
function attemptWithId({ attempts, operation }: Ledger, item: Sendable): Attempt | undefined {
	const attempt = attempts.withId(operation.kind, item.request.external_id);
	return attempt === undefined || wasNotMade(attempt) ? undefined : attempt;
}

/** The last attempt of this item, whatever its external_id was and whatever became of it. */
function lastAttemptOf(ledger: Ledger, item: Sendable): Attempt | undefined {
	const { attempts, operation } = ledger;
	return attempts.ofItem(operation.kind, placeOf(ledger, item), item.fingerprint);
}

/**
 * Whether an attempt was rejected for its token in this very execution. Retry On Fail must not send such a
 * payment again with the next token. A person may: the editor's Retry is another execution.
 */
function wasRejectedForToken(attempt: Attempt, { executionId }: Ledger): boolean {
	return isRejectedForToken(attempt) && attempt.executionId === executionId;
}

/** Whether a payment with this external_id may have been carried out in this execution. */
export function mayBePaid(ledger: Ledger, item: Sendable): boolean {
	return attemptWithId(ledger, item) !== undefined;
}

/** Whether a node of this kind has tried something in this execution before: a loop's earlier turn, or a try. */
export function hasTried({ attempts, operation }: Ledger): boolean {
	return attempts.list.some(({ kind }) => kind === operation.kind);
}

/** Whether an item may be sent, given all that was tried in this execution. */
export function consult(ledger: Ledger, item: Sendable): Verdict {
	return ledger.operation.isMoneyOut
		? consultPayment(ledger, item)
		: consultRepeatable(ledger, item);
}

/** What may be repeated is sent, unless the very same request was accepted in an earlier try. */
function consultRepeatable(ledger: Ledger, item: Sendable): Verdict {
	const attempt = lastAttemptOf(ledger, item);
	if (attempt?.outcome !== 'accepted') return { do: 'send' };
	const isSame =
		attempt.external_id === item.request.external_id &&
		attempt.fingerprint === item.fingerprint &&
		attempt.place.node === ledger.node;
	return isSame ? { do: 'replay', attempt, outcome: 'accepted' } : { do: 'send' };
}

/**
 * A payment is not sent while an attempt with its External ID, or of its item, may have been carried out.
 * What was rejected for its token is not sent a second time by itself.
 */
function consultPayment(ledger: Ledger, item: Sendable): Verdict {
	const withId = attemptWithId(ledger, item);
	if (withId !== undefined) return consultSameId(ledger, item, withId);
	const last = lastAttemptOf(ledger, item);
	if (last === undefined) return { do: 'send' };
	if (!wasNotMade(last)) return consultOtherId(ledger, item, last);
	if (!wasRejectedForToken(last, ledger)) return { do: 'send' };
	return { do: 'replay', attempt: last, outcome: 'rejected' };
}

/** An External ID may occur once among the payments of an execution. */
function consultSameId(ledger: Ledger, item: Sendable, attempt: Attempt): Verdict {
	if (!isOfItem(attempt, ledger, item)) return { do: 'refuse', attempt, because: 'otherItem' };
	// Without an outcome its request is still out, or n8n went away meanwhile.
	if (attempt.outcome !== 'accepted') return { do: 'replay', attempt, outcome: 'unknown' };
	// A model that hears "accepted" twice believes that it has paid twice.
	if (ledger.isTool) return { do: 'refuse', attempt, because: 'otherItem' };
	// What was accepted is the earlier request, so it stands for that one only.
	if (attempt.fingerprint !== item.fingerprint) {
		return { do: 'refuse', attempt, because: 'otherDetails' };
	}
	return { do: 'replay', attempt, outcome: 'accepted' };
}

/** A payment is known by its item too: people type External IDs that change with each try. */
function consultOtherId(ledger: Ledger, item: Sendable, attempt: Attempt): Verdict {
	const isAccepted = attempt.outcome === 'accepted';
	// A model that hears "accepted" twice believes that it has paid twice.
	if (isAccepted && ledger.isTool) return { do: 'refuse', attempt, because: 'otherExternalId' };
	if (attempt.fingerprint !== item.fingerprint) {
		return { do: 'refuse', attempt, because: 'otherExternalId' };
	}
	return { do: 'replay', attempt, outcome: isAccepted ? 'accepted' : 'unknown' };
}

/** Writes an attempt down before its request starts. */
export function beginAttempt(ledger: Ledger, item: Sendable): Attempt {
	const { attempts, operation, executionId } = ledger;
	const { external_id, amount } = item.request;
	const attempt: Attempt = {
		kind: operation.kind,
		external_id,
		place: placeOf(ledger, item),
		amount,
		fingerprint: item.fingerprint,
		executionId,
	};
	// Nobody asks any more what the service said to an earlier try.
	delete lastAttemptOf(ledger, item)?.response;
	attempts.add(attempt);
	if (operation.isMoneyOut) addToSum(ledger, item, outlayOf(ledger, item));
	return attempt;
}

/** Whether a later try of the item may be given this one's response: else it is sent, and gets its own. */
function mayBeReplayed(attempt: Attempt, { operation }: Ledger): boolean {
	if (!operation.isMoneyOut) return attempt.outcome === 'accepted';
	return !wasNotMade(attempt) || isRejectedForToken(attempt);
}

/**
 * Writes down what became of an attempt that {@link beginAttempt} wrote down. Of the response only what a later
 * try needs: n8n's redaction of executions does not reach it.
 */
export function endAttempt(
	ledger: Ledger,
	item: Sendable,
	attempt: Attempt,
	{ outcome, statusCode, response, reason }: RequestResult,
): void {
	Object.assign(attempt, { outcome, statusCode, reason });
	if (mayBeReplayed(attempt, ledger)) attempt.response = response;
	if (ledger.operation.isMoneyOut && wasNotMade(attempt)) {
		addToSum(ledger, item, -outlayOf(ledger, item));
	}
}

/** Whether an attempt was made in this run of the node; all that a node does as a tool is one run. */
function isOfRun({ place }: Attempt, { node, run, isTool }: Ledger): boolean {
	if (place.node !== node || place.isTool !== isTool) return false;
	return place.isTool || place.run === run;
}

/** Drops what a run that went well no longer needs. What is not repeatable stays: no run may repeat it. */
export function forgetResponses(ledger: Ledger): void {
	const { attempts, operation } = ledger;
	const isOfThisRun = (attempt: Attempt) =>
		attempt.kind === operation.kind && isOfRun(attempt, ledger);
	if (!operation.isMoneyOut) {
		attempts.remove(isOfThisRun);
		return;
	}
	for (const attempt of attempts.list) {
		if (!isOfThisRun(attempt) || attempt.outcome !== 'accepted') continue;
		delete attempt.statusCode;
		delete attempt.response;
	}
}
