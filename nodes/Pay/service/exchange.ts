import type { IHttpRequestOptions } from 'n8n-workflow';
import type { TransportFailure } from './outcome';

/** The part of n8n's `helpers.httpRequest` that a request needs. */
export type HttpRequest = (options: IHttpRequestOptions) => Promise<unknown>;

export type Exchange =
	| {
			end: 'responded';
			statusCode: number;
			/** The text as it came, or what n8n had parsed already. */
			body: unknown;
			contentType: unknown;
			/** Its header Retry-After. */
			retryAfter: unknown;
			/** Whether it is proven to be a proxy's own response. Over plain HTTP nothing proves that. */
			byProxy: boolean;
	  }
	/** The head of a response came, the rest did not. */
	| { end: 'brokeOff'; statusCode: number; timedOut?: boolean; tooLong: boolean }
	| { end: 'failed'; failure: TransportFailure; timedOut?: boolean };

/** More than any response of this service can mean, in bytes; gzip can make gigabytes of kilobytes. */
export const MOST_BYTES = 10_000_000;

/** How long n8n's request helper may take to say what it knows of a request that was aborted, in milliseconds. */
const GRACE = 1_000;

/**
 * What n8n 2 should throw as errors: only its errors hold the request, and only the request says
 * whether the service or a proxy responded. A proxy's own response to an https: address has any status
 * but 200, which opens the tunnel. (n8n 1 throws none, and its responses hold the request.)
 */
const THROWN_STATUSES: number[] = [];
for (let status = 100; status < 1000; status++) {
	if (status !== 200) THROWN_STATUSES.push(status);
}

interface NodeSocket {
	encrypted?: boolean;
	secureConnecting?: boolean;
	errored?: Error | null;
}

interface NodeRequest {
	path?: string;
	writableFinished?: boolean;
	socket?: NodeSocket | null;
	destroy?: () => void;
}

/** By names in lower case, as Node and axios have them. */
type Headers = Readonly<Record<string, unknown>>;

interface Thrown {
	name?: string;
	code?: string;
	syscall?: string;
	request?: NodeRequest;
	response?: { status?: number; data?: unknown; headers?: Headers };
	cause?: { code?: string; syscall?: string };
}

interface Head {
	statusCode: number;
	body: unknown;
	contentType: unknown;
	retryAfter: unknown;
	request?: NodeRequest;
}

function headOfResult(result: unknown): Head {
	const { statusCode, body, headers } = result as {
		statusCode?: unknown;
		body?: { req?: NodeRequest };
		headers?: Headers;
	};
	return {
		statusCode: Number(statusCode),
		body,
		contentType: headers?.['content-type'],
		retryAfter: headers?.['retry-after'],
		request: body?.req,
	};
}

function headOfError({ request, response }: Thrown): Head | undefined {
	if (typeof response?.status !== 'number') return undefined;
	const { status, data, headers } = response;
	return {
		statusCode: status,
		body: data,
		contentType: headers?.['content-type'],
		retryAfter: headers?.['retry-after'],
		request,
	};
}

/**
 * Whether a response is not the service's. To an https: address a request goes through an encrypted
 * tunnel; a proxy that does not open one responds outside of it, and nothing of the request was sent.
 * To an http: address a proxy can respond as it likes, and nothing shows it.
 */
function isOutsideOfTls(url: string, request: NodeRequest | undefined): boolean {
	if (!url.startsWith('https:') || !request?.socket || request.socket.encrypted) return false;
	// A request whose path is a full URL went to the proxy in plain text, which carries it out.
	return request.path?.startsWith('/') === true;
}

/**
 * Whether it is sure that a request did not go out as a whole. The bytes leave Node's buffers only once
 * a connection stands, so what is not flushed did not all leave, and nothing did before the end of the
 * TLS handshake (Node 20 marks it as flushed then). Over TLS the buffers run behind the wire, so there a
 * request that is not flushed proves nothing.
 */
function isIncomplete(url: string, request: NodeRequest | undefined): boolean {
	const { socket, writableFinished } = request ?? {};
	if (isOutsideOfTls(url, request) || socket?.secureConnecting === true) return true;
	return writableFinished === false && socket?.encrypted !== true;
}

function readFailure(url: string, error: Thrown): TransportFailure {
	return {
		code: error.code ?? error.cause?.code,
		syscall: error.syscall ?? error.cause?.syscall,
		name: error.name,
		isIncomplete: isIncomplete(url, error.request),
	};
}

class TooLong extends Error {}

async function readToEnd(body: unknown): Promise<unknown> {
	if (body === undefined || body === null) return '';
	if (typeof body !== 'object') return body;
	if (body instanceof Uint8Array) return new TextDecoder().decode(body);
	if (!(Symbol.asyncIterator in body)) return body;
	const chunks: Buffer[] = [];
	let length = 0;
	for await (const chunk of body as AsyncIterable<Uint8Array | string>) {
		length += chunk.length;
		if (length > MOST_BYTES) throw new TooLong();
		chunks.push(Buffer.from(chunk as Uint8Array));
	}
	// Without a byte order mark, which JSON.parse would trip over.
	return new TextDecoder().decode(Buffer.concat(chunks));
}

/** Ends what is left of a request and of its response, as far as it can be ended. Never throws. */
function endTransfer(request: NodeRequest | undefined, body: unknown): void {
	for (const each of [request, body as { destroy?: () => void } | undefined]) {
		try {
			each?.destroy?.();
		} catch {
			// What an abort's listener throws ends the whole process.
			continue;
		}
	}
}

/** Gives the head of the response, which n8n may return or throw; or why there is none. Never rejects. */
async function readHead(
	httpRequest: HttpRequest,
	options: IHttpRequestOptions,
): Promise<Head | TransportFailure> {
	try {
		return headOfResult(await httpRequest(options));
	} catch (error) {
		const thrown = (error ?? {}) as Thrown;
		return headOfError(thrown) ?? readFailure(options.url, thrown);
	}
}

/** Makes the request and reads the response to its end; never rejects. */
async function makeRequest(
	httpRequest: HttpRequest,
	options: IHttpRequestOptions,
	stop: AbortSignal,
): Promise<Exchange> {
	const head = await readHead(httpRequest, options);
	if (!('statusCode' in head)) return { end: 'failed', failure: head };
	const { statusCode, body, contentType, retryAfter, request } = head;
	const byProxy = isOutsideOfTls(options.url, request);
	// n8n's helper forgets the signal once it has the head. So from here on the rest is ended by ourselves.
	const release = () => endTransfer(request, body);
	stop.addEventListener('abort', release, { once: true });
	if (stop.aborted) release();
	try {
		const whole = await readToEnd(body);
		// A body without a length ends with the connection; a reset is not such an end.
		if (request?.socket?.errored) return { end: 'brokeOff', statusCode, tooLong: false };
		return { end: 'responded', statusCode, body: whole, contentType, retryAfter, byProxy };
	} catch (error) {
		release();
		return { end: 'brokeOff', statusCode, tooLong: error instanceof TooLong };
	}
}

/**
 * The end of an exchange: when its clock does, the request is aborted, and n8n's helper has a moment to say
 * what it knows of it. After that nobody waits for it any more.
 */
class Deadline {
	private readonly controller = new AbortController();
	private readonly stop = () => this.controller.abort();

	constructor(private readonly clock: AbortSignal) {
		clock.addEventListener('abort', this.stop, { once: true });
	}

	/** Aborts the request. */
	get signal(): AbortSignal {
		return this.controller.signal;
	}

	/** Resolves when the moment after the abort is over. */
	async passed(): Promise<Exchange> {
		await aborted(this.signal);
		await aborted(AbortSignal.timeout(GRACE));
		return { end: 'failed', failure: {} };
	}

	/** Forgets the clock; else each request would stay in memory until its time-out. */
	release(): void {
		this.clock.removeEventListener('abort', this.stop);
	}
}

/** Resolves when a signal is aborted. */
async function aborted(signal: AbortSignal): Promise<void> {
	await new Promise<void>((resolve) => {
		signal.addEventListener('abort', () => resolve(), { once: true });
	});
}

/**
 * One POST and its response under our own clock: n8n's time-out ends with the response's head, and
 * some responses (101) never settle its promise. Never rejects, and always settles.
 * @param clock aborts when the time for the whole exchange is over, the response's body included
 */
export async function exchange(
	httpRequest: HttpRequest,
	options: Pick<IHttpRequestOptions, 'url' | 'headers' | 'body'>,
	clock: AbortSignal,
): Promise<Exchange> {
	const deadline = new Deadline(clock);
	const request: IHttpRequestOptions = {
		...options,
		method: 'POST',
		// A compressed response hides who gave it, and its size.
		headers: { ...options.headers, 'Accept-Encoding': 'identity' },
		encoding: 'stream',
		returnFullResponse: true,
		// Not what it seems: these are thrown so that the request can be looked at.
		ignoreHttpStatusErrors: { ignore: true, except: THROWN_STATUSES },
		// Redirects would carry the body and the token elsewhere.
		disableFollowRedirect: true,
		// n8n's own is 300 s; ours alone decides.
		timeout: 0,
		abortSignal: deadline.signal,
	};
	// Before the request: it may be aborted while it begins.
	const passed = deadline.passed();
	const response = await Promise.race([makeRequest(httpRequest, request, deadline.signal), passed]);
	deadline.release();
	const isTimedOut = response.end !== 'responded' && deadline.signal.aborted;
	return isTimedOut ? { ...response, timedOut: true } : response;
}
