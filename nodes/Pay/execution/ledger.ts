import type { ServiceOperation } from '../service/contract';
import { isRejectedForToken, type RequestResult } from '../service/client';
import { addToSum, outlayOf, type Outlay } from './outlays';
import { isSamePlace, placeInStoredText, placeKey, type Place } from './place';
import type { Ready } from './read';

/** One attempt as written down: before its request starts without an outcome, after it with one. */
export interface Attempt extends Partial<RequestResult> {
	/** Its operation's kind. */
	kind: string;
	external_id: string;
	place: Place;
	amount?: number;
	/** Of the request, see `Ready`. */
	fingerprint: string;
	/** The editor's Retry is another execution with the same store. Absent as earlier versions stored it. */
	executionId?: string;
}

/**
 * An attempt as test/stored/0.1.0.json has it: its place and its reason as text, and its kind in its key
 * alone. Executions of that version go on with this one.
 */
type AttemptOf010 = Omit<Attempt, 'place' | 'kind' | 'reason'> & { by: string; reason?: string };

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
	/** Attempts, see {@link attemptKey}. */
	attempts?: Record<string, Attempt | AttemptOf010>;
	/** With which external_id each item last sent what is not repeatable, see {@link itemKey}. */
	places?: Record<string, string>;
	/** As 0.1.0 stored what may have gone out: the sum of each account, see `Outlays`. */
	sums?: Record<string, string>;
	/** What may have gone out, account by account. */
	paid?: Outlay[];
}

/** A {@link LedgerStore} that has all its members, and no attempt as 0.1.0 stored it. */
interface OpenStore {
	attempts: Record<string, Attempt>;
	places: Record<string, string>;
	sums: Record<string, string>;
	paid: Outlay[];
}

/**
 * The attempts of one execution. After a failure n8n runs the WHOLE node again with all items (Retry
 * On Fail, the editor's Retry) and keeps this store, so the ledger knows which items are paid.
 */
export interface Ledger {
	readonly store: OpenStore;
	readonly operation: Pick<ServiceOperation, 'kind' | 'policy' | 'members' | 'leaves' | 'words'>;
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

/** Replaces attempts as 0.1.0 stored them. */
function upgradeAttempts(attempts: Record<string, Attempt | AttemptOf010>): void {
	for (const [key, attempt] of Object.entries(attempts)) {
		if (!('by' in attempt)) continue;
		const { by, reason: words, ...rest } = attempt;
		const [kind = ''] = key.split(' ', 1);
		const upgraded: Attempt = { ...rest, kind, place: placeInStoredText(by) };
		if (words !== undefined) upgraded.reason = { is: 'inWords', words };
		attempts[key] = upgraded;
	}
}

/** Opens the ledger of an execution; `store` is written to in place. */
export function openLedger(store: LedgerStore, about: Omit<Ledger, 'store' | 'tokenIds'>): Ledger {
	store.attempts ??= {};
	store.places ??= {};
	store.sums ??= {};
	store.paid ??= [];
	upgradeAttempts(store.attempts);
	return { ...about, store: store as OpenStore, tokenIds: new Set() };
}

function placeOf({ node, run, isTool }: Ledger, item: Sendable): Place {
	return isTool ? { isTool, node } : { isTool, node, run, item: item.index };
}

/*
 * What stands in the store, by these keys. They are stored forms: executions hold them.
 *
 *   attempts   payment payout-7                              a payment, by its external_id
 *   attempts   qrCode Pay, run 0, item 2: order-7            a QR code, by its place too
 *   attempts   replaced payment Pay, run 0, item 2           an item's last payment, whose external_id another
 *                                                            item sent since
 *   places     Pay, run 0, item 2                            an item, see `placeKey`
 *   places     tool dGhpcyBpcyBhIGZpbmdlcg                   a call of a tool, by what it asks for
 */

const paymentKey = (kind: string, external_id: string) => `${kind} ${external_id}`;

/** What is not repeatable is known by its external_id alone, all else also by its place. */
function attemptKey(ledger: Ledger, item: Sendable): string {
	const { kind, policy } = ledger.operation;
	const { external_id } = item.request;
	if (!policy.isRepeatable) return paymentKey(kind, external_id);
	return `${kind} ${placeKey(placeOf(ledger, item))}: ${external_id}`;
}

/**
 * What a payment is known by if its external_id changes with each try. A model that calls a tool has no
 * items and may call another tool for the same, so a tool's call is known by what it asks for.
 */
function itemKey(place: Place, fingerprint: string): string {
	return place.isTool ? `tool ${fingerprint}` : placeKey(place);
}

/** Where an item's last payment stands once another item has sent its external_id; it was not made then. */
const replacedKey = (kind: string, key: string) => `replaced ${kind} ${key}`;

/** Keeps the attempt that one of this item is about to replace, if that is of another item. */
function keepReplaced(ledger: Ledger, item: Sendable): void {
	const { attempts } = ledger.store;
	const replaced = attempts[attemptKey(ledger, item)];
	if (replaced === undefined || isOfItem(replaced, ledger, item)) return;
	const { kind, place, fingerprint } = replaced;
	attempts[replacedKey(kind, itemKey(place, fingerprint))] = replaced;
}

/** Whether an attempt was made for this item, or by a tool for the same request. */
function isOfItem({ place, fingerprint }: Attempt, ledger: Ledger, item: Sendable): boolean {
	if (ledger.isTool) return place.isTool && fingerprint === item.fingerprint;
	return isSamePlace(place, placeOf(ledger, item));
}

/** Whether an attempt counts as not made: then a person may try again. See also {@link wasRejectedForToken}. */
export function wasNotMade({ outcome }: Pick<Attempt, 'outcome'>): boolean {
	return outcome === 'rejected' || outcome === 'notSent';
}

/** The attempt with this item's external_id, if it may have been carried out. */
function attemptWithId(ledger: Ledger, item: Sendable): Attempt | undefined {
	const attempt = ledger.store.attempts[attemptKey(ledger, item)];
	return attempt === undefined || wasNotMade(attempt) ? undefined : attempt;
}

/** The last attempt of this item, whatever its external_id was and whatever became of it. */
function lastAttemptOf(ledger: Ledger, item: Sendable): Attempt | undefined {
	const { attempts, places } = ledger.store;
	const key = itemKey(placeOf(ledger, item), item.fingerprint);
	const external_id = places[key];
	if (external_id === undefined) return undefined;
	const { kind } = ledger.operation;
	const attempt = attempts[paymentKey(kind, external_id)];
	if (attempt !== undefined && isOfItem(attempt, ledger, item)) return attempt;
	// Another item has sent that external_id since.
	const replaced = attempts[replacedKey(kind, key)];
	return replaced?.external_id === external_id ? replaced : undefined;
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

/** Whether this node has tried something in this execution before: a loop's earlier turn, or a try. */
export function hasTried({ store, node }: Ledger): boolean {
	return Object.values(store.attempts).some(({ place }) => place.node === node);
}

/** Whether an item may be sent, given all that was tried in this execution. */
export function consult(ledger: Ledger, item: Sendable): Verdict {
	return ledger.operation.policy.isRepeatable
		? consultRepeatable(ledger, item)
		: consultPayment(ledger, item);
}

/** What may be repeated is sent, unless the very same request was accepted in an earlier try. */
function consultRepeatable(ledger: Ledger, item: Sendable): Verdict {
	const attempt = attemptWithId(ledger, item);
	if (attempt?.outcome !== 'accepted') return { do: 'send' };
	if (attempt.fingerprint !== item.fingerprint) return { do: 'send' };
	return { do: 'replay', attempt, outcome: 'accepted' };
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
	const { store, operation } = ledger;
	const { fingerprint, request } = item;
	const { external_id } = request;
	const place = placeOf(ledger, item);
	const attempt: Attempt = {
		kind: operation.kind,
		external_id,
		place,
		amount: request.amount,
		fingerprint,
		executionId: ledger.executionId,
	};
	if (!operation.policy.isRepeatable) {
		keepReplaced(ledger, item);
		store.places[itemKey(place, fingerprint)] = external_id;
	}
	store.attempts[attemptKey(ledger, item)] = attempt;
	if (operation.policy.countsAgainstLimits) addToSum(ledger, item, outlayOf(ledger, item));
	return attempt;
}

/** Writes down what became of an attempt that {@link beginAttempt} wrote down. */
export function endAttempt(
	ledger: Ledger,
	item: Sendable,
	attempt: Attempt,
	{ outcome, statusCode, response, reason }: RequestResult,
): void {
	Object.assign(attempt, { outcome, statusCode, response, reason });
	if (ledger.operation.policy.countsAgainstLimits && wasNotMade(attempt)) {
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
	const { attempts } = ledger.store;
	const { kind, policy } = ledger.operation;
	for (const [key, attempt] of Object.entries(attempts)) {
		if (attempt.kind !== kind || !isOfRun(attempt, ledger)) continue;
		if (policy.isRepeatable) {
			delete attempts[key];
		} else if (attempt.outcome === 'accepted') {
			delete attempt.statusCode;
			delete attempt.response;
		}
	}
}
