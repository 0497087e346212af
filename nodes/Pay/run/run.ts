import type { IExecuteFunctions, INodeExecutionData, INodeParameters } from 'n8n-workflow';
import { accountReader } from '../account/credentials';
import { sessionOf } from '../account/standing';
import { asError } from '../base/inputError';
import { pause } from '../base/time';
import { refuseExpressions, refuseItemDataInTool, readFieldByField } from '../fields/expressions';
import { changingIdHint, refuseInventedId } from '../fields/text';
import { isLost, type Passage, passageOf, type PassageStore } from '../n8n1/passage';
import { keptProof, randomProof } from '../postback/proof';
import { type AskingExecution, testPathOf } from '../postback/target';
import { countWaits, type ExpectationStore, outlastTimers } from '../postback/waiting';
import { tokenPoster } from '../service/client';
import { isEarlierState, type RunCount } from './earlierState';
import type { Done, Ready, Step } from './item';
import { forgetResponses, hasTried, type LedgerStore, openLedger } from './ledger';
import { beginCancelLog, endCancelLog, highlight, showHints } from './notes';
import {
	type ReadingContext,
	readItem,
	readRunSettings,
	type RequestOperation,
	type TypedOptions,
} from './read';
import { nodeThatSharesRecord, RunRecords } from './records';
import {
	noDuplicateStore,
	notPermittedToAgents,
	recordIsShared,
	runFromEarlierState,
	sameIdAsItem,
} from './refusals';
import {
	judgeRun,
	keptOfExecution,
	refusalOfCancelled,
	withinWaits,
	refusalOf,
	triedBefore,
	withinLimits,
} from './refuse';
import {
	addResults,
	continuesOnFailure,
	isRunByAiAgent,
	openTally,
	outputOfFailures,
	resultOfRefusal,
	type Tally,
	throwIfFailed,
	toOutputItem,
} from './report';
import { sendBatch, sendItem } from './send';
import { isCancelled, type Run } from './state';
import { notFinished } from './words';

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
	const tally = openTally(context.getNode(), operation, count, continuesOnFailure(context));
	const cancelLog = beginCancelLog(context, tally);
	const { run, items } = await beginRun(context, operation, tally);
	try {
		for (const { index, request } of items.ready) tally.remaining.set(index, request.external_id);
		conclude(tally, items.done);
		if (run !== undefined) await sendAll(run, items.ready);
		const output = await toItems(context, tally);
		if (run !== undefined && !tally.hasFailed) forgetResponses(run.ledger);
		return [output];
	} finally {
		// None of these throws: requests have been sent.
		for (const hint of (await run?.records?.close()) ?? []) tally.hints.add(hint);
		highlight(context, tally);
		showHints(context, tally);
		endCancelLog(cancelLog);
	}
}

/**
 * Reads the settings of a run and all of its items. Never rejects: if something is wrong with the run, every item
 * is refused for it. Such a run is still given once it has opened its records, which must be closed.
 */
async function beginRun(
	context: IExecuteFunctions,
	operation: RequestOperation,
	tally: Tally,
): Promise<{ run: Run | undefined; items: Step }> {
	let run: Run | undefined;
	try {
		run = setUp(context, operation, tally);
		return { run, items: await readItems(run) };
	} catch (error) {
		return { run, items: { ready: [], done: failEach(operation, tally.items, error) } };
	}
}

/** Records and sends items: batch by batch, or with a batch of them always in flight. */
async function sendAll(run: Run, items: Ready[]): Promise<void> {
	await prepareToSend(run, items);
	const { batchSize, batchInterval } = run.settings;
	if (isContinuous(run)) {
		const left = items.values();
		const senders: Array<Promise<void>> = [];
		for (let each = 0; each < batchSize; each++) senders.push(sendOneByOne(run, left));
		await concludeAll(run.tally, senders);
		return;
	}
	for (let start = 0; start < items.length; start += batchSize) {
		if (start > 0) await pause(batchInterval, run.signal);
		conclude(run.tally, await sendBatch(run, items.slice(start, start + batchSize)));
	}
}

/** Gives every item the same failure. */
function failEach(operation: RequestOperation, count: number, error: unknown): Done[] {
	const done: Done[] = [];
	const result = resultOfRefusal(operation, {}, error);
	for (let index = 0; index < count; index++) done.push({ index, result });
	return done;
}

/** Adds results to the tally. Throws if one of them is a failure, unless the node continues on failures. */
function conclude(tally: Tally, results: Done[]): void {
	addResults(tally, results);
	throwIfFailed(tally);
}

async function prepareToSend({ context, records, settings, tally }: Run, items: Ready[]) {
	if (items.some(({ expectation }) => expectation !== undefined)) {
		const hint = await outlastTimers(context);
		if (hint !== undefined) tally.hints.add(hint);
	}
	// A later batch may hold the oldest payments of n8n's list, which must not be dropped before that.
	if (items.length > settings.batchSize) records?.keepAll();
}

/**
 * Whether items are sent with a batch of them in flight: when one has ended, the next goes out. Payments are sent
 * batch by batch, because recording one rewrites n8n's whole list.
 */
function isContinuous({ records, settings }: Run): boolean {
	return records === undefined && settings.batchInterval === 0;
}

/** Sends one item after another. Several of these loops share the items and run at the same time. */
async function sendOneByOne(run: Run, left: Iterable<Ready>): Promise<void> {
	const { tally } = run;
	for (const item of left) {
		if (isCancelled(run)) {
			addResults(tally, [refusalOfCancelled(run, item)]);
		} else {
			const end = await sendItem(run, item);
			if (end.is === 'done') addResults(tally, [end.done]);
		}
		if (tally.isStopping) return;
	}
}

/** Waits until all have ended, so that an error says what became of every item that was in flight. */
async function concludeAll(tally: Tally, senders: Array<Promise<void>>): Promise<void> {
	const ends = await Promise.allSettled(senders);
	throwIfFailed(tally);
	for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

/** Gives the output items in the order of the input. If something cannot be added to an item, a hint says so. */
async function toItems(
	context: IExecuteFunctions,
	{ done, hints }: Tally,
): Promise<INodeExecutionData[]> {
	const items: INodeExecutionData[] = [];
	const output = outputOfFailures(context.getNode());
	for (const { index, result, finish } of [...done].sort((a, b) => a.index - b.index)) {
		const item = toOutputItem(result, index, output);
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

/** What the Pay nodes of an execution keep in n8n's context of the execution. */
type FlowStore = LedgerStore & ExpectationStore & RunCount & PassageStore;

/** Reads what concerns all items. Hints about it go to the tally. */
function setUp(context: IExecuteFunctions, operation: RequestOperation, tally: Tally): Run {
	const { name, parameters, credentials } = context.getNode();
	const refusal = judgeRun(context, operation);
	if (refusal !== undefined) throw refusal;
	const isTool = isRunByAiAgent(context);
	readFieldByField(operation.description, parameters);
	refuseExpressions(operation.fixedOptions, parameters.options);
	if (isTool) readToolParameters(operation, parameters);
	const options = context.getNodeParameter('options', 0, {}) as TypedOptions;
	const settings = readRunSettings(options, operation.batchSize);
	// Shared by all Pay nodes of the execution: a second node must not pay an id again either.
	const store = (keptOfExecution(context) ?? {}) as FlowStore;
	const executionId = context.getExecutionId();
	const passage = passageOf(store, executionId, countWaits(store, executionId));
	const isEarlier = isEarlierState(executionId, store);
	const isElsewhere = isEarlier || (passage !== undefined && isLost(passage));
	const ledger = openLedger(store, {
		operation,
		executionId,
		node: name,
		run: String(context.evaluateExpression('{{ $runIndex }}', 0)),
		isTool,
		credentialId: credentials?.payApi?.id ?? '',
	});
	let records: RunRecords | undefined;
	if (operation.isMoneyOut) {
		records = openRecords(context, operation, hasTried(ledger), passage);
		// An External ID that changes with each try gets past every check against repeats.
		const changing = changingIdHint(parameters.external_id, operation.words);
		if (changing !== undefined) tally.hints.add(changing);
	}
	const { httpRequest } = context.helpers;
	return {
		context,
		operation,
		settings,
		ledger,
		isElsewhere,
		expectations: store,
		records,
		session: sessionOf(context),
		httpRequest,
		postTokenRequest: tokenPoster(httpRequest, settings.timeout),
		signal: context.getExecutionCancelSignal?.(),
		tally,
	};
}

/** Refuses what a tool of an AI agent must not have. It reads what was typed, because a model can fill in expressions. */
function readToolParameters(operation: RequestOperation, parameters: INodeParameters): void {
	const { agentPermission, description, isMoneyOut, words } = operation;
	refuseItemDataInTool(description, parameters);
	if (agentPermission !== 'not needed') {
		const typed = (parameters.options ?? {}) as TypedOptions;
		if (typed[agentPermission.name] !== true) throw notPermittedToAgents(words, agentPermission);
	}
	if (isMoneyOut) refuseInventedId(parameters.external_id, words);
}

/** Opens the record of payments. Throws if this n8n has none, or if another node of the workflow changes it. */
function openRecords(
	context: IExecuteFunctions,
	operation: RequestOperation,
	hasTriedBefore: boolean,
	passage: Passage | undefined,
): RunRecords {
	const { helpers } = context;
	// If this n8n lacks one of them, it must be noticed now, and not after money has moved.
	const methods = [
		helpers.checkProcessedAndRecord,
		helpers.removeProcessed,
		helpers.getProcessedDataCount,
	];
	if (methods.some((method) => typeof method !== 'function')) {
		throw noDuplicateStore(operation.words);
	}
	const sharing = nodeThatSharesRecord(context);
	if (sharing !== undefined) throw recordIsShared(operation.words, sharing);
	return new RunRecords({
		helpers,
		workflowId: String(context.getWorkflow().id),
		operation,
		signal: context.getExecutionCancelSignal?.(),
		hasTriedBefore,
		passage,
	});
}

/** Reads all items before any is sent. Gives those that may be sent, and the results of the others. */
async function readItems(run: Run): Promise<Step> {
	const { context, operation, settings, tally } = run;
	const { isMoneyOut, words } = operation;
	const reading: ReadingContext = {
		context,
		typed: context.getNode().parameters,
		shared: new Map(),
		operation,
		settings,
		execution: askingExecution(run),
		accountOf: await accountReader(context, run.ledger.isTool),
	};
	const readable: Ready[] = [];
	const done: Done[] = [];
	/** The first item of each external_id. */
	const firstUses = new Map<string, number>();
	// The other run may have sent them.
	const isElsewhere = run.isElsewhere || (await run.records?.claimPassage()) === false;
	for (let index = 0; index < tally.items; index++) {
		const item = await readItem(reading, index);
		if ('result' in item) {
			done.push(item);
			continue;
		}
		if (isElsewhere) {
			done.push(refusalOf(run, item, runFromEarlierState(words), 'duplicate'));
			continue;
		}
		run.ledger.tokenIds.add(item.tokenId);
		const { external_id } = item.request;
		const first = firstUses.get(external_id);
		if (first === undefined) firstUses.set(external_id, index);
		else if (isMoneyOut) {
			const refusal = sameIdAsItem(words, first, index, external_id);
			done.push(refusalOf(run, item, refusal, 'duplicate'));
			continue;
		}
		const doneBefore = triedBefore(run, item);
		if (doneBefore === undefined) readable.push(item);
		else done.push(doneBefore);
	}
	const afterLimits = withinLimits(run, readable);
	const afterWaits = withinWaits(run, afterLimits.ready);
	return {
		ready: afterWaits.ready,
		done: [...done, ...afterLimits.done, ...afterWaits.done],
	};
}

function askingExecution({ context, ledger, session }: Run): AskingExecution {
	let url: unknown;
	const { node, run, isTool } = ledger;
	return {
		id: context.getExecutionId(),
		resumeUrl() {
			// Evaluated once for all items, because n8n makes an isolate for each expression.
			url ??= context.evaluateExpression('{{ $execution.resumeUrl }}', 0);
			return url;
		},
		proofFor(item, { kind, amount, external_id }) {
			// A tool has no items, so a second call may be a second charge even if it asks for the same.
			if (isTool) return randomProof();
			const what = [node, run, item, kind, amount, external_id];
			return keptProof(session.identity, JSON.stringify(what));
		},
		testPath: testPathOf(context),
	};
}
