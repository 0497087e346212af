import './lowestN8n';
import {
	NodeConnectionTypes,
	NodeOperationError,
	type FunctionsBase,
	type IHookFunctions,
	type INodeType,
	type INodeTypeDescription,
	type IWebhookFunctions,
	type IWebhookResponseData,
} from 'n8n-workflow';
import { testPayCredential } from './credential/credentialTest';
import { asError, InputError } from './inputError';
import { readFieldMatch } from './parameters/fieldMatch';
import { wrongField } from './parameters/label';
import { LEAVE_BODY, leaveBodyOption, leavesBody, bodyNotLeft } from './parameters/leaveBody';
import { parseSecrets } from './parameters/postbackSecret';
import { verify, type Reference } from './postback/proof';
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
	'Postbacks could not be verified: enter 30 random characters as Postback Secret in the Pay API credential of this trigger, the same as in that of the Pay nodes, or set Authentication to None';

const readSecrets = async (context: Pick<FunctionsBase, 'getCredentials'>) =>
	parseSecrets(await context.getCredentials('payApi'));

type Options = { responseBody?: unknown; startWhen?: { match?: Record<string, unknown> } };

/** Reads the option Start Only When; throws an InputError. */
const readMatch = ({ startWhen: { match } = {} }: Options) =>
	match &&
	readFieldMatch(match.field, match.values, (what, advice) =>
		wrongField('startWhen', what, advice),
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
					{
						displayName: 'Start Only When',
						name: 'startWhen',
						type: 'fixedCollection',
						placeholder: 'Add Condition',
						default: {},
						description:
							'Which postbacks start the workflow. All others are verified and answered too, but not stored: n8n logs that they came.',
						options: [
							{
								displayName: 'A Field Has a Value',
								name: 'match',
								values: [
									{
										displayName: 'Field',
										name: 'field',
										type: 'string',
										noDataExpression: true,
										default: '',
										placeholder: 'e.g. data.status',
										description:
											"Field of the postback's body, or of its query, with dots between the levels; body.data.status is taken too. The form of the body is not documented: look at one postback first.",
									},
									{
										displayName: 'Values',
										name: 'values',
										type: 'string',
										noDataExpression: true,
										typeOptions: { multipleValues: true, multipleValueButtonText: 'Add Value' },
										default: [],
										description:
											'Values that start the workflow, each by itself. Upper and lower case do not count.',
									},
								],
							},
						],
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
				try {
					const options = this.getNodeParameter('options', {}) as Options;
					// What was published before an update goes on listening, as n8n reads bodies for it.
					const isAlone = /^(init|leadershipChange)$/.test(this.getActivationMode());
					if (!leavesBody(options) && !isAlone) throw bodyNotLeft();
					readMatch(options);
				} catch (error) {
					throw new NodeOperationError(this.getNode(), inWords(error));
				}
				if (this.getNodeParameter('authentication') === 'none') return true;
				const secrets = await readSecrets(this).catch((error: unknown) => {
					const said = inWords(error);
					const isOurs = error instanceof InputError;
					throw new NodeOperationError(this.getNode(), isOurs ? said : `${NO_SECRET} (${said})`);
				});
				if (secrets.current !== '') return true;
				throw new NodeOperationError(this.getNode(), NO_SECRET);
			},
			async delete(this: IHookFunctions): Promise<boolean> {
				return true;
			},
		},
	};

	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		return await answered(this, async () => {
			let reference: Reference | null = null;
			if (this.getNodeParameter('authentication') !== 'none') {
				const { taken } = await readSecrets(this);
				reference = verify(this.getQueryData() as Record<string, unknown>, taken);
				if (reference === null) return refuseUnproven(this);
			}
			const postback = await readPostback(this);
			const options = this.getNodeParameter('options', {}) as Options;
			const webhookResponse = String(options.responseBody ?? '');
			if (!isAwaited(this, readMatch(options), postback)) return { webhookResponse };
			return { webhookResponse, workflowData: [[await toItem(this, postback, reference)]] };
		});
	}
}
