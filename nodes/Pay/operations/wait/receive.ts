import {
	UserError,
	type INodeExecutionData,
	type IWebhookFunctions,
	type IWebhookResponseData,
} from 'n8n-workflow';
import type { SenderRule } from '../../credential/sender';
import type { PostbackMatch } from '../../parameters/condition';
import { toPostbackItem } from '../../postback/item';
import { withResumeSegment } from '../../postback/postbackUrl';
import { verifyRandomProof, type Reference } from '../../postback/proof';
import { logNotAwaited, refusePostback } from '../../postback/refuse';
import { claimWait, isOver, type OpenWait } from '../../postback/resumeOnce';
import { take } from '../../postback/take';
import { readSender, type Awaited, type AwaitedProof } from './awaited';

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
	const [item, stored] = JSON.parse(String(text)) as [INodeExecutionData, StoredAwaited | null];
	return { item, awaited: fromStored(stored ?? {}, context.getExecutionId()) };
}

/** What a wait waits for, as it may be stored: 0.1.0 also stored hashes with one condition for all. */
interface StoredAwaited extends Partial<Awaited> {
	hashes?: string[];
	match?: PostbackMatch;
}

/** What a wait waits for, from any form that was ever stored. */
function fromStored(stored: StoredAwaited, executionId: string): Awaited {
	const { hashes = [], match, ...awaited } = stored;
	const proofs = hashes.map((hash) => ({ hash, match }));
	// A wait that 0.1.0 began has no id, and an execution has one such wait at most.
	return { proofs, given: [], id: executionId, ...awaited };
}

/** The proof in a query, among those that may end this wait, and what it proves. */
function provenBy(
	query: Record<string, unknown>,
	proofs: AwaitedProof[],
): { proof: AwaitedProof; reference: Reference } | undefined {
	for (const proof of proofs) {
		const reference = verifyRandomProof(query, [proof.hash]);
		if (reference !== null) return { proof, reference };
	}
	return undefined;
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
	const proven = provenBy(query, awaited.proofs);
	if (proven === undefined && verifyRandomProof(query, awaited.given) !== null) {
		return refusePostback(context, 409, 'The execution is waiting for another charge or payment');
	}
	const resume = readResumeUrl(context);
	const taken = await take(context, proven?.reference ?? null, {
		needsProof: true,
		bodyTime: BODY_TIME,
		sender: await readSenderOf(context, awaited),
		urlGivenOut: resume.url,
		match: proven?.proof.match,
		statusWords: proven?.proof.status,
		resumeToken: resume.token,
	});
	if ('noWebhookResponse' in taken) return taken;
	const wait: OpenWait = {
		id: awaited.id,
		node: context.getNode().name,
		until: awaited.until,
	};
	if (taken.mismatch !== undefined) {
		if (await isOver(context, wait)) return refusePostback(context, 409, OVER);
		logNotAwaited(context, taken.mismatch, taken);
		return { webhookResponse: `The execution waits on: ${taken.mismatch}` };
	}
	// Before the wait is claimed, because making it takes time, in which the wait may end.
	const output = await toPostbackItem(context, taken, item);
	if (await isOver(context, wait)) return refusePostback(context, 409, OVER);
	// Nothing is awaited from here on: of all postbacks that are under way, one gets through.
	if (!claimWait(context, wait)) return refusePostback(context, 409, OVER);
	return { workflowData: [[output]] };
}
