import {
	type IHookFunctions,
	type INodeExecutionData,
	type INodeProperties,
	type IWebhookFunctions,
	type IWebhookResponseData,
	NodeOperationError,
	UserError,
} from 'n8n-workflow';
import { readPostbackSecrets } from '../account/account';
import { credentialOfTrigger } from '../account/credentials';
import { readDescription } from '../account/describe';
import type { PayCredential } from '../account/fields';
import {
	readSenderRule,
	refuseUnsignedFields,
	refuseUnsignedMatch,
	type SenderRule,
} from '../account/sender';
import { InputError, inWords } from '../base/inputError';
import { logWarning } from '../base/log';
import { additionalDataOf, isExpression } from '../base/n8n';
import {
	conditionFields,
	matchOf,
	type PostbackMatch,
	readCondition,
	refuseMisplacedCondition,
	startCondition,
} from '../fields/condition';
import {
	asTyped,
	CHOOSE_UNDER_OPTIONS,
	readChoice,
	readSwitch,
	refuseExpressions,
	readFieldByField,
} from '../fields/expressions';
import { fieldAt, wrongField } from '../fields/label';
import { isBodyUnread, BODY_UNREAD, bodyUnreadOption } from '../fields/options';
import { beginPublication, endPublication } from '../n8n1/publication';
import {
	challengeField,
	challengeOfProven,
	type ChallengeRule,
	readChallengeField,
} from '../postback/challenge';
import {
	judgeClaims,
	type JudgedPostback,
	judgePostback,
	toPostbackItems,
	whyNotAwaited,
} from '../postback/match';
import { verify } from '../postback/proof';
import { claimStarts } from '../postback/repeats';
import {
	logNotAwaited,
	logRepeat,
	refuseExpression,
	refusePostback,
	refuseWrongResponse,
	REPEATED,
	responseBodyField,
	responseCodeField,
	responseText,
} from '../postback/respond';
import { take } from '../postback/take';
import { pathOf } from '../postback/target';
import type { StatusWords } from '../service/state';

const AUTHENTICATIONS = ['none', 'sender', 'signedUrl'] as const;

const RESPONDS = ['onReceived', 'lastNode'] as const;

/** How a trigger tells genuine postbacks from forged ones. */
type Authentication = (typeof AUTHENTICATIONS)[number];

const authenticationField: INodeProperties = {
	displayName: 'Authentication',
	name: 'authentication',
	type: 'options',
	noDataExpression: true,
	options: [
		{
			name: 'Signed URL',
			value: 'signedUrl',
			description:
				'Accept only requests to URLs that a Pay node signed with the Postback Secret of the same credential',
		},
		{
			name: 'Sender',
			value: 'sender',
			description:
				"For a URL entered in the service's dashboard: accept only what passes Check the Sender in the credential",
		},
		{
			name: 'None',
			value: 'none',
			description: 'Accept every request: anyone who knows the URL can report a payment',
		},
	],
	default: 'signedUrl',
	description: 'How to tell genuine postbacks from forged ones',
};

const KINDS = ['both', 'qrCode', 'payment'] as const;

/** Which of the two the workflow is for. */
type About = (typeof KINDS)[number];

const aboutField: INodeProperties = {
	displayName: 'About',
	name: 'about',
	type: 'options',
	noDataExpression: true,
	options: [
		{
			name: 'QR Codes and Payments',
			value: 'both',
			description: 'Start on postbacks about both',
		},
		{
			name: 'QR Codes',
			value: 'qrCode',
			description: 'Start only on postbacks about QR codes: money that comes in',
		},
		{
			name: 'Payments',
			value: 'payment',
			description: 'Start only on postbacks about payments: money that goes out',
		},
	],
	default: 'both',
	displayOptions: { show: { authentication: ['signedUrl'] } },
	description:
		'What the postbacks are about that start the workflow. The signed URL says which it is. The others are answered, but start nothing.',
};

const respondField: INodeProperties = {
	displayName: 'Respond',
	name: 'respond',
	type: 'options',
	noDataExpression: true,
	options: [
		{
			name: 'Immediately',
			value: 'onReceived',
			description:
				'Before the workflow has done its work. N8n 1 responds just before it stores the postback, so a crash then loses it.',
		},
		{
			name: 'When Last Node Finishes',
			value: 'lastNode',
			description:
				'With an error if the workflow fails. By then every version of n8n has stored the postback.',
		},
	],
	default: 'onReceived',
	description: 'When to respond to a postback',
};

const COPY_URL = 'open Webhook URLs above and copy the Production URL.';
/** Published first: a service may call an address as soon as it has it. */
const PUBLISH_AND_ENTER = "publish this workflow, then enter the URL in your service's dashboard.";

const skipRepeatsField: INodeProperties = {
	displayName: 'Skip Repeats',
	name: 'skipRepeats',
	type: 'boolean',
	noDataExpression: true,
	default: false,
	description:
		'Whether the same "paid" or "failed" of a charge starts the workflow only once within ten minutes, and any other event only once. A customer\'s second payment of the same charge within ten minutes is skipped too. Each n8n process remembers only what it received itself, so check a table of your own as well.',
};

/** Options that must not be expressions, because whoever sends a request could choose what they give. */
const chosenOptions = [respondField, responseCodeField, skipRepeatsField];

/** The steps towards postbacks, for each way to tell genuine ones. */
const STEPS: Record<Authentication, string[]> = {
	signedUrl: [
		COPY_URL,
		'in the Pay API credential, paste it as Postback URL and enter a Postback Secret: 30 random characters from a password manager.',
		'publish this workflow.',
	],
	sender: [
		COPY_URL,
		'in the Pay API credential, choose under Check the Sender how the service shows that it sent a postback, and enter the External ID Field and the Amount Field.',
		PUBLISH_AND_ENTER,
	],
	none: [COPY_URL, PUBLISH_AND_ENTER],
};

const urlNotices = AUTHENTICATIONS.map((authentication): INodeProperties => {
	const steps = STEPS[authentication].map((step, index) => `<li>Step ${index + 1}: ${step}</li>`);
	return {
		// A list: n8n 2 drops every other tag from a notice, line breaks too.
		displayName: `To get postbacks:<ul>${steps.join('')}</ul>The Test URL works only while the editor listens.`,
		name: `${authentication}UrlNotice`,
		type: 'notice',
		default: '',
		displayOptions: { show: { authentication: [authentication] } },
	};
});

const triggerFields: INodeProperties[] = [
	...urlNotices,
	authenticationField,
	{
		displayName:
			'Anyone who learns this URL can post "paid" to it. Check every amount and status with the service before you deliver anything.',
		name: 'noAuthenticationNotice',
		type: 'notice',
		default: '',
		displayOptions: { show: { authentication: ['none'] } },
	},
	{
		displayName:
			'The URL does not say which charge a postback is about. What the postback itself says is under "claimed": compare its External ID and amount with your own order before you deliver.',
		name: 'claimedNotice',
		type: 'notice',
		default: '',
		displayOptions: { show: { authentication: ['sender'] } },
	},
	aboutField,
	...conditionFields(startCondition),
	{
		displayName:
			'Without authentication there is no credential, so nothing says which words mean paid and failed. Choose When a Field Has a Value.',
		name: 'noWordsNotice',
		type: 'notice',
		default: '',
		displayOptions: { show: { authentication: ['none'], startWhen: ['paid', 'paidOrFailed'] } },
	},
	{
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add Option',
		// A literal, because n8n's lint rule for collections takes nothing else.
		default: { ...BODY_UNREAD },
		options: [
			bodyUnreadOption,
			skipRepeatsField,
			respondField,
			responseCodeField,
			{
				...responseBodyField,
				displayOptions: { hide: { '/options.respond': ['lastNode'] } },
			},
			challengeField,
		],
	},
];

/** Refuses a time to respond that n8n does not know. */
export function refuseWrongTime(options: unknown): void {
	const { respond = 'onReceived' } = (options ?? {}) as { respond?: unknown };
	readChoice(respond, respondField, RESPONDS, CHOOSE_UNDER_OPTIONS);
}

function readSkipRepeats(options: unknown): boolean {
	const { skipRepeats = false } = (options ?? {}) as { skipRepeats?: unknown };
	return readSwitch(skipRepeats, skipRepeatsField);
}

/** The parameters of the Pay Trigger. */
export const triggerProperties = triggerFields.flatMap(asTyped);

const NO_SECRET =
	'Postbacks could not be verified. Enter 30 random characters as Postback Secret in the Pay API credential of this trigger, the same ones as in the credential of the Pay nodes';

const NO_SENDER =
	'"Check the Sender" is set to None in the Pay API credential of this trigger. Choose there how the service shows that it sent a postback';

/** What a trigger checks postbacks with. */
interface TriggerSettings {
	authentication: Authentication;
	about: About;
	/** The secret that signs URLs; "" where the credential has none, or the trigger has no credential. */
	secret: string;
	/** All secrets whose proofs are accepted: the previous one too, while it is being replaced. */
	acceptedSecrets: string[];
	sender: SenderRule | undefined;
	/** The words of the account, if it has any. */
	statusWords: StatusWords | undefined;
	/** What a postback must hold to start the workflow; undefined where any will do. */
	match: PostbackMatch | undefined;
	challenge: ChallengeRule | undefined;
}

const WHERE_WORDS_BELONG: Record<Authentication, string> = {
	signedUrl: 'Open the credential of this trigger.',
	sender: 'Open the credential of this trigger.',
	none: 'Set Authentication to Signed URL or Sender, because otherwise this trigger has no credential.',
};

/** The error where n8n does not give the credential: it is gone, or an expression in it needs an item. */
function unreadableCredential(error: unknown): Error {
	if (error instanceof InputError) return error;
	return new UserError(
		`The Pay API credential of this trigger cannot be read (${inWords(error)}). Select another one, or replace the expressions in it with text, because a trigger has no item yet`,
	);
}

/** Reads how a challenge is told from a postback; undefined where none is answered. */
function readChallenge(
	typedOptions: unknown,
	authentication: Authentication,
	words: StatusWords | undefined,
): ChallengeRule | undefined {
	const field = readChallengeField(typedOptions);
	if (field === undefined) return undefined;
	// Without authentication nothing says which postbacks are about money, so the person's choice of a field counts.
	if (authentication === 'none' || words !== undefined) return { field, words };
	throw wrongField(
		challengeField,
		'needs the Status Field of the Pay API credential, because without it a postback could be mistaken for a challenge',
		'In the credential of this trigger, under Describe the Service, enter the Status Field and the Paid Values.',
	);
}

/**
 * Reads a parameter that only a person may choose. Throws an InputError for an expression, whatever it gives: n8n
 * resolves it for each request, so who sends a request could choose "none" as Authentication.
 */
function readChosen(context: IHookFunctions | IWebhookFunctions, name: string): unknown {
	const typed = context.getNode().parameters[name];
	if (![typed].flat().some(isExpression)) return context.getNodeParameter(name);
	throw wrongField(
		fieldAt(triggerProperties, name),
		'is an expression, so whoever sends a request could choose it',
		'Choose it from the list or enter it as text, without an expression.',
	);
}

/**
 * Reads what a trigger checks postbacks with, when it is published and again at each call, because somebody may have
 * changed the credential since. Rejects with an error in words where the form or the credential cannot be used.
 */
async function readSettings(context: IHookFunctions | IWebhookFunctions): Promise<TriggerSettings> {
	const { parameters } = context.getNode();
	const read = (name: string) => readChosen(context, name);
	const authentication = readChoice(read('authentication'), authenticationField, AUTHENTICATIONS);
	const credential: PayCredential =
		authentication === 'none'
			? {}
			: await credentialOfTrigger(context).catch((error: unknown) => {
					throw unreadableCredential(error);
				});
	const { current, accepted } = readPostbackSecrets(credential);
	if (authentication === 'signedUrl' && accepted.length === 0) throw new UserError(NO_SECRET);
	const sender = readSenderRule(credential);
	if (authentication === 'sender' && sender === undefined) {
		throw new UserError(NO_SENDER);
	}
	const { statusWords } = readDescription(credential);
	refuseUnsignedFields(credential, statusWords);
	refuseMisplacedCondition(parameters, 'startWhen');
	const condition = readCondition(read, startCondition);
	const match = matchOf(condition, statusWords, 'startWhen', WHERE_WORDS_BELONG[authentication]);
	refuseUnsignedMatch(match, sender);
	// Only a proof says which kind it is. n8n gives no value of a field that the form hides.
	const about =
		authentication === 'signedUrl' ? readChoice(read('about'), aboutField, KINDS) : 'both';
	return {
		authentication,
		about,
		secret: current,
		acceptedSecrets: accepted,
		sender,
		statusWords,
		match,
		challenge: readChallenge(parameters.options, authentication, statusWords),
	};
}

const BODY_IS_READ =
	'Pay Trigger: the JSON of this node has "options" without "binaryData": true, so n8n reads postbacks before the node does, and responds with 422 to charsets such as ISO-8859-1. To accept those too, add it there, or delete the node and add it again';

/** Checks all that would make every postback fail, before n8n listens. Rejects with an error in words. */
async function checkTrigger(context: IHookFunctions): Promise<void> {
	readFieldByField(triggerProperties, context.getNode().parameters);
	const { options: typedOptions } = context.getNode().parameters;
	// Before n8n resolves them, because its own error about an expression names neither field nor remedy.
	refuseExpression(typedOptions, responseBodyField);
	readChallengeField(typedOptions);
	// When n8n responds, it takes an expression in Options for a text, and each postback would get 500.
	refuseExpressions(chosenOptions, typedOptions);
	const options = context.getNodeParameter('options', {});
	if (!isBodyUnread(options)) logWarning(context, BODY_IS_READ);
	refuseWrongTime(options);
	refuseWrongResponse(typedOptions, options);
	readSkipRepeats(options);
	const { authentication, secret } = await readSettings(context);
	if (authentication === 'signedUrl' && secret === '') throw new UserError(NO_SECRET);
}

/**
 * The error of a refused publication, as n8n shows it. It names the credential, because people have several and n8n
 * fills in one of them. It also says that no postback is accepted now: n8n has stopped the trigger that listened.
 */
function publicationError(context: IHookFunctions, error: unknown): NodeOperationError {
	const node = context.getNode();
	const why = inWords(error);
	const sentences = [why.endsWith('.') ? why : `${why}.`];
	const credential = node.credentials?.payApi;
	if (credential !== undefined && node.parameters.authentication !== 'none') {
		sentences.push(`This trigger uses the credential "${credential.name}".`);
	}
	if (context.getActivationMode() !== 'manual') {
		const url = context.getNodeWebhookUrl('default');
		sentences.push(`Until this workflow is published, no postback to ${url} is accepted.`);
	}
	return new NodeOperationError(node, sentences.join(' '));
}

/** Checks a trigger before n8n listens. Rejects with n8n's error where a postback could not be taken. */
export async function publish(context: IHookFunctions): Promise<void> {
	try {
		beginPublication(context);
		await checkTrigger(context);
		endPublication(context);
	} catch (error) {
		throw publicationError(context, error);
	}
}

/** How long the body of a postback may take, in milliseconds. Long, because nothing grows old meanwhile. */
const BODY_TIME_OF_TRIGGER = 60_000;

/**
 * Takes a call to the trigger's address. Throws where the trigger or its credential cannot be read, or lacks
 * what the trigger checks with. That is not the sender's fault, and the service sends again after a 500. The
 * log says why, the response does not.
 */
export async function receive(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const { authentication, about, acceptedSecrets, sender, statusWords, match, challenge } =
		await readSettings(context);
	const query = context.getQueryData() as Record<string, unknown>;
	const taken = await take(context, verify(query, acceptedSecrets), {
		needsProof: authentication === 'signedUrl',
		bodyTime: BODY_TIME_OF_TRIGGER,
		sender,
		path: pathOf(urlGivenOut(context)),
		statusWords,
		match,
		challenge,
	});
	if ('noWebhookResponse' in taken) return taken;
	// The URL proves no charge, so each entry is judged by the charge that it names itself.
	const isClaimed = authentication === 'sender' && taken.reference === null;
	const { claims, faults } = isClaimed
		? judgeClaims(taken, statusWords)
		: { claims: [judgePostback(taken, statusWords)], faults: [] };
	const awaited: JudgedPostback[] = [];
	const reasons = new Set(faults);
	for (const claim of claims) {
		const mismatch = whyOtherKind(about, claim) ?? whyNotAwaited(match, claim);
		if (mismatch === undefined) awaited.push(claim);
		else reasons.add(mismatch);
	}
	for (const reason of reasons) logNotAwaited(context, reason, taken);
	const items = toPostbackItems(awaited);
	const [firstReason] = reasons;
	const webhookResponse =
		challengeOfProven(context, challenge, taken.sources) ??
		responseText(context, items.length === 0 ? notStartedBecause(firstReason) : undefined);
	if (items.length === 0) return { webhookResponse };
	return startWith(context, items, webhookResponse);
}

/** Why the workflow is not for the kind that is proven, in words; undefined where it is. */
function whyOtherKind(about: About, { reference }: JudgedPostback): string | undefined {
	if (about === 'both' || reference?.kind === about) return undefined;
	const wanted = about === 'qrCode' ? 'QR Codes' : 'Payments';
	return `it is about another kind, and the trigger has About set to ${wanted}`;
}

/** The URL that was called. While the editor listens, that is the Test URL, which n8n 1 does not tell a node. */
function urlGivenOut(context: IWebhookFunctions): string {
	const url = context.getNodeWebhookUrl('default') ?? '';
	const additionalData = additionalDataOf(context);
	if (context.getMode() !== 'manual' || additionalData === undefined) return url;
	const { webhookBaseUrl, webhookTestBaseUrl } = additionalData;
	return webhookTestBaseUrl + url.slice(webhookBaseUrl.length);
}

/** The response to a genuine postback that does not start the workflow. */
const notStartedBecause = (why: string | undefined) =>
	`This postback does not start the workflow: ${why}`;

/**
 * Starts the workflow with all items or, under Skip Repeats, with those that have not started it yet. Nothing may be
 * awaited here, so that of several repeats at the same moment only one gets through.
 */
function startWith(
	context: IWebhookFunctions,
	items: INodeExecutionData[],
	webhookResponse: string,
): IWebhookResponseData {
	const skipsRepeats = readSkipRepeats(context.getNodeParameter('options', {}));
	// Somebody who builds a workflow sends the same postback again and again.
	if (!skipsRepeats || context.getMode() === 'manual') {
		return { webhookResponse, workflowData: [items] };
	}
	const areFirst = claimStarts(
		context,
		items.map(({ json }) => json),
	);
	if (areFirst === undefined) {
		return refusePostback(context, 409, 'The same postback is already starting the workflow');
	}
	const first = items.filter((_, entry) => areFirst[entry]);
	for (const item of items) {
		if (!first.includes(item)) logRepeat(context, item.json);
	}
	if (first.length > 0) return { webhookResponse, workflowData: [first] };
	return { webhookResponse: webhookResponse || notStartedBecause(REPEATED) };
}
