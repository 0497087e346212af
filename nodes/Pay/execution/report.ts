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
import { proxyPageIn, UNPUBLISHED } from '../service/page';
import type { Outcome } from '../service/outcome';
import { idsByOutcome, othersInWords, type Summary } from './summary';

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
	outcome: Exclude<Outcome, 'accepted'>;
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

function quoted(text: string): string {
	return text.length > 500 ? `"${text.slice(0, 500)}…"` : `"${text}"`;
}

function responseInWords(response: unknown): string {
	if (response === undefined || response === '') return '';
	const page = proxyPageIn(response);
	if (page !== undefined) {
		return ` The response looks like a page of ${page.by} on the way, not like one of the service: ${quoted(page.text)}`;
	}
	const text = typeof response === 'string' ? response : JSON.stringify(response);
	return ` The response said: ${quoted(text)}`;
}

function correction(statusCode: number, external_id: string, response: unknown): string {
	if (proxyPageIn(response)?.wantsHttps) {
		return 'Write https:// at the start of the Base URL of the Pay API credential, then run again.';
	}
	if (response === UNPUBLISHED) {
		return 'Publish the workflow that plays the service (n8n 1: reload the page, then Active), then run again.';
	}
	switch (statusCode) {
		case 401:
			return 'Check the token of the Pay API credential, then run again. A token that was fetched is discarded: the next request gets a new one.';
		case 403:
			return 'Check the token of the Pay API credential, and whether the service takes requests only from addresses on an allow-list: n8n may leave by IPv6 or through a proxy. Then run again.';
		case 404:
		case 405:
			return 'Check the Base URL and the Scheme Name in Paths of the Pay API credential, then run again.';
		case 409:
			return `This status means a conflict: ask the service whether it knows "${external_id}" already.`;
		case 429:
			return 'Wait a while and use smaller batches, then run again.';
	}
	if (statusCode < 400) {
		return 'The request was redirected, and redirects are never followed, because they would carry the access token elsewhere. Check the Base URL of the Pay API credential.';
	}
	return 'Correct the item, then run again.';
}

/** Facts and words for an item that this node does not send; its external_id, if that can be read. */
export function refusedResult(
	kind: string,
	external_id: string | undefined,
	error: unknown,
	outcome: 'notSent' | 'duplicate' = 'notSent',
): FailedResult {
	const known = error instanceof InputError ? error : undefined;
	const advice =
		known?.advice ?? 'Check the parameters of this item and the credential, then run again.';
	return {
		kind,
		outcome,
		external_id,
		field: known?.field ?? '',
		message: asError(error).message,
		description: `${outcome === 'duplicate' ? 'This item was not sent now.' : 'Nothing was sent for this item.'} ${advice}`,
	};
}

/** Words for a request whose response was lost, now or in an earlier try. */
function unknownInWords({ words }: ServiceOperation, external_id: string, what: string) {
	const { noun, pastParticiple, whenUnknown } = words;
	const { warning, advice } = whenUnknown;
	const sentences = [warning, `The request was sent, but ${what}.`, advice(external_id)];
	return {
		message: `It is not known whether ${noun} "${external_id}" was ${pastParticiple}`,
		description: sentences.filter((sentence) => sentence !== undefined).join(' '),
	};
}

function whyUnknown({ words }: ServiceOperation, result: RequestResult): string {
	const { statusCode, response, reason } = result;
	if (statusCode === undefined)
		return `no complete response came: ${reason ?? 'n8n ended meanwhile, or the request is still under way'}`;
	const which =
		reason ??
		(statusCode === 409
			? `which services give to a ${words.noun} that they know already or are working on`
			: 'which does not say what the service did');
	return `the response, from the service or a proxy on the way, was HTTP ${statusCode}, ${which}.${responseInWords(response)}`;
}

/**
 * Facts and words for what one request came to.
 * @param earlier whose request it was, in words, if it was made in an earlier try
 */
export function attemptedResult(
	operation: ServiceOperation,
	request: ServiceRequest,
	attempted: RequestResult,
	earlier?: string,
): ItemResult {
	const { external_id, amount } = request;
	const { outcome, statusCode, response, reason } = attempted;
	const { kind, words } = operation;
	const { noun } = words;
	const facts = { kind, external_id, statusCode, response };
	const said = responseInWords(response);
	switch (outcome) {
		case 'accepted':
			return { ...facts, outcome, amount };
		case 'rejected':
			return {
				...facts,
				outcome,
				message: `The service rejected ${noun} "${external_id}" (HTTP ${statusCode})`,
				description: `The request was sent and refused, by the service or a proxy on the way.${said && `${said}.`} ${correction(statusCode ?? 0, external_id, response)}`,
			};
		case 'notSent':
			return {
				...facts,
				outcome,
				message: `The ${noun} "${external_id}" was not sent: ${reason}`,
				description:
					'The service did not get the whole request, so it cannot have carried it out. Check the Base URL of the Pay API credential and the network, then run again.',
			};
		// No default, so that the compiler asks about a new outcome; no request ends as a duplicate.
		case 'duplicate':
		case 'unknown': {
			const when = earlier ? `in an earlier try in this execution (${earlier}) ` : '';
			const words = unknownInWords(operation, external_id, when + whyUnknown(operation, attempted));
			return { ...facts, outcome: 'unknown', ...words };
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

/** A list that is run again stops at its first duplicate, and a sub-workflow hides its first failure behind one. */
const ONCE_SENT =
	'Its first outcome is that of the earlier try. To send the rest of a list that was partly sent, set On Error to Continue, then look at the outcome of each item.';

/** The error that stops the node for one failure; its context holds all external_ids of the run. */
export function stoppingError(
	node: INode,
	{ index: itemIndex, result }: { index: number; result: FailedResult },
	summary: Summary,
): NodeApiError | NodeOperationError {
	const { message } = result;
	const isDuplicate = result.outcome === 'duplicate';
	const said = [
		result.description,
		isDuplicate ? ONCE_SENT : '',
		othersInWords(summary, itemIndex),
	];
	const description = said.filter((words) => words !== '').join(' ');
	const error =
		result.field !== undefined
			? new NodeOperationError(node, message, { itemIndex })
			: new NodeApiError(node, {} as JsonObject, {
					...{ itemIndex, message },
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
