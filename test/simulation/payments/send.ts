import type { Outcome } from '../../../nodes/Pay/service/outcome';
import type { NodeProcess } from '../nodeProcess';
import type { Kind } from '../../serviceOperations';
import {
	GOOD_MEMBERS,
	MORE_IN_RECIPIENT,
	type Evaluation,
	type Options,
	type TypedItem,
} from './plan';
import { kindOf, OPERATION_FACTS, tokenOf } from './service';

/** An item as a run of an operation has it. */
export interface RunItem extends TypedItem {
	/** What is to be sent; undefined where it is refused. */
	value: number | undefined;
	/** Whether the node has to refuse it. */
	isRefused: boolean;
}

/** What an operation makes of what was typed. */
export function itemFor(kind: Kind, typed: TypedItem, isEvaluation: boolean): RunItem {
	const { goesOutOnce, hasRecipient } = OPERATION_FACTS[kind];
	const isForTest = isEvaluation && goesOutOnce;
	const mayBeAdded = hasRecipient ? [GOOD_MEMBERS, MORE_IN_RECIPIENT] : [GOOD_MEMBERS];
	return {
		...typed,
		isRefused: isForTest || typed.value === undefined || !mayBeAdded.includes(typed.members!),
	};
}

/** One run of the node's execute(), as n8n calls it: Retry On Fail makes several. */
export interface NodeRun {
	execution: { name: string; cancelled: boolean; ended: boolean };
	/** Runs whose ledger this one was given, this one included. */
	knows: Set<NodeRun>;
	process: NodeProcess;
	node: string;
	kind: Kind;
	items: RunItem[];
	options: Options;
	continues: boolean;
	/** Whether an AI agent runs the node as its tool. */
	isTool: boolean;
	evaluation: Evaluation | undefined;
	begun: number;
	ended: number | undefined;
	crashed: boolean;
	storeFailed: boolean;
	sends: Send[];
	logged: string[];
}

/** A request as it leaves the node. */
export interface RequestParts {
	url: string;
	token: string;
	body: Record<string, unknown>;
}

/** A request that the node made, and what came of it. */
export interface Send extends RequestParts {
	run: NodeRun;
	item: RunItem;
	kind: Kind;
	id: string;
	at: number;
	arrived: boolean;
	/** What the node was told, once it was: an answer's meaning, or that it failed provenly unsent. */
	outcome: Exclude<Outcome, 'duplicate'> | undefined;
	/** When the node was told. */
	endedAt: number;
	/** The HTTP status that the node heard. */
	status: number | undefined;
}

export function inWords({ id, run, at }: Send): string {
	return `"${id}" by ${run.execution.name}, ${run.node} on ${run.process.name} at ${at} ms`;
}

/** A request that a run makes now; undefined where no item asked for it. */
export function newSend(run: NodeRun, parts: RequestParts, now: number): Send | undefined {
	const kind = kindOf(parts.url);
	const item = itemOf(run, kind, parts);
	if (item === undefined) return undefined;
	return {
		url: parts.url,
		token: parts.token,
		body: parts.body,
		run,
		item,
		kind,
		id: item.id,
		at: now,
		arrived: false,
		outcome: undefined,
		endedAt: Infinity,
		status: undefined,
	};
}

/** Of a run's items with the request's external_id, the one that agrees with it in most. */
function itemOf(run: NodeRun, kind: Kind, request: RequestParts): RunItem | undefined {
	const named = run.items.filter(({ id }) => id === request.body.external_id);
	// Of equals one that was not sent; a QR code may be sent once more after a 401.
	const unsent = named.filter((item) => !run.sends.some((send) => send.item === item));
	let best: RunItem | undefined;
	let most = -1;
	for (const item of [...unsent, ...named]) {
		const agreement = agreementOf(item, run, kind, request);
		if (agreement <= most) continue;
		best = item;
		most = agreement;
	}
	return best;
}

function agreementOf(item: RunItem, run: NodeRun, kind: Kind, request: RequestParts): number {
	let agreement = 0;
	if (item.value === request.body.amount) agreement++;
	if (!OPERATION_FACTS[kind].hasRecipient || item.key === recipientOf(request)) agreement++;
	if ((item.members === MORE_IN_RECIPIENT) === (moreInRecipient(request) !== undefined))
		agreement++;
	if (request.token.startsWith(tokenOf(item.account))) agreement++;
	if (!isOptionOdd(item, run)) agreement++;
	if (!item.isRefused) agreement++;
	return agreement;
}

export function recipientOf({ body }: RequestParts): string | undefined {
	return (body.creditParty as { key?: string } | undefined)?.key;
}

/** What a request says of its recipient that the form does not have; undefined where that is nothing. */
export function moreInRecipient({ body }: RequestParts): string | undefined {
	return (body.creditParty as { account?: string } | undefined)?.account;
}

/** The Timeout of a run: that of item 0. */
export function timeoutOf({ items, options }: NodeRun): number {
	return items[0]?.timeout ?? options.timeout;
}

/** Whether an item's option is not that of item 0, which holds for the whole run. */
export function isOptionOdd(item: TypedItem, run: NodeRun): boolean {
	return (item.timeout ?? run.options.timeout) !== timeoutOf(run);
}

/** Whether a run's process stood still meanwhile. */
export function wasFrozen({ process, begun }: NodeRun): boolean {
	return process.frozenUntil >= begun || process.frozen !== undefined;
}

/**
 * Whether an earlier request was for the item that a run is about: the same place in the workflow; of
 * tools, which have no items, the same request.
 */
export function isSameItem(earlier: Send, run: NodeRun, item: RunItem): boolean {
	if (earlier.kind !== run.kind || earlier.run.isTool !== run.isTool) return false;
	if (!run.isTool) return earlier.item.place === item.place;
	const { hasRecipient } = OPERATION_FACTS[run.kind];
	const { value, key, account, members } = earlier.item;
	const isSameRecipient = !hasRecipient || (key === item.key && members === item.members);
	return isSameRecipient && value === item.value && account === item.account;
}

/** Whether the node heard of a payment that the service does not take its token. */
export function isRejectedForToken({ kind, outcome, status }: Send): boolean {
	return (
		OPERATION_FACTS[kind].goesOutOnce &&
		outcome === 'rejected' &&
		(status === 401 || status === 403)
	);
}
