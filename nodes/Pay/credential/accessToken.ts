import { createHash } from 'crypto';
import { InputError } from '../inputError';
import { isMembers, jsonOrText } from '../json';
import type { FormResponse, PostForm } from '../service/client';
import { reasonInWords, type Reason } from '../service/reason';
import { within } from '../within';
import { TOKEN, type Account, type ClientCredentials } from './connection';

interface FetchedToken {
	fetched: Promise<string>;
	/** Undefined until it is fetched. */
	token?: string;
	/** In milliseconds of the monotonic clock. */
	until: number;
}

/** Per process and credential, the token fetched last. */
const fetchedTokens = new Map<string, FetchedToken>();
/** More credentials than a process pays with; beyond it the oldest go. */
const MAX_KEPT = 200;
/** Seconds before its end at which a token is no longer used, and how long one without an end is. */
const MARGIN = 60;

/** The codes of RFC 6749, section 5.2; anything else an endpoint says may hold a secret. */
const ERROR_CODES = [
	'invalid_request',
	'invalid_client',
	'invalid_grant',
	'unauthorized_client',
	'unsupported_grant_type',
	'invalid_scope',
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

/** Whether a token endpoint refused the client, so that asking again would be refused again. */
export const isClientRefused = (error: unknown): error is InputError =>
	error instanceof InputError && ['clientSecret', 'scope'].includes(error.field);

const CHECK_URL = 'Check the Token URL of the Pay API credential';

const unreachable = (reason: Reason) =>
	noToken(
		'tokenUrl',
		`the token endpoint cannot be reached: ${reasonInWords(reason)}`,
		`${CHECK_URL} and the network.`,
	);

function refusedByEndpoint(statusCode: number, body: Record<string, unknown>): InputError {
	const code = ERROR_CODES.find((known) => known === body.error);
	const status = code === undefined ? `HTTP ${statusCode}` : `HTTP ${statusCode}, ${code}`;
	if (statusCode >= 300 && statusCode <= 399) {
		return noToken(
			'tokenUrl',
			`the token endpoint redirects elsewhere (${status})`,
			`Redirects are not followed, since they would carry the Client Secret elsewhere. ${CHECK_URL}.`,
		);
	}
	if (code === 'invalid_scope') {
		const advice = 'Check the Scope of the Pay API credential.';
		return noToken('scope', `the token endpoint refused the scope (${status})`, advice);
	}
	if (statusCode === 404 || statusCode === 405) {
		const what = `there is no token endpoint at this address (${status})`;
		return noToken('tokenUrl', what, `${CHECK_URL}.`);
	}
	if (statusCode >= 400 && statusCode <= 499 && statusCode !== 408 && statusCode !== 429) {
		return noToken(
			'clientSecret',
			`the token endpoint refused the client (${status})`,
			'Check Client ID, Client Secret and Client Authentication of the Pay API credential.',
		);
	}
	const advice = 'Wait a while, then run again.';
	return noToken('tokenUrl', `the token endpoint is failing (${status})`, advice);
}

/** Reads the response of RFC 6749, section 5.1; its life is in seconds. */
function parseResponse(response: FormResponse): { token: string; life: number | undefined } {
	if (response.statusCode === undefined) throw unreachable(response.reason);
	const { statusCode, body } = response;
	const parsed = typeof body === 'string' ? jsonOrText(body) : body;
	const members = isMembers(parsed) ? parsed : {};
	if (statusCode < 200 || statusCode > 299) throw refusedByEndpoint(statusCode, members);
	const { access_token: token, token_type: type, expires_in: life } = members;
	if (typeof token !== 'string' || !TOKEN.test(token)) {
		throw noToken(
			'tokenUrl',
			`the response of the token endpoint holds no access_token (HTTP ${statusCode})`,
			`${CHECK_URL}, and whether the service gives tokens by the client credentials grant of OAuth 2.0.`,
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

/** How long a token that lives so many seconds is used, in milliseconds. */
export function keepFor(life: number | undefined): number {
	return 1000 * (life === undefined ? MARGIN : life - Math.min(MARGIN, life / 2));
}

/** A hash, so that no secret stays in memory as a key. */
const clientKey = (client: ClientCredentials) =>
	createHash('sha256').update(JSON.stringify(client)).digest('base64');

/** Starts to fetch a token; other requests wait for the same one. */
function startFetching(hash: string, client: ClientCredentials, post: PostForm): FetchedToken {
	const start = performance.now();
	const { headers, body } = tokenRequest(client);
	const response = post(client.tokenUrl, headers, body).then(parseResponse);
	const entry: FetchedToken = { fetched: response.then(({ token }) => token), until: Infinity };
	response.then(
		({ token, life }) => Object.assign(entry, { token, until: start + keepFor(life) }),
		// A failure is not kept: the next batch asks again.
		() => fetchedTokens.get(hash) === entry && fetchedTokens.delete(hash),
	);
	fetchedTokens.delete(hash);
	fetchedTokens.set(hash, entry);
	const [oldest] = fetchedTokens.keys();
	if (fetchedTokens.size > MAX_KEPT && oldest !== undefined) fetchedTokens.delete(oldest);
	return entry;
}

/**
 * The bearer token for an account: the pasted one, or one fetched by client credentials and kept
 * until shortly before it expires. Throws an InputError, never with a secret.
 * @param limits of the wait in milliseconds, for the fetch may be another run's
 */
export async function bearerToken(
	{ token: source }: Pick<Account, 'token'>,
	post: PostForm,
	limits: { timeout: number; cancel?: AbortSignal },
): Promise<{ accessToken: string; isKept: boolean }> {
	if ('pasted' in source) return { accessToken: source.pasted, isKept: false };
	const client = source.clientCredentials;
	const hash = clientKey(client);
	const found = fetchedTokens.get(hash);
	const isUsable = found !== undefined && performance.now() < found.until;
	const { token, fetched } = isUsable ? found : startFetching(hash, client, post);
	if (token !== undefined) return { accessToken: token, isKept: true };
	const late = () => unreachable({ is: 'timedOut' });
	return { accessToken: await within(fetched, limits.timeout, late, limits.cancel), isKept: false };
}

/** Removes a kept token that the service refused, so that the next request has a new one. */
export function forgetToken({ token: source }: Pick<Account, 'token'>, refused: string): void {
	if ('pasted' in source) return;
	const hash = clientKey(source.clientCredentials);
	if (fetchedTokens.get(hash)?.token === refused) fetchedTokens.delete(hash);
}
