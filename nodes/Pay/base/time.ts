import { sleep } from 'n8n-workflow';

/** How soon a pause notices that the execution was cancelled, in milliseconds. */
const STEP_MS = 200;

/** Pauses for some milliseconds, and no longer once the execution is cancelled. */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
	const end = performance.now() + ms;
	while (signal?.aborted !== true) {
		const left = end - performance.now();
		if (left <= 0) return;
		await sleep(Math.min(STEP_MS, left));
	}
}

/**
 * Waits for work no longer than a time limit, or until a signal.
 * @param ms the limit in milliseconds
 * @param late what is thrown then; the work itself goes on
 */
export async function within<T>(
	work: Promise<T>,
	ms: number,
	late: () => Error,
	cancel?: AbortSignal,
): Promise<T> {
	const clock = AbortSignal.timeout(ms);
	let giveUp = () => {};
	const limit = new Promise<never>((_, reject) => {
		giveUp = () => reject(late());
	});
	const signals = [clock, cancel];
	for (const signal of signals) signal?.addEventListener('abort', giveUp, { once: true });
	if (cancel?.aborted) giveUp();
	try {
		return await Promise.race([work, limit]);
	} finally {
		// Both outlive the work.
		for (const signal of signals) signal?.removeEventListener('abort', giveUp);
	}
}
