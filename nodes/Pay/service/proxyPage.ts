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
