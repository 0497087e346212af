import './n8n1/version';
import {
	NodeConnectionTypes,
	type IHookFunctions,
	type INodeType,
	type INodeTypeDescription,
	type IWebhookFunctions,
	type IWebhookResponseData,
} from 'n8n-workflow';
import { testPayCredential } from './account/credentialTest';
import { publish, receive, triggerProperties } from './operations/trigger';
import { refuseOnError, RESPONSE_CODE } from './postback/respond';
import { POSTBACK_METHODS } from './postback/postback';

/** Starts a workflow when the service reports a charge or payment. */
export class PayTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Pay Trigger',
		name: 'payTrigger',
		icon: { light: 'file:pay.svg', dark: 'file:pay.dark.svg' },
		group: ['trigger'],
		version: 1,
		subtitle:
			'={{ $parameter["authentication"] === "none" ? "any postback" : "genuine postbacks" }}',
		// n8n's node panel shows this for both nodes.
		description: 'Create payment QR codes, pay out, and start workflows when a payment is reported',
		defaults: { name: 'Pay Trigger' },
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		credentials: [
			{
				name: 'payApi',
				required: true,
				testedBy: 'testPayCredential',
				displayOptions: { show: { authentication: ['signedUrl', 'sender'] } },
			},
		],
		webhooks: [
			{
				name: 'default',
				httpMethod: POSTBACK_METHODS,
				// At once, n8n 2 responds when the execution is stored, n8n 1 a moment before.
				responseMode: '={{ $parameter["options"]["respond"] || "onReceived" }}',
				responseCode: RESPONSE_CODE,
				// Without a text here, n8n responds with what webhook() gives, whatever text that is.
				responseData: '={{ $parameter["options"]["respond"] === "lastNode" ? "noData" : "" }}',
				path: 'postback',
				// The editor has room for one method's name.
				ndvHideMethod: true,
			},
		],
		// One line above the node on the canvas; n8n 1 cuts it after some 65 characters.
		eventTriggerDescription: 'Waiting for a postback: run a Pay node with the Test URL',
		triggerPanel: {
			header: 'Receive a postback while you build',
			executionsHelp: {
				inactive:
					'There are two addresses for postbacks. While you build, press "Execute step", put the <b>Test URL</b> into the Postback URL of a Pay node in another workflow and run that node. In the sandbox, then settle the transaction on its page. Once the workflow is published, postbacks to the <b>Production URL</b> start it automatically, and you find them under Executions.',
				active:
					'Postbacks to the <b>Production URL</b> start this workflow automatically, and you find them under <a data-key="executions">Executions</a>. To look at one here, press "Execute step", put the <b>Test URL</b> into the Postback URL of a Pay node in another workflow and run that node.',
			},
			activationHint:
				'Follow the steps under "To get postbacks". Without publishing, only the Test URL works.',
		},
		properties: triggerProperties,
	};

	methods = { credentialTest: { testPayCredential } };

	webhookMethods = {
		default: {
			// The service has no registry of webhooks: each request names its postback URL (section 6).
			async checkExists(this: IHookFunctions): Promise<boolean> {
				return false;
			},
			async create(this: IHookFunctions): Promise<boolean> {
				await publish(this);
				return true;
			},
			async delete(this: IHookFunctions): Promise<boolean> {
				return true;
			},
		},
	};

	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		return await refuseOnError(this, async () => await receive(this));
	}
}
