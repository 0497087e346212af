import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { InputError } from '../inputError';
import { parsePostbackUrl, postbackUrlHint, type PostbackChoice } from '../postback/postbackUrl';
import { signUrl } from '../postback/proof';
import type { RequestOf, Kind } from '../service/contract';
import type { PayCredential } from '../credential/connection';

/** Reads one parameter of one item. */
export type ReadParameter = (name: string) => unknown;

/** What the run needs to know of an kind of the service. */
export interface RequestOperation<O extends Kind> {
	kind: O;
	/** Items in flight at once unless the user says otherwise. */
	batchSize: number;
	/**
	 * Reads an item's parameters into the documented body, `postbackUrl` excepted.
	 * @throws InputError
	 */
	readRequest(read: ReadParameter): RequestOf[O];
	/** Adds to the output of an accepted item; gives a hint for the editor where that cannot be. */
	finish?(
		context: IExecuteFunctions,
		item: INodeExecutionData,
		itemIndex: number,
	): Promise<string | undefined>;
}

/** What the options of a run say, checked. */
export interface Settings {
	batchSize: number;
	batchInterval: number;
	timeout: number;
	checkDuplicates: boolean;
	allowAiPayments: boolean;
}

/** The options as n8n hands them over. */
export interface Options {
	batching?: { batch?: { batchSize?: unknown; batchInterval?: unknown } };
	timeout?: unknown;
	duplicateCheck?: string;
	allowAiPayments?: unknown;
}

function wholeNumber(value: unknown, field: string, least: number, fallback: number): number {
	if (value === undefined || value === '') return fallback;
	if (typeof value === 'number' && Number.isInteger(value) && value >= least) return value;
	throw new InputError(
		field,
		`${field} must be a whole number from ${least} up, but is ${JSON.stringify(value) ?? 'undefined'}`,
		'Correct it under Options.',
	);
}

/**
 * Reads the options, which hold for all items.
 * @throws InputError
 */
export function readSettings<O extends Kind>(
	options: Options,
	{ kind, batchSize }: RequestOperation<O>,
): Settings {
	const batch = options.batching?.batch ?? {};
	return {
		batchSize: wholeNumber(batch.batchSize, 'batchSize', 1, batchSize),
		batchInterval: wholeNumber(batch.batchInterval, 'batchInterval', 0, 0),
		timeout: wholeNumber(options.timeout, 'timeout', 1, 60_000),
		checkDuplicates: kind === 'payment' && options.duplicateCheck !== 'execution',
		allowAiPayments: options.allowAiPayments === true,
	};
}

/** What is known of an item, also of one that cannot be sent. */
export interface ItemFacts {
	external_id?: string;
	amount?: number;
}

/** An item as read: a request, or why there is none. */
export interface ItemRead<O extends Kind> {
	request?: RequestOf[O];
	facts: ItemFacts;
	error?: unknown;
	/** For the person in the editor, where a request is fine but will hardly do what is wanted. */
	hint?: string;
}

/** Resolves each parameter of an item once: an expression is what costs most in a run. */
function reader(context: IExecuteFunctions, index: number): ReadParameter {
	const values = new Map<string, unknown>();
	return (name) => {
		if (!values.has(name)) values.set(name, context.getNodeParameter(name, index, undefined));
		return values.get(name);
	};
}

/** The URL that an item's postback goes to, not yet signed; undefined where none is asked for. */
function chosenPostbackUrl(
	context: IExecuteFunctions,
	credential: PayCredential,
	read: ReadParameter,
	index: number,
): string | undefined {
	const choice = read('postback') as PostbackChoice;
	switch (choice) {
		case 'none':
			return undefined;
		case 'credential':
			return credential.postbackUrl ? parsePostbackUrl(credential.postbackUrl) : undefined;
		case 'url':
			return parsePostbackUrl(read('postbackUrl'));
		case 'resume':
			return parsePostbackUrl(context.evaluateExpression('{{ $execution.resumeUrl }}', index));
		default:
			throw new InputError(
				'postback',
				`Postback must be one of credential, none, resume and url, but is ${JSON.stringify(choice)}`,
				'Choose one from the list.',
			);
	}
}

/**
 * Reads one item's parameters into a request, with its postback URL signed where the credential has
 * a secret.
 * @returns never throws: what is wrong with an item concerns that item alone
 */
export function readItem<O extends Kind>(
	context: IExecuteFunctions,
	{ kind, readRequest }: RequestOperation<O>,
	credential: PayCredential,
	index: number,
): ItemRead<O> {
	const facts: ItemFacts = {};
	try {
		const read = reader(context, index);
		const given = read('external_id');
		// So that an item with a bad amount can be told by its id.
		if (typeof given === 'string' || typeof given === 'number') facts.external_id = String(given);
		const request = readRequest(read);
		const { external_id, amount } = request;
		Object.assign(facts, { external_id, amount });
		const url = chosenPostbackUrl(context, credential, read, index);
		if (url === undefined) return { request, facts };
		const secret = credential.postbackSecret;
		request.postbackUrl = secret ? signUrl(url, { external_id, kind, amount }, secret) : url;
		return { request, facts, hint: postbackUrlHint(url, !!secret) };
	} catch (error) {
		return { facts, error };
	}
}
