import type {
	IDataObject,
	INodeProperties,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { headerFault, knownOfSender, type SenderRule, signatureFault } from '../account/sender';
import { isJsonObject, jsonOrText } from '../base/json';
import { logWarning } from '../base/log';
import { isExpression } from '../base/n8n';
import type { PostbackMatch } from '../fields/condition';
import { readFieldByField } from '../fields/expressions';
import { quoted, wrongField } from '../fields/label';
import { BODY_UNREAD, bodyUnreadOption } from '../fields/options';
import { readPaths } from '../fields/paths';
import { firstValue, isScalar, type Paths, pathMeeting, type Sources } from '../service/paths';
import { pathsInWords, type StatusWords } from '../service/state';
import { type Body, type FormOfN8n, parseBody } from './body';
import {
	hasTooManyEntries,
	namesIn,
	type TakenPostback,
	takenPostback,
	unsignedSources,
} from './match';
import { headersOf, readContent, readPostback } from './postback';
import type { Reference } from './proof';

/** What is asked of a postback. */
interface PostbackTerms {
	/** Whether its URL must prove what it is about. */
	needsProof: boolean;
	/** How long its body may take, in milliseconds. */
	bodyTime: number;
	/** How the service shows that it sent it; undefined where that is not checked. */
	sender: SenderRule | undefined;
	/** The path of the URL as the service has it: a proxy on the way may cut what n8n gets of it. */
	path: string;
	/** The words of the account, if it has any. */
	statusWords: StatusWords | undefined;
	/** What it must hold for the workflow to go on; undefined where any will do. */
	match: PostbackMatch | undefined;
	/** What a request whose URL proves nothing may be instead; undefined where that is nothing. */
	challenge?: ChallengeRule;
	/** n8n's own token, which the query of a resume URL holds. */
	resumeToken?: string;
}

/**
 * The one way in for a postback: proof, sender, body. Nothing of an unproven request is read but what makes it a
 * challenge, and nothing is read as a postback before its sender is known. Rejects where the body cannot be read.
 * @param reference what its URL proves
 * @returns the genuine postback, or n8n's value for a request that has its response
 */
export async function take(
	context: IWebhookFunctions,
	reference: Reference | null,
	terms: PostbackTerms,
): Promise<TakenPostback | { noWebhookResponse: true }> {
	const { sender, statusWords, match, resumeToken } = terms;
	// Whose URL is proven says which charge it is about, so it is no challenge.
	const challenge = reference === null ? terms.challenge : undefined;
	const genuine = await readGenuine(context, reference, terms);
	if ('fault' in genuine) {
		const responded = challenge && (await respondIfChallenge(context, challenge));
		return responded ?? refusePostback(context, 401, genuine.fault);
	}
	const known = { ...knownOfSender(sender, headersOf(context)), resumeToken };
	const postback = await readPostback(context, genuine.content, known);
	const taken = takenPostback(postback, reference);
	if (hasTooManyEntries(taken, statusWords, match)) {
		return refusePostback(context, 413, 'The list has too many entries');
	}
	// Its sender is known, or nobody asks for one.
	return (challenge && respondIfIn(context, challenge, taken)) ?? taken;
}

/** Reads the body of a request that proves what is asked of it; in words, why it does not. */
async function readGenuine(
	context: IWebhookFunctions,
	reference: Reference | null,
	{ needsProof, sender, path, bodyTime }: PostbackTerms,
): Promise<{ content: Buffer | FormOfN8n } | { fault: string }> {
	if (needsProof && reference === null) {
		return { fault: 'This address accepts only postbacks with a valid proof' };
	}
	const headers = headersOf(context);
	const wrongHeader = sender && headerFault(sender, headers);
	if (wrongHeader !== undefined) return { fault: `${UNKNOWN_SENDER}: ${wrongHeader}` };
	const content = await readContent(context, bodyTime);
	const { method } = context.getRequestObject();
	const wrongBody = sender && signatureFault(sender, { headers, method, path }, content);
	if (wrongBody !== undefined) return { fault: `${UNKNOWN_SENDER}: ${wrongBody}` };
	return { content };
}

const UNKNOWN_SENDER = 'The sender cannot be verified';

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
async function respondIfChallenge(
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
function respondIfIn(
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

/**
 * Refuses a postback: nothing starts or resumes. The log has neither its URL, nor a secret, nor its body.
 * @param reason what was thrown, if that is why. Its message is logged: ours and n8n's quote nothing of a
 * request, and the parsers of bodies keep their errors to themselves.
 */
export function refusePostback(
	context: IWebhookFunctions,
	statusCode: number,
	message: string,
	reason?: unknown,
): { noWebhookResponse: true } {
	const words = `Pay refused a postback (${statusCode}): ${message}`;
	const why = reason instanceof Error ? ` (${reason.name}: ${reason.message})` : '';
	logWarning(context, words + why);
	const response = context.getResponseObject();
	if (!response.headersSent) response.status(statusCode).json({ message });
	return { noWebhookResponse: true };
}

/** The status of an error that n8n found in the request, such as a body over its limit. */
function statusOfError(error: unknown): number {
	const { httpStatusCode, statusCode } = (error ?? {}) as Record<string, unknown>;
	const status = httpStatusCode ?? statusCode;
	return typeof status === 'number' && status >= 400 && status < 500 ? status : 500;
}

/**
 * Runs the work of a `webhook()`. After an error that gets out, n8n starts the workflow or resumes the
 * execution with an empty item, whoever called (measured on 2.41 and 1.123). So it is refused instead.
 */
export async function refuseOnError(
	context: IWebhookFunctions,
	work: () => Promise<IWebhookResponseData>,
): Promise<IWebhookResponseData> {
	try {
		return await work();
	} catch (error) {
		try {
			// Else a body that was left half read stands before the connection's next request.
			context.getResponseObject().setHeader('Connection', 'close');
			return refusePostback(
				context,
				statusOfError(error),
				'The postback could not be processed',
				error,
			);
		} catch {
			return { noWebhookResponse: true };
		}
	}
}

/** Says in the log that a genuine postback came with which the workflow does not go on. */
function logTaken(context: IWebhookFunctions, why: string, external_id: unknown): void {
	const sentence = `Pay received a postback, but the workflow does not continue with it: ${why}`;
	logWarning(context, sentence, { external_id });
}

/** Says so of one that lacks what was asked for, and what is there instead. */
export function logNotAwaited(context: IWebhookFunctions, why: string, taken: TakenPostback): void {
	logTaken(context, `${why}. The postback has: ${namesIn(taken)}`, taken.reference?.external_id);
}

/** Why a repeat starts nothing. */
export const REPEATED = 'it repeats a postback from the last ten minutes';

/**
 * Says so of a repeat.
 * @param postback as the workflow would get it
 */
export function logRepeat(context: IWebhookFunctions, { reference, claimed }: IDataObject): void {
	const { external_id } = (reference ?? claimed ?? {}) as IDataObject;
	logTaken(context, REPEATED, external_id);
}

/* What the sender of a postback gets, as a person chose it in a trigger or a wait. */

export const responseBodyField: INodeProperties = {
	displayName: 'Response Body',
	name: 'responseBody',
	type: 'string',
	noDataExpression: true,
	default: '',
	placeholder: 'e.g. OK',
	description:
		'Text of the response to postbacks, empty by default. JSON is sent as it is written, with the content type of JSON.',
};

export const responseCodeField: INodeProperties = {
	displayName: 'Response Code',
	name: 'responseCode',
	type: 'number',
	noDataExpression: true,
	typeOptions: { minValue: 200, maxValue: 299 },
	default: 200,
	description: 'HTTP status of the response to postbacks',
};

/** The status as the description of a webhook has it. */
export const RESPONSE_CODE = '={{ Number($parameter["options"]["responseCode"]) || 200 }}';

/** Refuses an expression in an option that is read for each request. Throws an InputError. */
export function refuseExpression(typedOptions: unknown, field: INodeProperties): void {
	const typed = isJsonObject(typedOptions) ? typedOptions[field.name] : undefined;
	if (!isExpression(typed)) return;
	throw wrongField(
		field,
		'is an expression, and there is no item yet that it could read',
		'Enter it under Options as text.',
	);
}

/**
 * Refuses a response that could not be given, or that asks for repeats. Throws an InputError.
 * @param typedOptions the options as they were typed
 * @param options the same as n8n has resolved them
 */
export function refuseWrongResponse(typedOptions: unknown, options: unknown = typedOptions): void {
	refuseExpression(typedOptions, responseBodyField);
	const { responseCode = 200 } = (options ?? {}) as { responseCode?: unknown };
	const code = Number(responseCode);
	if (Number.isInteger(code) && code >= 200 && code <= 299) return;
	throw wrongField(
		responseCodeField,
		`must be a whole number from 200 to 299, but is ${quoted(responseCode)}`,
		'With any other code, the service repeats each postback.',
	);
}

/** What a wait responds. */
export const responseOfWaitField: INodeProperties = {
	displayName: 'Options',
	name: 'options',
	type: 'collection',
	placeholder: 'Add Option',
	// A literal, because n8n's lint rule for collections takes nothing else.
	default: { ...BODY_UNREAD },
	options: [bodyUnreadOption, responseBodyField, responseCodeField],
};

/** Refuses the response of a wait as {@link refuseWrongResponse}, by its parameters as they were typed. */
export function refuseWrongResponseOfWait(typed: Readonly<Record<string, unknown>>): void {
	readFieldByField([responseOfWaitField], typed);
	refuseWrongResponse(typed.options);
}

/** Has n8n send a text of `webhook()` with another type than its own, which is text/html. */
function sendAs(context: IWebhookFunctions, contentType: string, text: string): string {
	const response = context.getResponseObject();
	response.setHeader('Content-Type', contentType);
	response.setHeader('X-Content-Type-Options', 'nosniff');
	return text;
}

/**
 * The text to respond to a postback with: what a person chose, byte for byte. Only an object or a list counts as
 * JSON: "OK" and 1 are texts that services ask for.
 * @param orElse where nothing was chosen
 */
export function responseText(context: IWebhookFunctions, orElse = ''): string {
	const options = context.getNode().parameters.options ?? {};
	const { responseBody } = options as { responseBody?: unknown };
	const text = String(responseBody ?? orElse);
	const value = jsonOrText(text);
	const isJson = typeof value === 'object' && value !== null;
	return isJson ? sendAs(context, 'application/json', text) : text;
}
