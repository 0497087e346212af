import type { IDataObject, IWebhookFunctions } from 'n8n-workflow';
import { toNotification, type Notification } from './notification';
import type { Reference } from './proof';

interface RawRequest {
	rawBody?: Buffer;
	readRawBody?: () => Promise<void>;
}

/**
 * Reading a credential is what costs n8n 2 most in a postback (an isolate of its expression engine
 * for each), so the secret is kept for so long, in milliseconds; a removed one is taken that long.
 */
const KEEP_SECRET = 10_000;
const kept = new Map<string, { secret: string; until: number }>();

const keyOf = (context: IWebhookFunctions) => {
	const { name, credentials } = context.getNode();
	return JSON.stringify([context.getWorkflow().id, name, credentials?.payApi?.id]);
};

/** The Postback Secret of a trigger's credential, if it was read a moment ago. */
export function keptSecret(context: IWebhookFunctions): string | undefined {
	const found = kept.get(keyOf(context));
	return found !== undefined && Date.now() < found.until ? found.secret : undefined;
}

/** Reads the Postback Secret of a trigger's credential; empty where it has none. */
export async function readSecret(context: IWebhookFunctions): Promise<string> {
	const { postbackSecret } = await context.getCredentials<{ postbackSecret?: string }>('payApi');
	const secret = postbackSecret ?? '';
	kept.set(keyOf(context), { secret, until: Date.now() + KEEP_SECRET });
	return secret;
}

/** Reads the request that called a webhook into a notification. */
export async function readNotification(
	context: IWebhookFunctions,
	reference: Reference | null,
): Promise<Notification> {
	const request = context.getRequestObject();
	const raw = request as RawRequest;
	if (raw.rawBody === undefined) await raw.readRawBody?.();
	return toNotification(
		{
			method: request.method,
			query: context.getQueryData() as Record<string, unknown>,
			headers: context.getHeaderData() as Record<string, unknown>,
			rawBody: raw.rawBody ?? Buffer.alloc(0),
			parsedBody: context.getBodyData(),
			receivedAt: new Date(),
		},
		reference,
	);
}

/**
 * Answers a caller whose postback is not taken: nothing starts and nothing resumes. Logged without
 * the URL, whose signature is a secret, and without the body.
 */
export function refuse(
	context: IWebhookFunctions,
	statusCode: number,
	message: string,
): { noWebhookResponse: true } {
	const { id } = context.getWorkflow();
	context.logger.warn(`Pay refused a postback (${statusCode}): ${message}`, {
		workflowId: id,
		node: context.getNode().name,
	});
	context.getResponseObject().status(statusCode).json({ message });
	return { noWebhookResponse: true };
}

/** A notification as the JSON of an n8n item. */
export function asJson(notification: Notification): IDataObject {
	return { ...notification } as unknown as IDataObject;
}
