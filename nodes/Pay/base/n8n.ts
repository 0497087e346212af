import type {
	INode,
	IRunExecutionData,
	IWorkflowExecuteAdditionalData,
	Workflow,
} from 'n8n-workflow';

/*
 * What n8n's interface for nodes does not show. Each context of n8n has these three as members (read in n8n
 * 1.123 and 2.41). Another n8n may lack them, or a part of them, so whoever asks says what follows without.
 */

/** The workflow that runs, with all its nodes. */
function workflowOf(context: object): Workflow | undefined {
	return (context as { workflow?: Workflow }).workflow;
}

/** All nodes of the workflow. */
export function workflowNodes(context: object): INode[] | undefined {
	const nodes = workflowOf(context)?.nodes;
	return nodes && Object.values(nodes);
}

/** A node of the workflow by its name. */
export function workflowNode(context: object, name: string): INode | null | undefined {
	return workflowOf(context)?.getNode(name);
}

/** What the execution has come to so far: which nodes have run, and what they gave. */
export function runExecutionDataOf(context: object): Partial<IRunExecutionData> | undefined {
	return (context as { runExecutionData?: IRunExecutionData }).runExecutionData;
}

/**
 * What n8n hands to all nodes of an execution: its addresses, the credentials, the stored executions. n8n makes
 * it anew for each execution, and when one goes on after a wait.
 */
export function additionalDataOf(context: object): IWorkflowExecuteAdditionalData | undefined {
	return (context as { additionalData?: IWorkflowExecuteAdditionalData }).additionalData;
}

/** Whether a field, as it was typed, is an expression: n8n stores one as a text with this sign in front. */
export function isExpression(typed: unknown): typed is string {
	return typeof typed === 'string' && typed.startsWith('=');
}
