import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { asError } from '../inputError';
import { pause } from '../pause';
import { outlastTimers } from '../postback/timer';
import { continuesOnFailure } from './agent';
import { beginCancelLog, endCancelLog, highlight, showHints } from './report/editor';
import { outputOfFailures, resultOfRefusal, toOutputItem } from './report/itemResult';
import { forgetResponses } from './ledger/ledger';
import type { Done, Ready, Step } from './item';
import type { RequestOperation } from './read';
import { readAll } from './readAll';
import type { Run } from './runState';
import { sendBatch } from './send';
import { setUp } from './setUp';
import { addResults, openTally, throwIfFailed, type Tally } from './report/tally';
import { notFinished } from './words/result';

/** Gives every item the same failure: the error concerns all of them, and none was sent. */
function failEach(operation: RequestOperation, tally: Tally, error: unknown): Done[] {
	const done: Done[] = [];
	const result = resultOfRefusal(operation, {}, error);
	for (let index = 0; index < tally.items; index++) done.push({ index, result });
	return done;
}

/** Reads the items of a run, while nothing is sent. Never rejects. */
async function readItems(run: Run): Promise<Step> {
	try {
		return await readAll(run);
	} catch (error) {
		return { ready: [], done: failEach(run.operation, run.tally, error) };
	}
}

/** Writes the results of a batch down, and throws at a failure unless the run goes on. */
function conclude(tally: Tally, results: Done[]): void {
	addResults(tally, results);
	throwIfFailed(tally);
}

/** Sends items batch by batch: each is recorded and sent as a whole, when the one before has ended. */
async function sendInBatches(run: Run, items: Ready[]): Promise<void> {
	const { batchSize, batchInterval } = run.settings;
	// A later batch may be about the oldest payments of n8n's list.
	if (items.length > batchSize) run.records?.keepAll();
	for (let start = 0; start < items.length; start += batchSize) {
		if (start > 0) await pause(batchInterval, run.signal);
		conclude(run.tally, await sendBatch(run, items.slice(start, start + batchSize)));
	}
}

/** Sends items with a batch of them in flight: when one has ended, the next goes out. */
async function sendContinuously(run: Run, items: Ready[]): Promise<void> {
	const { tally, settings } = run;
	const left = items.values();
	/** Sends one item after another; several of it run at once, over the same items. */
	const sendOneByOne = async () => {
		for (const item of left) {
			addResults(tally, await sendBatch(run, [item]));
			if (tally.hasFailed && !tally.continuesOnFailure) return;
		}
	};
	const senders: Array<Promise<void>> = [];
	for (let count = 0; count < settings.batchSize; count++) senders.push(sendOneByOne());
	const ends = await Promise.allSettled(senders);
	// When all have ended, so that the error says what became of every item that was in flight.
	throwIfFailed(tally);
	for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

/** Sends all items that may be sent; throws at a failure unless the run goes on. */
async function sendAll(run: Run, items: Ready[]): Promise<void> {
	if (items.some(({ expectation }) => expectation !== undefined)) {
		const hint = await outlastTimers(run.context);
		if (hint !== undefined) run.tally.hints.add(hint);
	}
	// A batch is recorded at once, since each record rewrites n8n's whole list.
	if (run.records !== undefined || run.settings.batchInterval > 0) await sendInBatches(run, items);
	else await sendContinuously(run, items);
}

/** The output items, in the order of the input; what cannot be added to one becomes a hint. */
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

/** Reads all items of a run and sends those that may be sent; throws at a failure unless the run goes on. */
async function readAndSend(run: Run): Promise<INodeExecutionData[]> {
	const { context, ledger, tally } = run;
	try {
		const { ready, done } = await readItems(run);
		for (const { index, request } of ready) tally.remaining.set(index, request.external_id);
		conclude(tally, done);
		await sendAll(run, ready);
		const items = await toItems(context, tally);
		if (tally.done.every(({ result }) => result.outcome === 'accepted')) forgetResponses(ledger);
		return items;
	} finally {
		// It does not throw: requests have been sent.
		for (const hint of (await run.records?.close()) ?? []) tally.hints.add(hint);
	}
}

/** Sets a run up and has it read and send; where that is not possible, every item fails. */
async function setUpAndSend(
	context: IExecuteFunctions,
	operation: RequestOperation,
	tally: Tally,
): Promise<INodeExecutionData[]> {
	let run: Run;
	try {
		run = setUp(context, operation, tally);
	} catch (error) {
		conclude(tally, failEach(operation, tally, error));
		return await toItems(context, tally);
	}
	return await readAndSend(run);
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
	const tally = openTally(context.getNode(), operation, count, continuesOnFailure(context));
	const cancelLog = beginCancelLog(context, tally);
	try {
		return [await setUpAndSend(context, operation, tally)];
	} finally {
		// None of these throws: requests have been sent.
		highlight(context, tally);
		showHints(context, tally);
		endCancelLog(cancelLog);
	}
}
