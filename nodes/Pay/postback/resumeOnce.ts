import type {
	IRunExecutionData,
	IWebhookFunctions,
	IWorkflowExecuteAdditionalData,
} from 'n8n-workflow';
import { BoundedMap } from '../boundedMap';

/*
 * n8n loads a waiting execution when a request begins and resumes what it loaded, however much later
 * the node says so. Meanwhile another postback, or the time limit, may have let the execution go on.
 * n8n 2 then only asks whether the execution waits, be it in a later wait; n8n 1 asks nothing. What
 * ran since would run again (measured: 8 of 8 on 2.41.1 and on 1.123.81).
 */

/** One wait of one execution, as it was when a request began. */
export interface OpenWait {
	/** Names this wait and no other one, of the same execution either. */
	id: string;
	/** The name of the node that waits. */
	node: string;
	/** When its time limit passes, in milliseconds since 1970; absent without one. */
	until?: number;
}

/** What a waiting node keeps in n8n's context of the node, as far as it is read here. */
interface StoredContext {
	awaited?: { id: string };
}

/** More than are resumed while one request is under way. */
const MOST_RESUMED_WAITS = 10_000;
/** The ids of the waits that this process resumed. */
const resumedWaits = new BoundedMap<string, true>(MOST_RESUMED_WAITS);

/** Whether an execution, as n8n has stored it, is in this very wait. */
function isIn({ id, node }: OpenWait, execution: IRunExecutionData): boolean {
	// n8n stores an execution without it when a postback resumes it, before any node runs.
	if (!execution.waitTill) return false;
	// Somebody stopped it.
	if (execution.resultData.error !== undefined) return false;
	if (execution.resultData.lastNodeExecuted !== node) return false;
	const context = execution.executionData?.contextData[`node:${node}`] as StoredContext | undefined;
	return context?.awaited?.id === id;
}

/**
 * Whether a wait is over by now: resumed by another postback, in this process or another one, or at
 * its time limit, after which n8n lets the execution go on by itself at any moment. Rejects where
 * n8n's database fails.
 */
export async function isOver(context: IWebhookFunctions, wait: OpenWait): Promise<boolean> {
	const { additionalData } = context as { additionalData?: IWorkflowExecuteAdditionalData };
	// n8n 1.101 lacks it, 1.104 has it. Without it a process knows only what it resumed itself.
	if (additionalData?.getRunExecutionData !== undefined) {
		const execution = await additionalData.getRunExecutionData(context.getExecutionId());
		if (execution === undefined || !isIn(wait, execution)) return true;
	}
	// n8n 1 may have stored over it that the execution goes on.
	if (resumedWaits.has(wait.id)) return true;
	return wait.until !== undefined && Date.now() >= wait.until;
}

/**
 * Lets one postback of this process resume a wait. Nothing may be awaited between this and the end
 * of `webhook()`. Where n8n then tells the sender that it failed, the next postback may try.
 * @returns whether it is this one
 */
export function claimWait(context: IWebhookFunctions, { id }: OpenWait): boolean {
	if (resumedWaits.has(id)) return false;
	resumedWaits.set(id, true);
	const response = context.getResponseObject();
	response.once('finish', () => {
		if (response.statusCode >= 400) resumedWaits.delete(id);
	});
	return true;
}
