import type { IDataObject, INode, INodeExecutionData } from 'n8n-workflow';
import { asError, InputError } from '../base/inputError';
import { isRejectedForToken, type RequestResult } from '../service/client';
import type { ServiceOperation, ServiceRequest } from '../service/contract';
import type { FailedResult, ItemResult } from './item';
import {
	CHECK_ITEM,
	joinSentences,
	notSentInWords,
	type Pace,
	rejectedInWords,
	SENT_NOTHING,
	unknownInWords,
} from './words';

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
export function failureFactsOf(result: FailedResult): IDataObject {
	return { ...factsOf(result), ...faultOf(result) };
}

/** Where n8n passes on the items that failed, in a node that goes on after a failure. */
export type OutputOfFailures = 'errorOutput' | 'regularOutput';

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
