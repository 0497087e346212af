import { randomUUID } from 'node:crypto';
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
	note?: 'again' | 'twice';
	tries: PostbackTry[];
}

/** What a postback says. Its real form is not documented. */
export interface PostbackBody {
	event: string;
	id: string;
	external_id: string;
	amount?: number;
	status: string;
	/** Only once the money went back: the status then says "paid" still. */
	refund?: { amount?: number };
}

/** A postback whose facts are nested one level deep, as many services have it. */
function nested({ event, ...data }: PostbackBody) {
	return { event, data };
}

/** A postback as one entry of a list; the other one is about another charge. */
function listed({ event, ...data }: PostbackBody) {
	const other = {
		id: 'another',
		external_id: 'another-order',
		amount: data.amount,
		status: 'paid',
	};
	return { event, entries: [other, data] };
}

/** The forms of postbacks beside the flat one. */
export const POSTBACK_FORMS = { nested, list: listed };

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
): Promise<PostbackTry & { whole?: string }> {
	try {
		const response = await fetch(url, {
			method: 'POST',
			headers,
			body,
			redirect: 'manual',
			signal: AbortSignal.any([closed, AbortSignal.timeout(LONGEST_RESPONSE)]),
		});
		const whole = await response.text();
		const text = whole.slice(0, TEXT_KEPT);
		return { at: new Date().toISOString(), response: response.status, text, whole };
	} catch (error) {
		const { cause, message } = error as Error & { cause?: { code?: string } };
		return { at: new Date().toISOString(), response: cause?.code ?? message };
	}
}

/** Whether an address gives back a text that it is sent, as services ask before they send postbacks. Never rejects. */
export async function passesChallenge(url: string, closed: AbortSignal): Promise<boolean> {
	const challenge = randomUUID();
	try {
		const address = new URL(url);
		address.searchParams.set('challenge', challenge);
		const signal = AbortSignal.any([closed, AbortSignal.timeout(LONGEST_RESPONSE)]);
		const response = await fetch(address, { redirect: 'manual', signal });
		return response.status === 200 && (await response.text()) === challenge;
	} catch {
		return false;
	}
}

/**
 * Sends a postback until the receiver responds with 2xx, a few times at most. Never rejects.
 * @param onTry is called after every try
 * @param expected the only body of a response that counts; any, when undefined
 */
export async function sendUntilTaken(
	url: string,
	body: string,
	headers: Record<string, string>,
	closed: AbortSignal,
	onTry: (postbackTry: PostbackTry) => void,
	expected?: string,
): Promise<void> {
	for (const wait of [0, ...PAUSES]) {
		if (wait > 0 && !(await pause(wait, closed))) return;
		const { whole, ...postbackTry } = await sendOnce(url, body, headers, closed);
		onTry(postbackTry);
		const { response } = postbackTry;
		const isSuccess = typeof response === 'number' && response >= 200 && response <= 299;
		if (isSuccess && (expected === undefined || whole === expected)) return;
	}
}
