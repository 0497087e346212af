import { NodeOperationError, type IExecuteFunctions } from 'n8n-workflow';
import { isN8n1 } from './version';

/**
 * On n8n 1 anyone who opens its /chat resumes any waiting execution, unless the node has this and it
 * throws (measured on 1.123). n8n 2.41 takes chat messages only for nodes that have it.
 */
export const onMessage = isN8n1
	? async (context: IExecuteFunctions): Promise<never> => {
			throw new NodeOperationError(context.getNode(), 'A chat message resumes no Pay node');
		}
	: undefined;
