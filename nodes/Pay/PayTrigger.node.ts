import './lowestN8n';
import {
	NodeConnectionTypes,
	NodeOperationError,
	type IHookFunctions,
	type INodeProperties,
	type INodeType,
	type INodeTypeDescription,
	type IWebhookFunctions,
	type IWebhookResponseData,
} from 'n8n-workflow';
import type { PayCredential } from './credential/connection';
import { testPayCredential } from './credential/credentialTest';
import { asError, InputError } from './inputError';
import { conditionFields, matchOf, readCondition } from './parameters/condition';
import { readDescription, type StatusValues } from './parameters/description';
import { LEAVE_BODY, leaveBodyOption, leavesBody, bodyNotLeft } from './parameters/leaveBody';
import { parseSecrets } from './parameters/postbackSecret';
import { asTyped, refuseWholes } from './parameters/typed';
import { verify } from './postback/proof';
import {
	answered,
	isAwaited,
	POSTBACK_METHODS,
	readPostback,
	refuseUnproven,
	toItem,
} from './postback/receive';

/** Where the Postback Secret belongs. */
const NO_SECRET =
	'Postbacks could not be verified: enter 30 random characters as Postback Secret in the Pay API credential of this trigger, the same as in that of the Pay nodes';

type Context = IHookFunctions | IWebhookFunctions;

/** Without authentication a trigger has no credential. */
const isUnsigned = (context: Context) => context.getNodeParameter('authentication') === 'none';
const readCredential = async (context: Context): Promise<PayCredential> =>
	isUnsigned(context) ? {} : await context.getCredentials('payApi');

/** What a postback must hold to start the workflow; throws an InputError. */
const readMatch = (context: Context, status: StatusValues | undefined) =>
	matchOf(
		readCondition((name) => context.getNodeParameter(name, ''), 'startWhen'),
		status,
		'startWhen',
		'this trigger, which has one where Authentication is Signed URL',
	);

/** All of it in the message: n8n's toast shows nothing else. */
const inWords = (error: unknown) =>
	error instanceof InputError ? `${error.message}. ${error.advice}` : asError(error).message;

export class PayTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Pay Trigger',
		name: 'payTrigger',
		icon: { light: 'file:pay.svg', dark: 'file:pay.dark.svg' },
		group: ['trigger'],
		version: 1,
		subtitle:
			'={{ $parameter["authentication"] === "none" ? "any postback" : "signed postbacks" }}',
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
				displayOptions: { show: { authentication: ['signedUrl'] } },
			},
		],
		webhooks: [
			{
				name: 'default',
				httpMethod: POSTBACK_METHODS,
				// At once, n8n 2 responds when the execution is stored, n8n 1 a moment before.
				responseMode: '={{ $parameter["options"]["respond"] || "onReceived" }}',
				responseCode: '={{ $parameter["options"]["responseCode"] || 200 }}',
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
			header: 'Take a postback while you build',
			executionsHelp: {
				inactive:
					'Postbacks have two addresses. While you build: press "Execute step", put the <b>Test URL</b> into the Postback URL of a Pay node in another workflow and run that node; in the sandbox, then settle the transaction on its page. When the workflow is published, postbacks to the <b>Production URL</b> start it by themselves, and you find them under Executions.',
				active:
					'Postbacks to the <b>Production URL</b> start this workflow by themselves: you find them under <a data-key="executions">Executions</a>. To look at one here, press "Execute step", put the <b>Test URL</b> into the Postback URL of a Pay node in another workflow and run that node.',
			},
			activationHint:
				'Put the Production URL into the Postback URL of the Pay API credential, then publish the workflow.',
		},
		properties: [
			{
				// A list: n8n 2 drops every other tag from a notice, line breaks too.
				displayName:
					'To get postbacks:<ul><li>Step 1: open Webhook URLs above and copy the Production URL.</li><li>Step 2: in the Pay API credential, paste it as Postback URL and enter a Postback Secret: 30 random characters from a password manager.</li><li>Step 3: publish this workflow.</li></ul>The Test URL works only while the editor listens.',
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
			...conditionFields(
				{
					displayName: 'Start Only When',
					name: 'startWhen',
					noDataExpression: true,
					description: 'Which postbacks start the workflow',
				},
				['Any Postback', 'Paid', 'Paid or Failed', 'A Field Has a Value'],
			),
			{
				displayName: 'Options',
				name: 'options',
				type: 'collection',
				placeholder: 'Add Option',
				default: { ...LEAVE_BODY },
				options: [
					leaveBodyOption,
					{
						displayName: 'Respond',
						name: 'respond',
						type: 'options',
						noDataExpression: true,
						options: [
							{
								name: 'Immediately',
								value: 'onReceived',
								description:
									'Before the workflow has done its work. N8n 1 responds a moment before it stores the postback, so a crash in that moment loses it.',
							},
							{
								name: 'When Last Node Finishes',
								value: 'lastNode',
								description:
									'With an error when the workflow fails. The postback is stored by then in any version of n8n.',
							},
						],
						default: 'onReceived',
						description: 'When to respond to a postback',
					},
					{
						displayName: 'Response Body',
						name: 'responseBody',
						type: 'string',
						noDataExpression: true,
						default: '',
						placeholder: 'e.g. OK',
						displayOptions: { hide: { '/options.respond': ['lastNode'] } },
						description: 'Text to respond to postbacks with. Empty unless set.',
					},
					{
						displayName: 'Response Code',
						name: 'responseCode',
						type: 'number',
						noDataExpression: true,
						typeOptions: { minValue: 200, maxValue: 299 },
						default: 200,
						description: 'HTTP status to respond to postbacks with',
					},
				],
			},
		].flatMap((field) => asTyped(field as INodeProperties)),
	};

	methods = { credentialTest: { testPayCredential } };

	webhookMethods = {
		default: {
			// The service has no registry of webhooks: each request names its postback URL (section 6).
			async checkExists(this: IHookFunctions): Promise<boolean> {
				return false;
			},
			async create(this: IHookFunctions): Promise<boolean> {
				const refusal = (said: string) => new NodeOperationError(this.getNode(), said);
				try {
					refuseWholes(new PayTrigger().description.properties, this.getNode().parameters);
					const options = this.getNodeParameter('options', {});
					// What was published before an update goes on listening, as n8n reads bodies for it.
					const isAlone = /^(init|leadershipChange)$/.test(this.getActivationMode());
					if (!leavesBody(options) && !isAlone) throw refusal(inWords(bodyNotLeft()));
					const credential = await readCredential(this).catch((error: unknown) => {
						throw refusal(`${NO_SECRET} (${inWords(error)})`);
					});
					const { current } = parseSecrets(credential);
					readMatch(this, readDescription(credential).status);
					if (current === '' && !isUnsigned(this)) throw refusal(NO_SECRET);
					return true;
				} catch (error) {
					throw error instanceof NodeOperationError ? error : refusal(inWords(error));
				}
			},
			async delete(this: IHookFunctions): Promise<boolean> {
				return true;
			},
		},
	};

	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		return await answered(this, async () => {
			const credential = await readCredential(this);
			const { taken } = parseSecrets(credential);
			const reference = verify(this.getQueryData() as Record<string, unknown>, taken);
			if (reference === null && !isUnsigned(this)) return refuseUnproven(this);
			const { status } = readDescription(credential);
			const postback = await readPostback(this);
			const { responseBody } = this.getNodeParameter('options', {}) as { responseBody?: unknown };
			const webhookResponse = String(responseBody ?? '');
			if (!isAwaited(this, readMatch(this, status), postback)) return { webhookResponse };
			return { webhookResponse, workflowData: [[await toItem(this, postback, reference, status)]] };
		});
	}
}
