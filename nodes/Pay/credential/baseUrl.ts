import { InputError } from '../inputError';
import { isLoopback } from '../loopback';
import { PATHS } from '../service/contract';
import { credentialField, wrongInCredential } from './wrongField';

/** Reads an address in the credential; `allowHttp` is for hosts other than this machine. Throws an InputError. */
export function parseServiceUrl(value: unknown, field: string, allowHttp: boolean): URL {
	const invalid = (
		what: string,
		advice = 'Write it in full, for example https://api.example.com.',
	) => wrongInCredential(field, what, advice);
	const text = typeof value === 'string' ? value.trim() : '';
	if (text === '') throw invalid('is empty', 'Open the credential and enter the address.');
	// Not quoted: it may be the token, pasted into the wrong field.
	if (!URL.canParse(text)) throw invalid('must be an absolute URL');
	const url = new URL(text);
	if (url.protocol !== 'https:' && url.protocol !== 'http:') {
		throw invalid('must start with https://');
	}
	if (url.username !== '' || url.password !== '' || url.hash !== '') {
		throw invalid(
			'must hold no user name, password or fragment',
			'Write only the address, for example https://api.example.com.',
		);
	}
	if (url.protocol === 'http:' && !allowHttp && !isLoopback(url.hostname)) {
		throw invalid(
			`uses http:, which would send secrets unencrypted to ${url.hostname}`,
			'Use https://, or turn on "Allow HTTP" for a sandbox on a private network.',
		);
	}
	return url;
}

/** One segment of a path, of characters that need no encoding. */
const SEGMENT = /^[A-Za-z0-9_~-][A-Za-z0-9._~-]*$/;
/** What people paste who copy the address of an operation, or all that two of them have in common. */
const PASTED_TAIL = new RegExp(`/v2(?:/([^/]+)/(?:${PATHS.join('|')}))?/*$`);

/** Reads the scheme's name, for which the document's paths have "pay"; throws an InputError. */
export function parseSchemeName(value: unknown): string {
	const text = typeof value === 'string' ? value.trim() : String(value ?? 'pay');
	if (SEGMENT.test(text)) return text;
	throw wrongInCredential(
		'schemeName',
		'must be one segment of a path',
		'Enter the word between /v2/ and /qrcode in the addresses of the service, for example pay.',
	);
}

/** Reads {base_url} without trailing slashes, /v2 and the pasted path of an operation. Throws an InputError. */
export function parseBaseUrl(value: unknown, allowHttp: boolean, schemeName: string): string {
	const url = parseServiceUrl(value, 'baseUrl', allowHttp);
	if (url.search !== '') {
		throw wrongInCredential(
			'baseUrl',
			'must hold no query',
			'Write only the address, for example https://api.example.com.',
		);
	}
	const [, pasted] = PASTED_TAIL.exec(url.pathname) ?? [];
	if (pasted !== undefined && pasted !== schemeName) {
		const { displayName } = credentialField('baseUrl');
		throw new InputError(
			'schemeName',
			`The ${displayName} of the Pay API credential ends with the scheme name "${pasted}", but Scheme Name in Paths is "${schemeName}"`,
			`If the service's addresses hold "${pasted}", turn on Describe the Service, enter it as Scheme Name in Paths, and leave /v2/… out of the Base URL.`,
		);
	}
	const path = url.pathname.replace(PASTED_TAIL, '').replace(/\/+$/, '');
	return url.origin + path;
}
