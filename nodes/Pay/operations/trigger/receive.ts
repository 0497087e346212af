import type { INodeExecutionData, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import type { PostbackMatch } from '../../parameters/condition';
import { toClaimedItems, toPostbackItem } from '../../postback/item';
import { claimsIn, whyNotAwaited, type JudgedPostback } from '../../postback/match';
import { verify } from '../../postback/proof';
import { logNotAwaited, refusePostback } from '../../postback/refuse';
import { take, type TakenPostback } from '../../postback/take';
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
	const { responseBody } = context.getNodeParameter('options', {}) as { responseBody?: unknown };
	const isClaimed = authentication === 'sender' && taken.reference === null;
	const claims = isClaimed ? claimsIn(taken) : undefined;
	if (claims !== undefined && claims.claims.length > MOST_ENTRIES) {
		return refusePostback(context, 413, 'The list has too many entries');
	}
	const { items, mismatch } =
		claims === undefined
			? { items: await itemsOf(context, taken), mismatch: taken.mismatch }
			: await itemsOfClaims(context, taken, claims, match);
	if (items.length === 0) {
		const response = responseBody ?? `The workflow does not go on with it: ${mismatch}`;
		return { webhookResponse: String(response) };
	}
	// The workflow starts here, and nowhere else.
	return {
		webhookResponse: String(responseBody ?? ''),
		workflowData: [items],
	};
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
