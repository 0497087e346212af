import type { IExecuteFunctions } from 'n8n-workflow';
import { BoundedMap } from '../base/boundedMap';
import type { InputError } from '../base/inputError';
import { additionalDataOf, runExecutionDataOf } from '../base/n8n';
import type { RequestResult } from '../service/client';
import type { Account } from './account';
import { accountKey } from './identity';

/*
 * A service blocks an address after a few failed logins, and then everything of that n8n stops. So an
 * execution asks with one item first, and an account that is rejected is not asked again before the
 * execution's next wait: a loop over 20 items asked 20 times (measured). Which services block, and for how
 * long, nobody can tell from outside.
 *
 * Each process knows this of what it runs itself. In queue mode a worker runs an execution from one wait to
 * the next, so no other process has to know.
 */

/** An execution from one wait to the next. */
export interface Session {
	/** Undefined where n8n gives none, as behind an MCP Server Trigger. */
	executionId: string | undefined;
	/** n8n's object for it, which no other session has. */
	identity: object;
	/** How many of n8n's own Wait nodes have run before the node: short waits end no session. */
	countShortWaits: () => number;
}

/**
 * The session in which a node runs: as long as n8n's additional data is the same. Without it a session is one
 * run of the node.
 */
export function sessionOf(context: IExecuteFunctions): Session {
	return {
		executionId: context.getExecutionId() as string | undefined,
		identity: additionalDataOf(context) ?? context,
		countShortWaits: () => countShortWaits(context),
	};
}

/** What n8n's own Wait node is called. It keeps waits below 65 s in memory, and the execution running. */
const WAIT_TYPE = 'n8n-nodes-base.wait';

/** How often n8n's own Wait nodes before a node have run; 0 where this n8n does not tell. */
function countShortWaits(context: IExecuteFunctions): number {
	const runs = runExecutionDataOf(context)?.resultData?.runData ?? {};
	let count = 0;
	try {
		for (const { name, type } of context.getParentNodes(context.getNode().name)) {
			if (type === WAIT_TYPE) count += runs[name]?.length ?? 0;
		}
	} catch {
		// Then a pause without an end lasts until the execution is put to sleep.
		return 0;
	}
	return count;
}

/** What is known of one account in a session. */
export interface Standing {
	/** The account's, by which a pause is found behind a wait. */
	readonly key: string;
	/** Whether several items may ask at once: its token was accepted. */
	isAccepted: boolean;
	/** Why nothing more is sent with it. */
	rejection?: InputError;
	/**
	 * Until when the service wants nothing (HTTP 429), in milliseconds of the monotonic clock: Infinity where it
	 * did not say, 0 where it wants all.
	 */
	pausedUntil: number;
	/** How many short waits there had been when a pause without an end began: the next one ends it. */
	shortWaits: number;
	/** The turn of the item that asks alone. */
	turn?: Turn;
}

/** The standings of each session, by their accounts. n8n drops a session's object, and this goes with it. */
const sessions = new WeakMap<object, Map<string, Standing>>();

/** About 1 MB. Dropping one costs a single request after a wait, which gets another 429. */
const MOST_PAUSES = 5_000;
/** When pauses end, by execution and account. A pause can outlast a wait. */
const endsOfPauses = new BoundedMap<string, number>(MOST_PAUSES);

/** Gives the standing of an account, which all runs of a session share. */
export function standingOf({ executionId, identity }: Session, account: Account): Standing {
	const standings = sessions.get(identity) ?? new Map<string, Standing>();
	sessions.set(identity, standings);
	const key = accountKey(account);
	const known = standings.get(key);
	if (known !== undefined) return known;
	const pausedUntil = endsOfPauses.get(`${executionId} ${key}`) ?? 0;
	const standing: Standing = { key, isAccepted: false, pausedUntil, shortWaits: 0 };
	standings.set(key, standing);
	return standing;
}

/** The time in which one item alone uses an account. */
export interface Turn {
	/** Why no token could be fetched during this turn; the next one may get one. */
	noToken?: InputError;
	readonly ended: Promise<void>;
	readonly end: () => void;
}

/**
 * Begins an item's turn, in which it is alone until the account's token was accepted. If the item that it waited
 * for got no token, it gets none either: otherwise each item would ask the token endpoint again.
 */
export async function beginTurn(
	standing: Standing,
): Promise<{ is: 'turn'; turn: Turn } | { is: 'noToken'; error: InputError }> {
	for (let before = standing.turn; before !== undefined; before = standing.turn) {
		await before.ended;
		if (before.noToken !== undefined) return { is: 'noToken', error: before.noToken };
	}
	let end = () => {};
	const ended = new Promise<void>((resolve) => (end = resolve));
	const turn: Turn = { ended, end };
	// Nothing is awaited since the loop, so no other item has begun meanwhile.
	if (!standing.isAccepted) standing.turn = turn;
	return { is: 'turn', turn };
}

/** Ends a turn, so that those waiting for it go on. */
export function endTurn(standing: Standing, turn: Turn): void {
	if (standing.turn === turn) standing.turn = undefined;
	turn.end();
}

/** Notes what a response says about its account. What a rejected token means is for the sender to judge. */
export function noteResponse(
	session: Session,
	standing: Standing,
	{ outcome, statusCode, retryAfter }: RequestResult,
): void {
	if (statusCode === 429) beginPause(session, standing, retryAfter);
	// A 401 or 403 does not mean that the token was accepted.
	else if (statusCode === 401 || statusCode === 403) return;
	else if (outcome === 'accepted' || outcome === 'rejected') standing.isAccepted = true;
}

/** Begins a pause of some seconds, or, where the service did not say how long, until the next wait. */
export function beginPause(
	{ executionId, countShortWaits }: Session,
	standing: Standing,
	seconds: number | undefined,
): void {
	if (seconds === undefined) {
		// A pause with a known end is not replaced by one without.
		if (standing.pausedUntil !== 0) return;
		standing.pausedUntil = Infinity;
		standing.shortWaits = countShortWaits();
		return;
	}
	standing.pausedUntil = performance.now() + 1000 * seconds;
	// Beyond the session.
	if (executionId !== undefined) {
		endsOfPauses.set(`${executionId} ${standing.key}`, standing.pausedUntil);
	}
}

/** What is left of a pause, in whole seconds: Infinity until the next wait, 0 where there is none. */
export function pauseLeft({ countShortWaits }: Session, standing: Standing): number {
	const { pausedUntil, shortWaits } = standing;
	const now = performance.now();
	if (pausedUntil === Infinity && countShortWaits() === shortWaits) return Infinity;
	if (pausedUntil !== Infinity && pausedUntil > now) return Math.ceil((pausedUntil - now) / 1000);
	standing.pausedUntil = 0;
	return 0;
}
