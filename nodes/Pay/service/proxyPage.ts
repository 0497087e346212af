/** How the pages of wide-spread proxies look, which they send in their own name. */
const PAGES: ReadonlyArray<[string, RegExp]> = [
	['nginx', /<hr><center>nginx(\/[\d.]+)?<\/center>/],
	['HAProxy', /^<html><body><h1>\d{3} [^<]*<\/h1>\n[^<]*\n<\/body><\/html>\s*$/],
	['Squid', /<title>ERROR: The requested URL could not be retrieved<\/title>/],
];

/** More characters than a proxy's own page has. */
const LONGEST_PAGE = 20_000;

/** A page of a proxy or web server on the way, instead of a response of the service. */
export interface ProxyPage {
	by: string;
	/** What a person would read there. */
	text: string;
	/** It was asked in plain HTTP at a port that takes only HTTPS. */
	wantsHttps: boolean;
}

/** Reads the page of a proxy; undefined, where a response does not look like one. */
export function proxyPageIn(response: unknown): ProxyPage | undefined {
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
