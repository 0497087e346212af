import type { INodeProperties } from 'n8n-workflow';
import { InputError } from '../inputError';
import type { StatusWords } from '../parameters/description';
import { wrongField } from '../parameters/label';
import type { BodyMember } from '../parameters/member';
import type { ReadParameter } from '../parameters/parameter';
import type { Expectation } from './expectation';
import {
	parsePostbackUrl,
	postbackUrlHint,
	RESUME_SEGMENT,
	withResumeSegment,
} from './postbackUrl';
import { signUrl, withRandomProof, type Reference } from './proof';

const postbackField: INodeProperties = {
	displayName: 'Postback',
	name: 'postback',
	type: 'options',
	options: [
		{
			name: 'As Set in the Credential',
			value: 'credential',
			description:
				'Send postbacks to the Postback URL of the credential. Without one there, none are requested.',
		},
		{
			name: 'No Postback',
			value: 'none',
			description: 'Request no postback',
		},
		{
			name: 'Resume This Execution',
			value: 'resume',
			description: 'Send postbacks to a Wait for Postback operation further down this workflow',
		},
		{
			name: 'To a URL',
			value: 'url',
			description: 'Send postbacks to the URL entered below',
		},
	],
	default: 'credential',
	description: 'Where the service sends its status notifications about this item',
};

const targetFields: INodeProperties[] = [
	postbackField,
	{
		displayName: 'Postback URL',
		name: 'postbackUrl',
		type: 'string',
		default: '',
		required: true,
		placeholder: 'e.g. https://n8n.example.com/webhook/…/postback',
		displayOptions: { show: { postback: ['url'] } },
		description:
			'URL that receives the notifications, for example the Production URL of a Pay Trigger',
	},
];

/** `postbackUrl` (sections 2.1, 2.2, 6). It depends on the account, see {@link readPostbackTarget}. */
export const postbackUrl: BodyMember<'postbackUrl', undefined> = {
	name: 'postbackUrl',
	fields: targetFields,
	type: 'string',
	read: () => undefined,
};

const TARGETS: unknown[] = ['credential', 'none', 'resume', 'url'];

/** The execution that asks for a postback. */
export interface AskingExecution {
	id: string;
	resumeUrl: () => unknown;
	/** The path of its n8n's test URLs. */
	testPath?: string;
}

/** Whether a URL is this execution's own resume URL, whatever host and prefix a proxy gives it. */
function isHere(url: string, { id, resumeUrl }: AskingExecution): boolean {
	const { pathname: path, searchParams } = new URL(url);
	const pathname = path.replace(`/${id}/${RESUME_SEGMENT}`, `/${id}`);
	if (!pathname.endsWith(`/${id}`)) return false;
	const resume = new URL(String(resumeUrl()));
	const lastSegments = resume.pathname.split('/').slice(-2).join('/');
	if (!pathname.endsWith(`/${lastSegments}`)) return false;
	// n8n 2 takes no call without its token, which "?order=1" behind the resume URL breaks.
	if (searchParams.get('signature') === resume.searchParams.get('signature')) return true;
	throw new InputError(
		'postbackUrl',
		"The postback URL is this execution's resume URL without n8n's token as it was",
		'Choose "Resume This Execution" as Postback. To append parameters, begin them with &.',
	);
}

/**
 * Reads where an item's postback goes, and adds a proof to that URL: a random one where it is this
 * execution, else one made with the credential's secret, if there is one. Throws an InputError.
 * @param serviceIsLoopback whether the service is on this machine too, as a sandbox is
 * @returns no URL where no postback is requested; an expectation where this execution may wait for it
 */
export function readPostbackTarget(
	read: ReadParameter,
	reference: Reference,
	account: {
		postbackUrl?: unknown;
		postbackSecret?: string;
		statusWords?: StatusWords;
		checksSignature?: boolean;
	},
	execution: AskingExecution,
	serviceIsLoopback: boolean,
): { url?: string; hint?: string; expectation?: Expectation } {
	const { postbackSecret: secret, statusWords } = account;
	const choice = read('postback');
	if (!TARGETS.includes(choice)) {
		const what = `must be one of ${TARGETS.join(', ')}, but is ${JSON.stringify(choice)}`;
		throw wrongField(postbackField, what, 'Choose one from the list.');
	}
	if (choice === 'none') return {};
	if (choice === 'credential' && account.postbackUrl === undefined) {
		return {
			hint: 'You will not be told when this is paid: the credential has no Postback URL. Add a Pay Trigger and paste its Production URL there.',
		};
	}
	const elsewhere = choice === 'url' ? read('postbackUrl') : account.postbackUrl;
	const url = parsePostbackUrl(choice === 'resume' ? execution.resumeUrl() : elsewhere);
	const hint = postbackUrlHint(url, secret !== undefined, serviceIsLoopback, execution.testPath);
	if (choice !== 'resume' && !isHere(url, execution)) {
		return { url: secret === undefined ? url : signUrl(url, reference, secret), hint };
	}
	const { external_id } = reference;
	const signed = withRandomProof(withResumeSegment(url), reference);
	const { hash } = signed;
	const expectation: Expectation = {
		external_id,
		executionId: execution.id,
		hash,
		status: statusWords,
	};
	if (account.checksSignature) expectation.isSigned = true;
	return { url: signed.url, hint, expectation };
}
