import {
	type IDataObject,
	type IExecuteFunctions,
	type INode,
	type INodeExecutionData,
	type JsonObject,
	NodeApiError,
	NodeOperationError,
} from 'n8n-workflow';
import { asError, InputError } from '../base/inputError';
import { isRejectedForToken, type RequestResult } from '../service/client';
import type { ServiceOperation, ServiceRequest } from '../service/contract';
import { type Done, type FailedResult, idsByOutcome, type ItemResult, type Summary } from './item';
import {
	AFTER_DUPLICATE,
	CHECK_ITEM,
	doubtsInWords,
	joinSentences,
	notSentInWords,
	othersInWords,
	type Pace,
	rejectedInWords,
	SENT_NOTHING,
	unknownInWords,
} from './words';

/* What became of an item, as a result and as an output item; then of a run, as its tally and its error. */

/**
 * Facts and words for an item that this node does not send.
 * @param request its external_id and amount, as far as they can be read
 */
export function resultOfRefusal(
	{ kind }: Pick<ServiceOperation, 'kind'>,
	{ external_id, amount }: Partial<Pick<ServiceRequest, 'external_id' | 'amount'>>,
	error: unknown,
	end: keyof typeof SENT_NOTHING = 'notSent',
): FailedResult {
	const known = error instanceof InputError ? error : undefined;
	return {
		kind,
		outcome: end === 'notReached' ? undefined : end,
		external_id,
		amount,
		isFrom: 'thisPackage',
		field: known?.field,
		message: asError(error).message,
		description: joinSentences(SENT_NOTHING[end], known?.advice ?? CHECK_ITEM),
	};
}

/** What the words for a request say beyond the request itself. */
interface Circumstances {
	/** Whose request it was, in words, if it was made in an earlier try. */
	earlier?: string;
	/** Absent where it was made in an earlier try. */
	pace?: Pace;
}

/** Facts and words for what one request came to. */
export function resultOfAttempt(
	operation: ServiceOperation,
	request: ServiceRequest,
	requestResult: RequestResult,
	{ earlier, pace }: Circumstances = {},
): ItemResult {
	const { kind, words } = operation;
	const { external_id, amount, postbackUrl } = request;
	const { outcome, statusCode, response } = requestResult;
	if (outcome === 'accepted') return { kind, external_id, outcome, amount, statusCode, response };
	const facts = { kind, external_id, amount, isFrom: 'request', statusCode, response } as const;
	switch (outcome) {
		case 'rejected': {
			const inWords = rejectedInWords(words, external_id, requestResult, { pace, postbackUrl });
			const rejected = { ...facts, outcome, ...inWords };
			return isRejectedForToken(requestResult) ? { ...rejected, tokenRejected: true } : rejected;
		}
		case 'notSent':
			return { ...facts, outcome, ...notSentInWords(words, external_id, requestResult) };
		// No default, so that the compiler asks about a new outcome; no request ends as a duplicate.
		case 'duplicate':
		case 'unknown': {
			const unknown = unknownInWords(words, external_id, requestResult, earlier);
			return { ...facts, outcome: 'unknown', ...unknown };
		}
	}
}

/** The members of an item without those that there are none of. */
function withoutAbsent(members: Record<string, unknown>): IDataObject {
	const present = Object.entries(members).filter(([, value]) => value !== undefined);
	return Object.fromEntries(present) as IDataObject;
}

/** The facts of a result, whatever its outcome; what there is none of is left out. */
function factsOf(result: ItemResult): IDataObject {
	const { external_id, amount, kind, outcome, statusCode, response } = result;
	return withoutAbsent({
		external_id,
		amount,
		kind,
		outcome,
		statusCode,
		tokenRejected: result.outcome === 'accepted' ? undefined : result.tokenRejected,
		response,
	});
}

/** The field at fault, as a member of its own; an error that is about no field has an empty one. */
function faultOf({ field }: FailedResult): IDataObject {
	return field === undefined || field === '' ? {} : { field };
}

/** All that is known of a failure but the words for it. */
function failureFactsOf(result: FailedResult): IDataObject {
	return { ...factsOf(result), ...faultOf(result) };
}

/** Where n8n passes on the items that failed, in a node that goes on after a failure. */
type OutputOfFailures = 'errorOutput' | 'regularOutput';

/** Where a node passes on the items that failed, if it goes on after a failure. */
export function outputOfFailures({ onError }: INode): OutputOfFailures {
	return onError === 'continueErrorOutput' ? 'errorOutput' : 'regularOutput';
}

/**
 * The output item of a result. An accepted one never has `error` at its top: n8n would run the node again
 * (Retry On Fail). A failed one in the regular output has the members of an accepted one and `error`. On its
 * way to the error output `error` is its only member, because that alone sends it there.
 */
export function toOutputItem(
	result: ItemResult,
	item: number,
	output: OutputOfFailures,
): INodeExecutionData {
	const pairedItem = { item };
	if (result.outcome === 'accepted') return { json: factsOf(result), pairedItem };
	const { message, description } = result;
	if (output === 'errorOutput') {
		return { json: { error: { message, description, ...failureFactsOf(result) } }, pairedItem };
	}
	const error = { message, description, ...faultOf(result) };
	return { json: { ...factsOf(result), error }, pairedItem };
}

/** What has become of the items of a run so far. */
export interface Tally extends Summary {
	readonly node: INode;
	/** Whether failures become items; else the first one stops the node. */
	readonly continuesOnFailure: boolean;
	/** Only {@link addResults} adds to it. */
	readonly done: Done[];
	/** Whether one of `done` has failed: that list is too long to look through it after each item. */
	hasFailed: boolean;
	readonly remaining: Map<number, string>;
	/** The external_ids whose requests were sent and of which `done` says nothing yet. */
	readonly inFlight: Set<string>;
	/** For the person in the editor. */
	readonly hints: Set<string>;
	/** What an acceptance says that its request did not: a stopped run says it too. */
	readonly doubts: Set<string>;
	/** Hints about single items, with the external_ids of those that were sent. */
	readonly itemHints: Map<string, string[]>;
	/** Whether an item of the batch under way failed and the run does not go on. */
	isStopping: boolean;
	/** How many characters of responses the run keeps. */
	responseLength: number;
}

/** A tally of a run of which nothing is known but how many items it has. */
export function openTally(
	node: INode,
	operation: Summary['operation'],
	items: number,
	continuesOnFailure: boolean,
): Tally {
	return {
		node,
		operation,
		items,
		continuesOnFailure,
		done: [],
		hasFailed: false,
		remaining: new Map(),
		inFlight: new Set(),
		hints: new Set(),
		doubts: new Set(),
		itemHints: new Map(),
		isStopping: false,
		responseLength: 0,
	};
}

/** Writes results down. */
export function addResults(tally: Tally, results: readonly Done[]): void {
	// One by one: a list is longer than what a call takes as arguments.
	for (const done of results) {
		const { index, result } = done;
		tally.done.push(done);
		tally.remaining.delete(index);
		if (result.external_id !== undefined) tally.inFlight.delete(result.external_id);
		if (result.outcome !== 'accepted') tally.hasFailed = true;
	}
}

/** A failure and the place of its item. */
interface Failure {
	index: number;
	result: FailedResult;
}

/** The failures of a run, in the order of its items. */
function failuresOf({ done }: Tally): Failure[] {
	const failures: Failure[] = [];
	for (const { index, result } of done) {
		if (result.outcome !== 'accepted') failures.push({ index, result });
	}
	return failures.sort((a, b) => a.index - b.index);
}

/**
 * Throws at a failure unless the run goes on: the one place that does. An unknown payment is reported
 * before any other failure, and what was not reached behind all of them.
 */
export function throwIfFailed(tally: Tally): void {
	if (tally.continuesOnFailure || !tally.hasFailed) return;
	const failures = failuresOf(tally);
	const worst =
		failures.find(({ result }) => result.outcome === 'unknown') ??
		failures.find(({ result }) => result.outcome !== undefined) ??
		failures[0];
	if (worst !== undefined) throw stoppingError(tally.node, worst, tally);
}

/**
 * n8n rewrites messages in which it finds a network code or an HTTP status and advises a retry, which
 * is wrong for money; an external_id can hold such a code. Ours stay as they are.
 */
function inOurWords(
	error: NodeApiError | NodeOperationError,
	{ message, description, data }: { message: string; description?: string; data: IDataObject },
): void {
	// The editor shows stacks; where in our code it happened helps nobody there.
	const stack = `${error.name}: ${message}`;
	Object.assign(error, { message, description, messages: [], stack });
	error.context.data = data;
}

/** n8n's error for a request that failed. */
function errorOfRequest(node: INode, { message, statusCode }: FailedResult): NodeApiError {
	// Without a code n8n looks for one in the message, and an external_id may hold one.
	const httpCode = statusCode === undefined ? 'none' : String(statusCode);
	const error = new NodeApiError(node, {} as JsonObject, { message, httpCode });
	if (statusCode === undefined) error.httpCode = null;
	return error;
}

/**
 * The error that stops the node for one failure; its context holds all external_ids of the run. The description
 * says which item it is about. With n8n's `itemIndex`, the editor would add "[item 1]" to "line 2 of the list",
 * and people look for two items.
 */
function stoppingError(
	node: INode,
	{ index, result }: Failure,
	summary: Summary,
): NodeApiError | NodeOperationError {
	const { message } = result;
	const isDuplicate = result.outcome === 'duplicate';
	const description = joinSentences(
		result.description,
		isDuplicate ? AFTER_DUPLICATE : undefined,
		othersInWords(summary, index),
		doubtsInWords(summary),
	);
	const error =
		result.isFrom === 'thisPackage'
			? new NodeOperationError(node, message)
			: errorOfRequest(node, result);
	inOurWords(error, { message, description, data: failureFactsOf(result) });
	error.context.externalIds = idsByOutcome(summary);
	return error;
}

/**
 * Ends an operation in which nothing was sent for any item: throws, or under "continue" each item says
 * so, because n8n passes the input on when a node throws, which looks like a success.
 */
export function failAll(context: IExecuteFunctions, error: unknown): INodeExecutionData[][] {
	const { message } = asError(error);
	const { advice: description, field } = error instanceof InputError ? error : {};
	const data = field === undefined ? {} : { field };
	if (continuesOnFailure(context)) {
		const failure = { message, description, ...data };
		const items = context.getInputData();
		return [items.map((_, item) => ({ json: { error: failure }, pairedItem: { item } }))];
	}
	const stopping = new NodeOperationError(context.getNode(), message);
	inOurWords(stopping, { message, description, data });
	throw stopping;
}

/** An AI agent's tool has a separate node type in n8n, whose name ends in Tool. */
export function isRunByAiAgent(context: IExecuteFunctions): boolean {
	return context.getNode().type.endsWith('Tool') || context.isToolExecution?.() === true;
}

/**
 * Whether failures become items. For an agent they always do: older agents learn nothing of an error
 * that is thrown, and the model may believe that it has paid.
 */
export function continuesOnFailure(context: IExecuteFunctions): boolean {
	return isRunByAiAgent(context) || context.continueOnFail();
}
