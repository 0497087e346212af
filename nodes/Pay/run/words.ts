import { isJsonObject } from '../base/json';
import { shortened } from '../base/text';
import type { RequestResult } from '../service/client';
import type { Words } from '../service/contract';
import { proxyPageIn, type Reason, reasonInWords, UNPUBLISHED } from '../service/reasons';
import { type Attempt, type End, idsByOutcome, type Place, type Summary } from './item';

/** The word for each outcome, wherever people read it; also the order in which they are counted. */
export const OUTCOME_WORDS: Readonly<Record<End, string>> = {
	accepted: 'accepted',
	rejected: 'rejected',
	unknown: 'unknown',
	duplicate: 'duplicate',
	notSent: 'not sent',
	notReached: 'not reached in this run',
};

/** Whole sentences as one text; those that are not needed are undefined. */
export function joinSentences(...sentences: Array<string | undefined>): string {
	return sentences.filter((sentence) => sentence !== undefined).join(' ');
}

/** An item as people count: from 1. */
export function lineInWords(index: number): string {
	return `line ${index + 1} of the list`;
}

/** Two items as people count. */
export function linesInWords(one: number, other: number): string {
	return `lines ${one + 1} and ${other + 1} of the list`;
}

/** As many external_ids as a person reads. */
const MOST_IDS = 10;

/** Some external_ids within a sentence. */
export function quotedIds(ids: ReadonlyArray<string | undefined>): string {
	const quoted = ids.slice(0, MOST_IDS).map((id) => `"${id}"`);
	const more = ids.length - MOST_IDS;
	return more > 0 ? `${quoted.join(', ')} and ${more} more` : quoted.join(', ');
}

/** A place as people read it. The first run of a node is not counted: most nodes run once. */
function placeInWords(place: Place): string {
	if (place.isTool) return `the tool "${place.node}"`;
	const line = `${lineInWords(place.item)} in "${place.node}"`;
	return place.run === '0' ? line : `${line}, run ${Number(place.run) + 1}`;
}

/** Whose attempt it was, in words. */
export function attemptInWords({ place, amount }: Attempt): string {
	return `${placeInWords(place)}, amount ${amount}`;
}

/** How a run sends. */
export interface Pace {
	/** At most so many items are in flight. */
	batchSize: number;
	/** How many items came in. */
	items: number;
}

/** How to send more slowly. */
function slower({ batchSize, items }: Pace): string {
	if (items === 1) return 'In a loop, put a Wait node before the Pay node.';
	if (batchSize === 1) return 'Set a Batch Interval (Ms) under Options, Batching.';
	return 'Lower Items per Batch under Options, Batching, or set a Batch Interval (Ms) there.';
}

/**
 * What to do where a service had too many requests.
 * @param seconds how long it wants none; undefined where it did not say
 */
export function adviceOnPace(seconds: number | undefined, pace: Pace | undefined): string {
	const wait = seconds === undefined ? 'Wait a while' : `Wait ${seconds} s`;
	return joinSentences(`${wait}, then run again.`, pace === undefined ? undefined : slower(pace));
}

/** What people read of one request: a title without a full stop, and whole sentences. */
export interface ResultWords {
	message: string;
	description: string;
}

/** As much of a response as a person reads. */
const MOST_QUOTED = 500;

function quotedStart(text: string): string {
	return `"${shortened(text, MOST_QUOTED)}"`;
}

/** What the response said, if there was one. */
function responseSentence(response: unknown): string | undefined {
	if (response === undefined || response === '') return undefined;
	const page = proxyPageIn(response);
	if (page !== undefined) {
		return `The response looks like a page from ${page.by} on the way, not like a response from the service: ${quotedStart(page.text)}.`;
	}
	return `The response said: ${quotedStart(textOf(response))}.`;
}

/** A response as people read it: many services say it all in one member. */
function textOf(response: unknown): string {
	if (typeof response === 'string') return response;
	if (isJsonObject(response)) {
		const { message, ...others } = response;
		if (typeof message === 'string' && Object.keys(others).length === 0) return message;
	}
	return JSON.stringify(response);
}

/** What to do where a rejection says nothing else. */
export const CORRECT_ITEM = 'Correct the item, then run again.';

/** What to correct where the request did not come to the service; undefined where it may have. */
function correctionOnTheWay(response: unknown): string | undefined {
	if (proxyPageIn(response)?.wantsHttps) {
		return 'Write https:// at the start of the Base URL of the Pay API credential, then run again.';
	}
	if (response === UNPUBLISHED) {
		return 'Publish the workflow that acts as the service (on n8n 1, reload the page, then switch it to Active), then run again.';
	}
	return undefined;
}

/** What to correct after a status of which the operation says nothing itself. */
function correctionOf(
	{ whenTokenRejected }: Words,
	external_id: string,
	{ statusCode = 0, retryAfter }: RequestResult,
	pace: Pace | undefined,
): string {
	switch (statusCode) {
		case 401:
			// First what to ask: after "run again" nobody reads on.
			return joinSentences(
				whenTokenRejected?.(external_id),
				'Check the token of the Pay API credential, then run again. If the token was fetched, it is discarded, and the next request gets a new one.',
			);
		case 403:
			return joinSentences(
				whenTokenRejected?.(external_id),
				'Check the token of the Pay API credential, and whether the service accepts requests only from addresses on an allow-list: requests from n8n may come over IPv6 or through a proxy. Then run again.',
			);
		case 404:
		case 405:
			return 'Check the Base URL of the Pay API credential, and the Scheme Name in Paths under Describe the Service. Then run again.';
		case 409:
			return `This status means a conflict, so ask the service whether it already has "${external_id}". If it does, run again with a new External ID.`;
		case 429:
			return adviceOnPace(retryAfter, pace);
	}
	if (statusCode < 400) {
		return 'The request was redirected, and redirects are never followed, because they would carry the access token elsewhere. Check the Base URL of the Pay API credential.';
	}
	return CORRECT_ITEM;
}

/** Describes a request that was rejected by its status, which a proxy may have given. */
function rejectedByStatus(
	words: Words,
	external_id: string,
	result: RequestResult,
	pace: Pace | undefined,
): string {
	const { response } = result;
	return joinSentences(
		'The request was sent, and the service or a proxy on the way rejected it.',
		responseSentence(response),
		correctionOnTheWay(response) ?? correctionOf(words, external_id, result, pace),
	);
}

/** Describes a request that was rejected by what its response says. */
function rejectedByWords({ response }: RequestResult, reason: Reason): string {
	return joinSentences(
		`The request was sent, and the service rejected it: ${reasonInWords(reason)}.`,
		responseSentence(response),
		CORRECT_ITEM,
	);
}

/** What the words for a rejection say beyond the response. */
interface Rejected {
	/** How the run sends, if that is known. */
	pace?: Pace;
	/** The address that the request gave for its postback. */
	postbackUrl?: string;
}

/** The statuses that say that something in the request is wrong. */
const WRONG_REQUEST = [400, 413, 414, 422];
/** A word for an address, also as a part of a member's name, such as callback_url. */
const ADDRESS = /url(?![a-z])|callback|webhook/i;

/** How long the postback's address was, where a rejection names it: services have bounds, and hide them. */
function addressSentence(
	{ statusCode = 0, response, reason }: RequestResult,
	postbackUrl: string | undefined,
): string | undefined {
	if (postbackUrl === undefined || response === undefined) return undefined;
	if (reason === undefined && !WRONG_REQUEST.includes(statusCode)) return undefined;
	if (!ADDRESS.test(textOf(response).slice(0, MOST_QUOTED))) return undefined;
	return `The postback URL of this request had ${postbackUrl.length} characters, so ask the service how many it allows.`;
}

/** The words for a request that the service, or a proxy, rejected. */
export function rejectedInWords(
	words: Words,
	external_id: string,
	result: RequestResult,
	{ pace, postbackUrl }: Rejected = {},
): ResultWords {
	const { statusCode = 0, reason } = result;
	const what =
		reason === undefined
			? rejectedByStatus(words, external_id, result, pace)
			: rejectedByWords(result, reason);
	return {
		message: `The service rejected ${words.noun} "${external_id}" (HTTP ${statusCode})`,
		description: joinSentences(what, addressSentence(result, postbackUrl)),
	};
}

/** The words for a request that cannot have been carried out. */
export function notSentInWords(
	{ noun }: Words,
	external_id: string,
	{ reason }: RequestResult,
): ResultWords {
	const because = reason === undefined ? '' : `: ${reasonInWords(reason)}`;
	return {
		message: `The ${noun} "${external_id}" was ${OUTCOME_WORDS.notSent}${because}`,
		description: joinSentences(
			'The service did not receive the whole request, so it cannot have carried it out.',
			'Check the Base URL of the Pay API credential and the network, then run again.',
		),
	};
}

/** What was sent for an item that this package refuses, by how that ends. */
export const SENT_NOTHING = {
	notSent: 'Nothing was sent for this item.',
	duplicate: 'This item was not sent now.',
	notReached: 'It was not sent in this run: an earlier run may have sent it.',
};

/** What to do about an item that cannot be read. */
export const CHECK_ITEM = 'Check the parameters of this item and the credential, then run again.';

/** A list that is run again stops at its first duplicate, and a sub-workflow hides its first failure behind one. */
export const AFTER_DUPLICATE =
	'The earlier try says what became of it. To send the rest of a list that was partly sent, set On Error to Continue, then look at the outcome of each item.';

/** An accepted item to which its operation could not add what it promises. */
export const notFinished = (external_id: string, { message }: Error) =>
	`"${external_id}" was accepted, but something is missing from its item: ${message}`;

/** A QR code that asks its payer for another amount than the request asked for. */
export const otherAmountInCode = (external_id: string, inCode: number, requested: number) =>
	`The QR code of "${external_id}" asks its payer for ${inCode}, but the request said ${requested}. Ask the service which unit it uses before anybody pays the code.`;

/** A QR code that asks its payer for an amount in a form that its scheme does not have. */
export const unreadableAmountInCode = (external_id: string, text: string, requested: number) =>
	`The QR code of "${external_id}" has "${text}" as its amount, which cannot be compared with the ${requested} in the request. Scan the code before anybody pays it.`;

/** An acceptance that says another amount than its request. */
export const otherAmountInResponse = (external_id: string, amount: string, requested: number) =>
	`The service accepted "${external_id}" and names the amount ${amount}, but the request said ${requested}. Ask the service what was carried out, and which unit it uses.`;

/** An acceptance that names another identifier than its request. */
export const otherIdInResponse = (external_id: string, otherId: string) =>
	`The service accepted "${external_id}" and calls it "${otherId}". Ask the service what it accepted, because postbacks may use that name instead.`;

/** An acceptance that names another address for postbacks than its request. */
export const otherAddressInResponse = (external_id: string, address: string, requested: string) =>
	`The service accepted "${external_id}" and sends its postbacks to ${address}, but the request said ${requested}. This may be an earlier request with the same External ID, so ask the service what it accepted.`;

const STILL_OPEN = 'n8n stopped in the meantime, or the request is still in progress';

/** What is known of a request of which nobody knows what became of it. */
function lostSentence({ noun }: Words, result: RequestResult, earlier?: string): string {
	const { statusCode, reason } = result;
	const sent =
		earlier === undefined
			? 'The request was sent'
			: `The request was sent in an earlier try in this execution (${earlier})`;
	if (statusCode === undefined) {
		const because = reason === undefined ? STILL_OPEN : reasonInWords(reason);
		return `${sent}, but no complete response came: ${because}.`;
	}
	const response = `the response, from the service or a proxy on the way, was HTTP ${statusCode}`;
	if (reason !== undefined) return `${sent}, but ${response}: ${reasonInWords(reason)}.`;
	if (statusCode === 409) {
		return `${sent}, but ${response}, which services return when they already have the ${noun} or are still working on it.`;
	}
	return `${sent}, but ${response}, which does not say what the service did.`;
}

/**
 * The words for a request of which nobody knows what became of it.
 * @param earlier whose request it was, in words, if it was made in an earlier try
 */
export function unknownInWords(
	words: Words,
	external_id: string,
	result: RequestResult,
	earlier?: string,
): ResultWords {
	const { noun, pastParticiple, whenUnknown } = words;
	return {
		message: `It is not known whether ${noun} "${external_id}" was ${pastParticiple}`,
		description: joinSentences(
			whenUnknown.warning,
			lostSentence(words, result, earlier),
			result.statusCode === undefined ? undefined : responseSentence(result.response),
			whenUnknown.advice(external_id),
		),
	};
}

const ENDS = Object.keys(OUTCOME_WORDS) as End[];
/** As many failures as the error of one item names beside its own. */
const MOST_FAILURES = 20;
/** As many doubts as an error says in words. */
const MOST_DOUBTS = 10;

function nounOf({ items, operation }: Summary): string {
	const { noun, plural } = operation.words;
	return items === 1 ? noun : plural;
}

/** How many items came to each end. */
function countEnds({ items, done }: Summary): Record<End, number> {
	const counts: Record<End, number> = {
		accepted: 0,
		rejected: 0,
		unknown: 0,
		duplicate: 0,
		notSent: 0,
		notReached: items - done.length,
	};
	for (const { result } of done) counts[result.outcome ?? 'notReached'] += 1;
	return counts;
}

/** "2 accepted, 1 not sent": counts of the given ends, without zeros. */
function countsInWords(counts: Record<End, number>, ends: End[]): string {
	return ends
		.filter((end) => counts[end] > 0)
		.map((end) => `${counts[end]} ${OUTCOME_WORDS[end]}`)
		.join(', ');
}

/** What a run did not come to is not known to be unsent: people would pay it again. */
function notReachedSentence({ notReached }: Record<End, number>): string | undefined {
	return notReached > 0 ? 'An earlier run may have sent what was not reached.' : undefined;
}

/** A hint for a run that goes on after failures, for it looks like a success; none if it is one. */
export function failuresInWords(run: Summary): string | undefined {
	const counts = countEnds(run);
	if (counts.unknown > 0) return unknownAndOthers(run, counts);
	const failures = countsInWords(counts, ['rejected', 'duplicate', 'notSent', 'notReached']);
	if (failures === '') return undefined;
	if (run.items === 1) return onlyFailureSentence(run, counts);
	const accepted =
		counts.accepted > 0 ? `${counts.accepted} accepted` : 'none accepted in this run';
	return joinSentences(
		`Of ${run.items} ${nounOf(run)}: ${accepted}, ${failures}.`,
		notReachedSentence(counts),
	);
}

/** The hint of a run with unknown items: they come first. */
function unknownAndOthers(run: Summary, counts: Record<End, number>): string {
	const others = countsInWords(
		counts,
		ENDS.filter((end) => end !== 'unknown'),
	);
	return joinSentences(
		unknownSentence(run, counts.unknown),
		run.operation.words.whenUnknown.reminder,
		others === '' ? undefined : `Of the others: ${others}.`,
		notReachedSentence(counts),
	);
}

/** The item of a run that has no other. */
function onlyItem(run: Summary): string {
	const { noun } = run.operation.words;
	const [external_id] = Object.values(idsByOutcome(run)).flat();
	return external_id === undefined ? `The ${noun}` : `The ${noun} "${external_id}"`;
}

function onlyFailureSentence(run: Summary, counts: Record<End, number>): string {
	if (counts.notReached > 0) {
		return `${onlyItem(run)} was not reached in this run. An earlier run may have sent it.`;
	}
	const end = ENDS.find((each) => counts[each] > 0) ?? 'notReached';
	return `${onlyItem(run)} was not accepted in this run: ${OUTCOME_WORDS[end]}.`;
}

function unknownSentence(run: Summary, count: number): string {
	const ids = quotedIds(idsByOutcome(run).unknown);
	if (run.items === 1) return `${onlyItem(run)} is unknown.`;
	const verb = count === 1 ? 'is' : 'are';
	return `${count} of ${run.items} ${nounOf(run)} ${verb} unknown: ${ids}.`;
}

/** For n8n's log, about a run that somebody stopped: n8n shows nothing of it. */
export function stoppedInWords(
	{ operation }: Pick<Summary, 'operation'>,
	areSomeInFlight: boolean,
): string {
	return joinSentences(
		`Pay: the execution was stopped while it was sending ${operation.words.plural}.`,
		areSomeInFlight
			? 'Responses to the requests in flight are still expected.'
			: 'This is what became of its requests.',
	);
}

/** What acceptances say that their requests did not, as far as a person reads on. */
export function doubtsInWords({ doubts }: Pick<Summary, 'doubts'>): string | undefined {
	if (doubts.size === 0) return undefined;
	const shown = [...doubts].slice(0, MOST_DOUBTS).join(' ');
	const more = doubts.size - MOST_DOUBTS;
	if (more <= 0) return shown;
	if (more === 1) return `${shown} One more response differs from its request.`;
	return `${shown} ${more} more responses differ from their requests.`;
}

/** An item by its External ID and its line, or by its line alone, as where no External ID could be read. */
function itemInWords(index: number, external_id = ''): string {
	const line = lineInWords(index);
	return external_id === '' ? line : `"${external_id}" (${line})`;
}

/** What became of the other items of a run that stops, beside the one that the error is about. */
export function othersInWords(run: Summary, itemIndex: number): string | undefined {
	if (run.items === 1) return undefined;
	const { external_id } = run.done.find(({ index }) => index === itemIndex)?.result ?? {};
	const counts = countEnds(run);
	return joinSentences(
		`This error is about ${itemInWords(itemIndex, external_id)}.`,
		`Of ${run.items} ${nounOf(run)}: ${countsInWords(counts, ENDS)}.`,
		notReachedSentence(counts),
		otherFailuresSentence(run, itemIndex),
		'In an error workflow, execution.error.context.externalIds lists every External ID by outcome.',
	);
}

function otherFailuresSentence({ done }: Summary, itemIndex: number): string | undefined {
	const others = done.filter(({ index, result }) => {
		if (index === itemIndex || result.outcome === undefined) return false;
		return result.outcome !== 'accepted';
	});
	if (others.length === 0) return undefined;
	const named = others.slice(0, MOST_FAILURES).map(({ index, result }) => {
		const { external_id, outcome = 'notReached' } = result;
		return `${itemInWords(index, external_id)} ${OUTCOME_WORDS[outcome]}`;
	});
	const more = others.length - named.length;
	if (more > 0) named.push(`and ${more} more`);
	return `Also failed: ${named.join('; ')}.`;
}
