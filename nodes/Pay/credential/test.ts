import type {
	ICredentialsDecrypted,
	ICredentialTestFunctions,
	INodeCredentialTestResult,
} from 'n8n-workflow';
import { PATHS } from '../service/contract';
import { readConnection, type PayCredential } from './connection';

/** A credential test should answer while the person is looking. */
const TIMEOUT = 15_000;

function verdictOn(statusCode: number): INodeCredentialTestResult {
	if (statusCode === 401 || statusCode === 403) {
		return {
			status: 'Error',
			message: `The service refused the access token (HTTP ${statusCode})`,
		};
	}
	if (statusCode === 404) {
		return {
			status: 'Error',
			message: 'The service does not know this address (HTTP 404): the Base URL is wrong',
		};
	}
	if (statusCode >= 300 && statusCode < 400) {
		return {
			status: 'Error',
			message: `The service redirects elsewhere (HTTP ${statusCode}): the Base URL is wrong`,
		};
	}
	if (statusCode >= 500) {
		return { status: 'Error', message: `The service is failing (HTTP ${statusCode})` };
	}
	return { status: 'OK', message: 'The service accepts the access token' };
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
	let connection;
	try {
		connection = readConnection((credential.data ?? {}) as PayCredential, TIMEOUT);
	} catch (error) {
		return { status: 'Error', message: error instanceof Error ? error.message : String(error) };
	}
	try {
		const answer = (await helpers.request({
			method: 'POST',
			uri: connection.baseUrl + PATHS.qrCode,
			headers: {
				Authorization: `Bearer ${connection.accessToken}`,
				'Content-Type': 'application/json',
			},
			body: '{}',
			simple: false,
			resolveWithFullResponse: true,
			followRedirect: false,
			followAllRedirects: false,
			timeout: connection.timeout,
		})) as { statusCode: number };
		return verdictOn(answer.statusCode);
	} catch (error) {
		const { code, cause } = (error ?? {}) as { code?: string; cause?: { code?: string } };
		const reason = code ?? cause?.code;
		return {
			status: 'Error',
			message: `The service cannot be reached${reason ? ` (${reason})` : ''}: check the Base URL and the network`,
		};
	}
}
