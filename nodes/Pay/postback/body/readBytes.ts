import { within } from '../../within';
import { BodyError } from './bodyError';

/** What n8n and Node.js give of a request beside what n8n's types name. */
export interface RawRequest {
	/** What n8n made of the body, where it read it before the node. */
	body?: unknown;
	/** False until the request's end has come, and for good where the connection was cut before. */
	complete?: boolean;
	headers?: Record<string, unknown>;
	on?: (event: string, listener: () => void) => void;
	rawBody?: Buffer;
	/** Keeps n8n's limit of size, of what is unzipped too. */
	readRawBody?: () => Promise<void>;
}

/** The codings that n8n undoes: each by its names in the header, with the name that n8n knows. */
const UNDONE_BY_N8N = new Map([
	['gzip', 'gzip'],
	['x-gzip', 'gzip'],
	['deflate', 'deflate'],
]);
/** The other content codings that IANA has registered. What else stands in the header is no coding. */
const OTHER_CODINGS = new Set([
	'aes128gcm',
	'br',
	'compress',
	'dcb',
	'dcz',
	'exi',
	'pack200-gzip',
	'x-compress',
	'zstd',
]);

/**
 * The coding of a body by the name that n8n undoes it by; "" where there is none. Senders also write
 * charsets or "none" there (`UTF-8`, `8bit`), whose bodies are as they are.
 */
function codingOf(contentEncoding: string): string {
	const codings: string[] = [];
	for (const label of contentEncoding.toLowerCase().split(',')) {
		const name = label.trim();
		if (UNDONE_BY_N8N.has(name) || OTHER_CODINGS.has(name)) codings.push(name);
	}
	const [first = ''] = codings;
	if (codings.length > 1 || OTHER_CODINGS.has(first)) {
		throw new BodyError(
			415,
			`A body in the content coding "${codings.join(', ').slice(0, 40)}" cannot be read, send it in gzip, deflate or as it is`,
		);
	}
	return UNDONE_BY_N8N.get(first) ?? '';
}

/**
 * Has n8n read a body. n8n looks at the header before its first pause, and knows a coding in small letters
 * only; so for that moment the header is put into that form.
 */
async function readRawBody(request: RawRequest, coding: string): Promise<void> {
	const { headers = {} } = request;
	const sent = headers['content-encoding'];
	if (sent === undefined) return await request.readRawBody?.();
	headers['content-encoding'] = coding;
	const reading = request.readRawBody?.();
	headers['content-encoding'] = sent;
	await reading;
}

/** Fails where the connection ends before the body: n8n never learns that a zipped body was cut. */
async function cutOff(request: RawRequest): Promise<never> {
	return await new Promise<never>((_, reject) => {
		request.on?.('close', () => {
			if (request.complete === false) reject(new Error('The body was cut off'));
		});
	});
}

/**
 * Reads the bytes of a body, unzipped.
 * @param contentEncoding the header of that name; "" where there is none
 * @param ms how long the body may take, in milliseconds
 */
export async function readBytes(
	request: RawRequest,
	contentEncoding: string,
	ms: number,
): Promise<Buffer> {
	const coding = codingOf(contentEncoding);
	const isReadByN8n = request.rawBody !== undefined;
	if (isReadByN8n && coding !== '' && contentEncoding !== coding) {
		// n8n by itself knows no other spelling, and has left it packed.
		throw new BodyError(415, `Send the header Content-Encoding as "${coding}"`);
	}
	if (!isReadByN8n) {
		const reading = readRawBody(request, coding);
		if (request.complete === false) {
			const late = () => new BodyError(408, 'The body took too long');
			await within(Promise.race([reading, cutOff(request)]), ms, late);
		} else {
			await reading;
		}
	}
	return request.rawBody ?? Buffer.alloc(0);
}
