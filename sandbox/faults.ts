import type { NextFunction, Request, Response } from 'express';

/** Ways in which a connection fails. */
const CONNECTION_FAULTS = [
	/** Resets the connection on the request's headers, before its body was read. */
	'reset-before-body',
	/** Takes the request, then resets the connection. */
	'reset-after-body',
	/** Takes the request and closes the connection in the middle of the response. */
	'hang-up',
	/** Takes the request and never responds. */
	'no-response',
	/** Takes the request and responds with what is not HTTP. */
	'garbage',
] as const;

/** A way for the service to misbehave, ordered by a test, by the page or by the base URL. */
export type Fault =
	| {
			kind: 'status';
			status: number;
			body?: string;
			contentType?: string;
			location?: string;
			retryAfter?: string;
	  }
	/** Responds as usual, after this many milliseconds. */
	| { kind: 'delay'; ms: number }
	| { kind: (typeof CONNECTION_FAULTS)[number] };

/**
 * Reads a fault from the part of a base URL after `/fault/`, for example `status-500`,
 * `delay-2000`, `no-response`.
 */
export function parseFault(name: string): Fault | undefined {
	const [, numbered, number] = /^(status|delay)-(\d+)$/.exec(name) ?? [];
	if (numbered === 'status') return { kind: 'status', status: Number(number) };
	if (numbered === 'delay') return { kind: 'delay', ms: Number(number) };
	const kind = CONNECTION_FAULTS.find((fault) => fault === name);
	return kind === undefined ? undefined : { kind };
}

/** What is done instead of a response, in words; undefined where there is a response. */
export function wordsOf({ kind }: Fault): string | undefined {
	switch (kind) {
		case 'reset-before-body':
		case 'reset-after-body':
			return 'The connection was reset.';
		case 'hang-up':
			return 'Half a response with status 200, then the connection was closed.';
		case 'garbage':
			return 'The response was not HTTP.';
		case 'no-response':
			return 'No response was sent; the caller still waits, or has hung up.';
		default:
			return undefined;
	}
}

/**
 * Plays a fault that comes after the request was taken.
 * @param respond what comes after a delay; the other faults take its place
 */
export function playFault(
	fault: Fault,
	request: Request,
	response: Response,
	respond: NextFunction,
): void {
	const { socket } = request;
	switch (fault.kind) {
		case 'status':
			if (fault.location !== undefined) response.setHeader('Location', fault.location);
			if (fault.retryAfter !== undefined) response.setHeader('Retry-After', fault.retryAfter);
			response
				.status(fault.status)
				.type(fault.contentType ?? 'application/json')
				.send(fault.body ?? JSON.stringify({ message: 'A fault was ordered' }));
			return;
		case 'delay':
			// Whoever waits for it keeps the process; it does not.
			setTimeout(respond, fault.ms).unref();
			return;
		case 'reset-before-body':
		case 'reset-after-body':
			socket?.resetAndDestroy();
			return;
		case 'hang-up':
			socket?.write(
				'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"id":',
			);
			setTimeout(() => socket?.destroy(), 50);
			return;
		case 'garbage':
			socket?.end('This is not HTTP\r\n\r\n');
			return;
		case 'no-response':
			return;
	}
}
