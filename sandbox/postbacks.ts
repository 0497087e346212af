/** One try to deliver a notification. */
export interface Delivery {
	at: string;
	/** What the receiver answered: a status, or why there was none. */
	answer: number | string;
}

/** Pauses between tries, in milliseconds. The service's own retries are not documented. */
const PAUSES = [500, 1000, 2000, 4000];

const pause = async (ms: number) => await new Promise((resolve) => setTimeout(resolve, ms).unref());

async function deliverOnce(url: string, payload: unknown): Promise<number | string> {
	try {
		const answer = await fetch(url, {
			method: 'POST',
			headers: { 'Content-Type': 'application/json' },
			body: JSON.stringify(payload),
			redirect: 'manual',
			signal: AbortSignal.timeout(10_000),
		});
		await answer.arrayBuffer();
		return answer.status;
	} catch (error) {
		const { cause, message } = error as Error & { cause?: { code?: string } };
		return cause?.code ?? message;
	}
}

/**
 * Sends a notification until the receiver answers 2xx, a few times at most.
 * @param onDelivery is told of every try
 */
export async function deliver(
	url: string,
	payload: unknown,
	onDelivery: (delivery: Delivery) => void,
): Promise<void> {
	for (const wait of [0, ...PAUSES]) {
		if (wait > 0) await pause(wait);
		const answer = await deliverOnce(url, payload);
		onDelivery({ at: new Date().toISOString(), answer });
		if (typeof answer === 'number' && answer >= 200 && answer <= 299) return;
	}
}
