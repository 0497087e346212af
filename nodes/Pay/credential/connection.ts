import type { IExecuteFunctions } from 'n8n-workflow';
import { InputError } from '../inputError';
import { noPostbackSecret, parseSecrets } from '../parameters/postbackSecret';
import { parseBaseUrl, parseSchemeName, parseServiceUrl } from './baseUrl';

/** The credential's fields as n8n hands them over, expressions resolved. */
export type PayCredential = {
	baseUrl?: string;
	schemeName?: string;
	authentication?: string;
	accessToken?: string;
	tokenUrl?: string;
	clientId?: string;
	clientSecret?: string;
	scope?: string;
	clientAuthentication?: string;
	externalIdHeader?: string;
	postbackUrl?: string;
	postbackSecret?: string;
	previousPostbackSecret?: string;
	allowHttp?: boolean;
};

/** How a client proves who it is to a token endpoint (RFC 6749, section 4.4). */
export interface ClientCredentials {
	tokenUrl: string;
	clientId: string;
	clientSecret: string;
	scope: string;
	sendIn: 'header' | 'body';
}

/** A checked credential: where requests go, and in whose name. */
export interface Account {
	baseUrl: string;
	schemeName: string;
	/** A token as it was pasted, or how to get one. */
	token: { pasted: string } | { clientCredentials: ClientCredentials };
	/** The header that carries a request's external_id too. */
	externalIdHeader?: string;
	/** Not yet checked: only items that ask for it need it. */
	postbackUrl?: string;
	postbackSecret?: string;
}

const invalid = (field: string, label: string, what: string, advice: string) =>
	new InputError(
		field,
		`${label} of the Pay API credential ${what}`,
		`Open the credential and ${advice}.`,
	);

const FROM_LIST = 'choose one from the list';

/** Visible ASCII without a space, which is what a header can carry (RFC 6750, section 2.1). */
export const TOKEN = /^[\x21-\x7e]+$/;

function parsePastedToken(value: unknown): string {
	const token = String(value ?? '')
		.trim()
		.replace(/^Bearer(\s+|$)/i, '');
	if (TOKEN.test(token)) return token;
	const isEmpty = token === '';
	const what = isEmpty ? 'is empty' : 'holds a space or a character that no token has';
	const advice = isEmpty ? 'paste the token' : 'paste the token alone';
	throw invalid('accessToken', 'The Access Token', what, advice);
}

function required(value: unknown, field: string, label: string): string {
	// An expression may give a number.
	const text = ['string', 'number'].includes(typeof value) ? String(value).trim() : '';
	if (text !== '') return text;
	throw invalid(field, `The ${label}`, 'is empty', 'enter what the service gave you');
}

function parseClientCredentials(credential: PayCredential): ClientCredentials {
	const { clientAuthentication: sendIn = 'header' } = credential;
	if (sendIn !== 'header' && sendIn !== 'body') {
		const what = 'must be header or body';
		throw invalid('clientAuthentication', 'Client Authentication', what, FROM_LIST);
	}
	const allowHttp = credential.allowHttp === true;
	return {
		tokenUrl: parseServiceUrl(credential.tokenUrl, 'tokenUrl', 'Token URL', allowHttp).href,
		clientId: required(credential.clientId, 'clientId', 'Client ID'),
		clientSecret: required(credential.clientSecret, 'clientSecret', 'Client Secret'),
		scope: String(credential.scope ?? '').trim(),
		sendIn,
	};
}

function parseToken(credential: PayCredential): Account['token'] {
	const { authentication = 'accessToken' } = credential;
	if (authentication === 'accessToken') return { pasted: parsePastedToken(credential.accessToken) };
	if (authentication === 'clientCredentials') {
		return { clientCredentials: parseClientCredentials(credential) };
	}
	const what = 'must be accessToken or clientCredentials';
	throw invalid('authentication', 'Authentication', what, FROM_LIST);
}

/** Headers that say something else already: to HTTP, to proxies, or in each of our requests. */
const TAKEN =
	/^(accept.*|authorization|connection|content-.*|cookie2?|date|expect|forwarded|host|http2-settings|if-.*|keep-alive|origin|pragma|prefer|proxy-.*|range|referer|te|trailer|transfer-encoding|upgrade|user-agent|via|warning|x-forwarded-.*|x-http-method.*)$/i;

/** The name of a header (RFC 9110, section 5.6.2). */
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;

function parseExternalIdHeader(value: unknown): string | undefined {
	const name = String(value ?? '').trim();
	if (name === '') return undefined;
	const what = !HEADER_NAME.test(name)
		? 'must be the name of a header, without a colon or spaces'
		: TAKEN.test(name)
			? `must not be ${name}, which has another meaning`
			: undefined;
	if (what === undefined) return name;
	const advice =
		'enter the name that the service gave you, such as Idempotency-Key, or leave it empty';
	throw invalid('externalIdHeader', 'The Header for the External ID', what, advice);
}

/**
 * Checks that the account's header can carry an external_id: HTTP has no letters beyond ASCII there.
 * @throws InputError
 */
export function checkHeaderValue({ externalIdHeader }: Account, external_id: string): void {
	if (externalIdHeader === undefined || /^[\x20-\x7e]+$/.test(external_id)) return;
	throw new InputError(
		'external_id',
		`"${external_id}" cannot be sent in the header ${externalIdHeader}, which takes only plain letters, digits and signs (ASCII)`,
		'Use another External ID, or empty Header for the External ID in the Pay API credential.',
	);
}

/**
 * Checks a credential before any request (section 5: the bearer token is mandatory).
 * @throws InputError; never with a token or secret in the message
 */
export function readAccount(credential: PayCredential): Account {
	const schemeName = parseSchemeName(credential.schemeName);
	const { current, taken } = parseSecrets(credential);
	// Postbacks would go out unsigned, and be refused for it.
	if (current === '' && taken.length > 0) throw noPostbackSecret();
	return {
		baseUrl: parseBaseUrl(credential.baseUrl, credential.allowHttp === true, schemeName),
		schemeName,
		token: parseToken(credential),
		externalIdHeader: parseExternalIdHeader(credential.externalIdHeader),
		postbackUrl: credential.postbackUrl || undefined,
		postbackSecret: current || undefined,
	};
}

/*
 * Whose account an item is sent with. n8n resolves a credential for each item, in 2.2 to 6.6 ms, which
 * is most of what an item costs. So a credential that cannot depend on the item is resolved once.
 *
 * Why no item can be sent with another item's account:
 * 1. Resolving for each item is always right, and is what happens unless all of 2, 3 and 4 say no.
 * 2. The fields are looked at as they were typed. n8n gives them by a function that nodes are not
 *    promised: where it is missing, throws or gives nothing, each item's credential is resolved.
 * 3. A field may depend on the item unless it is no expression, or one in which nothing is left that
 *    could name anything: no `$` but those of SAME_FOR_ALL, no backslash, no `this`, no `random`.
 *    n8n's own names all begin with `$`, and JavaScript's other globals know no item.
 * 4. Should a later n8n give something else than what was typed, the first item's credential must
 *    also be the same as that of an index with no item. Most that depend on the item differ there.
 * A mistake in 2 to 4 that says "may depend" costs time, never the account.
 */

/** What an expression may name that is the same for every item of a run. */
const SAME_FOR_ALL = /\$(vars|secrets|now|today|env|execution|workflow)\b/g;

/** Whether a value of a credential, as it was typed, may come out differently for another item. */
export function mayDependOnItem(typed: unknown): boolean {
	if (typeof typed !== 'string' || !typed.startsWith('=')) return false;
	return /[$\\]|\bthis\b|\brandom\b/.test(typed.replace(SAME_FOR_ALL, ''));
}

type AccountContext = Pick<
	IExecuteFunctions,
	'getCredentials' | 'getInputData' | 'getNode' | 'getMode'
>;

/** n8n's credential as it was typed; the last argument says "raw", that is, unresolved. */
type GetDecrypted = (...args: unknown[]) => Promise<Record<string, unknown>>;

/**
 * The node's credential as it was typed, expressions and all.
 * @returns undefined where n8n does not give it
 */
export async function readTyped(
	context: Pick<AccountContext, 'getNode' | 'getMode'>,
): Promise<Record<string, unknown> | undefined> {
	try {
		const { additionalData } = context as {
			additionalData?: { credentialsHelper?: { getDecrypted?: GetDecrypted } };
		};
		const stored = context.getNode().credentials?.payApi;
		const rest = ['payApi', context.getMode(), undefined, true];
		return await additionalData?.credentialsHelper?.getDecrypted?.(additionalData, stored, ...rest);
	} catch {
		return undefined;
	}
}

/**
 * Reads the accounts that the items of a run are sent with.
 * @returns an item's account; throws InputError, or n8n's own error, for an item that has none
 */
export async function readAccounts(
	context: AccountContext,
): Promise<(itemIndex: number) => Promise<Account>> {
	const resolve = async (index: number) =>
		await context.getCredentials<PayCredential>('payApi', index);
	const resolvedText = async (index: number) =>
		await resolve(index).then(JSON.stringify, () => undefined);
	const typed = await readTyped(context);
	if (typed !== undefined && !Object.values(typed).some(mayDependOnItem)) {
		const first = await resolvedText(0);
		const noItem = context.getInputData().length;
		if (first !== undefined && first === (await resolvedText(noItem))) {
			const account = readAccount(JSON.parse(first) as PayCredential);
			return async () => account;
		}
	}
	return async (index) => readAccount(await resolve(index));
}
