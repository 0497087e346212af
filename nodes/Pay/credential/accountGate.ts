import { createHash } from 'crypto';
import type { InputError } from '../inputError';
import type { Account } from './connection';

/*
 * A service blocks an address after a few failed logins, and then everything of that n8n stops. So a
 * run asks with one item first, and an account that is rejected is not asked again in that run.
 */

/** How long an account whose token was accepted is asked with several items at once, in milliseconds. */
const TRUSTED_FOR = 60_000;
/** More accounts than a process pays with; beyond it the oldest go. */
const MAX_ACCOUNTS = 200;

/** When the token of each account was last accepted, in milliseconds of the monotonic clock. */
const acceptedAt = new Map<string, number>();

/** A hash, so that no secret stays in memory as a key. */
function accountKey({ baseUrl, schemeName, token }: Account): string {
	const text = JSON.stringify([baseUrl, schemeName, token]);
	return createHash('sha256').update(text).digest('base64');
}

function rememberAccepted(key: string): void {
	acceptedAt.delete(key);
	acceptedAt.set(key, performance.now());
	const [oldest] = acceptedAt.keys();
	if (acceptedAt.size > MAX_ACCOUNTS && oldest !== undefined) acceptedAt.delete(oldest);
}

/** What a run knows of one account. */
interface KnownAccount {
	key: string;
	/** Why nothing more is sent with it. */
	rejection?: InputError;
	/** One item that asks alone, because the token was not accepted lately: the others wait for it. Never rejects. */
	asking?: Promise<unknown>;
}

/** Whether the account's token was accepted lately. */
function isTrusted({ key }: KnownAccount): boolean {
	const accepted = acceptedAt.get(key);
	return accepted !== undefined && performance.now() < accepted + TRUSTED_FOR;
}

/** What a response said of the account's token: accepted, or why it was rejected; undefined where it said nothing. */
export type Standing = 'tokenAccepted' | InputError | undefined;

/** A request, and what its response said of the account. */
type Ask<Result> = () => Promise<{ result: Result; standing: Standing }>;

/** Sends a request, and notes how its account stands afterwards. */
async function askFor<Result>(known: KnownAccount, ask: Ask<Result>): Promise<Result> {
	const { result, standing } = await ask();
	if (standing === 'tokenAccepted') {
		rememberAccepted(known.key);
	} else if (standing !== undefined) {
		acceptedAt.delete(known.key);
		known.rejection ??= standing;
	}
	return result;
}

/** Which accounts a run may send with. */
export class AccountGate {
	/** By account: where the credential has no expression, all items have the same object. */
	private readonly accounts = new WeakMap<Account, KnownAccount>();
	private readonly byKey = new Map<string, KnownAccount>();

	/**
	 * Lets an item ask, one at a time until the account's token was accepted.
	 * @param ask sends the item's request
	 * @returns what `ask` came to, or why the account is not asked again
	 */
	async pass<Result>(account: Account, ask: Ask<Result>): Promise<Result | InputError> {
		const known = this.knownOf(account);
		while (known.asking !== undefined) await known.asking;
		if (known.rejection !== undefined) return known.rejection;
		if (isTrusted(known)) return await askFor(known, ask);
		const asking = askFor(known, ask);
		known.asking = Promise.allSettled([asking]);
		try {
			return await asking;
		} finally {
			known.asking = undefined;
		}
	}

	private knownOf(account: Account): KnownAccount {
		let known = this.accounts.get(account);
		if (known === undefined) {
			const key = accountKey(account);
			known = this.byKey.get(key) ?? { key };
			this.byKey.set(key, known);
			this.accounts.set(account, known);
		}
		return known;
	}
}
