import type { NextFunction, Request, Response } from 'express';

/** A way for the service to misbehave, ordered by a test or by the base URL. */
export type Fault =
	| { kind: 'status'; status: number; body?: string; contentType?: string; location?: string }
	/** Answers normally after this many milliseconds. */
	| { kind: 'delay'; ms: number }
	/** Resets the connection on the request's headers, before its body was read. */
	| { kind: 'reset-before-body' }
	/** Takes the request, then resets the connection. */
	| { kind: 'reset-after-body' }
	/** Takes the request and closes the connection in the middle of the answer. */
	| { kind: 'hang-up' }
	/** Takes the request and never answers. */
	| { kind: 'no-answer' }
	/** Takes the request and answers what is not HTTP. */
	| { kind: 'garbage' };

/**
 * Reads a fault from the part of a base URL after `/fault/`, for example `status-500`,
 * `delay-2000`, `no-answer`.
 */
export function parseFault(name: string): Fault | undefined {
	const [, kind, number] = /^(status|delay)-(\d+)$/.exec(name) ?? [];
	if (kind === 'status') return { kind, status: Number(number) };
	if (kind === 'delay') return { kind, ms: Number(number) };
	const plain = ['reset-before-body', 'reset-after-body', 'hang-up', 'no-answer', 'garbage'];
	return plain.includes(name) ? ({ kind: name } as Fault) : undefined;
}

/** What is done instead of an answer, in words; undefined for what is answered. */
export function wordsOf({ kind }: Fault): string | undefined {
	switch (kind) {
		case 'reset-before-body':
		case 'reset-after-body':
			return 'The connection was reset.';
		case 'hang-up':
			return 'Half a response with status 200, then the connection was closed.';
		case 'garbage':
			return 'The response was not HTTP.';
		case 'no-answer':
			return 'No response was sent; the caller still waits, or has hung up.';
		default:
			return undefined;
	}
}

/** Plays a fault that comes after the request was taken. */
export function playFault(fault: Fault, request: Request, response: Response, next: NextFunction) {
	const { socket } = request;
	switch (fault.kind) {
		case 'status':
			if (fault.location !== undefined) response.setHeader('Location', fault.location);
			response
				.status(fault.status)
				.type(fault.contentType ?? 'application/json')
				.send(fault.body ?? JSON.stringify({ message: 'A fault was ordered' }));
			return;
		case 'delay':
			setTimeout(next, fault.ms);
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
		case 'no-answer':
			return;
	}
}
