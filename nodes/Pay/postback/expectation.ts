import { createHash, createHmac } from 'crypto';

interface Charge {
	external_id: string;
	/** Which charge of that external_id, see {@link chargeAt}. */
	charge: string;
}

/** A postback that an execution asked for to itself. */
interface Asked extends Charge {
	/** Of the execution and the secret: the editor's Retry is another execution with the same store. */
	mark: string;
	/** Set where the request was rejected or not sent: no postback will come. */
	isVoid?: true;
}

/** A wait that began: a run of a node. */
interface Wait {
	external_id: string;
	executionId: string;
	node: string;
	run: number;
}

/** n8n's context object of the execution, saved with it. */
export interface ExpectationStore {
	/** In the order in which it happened. */
	postbacks?: Array<Asked | Wait>;
}

/**
 * Names a charge by the place that makes it (node, run, item): a second try of an item is the same
 * charge, the next round of a loop is another one.
 */
export function chargeAt(place: string): string {
	return createHash('sha256').update(place).digest('base64url').slice(0, 4);
}

/**
 * No proof: those are made of other texts, and longer. Short secrets could be tried out with it, as
 * with any signed URL, but are refused.
 */
function markOf({ external_id, charge }: Charge, executionId: string, secret: string) {
	const text = JSON.stringify([executionId, charge, external_id]);
	return createHmac('sha256', secret).update(text).digest('base64url').slice(0, 6);
}

/**
 * Records that an execution asks for a postback to itself; called before the request is sent.
 * @returns records that the postback will not come after all
 */
export function expectPostback(
	store: ExpectationStore,
	about: Charge,
	executionId: string,
	secret: string,
): () => void {
	const asked: Asked = { ...about, mark: markOf(about, executionId, secret) };
	(store.postbacks ??= []).push(asked);
	return () => void (asked.isVoid = true);
}

/** Records that a wait begins. */
export function beginWait(store: ExpectationStore, wait: Wait): void {
	(store.postbacks ??= []).push(wait);
}

/**
 * The charges whose postback may end a wait: those of this external_id that this very execution
 * asked for, with a secret that the wait takes. A new charge after a wait that a postback ended
 * replaces those before it; else a repeated "paid" of the one would end the wait for the other.
 * @param wasEnded whether a postback ended a wait
 */
export function awaitedCharges(
	{ postbacks = [] }: ExpectationStore,
	external_id: string,
	executionId: string,
	secrets: readonly string[],
	wasEnded: (wait: Wait) => boolean,
): string[] {
	let charges: string[] = [];
	let isOver = false;
	for (const event of postbacks) {
		if (event.external_id !== external_id) continue;
		if ('node' in event) {
			isOver ||= event.executionId === executionId && wasEnded(event);
		} else if (secrets.some((secret) => event.mark === markOf(event, executionId, secret))) {
			if (isOver) charges = [];
			if (!event.isVoid) charges.push(event.charge);
			isOver = false;
		}
	}
	return charges;
}
