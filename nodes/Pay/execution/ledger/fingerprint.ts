import { createHash } from 'crypto';
import type { Account } from '../../credential/connection';
import type { ServiceRequest } from '../../service/contract';

function shortHash(values: unknown[]): string {
	return createHash('sha256').update(JSON.stringify(values)).digest('base64url').slice(0, 22);
}

/**
 * Where an account's requests go, and in whose name. The token is no part of it: it is renewed while the
 * account stays. Otherwise a request that was accepted before a token was renewed would look like another
 * one afterwards: the editor's Retry would not give it back, and an agent's tool would pay it again under
 * another id.
 */
function identityOf({ baseUrl, schemeName, token }: Account): unknown[] {
	const clientId = 'clientCredentials' in token ? token.clientCredentials.clientId : '';
	return [baseUrl, schemeName, clientId];
}

/** A hash of whose money it is, for sums, as far as that is known without a pasted token. */
export function accountIdOf(account: Account): string {
	return shortHash(identityOf(account));
}

/** Tells the pasted tokens of one execution apart. It is stored, so it is too short to find one by. */
export function tokenIdOf({ token }: Account): string {
	return 'pasted' in token ? shortHash([token.pasted]).slice(0, 6) : '';
}

/**
 * A hash over whose request it is, and its body.
 * @param notIdentifying members that may change while it stays the same request
 * @param executionId of a request that is another one in each execution
 */
export function fingerprintOf(
	account: Account,
	request: ServiceRequest,
	notIdentifying: ReadonlySet<string>,
	executionId?: string,
): string {
	const identifying = Object.entries(request).filter(([name]) => !notIdentifying.has(name));
	if (executionId !== undefined) identifying.push(['executionId', executionId]);
	return shortHash([...identityOf(account), Object.fromEntries(identifying)]);
}
