import type {
	ICredentialsDecrypted,
	ICredentialTestFunctions,
	INodeCredentialTestResult,
} from 'n8n-workflow';
import { InputError } from '../inputError';
import { jsonOrText } from '../json';
import { pathOf } from '../service/contract';
import { proxyPageIn } from '../service/proxyPage';
import { bearerToken, type PostForm } from './accessToken';
import { readAccount, type Account, type PayCredential } from './connection';

/** A credential test should answer while the person is looking. */
const TIMEOUT = 15_000;

interface TestAnswer {
	statusCode: number;
	headers?: Record<string, unknown>;
	body: unknown;
}

const wrong = (message: string): INodeCredentialTestResult => ({ status: 'Error', message });

function isPage({ headers, body }: TestAnswer): boolean {
	return (
		/\bhtml\b/i.test(String(headers?.['content-type'] ?? '')) ||
		(typeof body === 'string' && /^\s*<(!doctype|html)/i.test(body))
	);
}

function verdictOn(answer: TestAnswer): INodeCredentialTestResult {
	const { statusCode } = answer;
	const page = proxyPageIn(answer.body);
	const which = page ? `(HTTP ${statusCode}, on a page of ${page.by})` : `(HTTP ${statusCode})`;
	if (page?.wantsHttps) {
		return wrong(
			`The service takes only https: ${which}: write https:// at the start of the Base URL`,
		);
	}
	if (statusCode === 401 || statusCode === 403) {
		return wrong(
			`The service refused the access token ${which}. If the token is right: some services take requests only from addresses on an allow-list`,
		);
	}
	if (statusCode === 407)
		return wrong(`A proxy on the way asks for a password of its own ${which}`);
	if (statusCode === 404 || statusCode === 405) {
		return wrong(
			`The service does not know this address ${which}: the Base URL or the Scheme Name in Paths is wrong`,
		);
	}
	if (statusCode >= 300 && statusCode <= 399) {
		return wrong(`The service redirects elsewhere ${which}: the Base URL is wrong`);
	}
	if (statusCode === 429) {
		return wrong(`The service takes no more requests for now ${which}: test again in a while`);
	}
	if (statusCode >= 500 || statusCode < 200 || statusCode === 408 || statusCode === 499)
		return wrong(`The service is failing ${which}`);
	if (isPage(answer)) {
		return wrong(`A web page answered ${which}, not a service: the Base URL is wrong`);
	}
	if (statusCode <= 299) {
		return {
			status: 'OK',
			message: `The service accepts the access token. Oddly, it also accepted an empty request ${which}`,
		};
	}
	return { status: 'OK', message: 'The service accepts the access token' };
}

/**
 * The scopes that were asked for and not given. A token endpoint has to say which it gave where they
 * are not those it was asked for (RFC 6749, section 5.1).
 */
function scopesNotGranted({ token }: Account, body: unknown): string[] {
	if (!('clientCredentials' in token)) return [];
	const answer = typeof body === 'string' ? jsonOrText(body) : body;
	const { scope } = (answer ?? {}) as { scope?: unknown };
	if (typeof scope !== 'string') return [];
	const granted = scope.split(/[\s,]+/);
	const asked = token.clientCredentials.scope.split(/\s+/);
	return asked.filter((one) => one !== '' && !granted.includes(one));
}

function reasonOf(error: unknown): string {
	const { code, cause } = (error ?? {}) as { code?: string; cause?: { code?: string } };
	const reason = code ?? cause?.code;
	// A code is one word of a known form; what else stands there could hold anything.
	const isCode = typeof reason === 'string' && /^[A-Z][A-Z0-9_]*$/.test(reason);
	return isCode ? reason : 'the connection failed';
}

/**
 * Tests a credential without being able to move money: posts an empty object to the QR code
 * endpoint, which lacks both required fields (sections 2.1 and 4.1).
 */
export async function testPayCredential(
	this: ICredentialTestFunctions,
	credential: ICredentialsDecrypted,
): Promise<INodeCredentialTestResult> {
	// A credential test has no other request function than this one.
	const { helpers } = this;
	const post = async (uri: string, headers: Record<string, string>, body: string) =>
		(await helpers.request({
			method: 'POST',
			uri,
			headers,
			body,
			simple: false,
			resolveWithFullResponse: true,
			followRedirect: false,
			followAllRedirects: false,
			timeout: TIMEOUT,
		})) as TestAnswer;
	let granted: unknown;
	const postForm: PostForm = async (url, headers, body) => {
		try {
			const answer = await post(url, headers, body);
			granted = answer.body;
			return answer;
		} catch (error) {
			return { reason: reasonOf(error) };
		}
	};
	let url, accessToken;
	try {
		const account = readAccount((credential.data ?? {}) as PayCredential);
		url = account.baseUrl + pathOf('qrCode', account.schemeName);
		const bearer = await bearerToken(account, postForm);
		// What is tested is whether a token is to be had now, not whether one was.
		({ accessToken } = bearer.isKept
			? await bearerToken(account, postForm, bearer.accessToken)
			: bearer);
		const missing = scopesNotGranted(account, granted);
		if (missing.length > 0) {
			return wrong(
				`The token endpoint did not grant the ${missing.length > 1 ? 'scopes' : 'scope'} ${missing.join(' and ')} that Scope asks for: ask the service for it, or take it out`,
			);
		}
	} catch (error) {
		if (!(error instanceof InputError)) return wrong('The credential could not be read');
		return wrong(`${error.message}. ${error.advice}`);
	}
	try {
		const headers = {
			Authorization: `Bearer ${accessToken}`,
			'Content-Type': 'application/json',
		};
		return verdictOn(await post(url, headers, '{}'));
	} catch (error) {
		return wrong(
			`The service cannot be reached (${reasonOf(error)}): check the Base URL and the network`,
		);
	}
}
