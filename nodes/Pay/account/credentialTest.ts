import type {
	ICredentialsDecrypted,
	ICredentialTestFunctions,
	IDataObject,
	INodeCredentialTestResult,
} from 'n8n-workflow';
import { InputError, inWords } from '../base/inputError';
import { jsonOrText } from '../base/json';
import { isLoopback } from '../base/loopback';
import type { TokenPost } from '../service/client';
import { requestPath } from '../service/contract';
import {
	proxyPageIn,
	reasonInWords,
	reasonOfFailure,
	replaceUnpublished,
	UNPUBLISHED,
	webPageIn,
	webPageInWords,
} from '../service/reasons';
import { type Account, readAccount } from './account';
import type { PayCredential } from './fields';
import { readSenderRule } from './sender';
import { bearerToken, forgetToken } from './token';

/** How long one request may take, in milliseconds: the person waits for the test. */
const TIMEOUT = 15_000;

interface TestResponse {
	statusCode: number;
	headers?: Record<string, unknown>;
	body: unknown;
}

const wrong = (message: string): INodeCredentialTestResult => ({ status: 'Error', message });

/** What is wrong with the credential or the service; undefined where the token was accepted. */
function faultShownBy(response: TestResponse): string | undefined {
	const { statusCode } = response;
	const page = proxyPageIn(response.body);
	const status = page ? `(HTTP ${statusCode}, on a page of ${page.by})` : `(HTTP ${statusCode})`;
	if (page?.wantsHttps) {
		return `The service accepts only https ${status}: write https:// at the start of the Base URL`;
	}
	if (statusCode === 401 || statusCode === 403) {
		return `The service rejected the access token ${status}. If the token is right, the service may accept requests only from addresses on an allow-list`;
	}
	if (statusCode === 407) return `A proxy on the way asks for its own password ${status}`;
	if (replaceUnpublished(jsonOrText(String(response.body))) === UNPUBLISHED) {
		return `${UNPUBLISHED} ${status}. Publish the workflow that acts as the service (on n8n 1, switch it to Active)`;
	}
	if (statusCode === 404 || statusCode === 405) {
		return `The service does not know this address ${status}: either the Base URL is wrong, or the Scheme Name in Paths under Describe the Service`;
	}
	if (statusCode >= 300 && statusCode <= 399) {
		return `The service redirects elsewhere ${status}: the Base URL is wrong`;
	}
	if (statusCode === 429) {
		return `The service accepts no more requests for now ${status}: test again in a while`;
	}
	if (statusCode >= 500 || statusCode < 200 || statusCode === 408 || statusCode === 499) {
		return `The service is failing ${status}`;
	}
	const webPage = webPageIn(response.body, response.headers?.['content-type']);
	if (webPage === undefined) return undefined;
	return `The response is ${webPageInWords(webPage)} ${status}, not a response from the service, so the Base URL is wrong`;
}

function failureOf(error: unknown) {
	const { code, cause } = (error ?? {}) as { code?: unknown; cause?: { code?: unknown } };
	return { code: String(code ?? cause?.code ?? '') };
}

function whyUnreachable(url: string, error: unknown): string {
	const { host, hostname, pathname } = new URL(url);
	const failure = failureOf(error);
	if (failure.code === 'EPROTO') return 'The address does not use https. Should it be http://…?';
	if (failure.code === 'ECONNREFUSED' && isLoopback(hostname)) {
		if (/^\/webhook(-test)?\//.test(pathname)) {
			return `Nothing answers at ${host}. To call a webhook of this n8n, use the port that n8n itself listens on: 5678, unless N8N_PORT says otherwise. It can differ from the one in your browser.`;
		}
		return `Nothing answers at ${host}. If n8n runs in Docker, that address is the container itself: use host.docker.internal and turn on Allow HTTP.`;
	}
	const reason = reasonInWords(reasonOfFailure(failure));
	return `The service cannot be reached: ${reason}. Check the Base URL and the network.`;
}

/** The scopes not granted, which a token endpoint has to report (RFC 6749, section 5.1). */
function scopesNotGranted({ token }: Account, body: unknown): string[] {
	const { scope } = (typeof body === 'string' ? jsonOrText(body) : (body ?? {})) as IDataObject;
	if (!('clientCredentials' in token) || typeof scope !== 'string') return [];
	const granted = scope.split(/[\s,]+/);
	const scopes = token.clientCredentials.scope.split(/\s+/);
	return scopes.filter((one) => one !== '' && !granted.includes(one));
}

/** Posts a text. A credential test has no other request function than this one. */
async function post(
	{ helpers }: ICredentialTestFunctions,
	uri: string,
	headers: Record<string, string>,
	body: string,
): Promise<TestResponse> {
	const options = {
		method: 'POST',
		uri,
		headers,
		body,
		simple: false,
		resolveWithFullResponse: true,
		followRedirect: false,
		followAllRedirects: false,
		timeout: TIMEOUT,
	};
	return (await helpers.request(options)) as TestResponse;
}

/** Checks all that a Pay node or a trigger reads of a credential. */
function readWholeCredential(fields: PayCredential): Account {
	// No money goes out here, so a limit that an expression leaves empty does no harm.
	const account = readAccount(fields, fields);
	if (account.limits instanceof InputError) throw account.limits;
	readSenderRule(fields);
	return account;
}

/** A token, and what the token endpoint responded, if it was asked. */
interface NewToken {
	accessToken: string;
	responseBody: unknown;
}

/** Gets an account's token, a new one where tokens are fetched. Rejects with an InputError without one. */
async function newToken(context: ICredentialTestFunctions, account: Account): Promise<NewToken> {
	let responseBody: unknown;
	const postTokenRequest: TokenPost = async (url, headers, body) => {
		try {
			const response = await post(context, url, headers, body);
			responseBody = response.body;
			const { statusCode } = response;
			return statusCode === 407 ? { reason: { is: 'stoppedByProxy', statusCode } } : response;
		} catch (error) {
			return { reason: reasonOfFailure(failureOf(error)) };
		}
	};
	const patience = { timeout: TIMEOUT };
	let bearer = await bearerToken(account, postTokenRequest, patience);
	if (bearer.isFromEarlier) {
		// What is tested is whether the service gives a token now, not whether it did.
		forgetToken(account, bearer.accessToken);
		bearer = await bearerToken(account, postTokenRequest, patience);
	}
	return { accessToken: bearer.accessToken, responseBody };
}

/**
 * Tests a credential without being able to move money: posts an empty object to the QR code
 * endpoint, which lacks both required fields (sections 2.1 and 4.1).
 */
export async function testPayCredential(
	this: ICredentialTestFunctions,
	credential: ICredentialsDecrypted,
): Promise<INodeCredentialTestResult> {
	let account: Account;
	let token: NewToken;
	try {
		account = readWholeCredential((credential.data ?? {}) as PayCredential);
		token = await newToken(this, account);
	} catch (error) {
		return wrong(error instanceof InputError ? inWords(error) : 'The credential could not be read');
	}
	const missing = scopesNotGranted(account, token.responseBody).join(' and ');
	if (missing !== '') {
		return wrong(
			`The token endpoint did not grant ${missing}: ask the service for it, or remove it from Scope`,
		);
	}
	const url = account.baseUrl + requestPath({ path: 'qrcode' }, account.schemeName);
	const headers = {
		Authorization: `Bearer ${token.accessToken}`,
		'Content-Type': 'application/json',
	};
	let response: TestResponse;
	try {
		response = await post(this, url, headers, '{}');
	} catch (error) {
		return wrong(whyUnreachable(url, error));
	}
	const fault = faultShownBy(response);
	if (fault !== undefined) return wrong(fault);
	return { status: 'OK', message: 'The service accepts the access token' };
}
