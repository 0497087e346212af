import type { INodeProperties, IWebhookFunctions } from 'n8n-workflow';
import { readPaths } from '../parameters/fieldAndValues';
import { firstValue, isScalar, pathMeeting, type Sources } from '../service/fieldMatch';
import { fieldsInWords, type StatusWords } from '../service/postbackState';
import { parseBody, type Body } from './body/parse';
import { isJsonObject, jsonOrText } from '../json';
import { logWarning } from '../log';
import { unsignedSources, type JudgedPostback } from './match';
import { refusePostback } from './refuse';
import { headersOf, readContent } from './request';
import { refuseExpression, sendAs } from './response';

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
		'For a service that sends a text to a new address and wants it back: where the text is, in query, headers or body; body.test for a ping such as "test": true. A request that has it, and no field that the credential describes, gets it back and starts nothing. With Authentication on None that is every request that has it, so empty this field as soon as the service has taken the address.',
};

/** How a challenge is told from a postback. */
export interface ChallengeRule {
	/** Paths, one a line. */
	field: string;
	/** The words of the account: what has one of its fields is about money. Undefined without a credential. */
	words: StatusWords | undefined;
}

/** Reads the option {@link challengeField}, undefined where it is empty. Throws an InputError. */
export function readChallengeField(typedOptions: unknown): string | undefined {
	// A request could choose what it gets back.
	refuseExpression(typedOptions, challengeField);
	const { challengeField: entered } = (typedOptions ?? {}) as { challengeField?: unknown };
	return readPaths(entered, challengeField) || undefined;
}

const LEADS_SOMEWHERE = {
	name: 'leads somewhere',
	isMet: (value: unknown) => value !== undefined && value !== null,
};

/** Whether one of the paths of a field leads somewhere, be it in one entry of a list, or of a list inside it. */
const isThere = (field: string, sources: Sources) =>
	pathMeeting(field, LEADS_SOMEWHERE, sources) !== undefined;

/** The text that a request wants back; undefined where it is no challenge. */
function challengeIn({ field, words }: ChallengeRule, sources: Sources): string | undefined {
	const fieldsOfPostbacks = words === undefined ? [] : fieldsOf(words);
	if (fieldsOfPostbacks.some((each) => isThere(each, sources))) return undefined;
	const found = firstValue(field, sources);
	return isScalar(found?.value) ? String(found.value) : undefined;
}

const fieldsOf = (words: StatusWords) => Object.values(fieldsInWords(words));

/** Letters, digits and signs that no browser, whatever it takes the text for, reads as anything else. */
const HARMLESS = /^[A-Za-z0-9\-_.=:+/]{1,500}$/;

const isHarmless = (challenge: string): boolean => HARMLESS.test(challenge);

/** As much of a body as is read of a request that proves nothing, in bytes. */
const LONGEST_BODY = 8192;
/** How long that may take, in milliseconds. */
const BODY_TIME = 10_000;

/** Whether a body may be read that its sender has not proven: its length is known before, and zipped ones grow. */
function isSmall(headers: Readonly<Record<string, unknown>>): boolean {
	if (headers['transfer-encoding'] !== undefined) return false;
	if (headers['content-encoding'] !== undefined) return false;
	return Number(headers['content-length'] ?? 0) <= LONGEST_BODY;
}

/**
 * Whether all that a body says can be looked for. Not in a text, such as XML, be its type that of a form; nor in
 * a file. The paths of an account that has seen no list do not look into one.
 */
function showsAll({ body, rawBody, files }: Body): boolean {
	if (files.length > 0) return false;
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
	const content = await readContent(context, BODY_TIME);
	if (Buffer.isBuffer(content) && content.length > LONGEST_BODY) return undefined;
	const parsed = await parseBody(content, String(headers['content-type'] ?? '').trim());
	if (!showsAll(parsed)) return undefined;
	const { body } = parsed;
	const query = context.getQueryData() as Record<string, unknown>;
	return unsignedSources({ body, query, headers });
}

/** The text that a request wants back which proves nothing; undefined where it is no challenge. */
async function unprovenChallenge(
	context: IWebhookFunctions,
	rule: ChallengeRule,
): Promise<string | undefined> {
	try {
		const sources = await sourcesOfUnproven(context);
		return sources && challengeIn(rule, sources);
	} catch {
		// What cannot be read is no challenge, and is refused like any other request without a proof.
		context.getResponseObject().setHeader('Connection', 'close');
		return undefined;
	}
}

/**
 * Responds to a request that proves nothing where it is a challenge; nothing starts.
 * @returns undefined where it is none: then it has no response yet
 */
export async function respondToChallenge(
	context: IWebhookFunctions,
	rule: ChallengeRule,
): Promise<{ noWebhookResponse: true } | undefined> {
	return respondWith(context, await unprovenChallenge(context, rule));
}

/**
 * Responds to a request that was taken where it is a challenge; nothing starts. Some services sign theirs, and
 * without authentication nobody has to.
 * @returns undefined where it is none: then it has no response yet
 */
export function respondIfIn(
	context: IWebhookFunctions,
	rule: ChallengeRule,
	{ postback, sources }: JudgedPostback,
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
			'The challenge has other characters than letters, digits and -_.=:+/, or more than 500';
		return refusePostback(context, 400, what);
	}
	logWarning(context, 'Pay responded to a challenge. It started nothing');
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
