import { isJsonObject } from '../base/json';
import { MOST_BYTES } from './exchange';
import type { TransportFailure } from './outcome';
import type { Paths } from './paths';

/**
 * Why a request was not sent, or why it is not known what came of it: facts, since executions keep them
 * for longer than a sentence. None holds a secret.
 */
export type Reason =
	| { is: 'timedOut' }
	/** n8n does not let requests out to this host. */
	| { is: 'hostBlocked' }
	/** With Node's word for the failure. */
	| { is: 'connectionFailed'; code?: string }
	/** A proxy on the way did not connect to the service. */
	| { is: 'stoppedByProxy'; statusCode: number }
	/** The body of a response: longer than is read, still coming when the request timed out, or cut. */
	| { is: 'tooLong' | 'notEndedInTime' | 'brokeOff'; statusCode: number }
	/** Something failed in n8n, behind the request or before it. */
	| { is: 'notReadable' | 'notWritable' }
	/** A 2xx without any of the Accepted Values. */
	| { is: 'notConfirmed'; field: Paths }
	/** A response with one of the Rejected Values, and where. */
	| { is: 'saidNo'; path: string }
	/** A response with one of the Accepted Values, and where, whose status says no. */
	| { is: 'saidYes'; path: string }
	/** A web page in place of a response. */
	| { is: 'webPage'; title: string }
	| { is: 'notJson' };

const FAILURES: Readonly<Record<string, string>> = {
	ENOTFOUND: 'the host name is not known',
	EAI_AGAIN: 'the host name could not be looked up',
	ECONNREFUSED: 'the connection was refused',
	EHOSTUNREACH: 'the host cannot be reached',
	ENETUNREACH: 'the network cannot be reached',
	ECONNRESET: 'the connection was broken',
	ECONNABORTED: 'the request timed out',
	ETIMEDOUT: 'the request timed out',
	EPIPE: 'the connection was broken',
	ERR_BAD_RESPONSE: 'the response broke off',
	ERR_CANCELED: 'the request was cancelled',
	EPROTO: 'the address does not use https',
	CERT_HAS_EXPIRED: "the service's certificate has expired",
	DEPTH_ZERO_SELF_SIGNED_CERT: "the service's certificate is self-signed and not trusted",
	SELF_SIGNED_CERT_IN_CHAIN: "the service's certificate is self-signed and not trusted",
	ERR_TLS_CERT_ALTNAME_INVALID: "the service's certificate is for another host name",
};

/** Why no response came; what else the failure holds is not kept. */
export function reasonOfFailure({ code = '', name }: TransportFailure, timedOut = false): Reason {
	if (timedOut) return { is: 'timedOut' };
	if (name?.startsWith('SsrfBlocked')) return { is: 'hostBlocked' };
	// A code is one word of a known form; anything else could hold a secret.
	const isCode = /^[A-Z][A-Z0-9_]*$/.test(code);
	return isCode ? { is: 'connectionFailed', code } : { is: 'connectionFailed' };
}

function failureInWords(code: string | undefined): string {
	if (code === undefined) return 'no response came';
	return `${FAILURES[code] ?? 'no response came'} (${code})`;
}

/** In words within a sentence. */
export const webPageInWords = ({ title }: { title: string }) =>
	title === '' ? 'a web page' : `a web page titled "${title}"`;

const quotedPaths = (field: Paths) => field.map((path) => `"${path}"`).join(' or ');

/** A reason in words that follow a colon. */
export function reasonInWords(reason: Reason): string {
	switch (reason.is) {
		case 'timedOut':
			return 'the request timed out';
		case 'hostBlocked':
			return 'this n8n is not allowed to reach that host';
		case 'connectionFailed':
			return failureInWords(reason.code);
		case 'stoppedByProxy':
			return reason.statusCode === 407
				? 'a proxy on the way asks for its own name and password (HTTP 407)'
				: `a proxy on the way did not connect to the service (HTTP ${reason.statusCode})`;
		case 'tooLong':
			return `the response (HTTP ${reason.statusCode}) is longer than ${MOST_BYTES / 1_000_000} MB`;
		case 'notEndedInTime':
			return `the response (HTTP ${reason.statusCode}) was not complete when the request timed out`;
		case 'brokeOff':
			return `the response (HTTP ${reason.statusCode}) broke off or could not be read`;
		case 'notReadable':
			return 'the response could not be read';
		case 'notWritable':
			return 'the request could not be written';
		case 'notConfirmed':
			return `${quotedPaths(reason.field)} does not confirm it (Result Field)`;
		case 'saidNo':
			return `"${reason.path}" has one of the Rejected Values of the Pay API credential`;
		case 'saidYes':
			return `"${reason.path}" has one of the Accepted Values of the Pay API credential`;
		case 'webPage':
			return `the response is ${webPageInWords(reason)}, so the Base URL may not be that of the API`;
		case 'notJson':
			return 'the response says that it is JSON, but cannot be read as JSON';
	}
}

/** Pages that wide-spread proxies send in their own name. */
const PAGES: ReadonlyArray<[string, RegExp]> = [
	['nginx', /<hr><center>nginx(\/[\d.]+)?<\/center>/],
	['HAProxy', /^<html><body><h1>\d{3} [^<]*<\/h1>\n[^<]*\n<\/body><\/html>\s*$/],
	['Squid', /<title>ERROR: The requested URL could not be retrieved<\/title>/],
];

/** More characters than a proxy's own page has. */
const MOST_OF_A_PAGE = 20_000;

/**
 * A text with a blank in place of each span from one mark to another. Without a pattern: one would go back
 * and forth in a long text.
 */
function withoutSpans(text: string, begin: string, end: string): string {
	const parts: string[] = [];
	let from = 0;
	for (;;) {
		const at = text.indexOf(begin, from);
		const close = at < 0 ? -1 : text.indexOf(end, at + begin.length);
		if (close < 0) return [...parts, text.slice(from)].join(' ');
		parts.push(text.slice(from, at));
		from = close + end.length;
	}
}

/** Whose page, if any, came instead of a response of the service, and what a person would read there. */
export function proxyPageIn(response: unknown) {
	if (typeof response !== 'string' || response.length > MOST_OF_A_PAGE) return undefined;
	const [by] = PAGES.find(([, pattern]) => pattern.test(response)) ?? [];
	if (by === undefined) return undefined;
	const body = withoutSpans(response, '<head>', '</head>');
	const text = withoutSpans(body, '<', '>').replace(/\s+/g, ' ').trim();
	return { by, text, wantsHttps: text.includes('plain HTTP request was sent to HTTPS port') };
}

/** In place of n8n's own JSON, which may show a path of its server. */
export const UNPUBLISHED = 'n8n responded: no workflow is published at this address';

/** A response; {@link UNPUBLISHED} in place of that of an n8n where no workflow listens. */
export function replaceUnpublished(response: unknown): unknown {
	if (!isJsonObject(response)) return response;
	const message = String(response.message);
	const at = message.search(/\bwebhook\b/);
	return at >= 0 && message.includes(' is not registered', at) ? UNPUBLISHED : response;
}

/** What may stand in front of a page, comments and XML's first line, by how it begins and ends. */
const PREFACES: ReadonlyArray<[string, string]> = [
	['<!--', '-->'],
	['<?', '>'],
];

/** A text without one such preface; undefined where it begins with none. */
function behindPreface(text: string): string | undefined {
	for (const [begin, end] of PREFACES) {
		const at = text.startsWith(begin) ? text.indexOf(end, begin.length) : -1;
		if (at >= 0) return text.slice(at + end.length).trimStart();
	}
	return undefined;
}

/** A page without the prefaces in front of it. */
function withoutPrefaces(text: string): string {
	let page = text.trimStart();
	for (;;) {
		const rest = behindPreface(page);
		if (rest === undefined) return page;
		page = rest;
	}
}

const beginsAsPage = (text: string) => /^<(!doctype|html|head|body)\b/i.test(withoutPrefaces(text));

/** The title of a page; empty where it has none. */
function titleOf(page: string): string {
	const at = page.search(/<title\b/i);
	const begin = at < 0 ? -1 : page.indexOf('>', at);
	if (begin < 0) return '';
	const [title = ''] = page.slice(begin + 1).split('<', 1);
	return title.replace(/\s+/g, ' ').trim();
}

function isJson(text: string): boolean {
	try {
		return JSON.parse(text) !== undefined;
	} catch {
		return false;
	}
}

/**
 * A web page in place of a response, known by its type or its beginning: its title, perhaps empty. JSON is
 * no page, whatever its type.
 */
export function webPageIn(body: unknown, contentType: unknown): { title: string } | undefined {
	if (typeof body !== 'string' || body.trim() === '') return undefined;
	const start = body.slice(0, MOST_OF_A_PAGE);
	const isHtml = /\bx?html\b/i.test(String(contentType));
	const isPage = beginsAsPage(start) || (isHtml && !isJson(body));
	return isPage ? { title: titleOf(start).slice(0, 100) } : undefined;
}

/** Why a body confirms nothing; undefined for empty ones and plain text. */
export function unconfirmedBy(body: unknown, contentType: unknown): Reason | undefined {
	const page = webPageIn(body, contentType);
	if (page !== undefined) return { is: 'webPage', title: page.title };
	if (typeof body !== 'string' || body.trim() === '' || isJson(body)) return undefined;
	return /\bjson\b/i.test(String(contentType)) ? { is: 'notJson' } : undefined;
}
