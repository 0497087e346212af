import {
	sleep,
	WAIT_FOR_SUB_EXECUTION,
	type IExecuteFunctions,
	type INodeExecutionData,
} from 'n8n-workflow';
import type { ExpectationStore, Wait } from './expectation';

/** How long before a limit n8n may set its timer, and how late that may act; in milliseconds. */
const TIMER_SET = 75_000;
const TIMER_LATE = 5_000;
/** How soon a pause notices that the execution was cancelled. */
const STEP = 200;

/** Whether a wait was ended by a postback, as far as its execution can tell. */
export function endedByPostback(context: IExecuteFunctions): (wait: Wait) => boolean {
	const data = context.getWorkflowDataProxy(0);
	return ({ node, run }) => {
		try {
			const output = data.$items(node, 0, run) as INodeExecutionData[];
			return output.some(({ json }) => 'postback' in json);
		} catch {
			// Several postbacks at one moment, and n8n 1 resumes more than once and loses the run.
			return true;
		}
	};
}

/**
 * Pauses while n8n's timer for an earlier wait may still run. A postback that ends a wait does not
 * clear it, and it would end the next wait of the execution as if that one's own limit had passed.
 * n8n 2 leaves an execution alone that is running then; n8n 1 would start it a second time.
 * @returns a hint for the person in the editor, where there was a pause
 */
export async function outlastTimers(context: IExecuteFunctions): Promise<string | undefined> {
	if (WAIT_FOR_SUB_EXECUTION === undefined) return undefined;
	const { postbacks = [] } = context.getContext('flow') as ExpectationStore;
	const now = Date.now();
	const isRunning = (until: number) => until - TIMER_SET <= now && now < until + TIMER_LATE;
	const running = postbacks.flatMap((event) =>
		'node' in event &&
		event.executionId === context.getExecutionId() &&
		event.until !== undefined &&
		isRunning(event.until) &&
		endedByPostback(context)(event)
			? [event.until]
			: [],
	);
	if (running.length === 0) return undefined;
	const end = Math.max(...running) + TIMER_LATE;
	const signal = context.getExecutionCancelSignal?.();
	while (Date.now() < end && signal?.aborted !== true) {
		await sleep(Math.min(STEP, Math.max(1, end - Date.now())));
	}
	return `Paused for ${Math.ceil((end - now) / 1000)} s: the wait before this was ended shortly before its time limit, and n8n's timer for that limit would have ended the next wait.`;
}
