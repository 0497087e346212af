import { InputError } from '../base/inputError';
import { amountField } from '../fields/amount';
import { wrongField } from '../fields/label';
import { additionalMembersOption } from '../fields/members';
import { recipientKey } from '../fields/recipient';
import { externalIdName } from '../fields/text';
import { unitsInWords } from '../service/amounts';
import { isRejectedForToken } from '../service/client';
import type { AgentPermission, Recipient, Words } from '../service/contract';
import type { Attempt } from './item';
import {
	adviceOnPace,
	attemptInWords,
	joinSentences,
	lineInWords,
	linesInWords,
	type Pace,
	quotedIds,
} from './words';

/*
 * Why this package does not send an item, and the hints about its duplicate check. Each comment names the
 * case that the words are for. Errors of a field are with its reader.
 */

/** A run that was only to give the node of this name its input. */
export const ranWithPreviousNodes = (name: string) =>
	new InputError(
		'',
		`Nothing was sent, because you clicked "Execute previous nodes" in "${name}" and n8n ran this node too`,
		'That is as it should be: the button only loads the input, which is there now. To send it, click "Execute step".',
	);

/** A payment for a row of a test data set. */
export const ranInEvaluation = ({ noun, pastParticiple }: Words) =>
	new InputError(
		'',
		`n8n is running this for a test data set (Evaluations), so no ${noun} is ${pastParticiple}`,
		`In the workflow with the Evaluation Trigger, put an Evaluation node with the operation "Check If Evaluating" before this ${noun}, or before the node that calls this workflow, and connect only its "Normal" output to it.`,
	);

/** A payment in a test of n8n's own Agents, where n8n invents the responses of the service. */
export const ranInAgentTest = ({ noun, pastParticiple }: Words) =>
	new InputError(
		'',
		`n8n is testing an Agent and makes up the service's responses, so no ${noun} is ${pastParticiple}`,
		`Nothing was sent or recorded. To try the ${noun}, run this workflow itself.`,
	);

/** A payment that n8n's own Agents ask for: nothing there keeps the next call from making it again. */
export const nothingIsKept = ({ noun, pastParticiple }: Words) =>
	new InputError(
		'',
		`n8n's own Agents run this node outside a workflow, where nothing would remember the ${noun}, so none is ${pastParticiple}`,
		'Let the Agent call a workflow that takes amount, recipient and External ID from your own data, and asks a person.',
	);

/** An AI agent that asks for what nobody permitted it. */
export const notPermittedToAgents = ({ noun }: Words, { name, displayName }: AgentPermission) =>
	new InputError(
		name,
		`An AI agent asked for a ${noun}, which this node does not allow`,
		`To allow it, turn on "${displayName}" under Options, without an expression.`,
	);

/** A context of n8n without the function that the duplicate check rests on. */
export const noDuplicateStore = ({ noun, pastParticiple }: Words) =>
	new InputError(
		'',
		`n8n has no store for the duplicate check here, so no ${noun} can be ${pastParticiple}`,
		`Update n8n, or move the ${noun} into a separate workflow.`,
	);

/**
 * How payments get away from the history of a Remove Duplicates node: first the way that forgets nothing. A
 * sub-workflow that is written into its call has the id of the caller, and so the same record: both were paid
 * twice (measured on 2.41.1).
 */
const OWN_RECORD =
	'Move this node into a sub-workflow whose Source is "Database" (no other), which has a record of its own (a new one is empty). Or set the Scope of that node to "Node": its history then starts over, so every old row passes through it once more.';

/** A Remove Duplicates node of the workflow that keeps its history where the payments are recorded. */
export const recordIsShared = ({ plural }: Words, name: string) =>
	new InputError(
		'',
		`"${name}" (Remove Duplicates) has the Scope "Workflow", so it shares its history with the record of sent ${plural}, and could make n8n forget them`,
		OWN_RECORD,
	);

const IF_RIGHT = 'If it is right, change the limits of the Pay API credential.';

/** A payment above the account's Highest Payment. */
export const abovePayment = (units: bigint, limit: number) =>
	wrongField(
		amountField,
		`is ${unitsInWords(units)}, which is above the Highest Payment (highestPayment) of the Pay API credential: ${limit}`,
		`Check the amount and its decimal point. ${IF_RIGHT}`,
	);

/** A payment to a key that the account does not list. */
export function otherRecipient({ key, keyType }: Recipient): InputError {
	const list = 'the Only Recipients (onlyRecipients) of the Pay API credential';
	const advice = `Check the recipient. ${IF_RIGHT}`;
	if (key === undefined) {
		return wrongField(recipientKey, `is empty, so it is not among ${list}`, advice);
	}
	if (keyType === undefined) {
		return wrongField(recipientKey, `"${key}" is not among ${list}`, advice);
	}
	return wrongField(recipientKey, `"${key}" of the type "${keyType}" is not among ${list}`, advice);
}

/** A payment that names another recipient beside its key. */
export const alsoOtherRecipient = (path: string, value: string) =>
	new InputError(
		path,
		`"${path}" is "${value}", which is not among the Only Recipients (onlyRecipients) of the Pay API credential`,
		`Check the recipient. ${IF_RIGHT}`,
	);

const HAS_ONLY_RECIPIENTS = 'the Pay API credential has Only Recipients (onlyRecipients) set';

/** What to do where a service needs what Only Recipients does not let through. */
const WITHOUT_ONLY_RECIPIENTS =
	'If your service needs it and does not read it as a destination, enter its path under Members That May Vary (variableMembers) in the credential. Otherwise leave Only Recipients empty and enter a Highest Sum per Execution: then any recipient can be paid, up to that sum.';

/**
 * A payment with members that an item, or what a model says, decides over.
 * @param path the one that the account does not let vary; absent where it lets none
 */
export const membersMayChange = (path?: string) =>
	wrongField(
		additionalMembersOption,
		path === undefined
			? `contains an expression, which could name another recipient, but ${HAS_ONLY_RECIPIENTS}`
			: `contains "${path}" next to an expression, which could name another recipient, but ${HAS_ONLY_RECIPIENTS}`,
		`Write it without an expression. ${WITHOUT_ONLY_RECIPIENTS}`,
	);

/** A payment whose recipient has a member that nobody compared with the list. */
export const moreInRecipient = (path: string) =>
	wrongField(
		additionalMembersOption,
		`contains "${path}", which may name another recipient, but ${HAS_ONLY_RECIPIENTS}`,
		`Remove it there. ${WITHOUT_ONLY_RECIPIENTS}`,
	);

/** Payments that together are above the account's Highest Sum per Execution. */
export const aboveSum = ({ plural }: Words, sum: bigint, limit: number) =>
	wrongField(
		amountField,
		`is too high: the ${plural} of this execution would come to ${unitsInWords(sum)}, above the Highest Sum per Execution (highestSum) of the Pay API credential: ${limit}`,
		`None of the remaining ${plural} is sent. Check them. If they are right, change the limits of the Pay API credential.`,
	);

/** A run of an execution from a state that n8n has left. */
export const runFromEarlierState = ({ noun, plural }: Words) =>
	new InputError(
		'',
		`n8n is running this execution a second time, so no ${noun} is sent`,
		`The first run may have sent these ${plural}, so ask the service about them. This happens when the time limit of a wait passes while n8n's concurrency limit is full. On n8n 1 it also happens when a time limit passes while the execution is running, or when an execution begins while n8n itself is starting. If a wait in this workflow has a time limit, turn it off.`,
	);

/** An item that is left when the service has rejected its account in this execution. */
export const tokenRejected = () =>
	new InputError(
		'',
		'The service rejected the access token of this account earlier in this execution (HTTP 401), so nothing more is sent with this account',
		'Check the token of the Pay API credential, then run again. A service may block you after a few rejections.',
	);

/**
 * An item that is left when a service had too many requests in this execution.
 * @param seconds how long nothing is sent; undefined where the service did not say
 */
export function tooManyRequests(seconds: number | undefined, pace: Pace): InputError {
	const howLong = seconds === undefined ? "until this execution's next wait" : `for ${seconds} s`;
	return new InputError(
		'',
		`The service, or a proxy on the way, received too many requests from this account (HTTP 429), so nothing more is sent with it ${howLong}`,
		adviceOnPace(seconds, pace),
	);
}

/** A postback to this execution, in which no wait takes it: a hint. */
export const noWaitBehind = ({ noun }: Words) =>
	`There is no "Wait for postback" after this node, so the postback of this ${noun} resumes nothing. Add one after it, or choose another Postback.`;

const NO_PAUSE =
	'Put the wait directly after the node that asks for the postback, or receive the postbacks with a Pay Trigger in another workflow.';

/** A charge or payment whose postback may come while another node pauses the execution: a hint. */
export const pausesBeforeWait = (pauses: readonly string[], wait: string) =>
	`${quotedIds(pauses)} can pause this execution before "${wait}" begins. A postback that arrives in the meantime is lost unless the service sends it again, and then the wait does not end. ${NO_PAUSE}`;

/** A wait for a postback that may have come while another node paused the execution: a hint. */
export const pausedBeforeThisWait = (pauses: readonly string[], asking: string) =>
	`${quotedIds(pauses)} may have paused this execution between "${asking}" and this wait. A postback that arrived in the meantime is lost unless the service sends it again, and then this wait does not end. ${NO_PAUSE}`;

/** A wait that would fail, found while nothing has been sent. */
export const cannotBegin = (wait: string, { field, message, advice }: InputError) =>
	new InputError(
		field,
		`"${wait}", which waits for this postback, could not begin: ${message}`,
		advice,
	);

/** Several requests in front of a wait: while an execution waits for one postback, n8n takes no other. */
export const severalForOneWait = (wait: string, count: number, { plural }: Words) =>
	new InputError(
		'postback',
		`An execution can receive only one postback at a time, but ${count} ${plural} would be sent before "${wait}"`,
		'Only one of the postbacks would be received, and many services report only once. Put this node into a Loop Over Items with a batch size of 1, and the wait after it in the loop. Or receive the postbacks with a Pay Trigger.',
	);

/** A request while the postback of another one of this execution is still to come. */
export const otherHeardFirst = (external_id: string, { noun }: Words) =>
	new InputError(
		'postback',
		`An execution can receive only one postback at a time, and the one for "${external_id}" has not come yet`,
		`Only one of the two would be received, and many services report only once. Put a wait after each Pay node that asks for its postback here, before the next ${noun}. Or receive the postbacks with a Pay Trigger.`,
	);

/** A wait that is for another External ID than the request before it. */
export const otherIdAwaited = (waitsFor: string, external_id: string) =>
	wrongField(
		externalIdName,
		`is "${waitsFor}" there, but this node asks for the postback of "${external_id}"`,
		'The External ID of the wait is usually {{ $json.external_id }}.',
	);

/** A second item with one external_id among the items of a run. */
export const sameIdAsItem = (
	{ noun, plural }: Words,
	first: number,
	index: number,
	external_id: string,
) =>
	new InputError(
		'external_id',
		`The ${noun} "${external_id}" is on the list twice: ${linesInWords(first, index)} have this External ID (external_id)`,
		`Look at the outcome of ${lineInWords(first)}. Two ${plural} need two identifiers: with the same one, the second looks like a repeat.`,
	);

/** An External ID that another item, node or run of this execution has sent. */
export function sentInThisExecution(
	{ noun, pastParticiple, whenUnknown, whenTokenRejected }: Words,
	attempt: Attempt,
): InputError {
	const { external_id, statusCode } = attempt;
	const earlier = attemptInWords(attempt);
	if (attempt.outcome === 'accepted') {
		return new InputError(
			'external_id',
			`The ${noun} "${external_id}" was already accepted in this execution (${earlier})`,
			`It is not sent a second time. A different ${noun} needs a different External ID.`,
		);
	}
	if (isRejectedForToken(attempt)) {
		return new InputError(
			'external_id',
			`The ${noun} "${external_id}" was already sent in this execution (${earlier}), and was rejected with HTTP ${statusCode}`,
			whenTokenRejected?.(external_id) ?? whenUnknown.advice(external_id),
		);
	}
	return new InputError(
		'external_id',
		`The ${noun} "${external_id}" was already sent in this execution (${earlier}), and it is not known whether it was ${pastParticiple}`,
		whenUnknown.advice(external_id),
	);
}

/** An item that an earlier try sent with other details, and that was accepted. */
export function acceptedWithOtherDetails(
	{ noun }: Words,
	{ external_id, amount }: Attempt,
): InputError {
	return new InputError(
		'external_id',
		`The ${noun} "${external_id}" was already accepted in an earlier try of this item, with different details (amount ${amount})`,
		'The service accepted the earlier request, not this one. To send this one too, give it another External ID. Otherwise put the details back as they were.',
	);
}

/** An item that an earlier try, or an earlier call of this tool, sent under another External ID. */
export function sentUnderAnotherId({ noun, pastParticiple }: Words, attempt: Attempt): InputError {
	const { external_id } = attempt;
	const earlier = attemptInWords(attempt);
	const message =
		attempt.outcome === 'accepted'
			? `This ${noun} was already accepted in this execution (${earlier}), under the External ID "${external_id}"`
			: `This ${noun} was already sent in this execution (${earlier}), and it is not known whether it was ${pastParticiple}, under the External ID "${external_id}"`;
	return new InputError(
		'external_id',
		message,
		joinSentences(
			`It is not sent a second time. Ask the service about "${external_id}".`,
			'An External ID must stay the same when an item is tried again, so take it from the item, for example {{ $json.orderId }}.',
		),
	);
}

/** What to do where two payments have one External ID by chance: invoices of two companies, practice beside real. */
const ifAnother = (noun: string, external_id: string) =>
	`If this is another ${noun}, start its External ID with something of its own, such as the company: acme-${external_id}.`;

/** An External ID that n8n's store remembers. */
export const recordedBefore = ({ noun, pastParticiple }: Words, external_id: string) =>
	new InputError(
		'external_id',
		`The ${noun} "${external_id}" may well have been ${pastParticiple} already, so it was not sent again: this workflow sent it before, or was about to, perhaps by another Pay node`,
		joinSentences(
			'Look under Executions for the run that sent it.',
			`Ask the service. Send it with a new External ID only if the service says that this ${noun} was not ${pastParticiple}.`,
			ifAnother(noun, external_id),
		),
	);

/** An External ID of which n8n's store remembers that the service accepted it. */
export const acceptedBefore = ({ noun }: Words, external_id: string) =>
	new InputError(
		'external_id',
		`The ${noun} "${external_id}" was accepted earlier in this workflow, so it was not sent again`,
		joinSentences('Check your statement to see whether it was paid.', ifAnother(noun, external_id)),
	);

/** Payments that were not made and whose records stay: what to do about them. */
export function stillRecorded(ids: readonly string[], reason = "n8n's database failed"): string {
	const toSend =
		ids.length === 1
			? 'to send it, use a new External ID'
			: 'to send them, use a new External ID for each';
	return `The duplicate check still remembers ${quotedIds(ids)}, because ${reason}: ${toSend}.`;
}

/** What n8n says where a Remove Duplicates node has made the workflow's row one of another kind. */
const OTHER_KIND_OF_ROW = /incompatible setting/i;

/** The duplicate check could not be made. */
export function checkFailed({ noun, pastParticiple }: Words, error: Error): InputError {
	// n8n asserts that the workflow has an id, in words that say nothing.
	if ('code' in error && error.code === 'ERR_ASSERTION') {
		return new InputError(
			'',
			'The duplicate check could not be made, because the workflow has not been saved',
			'Save the workflow, then run again.',
		);
	}
	if (OTHER_KIND_OF_ROW.test(error.message)) {
		return new InputError(
			'',
			'The duplicate check could not be made, because a Remove Duplicates node with the Scope "Workflow" keeps its history in the same place',
			OWN_RECORD,
		);
	}
	return new InputError(
		'',
		`The duplicate check could not be made: ${error.message}`,
		joinSentences(
			`Run again when n8n's database responds. If the ${noun} is then refused as a duplicate, it may have been recorded although it was not sent: ask the service whether it was ${pastParticiple}.`,
			'Use a new External ID only if the service says that it was not.',
		),
	);
}

/** Payments that n8n's list may have let go before this run: a hint. */
export const listWasFull = ({ plural }: Words, before: number) =>
	`Before this run, the duplicate check remembered the last ${before} ${plural} of this workflow, and perhaps no older ones. If this run contains an older one, it may have been sent again, so compare it with your records.`;

/** Payments that were sent and may not stay recorded: a hint. */
export function mayBeForgotten(ids: readonly string[], { message }: Error): string {
	const [stay, again] =
		ids.length === 1
			? ['it stays recorded', 'Do not send it again without asking the service.']
			: ['they stay recorded', 'Do not send them again without asking the service.'];
	return `n8n may forget ${quotedIds(ids)}: the duplicate check could not make sure that ${stay} (${message}). ${again}`;
}

/** An item that the run did not come to before it was cancelled; the record of some may stay. */
export const cancelled = (remembered: readonly string[] = []) =>
	new InputError(
		'',
		'The execution was cancelled before it reached this item',
		remembered.length === 0
			? 'If it should still be sent, run it again.'
			: stillRecorded(remembered),
	);
