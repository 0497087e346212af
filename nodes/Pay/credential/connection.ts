import { InputError } from '../inputError';
import { parseBaseUrl } from './baseUrl';
import type { Connection } from '../service/client';

/** The credential's fields as n8n hands them over, expressions resolved. */
export type PayCredential = {
	baseUrl?: string;
	accessToken?: string;
	postbackUrl?: string;
	postbackSecret?: string;
	allowHttp?: boolean;
};

/**
 * Checks a credential before any request (section 5: the bearer token is mandatory).
 * @param timeout in milliseconds
 * @throws BaseUrlError, InputError; never with the token in the message
 */
export function readConnection(credential: PayCredential, timeout: number): Connection {
	const baseUrl = parseBaseUrl(credential.baseUrl, credential.allowHttp === true);
	const accessToken = (credential.accessToken ?? '').trim();
	if (accessToken === '') {
		throw new InputError(
			'accessToken',
			'The Access Token of the Pay API credential is empty',
			'Open the credential and paste the token.',
		);
	}
	if (!/^[\x21-\x7e]+$/.test(accessToken)) {
		throw new InputError(
			'accessToken',
			'The Access Token of the Pay API credential holds a space or a character that no token has',
			'Paste the token alone, without "Bearer" before it.',
		);
	}
	return { baseUrl, accessToken, timeout };
}
