import {
	NodeApiError,
	NodeOperationError,
	type IDataObject,
	type IExecuteFunctions,
	type INode,
	type INodeExecutionData,
	type JsonObject,
} from 'n8n-workflow';
import { asError, InputError } from '../../inputError';
import { continuesOnFailure } from '../agent';
import type { FailedResult } from '../item';
import { failureFactsOf } from './itemResult';
import { idsByOutcome, type Summary } from '../summary';
import { AFTER_DUPLICATE } from '../words/result';
import { doubtsInWords, othersInWords } from '../words/run';
import { joinSentences } from '../words/sentences';

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
function errorOfRequest(
	node: INode,
	itemIndex: number,
	{ message, statusCode }: FailedResult,
): NodeApiError {
	if (statusCode !== undefined) {
		return new NodeApiError(node, {} as JsonObject, {
			itemIndex,
			message,
			httpCode: String(statusCode),
		});
	}
	// Without a code n8n looks for one in the message, and an external_id may hold one.
	const error = new NodeApiError(node, {} as JsonObject, {
		itemIndex,
		message,
		httpCode: 'none',
	});
	error.httpCode = null;
	return error;
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
		doubtsInWords(summary),
	);
	const error =
		result.isFrom === 'thisPackage'
			? new NodeOperationError(node, message, { itemIndex })
			: errorOfRequest(node, itemIndex, result);
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
	const stopping = new NodeOperationError(context.getNode(), message, { itemIndex: 0 });
	inOurWords(stopping, { message, description, data });
	throw stopping;
}
