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
