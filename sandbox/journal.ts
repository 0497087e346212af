import type { Request, Response } from 'express';
import { isLosslessNumber, parse } from 'lossless-json';

/** Who is calling, with what kind of body and which program. */
interface ExchangeHeaders {
	authorization: string;
	'content-type': string;
	'user-agent': string;
}

/** A request of any kind and what became of it; the page gets it without its secrets. */
export interface Exchange {
	number: number;
	at: string;
	method: string;
	path: string;
	headers: ExchangeHeaders;
	body: string;
	response?: { at: string; status?: number; body: string };
	/** The transaction that came of it. */
	transaction?: string;
}

/** How many exchanges are kept: a bench must not fill the memory. */
const EXCHANGES_KEPT = 200;
/** How much of a text is shown, in characters. */
const LONGEST_TEXT = 20_000;
/** A shorter token, such as "x", opens nothing here, and taking it out would spoil every text. */
const SHORTEST_SECRET = 8;

/** The first characters of a secret, which tell two of them apart and open nothing. */
export function shortened(secret: string): string {
	return secret.length >= 12 ? `${secret.slice(0, 4)}…` : '…';
}

/** The scheme and the secret of an Authorization header; both empty where it has neither. */
function partsOf(authorization: string): { scheme: string; secret: string } {
	const [, scheme = '', secret = ''] = /^(\S+)(?: +(.*))?$/s.exec(authorization) ?? [];
	return { scheme, secret };
}

/** The secrets with which these requests came. */
export function secretsOf(exchanges: Exchange[]): string[] {
	const secrets = new Set<string>();
	for (const { headers } of exchanges) {
		const { secret } = partsOf(headers.authorization);
		if (secret !== '') secrets.add(secret);
	}
	return [...secrets];
}

/** The headers as they may be shown. */
export function headersWithoutSecret({ headers }: Exchange): ExchangeHeaders {
	const { scheme, secret } = partsOf(headers.authorization);
	return {
		authorization: scheme === '' ? '(none)' : `${scheme} ${shortened(secret)}`,
		'content-type': headers['content-type'],
		'user-agent': headers['user-agent'],
	};
}

/** Tokens, client secrets and proofs where a URL or a form has them, and where JSON has them. */
const SECRET_IN_FORM =
	/((?:^|[?&])(?:client_secret|token|access_token|pay_proof|signature)=)([^&"\s]*)/g;
const SECRET_IN_JSON = /("(?:client_secret|access_token)"\s*:\s*")([^"]*)/g;

/** As much of a text as is shown, without these secrets and without what stands where secrets stand. */
function textWithoutSecrets(text: string, secrets: string[]): string {
	let shown = text;
	for (const secret of secrets) shown = shown.replaceAll(secret, () => shortened(secret));
	const shorten = (_all: string, name: string, secret: string) => name + shortened(secret);
	return shown
		.replace(SECRET_IN_FORM, shorten)
		.replace(SECRET_IN_JSON, shorten)
		.slice(0, LONGEST_TEXT);
}

/** JSON in which each text is without secrets: those that are given, and what stands where secrets stand. */
export function jsonWithoutSecrets(value: unknown, secrets: string[]): string {
	const longestFirst = secrets.filter((secret) => secret.length >= SHORTEST_SECRET);
	// Otherwise a secret that begins with another one would keep its end.
	longestFirst.sort((a, b) => b.length - a.length);
	return JSON.stringify(value, (_name, member: unknown) =>
		typeof member === 'string' ? textWithoutSecrets(member, longestFirst) : member,
	);
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

/** The requests and their responses, for the page; the tests have `received`. */
export class Journal {
	readonly exchanges: Exchange[] = [];
	private count = 0;

	/** @param changed is called whenever there is something new to show */
	constructor(private readonly changed: () => void) {}

	/** Begins an exchange and follows its response. */
	begin(request: Request, response: Response): Exchange {
		const { authorization = '', 'content-type': type, 'user-agent': agent } = request.headers;
		const exchange: Exchange = {
			number: ++this.count,
			at: new Date().toISOString(),
			method: request.method,
			path: request.path,
			headers: { authorization, 'content-type': type ?? '(none)', 'user-agent': agent ?? '(none)' },
			body: '',
		};
		this.exchanges.push(exchange);
		if (this.exchanges.length > EXCHANGES_KEPT) this.exchanges.shift();

		let sentBody = '';
		const send = response.send.bind(response);
		response.send = (body) => {
			if (typeof body === 'string') sentBody = body;
			return send(body);
		};
		response.on('close', () => {
			if (exchange.response !== undefined) return;
			if (response.writableFinished) this.responded(exchange, sentBody, response.statusCode);
			else this.responded(exchange, 'The connection ended without a response.');
		});
		this.changed();
		return exchange;
	}

	/** Adds the body of a request, once it was read. */
	bodyCame(exchange: Exchange, body: string): void {
		exchange.body = body;
		this.changed();
	}

	/** Writes down the response, or in words what was done instead. */
	responded(exchange: Exchange, body: string, status?: number): void {
		exchange.response = { at: new Date().toISOString(), status, body };
		this.changed();
	}
}
