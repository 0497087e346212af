import type { BinaryHelperFunctions, INodeExecutionData } from 'n8n-workflow';
import type { Account } from '../account/account';
import type { Expectation } from '../postback/waiting';
import type { RequestResult } from '../service/client';
import type { ServiceOperation, ServiceRequest } from '../service/contract';
import type { Outcome } from '../service/outcome';

/* An item on its way through a run: as it may be sent, and what became of it. */

/** Adds to the output item of an accepted request, or gives a hint. It may throw. */
export type Finish = (
	item: INodeExecutionData,
	prepareBinaryData: BinaryHelperFunctions['prepareBinaryData'],
) => Promise<string | undefined>;

/** An item that may be sent. */
export interface Ready {
	index: number;
	request: ServiceRequest;
	account: Account;
	/** Whose money it is, for sums: a hash over where requests go and in whose name. */
	accountId: string;
	/** Tells pasted tokens apart; empty where tokens are fetched. */
	tokenId: string;
	/** A hash of all that tells the request from another. */
	fingerprint: string;
	/** Whether an expression gives some of its Additional Members. */
	membersMayChange: boolean;
	/** The postback that this execution may wait for. */
	expectation?: Expectation;
	finish?: Finish;
	/** What a person should know of its postback, and of the item itself: shown only if it is sent. */
	hints?: { postback?: string; item?: string };
}

/** What became of an item whose request was accepted. */
export interface AcceptedResult {
	kind: string;
	outcome: 'accepted';
	external_id: string;
	amount: number;
	statusCode?: number;
	response?: unknown;
}

/** What became of any other item, in facts and in words. */
export interface FailedResult {
	kind: string;
	/** Absent where the run did not come to the item: an earlier one may have sent it. */
	outcome?: Exclude<Outcome, 'accepted'>;
	/** Absent where the item has none that can be read; the amount too. */
	external_id?: string;
	amount?: number;
	/** Who says so: this package, which refused the item, or what came of its request. */
	isFrom: 'thisPackage' | 'request';
	statusCode?: number;
	/** Whether its token was rejected, so that a gateway may have said it of what was carried out; absent elsewhere. */
	tokenRejected?: true;
	response?: unknown;
	/** The field at fault, of an item that this package refused. */
	field?: string;
	/** What happened. */
	message: string;
	/** What was and was not sent, and what to do. */
	description: string;
}

/** What became of an item. */
export type ItemResult = AcceptedResult | FailedResult;

/**
 * An item that has a result: there is nothing left to do but to report it. Where a function gives this or
 * undefined, undefined means that the item goes on.
 */
export interface Done {
	index: number;
	result: ItemResult;
	/** Called where it was accepted. */
	finish?: Finish;
}

/** Some items after a step of the run. */
export interface Step {
	ready: Ready[];
	done: Done[];
}

/** Where an attempt was made: in an AI agent's tool, which has no items, or for an item of a node's run. */
export type Place =
	| { isTool: true; node: string }
	| { isTool: false; node: string; run: string; item: number };

/** One attempt as written down: before its request starts without an outcome, after it with one. */
export interface Attempt extends Partial<RequestResult> {
	/** Its operation's kind. */
	kind: string;
	external_id: string;
	place: Place;
	amount: number;
	/** Of the request, see `Ready`. */
	fingerprint: string;
	/** The editor's Retry is another execution with the same list. */
	executionId: string;
}

/**
 * What a run says of an item: what became of it, or that the run did not come to it. That is no outcome:
 * an earlier run may have sent the item.
 */
export type End = Outcome | 'notReached';

/** The items of a run by what became of them, see `Tally`. */
export interface Summary {
	readonly items: number;
	readonly operation: Pick<ServiceOperation, 'words'>;
	readonly done: ReadonlyArray<{
		index: number;
		result: { outcome?: Outcome; external_id?: string };
	}>;
	/** What acceptances say that their requests did not, in sentences. */
	readonly doubts: ReadonlySet<string>;
	/** The external_ids of items that were read and have no result yet, by index. */
	readonly remaining: ReadonlyMap<number, string>;
}

/** Every external_id of a run by outcome, and those that it did not come to. */
export function idsByOutcome({
	done,
	remaining,
}: Pick<Summary, 'done' | 'remaining'>): Record<End, string[]> {
	const ids: Record<End, string[]> = {
		accepted: [],
		rejected: [],
		duplicate: [],
		notSent: [],
		unknown: [],
		notReached: [],
	};
	for (const { result } of done) {
		const { external_id, outcome = 'notReached' } = result;
		if (external_id !== undefined) ids[outcome].push(external_id);
	}
	for (const external_id of remaining.values()) ids.notReached.push(external_id);
	return ids;
}
