import type {
	IBinaryData,
	INodeExecutionData,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import type { PostbackMatch } from '../parameters/condition';
import { otherAmountIn, otherIdIn, stateOf, type StatusWords } from '../parameters/description';
import { mismatchOf } from '../service/fieldMatch';
import type { PostedFile } from './body/multipart';
import { parseBody } from './body/parse';
import { parsedFormOf, withTextParts, type FileOnDisk, type ParsedForm } from './body/parsedForm';
import { readBytes, type RawRequest } from './body/readBytes';
import { parsePostback, toJson, type Postback, type PostbackContext } from './postback';
import type { Reference } from './proof';

/** The method of a postback is not documented (section 6), so all that carry one are taken. */
export const POSTBACK_METHODS = 'GET,POST,PUT,PATCH,DELETE';

function log(context: IWebhookFunctions, message: string, more: object = {}): void {
	const { id } = context.getWorkflow();
	context.logger.warn(message, { workflowId: id, node: context.getNode().name, ...more });
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
	log(context, reason instanceof Error ? `${words} (${reason.name}: ${reason.message})` : words);
	const response = context.getResponseObject();
	if (!response.headersSent) response.status(statusCode).json({ message });
	return { noWebhookResponse: true };
}

/** Refuses a request whose URL proves nothing. */
export const refuseUnproven = (context: IWebhookFunctions) =>
	refusePostback(context, 401, 'This address takes only postbacks with a valid proof');

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
				'The postback could not be taken',
				error,
			);
		} catch {
			return { noWebhookResponse: true };
		}
	}
}

/** Where a postback's fields are looked for. A person may type a path as the panel shows it, `body.status`. */
function sourcesOf({ body, query, isSignedByService }: Postback): unknown[] {
	// The service's signature is over the body: anybody can add to a query.
	if (isSignedByService) return [body, { body }, { postback: { body } }];
	const shown = { body, query };
	return [body, query, shown, { postback: shown }];
}

/**
 * Why the workflow does not go on with a postback; undefined where it does.
 * @param statusWords the words of the account, if it has any
 */
export function whyNotAwaited(
	match: PostbackMatch | undefined,
	postback: Postback,
	reference: Reference | null,
	statusWords: StatusWords | undefined,
): string | undefined {
	if (match === undefined) return undefined;
	const sources = sourcesOf(postback);
	const { amount, id } = match.compared ?? {};
	const mismatch = mismatchOf(match, ...sources) ?? otherIdIn(id, reference, sources);
	if (mismatch !== undefined) return mismatch;
	// Only what says "paid" must say the amount: what is pending or failed may say another one, or none.
	if (statusWords !== undefined && stateOf(statusWords, reference, ...sources) !== 'otherAmount') {
		return undefined;
	}
	return otherAmountIn(amount, reference, sources);
}

/** Says in the log that a genuine postback came with which the workflow does not go on. */
export function logNotAwaited(
	context: IWebhookFunctions,
	why: string,
	reference: Reference | null,
): void {
	const message = `Pay took a postback that the workflow does not go on with: ${why}`;
	log(context, message, { external_id: reference?.external_id });
}

/**
 * Refuses a request without the service's own signature of its body.
 * @param fault what is wrong with it, in words that follow a colon
 */
export const refuseWrongSignature = (context: IWebhookFunctions, fault: string) =>
	refusePostback(context, 401, `The signature of the service cannot be verified: ${fault}`);

/**
 * Reads the body of the request that called a webhook. n8n leaves it unread for {@link leaveBody}; where
 * it has read it before the node, the bytes are there, or the multipart form that it made of them.
 * Only after the URL's proof, where one is asked for: an unproven body may be anything, or never end.
 * @param bodyTime how long the body may take, in milliseconds
 */
export async function readContent(
	context: IWebhookFunctions,
	bodyTime: number,
): Promise<Buffer | ParsedForm> {
	const request = context.getRequestObject() as RawRequest;
	if (request.rawBody === undefined) {
		const form = parsedFormOf(request.body);
		if (form !== undefined) {
			return await withTextParts(form, async (path, type) => {
				const [part] = await loadFiles(context, [{ name: '', filename: 'part', type, path }]);
				return part === undefined ? undefined : parseBody(part.bytes, type).body;
			});
		}
	}
	const encoding = String(headersOf(context)['content-encoding'] ?? '');
	return await readBytes(request, encoding, bodyTime);
}

/** The headers of a request, by their names in small letters. */
export const headersOf = (context: IWebhookFunctions) =>
	context.getHeaderData() as Record<string, unknown>;

/** Reads a postback from its request and its body. */
export function readPostback(
	context: IWebhookFunctions,
	content: Buffer | ParsedForm,
	known: PostbackContext,
): Postback {
	const { method } = context.getRequestObject();
	const query = context.getQueryData() as Record<string, unknown>;
	return parsePostback({ method, query, headers: headersOf(context) }, content, known);
}

/** Hands n8n the files of a form that it has parsed, and reads them. Rejects where one cannot be read. */
async function loadFiles(
	{ helpers, nodeHelpers }: IWebhookFunctions,
	files: FileOnDisk[],
): Promise<Array<PostedFile & { data: IBinaryData }>> {
	const loaded: Array<PostedFile & { data: IBinaryData }> = [];
	for (const { path, ...file } of files) {
		const data = await nodeHelpers.copyBinaryFile(path, file.filename, file.type);
		const bytes =
			data.id === undefined
				? Buffer.from(data.data, 'base64')
				: await helpers.binaryToBuffer(await helpers.getBinaryStream(data.id));
		loaded.push({ ...file, bytes, data });
	}
	return loaded;
}

/**
 * The item for a postback, or that which waited for it and the postback, its files beside its own. Rejects
 * where n8n cannot give or store a file.
 * @param statusWords the words of the account, which give the postback's `state`
 */
export async function toPostbackItem(
	context: IWebhookFunctions,
	postback: Postback,
	reference: Reference | null,
	statusWords?: StatusWords,
	input?: INodeExecutionData,
): Promise<INodeExecutionData> {
	const loaded = await loadFiles(context, postback.filesOnDisk);
	const files: Array<PostedFile & { data?: IBinaryData }> = [...postback.files, ...loaded];
	const state =
		statusWords === undefined ? undefined : stateOf(statusWords, reference, ...sourcesOf(postback));
	const about = state === undefined ? { reference } : { reference, state };
	const json = toJson({ ...postback, files }, about);
	// A map: a field may be called like a member of every object.
	const binary = new Map(Object.entries(input?.binary ?? {}));
	const inputNames = new Set(binary.keys());
	for (const file of files) {
		const base = inputNames.has(file.name) ? `postback_${file.name}` : file.name;
		let name = base;
		for (let count = 2; binary.has(name); count++) name = `${base}_${count}`;
		const { bytes, filename, type, data } = file;
		binary.set(name, data ?? (await context.helpers.prepareBinaryData(bytes, filename, type)));
	}
	const item: INodeExecutionData = { json: input ? { ...input.json, postback: json } : json };
	if (binary.size > 0) item.binary = Object.fromEntries(binary);
	if (input) item.pairedItem = { item: 0 };
	return item;
}
