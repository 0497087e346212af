import type { IExecuteFunctions, INode, Workflow } from 'n8n-workflow';

/** All nodes of the workflow, which only n8n's insides tell; undefined where this n8n does not. */
export function workflowNodes(context: IExecuteFunctions): INode[] | undefined {
	const { workflow } = context as { workflow?: Pick<Workflow, 'nodes'> };
	return workflow?.nodes && Object.values(workflow.nodes);
}
