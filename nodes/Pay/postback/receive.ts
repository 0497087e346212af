import { createHash } from 'crypto';
import {
	sleep,
	type IBinaryData,
	type IDataObject,
	type INodeExecutionData,
	type IWebhookFunctions,
	type IWebhookResponseData,
} from 'n8n-workflow';
import { mismatchOf, type FieldMatch } from '../parameters/fieldMatch';
import { isMultipartForm, readDelivery, toNotification, type Postback } from './notification';
import type { Proof } from './proof';

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

/**
 * Answers a caller whose postback is not taken: nothing starts and nothing resumes. Logged without
 * the URL, whose proof is a secret, and without the body.
 */
export function refuse(
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

/** The status of an error that n8n found in the request, as of a body over its limit. */
function statusOf(error: unknown): number {
	const { httpStatusCode, statusCode } = (error ?? {}) as Record<string, unknown>;
	const status = httpStatusCode ?? statusCode;
	return typeof status === 'number' && status >= 400 && status < 500 ? status : 500;
}

/**
 * Runs the work of a `webhook()`, none of whose failures may get out: when one does, n8n goes on
 * with an empty item and starts the workflow or resumes the execution, whoever called (measured on
 * 2.41 and 1.123). A failure is answered and logged instead, and the sender may come again.
 */
export async function answered(
	context: IWebhookFunctions,
	work: () => Promise<IWebhookResponseData>,
): Promise<IWebhookResponseData> {
	try {
		return await work();
	} catch (error) {
		try {
			return refuse(context, statusOf(error), 'The postback could not be taken', error);
		} catch {
			return { noWebhookResponse: true };
		}
	}
}

/** How long a form's last bytes may take, in milliseconds. */
const LAST_BYTES = 10_000;

/**
 * Awaits the end of a request: n8n is done with a form at its last boundary, and the end of the
 * request may come some milliseconds later.
 */
async function ended(request: RawRequest): Promise<void> {
	if (request.complete !== false || request.destroyed === true) return;
	const end = new Promise<void>((resolve) => {
		for (const event of ['end', 'close', 'error']) request.on?.(event, resolve);
		request.resume?.();
	});
	await Promise.race([end, sleep(LAST_BYTES)]);
}

/**
 * Whether a postback is one that the workflow goes on with. Nobody hears of one that is not, but for
 * the log: a wrong field would be silence.
 */
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
 * Reads the request that called a webhook, its files excepted. Only after its proof: an unproven
 * body may be anything, or never end.
 * @param resumeToken n8n's own token, where the request came to a resume URL
 */
export async function readPostback(
	context: IWebhookFunctions,
	resumeToken?: string,
): Promise<Postback> {
	const request = context.getRequestObject();
	const headers = context.getHeaderData() as Record<string, unknown>;
	const raw = request as RawRequest;
	if (isMultipartForm(headers)) {
		await ended(raw);
		// n8n 1 hides that from the reader of a form, and gives the fields that had come.
		if (raw.complete === false) {
			throw new Error('The connection was cut before the end of the form');
		}
	}
	// n8n has read a multipart form itself, and reading it again throws.
	if (raw.rawBody === undefined && !isMultipartForm(headers)) await raw.readRawBody?.();
	return readDelivery({
		method: request.method,
		query: context.getQueryData() as Record<string, unknown>,
		headers,
		rawBody: raw.rawBody ?? Buffer.alloc(0),
		parsedBody: context.getBodyData(),
		receivedAt: new Date(),
		resumeToken,
	});
}

async function hashOf(context: IWebhookFunctions, { id, data }: IBinaryData): Promise<string> {
	const hash = createHash('sha256');
	if (id === undefined) return hash.update(data, 'base64').digest('hex');
	for await (const chunk of await context.helpers.getBinaryStream(id)) hash.update(chunk as Buffer);
	return hash.digest('hex');
}

/** A file of a postback, kept as binary data. */
interface KeptFile {
	name: string;
	hash: string;
	binary: IBinaryData;
}

/** Keeps the files of a multipart form: one by its field's name, more with numbers behind it. */
async function keepFiles(context: IWebhookFunctions): Promise<KeptFile[]> {
	if (!isMultipartForm(context.getHeaderData() as Record<string, unknown>)) return [];
	const { files } = context.getBodyData() as { files?: Record<string, FormFile | FormFile[]> };
	const kept: KeptFile[] = [];
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

/** A name that is not taken yet, which it is from then on. */
function freeName(wanted: string, taken: Set<string>): string {
	let name = wanted;
	for (let count = 2; taken.has(name); count++) name = `${wanted}_${count}`;
	taken.add(name);
	return name;
}

/**
 * The item for a postback that is taken.
 * @param proof what its URL proved, or null
 * @param input the item that waited for it, which it is added to; files whose name is taken there
 *   get the prefix `postback_`
 */
export async function toItem(
	context: IWebhookFunctions,
	postback: Postback,
	proof: Proof | null,
	input?: INodeExecutionData,
): Promise<INodeExecutionData> {
	const files = await keepFiles(context);
	const hashes = files.map(({ name, hash }): [string, string] => [name, hash]);
	const notification = toNotification(postback, proof, hashes) as unknown as IDataObject;
	const given = input?.binary ?? {};
	const names = new Set(Object.keys(given));
	const binary = Object.fromEntries<IBinaryData>([
		...Object.entries(given),
		...files.map((file): [string, IBinaryData] => [
			freeName(Object.hasOwn(given, file.name) ? `postback_${file.name}` : file.name, names),
			file.binary,
		]),
	]);
	return {
		json: input ? { ...input.json, postback: notification } : notification,
		...(Object.keys(binary).length > 0 ? { binary } : {}),
		...(input ? { pairedItem: { item: 0 } } : {}),
	};
}
