import type { Kind } from '../service/contract';
import type { Outcome } from '../service/outcome';

/** One attempt as written down: before it starts without an outcome, after it with one. */
export interface Attempt {
	/** Node, run and item that made it. */
	by: string;
	amount: number;
	outcome?: Outcome;
	statusCode?: number;
	response?: unknown;
	reason?: string;
}

/** What the ledger says about an item that is about to be sent. */
export type Verdict =
	| { do: 'send' }
	/** This very item was accepted before: its answer, not a second request. */
	| { do: 'replay'; attempt: Attempt }
	/** A payment with this external_id is out and its fate is not known. */
	| { do: 'stayUnknown'; attempt: Attempt }
	/** A payment with this external_id was accepted for another item or another amount. */
	| { do: 'refuse'; attempt: Attempt };

/** Where the attempts live: n8n's context object of the execution, saved with it. */
export interface LedgerStore {
	attempts?: Record<string, Attempt>;
}

/**
 * The attempts of one execution. n8n re-runs the WHOLE node with all items after a failure (Retry
 * On Fail, the editor's Retry), and keeps this store across both, so the ledger is what tells an
 * item that is already paid from one that is not.
 *
 * Payments are kept by external_id over all nodes, runs and items of the execution. QR codes are
 * kept by node, run and item: a second QR code harms nobody.
 */
export class Ledger {
	private readonly attempts: Record<string, Attempt>;

	/**
	 * @param store n8n's context of the execution; written to in place
	 * @param place the node's name and the run's number: loops run a node several times
	 */
	constructor(
		store: LedgerStore,
		private readonly kind: Kind,
		private readonly place: string,
	) {
		this.attempts = store.attempts ??= {};
	}

	private by(itemIndex: number): string {
		return `${this.place}, item ${itemIndex}`;
	}

	private key(itemIndex: number, external_id: string): string {
		return this.kind === 'payment'
			? `payment ${external_id}`
			: `qrCode ${this.by(itemIndex)}: ${external_id}`;
	}

	/** Whether this item may be sent, given all that was tried in this execution. */
	verdict(itemIndex: number, external_id: string, amount: number): Verdict {
		const attempt = this.attempts[this.key(itemIndex, external_id)];
		if (attempt === undefined) return { do: 'send' };
		if (this.kind === 'qrCode') {
			const same = attempt.outcome === 'accepted' && attempt.amount === amount;
			return same ? { do: 'replay', attempt } : { do: 'send' };
		}
		switch (attempt.outcome) {
			case 'rejected':
			case 'notSent':
				return { do: 'send' };
			case 'accepted':
				return attempt.by === this.by(itemIndex) && attempt.amount === amount
					? { do: 'replay', attempt }
					: { do: 'refuse', attempt };
			// Begun and never completed: n8n went away meanwhile, so nobody knows.
			default:
				return { do: 'stayUnknown', attempt };
		}
	}

	/** Writes an attempt down before its request starts. */
	begin(itemIndex: number, external_id: string, amount: number) {
		this.attempts[this.key(itemIndex, external_id)] = { by: this.by(itemIndex), amount };
	}

	/** Completes an attempt with what became of it. */
	complete(
		itemIndex: number,
		external_id: string,
		result: { outcome: Outcome; statusCode?: number; response?: unknown; reason?: string },
	) {
		const attempt = this.attempts[this.key(itemIndex, external_id)];
		if (attempt === undefined) throw new Error('An attempt is completed that was never begun');
		const { outcome, statusCode, response, reason } = result;
		Object.assign(attempt, { outcome, statusCode, response, reason });
	}

	/**
	 * Drops what a run that went well no longer needs: answers, and QR codes as a whole. What stays
	 * is which payments were made, so that a later run of the execution does not make them again.
	 */
	settle() {
		for (const [key, attempt] of Object.entries(this.attempts)) {
			const mine = key.startsWith(`${this.kind} `) && attempt.by.startsWith(`${this.place}, `);
			if (!mine) continue;
			if (this.kind === 'qrCode') delete this.attempts[key];
			else
				this.attempts[key] = { by: attempt.by, amount: attempt.amount, outcome: attempt.outcome };
		}
	}
}
