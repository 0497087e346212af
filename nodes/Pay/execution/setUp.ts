import type { IExecuteFunctions, INodeParameters } from 'n8n-workflow';
import { AccountGate } from '../credential/accountGate';
import {
	refuseExpressions,
	refuseItemDataInTool,
	requireFieldByField,
} from '../parameters/parameter';
import { isLost, passageOf, type Passage, type PassageStore } from '../n8n1/passage';
import { changingIdHint, refuseInventedId } from '../parameters/text';
import { countWaits, type ExpectationStore } from '../postback/expectation';
import { tokenPoster } from '../service/client';
import { isRunByAiAgent } from './agent';
import { sessionOf } from './session';
import { isEarlierState, type RunCount } from './earlierState';
import { refuseEvaluation } from './evaluation';
import { hasTried, openLedger, type LedgerStore } from './ledger/ledger';
import { keptOfExecution } from './kept';
import { RunRecords } from './memory/RunRecords';
import { nodeThatSharesRecord } from './memory/sharedRecord';
import { refuseExecutePreviousNodes } from './previousNodes';
import { readSettings, type RequestOperation, type TypedOptions } from './read';
import type { Run } from './runState';
import type { Tally } from './report/tally';
import {
	noDuplicateStore,
	nothingIsKept,
	notPermittedToAgents,
	recordIsShared,
} from './words/refusal';

/** Refuses an AI agent, unless a person permitted agents to use this operation. */
function requirePermission({ words, agentPermission }: RequestOperation, options: unknown): void {
	if (agentPermission === 'not needed') return;
	// As it was typed, not what an expression gives: the model could fill that in.
	const typed = (options ?? {}) as TypedOptions;
	if (typed[agentPermission.name] !== true) throw notPermittedToAgents(words, agentPermission);
}

/** Refuses parameters, as they were typed, that concern all items. Throws an InputError. */
function checkParameters(operation: RequestOperation, parameters: INodeParameters): void {
	requireFieldByField(operation.description, parameters);
	refuseExpressions(operation.fixedOptions, parameters.options);
}

/** Refuses what an AI agent's tool may not have, as it was typed. Throws an InputError. */
function checkToolParameters(operation: RequestOperation, parameters: INodeParameters): void {
	refuseItemDataInTool(operation.description, parameters);
	requirePermission(operation, parameters.options);
	if (operation.isMoneyOut) refuseInventedId(parameters.external_id, operation.words);
}

/** What the Pay nodes of an execution keep in n8n's context of the execution. */
type FlowStore = LedgerStore & ExpectationStore & RunCount & PassageStore;

/**
 * The records of a run: what n8n's list says of its payments. Throws an InputError where n8n has none, or where
 * another node of the workflow changes it.
 */
function openRecords(
	context: IExecuteFunctions,
	operation: RequestOperation,
	hasTriedBefore: boolean,
	passage: Passage | undefined,
): RunRecords {
	const { helpers } = context;
	const { checkProcessedAndRecord, removeProcessed, getProcessedDataCount } = helpers;
	const methods = [checkProcessedAndRecord, removeProcessed, getProcessedDataCount];
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

/**
 * Reads what concerns all items, and asks for the functions of n8n that a run needs. Throws.
 * @param tally is given the hints about what was typed
 */
export function setUp(context: IExecuteFunctions, operation: RequestOperation, tally: Tally): Run {
	const { name, parameters, credentials } = context.getNode();
	refuseExecutePreviousNodes(context);
	const kept = keptOfExecution(context);
	if (operation.isMoneyOut) {
		if (kept === undefined) throw nothingIsKept(operation.words);
		refuseEvaluation(context, operation.words);
	}
	const isTool = isRunByAiAgent(context);
	checkParameters(operation, parameters);
	if (isTool) checkToolParameters(operation, parameters);
	const options = context.getNodeParameter('options', 0, {}) as TypedOptions;
	const settings = readSettings(options, operation.batchSize);
	// Shared by all Pay nodes of the execution: a second node must not pay an id again either.
	const store = (kept ?? {}) as FlowStore;
	const executionId = context.getExecutionId();
	const passage = passageOf(store, executionId, countWaits(store, executionId));
	const isEarlier = isEarlierState(executionId, store);
	const isSuperseded = isEarlier || (passage !== undefined && isLost(passage));
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
		isSuperseded,
		expectations: store,
		records,
		gate: new AccountGate(sessionOf(context)),
		httpRequest,
		postTokenRequest: tokenPoster(httpRequest, settings.timeout),
		signal: context.getExecutionCancelSignal?.(),
		tally,
	};
}
