import type { IExecuteFunctions } from 'n8n-workflow';
import { isJsonObject } from '../base/json';
import { logWarning } from '../base/log';
import { shortened } from '../base/text';
import { isSameAmount } from '../service/amounts';
import type { RequestResult } from '../service/client';
import type { ServiceRequest } from '../service/contract';
import { inOneForm } from '../service/paths';
import { idsByOutcome, type Ready } from './item';
import type { Tally } from './report';
import {
	failuresInWords,
	otherAddressInResponse,
	otherAmountInResponse,
	otherIdInResponse,
	quotedIds,
	stoppedInWords,
} from './words';

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

/** The members of a response that may repeat what its request said (section 2). */
const REPEATED_MEMBERS = ['amount', 'external_id', 'postbackUrl'] as const;
type RepeatedMember = (typeof REPEATED_MEMBERS)[number];

/** Collects the texts and numbers of such members, at any depth: some services wrap what they repeat. */
function collectRepeated(value: unknown, found: Map<RepeatedMember, Array<string | number>>): void {
	if (typeof value !== 'object' || value === null) return;
	for (const member of Object.values(value)) collectRepeated(member, found);
	if (!isJsonObject(value)) return;
	for (const name of REPEATED_MEMBERS) {
		const repeated = Object.hasOwn(value, name) ? value[name] : undefined;
		if (typeof repeated !== 'string' && typeof repeated !== 'number') continue;
		// An empty text says nothing, as a member that is not there.
		if (String(repeated).trim() === '') continue;
		const values = found.get(name);
		if (values === undefined) found.set(name, [repeated]);
		else values.push(repeated);
	}
}

/** As much of a value as a person reads. */
const MOST_SHOWN = 150;

/** The beginning of what a response names: it may be as long as the response. */
function shown(value: string | number): string {
	return shortened(String(value), MOST_SHOWN);
}

/** What a service writes in place of what it does not show. */
const MASK = /[*\u2026]|\.\.\./;

/**
 * A URL up to its query, which may hold n8n's token; undefined where that is none, or masked. Our own proof
 * is masked in a response, and stands in the query.
 */
function addressOf(url: string | number): string | undefined {
	if (typeof url === 'number' || !URL.canParse(url)) return undefined;
	const { origin, pathname } = new URL(url);
	return MASK.test(pathname) ? undefined : origin + pathname;
}

/** The first of some values, where none of them is the one that was asked for; undefined where one is. */
function firstUnlessSame<Value>(
	values: Value[] | undefined,
	isSame: (value: Value) => boolean,
): Value | undefined {
	return values?.some(isSame) ? undefined : values?.[0];
}

/**
 * Compares an acceptance with its request, as far as it repeats that. An older charge comes back so where its
 * External ID was used again. Of several members of one name it is enough that one says the same: a fee
 * has an amount too.
 */
export function compareResponse(
	{ doubts }: Tally,
	request: Pick<ServiceRequest, 'external_id' | 'amount' | 'postbackUrl'>,
	response: unknown,
): void {
	const { external_id, amount: requested, postbackUrl } = request;
	const found = new Map<RepeatedMember, Array<string | number>>();
	collectRepeated(response, found);
	const other = firstUnlessSame(found.get('amount'), (each) => isSameAmount(each, requested));
	if (other !== undefined) doubts.add(otherAmountInResponse(external_id, shown(other), requested));
	const otherId = firstUnlessSame(
		found.get('external_id'),
		(each) => inOneForm(String(each)) === external_id,
	);
	if (otherId !== undefined) {
		doubts.add(otherIdInResponse(external_id, shown(otherId)));
	}
	const address = postbackUrl === undefined ? undefined : addressOf(postbackUrl);
	if (address === undefined) return;
	const addresses = (found.get('postbackUrl') ?? []).map(addressOf);
	const isMasked = addresses.includes(undefined);
	const otherAddress = firstUnlessSame(addresses, (each) => each === address);
	if (otherAddress !== undefined && !isMasked) {
		doubts.add(otherAddressInResponse(external_id, shown(otherAddress), address));
	}
}

/*
 * What a run shows besides its items. Requests have been sent by then, so nothing in here throws;
 * older versions of n8n, and the contexts of AI agents' tools, lack some of the functions.
 */

/** More than a person reads; items of one kind bring the same hint anyway. */
const MOST_HINTS = 10;
/** n8n keeps ten values per execution, which other nodes may want too. */
const MOST_HIGHLIGHTED = 3;

/** Shows hints beside the output, where this n8n can. */
export function showHints(context: IExecuteFunctions, tally: Tally): void {
	try {
		const failures = tally.continuesOnFailure ? failuresInWords(tally) : undefined;
		const ofItems = [...tally.itemHints].map(([hint, ids]) => `${quotedIds(ids)}: ${hint}`);
		const shown = [failures, ...tally.doubts, ...ofItems, ...tally.hints].filter(
			(each) => each !== undefined,
		);
		const hints = shown.map((message) => ({ message, location: 'outputPane' }) as const);
		context.addExecutionHints?.(...hints.slice(0, MOST_HINTS));
	} catch {
		// The items say all that matters.
	}
}

/** n8n 2 gives a node its own way to highlighted data; n8n 1 only through expressions. */
function highlightedData(context: IExecuteFunctions): IExecuteFunctions['customData'] | undefined {
	if (context.customData) return context.customData;
	const { $execution } = context.getWorkflowDataProxy(0);
	return ($execution as Partial<Pick<IExecuteFunctions, 'customData'>>).customData;
}

/** Makes an execution of few items findable by external_id and outcome (n8n's highlighted data). */
export function highlight(context: IExecuteFunctions, { done, items }: Tally): void {
	try {
		if (items > MOST_HIGHLIGHTED) return;
		const data = highlightedData(context);
		for (const { index, result } of done) {
			const { kind, external_id, outcome } = result;
			if (external_id === undefined) continue;
			const prefix = items === 1 ? kind : `${kind}_${index + 1}`;
			data?.set(`${prefix}_external_id`, external_id);
			if (outcome !== undefined) data?.set(`${prefix}_outcome`, outcome);
		}
	} catch {
		// The items say all that matters.
	}
}

/** Logs what was accepted and what is in flight. It never throws: in a listener it would end the process. */
function logCancelled(context: IExecuteFunctions, tally: Tally, areSomeInFlight: boolean): void {
	try {
		const { accepted, unknown, notReached } = idsByOutcome(tally);
		logWarning(context, stoppedInWords(tally, areSomeInFlight), {
			executionId: context.getExecutionId(),
			accepted,
			unknown,
			inFlight: [...tally.inFlight],
			notReached: notReached.filter((id) => !tally.inFlight.has(id)),
		});
	} catch {
		// The items say all that matters.
	}
}

/** What {@link beginCancelLog} began. */
interface CancelLog {
	context: IExecuteFunctions;
	tally: Tally;
	signal: AbortSignal | undefined;
	onAbort: () => void;
}

/**
 * Logs what was accepted and what is in flight as soon as the execution is cancelled: n8n shows neither,
 * and may end before the responses come.
 */
export function beginCancelLog(context: IExecuteFunctions, tally: Tally): CancelLog {
	const signal = context.getExecutionCancelSignal?.();
	const onAbort = () => logCancelled(context, tally, true);
	signal?.addEventListener('abort', onAbort);
	return { context, tally, signal, onAbort };
}

/** Ends what {@link beginCancelLog} began, and logs what became of the requests of a cancelled run. */
export function endCancelLog({ context, tally, signal, onAbort }: CancelLog): void {
	signal?.removeEventListener('abort', onAbort);
	if (signal?.aborted === true) logCancelled(context, tally, false);
}
