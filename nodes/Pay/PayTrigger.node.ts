import {
	NodeConnectionTypes,
	NodeOperationError,
	UserError,
	type IDataObject,
	type IHookFunctions,
	type INodeType,
	type INodeTypeDescription,
	type IWebhookFunctions,
	type IWebhookResponseData,
} from 'n8n-workflow';
import { credentialOfTrigger } from './credential/accounts';
import { parseSecrets, type PayCredential } from './credential/connection';
import { testPayCredential } from './credential/credentialTest';
import { readDescription } from './credential/description';
import { readSignatureRule, signatureFault, type SignatureRule } from './credential/signature';
import { asError, inWords } from './inputError';
import { logWarning } from './log';
import './n8n1/version';
import {
	matchOf,
	readCondition,
	refuseMisplacedCondition,
	startCondition,
	type PostbackMatch,
} from './parameters/condition';
import type { StatusWords } from './service/postbackState';
import { isBodyLeft } from './parameters/leaveBody';
import { requireFieldByField } from './parameters/parameter';
import {
	readAuthentication,
	readSkipRepeats,
	refuseWrongResponse,
	triggerProperties,
	type Authentication,
} from './parameters/trigger';
import { toPostbackItem } from './postback/item';
import { whyNotAwaited } from './postback/match';
import type { Postback } from './postback/postback';
import { verify, type Reference } from './postback/proof';
import { beginPublication, endPublication } from './n8n1/publication';
import {
	logNotAwaited,
	refuseOnError,
	refusePostback,
	refuseUnproven,
	refuseWrongSignature,
} from './postback/refuse';
import { claimStart } from './postback/repeats';
import { headersOf, POSTBACK_METHODS, readContent, readPostback } from './postback/request';

const NO_SECRET =
	'Postbacks could not be verified: enter 30 random characters as Postback Secret in the Pay API credential of this trigger, the same as in that of the Pay nodes';

const NO_SIGNATURE =
	"The Pay API credential of this trigger does not say how the service signs: turn on Check the Service's Signature there";

const BODY_IS_READ =
	'Pay Trigger: the JSON of this node has "options" without "binaryData": true, so n8n reads postbacks before the node, and responds with 422 to charsets such as ISO-8859-1. To take those too, add it there, or delete the node and add it again';

const NOTHING_TO_COMPARE =
	"The credential has an Amount Field or an External ID Field, but with Service's Signature alone nothing says what was asked for: set Authentication to Signed URL, which asks for both, or select a credential without these fields and compare them in the workflow";

/** How long the body of a postback may take, in milliseconds: a trigger has no state that grows old. */
const BODY_TIME = 60_000;

type HookContext = IHookFunctions | IWebhookFunctions;

function authenticationOf(context: HookContext): Authentication {
	return readAuthentication(
		context.getNode().parameters.authentication,
		context.getNodeParameter('authentication'),
	);
}

/** Without authentication a trigger has no credential. */
async function readCredential(
	context: HookContext,
	authentication: Authentication,
): Promise<PayCredential> {
	return authentication === 'none' ? {} : await credentialOfTrigger(context);
}

/** The credential of the trigger as people know it: they have several, and n8n fills in one of them. */
function credentialName(context: HookContext): string | undefined {
	return context.getNode().credentials?.payApi?.name;
}

/** Where a person enters what paid and failed are called. */
function whereWordsBelong(context: HookContext, authentication: Authentication): string {
	if (authentication === 'none') {
		return "Set Authentication to Signed URL or Service's Signature: without it this trigger has no credential.";
	}
	const name = credentialName(context);
	return name === undefined
		? 'Open the credential of this trigger.'
		: `Open the credential "${name}" of this trigger.`;
}

const asSentence = (text: string) => (text.endsWith('.') ? text : `${text}.`);

/** What is wrong with the trigger's credential, and which one that is. */
function wrongCredential(context: HookContext, error: unknown): UserError {
	const why = inWords(error);
	const name = credentialName(context);
	return new UserError(
		name === undefined ? why : `${asSentence(why)} This trigger has the credential "${name}".`,
	);
}

/** What a postback must hold to start the workflow; throws an InputError. */
function readMatch(
	context: HookContext,
	authentication: Authentication,
	statusWords: StatusWords | undefined,
): PostbackMatch | undefined {
	const { parameters } = context.getNode();
	refuseMisplacedCondition(parameters, 'startWhen');
	const condition = readCondition((name) => context.getNodeParameter(name, ''), startCondition);
	return matchOf(condition, statusWords, 'startWhen', whereWordsBelong(context, authentication));
}

/** What publishing says where the credential cannot be read: first of all what is missed, a Postback Secret. */
function unreadableCredential(authentication: Authentication, error: unknown): Error {
	return authentication === 'signedUrl'
		? new UserError(`${NO_SECRET} (${inWords(error)})`)
		: asError(error);
}

/** Checks all that would make every postback fail, before n8n listens. Rejects with an error in words. */
async function checkTrigger(context: IHookFunctions): Promise<void> {
	requireFieldByField(triggerProperties, context.getNode().parameters);
	const options = context.getNodeParameter('options', {});
	if (!isBodyLeft(options)) logWarning(context, BODY_IS_READ);
	refuseWrongResponse(options);
	readSkipRepeats(options);
	const authentication = authenticationOf(context);
	const statusWords = await checkCredential(context, authentication).catch((error: unknown) => {
		throw wrongCredential(context, error);
	});
	readMatch(context, authentication, statusWords);
}

/** Checks what the trigger's credential has to hold; gives its words for paid and failed. */
async function checkCredential(
	context: IHookFunctions,
	authentication: Authentication,
): Promise<StatusWords | undefined> {
	const credential = await readCredential(context, authentication).catch((error: unknown) => {
		throw unreadableCredential(authentication, error);
	});
	// Without authentication all of these are empty, and no postback needs them.
	const { current: secret } = parseSecrets(credential);
	const { statusWords } = readDescription(credential);
	requireChecks(authentication, secret !== '', readSignatureRule(credential));
	if (authentication === 'signature' && statusWords?.compared !== undefined) {
		throw new UserError(NOTHING_TO_COMPARE);
	}
	return statusWords;
}

/** What publishing is refused with. n8n stops a trigger that listens when its next publication is refused. */
function whyNotPublished(context: IHookFunctions, error: unknown): string {
	const why = inWords(error);
	if (context.getActivationMode() === 'manual') return why;
	const url = context.getNodeWebhookUrl('default');
	return `${asSentence(why)} Until this workflow is published, no postback to ${url} is taken`;
}

/**
 * Throws where the credential lacks what the trigger checks postbacks with, at its publication or, where
 * somebody took it out, after it. That is not the sender's fault, and the service sends again after a 500.
 * The log says why, the response does not.
 */
function requireChecks(
	authentication: Authentication,
	hasSecret: boolean,
	signatureRule: SignatureRule | undefined,
): void {
	if (authentication === 'signedUrl' && !hasSecret) throw new UserError(NO_SECRET);
	if (authentication === 'signature' && signatureRule === undefined) {
		throw new UserError(NO_SIGNATURE);
	}
}

/**
 * Takes a call to the trigger's address: proof first, body after, then the service's signature. Throws where
 * the trigger or its credential cannot be read, or lacks what the trigger checks with.
 */
async function takePostback(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const authentication = authenticationOf(context);
	const credential = await readCredential(context, authentication);
	const { accepted } = parseSecrets(credential);
	const signatureRule = readSignatureRule(credential);
	try {
		requireChecks(authentication, accepted.length > 0, signatureRule);
	} catch (error) {
		throw wrongCredential(context, error);
	}
	const reference = verify(context.getQueryData() as Record<string, unknown>, accepted);
	if (authentication === 'signedUrl' && reference === null) return refuseUnproven(context);
	const { statusWords } = readDescription(credential);
	const content = await readContent(context, BODY_TIME);
	if (signatureRule !== undefined) {
		const fault = signatureFault(signatureRule, headersOf(context), content);
		if (fault !== undefined) return refuseWrongSignature(context, fault);
	}
	// Not before the signature was verified, so that a stranger learns nothing of the credential.
	if (reference === null && statusWords?.compared !== undefined) {
		throw new UserError(NOTHING_TO_COMPARE);
	}
	const postback = readPostback(context, content, {
		isSignedByService: signatureRule !== undefined,
	});
	const match = readMatch(context, authentication, statusWords);
	const mismatch = whyNotAwaited(match, postback, reference, statusWords);
	if (mismatch !== undefined) return respondWithoutStart(context, mismatch, reference);
	return await startWith(context, postback, reference, statusWords);
}

/** The text that a person chose to respond with. */
function responseBodyOf(context: IWebhookFunctions): unknown {
	return (context.getNodeParameter('options', {}) as { responseBody?: unknown }).responseBody;
}

/** Starts the workflow with a postback. */
async function startWith(
	context: IWebhookFunctions,
	postback: Postback,
	reference: Reference | null,
	statusWords: StatusWords | undefined,
): Promise<IWebhookResponseData> {
	const item = await toPostbackItem(context, postback, reference, statusWords);
	// Nothing is awaited from here on: of the same postbacks that are under way, one gets through.
	const refused = refuseRepeat(context, item.json, reference);
	if (refused !== undefined) return refused;
	return { webhookResponse: String(responseBodyOf(context) ?? ''), workflowData: [[item]] };
}

/** Answers a postback with which the workflow was started before; undefined where it was not, or may be again. */
function refuseRepeat(
	context: IWebhookFunctions,
	json: IDataObject,
	reference: Reference | null,
): IWebhookResponseData | undefined {
	const skips = readSkipRepeats(context.getNodeParameter('options', {}));
	// A person who listens sends the same one again and again.
	if (!skips || context.getMode() === 'manual') return undefined;
	switch (claimStart(context, json)) {
		case 'first':
			return undefined;
		case 'ofUnanswered':
			return refusePostback(context, 409, 'The same postback is starting the workflow just now');
		case 'ofAnswered':
			return respondWithoutStart(context, 'it repeats one of the last ten minutes', reference);
	}
}

/** Responds to a genuine postback with which the workflow does not start. */
function respondWithoutStart(
	context: IWebhookFunctions,
	mismatch: string,
	reference: Reference | null,
): IWebhookResponseData {
	logNotAwaited(context, mismatch, reference);
	const response = responseBodyOf(context) ?? `The workflow does not go on with it: ${mismatch}`;
	return { webhookResponse: String(response) };
}

/** Starts a workflow when the service reports a charge or payment. */
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
				try {
					beginPublication(this);
					await checkTrigger(this);
					endPublication(this);
					return true;
				} catch (error) {
					throw new NodeOperationError(this.getNode(), whyNotPublished(this, error));
				}
			},
			async delete(this: IHookFunctions): Promise<boolean> {
				return true;
			},
		},
	};

	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		return await refuseOnError(this, async () => await takePostback(this));
	}
}
