import type { Request, Response } from 'express';
import { isLosslessNumber, parse } from 'lossless-json';

/** A request of any kind and what became of it; the page gets it without its secrets. */
export interface Exchange {
	number: number;
	at: string;
	method: string;
	path: string;
	/** Authorization, the body's type and the caller's program. */
	headers: Record<string, string>;
	body: string;
	answer?: { at: string; status?: number; body: string };
	/** The charge or payment that came of it. */
	transaction?: string;
}

/** How many exchanges are kept: a bench must not fill the memory. */
const KEPT = 200;
/** How much of a text is shown. */
const LONGEST = 20_000;
/** A shorter token, such as "x", opens nothing here, and taking it out would spoil every text. */
const SHORTEST_SECRET = 8;

/** The first characters of a secret, which tell two of them apart and open nothing. */
export function shortened(secret: string): string {
	return secret.length >= 12 ? `${secret.slice(0, 4)}…` : '…';
}

/** The scheme of an Authorization header and its secret. */
function partsOf(authorization = ''): { scheme: string; secret: string } {
	const [, scheme = '', secret = ''] = /^(\S+)(?: +(.*))?$/s.exec(authorization) ?? [];
	return { scheme, secret };
}

/** The secrets with which these requests came. */
export function secretsOf(exchanges: Exchange[]): string[] {
	return [...new Set(exchanges.map(({ headers }) => partsOf(headers.authorization).secret))];
}

/** The headers as they may be shown. */
export function headersWithoutSecret({ headers }: Exchange): Record<string, string> {
	const { scheme, secret } = partsOf(headers.authorization);
	return { ...headers, authorization: scheme === '' ? '(none)' : `${scheme} ${shortened(secret)}` };
}

/**
 * JSON in which each text is without secrets: those that are named, and what stands where tokens,
 * client secrets and the proofs in postback URLs stand.
 */
export function jsonWithoutSecrets(value: unknown, secrets: string[]): string {
	const long = secrets.filter((secret) => secret.length >= SHORTEST_SECRET);
	return JSON.stringify(value, (_name, member: unknown) => {
		if (typeof member !== 'string') return member;
		const named = long.reduce((text, each) => text.replaceAll(each, () => shortened(each)), member);
		return named
			.replace(
				/((?:^|[?&])(?:client_secret|token|access_token|pay_proof|signature)=)([^&"\s]*)/g,
				(_all, name: string, secret: string) => name + shortened(secret),
			)
			.replace(
				/("(?:client_secret|access_token)"\s*:\s*")([^"]*)/g,
				(_all, name: string, secret: string) => name + shortened(secret),
			)
			.slice(0, LONGEST);
	});
}

function flatten(value: unknown, name: string, depth: number): Array<[string, string]> {
	if (isLosslessNumber(value)) return [[name, value.value]];
	if (typeof value !== 'object' || value === null || depth > 4) {
		return [[name, JSON.stringify(value)]];
	}
	const members = Object.entries(value);
	if (members.length === 0) return [[name, Array.isArray(value) ? '[]' : '{}']];
	return members.flatMap(([key, member]) =>
		flatten(member, name === '' ? key : `${name}.${key}`, depth + 1),
	);
}

/**
 * The fields of a JSON object, each with its JSON as it was sent (digits too), nested ones with a
 * dot; none of what is not one.
 */
export function fieldsOf(body: string): Array<[string, string]> {
	try {
		const value = parse(body);
		return typeof value === 'object' && value !== null ? flatten(value, '', 0).slice(0, 200) : [];
	} catch {
		return [];
	}
}

/** What came and what was answered, for the page; the tests have `received`. */
export class Journal {
	readonly exchanges: Exchange[] = [];
	private count = 0;

	/** @param changed is called whenever there is something new to show */
	constructor(private readonly changed: () => void) {}

	/** Begins an exchange and follows its answer. */
	begin(request: Request, response: Response): Exchange {
		const { authorization = '', 'content-type': type, 'user-agent': agent } = request.headers;
		const exchange: Exchange = {
			number: ++this.count,
			at: new Date().toISOString(),
			method: request.method,
			path: request.path,
			headers: {
				authorization,
				'content-type': type ?? '(none)',
				'user-agent': agent ?? '(none)',
			},
			body: '',
		};
		this.exchanges.push(exchange);
		if (this.exchanges.length > KEPT) this.exchanges.shift();

		let sent = '';
		const send = response.send.bind(response);
		response.send = (body) => {
			if (typeof body === 'string') sent = body;
			return send(body);
		};
		response.on('close', () => {
			if (exchange.answer === undefined) {
				const whole = response.writableFinished;
				this.answered(
					exchange,
					whole ? sent : 'The connection ended without a response.',
					whole ? response.statusCode : undefined,
				);
			}
		});
		this.changed();
		return exchange;
	}

	/** Adds the body of a request, once it was read. */
	bodyCame(exchange: Exchange, body: string): void {
		exchange.body = body;
		this.changed();
	}

	/** Writes down what was answered, or in words what was done instead. */
	answered(exchange: Exchange, body: string, status?: number): void {
		exchange.answer = { at: new Date().toISOString(), status, body };
		this.changed();
	}
}
