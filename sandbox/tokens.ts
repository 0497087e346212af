import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** A token endpoint as an illustration: how the service gives out tokens is not documented. */
export interface ClientCredentials {
	clientId: string;
	clientSecret: string;
	/** Seconds until a token expires; 3600, when absent. */
	tokenLife?: number;
	/** Whether the response has the life as `expires_in`; it has, unless this is false. */
	tellsLife?: boolean;
	/** A new token ends the one before it. */
	oneActiveToken?: boolean;
	/** The only way of client authentication that is taken; header and body, when absent. */
	clientAuthentication?: 'header' | 'body' | 'json' | 'headerJson';
	/** Tokens come as `accessToken` within `data`, of another type than Bearer. */
	wrapsTokens?: boolean;
	/** The only scope that is given. */
	scope?: string;
}

/** Where each way has the client. */
const PLACE_OF_CLIENT = {
	header: 'header',
	body: 'body',
	json: 'body',
	headerJson: 'header',
} as const;

export interface TokenResponse {
	status: number;
	body: Record<string, unknown>;
	headers: Record<string, string>;
}

/** A request is not carried out; the response says why, as RFC 6749, 5.2 has it. */
class Rejection extends Error {
	constructor(
		readonly status: number,
		readonly error: string,
		message: string,
	) {
		super(message);
	}
}

/** Reads the client's name and secret from HTTP Basic (RFC 7617), as they are: so real services do. */
function clientInHeader(authorization: string): [string, string] {
	const [, base64] = /^Basic +([A-Za-z0-9+/=]+)$/i.exec(authorization) ?? [];
	const [, id, secret] =
		/^([^:]*):(.*)$/s.exec(Buffer.from(base64 ?? '', 'base64').toString()) ?? [];
	if (id === undefined || secret === undefined) {
		throw new Rejection(401, 'invalid_client', 'The Authorization header is not HTTP Basic');
	}
	return [id, secret];
}

/** The parameters of a JSON body: an illustration, since RFC 6749 knows forms only. */
function parametersOfJson(headers: IncomingHttpHeaders, body: string): URLSearchParams {
	if (headers['content-type'] !== 'application/json') {
		throw new Rejection(415, 'unsupported', 'Send JSON');
	}
	try {
		return new URLSearchParams(JSON.parse(body) as Record<string, string>);
	} catch {
		throw new Rejection(400, 'invalid_request', 'The body must be JSON');
	}
}

/** The parameters of a form, each once (RFC 6749, 3.2). */
function parametersOfForm(headers: IncomingHttpHeaders, body: string): URLSearchParams {
	if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(headers['content-type'] ?? '')) {
		throw new Rejection(400, 'invalid_request', 'The body must be form-encoded');
	}
	const parameters = new URLSearchParams(body);
	const names = [...parameters.keys()];
	if (new Set(names).size < names.length) {
		throw new Rejection(400, 'invalid_request', 'A parameter is there twice');
	}
	return parameters;
}

/** OAuth 2.0 client credentials (RFC 6749, 4.4) and revocation (RFC 7009). */
export class Tokens {
	/** When each token that was given out expires. */
	private readonly expiries = new Map<string, number>();

	constructor(private readonly options: ClientCredentials) {}

	private get takesJson(): boolean {
		const { clientAuthentication } = this.options;
		return clientAuthentication === 'json' || clientAuthentication === 'headerJson';
	}

	isActive(token: string): boolean {
		return (this.expiries.get(token) ?? 0) > Date.now();
	}

	get active(): number {
		return this.given.filter((token) => this.isActive(token)).length;
	}

	/** The tokens that were given out and not revoked. */
	get given(): string[] {
		return [...this.expiries.keys()];
	}

	revokeAll(): void {
		this.expiries.clear();
	}

	/** Responds to a request for a token. */
	give(headers: IncomingHttpHeaders, body: string): TokenResponse {
		return this.respond(headers, body, (parameters) => this.giveToken(parameters));
	}

	/** Responds to a request to revoke a token; an unknown one is no error (RFC 7009, 2.2). */
	revoke(headers: IncomingHttpHeaders, body: string): TokenResponse {
		return this.respond(headers, body, (parameters) => {
			this.expiries.delete(parameters.get('token') ?? '');
			return {};
		});
	}

	/** @param work what a client may ask for; it gives the body of the response */
	private respond(
		headers: IncomingHttpHeaders,
		body: string,
		work: (parameters: URLSearchParams) => Record<string, unknown>,
	): TokenResponse {
		const responseHeaders: Record<string, string> = { 'Cache-Control': 'no-store' };
		try {
			const parameters = this.takesJson
				? parametersOfJson(headers, body)
				: parametersOfForm(headers, body);
			this.authenticate(headers, parameters);
			return { status: 200, body: work(parameters), headers: responseHeaders };
		} catch (error) {
			if (!(error instanceof Rejection)) throw error;
			// The way that the client authenticated in is named (RFC 6749, 5.2).
			if (error.status === 401 && headers.authorization !== undefined) {
				responseHeaders['WWW-Authenticate'] = 'Basic realm="sandbox"';
			}
			return {
				status: error.status,
				body: { error: error.error, error_description: error.message },
				headers: responseHeaders,
			};
		}
	}

	private giveToken(parameters: URLSearchParams): Record<string, unknown> {
		if (parameters.get('grant_type') !== 'client_credentials') {
			throw new Rejection(400, 'unsupported_grant_type', 'grant_type must be client_credentials');
		}
		const { scope, tokenLife = 3600, tellsLife = true, oneActiveToken, wrapsTokens } = this.options;
		const requestedScope = parameters.get('scope');
		if (scope !== undefined && requestedScope !== null && requestedScope !== scope) {
			throw new Rejection(400, 'invalid_scope', `The only scope is ${scope}`);
		}
		if (oneActiveToken) this.revokeAll();
		const token = randomBytes(24).toString('base64url');
		this.expiries.set(token, Date.now() + tokenLife * 1000);
		if (wrapsTokens) {
			return { data: { accessToken: token, token_type: 'Access', expires_in: tokenLife } };
		}
		// What is undefined is not in the JSON.
		return {
			access_token: token,
			token_type: 'Bearer',
			expires_in: tellsLife ? tokenLife : undefined,
			scope,
		};
	}

	private authenticate({ authorization }: IncomingHttpHeaders, parameters: URLSearchParams): void {
		const { clientId, clientSecret, clientAuthentication } = this.options;
		if (authorization !== undefined && parameters.has('client_secret')) {
			throw new Rejection(400, 'invalid_request', 'The client authenticates in two ways at once');
		}
		const usedWay = authorization === undefined ? 'body' : 'header';
		// The parameters of a JSON body are those of a form by now.
		const requiredWay = clientAuthentication && PLACE_OF_CLIENT[clientAuthentication];
		if (requiredWay !== undefined && usedWay !== requiredWay) {
			throw new Rejection(401, 'invalid_client', `Send ID and secret in the ${requiredWay}`);
		}
		const [id, secret] =
			authorization === undefined
				? [parameters.get('client_id'), parameters.get('client_secret')]
				: clientInHeader(authorization);
		if (id !== clientId || secret !== clientSecret) {
			throw new Rejection(401, 'invalid_client', 'No client has this ID and secret');
		}
	}
}
