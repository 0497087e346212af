import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { isN8n1 } from '../n8n1/version';
import { pause } from '../pause';
import type { ExpectationStore, Wait } from './expectation';

/** How long before a limit n8n may set its timer, in milliseconds. */
const TIMER_SET = 75_000;
/** How late that timer may act, in milliseconds. */
const TIMER_LATE = 5_000;

/** Whether a wait was ended by a postback, as far as its execution can tell. */
export function wasEndedByPostback(context: IExecuteFunctions, { node, run }: Wait): boolean {
	try {
		const output = context.getWorkflowDataProxy(0).$items(node, 0, run) as INodeExecutionData[];
		return output.some(({ json }) => 'postback' in json);
	} catch {
		// n8n 1 has lost the run: it does so where several postbacks at one moment resume it more than once.
		return true;
	}
}

/** When the last limit passes for which n8n's timer may still run; undefined without any. */
function lastRunningLimit(context: IExecuteFunctions, now: number): number | undefined {
	const { postbacks = [] } = context.getContext('flow') as ExpectationStore;
	let last: number | undefined;
	for (const event of postbacks) {
		if (!('node' in event) || event.executionId !== context.getExecutionId()) continue;
		const { until } = event;
		if (until === undefined || now < until - TIMER_SET || now >= until + TIMER_LATE) continue;
		if (wasEndedByPostback(context, event)) last = Math.max(last ?? 0, until);
	}
	return last;
}

/**
 * Pauses while n8n's timer for an earlier wait may still run. A postback that ends a wait does not
 * clear it, and it would end the next wait of the execution as if that one's own limit had passed.
 * @returns a hint for the person in the editor, where there was a pause
 */
export async function outlastTimers(context: IExecuteFunctions): Promise<string | undefined> {
	// n8n 2 leaves alone an execution that is running, as one in a pause is. n8n 1 would start that a second
	// time, so there is no pause.
	if (isN8n1) return undefined;
	const now = Date.now();
	const limit = lastRunningLimit(context, now);
	if (limit === undefined) return undefined;
	const end = limit + TIMER_LATE;
	await pause(end - now, context.getExecutionCancelSignal?.());
	return `Paused for ${Math.ceil((end - now) / 1000)} s: the wait before this was ended shortly before its time limit, and n8n's timer for that limit would have ended the next wait.`;
}
