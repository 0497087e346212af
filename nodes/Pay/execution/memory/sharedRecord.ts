import type { IExecuteFunctions, INodeParameters } from 'n8n-workflow';
import { isJsonObject } from '../../json';
import { mayBeExpression } from '../../parameters/parameter';
import { workflowNodes } from '../workflowNodes';

/*
 * n8n's Remove Duplicates node, where somebody gives it the Scope "Workflow", keeps its history in the row of the
 * workflow, which is our record too: it clears that, drops its oldest entries, or makes it a row of another kind.
 */

const REMOVE_DUPLICATES = 'n8n-nodes-base.removeDuplicates';
/** The operations that read or write a history, from version 2 of the node on. */
const WITH_HISTORY = ['removeItemsSeenInPreviousExecutions', 'clearDeduplicationHistory'];

/** What is asked of a node of the workflow. */
interface OtherNode {
	name: string;
	type: string;
	typeVersion: number;
	disabled?: boolean;
	parameters?: INodeParameters;
}

/** Whether a typed value is one of these, or an expression that may give one. */
function mayBeOneOf(typed: unknown, values: readonly string[]): boolean {
	if (typeof typed !== 'string') return false;
	return values.includes(typed) || mayBeExpression(typed);
}

function sharesRecord({ type, typeVersion, disabled, parameters }: OtherNode): boolean {
	if (type !== REMOVE_DUPLICATES || typeVersion < 2 || disabled === true) return false;
	if (!mayBeOneOf(parameters?.operation, WITH_HISTORY)) return false;
	// Where the options are one expression, n8n takes their default in its place, which has no scope.
	const options: unknown = parameters?.options;
	return isJsonObject(options) && mayBeOneOf(options.scope, ['workflow']);
}

/** The other nodes of the workflow; without n8n's own list of them those before and behind this one. */
function otherNodes(context: IExecuteFunctions): OtherNode[] {
	const nodes = workflowNodes(context);
	if (nodes !== undefined) return nodes;
	const { name } = context.getNode();
	const withParameters = { includeNodeParameters: true };
	try {
		const parents = context.getParentNodes(name, withParameters);
		return [...parents, ...context.getChildNodes(name, withParameters)];
	} catch {
		return [];
	}
}

/** The name of a Remove Duplicates node that shares the workflow's record; undefined where none is known to. */
export function nodeThatSharesRecord(context: IExecuteFunctions): string | undefined {
	return otherNodes(context).find(sharesRecord)?.name;
}
