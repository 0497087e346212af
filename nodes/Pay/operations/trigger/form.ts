import type { INodeProperties } from 'n8n-workflow';
import { conditionFields, startCondition } from '../../parameters/condition';
import { LEAVE_BODY, leaveBodyOption } from '../../parameters/leaveBody';
import { wrongField } from '../../parameters/label';
import {
	asTyped,
	CHOOSE_UNDER_OPTIONS,
	parseChoice,
	parseSwitch,
} from '../../parameters/parameter';
import { challengeField } from '../../postback/challenge';
import { responseBodyField, responseCodeField } from '../../postback/response';

const AUTHENTICATIONS = ['none', 'sender', 'signedUrl'] as const;

const RESPONDS = ['onReceived', 'lastNode'] as const;

/** How a trigger tells genuine postbacks from forged ones. */
export type Authentication = (typeof AUTHENTICATIONS)[number];

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
				'Take only requests to URLs that a Pay node signed with the Postback Secret of the same credential',
		},
		{
			name: 'Sender',
			value: 'sender',
			description:
				"For a URL that you enter in the service's dashboard: take only what passes Check the Sender of the credential",
		},
		{
			name: 'None',
			value: 'none',
			description: 'Take every request: anyone who knows the URL can report a payment',
		},
	],
	default: 'signedUrl',
	description: 'How to tell genuine postbacks from forged ones',
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
		'Whether the same "paid" or "failed" of a charge starts the workflow once within ten minutes, and anything else once for each event. A customer\'s second payment of the same charge within ten minutes is skipped too. Each process of n8n remembers its own, so look into a table of your own as well.',
};

/** The options that n8n, or who sends a request, must not read as an expression. */
export const chosenOptions = [respondField, responseCodeField, skipRepeatsField];

/** What to do for postbacks, which depends on how genuine ones are told. */
const STEPS: Record<Authentication, string[]> = {
	signedUrl: [
		COPY_URL,
		'in the Pay API credential, paste it as Postback URL and enter a Postback Secret: 30 random characters from a password manager.',
		'publish this workflow.',
	],
	sender: [
		COPY_URL,
		'in the Pay API credential, say in Check the Sender how the service shows that it sent something, and enter the External ID Field and the Amount Field.',
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
			'The URL does not say which charge a postback is about. What the postback says is in "claimed": compare its External ID and amount with your own order before you deliver.',
		name: 'claimedNotice',
		type: 'notice',
		default: '',
		displayOptions: { show: { authentication: ['sender'] } },
	},
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
		default: { ...LEAVE_BODY },
		options: [
			leaveBodyOption,
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

/**
 * Reads the field Authentication. Throws an InputError, for any expression too: n8n resolves it for each
 * request, so who sends a request could choose "none".
 */
export function readAuthentication(typed: unknown, value: unknown): Authentication {
	if (typeof typed === 'string' && typed.startsWith('=')) {
		throw wrongField(
			authenticationField,
			'is an expression, so a request could choose it',
			'Choose it from the list, without an expression.',
		);
	}
	return parseChoice(value, authenticationField, AUTHENTICATIONS);
}

/** Refuses a time to respond that n8n does not know. Throws an InputError. */
export function refuseWrongTime(options: unknown): void {
	const { respond = 'onReceived' } = (options ?? {}) as { respond?: unknown };
	parseChoice(respond, respondField, RESPONDS, CHOOSE_UNDER_OPTIONS);
}

/** Reads the option {@link skipRepeatsField}; throws an InputError. */
export function readSkipRepeats(options: unknown): boolean {
	const { skipRepeats = false } = (options ?? {}) as { skipRepeats?: unknown };
	return parseSwitch(skipRepeats, skipRepeatsField);
}

/** The parameters of the Pay Trigger. */
export const triggerProperties = triggerFields.flatMap(asTyped);
