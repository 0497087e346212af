/* eslint-disable @typescript-eslint/no-require-imports */
import { join } from 'node:path';
import { hideSecrets } from '../../nodes/Pay/postback/proof';
import { postRequest } from '../../nodes/Pay/service/client';
import type { HttpRequest } from '../../nodes/Pay/service/exchange';
import { OPERATIONS } from '../serviceOperations';

const HELPERS = 'n8n-core/dist/execution-engine/node-execution-context/utils';

/**
 * The function that n8n hands a node as `helpers.httpRequest`, without the rest of n8n.
 * @param modules the node_modules folder that holds n8n-core
 */
export function requestHelper(modules: string): HttpRequest {
	const { getRequestHelperFunctions } = require(
		join(modules, HELPERS, 'request-helper-functions'),
	) as {
		getRequestHelperFunctions: (...args: unknown[]) => { httpRequest: HttpRequest };
	};
	return getRequestHelperFunctions({}, { name: 'Pay' }, {}).httpRequest;
}

/**
 * The request function that n8n hands to the test of a credential.
 * @param modules the node_modules folder that holds n8n-core
 */
export function credentialRequest(modules: string): (options: object) => Promise<unknown> {
	const { CredentialTestContext } = require(
		join(modules, HELPERS, '..', 'credentials-test-context'),
	) as {
		CredentialTestContext: new () => {
			helpers: { request: (options: object) => Promise<unknown> };
		};
	};
	const { request } = new CredentialTestContext().helpers;
	stopLookingForIdleConnections(modules);
	return request;
}

/**
 * That context begins to look for idle SSH connections once a minute, and in n8n 1 this keeps the process
 * running: jest would have to end its worker by force.
 */
function stopLookingForIdleConnections(modules: string) {
	const core = join(modules, 'n8n-core');
	const { Container } = require(require.resolve('@n8n/di', { paths: [core] })) as {
		Container: { get: (type: unknown) => { onShutdown: () => void } };
	};
	const { SSHClientsManager } = require(
		join(core, 'dist', 'execution-engine', 'ssh-clients-manager'),
	) as { SSHClientsManager: unknown };
	Container.get(SSHClientsManager).onShutdown();
}

/** Posts a payment as the node does. */
export async function postPayment(
	httpRequest: HttpRequest,
	account: { baseUrl: string; accessToken: string; externalIdHeader?: string; timeout?: number },
	request: { amount: number; external_id: string; payerQuestion?: string; postbackUrl?: string },
) {
	const hide = (response: unknown) =>
		hideSecrets(response, [account.accessToken], request.postbackUrl);
	const connection = { schemeName: 'pay', timeout: 20_000, ...account, hide };
	return await postRequest(httpRequest, connection, OPERATIONS.payment, request);
}
