import { createHash } from 'crypto';
import { BoundedMap } from '../boundedMap';
import type { TokenPost } from '../service/client';
import { within } from '../within';
import type { Account, ClientCredentials } from './connection';
import { fetchToken, unreachable, type TokenWithLife } from './tokenEndpoint';

interface FetchedToken {
	fetched: Promise<TokenWithLife>;
	/** Undefined until it is fetched. */
	token?: string;
	/** When it was asked for, in milliseconds of the monotonic clock. */
	since: number;
	/** Until when it is used, by the same clock. */
	until: number;
}

/** More credentials than a process pays with. One that is dropped costs another token. */
const MOST_TOKENS = 200;
/** The token that was fetched last, for each credential. */
const fetchedTokens = new BoundedMap<string, FetchedToken>(MOST_TOKENS);
/**
 * How many seconds before its end a token is no longer used; also how many seconds a token is used whose end
 * is not known.
 */
const MARGIN = 60;

/** How long a token that lives so many seconds is used, in milliseconds. */
function keepFor(life: number | undefined): number {
	return 1000 * (life === undefined ? MARGIN : life - Math.min(MARGIN, life / 2));
}

/** A hash, so that no secret stays in memory as a key. */
const clientKey = (client: ClientCredentials) =>
	createHash('sha256').update(JSON.stringify(client)).digest('base64');

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
