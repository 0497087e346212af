import type { INodeProperties, IWebhookDescription } from 'n8n-workflow';
import { conditionFields, resumeCondition } from '../../parameters/condition';
import { showFor } from '../../parameters/parameter';
import { waitLimitFields } from '../../parameters/waitLimit';
import { RESUME_SEGMENT } from '../../postback/postbackUrl';
import { POSTBACK_METHODS } from '../../postback/request';
import { RESPONSE_CODE, responseOfWaitField } from '../../postback/response';

export const option = {
	name: 'Wait',
	value: 'wait',
	action: 'Wait for postback',
	description: 'Wait until the service reports what became of one item',
};

export const description: INodeProperties[] = showFor(
	[
		{
			displayName:
				'The Pay node that makes the charge or payment must have Postback set to "Resume This Execution". Run both with "Execute workflow": each step alone is another execution. One item at a time: for several, put both nodes into a Loop Over Items.',
			name: 'waitNotice',
			type: 'notice',
			default: '',
		},
		{
			displayName: 'External ID',
			name: 'external_id',
			type: 'string',
			default: '={{ $json.external_id }}',
			required: true,
			description: 'External ID of the item whose postback is awaited',
		},
		...conditionFields(resumeCondition),
		...waitLimitFields,
		responseOfWaitField,
	],
	'postback',
	'wait',
);

/**
 * The node listens at the resume URL of an execution that waits here, in a segment of its own: at the bare
 * URL n8n's own Wait nodes and forms listen.
 */
export const resumeWebhooks: IWebhookDescription[] = [
	{
		name: 'default',
		httpMethod: POSTBACK_METHODS,
		responseMode: 'onReceived',
		responseCode: RESPONSE_CODE,
		// Without a text here, n8n responds with what webhook() gives, whatever text that is.
		responseData: '',
		path: RESUME_SEGMENT,
		restartWebhook: true,
	},
];

/**
 * What the editor's output panel says while the node waits: at a time limit n8n runs no node, so what did
 * not end the wait can be said only while it lasts.
 */
export const waitingNodeTooltip = [
	'={{ $parameter["resumeWhen"] === "any" ? "Waiting for a postback."',
	': "Waiting for a postback with what Resume asks for. One that lacks it does not end the wait:',
	'n8n\'s log, and the response that the service got, say what was missing." }}',
].join(' ');
