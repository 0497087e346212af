import { randomUUID } from 'crypto';
import { sleep } from 'n8n-workflow';
import { isN8n1 } from './version';

/*
 * n8n 1 in queue mode lets two workers go on from one wait: of two postbacks at once through two processes,
 * both in 44 of 80 pairs (measured on 1.123.81). Whatever is behind the wait would run twice, and a payment
 * whose External ID changes with each run would be made twice. So behind a wait the first node that pays claims
 * the passage for its execution: in the workflow's list of payments in n8n's database, which all workers share.
 */

/** n8n's context object of the execution, saved with it. */
export interface PassageStore {
	/** The passage in which another process goes on. */
	lostPassage?: string;
	/** The last passage that this execution has claimed. */
	claimedPassage?: string;
}

/** What lies behind one wait of an execution, as far as payments are made there. */
export interface Passage {
	store: PassageStore;
	/** Of the wait, the same in whichever process n8n goes on. */
	name: string;
}

/** What a claim needs of a workflow's list of payments, which is in a store of n8n. */
interface ClaimableList<Store> {
	/** Whether this process remembers a key as recorded. */
	knows(key: string): boolean;
	/** Adds keys; gives those that were there before, and how long that took in milliseconds. */
	add(store: Store, keys: string[]): Promise<{ stored: ReadonlySet<unknown>; durationMs: number }>;
	/** Deletes keys. */
	deleteStored(store: Store, keys: string[]): Promise<void>;
	/** Remembers a claim, which is then looked for until it lasts, as the payments are. */
	rememberClaim(key: string): void;
	/** How long a change may take, in milliseconds. */
	longestExpected(): number;
}

/** How long a claim waits before it looks whose it is: a change that takes longer claims nothing. */
const CLAIM_PAUSE_MS = 1_000;
/** How often it looks again if other executions keep overwriting the list. */
const MOST_LOOKS = 20;

/** A claim that is being made, and of which passage. */
interface ClaimUnderWay {
	name: string;
	isOurs: Promise<boolean>;
}

/** By the store of the execution: some agents run two tools at once, which share one claim. */
const claimsUnderWay = new WeakMap<PassageStore, ClaimUnderWay>();

/** The passage that an execution stands in; undefined where it has not waited, and on n8n 2. */
export function passageOf(
	store: PassageStore,
	executionId: string,
	waits: number,
): Passage | undefined {
	if (!isN8n1 || waits === 0) return undefined;
	return { store, name: `${executionId} ${waits}` };
}

/**
 * Whether another process goes on in a passage. It holds for all that follows, up to the next wait: Retry On
 * Fail runs a node again, and other nodes come behind it.
 */
export function isLost({ store, name }: Passage): boolean {
	return store.lostPassage === name;
}

/**
 * Claims a passage for this process, once for the execution: its other nodes, tools that run at once, retries
 * and later turns come with the claim.
 * @returns the claim's key where it was made now, and whether the passage is this process's; throws when that
 * is unsure
 */
export async function claimPassage<Store>(
	{ store, name }: Passage,
	list: ClaimableList<Store>,
	database: Store,
): Promise<{ isOurs: boolean; key?: string }> {
	if (store.claimedPassage === name) return { isOurs: true };
	const underWay = claimsUnderWay.get(store);
	if (underWay?.name === name) return { isOurs: await underWay.isOurs };
	const key = `n8n-nodes-pay:passage:${name}`;
	const isOurs = claim(key, list, database);
	claimsUnderWay.set(store, { name, isOurs });
	try {
		if (await isOurs) {
			store.claimedPassage = name;
			return { isOurs: true, key };
		}
		store.lostPassage = name;
		return { isOurs: false };
	} finally {
		claimsUnderWay.delete(store);
	}
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
			// Not earlier: this process records again what it remembers, and would overwrite the key of another one.
			list.rememberClaim(key);
			// It takes the place of a payment; where it cannot be removed, it stays.
			await list.deleteStored(database, [ownKey]).catch(() => undefined);
			return true;
		}
		// Another process was first, or wrote over this one's.
		if (stored.has(key)) return false;
		// Both keys are new. If a third process writes over both meanwhile, they are new again.
		await sleep(Math.max(CLAIM_PAUSE_MS, list.longestExpected()));
	}
	throw new Error('other executions keep overwriting it');
}
