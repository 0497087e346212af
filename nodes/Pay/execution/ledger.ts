import type { Kind } from '../service/contract';
import type { Outcome } from '../service/outcome';

/** One attempt as written down: before it starts without an outcome, after it with one. */
export interface Attempt {
	/** Node, run and item that made it. */
	by: string;
	amount: number;
	/** Of what was sent, see `Ready`. */
	fingerprint: string;
	outcome?: Outcome;
	statusCode?: number;
	response?: unknown;
	/** Why it ended without a clear answer, in words. */
	reason?: string;
}

/** What the ledger says about an item that is about to be sent. */
type Verdict =
	| { do: 'send' }
	/** This very request of this very item was accepted before: its answer, not a second request. */
	| { do: 'replay'; attempt: Attempt }
	/** A payment of this item is out and its fate is not known. */
	| { do: 'stayUnknown'; attempt: Attempt }
	/** A payment with this external_id was sent, for another item, node or run, or with other details. */
	| { do: 'refuse'; attempt: Attempt; sameItem: boolean };

/** n8n's context object of the execution, saved with it. */
export interface LedgerStore {
	attempts?: Record<string, Attempt>;
}

/**
 * The attempts of one execution. n8n re-runs the WHOLE node with all items after a failure (Retry
 * On Fail, the editor's Retry), and keeps this store across both, so the ledger is what tells an
 * item that is already paid from one that is not.
 */
export interface Ledger {
	readonly attempts: Record<string, Attempt>;
	readonly kind: Kind;
	/** The node's name and the run's number: loops run a node several times. */
	readonly place: string;
}

/** What the ledger knows an item by. */
interface Entry {
	index: number;
	fingerprint: string;
	request: { external_id: string; amount: number };
}

/** Opens the ledger of an execution; `store` is written to in place. */
export function openLedger(store: LedgerStore, kind: Kind, place: string): Ledger {
	return { attempts: (store.attempts ??= {}), kind, place };
}

const byOf = ({ place }: Ledger, index: number) => `${place}, item ${index}`;

/**
 * Payments are kept by external_id over all nodes, runs and items of the execution. QR codes are
 * kept by node, run and item: a second QR code harms nobody.
 */
function keyOf(ledger: Ledger, { index, request }: Entry): string {
	return ledger.kind === 'payment'
		? `payment ${request.external_id}`
		: `qrCode ${byOf(ledger, index)}: ${request.external_id}`;
}

/** Whether an item may be sent, given all that was tried in this execution. */
export function consult(ledger: Ledger, entry: Entry): Verdict {
	const attempt = ledger.attempts[keyOf(ledger, entry)];
	if (attempt === undefined) return { do: 'send' };
	const same = attempt.fingerprint === entry.fingerprint;
	if (ledger.kind === 'qrCode') {
		return attempt.outcome === 'accepted' && same ? { do: 'replay', attempt } : { do: 'send' };
	}
	const sameItem = attempt.by === byOf(ledger, entry.index);
	switch (attempt.outcome) {
		case 'rejected':
		case 'notSent':
			return { do: 'send' };
		case 'accepted':
			return sameItem && same ? { do: 'replay', attempt } : { do: 'refuse', attempt, sameItem };
		// Without an outcome it was begun and never completed: n8n went away meanwhile.
		default:
			return sameItem ? { do: 'stayUnknown', attempt } : { do: 'refuse', attempt, sameItem };
	}
}

/**
 * Writes an attempt down before its request starts.
 * @returns completes it with what became of it
 */
export function begin(
	ledger: Ledger,
	entry: Entry,
): (end: Pick<Attempt, 'outcome' | 'statusCode' | 'response' | 'reason'>) => void {
	const { fingerprint, request } = entry;
	const attempt: Attempt = { by: byOf(ledger, entry.index), amount: request.amount, fingerprint };
	ledger.attempts[keyOf(ledger, entry)] = attempt;
	return ({ outcome, statusCode, response, reason }) => {
		Object.assign(attempt, { outcome, statusCode, response, reason });
	};
}

/**
 * Drops what a run that went well no longer needs: answers, and QR codes as a whole. What stays is
 * which payments were made, so that a later run of the execution does not make them again.
 */
export function settle({ attempts, kind, place }: Ledger): void {
	for (const [key, attempt] of Object.entries(attempts)) {
		const mine = key.startsWith(`${kind} `) && attempt.by.startsWith(`${place}, item `);
		if (!mine) continue;
		if (kind === 'qrCode') {
			delete attempts[key];
		} else {
			delete attempt.statusCode;
			delete attempt.response;
		}
	}
}
