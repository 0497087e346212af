import type { IExecuteFunctions, IHookFunctions, IWebhookFunctions } from 'n8n-workflow';

type LoggingContext = IExecuteFunctions | IHookFunctions | IWebhookFunctions;

/**
 * Warns in n8n's log, at the level "warn".
 * @param facts what a person needs beside the sentence, such as external_ids; never a secret, a URL or a body
 */
export function logWarning(context: LoggingContext, sentence: string, facts: object = {}): void {
	const { id: workflowId, name: workflow = workflowId } = context.getWorkflow();
	const all = { workflow, workflowId, node: context.getNode().name, ...facts };
	// In the sentence too, as JSON: n8n's log as text prints nothing of what stands beside it.
	context.logger.warn(`${sentence} ${JSON.stringify(all)}`, all);
}
