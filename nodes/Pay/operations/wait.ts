import { randomUUID } from 'crypto';
import {
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeProperties,
	type IWebhookDescription,
	type IWebhookFunctions,
	type IWebhookResponseData,
	UserError,
	WAIT_INDEFINITELY,
} from 'n8n-workflow';
import { credentialOfWait } from '../account/credentials';
import { readSenderRuleOfWait, refuseUnsignedMatch, type SenderRule } from '../account/sender';
import { InputError } from '../base/inputError';
import { logWarning } from '../base/log';
import { matchOf, type PostbackMatch, resumeCondition } from '../fields/condition';
import { showFor } from '../fields/expressions';
import { judgePostback, toPostbackItem, whyNotAwaited } from '../postback/match';
import { POSTBACK_METHODS } from '../postback/postback';
import { hashOfRandomProof, type Reference } from '../postback/proof';
import { logNotAwaited, refusePostback, RESPONSE_CODE, responseText } from '../postback/respond';
import { take } from '../postback/take';
import { pathOf, RESUME_SEGMENT, withResumeSegment } from '../postback/target';
import { readWait, waitFields } from '../postback/waitFields';
import {
	awaitedRequests,
	claimWait,
	type Expectation,
	type ExpectationStore,
	hashesOf,
	isOver,
	type OpenWait,
	outlastTimers,
	recordWait,
	wasEndedByPostback,
} from '../postback/waiting';
import { pausedBeforeThisWait } from '../run/refusals';
import { keptOfExecution } from '../run/refuse';
import { failAll } from '../run/report';
import { pausesBefore } from '../run/waitsBehind';
import type { StatusWords } from '../service/state';

const option = {
	name: 'Wait',
	value: 'wait',
	action: 'Wait for postback',
	description: 'Wait until the service reports what happened to one item',
};

const description: INodeProperties[] = showFor(waitFields, 'postback', 'wait');

/**
 * The node listens at the resume URL of an execution that waits here, in a segment of its own: at the bare
 * URL n8n's own Wait nodes and forms listen.
 */
export const resumeWebhooks: IWebhookDescription[] = [
	{
		name: 'default',
		httpMethod: POSTBACK_METHODS,
		responseMode: 'onReceived',
		responseCode: RESPONSE_CODE,
		// Without a text here, n8n responds with what webhook() gives, whatever text that is.
		responseData: '',
		path: RESUME_SEGMENT,
		restartWebhook: true,
	},
];

/**
 * What the editor's output panel says while the node waits: at a time limit n8n runs no node, so what did
 * not end the wait can be said only while it lasts.
 */
export const waitingNodeTooltip = [
	'={{ $parameter["resumeWhen"] === "any" ? "Waiting for a postback."',
	': "Waiting for a postback that meets the condition under Resume. Any other does not end the wait:',
	'n8n\'s log, and the response that the service got, say what was missing." }}',
].join(' ');

/** Checks the parameters and puts the execution to sleep until a postback, or the limit, wakes it. */
async function begin(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	const items = context.getInputData();
	removePostbacks(items);
	try {
		refuseWaitThatCannotEnd(context, items);
		const { external_id, limit, condition } = readWait(context.getNode().parameters, (name) =>
			context.getNodeParameter(name, 0, undefined),
		);
		const requests = readAwaitedRequests(context, external_id);
		const proofs = requests.map(({ hash, kind, amount, status }): AwaitedProof => {
			const match = matchOf(condition, status, resumeCondition.name, WHERE_WORDS_BELONG);
			return { hash, reference: { external_id, kind, amount }, status, match };
		});
		// Read now, because a mistake in it would refuse each postback.
		const sender = await readSender(context);
		for (const { match, status } of proofs) refuseUnsignedMatch(match, sender, status);
		if (sender === undefined && requests.some(({ isSigned }) => isSigned)) {
			warn(context, UNCHECKED_SENDER);
		}
		for (const [asking, pauses] of pausesBefore(context, external_id)) {
			warn(context, pausedBeforeThisWait(pauses, asking));
		}
		await outlastTimers(context);
		await sleepUntilPostback(context, external_id, proofs, limit, sender !== undefined);
		// Copies: under "Continue (using error output)" n8n empties the list that it is given.
		return [items.map((item) => ({ ...item }))];
	} catch (error) {
		const [failed = []] = failAll(context, error);
		// Paired by a number: else n8n adds what the node before gave, its "postback" too.
		return [failed.map((item, index) => ({ ...item, pairedItem: index }))];
	}
}

/**
 * Removes what another node, or a customer's order, put where a postback will be. At the time limit n8n
 * passes on the very list that came in, and "paid" in it would look like a postback. So the list itself is
 * changed. Its items are not, because the output of the node before shares their JSON: copies replace them.
 */
function removePostbacks(items: INodeExecutionData[]): void {
	for (const [index, item] of items.entries()) {
		const json = { ...item.json };
		delete json.postback;
		items[index] = { ...item, json };
	}
}

/** Throws an InputError where n8n could not resume the execution with a postback. */
function refuseWaitThatCannotEnd(context: IExecuteFunctions, items: INodeExecutionData[]): void {
	if (items.length > 1) {
		throw new InputError(
			'external_id',
			`An execution can wait for one postback at a time, but ${items.length} items came in`,
			'Put the Pay node and this one into a Loop Over Items with batch size 1, or use a Pay Trigger in a separate workflow.',
		);
	}
	if (keptOfExecution(context) === undefined) {
		throw new InputError(
			'operation',
			"n8n's own Agents run this node outside a workflow, where no execution can wait for a postback",
			'Receive the postbacks with a Pay Trigger.',
		);
	}
	// n8n resumes the node that it runs, which is the agent where that runs its tools itself.
	if (context.getExecuteData().node.name !== context.getNode().name) {
		throw new InputError(
			'operation',
			'An AI agent of this version cannot wait for a postback',
			'Put this node after the agent, or use version 3 of the agent.',
		);
	}
}

/** The requests whose postbacks may end this wait. Throws an InputError where there are none. */
function readAwaitedRequests(context: IExecuteFunctions, external_id: string): Expectation[] {
	const store = context.getContext('flow') as ExpectationStore;
	const requests = awaitedRequests(store, external_id, context.getExecutionId(), (wait) =>
		wasEndedByPostback(context, wait),
	);
	if (requests.length > 0) return requests;
	throw new InputError(
		'external_id',
		`No Pay node in this execution asked for the postback of "${external_id}" to come here, so this wait would never end`,
		'In the Pay node that makes the charge or payment, set Postback to "Resume This Execution". If its output is pinned, unpin it, because a pinned node sends nothing. Run both nodes with "Execute workflow", and keep them in one workflow: a single step, a sub-workflow and a retry of an execution that has ended are executions of their own.',
	);
}

/** A wait has the words of the node that asked for its postback. */
const WHERE_WORDS_BELONG = 'Open the credential of the Pay node that asks for this postback.';

const UNCHECKED_SENDER =
	'This wait does not check the sender, although the credential of the Pay node before it does. Select that credential here too.';

/** Says something in the editor and in n8n's log. The wait begins all the same. */
function warn(context: IExecuteFunctions, message: string): void {
	context.addExecutionHints?.({ message, location: 'outputPane' });
	logWarning(context, `Pay: ${message}`);
}

/**
 * Writes down what the execution waits for, and puts it to sleep.
 * @param limit how long it waits at most, in milliseconds
 */
async function sleepUntilPostback(
	context: IExecuteFunctions,
	external_id: string,
	proofs: AwaitedProof[],
	limit: number,
	checksSender: boolean,
): Promise<void> {
	const executionId = context.getExecutionId();
	const end = new Date(Math.min(Date.now() + limit, WAIT_INDEFINITELY.getTime()));
	const until = end < WAIT_INDEFINITELY ? end.getTime() : undefined;
	const store = context.getContext('flow') as ExpectationStore;
	recordWait(store, {
		external_id,
		executionId,
		node: context.getNode().name,
		run: Number(context.getWorkflowDataProxy(0).$runIndex),
		until,
	});
	const record: WaitRecord = { proofs, given: hashesOf(store), id: randomUUID(), until };
	if (checksSender) record.isSigned = true;
	Object.assign(context.getContext('node'), { awaited: record });
	// n8n 2 lets each sub-workflow that ends late replace what its parent waits with, unless the
	// parent waits for others. No sub-workflow has this id.
	context.setMetadata({ waitingChildExecutionIds: [executionId] });
	await context.putExecutionToWait(end);
}

/** A proof that may end a wait, and what its postback must hold. */
interface AwaitedProof {
	/** The hash of the proof, see `withRandomProof`. */
	hash: string;
	/** What the proof is about. */
	reference: Reference;
	/** Absent where any postback will do. */
	match?: PostbackMatch;
	/** The words of the account, if it has any. */
	status?: StatusWords;
}

/** What a wait waits for, fixed when it begins: n8n resolves expressions differently when it resumes. */
export interface WaitRecord {
	proofs: AwaitedProof[];
	/** The hashes of all proofs that this execution gave: the others may end a later wait. */
	given: string[];
	/** Names this wait and no other one, see `OpenWait`. */
	id: string;
	/** When its time limit passes, in milliseconds since 1970; absent without one. */
	until?: number;
	/** Set if the wait's credential asked for a check of the sender when the wait began. */
	isSigned?: true;
}

/** How the sender is checked, if the wait has a credential of its own that says so. */
async function readSender(
	context: IExecuteFunctions | IWebhookFunctions,
): Promise<SenderRule | undefined> {
	const credential = await credentialOfWait(context);
	return credential && readSenderRuleOfWait(credential);
}

/**
 * How long the body of a postback to a wait may take, in milliseconds: a packet that TCP sends again
 * five times, after 0.2, 0.4, 0.8, 1.6 and 3.2 s, is there by then.
 */
const BODY_TIME_OF_WAIT = 10_000;

/** The response to a postback whose wait is over by the time its body has come. */
const OVER = 'The wait is over: another postback or its time limit let the execution continue';

/**
 * Takes a call to the resume URL of a waiting execution: gives the input item with the postback to go
 * on with, or only a response.
 */
async function receive(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const { item, record } = readStored(context);
	const hash = hashOfRandomProof(context.getQueryData() as Record<string, unknown>);
	const proof = record.proofs.find((each) => each.hash === hash);
	if (proof === undefined && hash !== undefined && record.given.includes(hash)) {
		return refusePostback(context, 409, 'The execution is waiting for another charge or payment');
	}
	const resume = readResumeUrl(context);
	const taken = await take(context, proof?.reference ?? null, {
		needsProof: true,
		bodyTime: BODY_TIME_OF_WAIT,
		sender: record.isSigned ? await readSenderAgain(context) : undefined,
		path: resume.path,
		statusWords: proof?.status,
		match: proof?.match,
		resumeToken: resume.token,
	});
	if ('noWebhookResponse' in taken) return taken;
	const wait: OpenWait = {
		id: record.id,
		node: context.getNode().name,
		until: record.until,
	};
	const judged = judgePostback(taken, proof?.status);
	const mismatch = whyNotAwaited(proof?.match, judged);
	if (mismatch !== undefined) {
		if (await isOver(context, wait)) return refusePostback(context, 409, OVER);
		logNotAwaited(context, mismatch, taken);
		return {
			webhookResponse: responseText(context, `The execution is still waiting: ${mismatch}`),
		};
	}
	// Made before the wait is claimed, because that takes time in which the wait may end.
	const output = toPostbackItem(judged, item);
	if (await isOver(context, wait)) return refusePostback(context, 409, OVER);
	// Nothing is awaited from here on: of all postbacks that are under way, one gets through.
	if (!claimWait(context, wait)) return refusePostback(context, 409, OVER);
	return { webhookResponse: responseText(context), workflowData: [[output]] };
}

/**
 * Reads the item that waits, and what for, as n8n loaded them when the request began. As text through n8n's
 * expression engine: a key like "toString" in it would break the engine's own copy, and $node["constructor"] is
 * not the node.
 */
function readStored(context: IWebhookFunctions): { item: INodeExecutionData; record: WaitRecord } {
	const name = escapedForExpression(context.getNode().name);
	const waiting = `[$input.all()[0], $("${name}").context.awaited]`;
	const text = context.evaluateExpression(`{{ JSON.stringify(${waiting}) }}`, 0);
	const [item, record] = JSON.parse(String(text)) as [INodeExecutionData, WaitRecord | null];
	// Where the wait was not stored, nothing ends it.
	return { item, record: record ?? { proofs: [], given: [], id: context.getExecutionId() } };
}

/** Escapes a text for the quotes of an expression, so that no character of it is read as code. */
function escapedForExpression(text: string): string {
	let escaped = '';
	for (let at = 0; at < text.length; at++) {
		escaped += `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`;
	}
	return escaped;
}

/**
 * The path and n8n's own token of the execution's resume URL. The token is in the query of each request, and
 * proves nothing here. It opens other waits and forms, so no item shows it.
 */
function readResumeUrl(context: IWebhookFunctions): { path: string; token: string } {
	const { href, searchParams } = new URL(
		String(context.evaluateExpression('{{ $execution.resumeUrl }}', 0)),
	);
	return { path: pathOf(withResumeSegment(href)), token: searchParams.get('signature') ?? '' };
}

/**
 * How the sender is checked, where the credential said so when the wait began. Throws where it no longer does,
 * because the service sends again after a 500.
 */
async function readSenderAgain(context: IWebhookFunctions): Promise<SenderRule> {
	const rule = await readSender(context);
	if (rule !== undefined) return rule;
	throw new UserError('The credential of this wait no longer says how to check the sender');
}

/** Pauses the execution until a postback of its charge or payment comes. */
export const waitForPostback = { option, description, execute: begin, receive };
