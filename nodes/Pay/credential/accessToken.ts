import { createHash } from 'crypto';
import { InputError } from '../inputError';
import { isMembers, jsonOrText } from '../json';
import { within } from '../within';
import { TOKEN, type Account, type ClientCredentials } from './connection';

/** What one POST to a token endpoint came to; a failure of the connection is told in words. */
export type TokenAnswer =
	| { statusCode: number; body: unknown }
	| { statusCode?: undefined; reason: string };

/** Posts a form to a token endpoint, without following redirects; never rejects. */
export type PostForm = (
	url: string,
	headers: Record<string, string>,
	body: string,
) => Promise<TokenAnswer>;

/** A bearer token, and whether it was fetched for an earlier request. */
interface BearerToken {
	accessToken: string;
	isKept: boolean;
}

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

const refuse = (field: string, what: string, advice: string) =>
	new InputError(field, `Could not get an access token: ${what}`, advice);

const unreachable = (reason: string) =>
	refuse(
		'tokenUrl',
		`the token endpoint cannot be reached: ${reason}`,
		'Check the Token URL of the Pay API credential and the network.',
	);

function refusal(statusCode: number, body: Record<string, unknown>): InputError {
	const code = ERROR_CODES.find((known) => known === body.error);
	const said = `HTTP ${statusCode}${code === undefined ? '' : `, ${code}`}`;
	if (statusCode >= 300 && statusCode <= 399) {
		return refuse(
			'tokenUrl',
			`the token endpoint redirects elsewhere (${said})`,
			'Redirects are not followed, since they would carry the Client Secret elsewhere. Check the Token URL of the Pay API credential.',
		);
	}
	if (code === 'invalid_scope') {
		return refuse(
			'scope',
			`the token endpoint refused the scope (${said})`,
			'Check the Scope of the Pay API credential.',
		);
	}
	if (statusCode === 404 || statusCode === 405) {
		return refuse(
			'tokenUrl',
			`there is no token endpoint at this address (${said})`,
			'Check the Token URL of the Pay API credential.',
		);
	}
	if (statusCode >= 400 && statusCode <= 499 && statusCode !== 408 && statusCode !== 429) {
		return refuse(
			'clientSecret',
			`the token endpoint refused the client (${said})`,
			'Check Client ID, Client Secret and Client Authentication of the Pay API credential.',
		);
	}
	return refuse(
		'tokenUrl',
		`the token endpoint is failing (${said})`,
		'Wait a while, then run again.',
	);
}

/** Reads the answer of RFC 6749, section 5.1; its life is in seconds. */
function parseAnswer(answer: TokenAnswer): { token: string; life: number | undefined } {
	if (answer.statusCode === undefined) throw unreachable(answer.reason);
	const { statusCode, body } = answer;
	const parsed = typeof body === 'string' ? jsonOrText(body) : body;
	const members = isMembers(parsed) ? parsed : {};
	if (statusCode < 200 || statusCode > 299) throw refusal(statusCode, members);
	const { access_token: token, token_type: type, expires_in: life } = members;
	if (typeof token !== 'string' || !TOKEN.test(token)) {
		throw refuse(
			'tokenUrl',
			`the answer of the token endpoint holds no access_token (HTTP ${statusCode})`,
			'Check the Token URL of the Pay API credential, and whether the service gives tokens by the client credentials grant of OAuth 2.0.',
		);
	}
	if (typeof type === 'string' && type.toLowerCase() !== 'bearer') {
		throw refuse(
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

function keyOf(client: ClientCredentials): string {
	// A hash, so that no secret stays in memory under a name.
	return createHash('sha256').update(JSON.stringify(client)).digest('base64');
}

/** Fetches a token; what goes wrong is an InputError. */
async function fetchToken(client: ClientCredentials, post: PostForm) {
	const { headers, body } = tokenRequest(client);
	return parseAnswer(await post(client.tokenUrl, headers, body));
}

/** Starts to fetch a token; whoever asks meanwhile waits for the same one. */
function startFetching(key: string, client: ClientCredentials, post: PostForm): Kept {
	const begun = performance.now();
	const fetched = fetchToken(client, post);
	const entry: Kept = { fetched: fetched.then(({ token }) => token) };
	fetched.then(
		({ token, life }) => (entry.known = { token, until: begun + keepFor(life) }),
		// Nothing is remembered of a failure: the next batch asks again.
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
 * @param limits of the waiting, for a fetch may be that of another run with a longer time-out
 * (milliseconds), or of one that nobody stops
 * @throws InputError with what is wrong, never with a secret
 */
export async function bearerToken(
	{ token: source }: Account,
	post: PostForm,
	limits: { timeout: number; cancel?: AbortSignal },
): Promise<BearerToken> {
	if ('pasted' in source) return { accessToken: source.pasted, isKept: false };
	const client = source.clientCredentials;
	const key = keyOf(client);
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

/** Throws a kept token away that the service refused, so that the next request has a new one. */
export function forgetToken({ token: source }: Account, refused: string): void {
	if ('pasted' in source) return;
	const key = keyOf(source.clientCredentials);
	if (kept.get(key)?.known?.token === refused) kept.delete(key);
}
