import type { IExecuteFunctions } from 'n8n-workflow';
import { InputError } from '../inputError';
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
	/** Not yet checked: only items that ask for it need it. */
	postbackUrl?: string;
	postbackSecret?: string;
}

/** Visible ASCII without a space, which is what a header can carry (RFC 6750, section 2.1). */
const TOKEN = /^[\x21-\x7e]+$/;

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

/**
 * Checks a credential before any request (section 5: the bearer token is mandatory).
 * @throws InputError; never with a token or secret in the message
 */
export function readAccount(credential: PayCredential): Account {
	const schemeName = parseSchemeName(credential.schemeName);
	return {
		baseUrl: parseBaseUrl(credential.baseUrl, credential.allowHttp === true, schemeName),
		schemeName,
		token: parseToken(credential),
		postbackUrl: credential.postbackUrl || undefined,
		postbackSecret: credential.postbackSecret || undefined,
	};
}

/**
 * Reads the accounts that the items of a run are sent with. n8n gives the credential beyond the last
 * item as for the first one exactly when it does not depend on the item (measured on 1.123 and
 * 2.41); then it is resolved once, since that is what costs.
 * @returns an item's account; throws InputError, or n8n's own error, for an item that has none
 */
export async function readAccounts(
	context: Pick<IExecuteFunctions, 'getCredentials' | 'getInputData'>,
): Promise<(itemIndex: number) => Promise<Account>> {
	const resolve = async (index: number) =>
		await context.getCredentials<PayCredential>('payApi', index);
	const settled = async (index: number) =>
		await resolve(index).then(
			(credential) => JSON.stringify(credential),
			() => undefined,
		);
	const count = context.getInputData().length;
	const first = await settled(0);
	// The last item and the one behind it: what goes by turns ($itemIndex % 2) differs in one of them.
	const others = count > 1 ? [count - 1, count] : [count];
	let depends = first === undefined;
	for (const index of others) depends ||= (await settled(index)) !== first;
	if (depends || first === undefined) {
		return async (index) => readAccount(await resolve(index));
	}
	const account = readAccount(JSON.parse(first) as PayCredential);
	return async () => account;
}
