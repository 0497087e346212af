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
	/** The header that carries a request's external_id too; none, where it is empty. */
	externalIdHeader?: string;
	/** Not yet checked: only items that ask for it need it. */
	postbackUrl?: string;
	postbackSecret?: string;
}

/** Visible ASCII without a space, which is what a header can carry (RFC 6750, section 2.1). */
export const TOKEN = /^[\x21-\x7e]+$/;

function parsePastedToken(value: unknown): string {
	const token = String(value ?? '')
		.trim()
		.replace(/^Bearer(\s+|$)/i, '');
	if (token === '') {
		throw new InputError(
			'accessToken',
			'The Access Token of the Pay API credential is empty',
			'Open the credential and paste the token.',
		);
	}
	if (!TOKEN.test(token)) {
		throw new InputError(
			'accessToken',
			'The Access Token of the Pay API credential holds a space or a character that no token has',
			'Open the credential and paste the token alone.',
		);
	}
	return token;
}

function required(value: unknown, field: string, label: string): string {
	// An expression may give a number.
	const text = ['string', 'number'].includes(typeof value) ? String(value).trim() : '';
	if (text !== '') return text;
	throw new InputError(
		field,
		`The ${label} of the Pay API credential is empty`,
		'Open the credential and enter what the service gave you.',
	);
}

function parseClientCredentials(credential: PayCredential): ClientCredentials {
	const { clientAuthentication: sendIn = 'header' } = credential;
	if (sendIn !== 'header' && sendIn !== 'body') {
		throw new InputError(
			'clientAuthentication',
			'Client Authentication of the Pay API credential must be header or body',
			'Open the credential and choose one from the list.',
		);
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
	switch (authentication) {
		case 'accessToken':
			return { pasted: parsePastedToken(credential.accessToken) };
		case 'clientCredentials':
			return { clientCredentials: parseClientCredentials(credential) };
		default:
			throw new InputError(
				'authentication',
				'Authentication of the Pay API credential must be accessToken or clientCredentials',
				'Open the credential and choose one from the list.',
			);
	}
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
	throw new InputError(
		'externalIdHeader',
		`The Header for the External ID of the Pay API credential ${what}`,
		'Open the credential and enter the name that the service gave you, such as Idempotency-Key, or leave it empty.',
	);
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

/** What an expression may name that is the same for every item of a run. */
const SAME_FOR_ALL = /\$(vars|secrets|now|today|env|execution|workflow)\b/g;

/** Whether a value of a credential, as it was typed, may come out differently for another item. */
export function mayDependOnItem(typed: unknown): boolean {
	if (typeof typed !== 'string' || !typed.startsWith('=')) return false;
	// Whatever else begins with $ may lead to items; `this` and escapes may spell it otherwise.
	return /[$\\]|\bthis\b|\brandom\b/.test(typed.replace(SAME_FOR_ALL, ''));
}

/** n8n's way to a credential as it was typed; nodes are not promised it, so it may be missing. */
interface AsTyped {
	additionalData?: {
		credentialsHelper?: {
			getDecrypted?: (
				additionalData: unknown,
				credential: unknown,
				type: string,
				mode: string,
				executeData: undefined,
				raw: true,
			) => Promise<Record<string, unknown>>;
		};
	};
}

type AccountContext = Pick<
	IExecuteFunctions,
	'getCredentials' | 'getInputData' | 'getNode' | 'getMode'
>;

/**
 * The node's credential as it was typed, expressions and all.
 * @returns undefined where n8n does not give it
 */
export async function readTyped(
	context: Pick<AccountContext, 'getNode' | 'getMode'>,
): Promise<Record<string, unknown> | undefined> {
	try {
		const { additionalData } = context as AsTyped;
		return await additionalData?.credentialsHelper?.getDecrypted?.(
			additionalData,
			context.getNode().credentials?.payApi,
			'payApi',
			context.getMode(),
			undefined,
			true,
		);
	} catch {
		return undefined;
	}
}

async function isTypedForAll(context: AccountContext): Promise<boolean> {
	const typed = await readTyped(context);
	// Else each item's credential is resolved, which is never wrong.
	return typed !== undefined && !Object.values(typed).some(mayDependOnItem);
}

/**
 * Reads the accounts that the items of a run are sent with: resolved once where nothing in the
 * credential as it was typed can depend on the item, else for each item. What resolving it for some
 * items gives does not tell: `$itemIndex === 1 ? "b" : "a"` is the same for most. It is looked at
 * too, beyond the last item, should another n8n not give what was typed.
 * @returns an item's account; throws InputError, or n8n's own error, for an item that has none
 */
export async function readAccounts(
	context: AccountContext,
): Promise<(itemIndex: number) => Promise<Account>> {
	const resolve = async (index: number) =>
		await context.getCredentials<PayCredential>('payApi', index);
	const settled = async (index: number) =>
		await resolve(index).then(
			(credential) => JSON.stringify(credential),
			() => undefined,
		);
	if (await isTypedForAll(context)) {
		const first = await settled(0);
		if (first !== undefined && first === (await settled(context.getInputData().length))) {
			const account = readAccount(JSON.parse(first) as PayCredential);
			return async () => account;
		}
	}
	return async (index) => readAccount(await resolve(index));
}
