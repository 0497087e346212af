import {
	NodeConnectionTypes,
	NodeOperationError,
	type IHookFunctions,
	type INodeType,
	type INodeTypeDescription,
	type IWebhookFunctions,
	type IWebhookResponseData,
} from 'n8n-workflow';
import { testPayCredential } from './credential/test';
import { asJson, keptSecret, readNotification, readSecret, refuse } from './postback/receive';
import { verifyQuery } from './postback/proof';

export class PayTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Pay Trigger',
		name: 'payTrigger',
		icon: { light: 'file:pay.svg', dark: 'file:pay.dark.svg' },
		group: ['trigger'],
		version: 1,
		subtitle:
			'={{ $parameter["authentication"] === "none" ? "any postback" : "signed postbacks" }}',
		description: 'Starts the workflow when the service reports the status of a charge or payment',
		defaults: { name: 'Pay Trigger' },
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		credentials: [
			{
				name: 'payApi',
				required: true,
				testedBy: 'testPayCredential',
				displayOptions: { show: { authentication: ['signedUrl'] } },
			},
		],
		webhooks: [
			{
				name: 'default',
				// The method of a postback is not documented (section 6), so all that carry one are taken.
				httpMethod: '={{"GET,POST,PUT,PATCH,DELETE"}}' as 'POST',
				// At once, n8n 2 answers when the execution is stored, n8n 1 a moment before.
				responseMode: '={{ $parameter["options"]["respond"] || "onReceived" }}' as 'onReceived',
				responseCode: '={{ $parameter["options"]["responseCode"] || 200 }}',
				responseData:
					'={{ $parameter["options"]["respond"] === "lastNode" ? "noData" : $parameter["options"]["responseBody"] || "noData" }}',
				path: 'postback',
				// The editor has room for one method's name.
				ndvHideMethod: true,
			},
		],
		properties: [
			{
				displayName:
					'Publish the workflow, copy the Production URL above, and put it into the Postback URL of the Pay API credential (or into a Pay node, as Postback "To a URL"). The Test URL works only while the editor listens.',
				name: 'urlNotice',
				type: 'notice',
				default: '',
			},
			{
				displayName: 'Authentication',
				name: 'authentication',
				type: 'options',
				options: [
					{
						name: 'None',
						value: 'none',
						description: 'Take every request: anyone who knows the URL can report a payment',
					},
					{
						name: 'Signed URL',
						value: 'signedUrl',
						description:
							'Take only requests to URLs that a Pay node signed with the Postback Secret of the same credential',
					},
				],
				default: 'signedUrl',
				description: 'How to tell genuine postbacks from forged ones',
			},
			{
				displayName:
					'Anyone who learns this URL can post "paid" to it. Check every amount and status with the service before you deliver anything.',
				name: 'noAuthenticationNotice',
				type: 'notice',
				default: '',
				displayOptions: { show: { authentication: ['none'] } },
			},
			{
				displayName: 'Options',
				name: 'options',
				type: 'collection',
				placeholder: 'Add Option',
				default: {},
				options: [
					{
						displayName: 'Respond',
						name: 'respond',
						type: 'options',
						options: [
							{
								name: 'Immediately',
								value: 'onReceived',
								description:
									'Before the workflow has done its work. N8n 1 answers a moment before it stores the postback, so a crash in that moment loses it.',
							},
							{
								name: 'When Last Node Finishes',
								value: 'lastNode',
								description:
									'With an error when the workflow fails. The postback is stored by then in any version of n8n.',
							},
						],
						default: 'onReceived',
						description: 'When to answer a postback',
					},
					{
						displayName: 'Response Body',
						name: 'responseBody',
						type: 'string',
						default: '',
						placeholder: 'e.g. OK',
						displayOptions: { hide: { '/options.respond': ['lastNode'] } },
						description: 'Text to answer postbacks with. Empty unless set.',
					},
					{
						displayName: 'Response Code',
						name: 'responseCode',
						type: 'number',
						typeOptions: { minValue: 200, maxValue: 299 },
						default: 200,
						description: 'HTTP status to answer postbacks with',
					},
				],
			},
		],
	};

	methods = { credentialTest: { testPayCredential } };

	webhookMethods = {
		default: {
			// The service has no registry of webhooks: each request names its postback URL (section 6).
			async checkExists(this: IHookFunctions): Promise<boolean> {
				return false;
			},
			async create(this: IHookFunctions): Promise<boolean> {
				if (this.getNodeParameter('authentication') === 'none') return true;
				const { postbackSecret } = await this.getCredentials<{ postbackSecret?: string }>('payApi');
				if (postbackSecret) return true;
				throw new NodeOperationError(
					this.getNode(),
					'The Pay API credential has no Postback Secret, so no postback could be verified',
					{
						description:
							'Enter a long random text as Postback Secret in the credential of this trigger and of the Pay nodes. To take unverified postbacks instead, set Authentication to None.',
					},
				);
			},
			async delete(this: IHookFunctions): Promise<boolean> {
				return true;
			},
		},
	};

	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		let reference = null;
		if (this.getNodeParameter('authentication') !== 'none') {
			const query = this.getQueryData() as Record<string, unknown>;
			reference = verifyQuery(query, keptSecret(this) ?? '');
			// Before anything is refused the credential itself is asked: its secret may be a new one.
			reference ??= verifyQuery(query, await readSecret(this));
			if (reference === null) {
				return refuse(this, 401, 'This address takes only postbacks with a valid signature');
			}
		}
		const notification = await readNotification(this, reference);
		return { workflowData: [[{ json: asJson(notification) }]] };
	}
}
