import { createHash } from 'crypto';
import type { Account, ClientCredentials } from './account';

/*
 * "The same account" has five meanings, each with its own name. None shows a secret: a token or a client's
 * secret is only ever in a hash.
 *
 * | Name           | Same while these stay             | For                                  | Where it is   |
 * | -------------- | --------------------------------- | ------------------------------------ | ------------- |
 * | `accountKey`   | address, scheme, token or client  | whom the service rejected or paused  | in memory     |
 * | `clientKey`    | token URL, client, secret, scope  | which token was fetched              | in memory     |
 * | `accountIdOf`  | address, scheme, client ID        | sums; the fingerprint of a request   | stored        |
 * | `tokenIdOf`    | the pasted token                  | accounts of one execution told apart | stored, short |
 * | `credentialId` | the credential that was selected  | the same, once a token was renewed   | stored        |
 */

const hashOf = (value: unknown) => createHash('sha256').update(JSON.stringify(value));

/** Short enough to be stored with each item. */
export const shortHash = (value: unknown) => hashOf(value).digest('base64url').slice(0, 22);

/** Whom a service rejects, or asks for a pause. */
export function accountKey({ baseUrl, schemeName, token }: Account): string {
	return hashOf([baseUrl, schemeName, token]).digest('base64');
}

/** Whose token was fetched. */
export function clientKey(client: ClientCredentials): string {
	return hashOf(client).digest('base64');
}

/**
 * Where an account's requests go, and in whose name. The token is no part of it: it is renewed while the
 * account stays. Otherwise a request that was accepted before a token was renewed would look like another
 * one afterwards: the editor's Retry would not give it back, and an agent's tool would pay it again under
 * another id.
 */
export function ownerOf({ baseUrl, schemeName, token }: Account): unknown[] {
	const clientId = 'clientCredentials' in token ? token.clientCredentials.clientId : '';
	return [baseUrl, schemeName, clientId];
}

/** Whose money it is, as far as that is known without a pasted token. */
export function accountIdOf(account: Account): string {
	return shortHash(ownerOf(account));
}

/** Tells the pasted tokens of one execution apart. It is stored, so it is too short to find one by. */
export function tokenIdOf({ token }: Account): string {
	return 'pasted' in token ? shortHash([token.pasted]).slice(0, 6) : '';
}
