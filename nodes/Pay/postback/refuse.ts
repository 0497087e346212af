import type { IDataObject, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { logWarning } from '../log';
import { namesIn, type JudgedPostback } from './match';

/**
 * Refuses a postback: nothing starts or resumes. The log has neither its URL, nor a secret, nor its body.
 * @param reason what was thrown, if that is why. Its message is logged: ours and n8n's quote nothing of a
 * request, and the parsers of bodies keep their errors to themselves.
 */
export function refusePostback(
	context: IWebhookFunctions,
	statusCode: number,
	message: string,
	reason?: unknown,
): { noWebhookResponse: true } {
	const words = `Pay refused a postback (${statusCode}): ${message}`;
	const why = reason instanceof Error ? ` (${reason.name}: ${reason.message})` : '';
	logWarning(context, words + why);
	const response = context.getResponseObject();
	if (!response.headersSent) response.status(statusCode).json({ message });
	return { noWebhookResponse: true };
}

/** Refuses a request whose URL proves nothing. */
export const refuseUnproven = (context: IWebhookFunctions) =>
	refusePostback(context, 401, 'This address takes only postbacks with a valid proof');

/** The status of an error that n8n found in the request, such as a body over its limit. */
function statusOfError(error: unknown): number {
	const { httpStatusCode, statusCode } = (error ?? {}) as Record<string, unknown>;
	const status = httpStatusCode ?? statusCode;
	return typeof status === 'number' && status >= 400 && status < 500 ? status : 500;
}

/**
 * Runs the work of a `webhook()`. After an error that gets out, n8n starts the workflow or resumes the
 * execution with an empty item, whoever called (measured on 2.41 and 1.123). So it is refused instead.
 */
export async function refuseOnError(
	context: IWebhookFunctions,
	work: () => Promise<IWebhookResponseData>,
): Promise<IWebhookResponseData> {
	try {
		return await work();
	} catch (error) {
		try {
			// Else a body that was left half read stands before the connection's next request.
			context.getResponseObject().setHeader('Connection', 'close');
			return refusePostback(
				context,
				statusOfError(error),
				'The postback could not be taken',
				error,
			);
		} catch {
			return { noWebhookResponse: true };
		}
	}
}

/**
 * Refuses a request of which nothing shows that the service sent it.
 * @param fault what is wrong with it, in words that follow a colon
 */
export const refuseWrongSender = (context: IWebhookFunctions, fault: string) =>
	refusePostback(context, 401, `The sender cannot be verified: ${fault}`);

/** Says in the log that a genuine postback came with which the workflow does not go on. */
function logTaken(context: IWebhookFunctions, why: string, external_id: unknown): void {
	const sentence = `Pay took a postback that the workflow does not go on with: ${why}`;
	logWarning(context, sentence, { external_id });
}

/** Says so of one that lacks what was asked for, and what is there instead. */
export function logNotAwaited(
	context: IWebhookFunctions,
	why: string,
	judged: JudgedPostback,
): void {
	const { reference } = judged;
	logTaken(context, `${why}. It has: ${namesIn(judged)}`, reference?.external_id);
}

/** Why a repeat starts nothing. */
export const REPEATED = 'it repeats one of the last ten minutes';

/**
 * Says so of a repeat.
 * @param postback as the workflow would get it
 */
export function logRepeat(context: IWebhookFunctions, { reference, claimed }: IDataObject): void {
	const { external_id } = (reference ?? claimed ?? {}) as IDataObject;
	logTaken(context, REPEATED, external_id);
}
