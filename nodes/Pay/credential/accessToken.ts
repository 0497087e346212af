import { createHash } from 'crypto';
import { InputError } from '../inputError';
import { isMembers, jsonOrText } from '../json';
import type { TokenResponse, TokenPost } from '../service/client';
import { reasonInWords, type Reason } from '../service/reason';
import { redact } from '../service/redact';
import { within } from '../within';
import { TOKEN, type Account, type ClientCredentials } from './connection';

/** A token of a response, and how many seconds it lives; undefined where that is not known. */
interface TokenWithLife {
	token: string;
	life: number | undefined;
}

interface FetchedToken {
	fetched: Promise<TokenWithLife>;
	/** Undefined until it is fetched. */
	token?: string;
	/** When it was asked for, in milliseconds of the monotonic clock. */
	since: number;
	/** Until when it is used, by the same clock. */
	until: number;
}

/** Per process and credential, the token fetched last. */
const fetchedTokens = new Map<string, FetchedToken>();
/** More credentials than a process pays with; beyond it the oldest go. */
const MAX_KEPT = 200;
/**
 * How many seconds before its end a token is no longer used; also how many seconds a token is used whose end
 * is not known.
 */
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

/** ID and secret as HTTP Basic has them (RFC 6749, section 2.3.1). */
function basicPair({ clientId, clientSecret }: ClientCredentials): string {
	return Buffer.from(`${formEncoded(clientId)}:${formEncoded(clientSecret)}`).toString('base64');
}

/** The request of RFC 6749, section 4.4.2; as JSON the same members, as some services take them. */
function tokenRequest(client: ClientCredentials) {
	const { clientId, clientSecret, scope, sendIn } = client;
	const members: Record<string, string> = { grant_type: 'client_credentials' };
	if (scope !== '') members.scope = scope;
	if (sendIn !== 'header') {
		members.client_id = clientId;
		members.client_secret = clientSecret;
	}
	const isJson = sendIn === 'json';
	const headers: Record<string, string> = {
		'Content-Type': isJson ? 'application/json' : 'application/x-www-form-urlencoded',
		Accept: 'application/json',
	};
	if (sendIn === 'header') headers.Authorization = `Basic ${basicPair(client)}`;
	const body = isJson ? JSON.stringify(members) : new URLSearchParams(members).toString();
	return { headers, body };
}

const NO_TOKEN = 'Could not get an access token: ';
const noToken = (field: string, what: string, advice: string) =>
	new InputError(field, NO_TOKEN + what, advice);

/** A response of a token endpoint without a token; the next one would be the same. */
class TokenRejection extends InputError {}

/** Whether asking for a token again would be rejected again. */
export const isClientRejected = (error: unknown): error is InputError =>
	error instanceof TokenRejection;

const CHECK_URL = 'Check the Token URL of the Pay API credential';

const unreachable = (reason: Reason) =>
	noToken(
		'tokenUrl',
		`the token endpoint cannot be reached: ${reasonInWords(reason)}`,
		`${CHECK_URL} and the network.`,
	);

/** As much of an endpoint's own words as a person reads. */
const MOST_QUOTED = 200;
/** What may be a token, whatever the endpoint calls it. */
const LONG_WORD = /[\w+/=.~-]{24,}/g;

/** What a token endpoint said, without secrets; empty where it said nothing in words. */
function ownWords(body: unknown, client: ClientCredentials): string {
	const members = isMembers(body) ? body : {};
	const inner = isMembers(members.error) ? members.error : {};
	const { error_description, message, error, detail } = { ...members, ...inner };
	const isPage = typeof body === 'string' && body.trimStart().startsWith('<');
	const candidates = [error_description, message, detail, error, isPage ? undefined : body];
	const found = candidates.find((text) => typeof text === 'string' && text.trim() !== '');
	if (found === undefined) return '';
	const secrets = [client.clientSecret, formEncoded(client.clientSecret), basicPair(client)];
	for (const token of [members.access_token, members.accessToken]) {
		if (typeof token === 'string') secrets.push(...token.split(/\s+/));
	}
	const text = String(redact(found, secrets, LONG_WORD))
		.replace(/\s+/g, ' ')
		.trim();
	return text.length > MOST_QUOTED ? `${text.slice(0, MOST_QUOTED)}…` : text;
}

/** What is wrong where an endpoint gave no token, and which field of the credential to look at. */
interface EndpointFault {
	field: string;
	what: string;
	advice: string;
}

const REDIRECTS: EndpointFault = {
	field: 'tokenUrl',
	what: 'the token endpoint redirects elsewhere',
	advice: `Redirects are not followed, since they would carry the Client Secret elsewhere. ${CHECK_URL}.`,
};
const WRONG_SCOPE: EndpointFault = {
	field: 'scope',
	what: 'the token endpoint rejected the scope',
	advice: 'Check the Scope of the Pay API credential.',
};
const NO_ENDPOINT: EndpointFault = {
	field: 'tokenUrl',
	what: 'there is no token endpoint at this address',
	advice: `${CHECK_URL}.`,
};
const WRONG_CLIENT: EndpointFault = {
	field: 'clientSecret',
	what: 'the token endpoint rejected the client',
	advice: 'Check Client ID, Client Secret and Client Authentication of the Pay API credential.',
};
const WRONG_REQUEST: EndpointFault = {
	field: 'clientAuthentication',
	what: 'the token endpoint rejected the request',
	advice:
		'Check Client Authentication of the Pay API credential: some services take a JSON body only.',
};
const FAILING: EndpointFault = {
	field: 'tokenUrl',
	what: 'the token endpoint is failing',
	advice: 'Wait a while, then run again.',
};

/** @param code the endpoint's own, of those that are known */
function faultOf(statusCode: number, code: string | undefined): EndpointFault {
	if (statusCode >= 300 && statusCode <= 399) return REDIRECTS;
	if (code === 'invalid_scope') return WRONG_SCOPE;
	if (statusCode === 404 || statusCode === 405) return NO_ENDPOINT;
	if (statusCode === 401 || statusCode === 403) return WRONG_CLIENT;
	if (code === 'invalid_client' || code === 'unauthorized_client') return WRONG_CLIENT;
	if (statusCode === 408 || statusCode === 429) return FAILING;
	// Some say no with a 200.
	return statusCode >= 200 && statusCode <= 499 ? WRONG_REQUEST : FAILING;
}

/**
 * Why the endpoint gave no token.
 * @param endpointWords what it said, without secrets; "" where it said nothing
 */
function rejectedByEndpoint(statusCode: number, body: unknown, endpointWords: string): InputError {
	const { error } = isMembers(body) ? body : {};
	const code = ERROR_CODES.find((known) => known === error);
	const { field, what, advice } = faultOf(statusCode, code);
	const status = code === undefined ? `HTTP ${statusCode}` : `HTTP ${statusCode}, ${code}`;
	const message = `${NO_TOKEN}${what} (${status})`;
	const saysMore = endpointWords !== '' && endpointWords !== code;
	const description = saysMore ? `The endpoint said: "${endpointWords}". ${advice}` : advice;
	// What fails for the moment may give a token a moment later.
	if (statusCode >= 500 || statusCode === 408) return new InputError(field, message, description);
	return new TokenRejection(field, message, description);
}

/** The members of a response in which its token is: its own, or those of its `data`. */
function tokenMembers(members: Record<string, unknown>): Record<string, unknown> {
	const isHere = members.access_token !== undefined || members.accessToken !== undefined;
	return !isHere && isMembers(members.data) ? members.data : members;
}

/**
 * Reads the response of RFC 6749, section 5.1, and those that differ in the token's name or wrap it in
 * `data`; the type of the token does not matter.
 */
function parseResponse(response: TokenResponse, client: ClientCredentials): TokenWithLife {
	if (response.statusCode === undefined) throw unreachable(response.reason);
	const { statusCode } = response;
	const body = typeof response.body === 'string' ? jsonOrText(response.body) : response.body;
	const endpointWords = ownWords(body, client);
	// Some say no with a 200.
	const isRejection = isMembers(body) && ERROR_CODES.some((code) => code === body.error);
	if (statusCode < 200 || statusCode > 299 || isRejection) {
		throw rejectedByEndpoint(statusCode, body, endpointWords);
	}
	const { access_token, accessToken, expires_in } = tokenMembers(isMembers(body) ? body : {});
	const token = access_token ?? accessToken;
	if (typeof token !== 'string' || !TOKEN.test(token)) {
		// Nothing of it is quoted: somewhere in it there may be a token.
		throw new TokenRejection(
			'tokenUrl',
			`${NO_TOKEN}the response of the token endpoint holds no access_token (HTTP ${statusCode})`,
			`${CHECK_URL}, and whether the service gives tokens by the client credentials grant of OAuth 2.0.`,
		);
	}
	const seconds = Number(expires_in);
	return { token, life: seconds > 0 && Number.isFinite(seconds) ? seconds : undefined };
}

/** How long a token that lives so many seconds is used, in milliseconds. */
function keepFor(life: number | undefined): number {
	return 1000 * (life === undefined ? MARGIN : life - Math.min(MARGIN, life / 2));
}

/** A hash, so that no secret stays in memory as a key. */
const clientKey = (client: ClientCredentials) =>
	createHash('sha256').update(JSON.stringify(client)).digest('base64');

/** Fetches a token. Rejects with an InputError where there is none. */
async function fetchToken(client: ClientCredentials, post: TokenPost): Promise<TokenWithLife> {
	const { headers, body } = tokenRequest(client);
	return parseResponse(await post(client.tokenUrl, headers, body), client);
}

/** Starts to fetch a token; other requests wait for the same one. */
function startFetching(hash: string, client: ClientCredentials, post: TokenPost): FetchedToken {
	const start = performance.now();
	const fetched = fetchToken(client, post);
	const entry: FetchedToken = { fetched, since: start, until: Infinity };
	const keep = ({ token, life }: TokenWithLife) => {
		entry.token = token;
		entry.until = start + keepFor(life);
	};
	const drop = () => {
		// A failure is not kept: the next batch asks again.
		if (fetchedTokens.get(hash) === entry) fetchedTokens.delete(hash);
	};
	fetched.then(keep, drop);
	fetchedTokens.delete(hash);
	fetchedTokens.set(hash, entry);
	const [oldest] = fetchedTokens.keys();
	if (fetchedTokens.size > MAX_KEPT && oldest !== undefined) fetchedTokens.delete(oldest);
	return entry;
}

/**
 * The bearer token for an account: the pasted one, or one fetched by client credentials and kept
 * until shortly before it expires. Throws an InputError, never with a secret.
 * @param patience how long it waits, in milliseconds: the fetch may be another run's
 */
export async function bearerToken(
	{ token: source }: Pick<Account, 'token'>,
	post: TokenPost,
	patience: { timeout: number; cancel?: AbortSignal },
): Promise<{ accessToken: string; isFromEarlier: boolean }> {
	if ('pasted' in source) return { accessToken: source.pasted, isFromEarlier: false };
	const client = source.clientCredentials;
	const hash = clientKey(client);
	const found = fetchedTokens.get(hash);
	const isUsable = found !== undefined && performance.now() < found.until;
	const { token, fetched } = isUsable ? found : startFetching(hash, client, post);
	if (token !== undefined) return { accessToken: token, isFromEarlier: true };
	const late = () => unreachable({ is: 'timedOut' });
	const arrived = await within(fetched, patience.timeout, late, patience.cancel);
	return { accessToken: arrived.token, isFromEarlier: false };
}

/**
 * Removes a kept token that the service rejected, so that the next request has a new one.
 * @param age in milliseconds: a younger one is kept
 */
export function forgetToken(
	{ token: source }: Pick<Account, 'token'>,
	rejected: string,
	age = 0,
): void {
	if ('pasted' in source) return;
	const hash = clientKey(source.clientCredentials);
	const entry = fetchedTokens.get(hash);
	if (entry?.token !== rejected || performance.now() < entry.since + age) return;
	fetchedTokens.delete(hash);
}
