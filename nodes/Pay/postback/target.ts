import type { INodeProperties } from 'n8n-workflow';
import { InputError } from '../inputError';
import type { StatusWords } from '../service/postbackState';
import { parseChoice, type ReadParameter } from '../parameters/parameter';
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

/** The fields of `postbackUrl` (sections 2.1, 2.2, 6), which {@link readPostbackTarget} reads. */
export const postbackFields: INodeProperties[] = [
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

const TARGETS = ['credential', 'none', 'resume', 'url'] as const;

/** The execution that asks for a postback. */
export interface AskingExecution {
	/** Undefined where n8n runs a node outside of any execution. */
	id: string | undefined;
	resumeUrl: () => unknown;
	/** The random proof for the postback of an item: the same one for each try of it. */
	proofFor: (item: number, reference: Reference) => string;
	/** The path of its n8n's test URLs. */
	testPath?: string;
}

/**
 * Whether a URL is this execution's own resume URL, whatever host and prefix a proxy gives it. Throws an
 * InputError where it is, without n8n's token.
 */
function isOwnResumeUrl(url: string, id: string, { resumeUrl }: AskingExecution): boolean {
	const { pathname, searchParams } = new URL(url);
	const path = pathname.replace(`/${id}/${RESUME_SEGMENT}`, `/${id}`);
	if (!path.endsWith(`/${id}`)) return false;
	const resume = new URL(String(resumeUrl()));
	const lastSegments = resume.pathname.split('/').slice(-2).join('/');
	if (!path.endsWith(`/${lastSegments}`)) return false;
	// n8n 2 takes no call without its token, which "?order=1" behind the resume URL breaks.
	if (searchParams.get('signature') === resume.searchParams.get('signature')) return true;
	throw new InputError(
		'postbackUrl',
		"The postback URL is this execution's resume URL without n8n's token as it was",
		'Choose "Resume This Execution" as Postback. To append parameters, begin them with &.',
	);
}

/** What an account says of postbacks. */
interface PostbackAccount {
	postbackUrl?: unknown;
	postbackSecret?: string;
	statusWords?: StatusWords;
	checksSender?: boolean;
}

/** A postback that comes to this execution: its URL has a random proof, whose hash the execution keeps. */
function targetHere(
	url: string,
	reference: Reference,
	{ statusWords, checksSender }: PostbackAccount,
	id: string,
	{ proofFor }: AskingExecution,
	item: number,
): { url: string; expectation: Expectation } {
	const proven = withRandomProof(withResumeSegment(url), proofFor(item, reference));
	const expectation: Expectation = {
		external_id: reference.external_id,
		kind: reference.kind,
		amount: reference.amount,
		executionId: id,
		hash: proven.hash,
		status: statusWords,
	};
	if (checksSender) expectation.isSigned = true;
	return { url: proven.url, expectation };
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
	account: PostbackAccount,
	execution: AskingExecution,
	serviceIsLoopback: boolean,
	item: number,
): { url?: string; hint?: string; expectation?: Expectation } {
	const { postbackSecret: secret } = account;
	const choice = parseChoice(read('postback'), postbackField, TARGETS);
	if (choice === 'none') return {};
	if (choice === 'credential' && account.postbackUrl === undefined) {
		return {
			hint: "You will not be told what becomes of this: the credential has no Postback URL. Add a Pay Trigger and paste its Production URL there. If you entered that URL in your service's dashboard instead, choose No Postback.",
		};
	}
	const url = parsePostbackUrl(urlFor(choice, read, account, execution));
	const hint = postbackUrlHint(url, secret !== undefined, serviceIsLoopback, execution.testPath);
	const { id } = execution;
	if (id !== undefined && (choice === 'resume' || isOwnResumeUrl(url, id, execution))) {
		const here = targetHere(url, reference, account, id, execution, item);
		return { url: here.url, hint, expectation: here.expectation };
	}
	return { url: secret === undefined ? url : signUrl(url, reference, secret), hint };
}

/** A postback to an execution where there is none, as in n8n's own Agents. */
const nothingToResume = () =>
	new InputError(
		'postback',
		'There is no execution here that a postback could resume',
		'Choose another Postback, such as the address of a Pay Trigger.',
	);

/** The URL that a choice stands for, as it was entered. Throws an InputError. */
function urlFor(
	choice: 'credential' | 'resume' | 'url',
	read: ReadParameter,
	account: PostbackAccount,
	execution: AskingExecution,
): unknown {
	switch (choice) {
		case 'credential':
			return account.postbackUrl;
		case 'resume':
			if (execution.id === undefined) throw nothingToResume();
			return execution.resumeUrl();
		case 'url':
			return read('postbackUrl');
	}
}
