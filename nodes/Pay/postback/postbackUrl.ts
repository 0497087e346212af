import type { IExecuteFunctions, IWorkflowExecuteAdditionalData } from 'n8n-workflow';
import { isLoopback } from '../loopback';
import { wrongField } from '../parameters/label';
import { refuseTypedExpression } from '../parameters/text';
import { PROOF_PARAMETER } from './proof';

/** Errors do not say in which form it stands: the node and the credential both have such a field. */
const FIELD = { name: 'postbackUrl', displayName: 'Postback URL', called: 'The postback URL' };

const ADVICE =
	'Use the Production URL of a Pay Trigger, or another address that starts with https://.';

const wrongUrl = (what: string, advice = ADVICE) => wrongField(FIELD, what, advice);

/** Reads a postback URL (sections 2.1 and 2.2), which is sent as it was written; throws an InputError. */
export function parsePostbackUrl(value: unknown): string {
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
			`already holds ${PROOF_PARAMETER}, which this node adds itself`,
			"Use the trigger's plain Production URL.",
		);
	}
	return text;
}

/**
 * What a resume URL that the service is given ends in. n8n's own Wait and forms of the execution listen
 * without it: a repeated "paid" would be their approval.
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

/** The path of this n8n's test URLs, which N8N_ENDPOINT_WEBHOOK_TEST renames. */
export function testPathOf(context: Pick<IExecuteFunctions, 'getNode'>): string {
	const { additionalData } = context as { additionalData?: IWorkflowExecuteAdditionalData };
	const address = additionalData?.webhookTestBaseUrl ?? '';
	return URL.canParse(address) ? new URL(address).pathname : TEST_PATH;
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
		return 'The postback URL goes out unsigned, because the Pay API credential has no Postback Secret. A Pay Trigger whose Authentication is Signed URL refuses unsigned postbacks.';
	}
	return undefined;
}
