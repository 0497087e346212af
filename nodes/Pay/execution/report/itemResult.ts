import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { asError, InputError } from '../../inputError';
import { isRejectedForToken, type RequestResult } from '../../service/client';
import type { ServiceOperation, ServiceRequest } from '../../service/contract';
import type { FailedResult, ItemResult } from '../item';
import {
	CHECK_ITEM,
	notSentInWords,
	rejectedInWords,
	SENT_NOTHING,
	unknownInWords,
} from '../words/result';
import type { Pace } from '../words/pace';
import { joinSentences } from '../words/sentences';

/** Facts and words for an item that this node does not send; its external_id, if that can be read. */
export function resultOfRefusal(
	{ kind }: Pick<ServiceOperation, 'kind'>,
	external_id: string | undefined,
	error: unknown,
	end: keyof typeof SENT_NOTHING = 'notSent',
): FailedResult {
	const known = error instanceof InputError ? error : undefined;
	return {
		kind,
		outcome: end === 'notReached' ? undefined : end,
		external_id,
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
	const facts = { kind, external_id, isFrom: 'request', statusCode, response } as const;
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

/** The facts of a result, as an item has them; what there is none of is left out. */
export function factsOf(result: ItemResult): IDataObject {
	const { external_id, kind, outcome, statusCode, response } = result;
	const accepted = outcome === 'accepted' ? result : undefined;
	const failed = outcome === 'accepted' ? undefined : result;
	const facts = {
		external_id,
		amount: accepted?.amount,
		kind,
		outcome,
		statusCode,
		tokenRejected: failed?.tokenRejected,
		response,
		// An error that is about no field has an empty one.
		field: failed?.field || undefined,
	};
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
