import {
	UserError,
	type INodeExecutionData,
	type IWebhookFunctions,
	type IWebhookResponseData,
} from 'n8n-workflow';
import type { SenderRule } from '../../credential/sender';
import { toPostbackItem } from '../../postback/item';
import { whyNotAwaited } from '../../postback/match';
import { withResumeSegment } from '../../postback/postbackUrl';
import { hashOfRandomProof } from '../../postback/proof';
import { logNotAwaited, refusePostback } from '../../postback/refuse';
import { claimWait, isOver, type OpenWait } from '../../postback/resumeOnce';
import { responseText } from '../../postback/response';
import { take } from '../../postback/take';
import { readSender, type Awaited } from './awaited';

/**
 * How long the body of a postback to a wait may take, in milliseconds: a packet that TCP sends again
 * five times, after 0.2, 0.4, 0.8, 1.6 and 3.2 s, is there by then.
 */
const BODY_TIME = 10_000;

/** The response to a postback whose wait is over by the time its body has come. */
const OVER = 'The wait is over: another postback, or its time limit, let the execution go on';

/** An execution that waits, as n8n loaded it when a request began. */
interface Waiting {
	item: INodeExecutionData;
	awaited: Awaited;
}

/** A text as an expression may hold it between quotes: no character of it is read as code. */
function inQuotes(text: string): string {
	const units = Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));
	return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}

/**
 * Reads the item that waits, and what for. As text through n8n's expression engine: a key like
 * "toString" in it would break the engine's own copy, and $node["constructor"] is not the node.
 */
function readWaiting(context: IWebhookFunctions): Waiting {
	const name = inQuotes(context.getNode().name);
	const waiting = `[$input.all()[0], $("${name}").context.awaited]`;
	const text = context.evaluateExpression(`{{ JSON.stringify(${waiting}) }}`, 0);
	const [item, stored] = JSON.parse(String(text)) as [INodeExecutionData, Awaited | null];
	// Where the wait was not stored, nothing ends it.
	return { item, awaited: stored ?? { proofs: [], given: [], id: context.getExecutionId() } };
}

/**
 * The resume URL of the execution. n8n's own token is in its query, and so in that of each request. It proves
 * nothing here. It opens other waits and forms, so no item shows it.
 */
function readResumeUrl(context: IWebhookFunctions): { url: string; token: string } {
	const url = new URL(String(context.evaluateExpression('{{ $execution.resumeUrl }}', 0)));
	return { url: withResumeSegment(url.href), token: url.searchParams.get('signature') ?? '' };
}

/**
 * How the sender is checked, where the wait does so. Throws where its credential no longer says how, for the
 * service sends again after a 500.
 */
async function readSenderOf(
	context: IWebhookFunctions,
	{ isSigned }: Awaited,
): Promise<SenderRule | undefined> {
	if (!isSigned) return undefined;
	const rule = await readSender(context);
	if (rule !== undefined) return rule;
	throw new UserError('The credential of this wait no longer says how the sender is checked');
}

/**
 * Takes a call to the resume URL of a waiting execution: gives the input item with the postback to go
 * on with, or only a response.
 */
export async function receive(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const { item, awaited } = readWaiting(context);
	const query = context.getQueryData() as Record<string, unknown>;
	const hash = hashOfRandomProof(query);
	const proof = awaited.proofs.find((each) => each.hash === hash);
	if (proof === undefined && hash !== undefined && awaited.given.includes(hash)) {
		return refusePostback(context, 409, 'The execution is waiting for another charge or payment');
	}
	const resume = readResumeUrl(context);
	const taken = await take(context, proof?.reference ?? null, {
		needsProof: true,
		bodyTime: BODY_TIME,
		sender: await readSenderOf(context, awaited),
		urlGivenOut: resume.url,
		statusWords: proof?.status,
		resumeToken: resume.token,
	});
	if ('noWebhookResponse' in taken) return taken;
	const wait: OpenWait = {
		id: awaited.id,
		node: context.getNode().name,
		until: awaited.until,
	};
	const mismatch = whyNotAwaited(proof?.match, taken);
	if (mismatch !== undefined) {
		if (await isOver(context, wait)) return refusePostback(context, 409, OVER);
		logNotAwaited(context, mismatch, taken);
		return { webhookResponse: responseText(context, `The execution waits on: ${mismatch}`) };
	}
	// Before the wait is claimed, because making it takes time, in which the wait may end.
	const output = await toPostbackItem(context, taken, item);
	if (await isOver(context, wait)) return refusePostback(context, 409, OVER);
	// Nothing is awaited from here on: of all postbacks that are under way, one gets through.
	if (!claimWait(context, wait)) return refusePostback(context, 409, OVER);
	return { webhookResponse: responseText(context), workflowData: [[output]] };
}
