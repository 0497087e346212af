import { REFERENCE_PARAMETER, SIGNATURE_PARAMETER } from './proof';

/** Where an item's postback goes: the choices of the Postback parameter. */
export type PostbackChoice = 'credential' | 'resume' | 'url' | 'none';

/** A postback URL that cannot be used: found before any request, so nothing was sent. */
export class PostbackUrlError extends Error {
	override readonly name = 'PostbackUrlError';
}

/**
 * Reads a postback URL (section 2.1, 2.2: `postbackUrl`), which goes out as it was written.
 * @throws PostbackUrlError for anything but an absolute http(s) URL, and for one already signed
 */
export function parsePostbackUrl(value: unknown): string {
	const text = typeof value === 'string' ? value.trim() : '';
	if (!URL.canParse(text)) {
		throw new PostbackUrlError(
			text === ''
				? 'The postback URL is empty'
				: `The postback URL is no absolute URL: "${text.slice(0, 200)}"`,
		);
	}
	const url = new URL(text);
	if (url.protocol !== 'https:' && url.protocol !== 'http:') {
		throw new PostbackUrlError(
			`The postback URL must start with https:// or http://, but starts with "${url.protocol}"`,
		);
	}
	if (url.searchParams.has(REFERENCE_PARAMETER) || url.searchParams.has(SIGNATURE_PARAMETER)) {
		throw new PostbackUrlError(
			`The postback URL already holds ${REFERENCE_PARAMETER} or ${SIGNATURE_PARAMETER}, which this node adds itself. Use the trigger's plain Production URL`,
		);
	}
	return text;
}

const PRIVATE_HOST =
	/^(localhost|.*\.localhost|.*\.local|.*\.internal|127\..*|10\..*|192\.168\..*|172\.(1[6-9]|2\d|3[01])\..*|169\.254\..*|0\.0\.0\.0|\[::1?\]|\[f[cd].*\]|\[fe[89ab].*\])$/i;

/**
 * Why a valid postback URL will probably not work, in words for the editor, or undefined.
 * @param url what {@link parsePostbackUrl} gave
 * @param signed whether it goes out with a signature
 */
export function postbackUrlHint(
	url: string,
	signed: boolean,
	serviceIsLocal = false,
): string | undefined {
	const { hostname, pathname } = new URL(url);
	if (pathname.includes('/webhook-test/')) {
		return 'The postback URL is a test URL: n8n answers it only while the editor is listening. For postbacks that arrive later, publish the workflow and use the Production URL.';
	}
	if (PRIVATE_HOST.test(hostname) && !serviceIsLocal) {
		return `The postback URL points to ${hostname}, which only this machine or its own network can reach. A service on the internet cannot deliver postbacks there.`;
	}
	if (!signed && /\/webhook\/[^/]+\/postback\/?$/.test(pathname)) {
		return 'The postback URL goes out unsigned, because the Pay API credential has no Postback Secret. A Pay Trigger refuses unsigned postbacks unless its Authentication is None.';
	}
	return undefined;
}
