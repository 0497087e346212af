import type { IExecuteFunctions, IRunExecutionData } from 'n8n-workflow';
import { ranWithPreviousNodes } from './words/refusal';

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
	const { runExecutionData } = context as { runExecutionData?: IRunExecutionData };
	const name = nodeWithoutItself(runExecutionData?.startData ?? {});
	if (name !== undefined && isThisOrItsAgent(context, name)) throw ranWithPreviousNodes(name);
}
