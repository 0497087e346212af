import { setTimeout as sleep } from 'node:timers/promises';

/** One try to send a postback. */
export interface PostbackTry {
	at: string;
	/** The status of the response, or why there was none. */
	response: number | string;
	/** The beginning of the response's body. */
	text?: string;
}

/** A postback on its way to its URL. */
export interface Postback {
	at: string;
	/** Exactly what is sent; a repeat has the same bytes. */
	body: string;
	/** Why it is sent, when it is not the first of its kind. */
	note?: 'again' | 'twice' | 'late';
	/** When it will be sent, if that is later. */
	due?: string;
	tries: PostbackTry[];
}

/** What a postback says. Its real form is not documented. */
export interface PostbackBody {
	event: string;
	id: string;
	external_id: string;
	amount: number;
	status: string;
}

/** A postback whose facts are nested one level deep, as many services have it. */
export function nested({ event, ...data }: PostbackBody) {
	return { event, data };
}

/** Pauses between tries, in milliseconds. The service's own retries are not documented. */
const PAUSES = [500, 1000, 2000, 4000];
/** How long a receiver may take to respond, in milliseconds. */
const LONGEST_RESPONSE = 10_000;
/** How much of a response's body is kept, in characters. */
const TEXT_KEPT = 500;

/** Waits, without keeping the process alive; false if the sandbox was closed meanwhile. */
export async function pause(ms: number, closed: AbortSignal): Promise<boolean> {
	return await sleep(ms, true, { ref: false, signal: closed }).catch(() => false);
}

async function sendOnce(
	url: string,
	body: string,
	headers: Record<string, string>,
	closed: AbortSignal,
): Promise<PostbackTry> {
	try {
		const response = await fetch(url, {
			method: 'POST',
			headers,
			body,
			redirect: 'manual',
			signal: AbortSignal.any([closed, AbortSignal.timeout(LONGEST_RESPONSE)]),
		});
		const text = (await response.text()).slice(0, TEXT_KEPT);
		return { at: new Date().toISOString(), response: response.status, text };
	} catch (error) {
		const { cause, message } = error as Error & { cause?: { code?: string } };
		return { at: new Date().toISOString(), response: cause?.code ?? message };
	}
}

/**
 * Sends a postback until the receiver responds with 2xx, a few times at most. Never rejects.
 * @param onTry is called after every try
 */
export async function sendUntilTaken(
	url: string,
	body: string,
	headers: Record<string, string>,
	closed: AbortSignal,
	onTry: (postbackTry: PostbackTry) => void,
): Promise<void> {
	for (const wait of [0, ...PAUSES]) {
		if (wait > 0 && !(await pause(wait, closed))) return;
		const postbackTry = await sendOnce(url, body, headers, closed);
		onTry(postbackTry);
		const { response } = postbackTry;
		if (typeof response === 'number' && response >= 200 && response <= 299) return;
	}
}
