import type { StatusWords } from '../service/postbackState';
import type { Reference } from './proof';

/** A postback that an execution asks for to itself. */
export interface Expectation extends Reference {
	/** The editor's Retry is another execution with the same store. */
	executionId: string;
	/** The hash of the random proof in the postback's URL, which says nothing of the charge or payment itself. */
	hash: string;
	/** The words of the account: a wait has none of its own. */
	status?: StatusWords;
	/** Whether the account checks the service's own signature; a wait does so with a credential of its own. */
	isSigned?: true;
	/** Set where the request was accepted: a postback will come. */
	isAccepted?: true;
	/** Set where the request was rejected or not sent: no postback will come. */
	isVoid?: true;
}

/** A wait that began: a run of a node. */
export interface Wait {
	external_id: string;
	executionId: string;
	node: string;
	run: number;
	/** When its time limit passes, in milliseconds; absent without one. */
	until?: number;
}

/** n8n's context object of the execution, saved with it. */
export interface ExpectationStore {
	/** In the order in which it happened. */
	postbacks?: Array<Expectation | Wait>;
}

/** Records that an execution asks for a postback. */
export function recordExpectation(store: ExpectationStore, expectation: Expectation): void {
	store.postbacks ??= [];
	store.postbacks.push(expectation);
}

/** Records that a postback will not come after all; the very object that was recorded says so. */
export function withdrawExpectation(expectation: Expectation): void {
	expectation.isVoid = true;
}

/** Records that a postback will come; the very object that was recorded says so. */
export function confirmExpectation(expectation: Expectation): void {
	expectation.isAccepted = true;
}

/** Records that a wait begins. */
export function recordWait(store: ExpectationStore, wait: Wait): void {
	store.postbacks = [...(store.postbacks ?? []), wait];
}

/** The hashes of all proofs that an execution has given so far. */
export function hashesOf({ postbacks = [] }: ExpectationStore): string[] {
	const hashes: string[] = [];
	for (const event of postbacks) {
		if ('hash' in event) hashes.push(event.hash);
	}
	return hashes;
}

/**
 * The External ID of another accepted request of an execution whose postback is still to come: no wait has
 * begun for it. Undefined where there is none.
 */
export function otherStillAwaited(
	{ postbacks = [] }: ExpectationStore,
	{ external_id, executionId }: Expectation,
): string | undefined {
	const awaited = new Set<string>();
	for (const event of postbacks) {
		if (event.executionId !== executionId || event.external_id === external_id) continue;
		if ('node' in event) awaited.delete(event.external_id);
		else if (event.isAccepted) awaited.add(event.external_id);
	}
	const [first] = awaited;
	return first;
}

/** How often an execution has waited for a postback before. */
export const countWaits = ({ postbacks = [] }: ExpectationStore, executionId: string) =>
	postbacks.filter((event) => 'node' in event && event.executionId === executionId).length;

/** The postback that an execution asked for with a proof, known by the proof's hash. */
export const expectationOf = ({ postbacks = [] }: ExpectationStore, hash: string) =>
	postbacks.find((event): event is Expectation => 'hash' in event && event.hash === hash);

/**
 * The hashes of the proofs that may end a wait: those of this external_id that this very execution
 * asked for. A new charge after a wait that a postback ended replaces those before it; else a
 * repeated "paid" of the one would end the wait for the other.
 */
export function awaitedHashes(
	{ postbacks = [] }: ExpectationStore,
	external_id: string,
	executionId: string,
	wasEnded: (wait: Wait) => boolean,
): string[] {
	let hashes: string[] = [];
	// Whether a postback has ended a wait for the charges so far.
	let isReplacedByNext = false;
	for (const event of postbacks) {
		if (event.external_id !== external_id || event.executionId !== executionId) continue;
		if ('node' in event) {
			if (wasEnded(event)) isReplacedByNext = true;
			continue;
		}
		if (isReplacedByNext) hashes = [];
		isReplacedByNext = false;
		if (!event.isVoid) hashes.push(event.hash);
	}
	return hashes;
}
