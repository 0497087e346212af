import './lowestN8n';
import {
	NodeConnectionTypes,
	NodeOperationError,
	UserError,
	type IHookFunctions,
	type INodeType,
	type INodeTypeDescription,
	type IWebhookFunctions,
	type IWebhookResponseData,
} from 'n8n-workflow';
import { credentialOfTrigger } from './credential/accounts';
import { parseSecrets, type PayCredential } from './credential/connection';
import { testPayCredential } from './credential/credentialTest';
import { readSignatureRule, signatureFault } from './credential/signature';
import { inWords } from './inputError';
import { matchOf, readCondition, refuseMisplacedCondition } from './parameters/condition';
import { readDescription, type StatusValues } from './parameters/description';
import { isBodyLeft } from './parameters/leaveBody';
import { refuseMovedOptions } from './parameters/options';
import { refuseWrongResponse, triggerProperties } from './parameters/trigger';
import { requireFieldByField } from './parameters/parameter';
import { verify } from './postback/proof';
import {
	headersOf,
	refuseOnError,
	logNotAwaited,
	POSTBACK_METHODS,
	readBody,
	readPostback,
	refuseUnproven,
	refuseUnsigned,
	toPostbackItem,
	whyNotAwaited,
} from './postback/receive';

const NO_SECRET =
	'Postbacks could not be verified: enter 30 random characters as Postback Secret in the Pay API credential of this trigger, the same as in that of the Pay nodes';

const NO_SIGNATURE =
	"the Pay API credential of this trigger does not say how the service signs: turn on Check the Service's Signature there";

const BODY_IS_READ =
	'Pay Trigger: the JSON of this node has "options" without "binaryData": true, so n8n reads postbacks before the node, and answers 422 to charsets such as ISO-8859-1. To take those too, add it there, or delete the node and add it again';

const NOTHING_TO_COMPARE =
	"the credential has an Amount Field or an External ID Field, but with Service's Signature alone nothing says what was asked for: set Authentication to Signed URL, which asks for both, or select a credential without these fields and compare them in the workflow";

/** How long the body of a postback may take, in milliseconds: a trigger has no state that grows old. */
const BODY_TIME = 60_000;

type HookContext = IHookFunctions | IWebhookFunctions;

/** Without authentication a trigger has no credential. */
const isUnsigned = (context: HookContext) => context.getNodeParameter('authentication') === 'none';
/** Whether the service's own signature alone says who sent a postback. */
const isSignedByService = (context: HookContext) =>
	context.getNodeParameter('authentication') === 'signature';
const readCredential = async (context: HookContext): Promise<PayCredential> =>
	isUnsigned(context) ? {} : await credentialOfTrigger(context);

/** What a postback must hold to start the workflow; throws an InputError. */
function readMatch(context: HookContext, status: StatusValues | undefined) {
	const { parameters } = context.getNode();
	refuseMovedOptions(parameters.options);
	refuseMisplacedCondition(parameters, 'startWhen');
	const condition = readCondition((name) => context.getNodeParameter(name, ''), 'startWhen');
	const toCredential = isUnsigned(context)
		? 'Set Authentication to Signed URL, select a credential, open it'
		: 'Open the credential of this trigger';
	return matchOf(condition, status, 'startWhen', toCredential);
}

/** Refuses what could verify no postback, or would start with none. Rejects with an error in words. */
async function refuseWhatCannotListen(context: IHookFunctions): Promise<void> {
	requireFieldByField(triggerProperties, context.getNode().parameters);
	const options = context.getNodeParameter('options', {});
	if (!isBodyLeft(options)) context.logger.warn(BODY_IS_READ);
	refuseWrongResponse(options);
	const credential = await readCredential(context).catch((error: unknown) => {
		throw new UserError(`${NO_SECRET} (${inWords(error)})`);
	});
	const { current } = parseSecrets(credential);
	const { status } = readDescription(credential);
	readMatch(context, status);
	const signature = readSignatureRule(credential);
	if (isUnsigned(context)) return;
	if (isSignedByService(context)) {
		if (signature === undefined) throw new UserError(NO_SIGNATURE);
		if (status?.compared !== undefined) throw new UserError(NOTHING_TO_COMPARE);
	} else if (current === '') {
		throw new UserError(NO_SECRET);
	}
}

/** Why it is not published. n8n 2 stops a trigger that listens when its next publication is refused. */
function notPublished(context: IHookFunctions, why: string): string {
	if (context.getActivationMode() === 'manual') return why;
	const url = context.getNodeWebhookUrl('default');
	return `${why.replace(/\.$/, '')}. Until this workflow is published, no postback to ${url} is taken`;
}

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
				displayOptions: { show: { authentication: ['signedUrl', 'signature'] } },
			},
		],
		webhooks: [
			{
				name: 'default',
				httpMethod: POSTBACK_METHODS,
				// At once, n8n 2 responds when the execution is stored, n8n 1 a moment before.
				responseMode: '={{ $parameter["options"]["respond"] || "onReceived" }}',
				responseCode: '={{ Number($parameter["options"]["responseCode"]) || 200 }}',
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
				try {
					await refuseWhatCannotListen(this);
					return true;
				} catch (error) {
					throw new NodeOperationError(this.getNode(), notPublished(this, inWords(error)));
				}
			},
			async delete(this: IHookFunctions): Promise<boolean> {
				return true;
			},
		},
	};

	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		return await refuseOnError(this, async () => {
			const credential = await readCredential(this);
			const { taken } = parseSecrets(credential);
			const reference = verify(this.getQueryData() as Record<string, unknown>, taken);
			const isByService = isSignedByService(this);
			if (reference === null && !isByService && !isUnsigned(this)) return refuseUnproven(this);
			const signature = readSignatureRule(credential);
			if (signature === undefined && isByService) return refuseUnsigned(this, NO_SIGNATURE);
			const { status } = readDescription(credential);
			const received = await readBody(this, BODY_TIME);
			const fault = signature && signatureFault(signature, headersOf(this), received);
			if (fault !== undefined) return refuseUnsigned(this, fault);
			const postback = readPostback(this, received, { isSigned: signature !== undefined });
			const { responseBody } = this.getNodeParameter('options', {}) as { responseBody?: unknown };
			const match = readMatch(this, status);
			const why = whyNotAwaited(match, postback, reference);
			if (why !== undefined) {
				logNotAwaited(this, why, reference);
				const webhookResponse = responseBody ?? `The workflow does not go on with it: ${why}`;
				return { webhookResponse: String(webhookResponse) };
			}
			return {
				webhookResponse: String(responseBody ?? ''),
				workflowData: [[await toPostbackItem(this, postback, reference, status)]],
			};
		});
	}
}
