import { UserError, type IWebhookFunctions, type IWebhookResponseData } from 'n8n-workflow';
import { toPostbackItem } from '../../postback/item';
import { verify } from '../../postback/proof';
import { logNotAwaited } from '../../postback/refuse';
import { take } from '../../postback/take';
import { comparesReference, NOTHING_TO_COMPARE, readSettings } from './settings';

/** How long the body of a postback may take, in milliseconds: a trigger has no state that grows old. */
const BODY_TIME = 60_000;

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
	// Not before the signature was verified, so that a stranger learns nothing of the credential.
	if (taken.reference === null && comparesReference(statusWords)) {
		throw new UserError(NOTHING_TO_COMPARE);
	}
	const { responseBody } = context.getNodeParameter('options', {}) as { responseBody?: unknown };
	const { mismatch } = taken;
	if (mismatch !== undefined) {
		logNotAwaited(context, mismatch, taken);
		const response = responseBody ?? `The workflow does not go on with it: ${mismatch}`;
		return { webhookResponse: String(response) };
	}
	// The workflow starts here, and nowhere else.
	return {
		webhookResponse: String(responseBody ?? ''),
		workflowData: [[await toPostbackItem(context, taken)]],
	};
}
