import { createHash } from 'crypto';
import type { Account } from '../../credential/connection';
import { isJsonObject } from '../../json';
import type { Meaning, Meanings, ServiceRequest } from '../../service/contract';

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

/** Whether another value of such a meaning makes another request. */
const IDENTIFIES: Record<Meaning, boolean> = {
	recipient: true,
	amount: true,
	identity: true,
	text: false,
	control: false,
};

/**
 * What tells a request from another, in a value of its body.
 * @param path where the value stands, as its meaning has it; empty for the body
 * @param ignored the paths of values that do not identify it
 */
function identifyingPart(value: unknown, path: string, ignored: ReadonlySet<string>): unknown {
	if (Array.isArray(value)) {
		return value.map((entry) => identifyingPart(entry, `${path}[]`, ignored));
	}
	if (!isJsonObject(value)) return value;
	const members: Array<[string, unknown]> = [];
	for (const [name, inside] of Object.entries(value)) {
		const at = path === '' ? name : `${path}.${name}`;
		if (!ignored.has(at)) members.push([name, identifyingPart(inside, at, ignored)]);
	}
	return Object.fromEntries(members);
}

/**
 * A hash over whose request it is, and its body. What people add to the form identifies it, too: nobody
 * knows what it means.
 * @param executionId of a request that is another one in each execution
 */
export function fingerprintOf(
	account: Account,
	request: ServiceRequest,
	meanings: Meanings,
	executionId?: string,
): string {
	const ignored = new Set<string>();
	for (const [path, means] of Object.entries(meanings)) {
		if (!IDENTIFIES[means]) ignored.add(path);
	}
	const identifying = [...identityOf(account), identifyingPart(request, '', ignored)];
	if (executionId !== undefined) identifying.push(executionId);
	return shortHash(identifying);
}
