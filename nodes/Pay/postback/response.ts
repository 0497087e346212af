import type { INodeProperties, IWebhookFunctions } from 'n8n-workflow';
import { isJsonObject, jsonOrText } from '../json';
import { quoted, wrongField } from '../parameters/label';
import { LEAVE_BODY, leaveBodyOption } from '../parameters/leaveBody';
import { requireFieldByField } from '../parameters/parameter';

/* What the sender of a postback gets, as a person chose it in a trigger or a wait. */

export const responseBodyField: INodeProperties = {
	displayName: 'Response Body',
	name: 'responseBody',
	type: 'string',
	noDataExpression: true,
	default: '',
	placeholder: 'e.g. OK',
	description:
		'Text to respond to postbacks with. JSON goes out with the type of JSON, as it is written. Empty unless set.',
};

export const responseCodeField: INodeProperties = {
	displayName: 'Response Code',
	name: 'responseCode',
	type: 'number',
	noDataExpression: true,
	typeOptions: { minValue: 200, maxValue: 299 },
	default: 200,
	description: 'HTTP status to respond to postbacks with',
};

/** The status as the description of a webhook has it. */
export const RESPONSE_CODE = '={{ Number($parameter["options"]["responseCode"]) || 200 }}';

/** Refuses an expression in an option that is read for each request. Throws an InputError. */
export function refuseExpression(typedOptions: unknown, field: INodeProperties): void {
	const typed = isJsonObject(typedOptions) ? typedOptions[field.name] : undefined;
	if (typeof typed !== 'string' || !typed.startsWith('=')) return;
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
		'With another one the service repeats each postback.',
	);
}

/** What a wait responds. */
export const responseOfWaitField: INodeProperties = {
	displayName: 'Options',
	name: 'options',
	type: 'collection',
	placeholder: 'Add Option',
	// A literal, because n8n's lint rule for collections takes nothing else.
	default: { ...LEAVE_BODY },
	options: [leaveBodyOption, responseBodyField, responseCodeField],
};

/** Refuses the response of a wait as {@link refuseWrongResponse}, by its parameters as they were typed. */
export function refuseWrongResponseOfWait(typed: Readonly<Record<string, unknown>>): void {
	requireFieldByField([responseOfWaitField], typed);
	refuseWrongResponse(typed.options);
}

/** Has n8n send a text of `webhook()` with another type than its own, which is text/html. */
export function sendAs(context: IWebhookFunctions, contentType: string, text: string): string {
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
