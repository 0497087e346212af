import { setTimeout as sleep } from 'node:timers/promises';

/** One try to deliver a notification. */
export interface Delivery {
	at: string;
	/** What the receiver answered: a status, or why there was none. */
	answer: number | string;
	/** The beginning of the answer's body. */
	text?: string;
}

/** A notification on its way to a postback URL. */
export interface Postback {
	at: string;
	/** Exactly what is sent; a repeat has the same bytes. */
	body: string;
	/** Why it is sent, when it is not the first of its kind. */
	note?: 'again' | 'twice' | 'late';
	/** When it will be sent, if that is later. */
	due?: string;
	deliveries: Delivery[];
}

/** What a notification tells. Its real form is not documented. */
export interface Notification {
	event: string;
	id: string;
	external_id: string;
	amount: number;
	status: string;
}

/** A notification whose facts are nested one level deep, as many services have it. */
export function nested({ event, ...data }: Notification) {
	return { event, data };
}

/** Pauses between tries, in milliseconds. The service's own retries are not documented. */
const PAUSES = [500, 1000, 2000, 4000];

/** Waits, without keeping the process alive; false if the sandbox was closed meanwhile. */
export async function pause(ms: number, closed: AbortSignal): Promise<boolean> {
	return await sleep(ms, true, { ref: false, signal: closed }).catch(() => false);
}

async function deliverOnce(
	url: string,
	body: string,
	headers: Record<string, string>,
	closed: AbortSignal,
): Promise<Omit<Delivery, 'at'>> {
	try {
		const answer = await fetch(url, {
			method: 'POST',
			headers: { 'Content-Type': 'application/json', ...headers },
			body,
			redirect: 'manual',
			signal: AbortSignal.any([closed, AbortSignal.timeout(10_000)]),
		});
		return { answer: answer.status, text: (await answer.text()).slice(0, 500) };
	} catch (error) {
		const { cause, message } = error as Error & { cause?: { code?: string } };
		return { answer: cause?.code ?? message };
	}
}

/**
 * Sends a notification until the receiver answers 2xx, a few times at most.
 * @param onDelivery is told of every try
 */
export async function deliver(
	url: string,
	body: string,
	headers: Record<string, string>,
	closed: AbortSignal,
	onDelivery: (delivery: Delivery) => void,
): Promise<void> {
	for (const wait of [0, ...PAUSES]) {
		if (wait > 0 && !(await pause(wait, closed))) return;
		const delivery = await deliverOnce(url, body, headers, closed);
		onDelivery({ at: new Date().toISOString(), ...delivery });
		const { answer } = delivery;
		if (typeof answer === 'number' && answer >= 200 && answer <= 299) return;
	}
}
