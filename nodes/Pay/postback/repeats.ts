import type { IDataObject, IWebhookFunctions } from 'n8n-workflow';
import { BoundedMap } from '../base/boundedMap';
import { STATES } from '../service/state';

/*
 * Of 20 pairs of one postback at the same instant, 4 and 5 reached what stands behind a look-up in a data
 * table twice (measured): both look before either writes. One process can tell such a pair apart. What comes
 * later, or to another process, only the workflow's own table can.
 */

/** How long a postback that started the workflow is remembered, in milliseconds. */
const REMEMBERED_FOR = 600_000;
/** About 10 MB, and 80 postbacks a second for ten minutes. One that is dropped may start a second time. */
const MOST_STARTS = 50_000;

/** A postback that started the workflow. */
interface Start {
	/** When, in milliseconds of the monotonic clock. */
	at: number;
	/** Whether n8n has answered it, and not with an error. */
	isAnswered: boolean;
}

/** The postbacks that started workflows in this process. */
const starts = new BoundedMap<string, Start>(MOST_STARTS);

function forgetOld(now: number): void {
	for (const [key, { at }] of starts.entries()) {
		if (now < at + REMEMBERED_FOR) return;
		starts.delete(key);
	}
}

/**
 * The key by which two postbacks are the same. A charge has one "paid" and one "failed", whatever else the request
 * says, because services number their attempts. Any other state belongs to its event: two partial payments are two.
 * Where the postback itself names the charge, the amount that it names counts too, because that may be a part.
 */
function keyOf(context: IWebhookFunctions, postback: IDataObject, entry: number): string {
	const { reference, claimed, state, eventId } = postback;
	const place = [context.getWorkflow().id, context.getNode().id];
	const { kind, external_id } = (reference ?? claimed ?? {}) as IDataObject;
	const { amount } = (claimed ?? {}) as IDataObject;
	const { isOncePerCharge = false } = STATES.find((each) => each.state === state) ?? {};
	const isOfCharge = isOncePerCharge && external_id !== undefined;
	const what = isOfCharge ? [kind, external_id, amount, state] : [eventId, entry, state];
	return JSON.stringify([...place, ...what]);
}

/**
 * Lets one of several same postbacks start the workflow. Nothing may be awaited between this and the end of
 * `webhook()`. Where n8n then tells the sender that it failed, the next one may start it. If the sender hangs
 * up before, nobody hears how it ended: then repeats get 409 for the ten minutes, so that none is lost.
 * @param postbacks as the workflow gets them: those of one request
 * @returns for each of them whether it is the first; undefined where one of them repeats what n8n has not
 * answered yet: then none may start it, because a request has only one response
 */
export function claimStarts(
	context: IWebhookFunctions,
	postbacks: IDataObject[],
): boolean[] | undefined {
	const now = performance.now();
	forgetOld(now);
	const keys = postbacks.map((postback, entry) => keyOf(context, postback, entry));
	if (keys.some((key) => starts.get(key)?.isAnswered === false)) return undefined;
	const startsOfRequest = new Map<string, Start>();
	const areFirst = keys.map((key) => {
		if (starts.has(key)) return false;
		const start: Start = { at: now, isAnswered: false };
		starts.set(key, start);
		startsOfRequest.set(key, start);
		return true;
	});
	const response = context.getResponseObject();
	// One listener for all of them, because Node.js warns of a leak at the eleventh.
	response.once('finish', () => {
		for (const [key, start] of startsOfRequest) {
			if (response.statusCode < 400) start.isAnswered = true;
			else if (starts.get(key) === start) starts.delete(key);
		}
	});
	return areFirst;
}
