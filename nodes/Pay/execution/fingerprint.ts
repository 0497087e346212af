import { createHash } from 'crypto';
import type { Account } from '../credential/connection';

function shortHash(values: unknown[]): string {
	return createHash('sha256').update(JSON.stringify(values)).digest('base64url').slice(0, 22);
}

/** Where an account's requests go, and in whose name. Not the token: it changes, the account stays. */
function whose({ baseUrl, schemeName, token }: Account): unknown[] {
	const clientId = 'clientCredentials' in token ? token.clientCredentials.clientId : '';
	return [baseUrl, schemeName, clientId];
}

/** A hash of whose money it is, for sums. */
export function accountIdOf(account: Account): string {
	return shortHash(whose(account));
}

/**
 * A hash over whose request it is, and its body except the external_id, which people let change with
 * each try, the description and the postback URL.
 */
export function fingerprintOf(account: Account, request: object): string {
	const identifying = {
		...request,
		external_id: undefined,
		payerQuestion: undefined,
		postbackUrl: undefined,
	};
	return shortHash([...whose(account), identifying]);
}
