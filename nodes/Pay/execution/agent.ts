import type { IExecuteFunctions } from 'n8n-workflow';

/** An AI agent's tool has a separate node type in n8n, whose name ends in Tool. */
export function isRunByAiAgent(context: IExecuteFunctions): boolean {
	return context.getNode().type.endsWith('Tool') || context.isToolExecution?.() === true;
}

/**
 * Whether failures become items. For an agent they always do: older agents learn nothing of an error
 * that is thrown, and the model may believe that it has paid.
 */
export function continuesOnFailure(context: IExecuteFunctions): boolean {
	return isRunByAiAgent(context) || context.continueOnFail();
}
