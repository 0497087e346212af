import { createHash } from 'crypto';
import { InputError } from '../inputError';
import { isMembers, jsonOrText } from '../json';
import { within } from '../within';
import { TOKEN, type Account, type ClientCredentials } from './connection';

/** What a token endpoint responded, or why the connection failed. */
export type TokenResponse =
	| { statusCode: number; body: unknown }
	| { statusCode?: undefined; reason: string };

/** Posts a form to a token endpoint, without following redirects; never rejects. */
export type PostForm = (
	url: string,
	headers: Record<string, string>,
	body: string,
) => Promise<TokenResponse>;

interface Kept {
	fetched: Promise<string>;
	/** Once it is there; until when it is used, in milliseconds of the monotonic clock. */
	known?: { token: string; until: number };
}

/** Per process and credential, the token fetched last. */
const kept = new Map<string, Kept>();
/** More credentials than a process pays with; beyond it the oldest go. */
const MAX_KEPT = 200;
/** Seconds before its end at which a token is no longer used, and how long one without an end is. */
const MARGIN = 60;

/** The codes of RFC 6749, section 5.2; anything else an endpoint says may hold a secret. */
const ERROR_CODES = [
	...['invalid_request', 'invalid_client', 'invalid_grant'],
	...['unauthorized_client', 'unsupported_grant_type', 'invalid_scope'],
];

const formEncoded = (text: string) => new URLSearchParams({ '': text }).toString().slice(1);

/** The request of RFC 6749, sections 2.3.1 and 4.4.2. */
function tokenRequest({ clientId, clientSecret, scope, sendIn }: ClientCredentials) {
	const form = new URLSearchParams({ grant_type: 'client_credentials' });
	if (scope !== '') form.set('scope', scope);
	const headers: Record<string, string> = {
		'Content-Type': 'application/x-www-form-urlencoded',
		Accept: 'application/json',
	};
	if (sendIn === 'header') {
		const pair = `${formEncoded(clientId)}:${formEncoded(clientSecret)}`;
		headers.Authorization = `Basic ${Buffer.from(pair).toString('base64')}`;
	} else {
		form.set('client_id', clientId);
		form.set('client_secret', clientSecret);
	}
	return { headers, body: form.toString() };
}

const noToken = (field: string, what: string, advice: string) =>
	new InputError(field, `Could not get an access token: ${what}`, advice);

const unreachable = (reason: string) =>
	noToken(
		'tokenUrl',
		`the token endpoint cannot be reached: ${reason}`,
		'Check the Token URL of the Pay API credential and the network.',
	);

/** Why a token endpoint gave no token (RFC 6749, section 5.2). */
function rejection(statusCode: number, body: Record<string, unknown>): InputError {
	const code = ERROR_CODES.find((known) => known === body.error);
	const said = `(HTTP ${statusCode}${code === undefined ? '' : `, ${code}`})`;
	const check = (what: string) => `Check ${what} of the Pay API credential.`;
	if (statusCode >= 300 && statusCode <= 399) {
		return noToken(
			'tokenUrl',
			`the token endpoint redirects elsewhere ${said}`,
			`Redirects are not followed, since they would carry the Client Secret elsewhere. ${check('the Token URL')}`,
		);
	}
	if (code === 'invalid_scope') {
		return noToken('scope', `the token endpoint refused the scope ${said}`, check('the Scope'));
	}
	if (statusCode === 404 || statusCode === 405) {
		const what = `there is no token endpoint at this address ${said}`;
		return noToken('tokenUrl', what, check('the Token URL'));
	}
	if (statusCode >= 400 && statusCode <= 499 && statusCode !== 408 && statusCode !== 429) {
		const what = `the token endpoint refused the client ${said}`;
		return noToken(
			'clientSecret',
			what,
			check('Client ID, Client Secret and Client Authentication'),
		);
	}
	const what = `the token endpoint is failing ${said}`;
	return noToken('tokenUrl', what, 'Wait a while, then run again.');
}

/** Reads a successful response (RFC 6749, section 5.1); the token's life is in seconds. */
function parseResponse(response: TokenResponse): { token: string; life: number | undefined } {
	if (response.statusCode === undefined) throw unreachable(response.reason);
	const { statusCode, body } = response;
	const parsed = typeof body === 'string' ? jsonOrText(body) : body;
	const members = isMembers(parsed) ? parsed : {};
	if (statusCode < 200 || statusCode > 299) throw rejection(statusCode, members);
	const { access_token: token, token_type: type, expires_in: life } = members;
	if (typeof token !== 'string' || !TOKEN.test(token)) {
		throw noToken(
			'tokenUrl',
			`the response of the token endpoint holds no access_token (HTTP ${statusCode})`,
			'Check the Token URL of the Pay API credential, and whether the service gives tokens by the client credentials grant of OAuth 2.0.',
		);
	}
	if (typeof type === 'string' && type.toLowerCase() !== 'bearer') {
		throw noToken(
			'tokenUrl',
			'the token endpoint gives tokens of another type than Bearer',
			'The service takes bearer tokens (section 5 of its document): ask it for the right Token URL.',
		);
	}
	const seconds = Number(life);
	return { token, life: seconds > 0 && Number.isFinite(seconds) ? seconds : undefined };
}

/** How long a token is used, in milliseconds, that is said to live for so many seconds. */
export function keepFor(life: number | undefined): number {
	return 1000 * (life === undefined ? MARGIN : life - Math.min(MARGIN, life / 2));
}

/** A hash, so that no secret stays in memory as a key. */
const keyOfClient = (client: ClientCredentials) =>
	createHash('sha256').update(JSON.stringify(client)).digest('base64');

/** Starts to fetch a token; whoever asks meanwhile waits for the same one. */
function startFetching(key: string, client: ClientCredentials, post: PostForm): Kept {
	const begun = performance.now();
	const { headers, body } = tokenRequest(client);
	const fetched = post(client.tokenUrl, headers, body).then(parseResponse);
	const entry: Kept = { fetched: fetched.then(({ token }) => token) };
	fetched.then(
		({ token, life }) => (entry.known = { token, until: begun + keepFor(life) }),
		// A failure is not kept: the next batch asks again.
		() => kept.get(key) === entry && kept.delete(key),
	);
	kept.delete(key);
	kept.set(key, entry);
	for (const oldest of kept.keys()) {
		if (kept.size <= MAX_KEPT) break;
		kept.delete(oldest);
	}
	return entry;
}

/**
 * The bearer token for an account: the pasted one, or one fetched by client credentials and kept
 * until shortly before it expires, one fetch at a time per credential and process.
 * @param limits of this wait, in milliseconds: the fetch may be another run's, with other limits
 * @returns `isKept`: it was fetched for an earlier request
 * @throws InputError, never with a secret
 */
export async function bearerToken(
	{ token: source }: Account,
	post: PostForm,
	limits: { timeout: number; cancel?: AbortSignal },
): Promise<{ accessToken: string; isKept: boolean }> {
	if ('pasted' in source) return { accessToken: source.pasted, isKept: false };
	const client = source.clientCredentials;
	const key = keyOfClient(client);
	const entry = kept.get(key);
	if (entry?.known !== undefined && performance.now() < entry.known.until) {
		return { accessToken: entry.known.token, isKept: true };
	}
	const isUnderWay = entry !== undefined && entry.known === undefined;
	const { fetched } = isUnderWay ? entry : startFetching(key, client, post);
	const late = () => unreachable('the time-out passed');
	const accessToken = await within(fetched, limits.timeout, late, limits.cancel);
	return { accessToken, isKept: false };
}

/** Removes a kept token that the service refused, so that the next request has a new one. */
export function forgetToken({ token: source }: Account, refused: string): void {
	if ('pasted' in source) return;
	const key = keyOfClient(source.clientCredentials);
	if (kept.get(key)?.known?.token === refused) kept.delete(key);
}
