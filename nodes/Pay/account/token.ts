import { BoundedMap } from '../base/boundedMap';
import { InputError } from '../base/inputError';
import { isJsonObject, jsonOrText } from '../base/json';
import { shortened } from '../base/text';
import { within } from '../base/time';
import type { TokenPost, TokenResponse } from '../service/client';
import { type Reason, reasonInWords } from '../service/reasons';
import { redact } from '../service/redact';
import { type Account, type ClientCredentials, isSentInHeader, TOKEN } from './account';
import { CLIENT_AUTHENTICATIONS } from './fields';
import { clientKey } from './identity';

interface FetchedToken {
	fetched: Promise<TokenWithLife>;
	/** Undefined until it is fetched. */
	token?: string;
	/** When it was asked for, in milliseconds of the monotonic clock. */
	since: number;
	/** Until when it is used, by the same clock. */
	until: number;
}

/** More credentials than a process pays with. Dropping one costs no more than fetching its token again. */
const MOST_TOKENS = 200;
/** The token that was fetched last, for each credential. */
const fetchedTokens = new BoundedMap<string, FetchedToken>(MOST_TOKENS);
/** A token is no longer used so many seconds before it expires. If that is not known, it is used for as long. */
const MARGIN = 60;

/** How long a token that lives so many seconds is used, in milliseconds. */
function keepFor(life: number | undefined): number {
	return 1000 * (life === undefined ? MARGIN : life - Math.min(MARGIN, life / 2));
}

/** Starts to fetch a token, for which other requests then wait too. */
function startFetching(hash: string, client: ClientCredentials, post: TokenPost): FetchedToken {
	const start = performance.now();
	const fetched = fetchToken(client, post);
	const entry: FetchedToken = { fetched, since: start, until: Infinity };
	const whenFetched = ({ token, life }: TokenWithLife) => {
		entry.token = token;
		entry.until = start + keepFor(life);
	};
	const whenFailed = () => {
		// A failure is not kept: the next batch asks again.
		if (fetchedTokens.get(hash) === entry) fetchedTokens.delete(hash);
	};
	fetched.then(whenFetched, whenFailed);
	fetchedTokens.set(hash, entry);
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

/* One request for a token by the client credentials grant of OAuth 2.0, and what its response means. */

/** A token of a response, and how many seconds it lives; undefined where that is not known. */
interface TokenWithLife {
	token: string;
	life: number | undefined;
}

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

/**
 * ID and secret as HTTP Basic has them (RFC 7617): as they are. RFC 6749 has them form-encoded first, and no
 * client of such services does that: an ID that ends in == got 401.
 */
const basicPair = ({ clientId, clientSecret }: ClientCredentials) =>
	Buffer.from(`${clientId}:${clientSecret}`).toString('base64');

/** The request of RFC 6749, section 4.4.2; as JSON the same members, as some services take them. */
function tokenRequest(client: ClientCredentials) {
	const { clientId, clientSecret, scope, sendIn } = client;
	const isInHeader = isSentInHeader(sendIn);
	const isJson = sendIn === 'json' || sendIn === 'headerJson';
	const members: Record<string, string> = { grant_type: 'client_credentials' };
	if (scope !== '') members.scope = scope;
	if (!isInHeader) {
		members.client_id = clientId;
		members.client_secret = clientSecret;
	}
	const headers: Record<string, string> = {
		'Content-Type': isJson ? 'application/json' : 'application/x-www-form-urlencoded',
		Accept: 'application/json',
	};
	if (isInHeader) headers.Authorization = `Basic ${basicPair(client)}`;
	const body = isJson ? JSON.stringify(members) : new URLSearchParams(members).toString();
	return { headers, body };
}

const NO_TOKEN = 'Could not get an access token: ';
const noToken = (field: string, what: string, advice: string) =>
	new InputError(field, NO_TOKEN + what, advice);

/** A response of a token endpoint without a token; the next one would be the same. */
class TokenRejection extends InputError {}

/** The token endpoint has rejected the client, and would do so again. */
export const isClientRejected = (error: unknown): error is InputError =>
	error instanceof TokenRejection;

/** A token endpoint that had too many requests (HTTP 429). */
export class TooManyTokenRequests extends InputError {
	/** How many seconds to wait; undefined if the endpoint does not say. */
	retryAfter: number | undefined;
}

const CHECK_CLIENT = 'Check Client ID and Client Secret of the Pay API credential.';
const CHECK_URL = 'Check the Token URL of the Pay API credential';

/** A token endpoint from which no whole response came. */
const unreachable = (reason: Reason) =>
	noToken(
		'tokenUrl',
		`the token endpoint cannot be reached: ${reasonInWords(reason)}`,
		`${CHECK_URL} and the network.`,
	);

/** As much of an endpoint's own words as a person reads. */
const MOST_QUOTED = 200;
/** A word this long may be a token, whatever the endpoint calls it. */
const LONG_WORD = /[\w+/=.~-]{24,}/g;

/** Undefined where the response of a token endpoint is a page, or says nothing in words. */
function wordsIn(body: unknown): string | undefined {
	if (typeof body === 'string') return body.trimStart().startsWith('<') ? undefined : body;
	const members = isJsonObject(body) ? body : {};
	const inner = isJsonObject(members.error) ? members.error : {};
	const { error_description, message, error, detail } = { ...members, ...inner };
	for (const text of [error_description, message, detail, error]) {
		if (typeof text === 'string' && text.trim() !== '') return text;
	}
	return undefined;
}

/** A response may repeat the client's secret, or hold tokens beside the one that is asked for. */
function secretsIn(body: unknown, client: ClientCredentials): string[] {
	const secrets = [client.clientSecret, formEncoded(client.clientSecret), basicPair(client)];
	const { access_token, accessToken } = isJsonObject(body) ? body : {};
	for (const token of [access_token, accessToken]) {
		if (typeof token === 'string') secrets.push(...token.split(/\s+/));
	}
	return secrets;
}

function endpointWordsIn(body: unknown, client: ClientCredentials): string {
	const words = wordsIn(body);
	if (words === undefined) return '';
	const text = String(redact(words, secretsIn(body, client), LONG_WORD))
		.replace(/\s+/g, ' ')
		.trim();
	return shortened(text, MOST_QUOTED);
}

/** For a person: which field of the credential to look at, and why. */
interface EndpointFault {
	field: string;
	what: string;
	advice: string;
	/** Another Client Authentication may mend it. */
	hasOtherWays?: true;
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
	advice: CHECK_CLIENT,
	hasOtherWays: true,
};
const WRONG_REQUEST: EndpointFault = {
	field: 'clientAuthentication',
	what: 'the token endpoint rejected the request',
	advice: CHECK_CLIENT,
	hasOtherWays: true,
};
const FAILING: EndpointFault = {
	field: 'tokenUrl',
	what: 'the token endpoint is failing',
	advice: 'Wait a while, then run again.',
};

/**
 * What a rejection stands for.
 * @param code the endpoint's own, of those that are known
 */
function faultOf(statusCode: number, code: string | undefined): EndpointFault {
	if (statusCode >= 300 && statusCode <= 399) return REDIRECTS;
	if (code === 'invalid_scope') return WRONG_SCOPE;
	if (statusCode === 404 || statusCode === 405) return NO_ENDPOINT;
	if (statusCode === 401 || statusCode === 403) return WRONG_CLIENT;
	if (code === 'invalid_client' || code === 'unauthorized_client') return WRONG_CLIENT;
	if (statusCode === 408 || statusCode === 429) return FAILING;
	// With one of the other codes a 200 is a rejection too.
	return statusCode >= 200 && statusCode <= 499 ? WRONG_REQUEST : FAILING;
}

/** Names the other choices of Client Authentication: few services say which one they take. */
function otherWays({ sendIn }: ClientCredentials): string {
	let chosen = '';
	const others: string[] = [];
	for (const way of CLIENT_AUTHENTICATIONS) {
		if (way.value === sendIn) chosen = way.name;
		else others.push(`"${way.name}"`);
	}
	const last = others.pop();
	const ways = `The credential sends them with Client Authentication set to "${chosen}". If they are right, choose another one: ${others.join(', ')} or ${last}.`;
	// A service that keeps to RFC 6749 decodes the pair, and reads another secret.
	return isSentInHeader(sendIn) ? `${ways} For a secret with + or %, try "Body" first.` : ways;
}

/**
 * Why the endpoint gave no token.
 * @param body the response's, parsed where it is JSON
 * @param endpointWords what it said, without secrets; "" where it said nothing
 */
function rejectedByEndpoint(
	{ statusCode, retryAfter }: Extract<TokenResponse, { statusCode: number }>,
	body: unknown,
	endpointWords: string,
	client: ClientCredentials,
): InputError {
	const { error } = isJsonObject(body) ? body : {};
	const code = ERROR_CODES.find((known) => known === error);
	const fault = faultOf(statusCode, code);
	const { field, what } = fault;
	const advice = fault.hasOtherWays ? `${fault.advice} ${otherWays(client)}` : fault.advice;
	const status = code === undefined ? `HTTP ${statusCode}` : `HTTP ${statusCode}, ${code}`;
	const message = `${NO_TOKEN}${what} (${status})`;
	const saysMore = endpointWords !== '' && endpointWords !== code;
	const description = saysMore ? `The endpoint said: "${endpointWords}". ${advice}` : advice;
	// What fails for the moment may give a token a moment later.
	if (statusCode >= 500 || statusCode === 408) return new InputError(field, message, description);
	if (statusCode === 429) {
		const error = new TooManyTokenRequests(field, message, description);
		error.retryAfter = retryAfter;
		return error;
	}
	return new TokenRejection(field, message, description);
}

/** The members of a response in which its token is: its own, or those of its `data`. */
function tokenMembers(members: Record<string, unknown>): Record<string, unknown> {
	if (members.access_token !== undefined || members.accessToken !== undefined) return members;
	if (isJsonObject(members.data)) return members.data;
	return members;
}

/**
 * Reads the response of RFC 6749, section 5.1, and those that differ in the token's name or wrap it in
 * `data`; the type of the token does not matter.
 */
function readTokenResponse(response: TokenResponse, client: ClientCredentials): TokenWithLife {
	if (response.statusCode === undefined) throw unreachable(response.reason);
	const { statusCode } = response;
	const body = typeof response.body === 'string' ? jsonOrText(response.body) : response.body;
	const endpointWords = endpointWordsIn(body, client);
	// Some say no with a 200.
	const isRejection = isJsonObject(body) && ERROR_CODES.some((code) => code === body.error);
	if (statusCode < 200 || statusCode > 299 || isRejection) {
		throw rejectedByEndpoint(response, body, endpointWords, client);
	}
	const { access_token, accessToken, expires_in } = tokenMembers(isJsonObject(body) ? body : {});
	const token = access_token ?? accessToken;
	if (typeof token !== 'string' || !TOKEN.test(token)) {
		// Nothing of it is quoted: somewhere in it there may be a token.
		throw new TokenRejection(
			'tokenUrl',
			`${NO_TOKEN}the response of the token endpoint contains no access_token (HTTP ${statusCode})`,
			`${CHECK_URL}, and whether the service issues tokens through the client credentials grant of OAuth 2.0.`,
		);
	}
	const seconds = Number(expires_in);
	return { token, life: seconds > 0 && Number.isFinite(seconds) ? seconds : undefined };
}

/** Fetches a token. Rejects with an InputError where there is none. */
export async function fetchToken(
	client: ClientCredentials,
	post: TokenPost,
): Promise<TokenWithLife> {
	const { headers, body } = tokenRequest(client);
	return readTokenResponse(await post(client.tokenUrl, headers, body), client);
}
