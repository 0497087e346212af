import { NodeConnectionTypes } from 'n8n-workflow';

// n8n's log names this beside the node that it could not load; else it would be "Cannot read
// properties of undefined" (measured on 1.70).
if (NodeConnectionTypes === undefined) throw new Error('n8n-nodes-pay needs n8n 1.85 or later');

/** The connection that items flow through. */
export const MAIN = NodeConnectionTypes.Main;
