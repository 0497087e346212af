import { isTool, makeNodeName, WAIT_FOR_SUB_EXECUTION } from 'n8n-workflow';

// A guard: the node classes import this file first. Before n8n 1.98 a request to an https: address
// goes to the proxy of HTTPS_PROXY in plain text, access token included. n8n 1.98 could not be tried,
// so 1.99 is the lowest; it is the first with these two functions. (Two, because a later n8n may drop
// one.) n8n's log shows these words beside the node that it could not load.
if (isTool === undefined && makeNodeName === undefined) {
	throw new Error('n8n-nodes-pay needs n8n 1.99 or later');
}

/** Only n8n 2 has the constant that is asked for. */
export const isN8n1 = WAIT_FOR_SUB_EXECUTION === undefined;
