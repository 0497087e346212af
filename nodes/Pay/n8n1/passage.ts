import { randomUUID } from 'crypto';
import { sleep } from 'n8n-workflow';
import { isN8n1 } from './version';

/*
 * n8n 1 in queue mode lets two workers go on from one wait: of two postbacks at once through two processes,
 * both in 44 of 80 pairs (measured on 1.123.81). Whatever is behind the wait would run twice, and a payment
 * whose External ID changes with each run would be made twice. So behind a wait a node claims the passage
 * before it pays: in its list of payments in n8n's database, which all workers share.
 */

/** n8n's context object of the execution, saved with it. */
export interface PassageStore {
	/** The passage in which another process goes on. */
	lostPassage?: string;
	/** The last passage that each node has claimed, by its name. */
	claimedPassages?: Record<string, string>;
}

/** What lies behind one wait of an execution, as far as a node makes payments there. */
export interface Passage {
	store: PassageStore;
	/** Of the wait, the same in whichever process n8n goes on. */
	name: string;
	/** The node's name. */
	node: string;
}

/** What a claim needs of a node's list of payments, which is in a store of n8n. */
interface ClaimableList<Store> {
	/** Whether this process has marked a key. */
	knows(key: string): boolean;
	/** Adds keys; gives those that were there before, and how long that took in milliseconds. */
	add(store: Store, keys: string[]): Promise<{ stored: ReadonlySet<unknown>; durationMs: number }>;
	/** Deletes keys. */
	deleteFromStore(store: Store, keys: string[]): Promise<void>;
	/** Has a claim looked for until it lasts, beside the payments. */
	markClaim(key: string): void;
	/** How long a change may take, in milliseconds. */
	longestExpected(): number;
}

/** How long a claim waits before it looks whose it is: a change that takes longer claims nothing. */
const CLAIM_PAUSE_MS = 1_000;
/** So often it looks again where other executions write over it in the meantime. */
const MOST_LOOKS = 20;

/** The passage that a node stands in; undefined where the execution has not waited, and on n8n 2. */
export function passageOf(
	store: PassageStore,
	executionId: string,
	waits: number,
	node: string,
): Passage | undefined {
	if (!isN8n1 || waits === 0) return undefined;
	return { store, name: `${executionId} ${waits}`, node };
}

/**
 * Whether another process goes on in a passage. It holds for all that follows, up to the next wait: Retry On
 * Fail runs a node again, and other nodes come behind it.
 */
export function isLost({ store, name }: Passage): boolean {
	return store.lostPassage === name;
}

/**
 * Claims a passage for this process, once for a node: its retries and later turns come with the claim.
 * @returns the claim's key where it was made now, and whether the passage is this process's; throws when that
 * is unsure
 */
export async function claimPassage<Store>(
	{ store, name, node }: Passage,
	list: ClaimableList<Store>,
	database: Store,
): Promise<{ isOurs: boolean; key?: string }> {
	if (store.claimedPassages?.[node] === name) return { isOurs: true };
	const key = `n8n-nodes-pay:passage:${name}`;
	if (!(await claim(key, list, database))) {
		store.lostPassage = name;
		return { isOurs: false };
	}
	store.claimedPassages = { ...store.claimedPassages, [node]: name };
	return { isOurs: true, key };
}

/**
 * Claims a key for the caller alone. Two processes may claim it in the same instant: both find the list
 * without it, and the last writer wins. So each adds a key of its own beside it, pauses for longer than a
 * change takes, and looks whose own key is left.
 */
async function claim<Store>(
	key: string,
	list: ClaimableList<Store>,
	database: Store,
): Promise<boolean> {
	if (list.knows(key)) return false;
	const ownKey = `${key} ${randomUUID()}`;
	for (let look = 0; look < MOST_LOOKS; look++) {
		const { stored, durationMs } = await list.add(database, [key, ownKey]);
		if (durationMs > CLAIM_PAUSE_MS) {
			// Another process may have looked before this was written, and gone on.
			throw new Error(`n8n's database took longer than ${CLAIM_PAUSE_MS / 1000} s for it`);
		}
		// It was added before the pause, and is still there: nobody wrote over it.
		if (stored.has(ownKey)) {
			// Not before: this process records again what it has marked, and would write over another one's key.
			list.markClaim(key);
			// It takes the place of a payment; where it cannot be removed, it stays.
			await list.deleteFromStore(database, [ownKey]).catch(() => undefined);
			return true;
		}
		// Another process was first, or wrote over this one's.
		if (stored.has(key)) return false;
		// Both keys are new. If a third process writes over both meanwhile, they are new again.
		await sleep(Math.max(CLAIM_PAUSE_MS, list.longestExpected()));
	}
	throw new Error('other executions overwrite it');
}
