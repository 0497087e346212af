import type { INodeExecutionData, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { signatureFault } from '../../credential/signature';
import { toPostbackItem } from '../../postback/item';
import { whyNotAwaited } from '../../postback/match';
import { hashOfRandomProof } from '../../postback/proof';
import {
	logNotAwaited,
	refusePostback,
	refuseUnproven,
	refuseWrongSignature,
} from '../../postback/refuse';
import { headersOf, readContent, readPostback } from '../../postback/request';
import { claimWait, isOver, type OpenWait } from '../../postback/resumeOnce';
import { readSignature, type Awaited } from './awaited';

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
 * n8n's own token, which is in the query of each request. It proves nothing here. It opens other waits and
 * forms, so no item shows it.
 */
function readResumeToken(context: IWebhookFunctions): string {
	const url = new URL(String(context.evaluateExpression('{{ $execution.resumeUrl }}', 0)));
	return url.searchParams.get('signature') ?? '';
}

/**
 * Takes a call to the resume URL of a waiting execution: gives the input item with the postback to go
 * on with, or only a response. Proof first, body after: nothing of an unproven request is read.
 */
export async function receive(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const { item, awaited } = readWaiting(context);
	const query = context.getQueryData() as Record<string, unknown>;
	const hash = hashOfRandomProof(query);
	if (hash === undefined) return refuseUnproven(context);
	const proof = awaited.proofs.find((each) => each.hash === hash);
	if (proof === undefined) {
		if (!awaited.given.includes(hash)) return refuseUnproven(context);
		return refusePostback(context, 409, 'The execution is waiting for another charge or payment');
	}
	const { reference } = proof;
	const signatureRule = awaited.isSigned ? await readSignature(context) : undefined;
	if (awaited.isSigned && signatureRule === undefined) {
		return refuseWrongSignature(
			context,
			'the credential of this wait no longer says how the service signs',
		);
	}
	const content = await readContent(context, BODY_TIME);
	if (signatureRule !== undefined) {
		const fault = signatureFault(signatureRule, headersOf(context), content);
		if (fault !== undefined) return refuseWrongSignature(context, fault);
	}
	const postback = readPostback(context, content, {
		resumeToken: readResumeToken(context),
		isSignedByService: signatureRule !== undefined,
	});
	const wait: OpenWait = {
		id: awaited.id,
		node: context.getNode().name,
		until: awaited.until,
	};
	const mismatch = whyNotAwaited(proof.match, postback, reference, proof.status);
	if (mismatch !== undefined) {
		if (await isOver(context, wait)) return refusePostback(context, 409, OVER);
		logNotAwaited(context, mismatch, reference);
		return { webhookResponse: `The execution waits on: ${mismatch}` };
	}
	// Before the wait is claimed, because making it takes time, in which the wait may end.
	const output = await toPostbackItem(context, postback, reference, proof.status, item);
	if (await isOver(context, wait)) return refusePostback(context, 409, OVER);
	// Nothing is awaited from here on: of all postbacks that are under way, one gets through.
	if (!claimWait(context, wait)) return refusePostback(context, 409, OVER);
	return { workflowData: [[output]] };
}
