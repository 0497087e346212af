import type { Exchange } from './journal';
import type { Postback } from './postbacks';

/** What a transaction came to. */
export type Status = 'waiting' | 'paid' | 'failed';

/** What came of a request that the sandbox took, with what it reported about it. */
export interface Transaction {
	id: string;
	kind: string;
	/** What people call it. */
	noun: string;
	/** Whether a request of its kind can name an address for postbacks. */
	isReported: boolean;
	external_id: string;
	amount?: number;
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
