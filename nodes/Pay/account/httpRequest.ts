import type {
	IAuthenticate,
	ICredentialDataDecryptedObject,
	IHttpRequestHelper,
} from 'n8n-workflow';
import { asError, inWords } from '../base/inputError';
import { tokenPoster } from '../service/client';
import { readToken } from './account';
import { bearerToken, forgetToken } from './token';

/*
 * For n8n's HTTP Request: the service's other addresses. n8n would store a fetched token in the
 * credential, and n8n 1 stores what each expression came to with it (measured): later payments would
 * then go from the first item's account. So it is given nothing to store, and asks before each request.
 */

const TIMEOUT = 60_000;

/** Tokens by the very object in which n8n holds a credential during one request. */
const tokens = new WeakMap<object, string>();

/** Has a token ready for one request. n8n calls it again with the same object after a failure. */
export async function preAuthentication(
	this: IHttpRequestHelper,
	credential: ICredentialDataDecryptedObject,
) {
	try {
		const token = readToken(credential);
		const rejected = tokens.get(credential);
		if (rejected !== undefined) forgetToken({ token }, rejected);
		const post = tokenPoster(this.helpers.httpRequest, TIMEOUT);
		const { accessToken } = await bearerToken({ token }, post, { timeout: TIMEOUT });
		tokens.set(credential, accessToken);
		return {};
	} catch (error) {
		throw asError(inWords(error));
	}
}

/** Adds the token to a request. */
export const authenticate: IAuthenticate = async (credential, options) => {
	const token = tokens.get(credential);
	if (token === undefined) {
		throw new Error('n8n did not ask for an access token before the request');
	}
	return { ...options, headers: { ...options.headers, Authorization: `Bearer ${token}` } };
};
