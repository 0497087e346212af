import './n8n1/version';
import {
	NodeConnectionTypes,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
	type IWebhookFunctions,
	type IWebhookResponseData,
} from 'n8n-workflow';
import { testPayCredential } from './account/credentialTest';
import { onMessage } from './n8n1/version';
import { credentials, findOperation, type Operation, properties, subtitle } from './operations';
import { resumeWebhooks, waitingNodeTooltip } from './operations/wait';
import { refuseOnError, refusePostback } from './postback/respond';
import { failAll } from './run/report';
import { runRequests } from './run/run';

/** The Pay node: all operations, each described in operations/. */
export class Pay implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Pay',
		name: 'pay',
		icon: { light: 'file:pay.svg', dark: 'file:pay.dark.svg' },
		group: ['output'],
		// A list, so that n8n adds no "Custom API Call" to Resource and Operation: it leads nowhere.
		version: [1],
		defaultVersion: 1,
		subtitle,
		description: 'Create payment QR codes and make instant payments',
		defaults: { name: 'Pay' },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials,
		webhooks: resumeWebhooks,
		waitingNodeTooltip,
		properties,
	};

	onMessage = onMessage;

	methods = { credentialTest: { testPayCredential } };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		let operation: Operation;
		try {
			const resource = String(this.getNodeParameter('resource', 0));
			// Of an unknown resource n8n knows no operation, and would throw without a fallback.
			operation = findOperation(resource, String(this.getNodeParameter('operation', 0, '')));
		} catch (error) {
			return failAll(this, error);
		}
		if (operation.requestOperation === undefined) return await operation.execute(this);
		return await runRequests(this, operation.requestOperation);
	}

	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		return await refuseOnError(this, async () => {
			const resource = String(this.getNodeParameter('resource'));
			// Of an unknown resource n8n knows no operation, and would throw without a fallback.
			const operation = findOperation(resource, String(this.getNodeParameter('operation', '')));
			if (operation.receive === undefined) {
				return refusePostback(this, 409, 'The execution is not waiting for a postback');
			}
			return await operation.receive(this);
		});
	}
}
