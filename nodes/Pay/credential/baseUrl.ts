/** A base address that cannot be used: found before any request, so nothing was sent. */
export class BaseUrlError extends Error {
	override readonly name = 'BaseUrlError';
}

/** True for hosts that never leave this machine. */
export function isLoopback(hostname: string): boolean {
	const host = hostname.toLowerCase();
	return (
		host === 'localhost' ||
		host.endsWith('.localhost') ||
		host === '[::1]' ||
		/^127(\.\d{1,3}){3}$/.test(host)
	);
}

/**
 * Reads the credential's base address (the document's {base_url}).
 * @param allowHttp whether plain http: may be used with hosts other than this machine
 * @returns the address without trailing slashes and without a pasted `/v2/...` tail
 * @throws BaseUrlError with what is wrong and what to do
 */
export function parseBaseUrl(value: unknown, allowHttp: boolean): string {
	const text = typeof value === 'string' ? value.trim() : '';
	if (text === '') throw new BaseUrlError('The Base URL of the Pay API credential is empty');
	if (!URL.canParse(text)) {
		throw new BaseUrlError(
			`The Base URL of the Pay API credential is no absolute URL: "${text}". Write it in full, for example https://api.example.com`,
		);
	}
	const url = new URL(text);
	if (url.protocol !== 'https:' && url.protocol !== 'http:') {
		throw new BaseUrlError(
			`The Base URL of the Pay API credential must start with https://, but starts with "${url.protocol}"`,
		);
	}
	if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
		throw new BaseUrlError(
			'The Base URL of the Pay API credential must hold no user name, query or fragment. Write only the address, for example https://api.example.com',
		);
	}
	if (url.protocol === 'http:' && !allowHttp && !isLoopback(url.hostname)) {
		throw new BaseUrlError(
			`The Base URL of the Pay API credential uses http:, which would send the access token unencrypted to ${url.hostname}. Use https://, or turn on "Allow HTTP" for a sandbox on a private network`,
		);
	}
	const path = url.pathname.replace(/\/v2(\/.*)?$/, '').replace(/\/+$/, '');
	return url.origin + path;
}
