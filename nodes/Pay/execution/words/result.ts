import { isJsonObject } from '../../json';
import type { RequestResult } from '../../service/client';
import type { Words } from '../../service/contract';
import { proxyPageIn, UNPUBLISHED } from '../../service/page';
import { reasonInWords, type Reason } from '../../service/reason';
import { OUTCOME_WORDS } from './outcome';
import { adviceOnPace, type Pace } from './pace';
import { joinSentences } from './sentences';

/** What people read of one request: a title without a full stop, and whole sentences. */
export interface ResultWords {
	message: string;
	description: string;
}

/** As much of a response as a person reads. */
const MOST_QUOTED = 500;

function quotedStart(text: string): string {
	return text.length > MOST_QUOTED ? `"${text.slice(0, MOST_QUOTED)}…"` : `"${text}"`;
}

/** What the response said, if there was one. */
function responseSentence(response: unknown): string | undefined {
	if (response === undefined || response === '') return undefined;
	const page = proxyPageIn(response);
	if (page !== undefined) {
		return `The response looks like a page of ${page.by} on the way, not like a response of the service: ${quotedStart(page.text)}.`;
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
		return 'Publish the workflow that plays the service (n8n 1: reload the page, then Active), then run again.';
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
				'Check the token of the Pay API credential, then run again. A token that was fetched is discarded: the next request gets a new one.',
			);
		case 403:
			return joinSentences(
				whenTokenRejected?.(external_id),
				'Check the token of the Pay API credential, and whether the service takes requests only from addresses on an allow-list: requests of n8n may come by IPv6 or through a proxy. Then run again.',
			);
		case 404:
		case 405:
			return 'Check the Base URL of the Pay API credential, and the Scheme Name in Paths under Describe the Service. Then run again.';
		case 409:
			return `This status means a conflict: ask the service whether it knows "${external_id}" already. If it does, run again with a new External ID.`;
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
	return `The postback URL of this request had ${postbackUrl.length} characters: ask the service how many it takes.`;
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
			'The service did not get the whole request, so it cannot have carried it out.',
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
	`"${external_id}" was accepted, but something is missing in its item: ${message}`;

/** A QR code that asks its payer for another amount than the request asked for. */
export const otherAmountInCode = (external_id: string, inCode: number, requested: number) =>
	`The QR code of "${external_id}" asks its payer for ${inCode}, but the request said ${requested}. Ask the service which unit it takes before anybody pays it.`;

/** A QR code that asks its payer for an amount in a form that its scheme does not have. */
export const unreadableAmountInCode = (external_id: string, text: string, requested: number) =>
	`The QR code of "${external_id}" has "${text}" as its amount, which cannot be compared with the ${requested} of the request. Scan it before anybody pays it.`;

/** An acceptance that says another amount than its request. */
export const otherAmountInResponse = (external_id: string, amount: string, requested: number) =>
	`The service accepted "${external_id}" and names the amount ${amount}, but the request said ${requested}. Ask the service what was carried out, and which unit it takes.`;

/** An acceptance that names another identifier than its request. */
export const otherIdInResponse = (external_id: string, otherId: string) =>
	`The service accepted "${external_id}" and calls it "${otherId}". Ask the service what it accepted: postbacks may name the other one.`;

/** An acceptance that names another address for postbacks than its request. */
export const otherAddressInResponse = (external_id: string, address: string, requested: string) =>
	`The service accepted "${external_id}" and sends its postbacks to ${address}, but the request said ${requested}. It may be an earlier request with this External ID: ask the service what it accepted.`;

const STILL_OPEN = 'n8n ended meanwhile, or the request is still under way';

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
		return `${sent}, but ${response}, which services give when they know a ${noun} already or are working on it.`;
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
