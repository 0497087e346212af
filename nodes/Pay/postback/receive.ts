import { createHash } from 'crypto';
import {
	sleep,
	type IBinaryData,
	type INodeExecutionData,
	type IWebhookFunctions,
	type IWebhookResponseData,
} from 'n8n-workflow';
import { mismatchOf, type FieldMatch } from '../parameters/fieldMatch';
import { isMultipartForm, parsePostback, toJson, type Postback } from './postback';
import type { Reference } from './proof';

/** The method of a postback is not documented (section 6), so all that carry one are taken. */
export const POSTBACK_METHODS = 'GET,POST,PUT,PATCH,DELETE';

interface RawRequest {
	/** False until the request's end has come, and for good where the connection was cut before. */
	complete?: boolean;
	destroyed?: boolean;
	on?: (event: string, listener: () => void) => void;
	resume?: () => void;
	rawBody?: Buffer;
	readRawBody?: () => Promise<void>;
}

/** A file of a multipart form as n8n left it. */
interface FormFile {
	filepath: string;
	originalFilename?: string | null;
	newFilename?: string;
	mimetype?: string | null;
}

function log(context: IWebhookFunctions, message: string): void {
	const { id } = context.getWorkflow();
	context.logger.warn(message, { workflowId: id, node: context.getNode().name });
}

/** Refuses a postback: nothing starts or resumes. The log has neither its URL, a secret, nor its body. */
export function refusePostback(
	context: IWebhookFunctions,
	statusCode: number,
	message: string,
	reason?: unknown,
): { noWebhookResponse: true } {
	const because = reason instanceof Error ? ` (${reason.name}: ${reason.message})` : '';
	log(context, `Pay refused a postback (${statusCode}): ${message}${because}`);
	const response = context.getResponseObject();
	if (!response.headersSent) response.status(statusCode).json({ message });
	return { noWebhookResponse: true };
}

/** Refuses a request whose URL proves nothing. */
export const refuseUnproven = (context: IWebhookFunctions) =>
	refusePostback(context, 401, 'This address takes only postbacks with a valid proof');

/** The status of an error that n8n found in the request, such as a body over its limit. */
function statusOf(error: unknown): number {
	const { httpStatusCode, statusCode } = (error ?? {}) as Record<string, unknown>;
	const status = httpStatusCode ?? statusCode;
	return typeof status === 'number' && status >= 400 && status < 500 ? status : 500;
}

/**
 * Runs the work of a `webhook()`. After an error that gets out, n8n starts the workflow or resumes the
 * execution with an empty item, whoever called (measured on 2.41 and 1.123). So it is refused instead.
 */
export async function answered(
	context: IWebhookFunctions,
	work: () => Promise<IWebhookResponseData>,
): Promise<IWebhookResponseData> {
	try {
		return await work();
	} catch (error) {
		try {
			return refusePostback(context, statusOf(error), 'The postback could not be taken', error);
		} catch {
			return { noWebhookResponse: true };
		}
	}
}

/** How long a form's last bytes may take, in milliseconds. */
const LAST_BYTES = 10_000;

/** Awaits the end of a request, which may come after the last boundary, where n8n is done with a form. */
async function ended(request: RawRequest): Promise<void> {
	if (request.complete !== false || request.destroyed === true) return;
	const end = new Promise<void>((resolve) => {
		for (const event of ['end', 'close', 'error']) request.on?.(event, resolve);
		request.resume?.();
	});
	await Promise.race([end, sleep(LAST_BYTES)]);
}

/** Whether the workflow goes on with a postback. If not, only the log says so and why. */
export function isAwaited(
	context: IWebhookFunctions,
	match: FieldMatch | undefined,
	{ body, query }: Postback,
): boolean {
	if (match === undefined) return true;
	// As nodes show a postback, so that a path may be typed as it is seen.
	const shown = { body, query };
	const why = mismatchOf(match, body, query, shown, { postback: shown });
	if (why === undefined) return true;
	log(context, `Pay took a postback that the workflow does not go on with: ${why}`);
	return false;
}

/**
 * Reads the request that called a webhook, without its files. Only after its proof: an unproven body
 * may be anything, or never end. A request to a resume URL holds n8n's own token.
 */
export async function readPostback(
	context: IWebhookFunctions,
	resumeToken?: string,
): Promise<Postback> {
	const request = context.getRequestObject();
	const { method } = request;
	const raw = request as RawRequest;
	const headers = context.getHeaderData() as Record<string, unknown>;
	const query = context.getQueryData() as Record<string, unknown>;
	if (!isMultipartForm(headers)) {
		if (raw.rawBody === undefined) await raw.readRawBody?.();
	} else {
		// n8n has read the form. If the connection was cut, n8n 1 gives the fields that had come.
		await ended(raw);
		if (raw.complete === false) {
			throw new Error('The connection was cut before the end of the form');
		}
	}
	const bytes = raw.rawBody ?? Buffer.alloc(0);
	return parsePostback({ method, query, headers }, bytes, context.getBodyData(), resumeToken);
}

async function hashOf(context: IWebhookFunctions, { id, data }: IBinaryData): Promise<string> {
	const hash = createHash('sha256');
	if (id === undefined) return hash.update(data, 'base64').digest('hex');
	for await (const chunk of await context.helpers.getBinaryStream(id)) hash.update(chunk as Buffer);
	return hash.digest('hex');
}

/** Keeps the files of a multipart form: one by its field's name, more with numbers behind it. */
async function keepFiles(context: IWebhookFunctions) {
	const kept: Array<{ name: string; hash: string; binary: IBinaryData }> = [];
	if (!isMultipartForm(context.getHeaderData() as Record<string, unknown>)) return kept;
	const { files } = context.getBodyData() as { files?: Record<string, FormFile | FormFile[]> };
	for (const [field, found] of Object.entries(files ?? {})) {
		const list = [found].flat();
		for (const [index, file] of list.entries()) {
			const { filepath, originalFilename, newFilename, mimetype } = file;
			const binary = await context.nodeHelpers.copyBinaryFile(
				filepath,
				originalFilename ?? newFilename ?? field,
				mimetype ?? undefined,
			);
			const name = list.length === 1 ? field : `${field}${index}`;
			kept.push({ name, hash: await hashOf(context, binary), binary });
		}
	}
	return kept;
}

/** The item for a postback, or that which waited for it and the postback, its files beside its own. */
export async function toItem(
	context: IWebhookFunctions,
	postback: Postback,
	reference: Reference | null,
	input?: INodeExecutionData,
): Promise<INodeExecutionData> {
	const files = await keepFiles(context);
	const json = toJson(
		postback,
		reference,
		files.map(({ name, hash }) => [name, hash]),
	);
	// A map: a field may be called like a member of every object.
	const binary = new Map(Object.entries(input?.binary ?? {}));
	const given = new Set(binary.keys());
	for (const file of files) {
		const wanted = given.has(file.name) ? `postback_${file.name}` : file.name;
		let name = wanted;
		for (let count = 2; binary.has(name); count++) name = `${wanted}_${count}`;
		binary.set(name, file.binary);
	}
	return {
		json: input ? { ...input.json, postback: json } : json,
		...(binary.size > 0 ? { binary: Object.fromEntries(binary) } : {}),
		...(input ? { pairedItem: { item: 0 } } : {}),
	};
}
