import type { IExecuteFunctions, Workflow } from 'n8n-workflow';
import type { Words } from '../service/contract';
import { ranInAgentTest, ranInEvaluation } from './words/refusal';

const EVALUATION_TRIGGER = 'n8n-nodes-base.evaluationTrigger';

/** The names of the Evaluation Triggers from which a node can be reached. */
function evaluationTriggers(context: IExecuteFunctions): string[] {
	// A tool has no parents. Only n8n's insides tell which nodes come before its agent, so all of the
	// workflow are looked at there.
	const { workflow } = context as { workflow?: Pick<Workflow, 'nodes'> };
	const nodes = workflow?.nodes
		? Object.values(workflow.nodes)
		: context.getParentNodes(context.getNode().name);
	const triggers = nodes.filter(({ type }) => type === EVALUATION_TRIGGER);
	return triggers.map(({ name }) => name);
}

/** Looks whether n8n runs its node for a row of a test data set. */
function isEvaluation(context: IExecuteFunctions): boolean {
	if (context.getMode() === 'evaluation') return true;
	const triggers = evaluationTriggers(context);
	const data = context.getWorkflowDataProxy(0);
	// n8n 2 hands this on to sub-workflows, whose mode is another one. n8n 1 tells them nothing.
	const { $evaluation } = data as { $evaluation?: { runId?: unknown } };
	if ($evaluation?.runId) return true;
	// "Execute workflow" from the trigger has the mode of any run in the editor.
	return triggers.some((name) => (data.$(name) as { isExecuted: boolean }).isExecuted);
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
