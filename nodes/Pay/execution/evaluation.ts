import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { isJsonObject } from '../json';
import type { Words } from '../service/contract';
import { ranInAgentTest, ranInEvaluation } from './words/refusal';
import { workflowNodes } from './workflowNodes';

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
	const { additionalData } = context as { additionalData?: { evalLlmMockHandler?: unknown } };
	return additionalData?.evalLlmMockHandler !== undefined;
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
