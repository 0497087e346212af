import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';
import { InputError } from '../base/inputError';
import { isLoopback } from '../base/loopback';
import { additionalDataOf } from '../base/n8n';
import { readChoice, type ReadParameter } from '../fields/expressions';
import { wrongField } from '../fields/label';
import { refuseTypedExpression } from '../fields/text';
import type { StatusWords } from '../service/state';
import { PROOF_PARAMETER, type Reference, signUrl, withRandomProof } from './proof';
import type { Expectation } from './waiting';

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
 * Recognizes this execution's own resume URL, whatever host and prefix a proxy gives it. Of execution 42, whose URL is
 * https://n8n.example.com/webhook-waiting/42?signature=ab, it is https://pay.example.com/n8n/webhook-waiting/42?signature=ab
 * too, and each of them with /pay-postback behind the 42. It is not .../webhook/42 or .../webhook-waiting/43.
 * Throws an InputError where it is, and n8n's token is missing.
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
		"The postback URL is this execution's resume URL, but n8n's token in it is missing or was changed",
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
		is: 'request',
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
	const choice = readChoice(read('postback'), postbackField, TARGETS);
	if (choice === 'none') return {};
	if (choice === 'credential' && account.postbackUrl === undefined) {
		return {
			hint: "You will not be told what becomes of this: the credential has no Postback URL. Add a Pay Trigger and paste its Production URL there. If you entered that URL in your service's dashboard instead, choose No Postback.",
		};
	}
	const url = readPostbackUrl(urlFor(choice, read, account, execution));
	const hint = postbackUrlHint(url, secret !== undefined, serviceIsLoopback, execution.testPath);
	const { id } = execution;
	if (id !== undefined && (choice === 'resume' || isOwnResumeUrl(url, id, execution))) {
		const here = targetHere(url, reference, account, id, execution, item);
		return { url: here.url, hint, expectation: here.expectation };
	}
	return { url: secret === undefined ? url : signUrl(url, reference, secret), hint };
}

/** The error where there is no execution, as in n8n's own Agents. */
const nothingToResume = () =>
	new InputError(
		'postback',
		'There is no execution here that a postback could resume',
		'Choose another Postback, such as the address of a Pay Trigger.',
	);

/** The URL that was chosen, as it was entered. */
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

/** Errors do not say which form it is in: the node and the credential both have such a field. */
const FIELD = { name: 'postbackUrl', displayName: 'Postback URL', called: 'The postback URL' };

const ADVICE =
	'Use the Production URL of a Pay Trigger, or another address that starts with https://.';

const wrongUrl = (what: string, advice = ADVICE) => wrongField(FIELD, what, advice);

/** Reads a postback URL (sections 2.1 and 2.2), which is sent as it was written. */
export function readPostbackUrl(value: unknown): string {
	const text = typeof value === 'string' ? value.trim() : '';
	if (text === '') throw wrongUrl('is empty');
	refuseTypedExpression(text, FIELD);
	if (!URL.canParse(text)) {
		// Without its query, where n8n's own token stands in a resume URL.
		const [shown = ''] = text.split('?');
		throw wrongUrl(`must be an absolute URL: ${JSON.stringify(shown.slice(0, 200))}`);
	}
	const { protocol, searchParams } = new URL(text);
	if (protocol !== 'https:' && protocol !== 'http:') {
		throw wrongUrl(`must start with https:// or http://, but starts with "${protocol}"`);
	}
	if (searchParams.has(PROOF_PARAMETER)) {
		throw wrongUrl(
			`already contains ${PROOF_PARAMETER}, which this node adds itself`,
			"Use the trigger's plain Production URL.",
		);
	}
	return text;
}

/**
 * The end of a resume URL that the service is given. n8n's own Wait nodes and forms listen without it, where a
 * repeated "paid" would count as their approval.
 */
export const RESUME_SEGMENT = 'pay-postback';

/**
 * Appends {@link RESUME_SEGMENT} to a resume URL's path, once. The rest is left byte for byte, as
 * "URL" would not leave it.
 */
export function withResumeSegment(url: string): string {
	const [address = ''] = url.split(/[?#]/, 1);
	if (new URL(address).pathname.endsWith(`/${RESUME_SEGMENT}`)) return url;
	const rest = url.slice(address.length);
	return `${address.replace(/\/$/, '')}/${RESUME_SEGMENT}${rest}`;
}

/** Hosts that only this machine or its network can reach: by name, or by how the name or address begins. */
const PRIVATE_HOSTS = ['localhost', '0.0.0.0', '[::]', '[::1]'];
const PRIVATE_DOMAINS = ['.localhost', '.local', '.internal'];
/** RFC 1918, 3927, 4193 and 4291; those from 172.16. to 172.31. are checked by their number. */
const PRIVATE_BEGINNINGS = [
	'127.',
	'10.',
	'192.168.',
	'169.254.',
	'[fc',
	'[fd',
	'[fe8',
	'[fe9',
	'[fea',
	'[feb',
];

/** @param hostname as URL gives it: in lower case, an IPv6 address in brackets */
function isPrivate(hostname: string): boolean {
	if (PRIVATE_HOSTS.includes(hostname)) return true;
	if (PRIVATE_DOMAINS.some((domain) => hostname.endsWith(domain))) return true;
	if (PRIVATE_BEGINNINGS.some((beginning) => hostname.startsWith(beginning))) return true;
	const [first, second] = hostname.split('.');
	return first === '172' && Number(second) >= 16 && Number(second) <= 31;
}

const TEST_PATH = '/webhook-test';

/** The path of a URL; "" where it is none. */
export const pathOf = (url: string) => (URL.canParse(url) ? new URL(url).pathname : '');

/** The path of this n8n's test URLs, which N8N_ENDPOINT_WEBHOOK_TEST renames. */
export function testPathOf(context: Pick<IExecuteFunctions, 'getNode'>): string {
	return pathOf(additionalDataOf(context)?.webhookTestBaseUrl ?? '') || TEST_PATH;
}

/**
 * Why a valid postback URL will probably not work, in words for the editor, or undefined.
 * @param hasProof whether a proof is added to it
 */
export function postbackUrlHint(
	url: string,
	hasProof: boolean,
	serviceIsLoopback = false,
	testPath = TEST_PATH,
): string | undefined {
	const { hostname, pathname } = new URL(url);
	if (pathname.includes(`${TEST_PATH}/`) || pathname.startsWith(`${testPath}/`)) {
		return 'The postback URL is a test URL: it works only while the editor is listening. For postbacks that arrive later, publish the workflow and use the Production URL.';
	}
	if (isPrivate(hostname) && !(serviceIsLoopback && isLoopback(hostname))) {
		return `The postback URL points to ${hostname}, which only this machine or its own network can reach. A service on the internet cannot deliver postbacks there.`;
	}
	if (!hasProof && /\/webhook\/[^/]+\/postback\/?$/.test(pathname)) {
		return 'The postback URL is not signed, because the Pay API credential has no Postback Secret. A Pay Trigger whose Authentication is Signed URL refuses unsigned postbacks.';
	}
	return undefined;
}
