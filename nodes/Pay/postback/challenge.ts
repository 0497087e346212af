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
 * Services ask for a text back before they send notifications to an address, mostly unsigned. Whoever sends a
 * request without a proof gets back what he sent: so only a short text without a sign that a browser could read
 * as something else, only of a request that says nothing of a charge or payment, and nothing starts.
 */

export const challengeField: INodeProperties = {
	displayName: 'Challenge Field',
	name: 'challengeField',
	type: 'string',
	noDataExpression: true,
	default: '',
	placeholder: 'e.g. query.challenge',
	description:
		'For a service that sends a text to a new address and expects it back: where that text is, in query, headers or body; for a ping such as "test": true, enter body.test. A request with it, but without any field that the credential describes, gets it back and starts nothing. With Authentication on None that is every request with it, so empty this field as soon as the service has accepted the address.',
};

/** How a challenge is told from a postback. */
export interface ChallengeRule {
	field: Paths;
	/** The words of the account: what has one of its fields is about money. Undefined without a credential. */
	words: StatusWords | undefined;
}

/** Reads the option {@link challengeField}, undefined where it is empty. Throws an InputError. */
export function readChallengeField(typedOptions: unknown): Paths | undefined {
	// A request could choose what it gets back.
	refuseExpression(typedOptions, challengeField);
	const { challengeField: entered } = (typedOptions ?? {}) as { challengeField?: unknown };
	const paths = readPaths(entered, challengeField);
	return paths.length === 0 ? undefined : paths;
}

const LEADS_SOMEWHERE = {
	name: 'leads somewhere',
	isMet: (value: unknown) => value !== undefined && value !== null,
};

/** Tells whether one of some paths leads somewhere, be it in one entry of a list, or of a list inside it. */
const leadSomewhere = (paths: Paths, sources: Sources) =>
	pathMeeting(paths, LEADS_SOMEWHERE, sources) !== undefined;

/** The text that a request wants back; undefined where it is no challenge. */
function challengeIn({ field, words }: ChallengeRule, sources: Sources): string | undefined {
	if (leadSomewhere(pathsInWords(words), sources)) return undefined;
	const found = firstValue(field, sources);
	return isScalar(found?.value) ? String(found.value) : undefined;
}

/** Letters, digits and signs that no browser, whatever it takes the text for, reads as anything else. */
const HARMLESS = /^[A-Za-z0-9\-_.=:+/]{1,500}$/;

const isHarmless = (challenge: string): boolean => HARMLESS.test(challenge);

/** As much of a body as is read of a request that proves nothing, in bytes. */
const MOST_UNPROVEN_BODY_BYTES = 8192;
/** How long that may take, in milliseconds. */
const UNPROVEN_BODY_TIME = 10_000;

/** Whether a body may be read that its sender has not proven: its length is known before, and zipped ones grow. */
function isSmall(headers: Readonly<Record<string, unknown>>): boolean {
	if (headers['transfer-encoding'] !== undefined) return false;
	if (headers['content-encoding'] !== undefined) return false;
	return Number(headers['content-length'] ?? 0) <= MOST_UNPROVEN_BODY_BYTES;
}

/**
 * Whether all that a body says can be looked for. Not in a text, such as XML, be its type that of a form; nor in
 * a file. The paths of an account that has seen no list do not look into one.
 */
function showsAll({ body, rawBody, hasFiles }: Body): boolean {
	if (hasFiles) return false;
	const isJson = typeof jsonOrText(rawBody) === 'object';
	if (!isJson && /^\s*[<[{]/.test(rawBody)) return false;
	return body === '' || isJsonObject(body);
}

/**
 * The fields of a request that proves nothing. Undefined where its body is long, or may hide what it is about.
 * Rejects where the body cannot be read.
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
 * Responds to a request that proves nothing where it is a challenge; nothing starts.
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
		// What cannot be read is no challenge, and is refused like any other request without a proof.
		context.getResponseObject().setHeader('Connection', 'close');
		return undefined;
	}
}

/**
 * Responds to a request that was taken where it is a challenge; nothing starts. Some services sign theirs, and
 * without authentication nobody has to.
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
	// The postback shows *** where a name says that it is a secret, such as X-Hook-Secret, and that is wanted back.
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
 * Has the challenge of a request whose URL is proven be its response. It goes on as any postback, so nothing is
 * lost where it was one.
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
