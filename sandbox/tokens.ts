import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** A token endpoint as an illustration: how the service gives out tokens is not documented. */
export interface ClientCredentials {
	clientId: string;
	clientSecret: string;
	/** Seconds until a token expires; 3600, when absent. */
	tokenLife?: number;
	/** Whether the answer tells the life as `expires_in`; it does, unless this is false. */
	tellsLife?: boolean;
	/** A new token ends the one before it. */
	oneActiveToken?: boolean;
	/** The only way of client authentication that is taken; header and body, when absent. */
	clientAuthentication?: 'header' | 'body' | 'json';
	/** Tokens are told as `accessToken` within `data`, of another type than Bearer. */
	wrapsTokens?: boolean;
	/** The only scope that is given. */
	scope?: string;
}

export interface TokenAnswer {
	status: number;
	body: Record<string, unknown>;
	headers?: Record<string, string>;
}

class Refusal extends Error {
	constructor(
		readonly status: number,
		readonly error: string,
		message: string,
	) {
		super(message);
	}
}

const decoded = (text: string) => decodeURIComponent(text.replaceAll('+', ' '));

/** Reads the client's name and secret from HTTP Basic, form-encoded as RFC 6749, 2.3.1 has it. */
function clientInHeader(authorization: string): [string, string] {
	const [, base64] = /^Basic +([A-Za-z0-9+/=]+)$/i.exec(authorization) ?? [];
	const [, id, secret] =
		/^([^:]*):(.*)$/s.exec(Buffer.from(base64 ?? '', 'base64').toString()) ?? [];
	if (id === undefined || secret === undefined) {
		throw new Refusal(401, 'invalid_client', 'The Authorization header is not HTTP Basic');
	}
	try {
		return [decoded(id), decoded(secret)];
	} catch {
		throw new Refusal(
			401,
			'invalid_client',
			'ID and secret must be form-encoded (RFC 6749, 2.3.1)',
		);
	}
}

/** The form of a request, each parameter once (RFC 6749, 3.2). */
function formOf(headers: IncomingHttpHeaders, body: string, isJson: boolean): URLSearchParams {
	if (isJson) {
		if (headers['content-type'] !== 'application/json') {
			throw new Refusal(415, 'unsupported', 'Send JSON');
		}
		return new URLSearchParams(JSON.parse(body) as Record<string, string>);
	}
	if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(headers['content-type'] ?? '')) {
		throw new Refusal(400, 'invalid_request', 'The body must be form-encoded');
	}
	const form = new URLSearchParams(body);
	const names = [...form.keys()];
	if (new Set(names).size < names.length) {
		throw new Refusal(400, 'invalid_request', 'A parameter is there twice');
	}
	return form;
}

/** OAuth 2.0 client credentials (RFC 6749, 4.4) and revocation (RFC 7009). */
export class Tokens {
	/** When each token that was given out expires. */
	private readonly expiries = new Map<string, number>();

	constructor(private readonly options: ClientCredentials) {}

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

	/** Answers a request for a token. */
	give(headers: IncomingHttpHeaders, body: string): TokenAnswer {
		return this.answer(headers, body, (form) => {
			if (form.get('grant_type') !== 'client_credentials') {
				throw new Refusal(400, 'unsupported_grant_type', 'grant_type must be client_credentials');
			}
			const {
				scope,
				tokenLife = 3600,
				tellsLife = true,
				oneActiveToken,
				wrapsTokens,
			} = this.options;
			const asked = form.get('scope');
			if (scope !== undefined && asked !== null && asked !== scope) {
				throw new Refusal(400, 'invalid_scope', `The only scope is ${scope}`);
			}
			if (oneActiveToken) this.revokeAll();
			const token = randomBytes(24).toString('base64url');
			this.expiries.set(token, Date.now() + tokenLife * 1000);
			if (wrapsTokens) {
				return { data: { accessToken: token, token_type: 'Access', expires_in: tokenLife } };
			}
			return {
				access_token: token,
				token_type: 'Bearer',
				...(tellsLife && { expires_in: tokenLife }),
				...(scope !== undefined && { scope }),
			};
		});
	}

	/** Answers a request to revoke a token; one that is not known is no error (RFC 7009, 2.2). */
	revoke(headers: IncomingHttpHeaders, body: string): TokenAnswer {
		return this.answer(headers, body, (form) => {
			this.expiries.delete(form.get('token') ?? '');
			return {};
		});
	}

	private answer(
		headers: IncomingHttpHeaders,
		body: string,
		work: (form: URLSearchParams) => Record<string, unknown>,
	): TokenAnswer {
		const stored = { 'Cache-Control': 'no-store' };
		try {
			const form = formOf(headers, body, this.options.clientAuthentication === 'json');
			this.authenticate(headers, form);
			return { status: 200, body: work(form), headers: stored };
		} catch (error) {
			if (!(error instanceof Refusal)) throw error;
			// The way that was tried is named (RFC 6749, 5.2).
			const tried = error.status === 401 && headers.authorization !== undefined;
			return {
				status: error.status,
				body: { error: error.error, error_description: error.message },
				headers: { ...stored, ...(tried && { 'WWW-Authenticate': 'Basic realm="sandbox"' }) },
			};
		}
	}

	private authenticate({ authorization }: IncomingHttpHeaders, form: URLSearchParams): void {
		const { clientId, clientSecret, clientAuthentication } = this.options;
		if (authorization !== undefined && form.has('client_secret')) {
			throw new Refusal(400, 'invalid_request', 'The client authenticates in two ways at once');
		}
		const way = authorization === undefined ? 'body' : 'header';
		const wanted = clientAuthentication === 'json' ? 'body' : clientAuthentication;
		if (wanted !== undefined && way !== wanted) {
			throw new Refusal(401, 'invalid_client', `Send ID and secret in the ${clientAuthentication}`);
		}
		const [id, secret] =
			authorization === undefined
				? [form.get('client_id'), form.get('client_secret')]
				: clientInHeader(authorization);
		if (id !== clientId || secret !== clientSecret) {
			throw new Refusal(401, 'invalid_client', 'No client has this ID and secret');
		}
	}
}
