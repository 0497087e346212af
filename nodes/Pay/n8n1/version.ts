import {
	type IExecuteFunctions,
	isTool,
	makeNodeName,
	NodeOperationError,
	WAIT_FOR_SUB_EXECUTION,
} from 'n8n-workflow';

// A guard: the node classes import this file first. Before n8n 1.98 a request to an https: address
// goes to the proxy of HTTPS_PROXY in plain text, access token included. n8n 1.98 could not be tried,
// so 1.99 is the lowest; it is the first with these two functions. (Two, because a later n8n may drop
// one.) n8n's log shows these words beside the node that it could not load.
if (isTool === undefined && makeNodeName === undefined) {
	throw new Error('n8n-nodes-pay needs n8n 1.99 or later');
}

/** Only n8n 2 has the constant that is asked for. */
export const isN8n1 = WAIT_FOR_SUB_EXECUTION === undefined;

/**
 * On n8n 1 anyone who opens its /chat resumes any waiting execution, unless the node has this and it
 * throws (measured on 1.123). n8n 2.41 takes chat messages only for nodes that have it.
 */
export const onMessage = isN8n1
	? async (context: IExecuteFunctions): Promise<never> => {
			throw new NodeOperationError(context.getNode(), 'A chat message cannot resume a Pay node');
		}
	: undefined;
