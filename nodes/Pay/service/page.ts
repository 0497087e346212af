import { isMembers } from '../json';

/** How the pages of wide-spread proxies look, which they send in their own name. */
const PAGES: ReadonlyArray<[string, RegExp]> = [
	['nginx', /<hr><center>nginx(\/[\d.]+)?<\/center>/],
	['HAProxy', /^<html><body><h1>\d{3} [^<]*<\/h1>\n[^<]*\n<\/body><\/html>\s*$/],
	['Squid', /<title>ERROR: The requested URL could not be retrieved<\/title>/],
];

/** More characters than a proxy's own page has. */
const LONGEST_PAGE = 20_000;

/** Whose page, if any, came instead of a response of the service, and what a person would read there. */
export function proxyPageIn(response: unknown) {
	if (typeof response !== 'string' || response.length > LONGEST_PAGE) return undefined;
	const [by] = PAGES.find(([, form]) => form.test(response)) ?? [];
	if (by === undefined) return undefined;
	const text = response
		.replace(/<head\b.*?<\/head>/is, ' ')
		.replace(/<[^>]*>/g, ' ')
		.replace(/\s+/g, ' ')
		.trim();
	return { by, text, wantsHttps: text.includes('plain HTTP request was sent to HTTPS port') };
}

/** What is said in place of n8n's own JSON, which may show a path of its server. */
export const UNPUBLISHED = 'n8n answered: no workflow is published at this address';

/** A response, with {@link UNPUBLISHED} for that of an n8n where no workflow listens. */
export const withoutN8n = (response: unknown): unknown =>
	isMembers(response) && /\bwebhook\b.* is not registered/.test(String(response.message))
		? UNPUBLISHED
		: response;

/** How a page begins, behind comments and XML's first line. */
const beginsAsPage = (text: string) =>
	/^<(!doctype|html|head|body)\b/i.test(text.replace(/<!--[^]*?-->|<\?[^>]*>/g, '').trimStart());

function isJson(text: string): boolean {
	try {
		return JSON.parse(text) !== undefined;
	} catch {
		return false;
	}
}

/** A web page, by its type or by how it begins, in words with its title; JSON is none, whatever its type. */
export function webPageIn(body: unknown, contentType: unknown): string | undefined {
	if (typeof body !== 'string' || body.trim() === '') return undefined;
	const start = body.slice(0, LONGEST_PAGE);
	const isHtml = /\bx?html\b/i.test(String(contentType));
	if (!beginsAsPage(start) && (!isHtml || isJson(body))) return undefined;
	const title = /<title\b[^>]*>([^<]*)/i.exec(start)?.[1]?.replace(/\s+/g, ' ').trim();
	return title ? `a web page titled "${title.slice(0, 100)}"` : 'a web page';
}

/** Why a body confirms nothing, in words that follow "but"; undefined for empty ones and plain text. */
export function unconfirmedBy(body: unknown, contentType: unknown): string | undefined {
	const page = webPageIn(body, contentType);
	if (page) return `the response is ${page}, so the Base URL may not be that of the API`;
	if (typeof body !== 'string' || body.trim() === '' || isJson(body)) return undefined;
	return /\bjson\b/i.test(String(contentType))
		? 'the response says that it is JSON and cannot be read as JSON'
		: undefined;
}
