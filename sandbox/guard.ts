import type { NextFunction, Request, Response } from 'express';

/**
 * Names under which this machine is meant. Another name that leads here is a web page's, whose
 * owner pointed it at 127.0.0.1 to read and post as if the sandbox were its own (DNS rebinding).
 */
const OWN_NAMES = /^(127\.0\.0\.1|\[::1\]|([\w-]+\.)*localhost|host\.docker\.internal)$/i;

/** Why a request comes from a web page that is not the sandbox's own; undefined, if it does not. */
function whyForeign({ headers, method }: Request): { status: number; message: string } | undefined {
	const { host = '', origin, 'sec-fetch-site': site } = headers;
	if (!OWN_NAMES.test(host.replace(/:\d+$/, ''))) {
		return { status: 421, message: 'The sandbox responds to localhost and 127.0.0.1 only' };
	}
	if (method === 'GET' || method === 'HEAD') return undefined;
	// Browsers name the page that sends a POST; n8n sends neither header.
	const isOwnOrigin = origin === undefined || origin === `http://${host}`;
	const isOwnSite = site === undefined || site === 'same-origin';
	if (isOwnOrigin && isOwnSite) return undefined;
	return { status: 403, message: 'The sandbox takes no requests from other web pages' };
}

/**
 * Keeps other web pages in the person's browser away.
 * @param onRejection is called with a request before it is rejected
 */
export function guard(onRejection: (request: Request, response: Response) => void) {
	return (request: Request, response: Response, next: NextFunction) => {
		const reason = whyForeign(request);
		if (reason === undefined) return next();
		onRejection(request, response);
		response.status(reason.status).json({ message: reason.message });
	};
}
