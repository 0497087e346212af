import type { IContextObject, IExecuteFunctions } from 'n8n-workflow';

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
