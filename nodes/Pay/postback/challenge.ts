import type { INodeProperties, IWebhookFunctions } from 'n8n-workflow';
import { isJsonObject, jsonOrText } from '../base/json';
import { logWarning } from '../base/log';
import { readPaths } from '../fields/paths';
import { firstValue, isScalar, type Paths, pathMeeting, type Sources } from '../service/paths';
import { pathsInWords, type StatusWords } from '../service/state';
import { type Body, parseBody } from './body';
import { type TakenPostback, unsignedSources } from './match';
import { headersOf, readContent } from './postback';
import { refuseExpression, refusePostback, sendAs } from './respond';

/*
 * Before some services send notifications to an address, they send it a text and expect that text back, mostly
 * unsigned. So anybody can have a text sent back. Therefore it has to be short and without any sign that a browser
 * could read as something else, the request must say nothing of a charge or payment, and nothing starts.
 */

export const challengeField: INodeProperties = {
	displayName: 'Challenge Field',
	name: 'challengeField',
	type: 'string',
	noDataExpression: true,
	default: '',
	placeholder: 'e.g. query.challenge',
	description:
		'For a service that sends a text to a new address and expects it back: where that text is, in query, headers or body; for a ping such as "test": true, enter body.test. A request that contains it, but none of the fields that the credential describes, gets it back and starts nothing. With Authentication on None that is every request with it, so empty this field as soon as the service has accepted the address.',
};

/** How a challenge is told from a postback. */
export interface ChallengeRule {
	field: Paths;
	/** A request that has one of their fields is about money, and no challenge. Undefined without a credential. */
	words: StatusWords | undefined;
}

/** Reads the option {@link challengeField}, undefined where it is empty. */
export function readChallengeField(typedOptions: unknown): Paths | undefined {
	// Otherwise a request could choose what it gets back.
	refuseExpression(typedOptions, challengeField);
	const { challengeField: entered } = (typedOptions ?? {}) as { challengeField?: unknown };
	const paths = readPaths(entered, challengeField);
	return paths.length === 0 ? undefined : paths;
}

const LEADS_SOMEWHERE = {
	name: 'leads somewhere',
	isMet: (value: unknown) => value !== undefined && value !== null,
};

/** True if there is a value at one of the paths, even in a single entry of a list. */
const leadSomewhere = (paths: Paths, sources: Sources) =>
	pathMeeting(paths, LEADS_SOMEWHERE, sources) !== undefined;

/** The text that a request wants back; undefined where it is no challenge. */
function challengeIn({ field, words }: ChallengeRule, sources: Sources): string | undefined {
	if (leadSomewhere(pathsInWords(words), sources)) return undefined;
	const found = firstValue(field, sources);
	return isScalar(found?.value) ? String(found.value) : undefined;
}

/** Letters, digits and signs that mean nothing else to a browser, whatever type it takes the text for. */
const HARMLESS = /^[A-Za-z0-9\-_.=:+/]{1,500}$/;

const isHarmless = (challenge: string): boolean => HARMLESS.test(challenge);

/** Of a request without a proof no longer body is read, in bytes. */
const MOST_UNPROVEN_BODY_BYTES = 8192;
/** How long reading it may take, in milliseconds. */
const UNPROVEN_BODY_TIME = 10_000;

/** True for a body whose length is known before it is read, and small. A zipped one could grow. */
function isSmall(headers: Readonly<Record<string, unknown>>): boolean {
	if (headers['transfer-encoding'] !== undefined) return false;
	if (headers['content-encoding'] !== undefined) return false;
	return Number(headers['content-length'] ?? 0) <= MOST_UNPROVEN_BODY_BYTES;
}

/**
 * True for a body in which every field can be found: JSON, or a form without files. In XML none can, even if it was
 * sent as a form; and an account that has never seen a list has no paths that look into one.
 */
function showsAll({ body, rawBody, hasFiles }: Body): boolean {
	if (hasFiles) return false;
	const isJson = typeof jsonOrText(rawBody) === 'object';
	if (!isJson && /^\s*[<[{]/.test(rawBody)) return false;
	return body === '' || isJsonObject(body);
}

/**
 * Where the fields of a request without a proof are looked for. Undefined if its body is long, or may hide what it
 * is about. Rejects where the body cannot be read.
 */
async function sourcesOfUnproven(context: IWebhookFunctions): Promise<Sources | undefined> {
	const headers = headersOf(context);
	const { rawBody } = context.getRequestObject() as { rawBody?: Buffer };
	if (rawBody === undefined && !isSmall(headers)) return undefined;
	const content = await readContent(context, UNPROVEN_BODY_TIME);
	if (Buffer.isBuffer(content) && content.length > MOST_UNPROVEN_BODY_BYTES) return undefined;
	const parsed = await parseBody(content, String(headers['content-type'] ?? '').trim());
	if (!showsAll(parsed)) return undefined;
	const { body } = parsed;
	const query = context.getQueryData() as Record<string, unknown>;
	return unsignedSources({ body, query, headers });
}

/**
 * Responds to a request without a proof if it is a challenge; nothing starts.
 * @returns undefined where it is none: then it has no response yet
 */
export async function respondIfChallenge(
	context: IWebhookFunctions,
	rule: ChallengeRule,
): Promise<{ noWebhookResponse: true } | undefined> {
	try {
		const sources = await sourcesOfUnproven(context);
		return respondWith(context, sources && challengeIn(rule, sources));
	} catch {
		// A body that cannot be read is no challenge. It is refused like any other request without a proof.
		context.getResponseObject().setHeader('Connection', 'close');
		return undefined;
	}
}

/**
 * Responds to a request that was taken if it is a challenge; nothing starts. Some services sign their challenges,
 * and a trigger without authentication takes any request.
 * @returns undefined where it is none: then it has no response yet
 */
export function respondIfIn(
	context: IWebhookFunctions,
	rule: ChallengeRule,
	{ postback, sources }: TakenPostback,
): { noWebhookResponse: true } | undefined {
	// Without the words of an account there is nothing to look for.
	if (rule.words !== undefined && !showsAll(postback)) return undefined;
	if (postback.isSignedByService) return respondWith(context, challengeIn(rule, sources));
	// Some want a header such as X-Hook-Secret back, in place of which the postback shows ***.
	const { body } = postback;
	const query = context.getQueryData() as Record<string, unknown>;
	const asSent = unsignedSources({ body, query, headers: headersOf(context) });
	return respondWith(context, challengeIn(rule, asSent));
}

function respondWith(
	context: IWebhookFunctions,
	challenge: string | undefined,
): { noWebhookResponse: true } | undefined {
	if (challenge === undefined) return undefined;
	if (!isHarmless(challenge)) {
		const what =
			'The challenge contains characters other than letters, digits and -_.=:+/, or more than 500 of them';
		return refusePostback(context, 400, what);
	}
	logWarning(context, 'Pay responded to a challenge, which started nothing');
	const text = sendAs(context, 'text/plain; charset=utf-8', challenge);
	context.getResponseObject().status(200).end(text);
	return { noWebhookResponse: true };
}

/**
 * Sends the challenge of a request with a proven URL back. The request still goes on as a postback, so nothing is
 * lost if it was one.
 * @returns undefined where it is no challenge
 */
export function challengeOfProven(
	context: IWebhookFunctions,
	rule: ChallengeRule | undefined,
	sources: Sources,
): string | undefined {
	const challenge = rule && challengeIn(rule, sources);
	if (challenge === undefined || !isHarmless(challenge)) return undefined;
	return sendAs(context, 'text/plain; charset=utf-8', challenge);
}
