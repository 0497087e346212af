import type {
	INodeExecutionData,
	IWebhookFunctions,
	IWebhookResponseData,
	IWorkflowExecuteAdditionalData,
} from 'n8n-workflow';
import { challengeOfProven } from '../../postback/challenge';
import { toPostbackItems } from '../../postback/item';
import { claimsIn, whyNotAwaited, type JudgedPostback } from '../../postback/match';
import { verify } from '../../postback/proof';
import { logNotAwaited, logRepeat, refusePostback, REPEATED } from '../../postback/refuse';
import { claimStarts } from '../../postback/repeats';
import { responseText } from '../../postback/response';
import { take } from '../../postback/take';
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
	const { authentication, acceptedSecrets, sender, statusWords, match, challenge } =
		await readSettings(context);
	const query = context.getQueryData() as Record<string, unknown>;
	const taken = await take(context, verify(query, acceptedSecrets), {
		needsProof: authentication === 'signedUrl',
		bodyTime: BODY_TIME,
		sender,
		urlGivenOut: urlGivenOut(context),
		statusWords,
		challenge,
	});
	if ('noWebhookResponse' in taken) return taken;
	// Where only the sender is known, each claim of the postback is judged by itself.
	const isClaimed = authentication === 'sender' && taken.reference === null;
	const { claims, faults } = isClaimed ? claimsIn(taken) : { claims: [taken], faults: [] };
	if (claims.length > MOST_ENTRIES) {
		return refusePostback(context, 413, 'The list has too many entries');
	}
	const awaited: JudgedPostback[] = [];
	const reasons = new Set(faults);
	for (const claim of claims) {
		const mismatch = whyNotAwaited(match, claim);
		if (mismatch === undefined) awaited.push(claim);
		else reasons.add(mismatch);
	}
	for (const reason of reasons) logNotAwaited(context, reason, taken);
	const items = await toPostbackItems(context, awaited);
	const [firstReason] = reasons;
	const webhookResponse =
		challengeOfProven(context, challenge, taken.sources) ??
		responseText(context, items.length === 0 ? notStartedBecause(firstReason) : undefined);
	if (items.length === 0) return { webhookResponse };
	return startWith(context, items, webhookResponse);
}

/** The URL of a call as its sender has it: while the editor listens the Test URL, which n8n 1 gives no node. */
function urlGivenOut(context: IWebhookFunctions): string {
	const url = context.getNodeWebhookUrl('default') ?? '';
	const { additionalData } = context as { additionalData?: IWorkflowExecuteAdditionalData };
	if (context.getMode() !== 'manual' || additionalData === undefined) return url;
	const { webhookBaseUrl, webhookTestBaseUrl } = additionalData;
	return webhookTestBaseUrl + url.slice(webhookBaseUrl.length);
}

/** What the sender of a genuine postback reads with which the workflow does not start. */
const notStartedBecause = (why: string | undefined) =>
	`The workflow does not go on with it: ${why}`;

/**
 * Starts the workflow, here and nowhere else: with all items, or, with Skip Repeats, with those that started
 * none before. Nothing is awaited: of the same postbacks that are under way, one gets through.
 */
function startWith(
	context: IWebhookFunctions,
	items: INodeExecutionData[],
	webhookResponse: string,
): IWebhookResponseData {
	const skipsRepeats = readSkipRepeats(context.getNodeParameter('options', {}));
	// A person who listens sends the same one again and again.
	if (!skipsRepeats || context.getMode() === 'manual') {
		return { webhookResponse, workflowData: [items] };
	}
	const areFirst = claimStarts(
		context,
		items.map(({ json }) => json),
	);
	if (areFirst === undefined) {
		return refusePostback(context, 409, 'The same postback is starting the workflow just now');
	}
	const first = items.filter((_, entry) => areFirst[entry]);
	for (const item of items) {
		if (!first.includes(item)) logRepeat(context, item.json);
	}
	if (first.length > 0) return { webhookResponse, workflowData: [first] };
	return { webhookResponse: webhookResponse || notStartedBecause(REPEATED) };
}
