import type { Outcome } from '../../nodes/Pay/service/outcome';

/**
 * What a request to the service meets, drawn by the scenario. `books` says whether the service
 * carries it out, whatever its answer is: a gateway answers a 401 to what was carried out behind it.
 */
export type Fate =
	/** An answer, maybe late; `echo` repeats the request's headers in it. */
	| {
			does: 'answer';
			status: number;
			books: boolean;
			after?: number;
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

/** What an answer's status says of the request, as the table of outcomes has it. */
export function saidBy(status: number, kind: 'payment' | 'qrCode'): Exclude<Outcome, 'duplicate'> {
	if (status >= 200 && status < 300) return 'accepted';
	if (status === 407) return 'notSent';
	if (status === 307 || status === 308) return 'rejected';
	if (status === 408 || status === 499) return 'unknown';
	if (status === 409 && kind === 'payment') return 'unknown';
	return status >= 400 && status < 500 ? 'rejected' : 'unknown';
}

/** A failure as n8n's request helper throws it. */
export function transportError(
	code: string,
	more: { syscall?: string; name?: string; writableFinished?: boolean } = {},
): Error {
	const { syscall, name = 'AxiosError', writableFinished } = more;
	const request = writableFinished === undefined ? undefined : { writableFinished, socket: null };
	return Object.assign(new Error(code), { name, code, syscall, request });
}

/** The word by which an answer confirms, where the node is told to look for one (Result Field). */
export const CONFIRMING = 'seen';

/** The body of an answer. */
export function answerText(
	status: number,
	headers: Record<string, unknown>,
	{ echo = false, confirms = true },
): string {
	if (status === 204 || status === 304) return '';
	// A status that says no with a word that says yes is in doubt, which table tests hold.
	const said = confirms && status < 300 ? CONFIRMING : 'open';
	return JSON.stringify(echo ? { status: said, headers } : { id: 'tx-1', status: said });
}

/** What a token endpoint does. */
export type TokenFate = { does: 'give'; life?: number } | { does: 'fail' } | { does: 'stall' };
