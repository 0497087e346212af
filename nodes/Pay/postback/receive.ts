import type { IDataObject, IWebhookFunctions } from 'n8n-workflow';
import { toNotification, type Notification } from './notification';
import type { Reference } from './signature';

interface RawRequest {
	rawBody?: Buffer;
	readRawBody?: () => Promise<void>;
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
