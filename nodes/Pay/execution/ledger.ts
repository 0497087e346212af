import { unitsOf } from '../parameters/amount';
import type { ServiceOperation } from '../service/contract';
import type { RequestResult } from '../service/client';
import type { Ready } from './read';

/** One attempt as written down: before it starts without an outcome, after it with one. */
export interface Attempt extends Partial<RequestResult> {
	external_id: string;
	/** Node, run and item that made it. */
	by: string;
	amount?: number;
	/** Of what was sent, see `Ready`. */
	fingerprint: string;
}

/** What the ledger says about an item that is about to be sent. */
type Verdict =
	| { do: 'send' }
	/** This item was sent before, and was accepted, or nobody knows what became of it. */
	| { do: 'replay'; attempt: Attempt; outcome: 'accepted' | 'unknown' }
	/** Its external_id was sent for another item, or this item was sent with other details. */
	| { do: 'refuse'; attempt: Attempt; sameItem: boolean };

/** n8n's context object of the execution, saved with it. */
export interface LedgerStore {
	/** Attempts by what they are known by, see {@link attemptKey}. */
	attempts?: Record<string, Attempt>;
	/** The external_id that each place last sent what is not repeatable with, by {@link placeOf}. */
	places?: Record<string, string>;
	/** What may have gone out, by account: `unitsOf` it, as text. */
	sums?: Record<string, string>;
}

/**
 * The attempts of one execution. After a failure n8n runs the WHOLE node again with all items (Retry
 * On Fail, the editor's Retry) and keeps this store, so the ledger knows which items are paid.
 */
export interface Ledger {
	readonly store: Required<LedgerStore>;
	readonly operation: Pick<ServiceOperation, 'kind' | 'policy'>;
	readonly node: string;
	/** The number of the node's run: loops run a node several times. */
	readonly run: string;
	/** Whether an AI agent runs the node as its tool. */
	readonly isTool: boolean;
}

type Sendable = Pick<Ready, 'index' | 'fingerprint' | 'request' | 'accountId'>;

/** Opens the ledger of an execution; `store` is written to in place. */
export function openLedger(store: LedgerStore, about: Omit<Ledger, 'store'>): Ledger {
	store.attempts ??= {};
	store.places ??= {};
	store.sums ??= {};
	return { ...about, store: store as Required<LedgerStore> };
}

/** How the name of an attempt of a tool ends. */
const TOOL = ', tool';

/** Whose attempt it was, in words. */
export function triedBy({ by, amount }: Attempt): string {
	const counted = by.endsWith(TOOL) ? by : `${by}, counted from 0`;
	return amount === undefined ? counted : `${counted}, amount ${amount}`;
}

/**
 * The item that makes an attempt, or with an empty index what all items of the run begin with. A model
 * has no items: all attempts of a tool have one name here.
 */
function byOf({ node, run, isTool }: Ledger, index: number | ''): string {
	return isTool ? node + TOOL : `${node}, run ${run}, item ${index}`;
}

/** What is not repeatable is known by its external_id alone, all else also by place. */
function attemptKey(ledger: Ledger, item: Sendable): string {
	const { kind, policy } = ledger.operation;
	const { external_id } = item.request;
	return policy.isRepeatable
		? `${kind} ${byOf(ledger, item.index)}: ${external_id}`
		: `${kind} ${external_id}`;
}

/**
 * What a payment is known by if its external_id changes with each try: of tools, what it asks for, for a
 * model asks another tool too.
 */
const placeOf = (ledger: Ledger, item: Sendable) =>
	ledger.isTool ? `tool ${item.fingerprint}` : byOf(ledger, item.index);

const isFree = (attempt: Attempt | undefined) =>
	attempt === undefined || attempt.outcome === 'rejected' || attempt.outcome === 'notSent';

/** Whether a payment with this external_id may have been carried out in this execution. */
export function mayBePaid(ledger: Ledger, item: Sendable): boolean {
	return !isFree(ledger.store.attempts[attemptKey(ledger, item)]);
}

/** Whether this node has tried something in this execution before: a loop's earlier turn, or a try. */
export function hasPaid({ store, node }: Ledger): boolean {
	return Object.values(store.attempts).some(({ by }) => by.startsWith(`${node}, `));
}

/** Whether an item may be sent, given all that was tried in this execution. */
export function consult(ledger: Ledger, item: Sendable): Verdict {
	const { store, operation } = ledger;
	const { attempts, places } = store;
	const ofId = attempts[attemptKey(ledger, item)];
	if (operation.policy.isRepeatable) {
		return ofId?.outcome === 'accepted' && ofId.fingerprint === item.fingerprint
			? { do: 'replay', attempt: ofId, outcome: ofId.outcome }
			: { do: 'send' };
	}
	const isOfItem = ({ by, fingerprint }: Attempt) =>
		ledger.isTool
			? by.endsWith(TOOL) && fingerprint === item.fingerprint
			: by === byOf(ledger, item.index);
	const ofPlace = attempts[`${operation.kind} ${places[placeOf(ledger, item)]}`];
	// Another item may have sent that external_id since.
	const earlier = ofPlace !== undefined && isOfItem(ofPlace) ? ofPlace : undefined;
	const attempt = isFree(ofId) ? earlier : ofId;
	if (attempt === undefined || isFree(attempt)) return { do: 'send' };
	const sameItem = isOfItem(attempt);
	const sameId = attempt === ofId;
	const sameRequest = attempt.fingerprint === item.fingerprint;
	if (attempt.outcome === 'accepted') {
		// A model that hears "accepted" twice believes that it has paid twice.
		return sameItem && sameRequest && !ledger.isTool
			? { do: 'replay', attempt, outcome: attempt.outcome }
			: { do: 'refuse', attempt, sameItem: sameItem && !ledger.isTool };
	}
	// Without an outcome its request is still out, or n8n went away meanwhile.
	return sameItem && (sameId || sameRequest)
		? { do: 'replay', attempt, outcome: 'unknown' }
		: { do: 'refuse', attempt, sameItem };
}

/** What may have gone out of an account in this execution, as `unitsOf` has it. */
export const sumOf = ({ store }: Ledger, accountId: string) => BigInt(store.sums[accountId] ?? 0);

/** Writes an attempt down before its request starts; what it returns writes down the outcome. */
export function begin(ledger: Ledger, item: Sendable): (end: RequestResult) => void {
	const { fingerprint, request, accountId } = item;
	const { external_id, amount } = request;
	const addToSum = (units: bigint) => {
		ledger.store.sums[accountId] = String(sumOf(ledger, accountId) + units);
	};
	const attempt: Attempt = { external_id, by: byOf(ledger, item.index), amount, fingerprint };
	ledger.store.attempts[attemptKey(ledger, item)] = attempt;
	const { isRepeatable, countsAgainstLimits } = ledger.operation.policy;
	const units = countsAgainstLimits ? unitsOf(amount ?? 0) : 0n;
	if (!isRepeatable) ledger.store.places[placeOf(ledger, item)] = external_id;
	if (countsAgainstLimits) addToSum(units);
	return ({ outcome, statusCode, response, reason }) => {
		Object.assign(attempt, { outcome, statusCode, response, reason });
		if (countsAgainstLimits && isFree(attempt)) addToSum(-units);
	};
}

/** Drops what a run that went well no longer needs. What is not repeatable stays: no run may repeat it. */
export function forgetResponses(ledger: Ledger): void {
	const { attempts } = ledger.store;
	const { kind, policy } = ledger.operation;
	const mine = byOf(ledger, '');
	for (const [key, attempt] of Object.entries(attempts)) {
		if (!key.startsWith(`${kind} `) || !attempt.by.startsWith(mine)) continue;
		if (policy.isRepeatable) {
			delete attempts[key];
		} else if (attempt.outcome === 'accepted') {
			delete attempt.statusCode;
			delete attempt.response;
		}
	}
}
