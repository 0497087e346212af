import type { IContextObject, IDataObject, IExecuteFunctions } from 'n8n-workflow';
import type { InputError } from '../base/inputError';
import { isJsonObject } from '../base/json';
import { additionalDataOf, runExecutionDataOf, workflowNodes } from '../base/n8n';
import { type Expectation, otherStillAwaited } from '../postback/waiting';
import type { Done, Ready, Step } from './item';
import { consult } from './ledger';
import { judgeLimits } from './limits';
import { compareResponse } from './notes';
import type { RequestOperation } from './read';
import {
	acceptedWithOtherDetails,
	cancelled,
	nothingIsKept,
	noWaitBehind,
	otherHeardFirst,
	pausesBeforeWait,
	ranInAgentTest,
	ranInEvaluation,
	ranWithPreviousNodes,
	sentInThisExecution,
	sentUnderAnotherId,
	severalForOneWait,
} from './refusals';
import { resultOfAttempt, resultOfRefusal } from './report';
import type { Run } from './state';
import { faultOfAll, pausesBetween, type WaitBehind, waitsBehind } from './waitsBehind';
import { attemptInWords } from './words';

/* Reasons not to send: first those that concern a whole run, then those of single items. */

/** Gives the reason why nothing of a run may be sent, if there is one. */
export function judgeRun(
	context: IExecuteFunctions,
	{ isMoneyOut, words }: RequestOperation,
): InputError | undefined {
	const node = nodeWithoutItself(context);
	if (node !== undefined && isThisOrItsAgent(context, node)) return ranWithPreviousNodes(node);
	if (!isMoneyOut) return undefined;
	if (keptOfExecution(context) === undefined) return nothingIsKept(words);
	// A payment that was never sent would be recorded as accepted, and the real one refused.
	if (areResponsesInvented(context)) return ranInAgentTest(words);
	return isEvaluation(context) ? ranInEvaluation(words) : undefined;
}

/**
 * The node in which somebody clicked "Execute previous nodes", which is to give a node its input. The button
 * stands in the opened node, "to view input data". Where anything before the node has run, n8n runs the node
 * too (measured on 2.41.1 and 1.123.81), and an agent with its tools. n8n runs a tool through a node of its
 * own, and keeps what was asked for beside it. Before 1.123 n8n kept a name alone, and so said nothing of the
 * button.
 */
function nodeWithoutItself(context: IExecuteFunctions): string | undefined {
	const { destinationNode, originalDestinationNode } = runExecutionDataOf(context)?.startData ?? {};
	const destination = originalDestinationNode ?? destinationNode;
	return destination?.mode === 'exclusive' ? destination.nodeName : undefined;
}

/** Tells whether a node is this one, or an AI agent that has this one as its tool. */
function isThisOrItsAgent(context: IExecuteFunctions, name: string): boolean {
	const thisNode = context.getNode().name;
	if (name === thisNode) return true;
	const tools = context.getParentNodes(name, { connectionType: 'ai_tool' });
	return tools.some((tool) => tool.name === thisNode);
}

/**
 * Tells whether n8n invents the responses to its node's requests. n8n 2 does so in a workflow that one of its
 * own Agents calls, when it tests the Agent; the mode is that of any run in the editor.
 */
function areResponsesInvented(context: IExecuteFunctions): boolean {
	return additionalDataOf(context)?.evalLlmMockHandler !== undefined;
}

const EVALUATION_TRIGGER = 'n8n-nodes-base.evaluationTrigger';
const ERROR_TRIGGER = 'n8n-nodes-base.errorTrigger';

/**
 * Tells whether n8n runs its node for a row of a test data set. Its Evaluations run all nodes for real, and
 * each row was paid (measured on 2.41.1).
 */
function isEvaluation(context: IExecuteFunctions): boolean {
	if (context.getMode() === 'evaluation') return true;
	// n8n 2 hands this on to sub-workflows, whose mode is another one. n8n 1 tells them nothing.
	const data = context.getWorkflowDataProxy(0);
	const { $evaluation } = data as { $evaluation?: { runId?: unknown } };
	if ($evaluation?.runId) return true;
	// "Execute workflow" from the trigger has the mode of any run in the editor.
	if (executedNodes(context, EVALUATION_TRIGGER).length > 0) return true;
	// A payment that is refused in a test is such an error, and its error workflow paid.
	return executedNodes(context, ERROR_TRIGGER).some(isAboutEvaluation);
}

/** What n8n tells of a node of the workflow. */
interface NodeData {
	isExecuted: boolean;
	first(): { json: IDataObject } | undefined;
}

/** The nodes of a type that have run, of those from which a node can be reached. */
function executedNodes(context: IExecuteFunctions, type: string): NodeData[] {
	// A tool has no parents. Only n8n's insides tell which nodes come before its agent, so all of the
	// workflow are looked at there.
	const nodes = workflowNodes(context) ?? context.getParentNodes(context.getNode().name);
	const data = context.getWorkflowDataProxy(0);
	return nodes
		.filter((node) => node.type === type)
		.map(({ name }) => data.$(name) as NodeData)
		.filter(({ isExecuted }) => isExecuted);
}

/** Tells whether an error workflow runs because a run for a row has failed: the trigger gives that run's mode. */
function isAboutEvaluation(errorTrigger: NodeData): boolean {
	const { execution } = errorTrigger.first()?.json ?? {};
	return isJsonObject(execution) && execution.mode === 'evaluation';
}

/**
 * What n8n keeps for all nodes of an execution, to be written to in place. Undefined where there is no
 * execution: n8n's own Agents run a node by itself, without a workflow, and n8n throws there (measured on
 * 2.41.1).
 */
export function keptOfExecution(context: IExecuteFunctions): IContextObject | undefined {
	try {
		return context.getContext('flow');
	} catch {
		return undefined;
	}
}

/** The result of an item that is not sent, for the reason in `error`. */
export function refusalOf(
	{ operation }: Run,
	{ index, request }: Ready,
	error: unknown,
	end: 'notSent' | 'duplicate' | 'notReached' = 'notSent',
): Done {
	return { index, result: resultOfRefusal(operation, request, error, end) };
}

/** The result of an item that a cancelled run does not send. An earlier run may have sent it. */
export function refusalOfCancelled(run: Run, item: Ready, error: unknown = cancelled()): Done {
	return refusalOf(run, item, error, 'notReached');
}

/** The result of an item that was tried before in this execution; undefined if it may be sent. */
export function triedBefore(run: Run, item: Ready): Done | undefined {
	const { index, finish } = item;
	const { words } = run.operation;
	const verdict = consult(run.ledger, item);
	switch (verdict.is) {
		case 'send':
			return undefined;
		case 'otherItem':
			return refusalOf(run, item, sentInThisExecution(words, verdict.attempt), 'duplicate');
		case 'otherDetails':
			return refusalOf(run, item, acceptedWithOtherDetails(words, verdict.attempt), 'duplicate');
		case 'otherExternalId':
			return refusalOf(run, item, sentUnderAnotherId(words, verdict.attempt), 'duplicate');
		case 'replay':
			break;
	}
	const { attempt, outcome } = verdict;
	if (outcome === 'accepted') compareResponse(run.tally, attempt, attempt.response);
	const earlier = attemptInWords(attempt);
	const result = resultOfAttempt(run.operation, attempt, { ...attempt, outcome }, { earlier });
	return { index, result, finish };
}

/** Takes out the items that the limits of their accounts do not let out. */
export function withinLimits(run: Run, items: Ready[]): Step {
	const refused = judgeLimits(run.ledger, items);
	return {
		ready: items.filter((item) => !refused.has(item)),
		done: [...refused].map(([item, error]) => refusalOf(run, item, error)),
	};
}

/** Takes out all items where their postbacks could not be heard, as far as the workflow says it. */
export function withinWaits(run: Run, items: Ready[]): Step {
	const asking = items.find(asksForPostback);
	// A tool has no place in the workflow.
	const waits = asking === undefined || run.ledger.isTool ? undefined : waitsBehind(run.context);
	if (asking === undefined || waits === undefined) return { ready: items, done: [] };
	const refusal = judgeWaits(run, items, asking, waits);
	if (refusal === undefined) return { ready: items, done: [] };
	return { ready: [], done: items.map((item) => refusalOf(run, item, refusal)) };
}

/** An item whose postback this execution may wait for. */
type Asking = Ready & { expectation: Expectation };

function asksForPostback(item: Ready): item is Asking {
	return item.expectation !== undefined;
}

/** Why the postback that an item asks for could not be heard. An execution waits for one at a time. */
function judgeWaits(
	run: Run,
	items: Ready[],
	{ expectation, account }: Asking,
	waits: WaitBehind[],
): InputError | undefined {
	const { expectations, operation, tally } = run;
	const { words } = operation;
	const [first] = waits;
	if (first === undefined) {
		tally.hints.add(noWaitBehind(words));
		return undefined;
	}
	if (items.length > 1) return severalForOneWait(first.name, items.length, words);
	const other = otherStillAwaited(expectations, expectation);
	if (other !== undefined) return otherHeardFirst(other, words);
	notePauses(run, expectation.external_id, waits);
	return faultOfAll(waits, {
		name: tally.node.name,
		expectation,
		sender: account.senderForWaits,
	});
}

/** Notes which nodes may put the execution to sleep before one of its waits begins. */
function notePauses({ context, tally }: Run, external_id: string, waits: WaitBehind[]): void {
	const { name, type } = tally.node;
	for (const wait of waits) {
		const pauses = pausesBetween(context, { name, type, external_id }, wait.name);
		if (pauses.length > 0) tally.hints.add(pausesBeforeWait(pauses, wait.name));
	}
}
