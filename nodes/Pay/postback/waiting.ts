import type {
	IExecuteFunctions,
	INodeExecutionData,
	IRunExecutionData,
	IWebhookFunctions,
} from 'n8n-workflow';
import { BoundedMap } from '../base/boundedMap';
import { additionalDataOf } from '../base/n8n';
import { pause } from '../base/time';
import { isN8n1 } from '../n8n1/version';
import type { StatusWords } from '../service/state';
import type { Reference } from './proof';

/** A request that asked for its postback to come to its own execution. */
export interface Expectation extends Reference {
	is: 'request';
	/** The editor's Retry is another execution with the same store. */
	executionId: string;
	/** The hash of the random proof in the postback's URL, which says nothing of the charge or payment itself. */
	hash: string;
	/** The words of the account: a wait has none of its own. */
	status?: StatusWords;
	/** Whether the account checks the service's own signature; a wait does so with a credential of its own. */
	isSigned?: true;
	/** Set where the request was accepted: a postback will come. */
	isAccepted?: true;
	/** Set where the request was rejected or not sent: no postback will come. */
	isVoid?: true;
}

/** A wait that began: a run of a node. */
interface Wait {
	is: 'wait';
	external_id: string;
	executionId: string;
	node: string;
	run: number;
	/** When its time limit passes, in milliseconds; absent without one. */
	until?: number;
}

/** n8n's context object of the execution, saved with it. */
export interface ExpectationStore {
	/** In the order in which it happened. */
	postbacks?: Array<Expectation | Wait>;
}

export function recordExpectation(store: ExpectationStore, expectation: Expectation): void {
	store.postbacks ??= [];
	store.postbacks.push(expectation);
}

/** Records, in the object that was stored, that a postback will not come after all. */
export function withdrawExpectation(expectation: Expectation): void {
	expectation.isVoid = true;
}

/** Records, in the object that was stored, that a postback will come. */
export function confirmExpectation(expectation: Expectation): void {
	expectation.isAccepted = true;
}

export function recordWait(store: ExpectationStore, wait: Omit<Wait, 'is'>): void {
	store.postbacks = [...(store.postbacks ?? []), { is: 'wait', ...wait }];
}

/** The hashes of all proofs that an execution has given so far. */
export function hashesOf({ postbacks = [] }: ExpectationStore): string[] {
	const hashes: string[] = [];
	for (const event of postbacks) {
		if (event.is === 'request') hashes.push(event.hash);
	}
	return hashes;
}

/**
 * The External ID of another accepted request of an execution whose postback is still to come: no wait has
 * begun for it. Undefined where there is none.
 */
export function otherStillAwaited(
	{ postbacks = [] }: ExpectationStore,
	{ external_id, executionId }: Expectation,
): string | undefined {
	const awaited = new Set<string>();
	for (const event of postbacks) {
		if (event.executionId !== executionId || event.external_id === external_id) continue;
		if (event.is === 'wait') awaited.delete(event.external_id);
		else if (event.isAccepted) awaited.add(event.external_id);
	}
	const [first] = awaited;
	return first;
}

/** How often an execution has waited for a postback before. */
export const countWaits = ({ postbacks = [] }: ExpectationStore, executionId: string) =>
	postbacks.filter((event) => event.is === 'wait' && event.executionId === executionId).length;

/**
 * The requests whose postbacks may end a wait: those of this external_id that this very execution made. A new
 * charge after a wait that a postback ended replaces those before it; else a repeated "paid" of the one would
 * end the wait for the other. After charge 1, a wait that its time limit ended, charge 2, a wait that a
 * postback ended, and charge 3, the next wait ends with charge 3 alone. Before charge 3 was made, it would
 * have ended with 1 or 2.
 */
export function awaitedRequests(
	{ postbacks = [] }: ExpectationStore,
	external_id: string,
	executionId: string,
	wasEnded: (wait: Wait) => boolean,
): Expectation[] {
	let requests: Expectation[] = [];
	/** A postback has ended a wait for the charges so far. */
	let isReplacedByNext = false;
	for (const event of postbacks) {
		if (event.external_id !== external_id || event.executionId !== executionId) continue;
		if (event.is === 'wait') {
			if (wasEnded(event)) isReplacedByNext = true;
			continue;
		}
		if (isReplacedByNext) requests = [];
		isReplacedByNext = false;
		if (!event.isVoid) requests.push(event);
	}
	return requests;
}

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

/** More waits than this process resumes while one request is under way. */
const MOST_RESUMED_WAITS = 10_000;
/** The ids of the waits that this process resumed. */
const resumedWaits = new BoundedMap<string, true>(MOST_RESUMED_WAITS);

/** True if an execution, as n8n has stored it, is in this very wait. */
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
 * True if a wait is over by now: resumed by another postback, in this process or another one, or at
 * its time limit, after which n8n lets the execution go on by itself at any moment. Rejects where
 * n8n's database fails.
 */
export async function isOver(context: IWebhookFunctions, wait: OpenWait): Promise<boolean> {
	const additionalData = additionalDataOf(context);
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

/** How long before a limit n8n may set its timer, in milliseconds. */
const TIMER_SET = 75_000;
/** How late that timer may act, in milliseconds. */
const TIMER_LATE = 5_000;

/** True if a postback ended a wait, as far as its execution can tell. */
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
		if (event.is !== 'wait' || event.executionId !== context.getExecutionId()) continue;
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
	return `Paused for ${Math.ceil((end - now) / 1000)} s, because the wait before this one ended shortly before its time limit, and n8n's timer for that limit would have ended the next wait.`;
}
