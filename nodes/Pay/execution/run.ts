import {
	sleep,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeParameters,
} from 'n8n-workflow';
import { AccountGate } from '../credential/accountGate';
import { accountReader } from '../credential/accounts';
import { asError } from '../inputError';
import { tokenPoster } from '../service/client';
import { changingIdHint } from '../parameters/text';
import { refuseMovedOptions } from '../parameters/options';
import {
	refuseExpressions,
	refuseItemDataInTool,
	requireFieldByField,
} from '../parameters/parameter';
import {
	countWaits,
	giveWayBehindWait,
	hasGivenWay,
	type ExpectationStore,
} from '../postback/expectation';
import { testPathOf } from '../postback/postbackUrl';
import type { AskingExecution } from '../postback/target';
import { outlastTimers } from '../postback/timer';
import { RunRecords, type Records } from './memory/RunRecords';
import { highlight, logWhenCancelled, showHints } from './editor';
import { isEarlierState, type RunCount } from './earlierState';
import { hasPaid, openLedger, forgetResponses, type LedgerStore } from './ledger';
import {
	readItem,
	readSettings,
	type Done,
	type TypedOptions,
	type Ready,
	type RequestOperation,
	type Step,
} from './read';
import {
	noDuplicateStore,
	notPermittedToAgents,
	runFromEarlierState,
	sameIdAsItem,
} from './words/refusal';
import { notFinished } from './words/result';
import { goesOn, isRunByAiAgent } from './agent';
import { resultOfRefusal, toOutputItem } from './itemResult';
import { refuseForWaits, refuseItem, sendBatch, triedBefore, withinLimits, type Run } from './send';
import { conclude, openTally, type Tally } from './tally';

/** Refuses an AI agent, unless a person permitted agents to use this operation. */
function requirePermission({ words, policy }: RequestOperation, options: unknown): void {
	const { agentPermission } = policy;
	if (agentPermission === 'not needed') return;
	// As it was typed, not what an expression gives: the model could fill that in.
	const typed = (options ?? {}) as TypedOptions;
	if (typed[agentPermission.name] !== true) throw notPermittedToAgents(words, agentPermission);
}

/** What of n8n's context the Pay nodes of an execution keep. */
type FlowStore = LedgerStore & ExpectationStore & RunCount;

/** Refuses parameters, as they were typed, that concern all items. Throws an InputError. */
function checkParameters(
	operation: RequestOperation,
	parameters: INodeParameters,
	isTool: boolean,
): void {
	requireFieldByField(operation.description, parameters);
	refuseMovedOptions(parameters.options);
	refuseExpressions(operation.fixedOptions, parameters.options);
	if (!isTool) return;
	const fields = operation.description.map((field) => field.name);
	refuseItemDataInTool(fields, parameters);
	requirePermission(operation, parameters.options);
}

/** The records of a run: what n8n's list says of its payments. Throws an InputError where n8n has none. */
function openRecords(
	context: IExecuteFunctions,
	operation: RequestOperation,
	store: FlowStore,
	isLater: boolean,
): Records {
	const { helpers } = context;
	const { checkProcessedAndRecord, removeProcessed, getProcessedDataCount } = helpers;
	const methods = [checkProcessedAndRecord, removeProcessed, getProcessedDataCount];
	if (methods.some((method) => typeof method !== 'function')) {
		throw noDuplicateStore(operation.words);
	}
	const executionId = context.getExecutionId();
	return new RunRecords({
		helpers,
		listKey: JSON.stringify([context.getWorkflow().id, context.getNode().id]),
		operation,
		signal: context.getExecutionCancelSignal?.(),
		isLater,
		passage: countWaits(store, executionId) > 0 ? `${executionId} ${store.runs}` : undefined,
	});
}

/** Reads what concerns all items, and asks for the functions of n8n that a run needs; may throw. */
function setUp(context: IExecuteFunctions, operation: RequestOperation, tally: Tally): Run {
	const { name, parameters, credentials } = context.getNode();
	const isTool = isRunByAiAgent(context);
	checkParameters(operation, parameters, isTool);
	const options = context.getNodeParameter('options', 0, {}) as TypedOptions;
	const settings = readSettings(options, operation.batchSize);
	// Shared by all Pay nodes of the execution: a second node must not pay an id again either.
	const store = context.getContext('flow') as FlowStore;
	const executionId = context.getExecutionId();
	const isEarlier = isEarlierState(executionId, store) || hasGivenWay(store, executionId);
	const ledger = openLedger(store, {
		operation,
		executionId,
		node: name,
		run: String(context.evaluateExpression('{{ $runIndex }}', 0)),
		isTool,
		credentialId: credentials?.payApi?.id ?? '',
	});
	let records: Records | undefined;
	if (operation.policy.isRecorded) {
		records = openRecords(context, operation, store, hasPaid(ledger));
		const changing = changingIdHint(parameters.external_id, operation.words);
		if (changing !== undefined) tally.hints.add(changing);
	}
	const { httpRequest } = context.helpers;
	return {
		context,
		operation,
		settings,
		ledger,
		isEarlier,
		expectations: store,
		records,
		gate: new AccountGate(),
		httpRequest,
		postForm: tokenPoster(httpRequest, settings.timeout),
		signal: context.getExecutionCancelSignal?.(),
		tally,
	};
}

/** Whether another process runs the execution from the same wait; then this one sends nothing behind it. */
async function isRunElsewhere({ context, records, expectations }: Run): Promise<boolean> {
	if (records === undefined || !(await records.isRunAgain())) return false;
	giveWayBehindWait(expectations, context.getExecutionId());
	return true;
}

/** The execution as a postback target asks for it; its resume URL is asked of n8n once. */
function askingExecution(context: IExecuteFunctions): AskingExecution {
	let url: unknown;
	return {
		id: context.getExecutionId(),
		resumeUrl() {
			url ??= context.evaluateExpression('{{ $execution.resumeUrl }}', 0);
			return url;
		},
		testPath: testPathOf(context),
	};
}

/**
 * Refuses an item whose external_id an item before it has, where that may go out only once.
 * @param firstUses the first item of each external_id; this one is added
 */
function refuseSecondUse(run: Run, item: Ready, firstUses: Map<string, number>): Done | undefined {
	const { policy, words } = run.operation;
	if (policy.isRepeatable) return undefined;
	const { external_id } = item.request;
	const first = firstUses.get(external_id);
	if (first !== undefined) {
		const refusal = sameIdAsItem(words, first, item.index, external_id);
		return refuseItem(run, item, refusal, 'duplicate');
	}
	firstUses.set(external_id, item.index);
	return undefined;
}

/** Reads all items before any is sent: those that may be, and what became of the others. */
async function readAll(run: Run): Promise<Step> {
	const { context, operation, settings, tally } = run;
	const reading = {
		context,
		typed: context.getNode().parameters,
		shared: new Map<string, unknown>(),
		operation,
		settings,
		execution: askingExecution(context),
		accountOf: await accountReader(context, run.ledger.isTool),
	};
	const step: Step = { ready: [], done: [] };
	const firstUses = new Map<string, number>();
	const isEarlier = run.isEarlier || (await isRunElsewhere(run));
	for (let index = 0; index < tally.items; index++) {
		const item = await readItem(reading, index);
		if ('result' in item) {
			step.done.push(item);
			continue;
		}
		if (isEarlier) {
			step.done.push(refuseItem(run, item, runFromEarlierState(operation.words), 'duplicate'));
			continue;
		}
		run.ledger.tokenIds.add(item.tokenId);
		const done = refuseSecondUse(run, item, firstUses) ?? triedBefore(run, item);
		if (done === undefined) step.ready.push(item);
		else step.done.push(done);
	}
	const { ready, done } = withinLimits(run, step.ready);
	const awaited = refuseForWaits(run, ready);
	return { ready: awaited.ready, done: [...step.done, ...done, ...awaited.done] };
}

/** Sets a run up and reads its items; what concerns all of them makes each fail alike. */
async function start(
	context: IExecuteFunctions,
	operation: RequestOperation,
	tally: Tally,
): Promise<Step & { run?: Run }> {
	try {
		const run = setUp(context, operation, tally);
		return { run, ...(await readAll(run)) };
	} catch (error) {
		const result = resultOfRefusal(operation.kind, undefined, error);
		return { ready: [], done: context.getInputData().map((_, index) => ({ index, result })) };
	}
}

/** Sends items batch by batch: each is recorded and sent as a whole, when the one before has ended. */
async function sendInBatches(run: Run, items: Ready[]): Promise<void> {
	const { batchSize, batchInterval } = run.settings;
	if (items.length > batchSize) run.records?.keepAll();
	for (let start = 0; start < items.length; start += batchSize) {
		const isCancelled = run.signal?.aborted === true;
		if (start > 0 && batchInterval > 0 && !isCancelled) await sleep(batchInterval);
		conclude(run.tally, await sendBatch(run, items.slice(start, start + batchSize)));
	}
}

/** Sends items with a batch of them in flight: when one has ended, the next goes out. */
async function sendContinuously(run: Run, items: Ready[]): Promise<void> {
	let next = 0;
	const sendOn = async () => {
		for (let item = items[next++]; item !== undefined; item = items[next++]) {
			conclude(run.tally, await sendBatch(run, [item]));
		}
	};
	const ends = await Promise.allSettled(Array.from({ length: run.settings.batchSize }, sendOn));
	// What one of them stopped at says now what became of those in flight in the others.
	conclude(run.tally, []);
	for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

async function sendAll(run: Run, items: Ready[]): Promise<void> {
	if (run.records !== undefined || run.settings.batchInterval > 0) await sendInBatches(run, items);
	else await sendContinuously(run, items);
}

/** The output items, in the order of the input; what cannot be added to one becomes a hint. */
async function toItems(
	context: IExecuteFunctions,
	{ done, hints }: Tally,
): Promise<INodeExecutionData[]> {
	const items: INodeExecutionData[] = [];
	for (const { index, result, finish } of [...done].sort((a, b) => a.index - b.index)) {
		const item = toOutputItem(result, index);
		items.push(item);
		if (result.outcome !== 'accepted') continue;
		try {
			const problem = await finish?.(item, context.helpers.prepareBinaryData);
			if (problem !== undefined) hints.add(problem);
		} catch (error) {
			hints.add(notFinished(result.external_id, asError(error)));
		}
	}
	return items;
}

/**
 * Runs an operation of the service for all input items: reads all, then records and sends them in
 * batches, and turns every outcome into an item, or, unless the node continues, an error.
 */
export async function runRequests(
	context: IExecuteFunctions,
	operation: RequestOperation,
): Promise<INodeExecutionData[][]> {
	const count = context.getInputData().length;
	if (count === 0) return [[]];
	const tally = openTally(context.getNode(), operation, count, goesOn(context));
	const stopLogging = logWhenCancelled(context, tally);
	let run: Run | undefined;
	try {
		const started = await start(context, operation, tally);
		run = started.run;
		for (const { index, request } of started.ready) tally.waiting.set(index, request.external_id);
		conclude(tally, started.done);
		if (started.ready.some(({ expectation }) => expectation !== undefined)) {
			const pause = await outlastTimers(context);
			if (pause !== undefined) tally.hints.add(pause);
		}
		if (run !== undefined) await sendAll(run, started.ready);
		const items = await toItems(context, tally);
		if (run !== undefined && tally.done.every(({ result }) => result.outcome === 'accepted')) {
			forgetResponses(run.ledger);
		}
		return [items];
	} finally {
		// None of these throws: requests have been sent.
		for (const hint of (await run?.records?.close()) ?? []) tally.hints.add(hint);
		highlight(context, tally);
		showHints(context, tally);
		stopLogging();
	}
}
