import type { IDataObject, IHttpRequestOptions } from 'n8n-workflow';
import { batches, CONTINUE, FIELDS, itemsFor, runWorkflow, type RunOptions } from './engine';

/*
 * A service that answers as a test says, in the place of n8n's request helper. Its errors are those of the helper.
 */

export type Answer = () => Promise<unknown>;

/** n8n's error for a status, from the service through TLS, or from a proxy outside of it. */
export const status =
	(statusCode: number, from: 'service' | 'proxy' = 'service'): Answer =>
	async () => {
		const request = { path: '/', socket: { encrypted: from === 'service' } };
		throw Object.assign(new Error(), { request, response: { status: statusCode, data: '{}' } });
	};
export const ok: Answer = async () => ({ statusCode: 200, body: '{"success":true}' });
export const lost: Answer = async () => {
	throw Object.assign(new Error(), { code: 'ECONNRESET' });
};
export const noConnection: Answer = async () => {
	throw Object.assign(new Error(), { code: 'ECONNREFUSED', syscall: 'connect' });
};

/** Waits until something has come about. */
export async function until(isSo: () => boolean): Promise<void> {
	while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}

/** A service and its token endpoint, in the place of n8n's request helper. */
export class Service {
	/** What the requests were about and whose token they had, in the order in which they came. */
	readonly requests: string[] = [];
	tokensGiven = 0;
	/** How it answers a request about an External ID. */
	answer: (external_id: string) => Promise<unknown> = ok;
	/** What is waited for before a token is given. */
	beforeToken: () => Promise<void> = async () => undefined;

	/** n8n's context with this service. */
	readonly context = (more: (real: object) => object = () => ({})): RunOptions['context'] => {
		return (real) => ({
			helpers: { ...real.helpers, httpRequest: async (options) => await this.respond(options) },
			...more(real),
		});
	};

	private async respond({ url, headers, body }: IHttpRequestOptions): Promise<unknown> {
		if (url.endsWith('/token')) {
			await this.beforeToken();
			const token = { access_token: `token-${++this.tokensGiven}`, expires_in: 3600 };
			return { statusCode: 200, headers: {}, body: JSON.stringify(token) };
		}
		const { external_id } = JSON.parse(String(body)) as { external_id: string };
		const { Authorization } = headers as { Authorization: string };
		this.requests.push(`${external_id} ${Authorization.replace('Bearer ', '')}`);
		return await this.answer(external_id);
	}
}

let clients = 0;
/** An account whose tokens nobody has fetched yet. */
export const newClient = () => ({
	authentication: 'clientCredentials',
	tokenUrl: 'https://id.example.com/token',
	clientId: `client ${++clients}`,
	clientSecret: 'secret',
});

const PASTED = { accessToken: 'pasted' };

/** Runs a node over items of these ids, each in a batch of its own unless it is said. */
export async function send(
	service: Service,
	ids: string[],
	{
		credential,
		parameters,
		options,
		...more
	}: Partial<RunOptions> & { options?: IDataObject } = {},
) {
	return await runWorkflow({
		credential: { baseUrl: 'https://bank.example.com', ...PASTED, ...credential },
		items: itemsFor(...ids),
		parameters: { ...FIELDS, options: { ...batches(1), ...options }, ...parameters },
		settings: CONTINUE,
		context: service.context(),
		...more,
	});
}
