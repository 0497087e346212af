import { isJsonObject } from '../json';
import { isSameAmount } from '../service/amounts';
import type { RequestResult } from '../service/client';
import type { ServiceRequest } from '../service/contract';
import type { Ready } from './read';
import type { Tally } from './tally';
import { otherAmountInResponse, otherIdInResponse } from './words/result';

/* What a run notes of a request beside its result. None of it throws: the request was sent. */

/** Characters of all responses of a run; n8n cannot store an execution of some hundred millions. */
const MOST_CHARACTERS = 50_000_000;

/** Leaves out a response that is too large to keep beside those of the items before it. */
export function withoutLargeResponse(tally: Tally, result: RequestResult): RequestResult {
	const { response } = result;
	if (response === undefined) return result;
	tally.responseLength += JSON.stringify(response).length;
	if (tally.responseLength <= MOST_CHARACTERS) return result;
	return { ...result, response: '(left out: the responses of this run are too large to keep)' };
}

/** Notes the hints of an item that was sent. */
export function noteHints(tally: Tally, { request, hints = {} }: Ready): void {
	if (hints.postback !== undefined) tally.hints.add(hints.postback);
	if (hints.item === undefined) return;
	const ids = tally.itemHints.get(hints.item) ?? [];
	ids.push(request.external_id);
	tally.itemHints.set(hints.item, ids);
}

/** What can be compared with an amount or identifier. */
function isTextOrNumber(value: unknown): value is string | number {
	return typeof value === 'string' || typeof value === 'number';
}

/** Compares an acceptance with its request, as far as it repeats members of that at its top. */
export function compareResponse(
	{ doubts, operation }: Tally,
	request: Pick<ServiceRequest, 'external_id' | 'amount'>,
	response: unknown,
): void {
	if (!isJsonObject(response)) return;
	const { external_id, amount: requested } = request;
	const { amount, external_id: id } = response;
	if (requested !== undefined && isTextOrNumber(amount) && !isSameAmount(amount, requested)) {
		doubts.add(otherAmountInResponse(external_id, String(amount), requested));
	}
	if (isTextOrNumber(id) && String(id).trim() !== external_id) {
		const hasPostback = Object.hasOwn(operation.members, 'postbackUrl');
		doubts.add(otherIdInResponse(external_id, String(id), hasPostback));
	}
}
