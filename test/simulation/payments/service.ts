import * as fc from 'fast-check';
import type { Outcome } from '../../../nodes/Pay/service/outcome';
import type { Kind } from '../../serviceOperations';

/*
 * The service, its token endpoint, and the way to them. `books` says whether the service carries a
 * request out, whatever its answer is: a gateway answers a 401 to what was carried out behind it.
 */

/** What a request meets. */
export type ResponseFate =
	/** An answer, maybe late. */
	| {
			does: 'answer';
			status: number;
			books: boolean;
			after?: number;
			/** Repeats the request's headers. */
			echo?: true;
			/** Says another word than the one that confirms. */
			open?: true;
	  }
	/** A head of an answer, and a body that never ends. */
	| { does: 'drip'; books: boolean; status: number }
	/** No answer at all. */
	| { does: 'stall'; books: boolean }
	/** The connection breaks after the request was out. */
	| { does: 'breakOff'; books: boolean; code: string }
	/** No connection comes about. */
	| { does: 'notReached'; code: string; syscall?: string }
	/** The connection breaks before the request was out. */
	| { does: 'cutRequest' }
	/** A proxy on the way answers outside of TLS: the service never hears of it. */
	| { does: 'proxyAnswers'; status: number };

/** What a token endpoint does; a token's life is in seconds. */
export type TokenFate = { does: 'give'; life?: number } | { does: 'fail' } | { does: 'stall' };

/** Four in 28 are 401: accounts that are refused are a promise of their own. */
const STATUSES = [
	200, 201, 202, 204, 400, 401, 401, 401, 401, 403, 404, 409, 422, 429, 307, 308, 101, 300, 301,
	302, 303, 304, 408, 499, 500, 502, 503, 504,
];

const books = fc.boolean();

const answer = fc.record(
	{
		does: fc.constant('answer' as const),
		status: fc.constantFrom(...STATUSES),
		books,
		after: fc.constantFrom(1, 999, 1001, 61_000),
		echo: fc.constant(true as const),
		open: fc.constant(true as const),
	},
	{ requiredKeys: ['does', 'status', 'books'] },
);

/** What the service never hears of. */
const UNHEARD: ResponseFate[] = [
	{ does: 'notReached', code: 'ECONNREFUSED', syscall: 'connect' },
	{ does: 'notReached', code: 'ENOTFOUND', syscall: 'getaddrinfo' },
	{ does: 'notReached', code: 'CERT_HAS_EXPIRED' },
	{ does: 'cutRequest' },
	{ does: 'proxyAnswers', status: 407 },
	{ does: 'proxyAnswers', status: 502 },
	{ does: 'proxyAnswers', status: 201 },
];

export const responseFate: fc.Arbitrary<ResponseFate> = fc.oneof(
	{ weight: 4, arbitrary: fc.constant({ does: 'answer' as const, status: 200, books: true }) },
	{ weight: 5, arbitrary: answer },
	{
		weight: 1,
		arbitrary: fc.record({
			does: fc.constant('drip' as const),
			books,
			status: fc.constantFrom(200, 422),
		}),
	},
	{ weight: 1, arbitrary: fc.record({ does: fc.constant('stall' as const), books }) },
	{
		weight: 2,
		arbitrary: fc.record({
			does: fc.constant('breakOff' as const),
			books,
			code: fc.constantFrom('ECONNRESET', 'EPIPE', 'ERR_BAD_RESPONSE', 'HPE_INVALID_CONSTANT'),
		}),
	},
	{ weight: 1, arbitrary: fc.constantFrom(...UNHEARD) },
);

export const tokenFate: fc.Arbitrary<TokenFate> = fc.oneof(
	{
		weight: 3,
		arbitrary: fc.record(
			{ does: fc.constant('give' as const), life: fc.constantFrom(1, 120, 3600) },
			{ requiredKeys: ['does'] },
		),
	},
	{ weight: 1, arbitrary: fc.constantFrom<TokenFate>({ does: 'fail' }, { does: 'stall' }) },
);

/** The token of an account; one that was fetched has a number behind it. */
export function tokenOf(account: number): string {
	return `token-of-account-${account}`;
}

/**
 * An operation as the rules see it. What the node says of it is not looked up: a wrong word would excuse itself.
 */
interface OperationFacts {
	resource: string;
	operation: string;
	/** The last segment of its path. */
	path: string;
	/** The option that lets AI agents use it; none where they may. */
	agentPermission: string | undefined;
	/** What a 409 says of its request. */
	conflict: 'unknown' | 'rejected';
	/** Whether a second one does harm. */
	goesOutOnce: boolean;
	/** Whether it says who is paid. */
	hasRecipient: boolean;
	/** Whether its amounts count against the account's limits. */
	isLimited: boolean;
	/** How often it is played, of ten nodes. */
	weight: number;
}

export const OPERATION_FACTS: Record<Kind, OperationFacts> = {
	payment: {
		resource: 'payment',
		operation: 'create',
		path: 'payment',
		agentPermission: 'allowAiPayments',
		conflict: 'unknown',
		goesOutOnce: true,
		hasRecipient: true,
		isLimited: true,
		weight: 9,
	},
	qrCode: {
		resource: 'qrCode',
		operation: 'create',
		path: 'qrcode',
		agentPermission: undefined,
		conflict: 'rejected',
		goesOutOnce: false,
		hasRecipient: false,
		isLimited: false,
		weight: 1,
	},
};

/** Which operation a request is for. */
export function kindOf(url: string): Kind {
	for (const [kind, { path }] of Object.entries(OPERATION_FACTS)) {
		if (url.endsWith(`/${path}`)) return kind as Kind;
	}
	throw new Error(`No operation has the address ${url}`);
}

/** What an answer's status says of the request, as the table of outcomes has it. */
export function outcomeOf(status: number, kind: Kind): Exclude<Outcome, 'duplicate'> {
	if (status >= 200 && status < 300) return 'accepted';
	if (status === 407) return 'notSent';
	if (status === 307 || status === 308) return 'rejected';
	if (status === 408 || status === 499) return 'unknown';
	if (status === 409) return OPERATION_FACTS[kind].conflict;
	if (status >= 400 && status < 500) return 'rejected';
	return 'unknown';
}

/** The word by which an answer confirms, where the node is told to look for one (Result Field). */
export const CONFIRMING = 'seen';

/** An answer as it sets out. */
export interface Answer {
	status: number;
	/** Whether it repeats the request's headers. */
	echoes: boolean;
	/** Whether its word is the one that confirms. */
	confirms: boolean;
	/** Whether its body never ends. */
	isEndless: boolean;
	/** Whether a proxy gave it, outside of TLS. */
	isFromProxy: boolean;
}

/** The body of an answer to a request with these headers. */
export function bodyOf({ status, echoes, confirms }: Answer, headers: unknown): string {
	if (status === 204 || status === 304) return '';
	// A status that says no with a word that says yes is in doubt, which table tests hold.
	const word = confirms && status < 300 ? CONFIRMING : 'open';
	return JSON.stringify(echoes ? { status: word, headers } : { id: 'tx-1', status: word });
}
