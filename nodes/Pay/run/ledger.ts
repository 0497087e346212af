import type { Account } from '../account/account';
import { ownerOf, shortHash } from '../account/identity';
import { isJsonObject } from '../base/json';
import { unitsOf } from '../service/amounts';
import { isRejectedForToken, type RequestResult } from '../service/client';
import {
	type Meaning,
	type Meanings,
	type ServiceOperation,
	type ServiceRequest,
	valuesAt,
} from '../service/contract';
import type { Attempt, Place, Ready } from './item';

/** What is to become of an item that is about to be sent, and the earlier attempt that decides it. */
type Verdict =
	| { is: 'send' }
	/** This item was sent before, and its result is given once more. */
	| { is: 'replay'; attempt: Attempt; outcome: 'accepted' | 'rejected' | 'unknown' }
	/** Its External ID was sent for another item, or for the same one by another run or node. */
	| { is: 'otherItem'; attempt: Attempt }
	/** It was accepted with other details. */
	| { is: 'otherDetails'; attempt: Attempt }
	/** It was sent under another External ID. */
	| { is: 'otherExternalId'; attempt: Attempt };

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

/** An attempt is of an item by its place, and of a tool's call by its request. */
function isOfItem({ place, fingerprint }: Attempt, ledger: Ledger, item: Sendable): boolean {
	if (place.isTool !== ledger.isTool) return false;
	return itemKey(place, fingerprint) === itemKey(placeOf(ledger, item), item.fingerprint);
}

/** A payment that was not made may be tried again. See also {@link wasRejectedForToken}. */
export function wasNotMade({ outcome }: Pick<Attempt, 'outcome'>): boolean {
	return outcome === 'rejected' || outcome === 'notSent';
}

/** The last attempt of this item, whatever its external_id was and whatever became of it. */
function lastAttemptOf(ledger: Ledger, item: Sendable): Attempt | undefined {
	const { attempts, operation } = ledger;
	return attempts.ofItem(operation.kind, placeOf(ledger, item), item.fingerprint);
}

/**
 * Only in this very execution: Retry On Fail, a loop or a second node must not send such a payment again with the
 * next token. A person may: the editor's Retry is another execution, and so is a new run.
 */
function wasRejectedForToken(attempt: Attempt, { executionId }: Ledger): boolean {
	return isRejectedForToken(attempt) && attempt.executionId === executionId;
}

/** The last attempt with an item's External ID counts: while an earlier one may be paid, no other is begun. */
export function mayBePaid({ attempts, operation }: Ledger, item: Sendable): boolean {
	const attempt = attempts.withId(operation.kind, item.request.external_id);
	return attempt !== undefined && !wasNotMade(attempt);
}

/** A Pay node has tried such a thing in this execution before, in an earlier turn of a loop or an earlier try. */
export function hasTried({ attempts, operation }: Ledger): boolean {
	return attempts.list.some(({ kind }) => kind === operation.kind);
}

/** Judges an item by all that was tried in this execution. */
export function consult(ledger: Ledger, item: Sendable): Verdict {
	return ledger.operation.isMoneyOut
		? consultPayment(ledger, item)
		: consultRepeatable(ledger, item);
}

/** What may be repeated is sent, unless the very same request was accepted in an earlier try. */
function consultRepeatable(ledger: Ledger, item: Sendable): Verdict {
	const attempt = lastAttemptOf(ledger, item);
	if (attempt?.outcome !== 'accepted') return { is: 'send' };
	const isSame =
		attempt.external_id === item.request.external_id &&
		attempt.fingerprint === item.fingerprint &&
		attempt.place.node === ledger.node;
	return isSame ? { is: 'replay', attempt, outcome: 'accepted' } : { is: 'send' };
}

/**
 * A payment is not sent while an attempt with its External ID, or of its item, may have been carried out. Where
 * such an attempt was rejected for its token, the execution does not send the payment either.
 */
function consultPayment(ledger: Ledger, item: Sendable): Verdict {
	const { attempts, operation } = ledger;
	const withId = attempts.withId(operation.kind, item.request.external_id);
	const ofItem = lastAttemptOf(ledger, item);
	if (withId !== undefined && !wasNotMade(withId)) return consultSameId(ledger, item, withId);
	if (ofItem !== undefined && !wasNotMade(ofItem)) return consultOtherId(ledger, item, ofItem);
	if (ofItem !== undefined && wasRejectedForToken(ofItem, ledger)) {
		return { is: 'replay', attempt: ofItem, outcome: 'rejected' };
	}
	if (withId !== undefined && wasRejectedForToken(withId, ledger)) {
		return { is: 'otherItem', attempt: withId };
	}
	return { is: 'send' };
}

/** An External ID may occur once among the payments of an execution. */
function consultSameId(ledger: Ledger, item: Sendable, attempt: Attempt): Verdict {
	if (!isOfItem(attempt, ledger, item)) return { is: 'otherItem', attempt };
	// Without an outcome, its request is still out, or n8n has stopped since.
	if (attempt.outcome !== 'accepted') return { is: 'replay', attempt, outcome: 'unknown' };
	// A model that hears "accepted" twice believes that it has paid twice.
	if (ledger.isTool) return { is: 'otherItem', attempt };
	// The service accepted the earlier request, which is no answer to a different one.
	if (attempt.fingerprint !== item.fingerprint) {
		return { is: 'otherDetails', attempt };
	}
	return { is: 'replay', attempt, outcome: 'accepted' };
}

/** A payment is known by its item too: people type External IDs that change with each try. */
function consultOtherId(ledger: Ledger, item: Sendable, attempt: Attempt): Verdict {
	const isAccepted = attempt.outcome === 'accepted';
	// A model that hears "accepted" twice believes that it has paid twice.
	if (isAccepted && ledger.isTool) return { is: 'otherExternalId', attempt };
	if (attempt.fingerprint !== item.fingerprint) {
		return { is: 'otherExternalId', attempt };
	}
	return { is: 'replay', attempt, outcome: isAccepted ? 'accepted' : 'unknown' };
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
	// Only the response to the last try is ever needed.
	delete lastAttemptOf(ledger, item)?.response;
	attempts.add(attempt);
	if (operation.isMoneyOut) addToSum(ledger, item, outlayOf(ledger, item));
	return attempt;
}

/** Whether a later try of the item may be given this attempt's response instead of being sent. */
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

/** Everything that a node does as a tool counts as one run. */
function isOfRun({ place }: Attempt, { node, run, isTool }: Ledger): boolean {
	if (place.node !== node || place.isTool !== isTool) return false;
	return place.isTool || place.run === run;
}

/** Drops what a successful run no longer needs. Attempts of payments stay, because no run may repeat them. */
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

/**
 * The attempts of an execution, in the order in which they began, and an index of them. The list is what n8n
 * stores; an attempt of it is completed in place and never replaced.
 */
class Attempts {
	/** By kind and external_id, the last attempt. */
	private readonly lastWithId = new Map<string, Attempt>();
	/** By kind and {@link itemKey}, the last attempt. */
	private readonly lastOfItem = new Map<string, Attempt>();

	constructor(readonly list: Attempt[]) {
		this.indexAll();
	}

	private indexAll(): void {
		this.lastWithId.clear();
		this.lastOfItem.clear();
		for (const attempt of this.list) this.index(attempt);
	}

	private index(attempt: Attempt): void {
		const { kind, external_id, place, fingerprint } = attempt;
		this.lastWithId.set(`${kind} ${external_id}`, attempt);
		this.lastOfItem.set(`${kind} ${itemKey(place, fingerprint)}`, attempt);
	}

	add(attempt: Attempt): void {
		this.list.push(attempt);
		this.index(attempt);
	}

	/** The last attempt with an external_id, whichever item it was for. */
	withId(kind: string, external_id: string): Attempt | undefined {
		return this.lastWithId.get(`${kind} ${external_id}`);
	}

	/** The last attempt of an item, whatever its external_id was. */
	ofItem(kind: string, place: Place, fingerprint: string): Attempt | undefined {
		return this.lastOfItem.get(`${kind} ${itemKey(place, fingerprint)}`);
	}

	remove(isToGo: (attempt: Attempt) => boolean): void {
		const { list } = this;
		const left = list.filter((attempt) => !isToGo(attempt));
		if (left.length === list.length) return;
		// The list itself: n8n stores it, and others have it open.
		list.length = 0;
		for (const attempt of left) list.push(attempt);
		this.indexAll();
	}
}

/** The index of each stored list, shared by all that have it open: some agents run two tools at once. */
const opened = new WeakMap<Attempt[], Attempts>();

/** Opens a stored list of attempts. */
function openAttempts(list: Attempt[]): Attempts {
	const attempts = opened.get(list) ?? new Attempts(list);
	opened.set(list, attempts);
	return attempts;
}

/**
 * What an item is known by when its external_id changes with each try: its place. A model that calls a tool
 * has no items and may call another tool for the same, so a tool's call is known by what it asks for.
 * @param fingerprint of the request, see `fingerprintOf`
 */
export function itemKey(place: Place, fingerprint: string): string {
	const parts = place.isTool ? [fingerprint] : [place.node, place.run, place.item];
	return JSON.stringify(parts);
}

/** Another value of such a meaning makes another request. */
const IDENTIFIES: Record<Meaning, boolean> = {
	recipient: true,
	amount: true,
	identity: true,
	text: false,
	control: false,
};

/**
 * What tells a request from another, in a value of its body.
 * @param path where the value stands, as its meaning has it; empty for the body
 * @param ignored the paths of values that do not identify it
 */
function identifyingPart(value: unknown, path: string, ignored: ReadonlySet<string>): unknown {
	if (Array.isArray(value)) {
		return value.map((entry) => identifyingPart(entry, `${path}[]`, ignored));
	}
	if (!isJsonObject(value)) return value;
	const members: Array<[string, unknown]> = [];
	for (const [name, inside] of Object.entries(value)) {
		const at = path === '' ? name : `${path}.${name}`;
		if (!ignored.has(at)) members.push([name, identifyingPart(inside, at, ignored)]);
	}
	return Object.fromEntries(members);
}

/**
 * A hash over whose request it is, and its body. What people add to the form identifies it, too: nobody
 * knows what it means.
 * @param executionId of a request that is another one in each execution
 */
export function fingerprintOf(
	account: Account,
	request: ServiceRequest,
	meanings: Meanings,
	executionId?: string,
): string {
	const ignored = new Set<string>();
	for (const [path, means] of Object.entries(meanings)) {
		if (!IDENTIFIES[means]) ignored.add(path);
	}
	const identifying = [...ownerOf(account), identifyingPart(request, '', ignored)];
	if (executionId !== undefined) identifying.push(executionId);
	return shortHash(identifying);
}

/* What may have gone out in an execution, for the Highest Sum per Execution of its accounts. */

/** What may have gone out of one account, with one token of one credential. */
interface Outlay {
	accountId: string;
	tokenId: string;
	credentialId: string;
	/** `unitsOf` it, as text. */
	units: string;
}

/** The outlays of an execution, as a ledger holds them. */
interface Outlays {
	readonly paid: Outlay[];
	readonly credentialId: string;
	/** The pasted tokens of this run, by `tokenIdOf`. */
	readonly tokenIds: ReadonlySet<string>;
}

/** The account and the token that an item goes out of. */
type ItemAccount = Pick<Ready, 'accountId' | 'tokenId'>;

/**
 * An earlier outlay was of the account that an item goes out of, or of another one. Where requests go and in whose name is
 * the same; without a client ID that says nothing of whose money it is.
 *
 * | Pasted token | Credential | Sent in this run too | Then                                 |
 * | ------------ | ---------- | -------------------- | ------------------------------------ |
 * | the same     | any        | any                  | one account                          |
 * | another      | another    | any                  | two accounts                         |
 * | another      | the same   | yes                  | two accounts, by an expression       |
 * | another      | the same   | no                   | one account, whose token was renewed |
 */
function isOfAccount(
	outlay: Outlay,
	{ tokenIds, credentialId }: Outlays,
	item: ItemAccount,
): boolean {
	if (outlay.accountId !== item.accountId) return false;
	if (outlay.tokenId === item.tokenId) return true;
	if (outlay.credentialId !== credentialId) return false;
	return !tokenIds.has(outlay.tokenId);
}

/** What may have gone out of an item's account in this execution, as `unitsOf` has it. */
export function sumOf(outlays: Outlays, item: ItemAccount): bigint {
	let sum = 0n;
	for (const each of outlays.paid) {
		if (isOfAccount(each, outlays, item)) sum += BigInt(each.units);
	}
	return sum;
}

/** What an item would let out, as `unitsOf` has it: every amount of its body. */
export function outlayOf(
	{ operation }: { operation: { meanings: Meanings } },
	{ request }: Pick<Ready, 'request'>,
): bigint {
	let units = 0n;
	for (const [path, means] of Object.entries(operation.meanings)) {
		if (means !== 'amount') continue;
		for (const amount of valuesAt(request, path)) units += unitsOf(Number(amount));
	}
	return units;
}

/** Counts what an item lets out; negative units take it back. */
function addToSum({ paid, credentialId }: Outlays, item: ItemAccount, units: bigint): void {
	const { accountId, tokenId } = item;
	const found = paid.find(
		(each) =>
			each.accountId === accountId &&
			each.tokenId === tokenId &&
			each.credentialId === credentialId,
	);
	if (found === undefined) {
		paid.push({ accountId, tokenId, credentialId, units: String(units) });
	} else {
		found.units = String(BigInt(found.units) + units);
	}
}
