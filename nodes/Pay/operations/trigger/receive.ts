import { UserError, type IWebhookFunctions, type IWebhookResponseData } from 'n8n-workflow';
import { signatureFault } from '../../credential/signature';
import type { StatusWords } from '../../parameters/postbackState';
import { toPostbackItem } from '../../postback/item';
import { whyNotAwaited } from '../../postback/match';
import type { Postback } from '../../postback/postback';
import { verify, type Reference } from '../../postback/proof';
import { logNotAwaited, refuseUnproven, refuseWrongSignature } from '../../postback/refuse';
import { headersOf, readContent, readPostback } from '../../postback/request';
import { NOTHING_TO_COMPARE, readSettings } from './settings';

/** How long the body of a postback may take, in milliseconds: a trigger has no state that grows old. */
const BODY_TIME = 60_000;

/** The text that a person chose to respond with. */
function responseBodyOf(context: IWebhookFunctions): unknown {
	return (context.getNodeParameter('options', {}) as { responseBody?: unknown }).responseBody;
}

/** Responds to a genuine postback with which the workflow does not start. */
function respondWithoutStart(
	context: IWebhookFunctions,
	mismatch: string,
	reference: Reference | null,
): IWebhookResponseData {
	logNotAwaited(context, mismatch, reference);
	const response = responseBodyOf(context) ?? `The workflow does not go on with it: ${mismatch}`;
	return { webhookResponse: String(response) };
}

/** Starts the workflow with a postback that was verified, and holds what is asked for. */
async function start(
	context: IWebhookFunctions,
	postback: Postback,
	reference: Reference | null,
	statusWords: StatusWords | undefined,
): Promise<IWebhookResponseData> {
	return {
		webhookResponse: String(responseBodyOf(context) ?? ''),
		workflowData: [[await toPostbackItem(context, postback, reference, statusWords)]],
	};
}

/**
 * Takes a call to the trigger's address: proof first, body after, then the service's signature. Throws where
 * the trigger or its credential cannot be read, or lacks what the trigger checks with. That is not the
 * sender's fault, and the service sends again after a 500. The log says why, the response does not.
 */
export async function receive(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const settings = await readSettings(context);
	const { signatureRule, statusWords } = settings;
	const query = context.getQueryData() as Record<string, unknown>;
	const reference = verify(query, settings.acceptedSecrets);
	if (settings.authentication === 'signedUrl' && reference === null) return refuseUnproven(context);
	const content = await readContent(context, BODY_TIME);
	if (signatureRule !== undefined) {
		const fault = signatureFault(signatureRule, headersOf(context), content);
		if (fault !== undefined) return refuseWrongSignature(context, fault);
	}
	// Not before the signature was verified, so that a stranger learns nothing of the credential.
	if (reference === null && statusWords?.compared !== undefined) {
		throw new UserError(NOTHING_TO_COMPARE);
	}
	const postback = readPostback(context, content, {
		isSignedByService: signatureRule !== undefined,
	});
	const mismatch = whyNotAwaited(settings.match, postback, reference, statusWords);
	if (mismatch !== undefined) return respondWithoutStart(context, mismatch, reference);
	return await start(context, postback, reference, statusWords);
}
