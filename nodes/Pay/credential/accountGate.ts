import { createHash } from 'crypto';
import type { InputError } from '../inputError';
import type { Account } from './connection';

/*
 * A service blocks an address after a few failed logins, and then everything of that n8n stops. So a
 * run asks with one item first, and an account that is refused is not asked again in that run.
 */

/** How long an account that was taken is asked with several items at once, in milliseconds. */
const TAKEN_FOR = 60_000;
/** More accounts than a process pays with; beyond it the oldest go. */
const MAX_ACCOUNTS = 200;

/** When each account was last taken, in milliseconds of the monotonic clock. */
const takenAt = new Map<string, number>();

/** A hash, so that no secret stays in memory as a key. */
function keyOf({ baseUrl, schemeName, token }: Account): string {
	const whose = JSON.stringify([baseUrl, schemeName, token]);
	return createHash('sha256').update(whose).digest('base64');
}

function remember(key: string): void {
	takenAt.delete(key);
	takenAt.set(key, performance.now());
	const [oldest] = takenAt.keys();
	if (takenAt.size > MAX_ACCOUNTS && oldest !== undefined) takenAt.delete(oldest);
}

/** What a run knows of one account. */
interface Known {
	key: string;
	/** Why nothing more is sent with it. */
	refusal?: InputError;
	/** While one item asks for the first time. */
	asking?: Promise<void>;
}

/** What one request told of its account: it was taken, or why it was refused; undefined where nothing. */
export type Standing = 'taken' | InputError | undefined;

/** Which accounts a run may send with. */
export class AccountGate {
	/** By account: where the credential has no expression, all items have the same object. */
	private readonly accounts = new WeakMap<Account, Known>();
	private readonly byKey = new Map<string, Known>();

	/**
	 * Lets an item ask, one at a time until the account was taken.
	 * @param ask sends the item's request
	 * @returns what `ask` came to, or why the account is not asked again
	 */
	async pass<Result>(
		account: Account,
		ask: () => Promise<{ result: Result; standing: Standing }>,
	): Promise<Result | InputError> {
		const known = this.knownOf(account);
		while (known.asking !== undefined) await known.asking;
		if (known.refusal !== undefined) return known.refusal;
		let end = () => {};
		const wasTaken = performance.now() < (takenAt.get(known.key) ?? -Infinity) + TAKEN_FOR;
		if (!wasTaken) known.asking = new Promise<void>((resolve) => (end = resolve));
		try {
			const { result, standing } = await ask();
			if (standing === 'taken') {
				remember(known.key);
			} else if (standing !== undefined) {
				takenAt.delete(known.key);
				known.refusal ??= standing;
			}
			return result;
		} finally {
			if (!wasTaken) known.asking = undefined;
			end();
		}
	}

	private knownOf(account: Account): Known {
		let known = this.accounts.get(account);
		if (known === undefined) {
			const key = keyOf(account);
			known = this.byKey.get(key) ?? { key };
			this.byKey.set(key, known);
			this.accounts.set(account, known);
		}
		return known;
	}
}
