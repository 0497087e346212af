import type {
	IDataObject,
	INodeProperties,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { isJsonObject, jsonOrText } from '../base/json';
import { logWarning } from '../base/log';
import { isExpression } from '../base/n8n';
import { readFieldByField } from '../fields/expressions';
import { quoted, wrongField } from '../fields/label';
import { BODY_UNREAD, bodyUnreadOption } from '../fields/options';
import { namesIn, type TakenPostback } from './match';

/**
 * Refuses a postback: nothing starts or resumes. The log has neither its URL, nor a secret, nor its body.
 * @param reason the error that was thrown, if there was one. Its message is logged, because neither our errors nor
 * n8n's quote anything of a request
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
 * Runs the work of a `webhook()`. If an error escaped, n8n would start the workflow or resume the execution with an
 * empty item, whoever called (measured on 2.41 and 1.123). So the request is refused instead.
 */
export async function refuseOnError(
	context: IWebhookFunctions,
	work: () => Promise<IWebhookResponseData>,
): Promise<IWebhookResponseData> {
	try {
		return await work();
	} catch (error) {
		try {
			// Otherwise the unread rest of a body would stand before the connection's next request.
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

/** Logs a genuine postback with which the workflow does not continue. */
function logTaken(context: IWebhookFunctions, why: string, external_id: unknown): void {
	const sentence = `Pay received a postback, but the workflow does not continue with it: ${why}`;
	logWarning(context, sentence, { external_id });
}

/** Logs a postback that does not meet the condition, and the fields that it has. */
export function logNotAwaited(context: IWebhookFunctions, why: string, taken: TakenPostback): void {
	logTaken(context, `${why}. The postback has: ${namesIn(taken)}`, taken.reference?.external_id);
}

/** Why a repeat starts nothing. */
export const REPEATED = 'it repeats a postback from the last ten minutes';

/**
 * Logs a repeat.
 * @param postback as the workflow would get it
 */
export function logRepeat(context: IWebhookFunctions, { reference, claimed }: IDataObject): void {
	const { external_id } = (reference ?? claimed ?? {}) as IDataObject;
	logTaken(context, REPEATED, external_id);
}

/* The response to a postback, as a person set it in a trigger or a wait. */

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

/** The response code, for the description of a webhook. */
export const RESPONSE_CODE = '={{ Number($parameter["options"]["responseCode"]) || 200 }}';

/** Refuses an expression in an option that is read for each request. */
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
 * Refuses a response that could not be sent, or after which the service would repeat each postback.
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

/** Has n8n send the text that `webhook()` gives with this type. By itself it would send text/html. */
export function sendAs(context: IWebhookFunctions, contentType: string, text: string): string {
	const response = context.getResponseObject();
	response.setHeader('Content-Type', contentType);
	response.setHeader('X-Content-Type-Options', 'nosniff');
	return text;
}

/**
 * The text to respond to a postback with: what a person chose, byte for byte. Only an object or a list counts as
 * JSON: "OK" and 1 are texts that services ask for.
 * @param orElse the text where nothing was chosen
 */
export function responseText(context: IWebhookFunctions, orElse = ''): string {
	const options = context.getNode().parameters.options ?? {};
	const { responseBody } = options as { responseBody?: unknown };
	const text = String(responseBody ?? orElse);
	const value = jsonOrText(text);
	const isJson = typeof value === 'object' && value !== null;
	return isJson ? sendAs(context, 'application/json', text) : text;
}
