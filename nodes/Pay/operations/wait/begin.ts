import { randomUUID } from 'crypto';
import { WAIT_INDEFINITELY, type IExecuteFunctions, type INodeExecutionData } from 'n8n-workflow';
import { keptOfExecution } from '../../execution/kept';
import { pausesBefore } from '../../execution/pauses';
import { failAll } from '../../execution/report/n8nError';
import { pausedBeforeThisWait } from '../../execution/words/refusal';
import { refuseUnsignedMatch } from '../../credential/sender';
import { InputError } from '../../inputError';
import { logWarning } from '../../log';
import {
	matchOf,
	readCondition,
	refuseMisplacedCondition,
	resumeCondition,
} from '../../parameters/condition';
import type { ReadParameter } from '../../parameters/parameter';
import { parseExternalId, AWAITED_ID } from '../../parameters/text';
import { readWaitLimit } from '../../parameters/waitLimit';
import {
	awaitedHashes,
	expectationOf,
	hashesOf,
	recordWait,
	type Expectation,
	type ExpectationStore,
} from '../../postback/expectation';
import { refuseWrongResponseOfWait } from '../../postback/response';
import { outlastTimers, wasEndedByPostback } from '../../postback/timer';
import { readSender, type Awaited, type AwaitedProof } from './awaited';

/** A wait has the words of the node that asked for its postback. */
const WHERE_WORDS_BELONG = 'Open the credential of the Pay node that asks for this postback.';

/**
 * Removes what another node, or a customer's order, put where a postback will be. At the time limit n8n
 * passes on the very list that came in, and "paid" in it would look like a postback. So the list itself is
 * changed. Its items are not, because the output of the node before shares their JSON: copies replace them.
 */
function removePostbacks(items: INodeExecutionData[]): void {
	for (const [index, item] of items.entries()) {
		const json = { ...item.json };
		delete json.postback;
		items[index] = { ...item, json };
	}
}

/** Refuses a wait in which n8n could not resume the execution with a postback. Throws an InputError. */
function refuseWaitThatCannotEnd(context: IExecuteFunctions, items: INodeExecutionData[]): void {
	if (items.length > 1) {
		throw new InputError(
			'external_id',
			`An execution can wait for one postback at a time, but ${items.length} items came in`,
			'Put the Pay node and this one into a Loop Over Items with batch size 1, or use a Pay Trigger in a separate workflow.',
		);
	}
	if (keptOfExecution(context) === undefined) {
		throw new InputError(
			'operation',
			"n8n's own Agents run this node outside of a workflow, where no execution can wait for a postback",
			'Take the postbacks with a Pay Trigger.',
		);
	}
	// n8n resumes the node that it runs, which is the agent where that runs its tools itself.
	if (context.getExecuteData().node.name !== context.getNode().name) {
		throw new InputError(
			'operation',
			'An AI agent of this version cannot wait for a postback',
			'Put this node behind the agent, or use version 3 of the agent.',
		);
	}
}

/** The proofs that may end a wait, and what their postbacks must hold. Throws an InputError. */
function readProofs(
	context: IExecuteFunctions,
	read: ReadParameter,
	external_id: string,
): AwaitedProof[] {
	const condition = readCondition(read, resumeCondition);
	const store = context.getContext('flow');
	const hashes = awaitedHashes(store, external_id, context.getExecutionId(), (wait) =>
		wasEndedByPostback(context, wait),
	);
	if (hashes.length === 0) {
		throw new InputError(
			'external_id',
			`No Pay node of this execution asked for the postback of "${external_id}" to come here, so this wait could never end`,
			'Set Postback of the Pay node that makes the charge or payment to "Resume This Execution". If its output is pinned, unpin it: a pinned node sends nothing. Run both with "Execute workflow", and keep both in one workflow: a step by itself, a sub-workflow and a retry of an execution that has ended are other executions.',
		);
	}
	return hashes.map((hash) => {
		const { kind, amount, status } = expectationOf(store, hash) as Expectation;
		return {
			hash,
			reference: { external_id, kind, amount },
			status,
			match: matchOf(condition, status, 'resumeWhen', WHERE_WORDS_BELONG),
		};
	});
}

/**
 * Warns that the credential of the node that asked checks who sends postbacks, and that this wait has no
 * credential to do so.
 */
function warnOfUncheckedSender(context: IExecuteFunctions, proofs: AwaitedProof[]): void {
	const store = context.getContext('flow');
	if (!proofs.some(({ hash }) => expectationOf(store, hash)?.isSigned)) return;
	const message =
		'This wait does not check the sender, as the credential of the Pay node before it does: select that credential here too.';
	context.addExecutionHints?.({ message, location: 'outputPane' });
	logWarning(context, `Pay: ${message}`);
}

/** Says which nodes may have kept the execution from hearing the postback before this wait began. */
function warnOfPauses(context: IExecuteFunctions, external_id: string): void {
	for (const [asking, pauses] of pausesBefore(context, external_id)) {
		const message = pausedBeforeThisWait(pauses, asking);
		context.addExecutionHints?.({ message, location: 'outputPane' });
		logWarning(context, `Pay: ${message}`);
	}
}

/**
 * Writes down what the execution waits for, and puts it to sleep.
 * @param limit how long it waits at most, in milliseconds
 */
async function sleepUntilPostback(
	context: IExecuteFunctions,
	external_id: string,
	proofs: AwaitedProof[],
	limit: number,
	checksSender: boolean,
): Promise<void> {
	const executionId = context.getExecutionId();
	const end = new Date(Math.min(Date.now() + limit, WAIT_INDEFINITELY.getTime()));
	const until = end < WAIT_INDEFINITELY ? end.getTime() : undefined;
	const store = context.getContext('flow') as ExpectationStore;
	recordWait(store, {
		external_id,
		executionId,
		node: context.getNode().name,
		run: Number(context.getWorkflowDataProxy(0).$runIndex),
		until,
	});
	const awaited: Awaited = { proofs, given: hashesOf(store), id: randomUUID(), until };
	if (checksSender) awaited.isSigned = true;
	Object.assign(context.getContext('node'), { awaited });
	// n8n 2 lets each sub-workflow that ends late replace what its parent waits with, unless the
	// parent waits for others. No sub-workflow has this id.
	context.setMetadata({ waitingChildExecutionIds: [executionId] });
	await context.putExecutionToWait(end);
}

/** Checks the parameters and puts the execution to sleep until a postback, or the limit, wakes it. */
export async function begin(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	const items = context.getInputData();
	removePostbacks(items);
	try {
		refuseWaitThatCannotEnd(context, items);
		const { parameters } = context.getNode();
		refuseMisplacedCondition(parameters, 'resumeWhen');
		refuseWrongResponseOfWait(parameters);
		const read: ReadParameter = (name) => context.getNodeParameter(name, 0, undefined);
		const external_id = parseExternalId(read('external_id'), AWAITED_ID);
		const limit = readWaitLimit(read);
		const proofs = readProofs(context, read, external_id);
		// Read now, because a mistake in it would refuse each postback.
		const sender = await readSender(context);
		for (const { match, status } of proofs) refuseUnsignedMatch(match, sender, status);
		if (sender === undefined) warnOfUncheckedSender(context, proofs);
		warnOfPauses(context, external_id);
		await outlastTimers(context);
		await sleepUntilPostback(context, external_id, proofs, limit, sender !== undefined);
		// Copies: under "Continue (using error output)" n8n empties the list that it is given.
		return [items.map((item) => ({ ...item }))];
	} catch (error) {
		// Paired by a number: else n8n adds what the node before gave, its "postback" too.
		return failAll(context, error).map((failed) =>
			failed.map((item, index) => ({ ...item, pairedItem: index })),
		);
	}
}
