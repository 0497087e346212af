import type { Kind } from '../nodes/Pay/operations';
import type { Exchange } from './journal';
import type { Postback } from './postbacks';

/** What a transaction came to. */
export type Status = 'waiting' | 'paid' | 'failed';

/** A charge or payment that the sandbox took, with what it reported about it. */
export interface Transaction {
	id: string;
	kind: Kind;
	external_id: string;
	amount: number;
	payerQuestion?: string;
	status: Status;
	/** The statuses it came to, oldest first. */
	changes: Array<{ at: string; status: Status }>;
	postbackUrl?: string;
	qrCode?: string;
	postbacks: Postback[];
	/** The request that made it, and its response. */
	exchange: Exchange;
	/** 1 for the first of its kind with this external_id, 2 for the second. */
	occurrence: number;
}
