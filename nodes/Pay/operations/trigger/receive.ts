import type { INodeExecutionData, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import type { PostbackMatch } from '../../parameters/condition';
import { toClaimedItems, toPostbackItem } from '../../postback/item';
import { claimsIn, whyNotAwaited, type JudgedPostback } from '../../postback/match';
import { verify } from '../../postback/proof';
import { logNotAwaited, logRepeat, refusePostback, REPEATED } from '../../postback/refuse';
import { claimStart } from '../../postback/repeats';
import { take, type TakenPostback } from '../../postback/take';
import { readSkipRepeats } from './form';
import { readSettings } from './settings';

/** How long the body of a postback may take, in milliseconds: a trigger has no state that grows old. */
const BODY_TIME = 60_000;

/** Each entry becomes an item with the whole body, which nodes behind the trigger copy. */
const MOST_ENTRIES = 1000;

/**
 * Takes a call to the trigger's address. Throws where the trigger or its credential cannot be read, or lacks
 * what the trigger checks with. That is not the sender's fault, and the service sends again after a 500. The
 * log says why, the response does not.
 */
export async function receive(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const { authentication, acceptedSecrets, sender, statusWords, match } =
		await readSettings(context);
	const query = context.getQueryData() as Record<string, unknown>;
	const taken = await take(context, verify(query, acceptedSecrets), {
		needsProof: authentication === 'signedUrl',
		bodyTime: BODY_TIME,
		sender,
		urlGivenOut: context.getNodeWebhookUrl('default') ?? '',
		match,
		statusWords,
	});
	if ('noWebhookResponse' in taken) return taken;
	const isClaimed = authentication === 'sender' && taken.reference === null;
	const claims = isClaimed ? claimsIn(taken) : undefined;
	if (claims !== undefined && claims.claims.length > MOST_ENTRIES) {
		return refusePostback(context, 413, 'The list has too many entries');
	}
	const { items, mismatch } =
		claims === undefined
			? { items: await itemsOf(context, taken), mismatch: taken.mismatch }
			: await itemsOfClaims(context, taken, claims, match);
	if (items.length === 0) return respondWithoutStart(context, String(mismatch));
	return startWith(context, taken, items);
}

/** The text that a person chose to respond with. */
function responseBodyOf(context: IWebhookFunctions): unknown {
	return (context.getNodeParameter('options', {}) as { responseBody?: unknown }).responseBody;
}

/** Responds to a genuine postback with which the workflow does not start. */
function respondWithoutStart(context: IWebhookFunctions, why: string): IWebhookResponseData {
	const response = responseBodyOf(context) ?? `The workflow does not go on with it: ${why}`;
	return { webhookResponse: String(response) };
}

/**
 * Starts the workflow, here and nowhere else: with all items, or, with Skip Repeats, with those that started
 * none before. Nothing is awaited: of the same postbacks that are under way, one gets through.
 */
function startWith(
	context: IWebhookFunctions,
	taken: TakenPostback,
	items: INodeExecutionData[],
): IWebhookResponseData {
	const webhookResponse = String(responseBodyOf(context) ?? '');
	const skipsRepeats = readSkipRepeats(context.getNodeParameter('options', {}));
	// A person who listens sends the same one again and again.
	if (!skipsRepeats || context.getMode() === 'manual') {
		return { webhookResponse, workflowData: [items] };
	}
	const repetitions = items.map(({ json }, entry) => claimStart(context, json, entry));
	const first = items.filter((_, entry) => repetitions[entry] === 'first');
	if (first.length > 0) return { webhookResponse, workflowData: [first] };
	if (repetitions.includes('ofUnanswered')) {
		return refusePostback(context, 409, 'The same postback is starting the workflow just now');
	}
	logRepeat(context, taken);
	return respondWithoutStart(context, REPEATED);
}

/** The item of a postback; none where the workflow does not go on with it, which the log says. */
async function itemsOf(
	context: IWebhookFunctions,
	taken: TakenPostback,
): Promise<INodeExecutionData[]> {
	if (taken.mismatch === undefined) return [await toPostbackItem(context, taken)];
	logNotAwaited(context, taken.mismatch, taken);
	return [];
}

/**
 * The items of what a postback says of itself: those with which the workflow goes on. The log says of the
 * others why not.
 */
async function itemsOfClaims(
	context: IWebhookFunctions,
	taken: TakenPostback,
	{ claims, faults }: ReturnType<typeof claimsIn>,
	match: PostbackMatch | undefined,
): Promise<{ items: INodeExecutionData[]; mismatch: string | undefined }> {
	const awaited: JudgedPostback[] = [];
	const reasons = new Set(faults);
	for (const claim of claims) {
		const mismatch = whyNotAwaited(match, claim);
		if (mismatch === undefined) awaited.push(claim);
		else reasons.add(mismatch);
	}
	for (const reason of reasons) logNotAwaited(context, reason, taken);
	const [mismatch] = reasons;
	return { items: await toClaimedItems(context, awaited), mismatch };
}
