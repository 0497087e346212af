import { isJsonObject } from '../json';
import type { Reason } from './reason';

/** How the pages of wide-spread proxies look, which they send in their own name. */
const PAGES: ReadonlyArray<[string, RegExp]> = [
	['nginx', /<hr><center>nginx(\/[\d.]+)?<\/center>/],
	['HAProxy', /^<html><body><h1>\d{3} [^<]*<\/h1>\n[^<]*\n<\/body><\/html>\s*$/],
	['Squid', /<title>ERROR: The requested URL could not be retrieved<\/title>/],
];

/** More characters than a proxy's own page has. */
const LONGEST_PAGE = 20_000;

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
	if (typeof response !== 'string' || response.length > LONGEST_PAGE) return undefined;
	const [by] = PAGES.find(([, pattern]) => pattern.test(response)) ?? [];
	if (by === undefined) return undefined;
	const body = withoutSpans(response, '<head>', '</head>');
	const text = withoutSpans(body, '<', '>').replace(/\s+/g, ' ').trim();
	return { by, text, wantsHttps: text.includes('plain HTTP request was sent to HTTPS port') };
}

/** What is said in place of n8n's own JSON, which may show a path of its server. */
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
	const start = body.slice(0, LONGEST_PAGE);
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
