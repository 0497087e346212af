import { sleep, type IExecuteFunctions, type INodeExecutionData } from 'n8n-workflow';
import { readAccounts } from '../credential/connection';
import { postForm } from '../service/client';
import type { Kind } from '../service/contract';
import { openRecords, type Records } from './duplicateCheck';
import { highlight, logWhenCancelled, showHints } from './editor';
import { consult, openLedger, settle, type LedgerStore } from './ledger';
import {
	readItem,
	readSettings,
	type Done,
	type Options,
	type Ready,
	type RequestOperation,
	type Step,
} from './read';
import {
	acceptedWithOtherDetails,
	agentMayNotPay,
	noDuplicateStore,
	sameIdAsItem,
	sentInThisExecution,
} from './refusals';
import { acceptedItem, failedItem, refusedResult, stillUnknownResult } from './report';
import { refuse, sendBatch, type Run } from './send';
import { conclude, openTally, type Tally } from './tally';

/** n8n runs a node as an AI agent's tool under a node type of its own, whose name ends in Tool. */
function isRunByAiAgent(context: IExecuteFunctions): boolean {
	return context.getNode().type.endsWith('Tool') || context.isToolExecution?.() === true;
}

/**
 * Reads what concerns all items, and asks for the functions of n8n that a run cannot do without.
 * @throws InputError, or n8n's own error; then every item fails alike
 */
function setUp<K extends Kind>(
	context: IExecuteFunctions,
	operation: RequestOperation<K>,
	tally: Tally,
	hint: (text: string) => void,
): Run<K> {
	const { kind } = operation;
	const options = context.getNodeParameter('options', 0, {}) as Options;
	const settings = readSettings(options, operation.batchSize);
	const { helpers } = context;
	const { name, id } = context.getNode();
	const signal = context.getExecutionCancelSignal?.();
	let records: Records | undefined;
	if (kind === 'payment') {
		if (!settings.allowAiPayments && isRunByAiAgent(context)) throw agentMayNotPay();
		const { checkProcessedAndRecord, removeProcessed } = helpers;
		if (typeof checkProcessedAndRecord !== 'function' || typeof removeProcessed !== 'function') {
			throw noDuplicateStore();
		}
		const place = JSON.stringify([context.getWorkflow().id, id]);
		records = openRecords({ helpers, check: settings.duplicateCheck, place, signal });
	}
	const runIndex = String(context.evaluateExpression('{{ $runIndex }}', 0));
	// Shared by all Pay nodes of the execution: a second node must not pay an id again either.
	const store = context.getContext('flow') as LedgerStore;
	const ledger = openLedger(store, kind, `${name}, run ${runIndex}`);
	const { httpRequest } = helpers;
	return {
		...{ context, operation, settings, ledger, records, hint, tally, httpRequest },
		postForm: async (url, headers, body) =>
			await postForm(httpRequest, { url, headers, body, timeout: settings.timeout }),
		isCancelled: () => signal?.aborted === true,
	};
}

/** Reads all items, before any of them is sent. */
async function readAll<K extends Kind>(run: Run<K>): Promise<Step<K>> {
	const { context, operation, settings, hint } = run;
	const accountOf = await readAccounts(context);
	let url: unknown;
	const execution = {
		id: context.getExecutionId(),
		resumeUrl: () => (url ??= context.evaluateExpression('{{ $execution.resumeUrl }}', 0)),
		store: context.getContext('flow'),
	};
	const reading = { context, operation, settings, accountOf, execution, hint };
	const step: Step<K> = { ready: [], done: [] };
	const firstUse = new Map<string, number>();
	for (let index = 0; index < run.tally.items; index++) {
		const item = await readItem(reading, index);
		if ('result' in item) {
			step.done.push(item);
			continue;
		}
		const { external_id } = item.request;
		const first = firstUse.get(external_id);
		if (operation.kind === 'payment' && first !== undefined) {
			step.done.push(refuse(run, item, sameIdAsItem(first, index, external_id), 'duplicate'));
			continue;
		}
		firstUse.set(external_id, index);
		step.ready.push(item);
	}
	return step;
}

/** What the ledger knows of an item that was tried before in this execution. */
function triedBefore<K extends Kind>(run: Run<K>, item: Ready<K>): Done | undefined {
	const { index, request, finish } = item;
	const verdict = consult(run.ledger, item);
	switch (verdict.do) {
		case 'send':
			return undefined;
		case 'replay': {
			const { statusCode, response } = verdict.attempt;
			const { external_id, amount } = request;
			const { kind } = run.operation;
			const outcome = 'accepted';
			return {
				index,
				result: { kind, outcome, external_id, amount, statusCode, response },
				finish,
			};
		}
		case 'stayUnknown':
			return { index, result: stillUnknownResult(request.external_id, verdict.attempt) };
		case 'refuse': {
			const { attempt, sameItem } = verdict;
			const why = sameItem ? acceptedWithOtherDetails : sentInThisExecution;
			return refuse(run, item, why(request.external_id, attempt), 'duplicate');
		}
	}
}

function consultLedger<K extends Kind>(run: Run<K>, items: Array<Ready<K>>): Step<K> {
	const step: Step<K> = { ready: [], done: [] };
	for (const item of items) {
		const done = triedBefore(run, item);
		if (done === undefined) step.ready.push(item);
		else step.done.push(done);
	}
	return step;
}

async function sendAll<K extends Kind>(run: Run<K>, items: Array<Ready<K>>): Promise<void> {
	const { batchSize, batchInterval } = run.settings;
	for (let start = 0; start < items.length; start += batchSize) {
		if (start > 0 && batchInterval > 0) await sleep(batchInterval);
		conclude(run.tally, await sendBatch(run, items.slice(start, start + batchSize)));
	}
}

/** The output items, in the order of the input; what an image lacks is a hint. */
async function toItems(
	context: IExecuteFunctions,
	{ done }: Tally,
	hint: (text: string) => void,
): Promise<INodeExecutionData[]> {
	const items: INodeExecutionData[] = [];
	for (const each of [...done].sort((a, b) => a.index - b.index)) {
		const { index, result } = each;
		if (result.outcome !== 'accepted') {
			items.push(failedItem(result, index));
			continue;
		}
		const item = acceptedItem(result, index);
		items.push(item);
		if (!('finish' in each) || each.finish === undefined) continue;
		try {
			const { prepareBinaryData } = context.helpers;
			const problem = await each.finish(item, prepareBinaryData);
			if (problem !== undefined) hint(problem);
		} catch (error) {
			const reason = error instanceof Error ? error.message : String(error);
			hint(`No QR image for "${result.external_id}", which was accepted: ${reason}`);
		}
	}
	return items;
}

/** Sets a run up and reads its items; what concerns all of them makes each fail alike. */
async function start<K extends Kind>(
	context: IExecuteFunctions,
	operation: RequestOperation<K>,
	tally: Tally,
	hint: (text: string) => void,
): Promise<{ run: Run<K>; read: Step<K> } | { refused: Done[] }> {
	try {
		const run = setUp(context, operation, tally, hint);
		return { run, read: await readAll(run) };
	} catch (error) {
		const result = refusedResult(operation.kind, undefined, error);
		return { refused: context.getInputData().map((_, index) => ({ index, result })) };
	}
}

/**
 * Runs an operation of the service for all input items: reads all, then records and sends them in
 * batches, and turns every outcome into an item or an error.
 * @returns one output item per input item, in their order
 * @throws NodeApiError or NodeOperationError at the first failure, unless the node continues
 */
export async function runRequests<K extends Kind>(
	context: IExecuteFunctions,
	operation: RequestOperation<K>,
): Promise<INodeExecutionData[][]> {
	const count = context.getInputData().length;
	if (count === 0) return [[]];
	const hints = new Set<string>();
	const hint = (text: string) => void hints.add(text);
	// For an agent failures always become items: of an error that is thrown n8n tells older agents
	// nothing, and a model that hears nothing may believe that it has paid.
	const goesOn = isRunByAiAgent(context) || context.continueOnFail();
	const tally = openTally(context.getNode(), count, goesOn);
	const stopLogging = logWhenCancelled(context, tally);
	let records: Records | undefined;
	try {
		const begun = await start(context, operation, tally, hint);
		if ('refused' in begun) {
			conclude(tally, begun.refused);
			return [await toItems(context, tally, hint)];
		}
		const { run, read } = begun;
		records = run.records;
		const consulted = consultLedger(run, read.ready);
		for (const { index, request } of consulted.ready) tally.waiting.set(index, request.external_id);
		conclude(tally, [...read.done, ...consulted.done]);
		await sendAll(run, consulted.ready);
		const items = await toItems(context, tally, hint);
		if (tally.done.every(({ result }) => result.outcome === 'accepted')) settle(run.ledger);
		return [items];
	} finally {
		// None of these throws: requests have been sent.
		const doubt = await records?.lookAgain(true);
		if (doubt !== undefined) hint(doubt);
		highlight(context, tally);
		showHints(context, hints);
		stopLogging();
	}
}
