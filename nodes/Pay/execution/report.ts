import {
	NodeApiError,
	NodeOperationError,
	type IDataObject,
	type INode,
	type INodeExecutionData,
	type JsonObject,
} from 'n8n-workflow';
import type { Kind } from '../service/contract';
import type { Answer } from '../service/client';
import type { Outcome } from '../service/outcome';

/** What became of one item, in facts and in words. */
export interface Result {
	kind: Kind;
	outcome: Outcome;
	external_id?: string;
	amount?: number;
	statusCode?: number;
	response?: unknown;
	/** Whether the item was refused by this node, before any request. */
	refused?: true;
	/** What happened; absent for accepted items. */
	message?: string;
	/** What was and was not sent, and what to do. */
	description?: string;
}

const NOUN: Record<Kind, string> = { qrCode: 'QR code', payment: 'payment' };

function quoted(text: string): string {
	return text.length > 500 ? `"${text.slice(0, 500)}…"` : `"${text}"`;
}

function serviceSaid(response: unknown): string {
	if (response === undefined || response === '') return '';
	const text = typeof response === 'string' ? response : JSON.stringify(response);
	return ` The service said: ${quoted(text)}`;
}

function correction(statusCode: number): string {
	if (statusCode === 401 || statusCode === 403) {
		return 'Check the Access Token of the Pay API credential, then run again.';
	}
	if (statusCode === 404) {
		return 'Check the Base URL of the Pay API credential, then run again.';
	}
	if (statusCode === 429) return 'Wait a while and use smaller batches, then run again.';
	if (statusCode < 400) {
		return 'It redirected the request, and redirects are never followed, because they would carry the access token elsewhere. Check the Base URL of the Pay API credential.';
	}
	return 'Correct the item, then run again.';
}

/** Words for an item that was refused before any request. */
export function refusedResult(
	kind: Kind,
	facts: { external_id?: string; amount?: number },
	message: string,
	advice: string,
): Result {
	return {
		kind,
		outcome: 'notSent',
		refused: true,
		...facts,
		message,
		description: `Nothing was sent for this item. ${advice}`,
	};
}

/** Words for a payment whose answer was lost, now or in an earlier try. */
function unknownPayment(
	external_id: string,
	what: string,
): Pick<Result, 'message' | 'description'> {
	return {
		message: `It is not known whether payment "${external_id}" was made`,
		description: `The request was sent, but ${what}. Ask the service whether "${external_id}" was paid before you pay again: this node does not send it a second time.`,
	};
}

/** Facts and words for what one request came to. */
export function answeredResult(
	kind: Kind,
	request: { external_id: string; amount: number },
	{ outcome, statusCode, response, reason }: Answer,
): Result {
	const { external_id, amount } = request;
	const facts = { kind, outcome, external_id, amount, statusCode, response };
	const noun = NOUN[kind];
	switch (outcome) {
		case 'accepted':
		case 'duplicate':
			return facts;
		case 'rejected':
			return {
				...facts,
				message: `The service rejected ${noun} "${external_id}" (HTTP ${statusCode})`,
				description: `The request was sent and refused. ${correction(statusCode ?? 0)}${serviceSaid(response)}`,
			};
		case 'notSent':
			return {
				...facts,
				message: `The ${noun} "${external_id}" was not sent: ${reason}`,
				description:
					'Nothing reached the service. Check the Base URL of the Pay API credential and the network, then run again.',
			};
		case 'unknown': {
			const what =
				statusCode === undefined
					? `no complete answer came: ${reason}`
					: `the service answered HTTP ${statusCode}, which does not say what it did.${serviceSaid(response)}`;
			if (kind === 'payment') return { ...facts, ...unknownPayment(external_id, what) };
			return {
				...facts,
				message: `It is not known whether QR code "${external_id}" was created`,
				description: `The request was sent, but ${what}. It is safe to create the QR code again.`,
			};
		}
	}
}

/** Words for a payment of this execution that is out and must not go out again. */
export function stillUnknownResult(
	external_id: string,
	amount: number,
	earlier: { by: string; statusCode?: number; response?: unknown; reason?: string },
): Result {
	const { statusCode, response } = earlier;
	const what = `an earlier try in this execution (${earlier.by}) ended without a clear answer`;
	return {
		kind: 'payment',
		outcome: 'unknown',
		external_id,
		amount,
		statusCode,
		response,
		...unknownPayment(external_id, what),
	};
}

/** The output item of an accepted request; `error` never appears at its top (n8n would retry). */
export function acceptedItem(result: Result, item: number): INodeExecutionData {
	const { external_id, amount, kind, outcome, statusCode, response } = result;
	return {
		json: { external_id, amount, kind, outcome, statusCode, response } as IDataObject,
		pairedItem: { item },
	};
}

function errorFacts(result: Result): IDataObject {
	const { external_id, kind, outcome, statusCode, response } = result;
	const facts = { external_id, kind, outcome, statusCode, response };
	return Object.fromEntries(
		Object.entries(facts).filter(([, value]) => value !== undefined),
	) as IDataObject;
}

/** The output item of a failure under "continue": `error` is its only key (n8n's facts demand it). */
export function failedItem(result: Result, item: number): INodeExecutionData {
	const { message, description } = result;
	return {
		json: { error: { message, description, ...errorFacts(result) } },
		pairedItem: { item },
	};
}

/**
 * The error that stops the node.
 * @param summary what became of the other items
 */
export function stoppingError(
	node: INode,
	result: Result,
	itemIndex: number,
	summary: string,
): NodeApiError | NodeOperationError {
	const message = result.message ?? 'The item failed';
	const description = [result.description, summary].filter(Boolean).join(' ');
	const error = result.refused
		? new NodeOperationError(node, message, { description, itemIndex })
		: new NodeApiError(node, {} as JsonObject, {
				message,
				description,
				itemIndex,
				httpCode: result.statusCode === undefined ? 'none' : String(result.statusCode),
			});
	// n8n rewrites messages in which it finds a network code or an HTTP status and advises a retry,
	// which is wrong for money; an external_id can hold such a code. Ours stand as they are.
	error.message = message;
	error.description = description;
	error.messages = [];
	// The editor shows stacks; where in our code it happened helps nobody there.
	error.stack = `${error.name}: ${message}`;
	if (error instanceof NodeApiError && result.statusCode === undefined) error.httpCode = null;
	error.context.data = errorFacts(result);
	return error;
}
