import {
	NodeApiError,
	NodeOperationError,
	type IDataObject,
	type IExecuteFunctions,
	type INode,
	type INodeExecutionData,
	type JsonObject,
} from 'n8n-workflow';
import { asError, InputError } from '../inputError';
import type { RequestResult } from '../service/client';
import type { ServiceOperation, ServiceRequest } from '../service/contract';
import type { Outcome } from '../service/outcome';
import { idsByOutcome, type Summary } from './summary';
import {
	AFTER_DUPLICATE,
	CHECK_ITEM,
	notSentInWords,
	rejectedInWords,
	SENT_NOTHING,
	unknownInWords,
} from './words/result';
import { othersInWords } from './words/run';
import { joinSentences } from './words/sentences';

/** What became of an item whose request was accepted. */
export interface AcceptedResult {
	kind: string;
	outcome: 'accepted';
	external_id: string;
	amount?: number;
	statusCode?: number;
	response?: unknown;
}

/** What became of any other item, in facts and in words. */
export interface FailedResult {
	kind: string;
	/** Absent where the run did not come to the item: an earlier one may have sent it. */
	outcome?: Exclude<Outcome, 'accepted'>;
	/** Absent where the item has none that can be read. */
	external_id?: string;
	statusCode?: number;
	response?: unknown;
	/** The field at fault, of an item that this node refused. */
	field?: string;
	/** What happened. */
	message: string;
	/** What was and was not sent, and what to do. */
	description: string;
}

export type ItemResult = AcceptedResult | FailedResult;

/** Facts and words for an item that this node does not send; its external_id, if that can be read. */
export function resultOfRefusal(
	kind: string,
	external_id: string | undefined,
	error: unknown,
	end: keyof typeof SENT_NOTHING = 'notSent',
): FailedResult {
	const known = error instanceof InputError ? error : undefined;
	return {
		kind,
		outcome: end === 'notReached' ? undefined : end,
		external_id,
		field: known?.field ?? '',
		message: asError(error).message,
		description: joinSentences(SENT_NOTHING[end], known?.advice ?? CHECK_ITEM),
	};
}

/**
 * Facts and words for what one request came to.
 * @param earlier whose request it was, in words, if it was made in an earlier try
 */
export function resultOfAttempt(
	operation: ServiceOperation,
	request: ServiceRequest,
	requestResult: RequestResult,
	earlier?: string,
): ItemResult {
	const { kind, words } = operation;
	const { external_id, amount } = request;
	const { outcome, statusCode, response } = requestResult;
	const facts = { kind, external_id, statusCode, response };
	switch (outcome) {
		case 'accepted':
			return { ...facts, outcome, amount };
		case 'rejected':
			return { ...facts, outcome, ...rejectedInWords(words, external_id, requestResult) };
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

/** The facts of a result, as an item has them; what there is none of is left out. */
function factsOf(result: ItemResult): IDataObject {
	const { external_id, kind, outcome, statusCode, response } = result;
	const amount = outcome === 'accepted' ? result.amount : undefined;
	const field = outcome === 'accepted' ? undefined : result.field || undefined;
	const facts = { external_id, amount, kind, outcome, statusCode, response, field };
	return Object.fromEntries(
		Object.entries(facts).filter(([, value]) => value !== undefined),
	) as IDataObject;
}

/**
 * The output item of a result. `error` never appears at the top of an accepted one (n8n would retry),
 * and is the only key of a failed one (n8n sends it to the error output then).
 */
export function toOutputItem(result: ItemResult, item: number): INodeExecutionData {
	const facts = factsOf(result);
	if (result.outcome === 'accepted') return { json: facts, pairedItem: { item } };
	const { message, description } = result;
	return { json: { error: { message, description, ...facts } }, pairedItem: { item } };
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

/** The error that stops the node for one failure; its context holds all external_ids of the run. */
export function stoppingError(
	node: INode,
	{ index: itemIndex, result }: { index: number; result: FailedResult },
	summary: Summary,
): NodeApiError | NodeOperationError {
	const { message } = result;
	const isDuplicate = result.outcome === 'duplicate';
	const description = joinSentences(
		result.description,
		isDuplicate ? AFTER_DUPLICATE : undefined,
		othersInWords(summary, itemIndex),
		...summary.doubts,
	);
	const error =
		result.field !== undefined
			? new NodeOperationError(node, message, { itemIndex })
			: new NodeApiError(node, {} as JsonObject, {
					itemIndex,
					message,
					httpCode: result.statusCode === undefined ? 'none' : String(result.statusCode),
				});
	inOurWords(error, { message, description, data: factsOf(result) });
	if (error instanceof NodeApiError && result.statusCode === undefined) error.httpCode = null;
	error.context.externalIds = idsByOutcome(summary);
	return error;
}

/** An AI agent's tool has a separate node type in n8n, whose name ends in Tool. */
export function isRunByAiAgent(context: IExecuteFunctions): boolean {
	return context.getNode().type.endsWith('Tool') || context.isToolExecution?.() === true;
}

/**
 * Whether failures become items. For an agent they always do: older agents learn nothing of an error
 * that is thrown, and the model may believe that it has paid.
 */
export function goesOn(context: IExecuteFunctions): boolean {
	return isRunByAiAgent(context) || context.continueOnFail();
}

/**
 * Ends an operation in which nothing was sent for any item: throws, or under "continue" each item says
 * so, because n8n passes the input on when a node throws, which looks like a success.
 */
export function failAll(context: IExecuteFunctions, error: unknown): INodeExecutionData[][] {
	const { message } = asError(error);
	const { advice: description, field } = error instanceof InputError ? error : {};
	const data = field === undefined ? {} : { field };
	if (goesOn(context)) {
		const failure = { message, description, ...data };
		const items = context.getInputData();
		return [items.map((_, item) => ({ json: { error: failure }, pairedItem: { item } }))];
	}
	const stopping = new NodeOperationError(context.getNode(), message, { itemIndex: 0 });
	inOurWords(stopping, { message, description, data });
	throw stopping;
}
