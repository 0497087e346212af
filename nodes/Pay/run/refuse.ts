import type {
	IContextObject,
	IDataObject,
	IExecuteFunctions,
	IRunExecutionData,
} from 'n8n-workflow';
import type { InputError } from '../base/inputError';
import { isJsonObject } from '../base/json';
import { additionalDataOf, runExecutionDataOf, workflowNodes } from '../base/n8n';
import { otherStillAwaited } from '../postback/waiting';
import type { Words } from '../service/contract';
import type { Done, Ready, Step } from './item';
import { consult, type Verdict } from './ledger';
import { refusedByLimits } from './limits';
import { compareResponse } from './notes';
import {
	acceptedWithOtherDetails,
	cancelled,
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
import { resultOfAttempt, resultOfRefusal } from './result';
import type { Run } from './state';
import { faultOfAll, pausesBetween, waitsBehind } from './waitsBehind';
import { attemptInWords } from './words';

/* Which items a run does not send, and why. */

/** An item that could be read and is not sent, for the reason in `error`. */
export function refuseItem(
	{ operation }: Run,
	{ index, request }: Ready,
	error: unknown,
	end: 'notSent' | 'duplicate' | 'notReached' = 'notSent',
): Done {
	return { index, result: resultOfRefusal(operation, request, error, end) };
}

/**
 * An item that a cancelled run does not send. An earlier run may have sent it: perhaps the duplicate
 * check was not asked.
 */
export function refuseCancelled(run: Run, item: Ready, error: unknown = cancelled()): Done {
	return refuseItem(run, item, error, 'notReached');
}

/** Why the ledger does not let an item out, in words. */
function refusalByLedger(
	words: Words,
	{ attempt, because }: Extract<Verdict, { do: 'refuse' }>,
): InputError {
	switch (because) {
		case 'otherItem':
			return sentInThisExecution(words, attempt);
		case 'otherDetails':
			return acceptedWithOtherDetails(words, attempt);
		case 'otherExternalId':
			return sentUnderAnotherId(words, attempt);
	}
}

/** What the ledger knows of an item that was tried before in this execution. */
export function triedBefore(run: Run, item: Ready): Done | undefined {
	const { index, finish } = item;
	const verdict = consult(run.ledger, item);
	if (verdict.do === 'send') return undefined;
	if (verdict.do === 'refuse') {
		const refusal = refusalByLedger(run.operation.words, verdict);
		return refuseItem(run, item, refusal, 'duplicate');
	}
	const { attempt, outcome } = verdict;
	if (outcome === 'accepted') compareResponse(run.tally, attempt, attempt.response);
	const earlier = attemptInWords(attempt);
	const result = resultOfAttempt(run.operation, attempt, { ...attempt, outcome }, { earlier });
	return { index, result, finish };
}

/** Takes refused items out of some. */
function withoutRefused(run: Run, items: Ready[], refused: Map<Ready, InputError>): Step {
	return {
		ready: items.filter((item) => !refused.has(item)),
		done: [...refused].map(([item, error]) => refuseItem(run, item, error)),
	};
}

/** Refuses the items that the limits of their accounts do not let out. */
export function withinLimits(run: Run, items: Ready[]): Step {
	return withoutRefused(run, items, refusedByLimits(run.ledger, items));
}

/** Refuses all items where their postbacks could not be heard, as far as the workflow says it. */
export function refuseForWaits(run: Run, items: Ready[]): Step {
	const refusal = refusalByWaits(run, items);
	if (refusal === undefined) return { ready: items, done: [] };
	return { ready: [], done: items.map((item) => refuseItem(run, item, refusal)) };
}

/** Why the postback that an item asks for could not be heard. An execution waits for one at a time. */
function refusalByWaits(run: Run, items: Ready[]): InputError | undefined {
	const { context, expectations, ledger, operation, tally } = run;
	const asking = items.find((item) => item.expectation !== undefined);
	if (asking?.expectation === undefined || ledger.isTool) return undefined;
	const { expectation, account } = asking;
	const waits = waitsBehind(context);
	if (waits === undefined) return undefined;
	const [first] = waits;
	if (first === undefined) {
		tally.hints.add(noWaitBehind(operation.words));
		return undefined;
	}
	if (items.length > 1) return severalForOneWait(first.name, items.length, operation.words);
	const other = otherStillAwaited(expectations, expectation);
	if (other !== undefined) return otherHeardFirst(other, operation.words);
	const { name, type } = tally.node;
	for (const wait of waits) {
		const pauses = pausesBetween(
			context,
			{ name, type, external_id: expectation.external_id },
			wait.name,
		);
		if (pauses.length > 0) tally.hints.add(pausesBeforeWait(pauses, wait.name));
	}
	const { senderForWaits: sender } = account;
	return faultOfAll(waits, { name, expectation, sender });
}

/** What n8n keeps of a run that a person starts in the editor, as far as it is read here. */
type StartData = Pick<
	NonNullable<IRunExecutionData['startData']>,
	'destinationNode' | 'originalDestinationNode'
>;

/**
 * The node in which somebody clicked "Execute previous nodes"; undefined where nobody did. n8n runs a tool
 * through a node of its own, and keeps what was asked for beside it. Before 1.123 n8n kept a name alone,
 * and so said nothing of the button.
 */
function nodeWithoutItself({ destinationNode, originalDestinationNode }: StartData) {
	const destination = originalDestinationNode ?? destinationNode;
	return destination?.mode === 'exclusive' ? destination.nodeName : undefined;
}

/** Whether a node is this one, or an AI agent that has this one as its tool. */
function isThisOrItsAgent(context: IExecuteFunctions, name: string): boolean {
	const thisNode = context.getNode().name;
	if (name === thisNode) return true;
	const tools = context.getParentNodes(name, { connectionType: 'ai_tool' });
	return tools.some((tool) => tool.name === thisNode);
}

/**
 * Refuses a run that was only to give a node its input: the button "Execute previous nodes" stands in the
 * opened node, "to view input data". Where anything before the node has run, n8n runs the node too (measured
 * on 2.41.1 and 1.123.81), and an agent with its tools. Throws an InputError.
 */
export function refuseExecutePreviousNodes(context: IExecuteFunctions): void {
	const name = nodeWithoutItself(runExecutionDataOf(context)?.startData ?? {});
	if (name !== undefined && isThisOrItsAgent(context, name)) throw ranWithPreviousNodes(name);
}

const EVALUATION_TRIGGER = 'n8n-nodes-base.evaluationTrigger';
const ERROR_TRIGGER = 'n8n-nodes-base.errorTrigger';

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

/** Looks whether an error workflow runs because a run for a row has failed: the trigger gives that run's mode. */
function isAboutEvaluation(errorTrigger: NodeData): boolean {
	const { execution } = errorTrigger.first()?.json ?? {};
	return isJsonObject(execution) && execution.mode === 'evaluation';
}

/** Looks whether n8n runs its node for a row of a test data set. */
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

/**
 * Looks whether n8n invents the responses to its node's requests. n8n 2 does so in a workflow that one of its
 * own Agents calls, when it tests the Agent; the mode is that of any run in the editor.
 */
function areResponsesInvented(context: IExecuteFunctions): boolean {
	return additionalDataOf(context)?.evalLlmMockHandler !== undefined;
}

/**
 * Refuses to move money in a test. n8n's Evaluations run all nodes for real, and each row was paid (measured on
 * 2.41.1). Where n8n invents the responses, a payment that was never sent would be recorded as accepted, and
 * the real one refused. Throws an InputError.
 */
export function refuseEvaluation(context: IExecuteFunctions, words: Words): void {
	if (areResponsesInvented(context)) throw ranInAgentTest(words);
	if (isEvaluation(context)) throw ranInEvaluation(words);
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
