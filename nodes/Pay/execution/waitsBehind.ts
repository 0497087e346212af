import type { IExecuteFunctions, INodeParameters } from 'n8n-workflow';
import { InputError } from '../inputError';
import {
	matchOf,
	readCondition,
	refuseMisplacedCondition,
	resumeCondition,
} from '../parameters/condition';
import { mayBeExpression, type ReadParameter } from '../parameters/parameter';
import { parseExternalId, WAIT_IDENTIFIER } from '../parameters/text';
import { readWaitLimit } from '../parameters/waitLimit';
import type { Expectation } from '../postback/expectation';
import { cannotBegin, otherIdAwaited } from './words/refusal';

/*
 * What is wrong with a wait is found before the charge or payment that it waits for goes out, as far as
 * the workflow says it. What cannot be told is no fault: the wait itself says it later.
 */

/** A wait as it stands in the workflow, nothing of it resolved. */
interface WaitBehind {
	name: string;
	parameters: INodeParameters;
	/** Whether nothing stands between: else an item may go another way, or be changed. */
	isNext: boolean;
}

/** The waits that may be the first to get what a node gives. */
interface FirstWaits {
	waits: WaitBehind[];
	/** Whether one of them may be for another node, which stands before it and may ask for a postback. */
	mayBeForOthers: boolean;
}

/**
 * Whether a node's postback may come to this execution, as far as its parameters say. Those of an operation
 * without a postback have none. n8n adds the defaults that a saved workflow does not hold: where even the
 * operation is missing it has not done so, and nothing is certain.
 */
function mayAskForPostback({ resource, operation, postback }: INodeParameters = {}): boolean {
	if (resource === 'postback') return false;
	if (resource === undefined || operation === undefined) return true;
	return postback !== undefined && postback !== 'none';
}

/** Whether another Pay node that may ask for its postback here stands anywhere before a node. */
function othersBefore(context: IExecuteFunctions, name: string): boolean {
	const asking = context.getNode();
	for (const node of context.getParentNodes(name, { includeNodeParameters: true })) {
		if (node.type !== asking.type || node.name === asking.name || node.disabled) continue;
		if (mayAskForPostback(node.parameters)) return true;
	}
	return false;
}

type NodeBehind = ReturnType<IExecuteFunctions['getChildNodes']>[number];

/** Whether a node is a wait. A disabled node lets everything through. */
function isWait({ type, disabled, parameters }: NodeBehind, typeOfPay: string): boolean {
	return type === typeOfPay && !disabled && parameters?.resource === 'postback';
}

/** The names of the nodes right before each of some nodes. */
function parentsOf(context: IExecuteFunctions, nodes: NodeBehind[]): Map<string, string[]> {
	const parents = new Map<string, string[]>();
	for (const { name } of nodes) {
		// Before n8n 1.100 or so the depth counts for nothing: then all waits seem to be first.
		const before = context.getParentNodes(name, { depth: 1 }).map((parent) => parent.name);
		parents.set(name, before);
	}
	return parents;
}

/** The first waits behind a node, on each way. Throws where this n8n does not tell its nodes. */
function findFirstWaits(context: IExecuteFunctions): FirstWaits {
	const asking = context.getNode();
	const nodes = context.getChildNodes(asking.name, { includeNodeParameters: true });
	const parents = parentsOf(context, nodes);
	const waits = new Map<string, WaitBehind>();
	// It grows while the loop goes over it, until no way leads on without a wait.
	const reached = new Set([asking.name]);
	for (const from of reached) {
		for (const node of nodes) {
			const { name, parameters = {} } = node;
			if (waits.has(name) || !parents.get(name)?.includes(from)) continue;
			if (isWait(node, asking.type)) {
				waits.set(name, { name, parameters, isNext: from === asking.name });
			} else {
				reached.add(name);
			}
		}
	}
	const found = [...waits.values()];
	const mayBeForOthers = found.some(({ name }) => othersBefore(context, name));
	return { waits: found, mayBeForOthers };
}

/** Finds the waits behind a node, up to the first one on each way; undefined where that cannot be told. */
export function firstWaitsBehind(context: IExecuteFunctions): FirstWaits | undefined {
	try {
		return findFirstWaits(context);
	} catch {
		return undefined;
	}
}

/** Thrown where a parameter has no value before the wait begins. */
class NotYetKnown extends Error {}

/**
 * What a check finds wrong; undefined where it finds nothing, or cannot tell yet, which is no fault. Each
 * check stands alone, so that one which cannot tell does not hide what the next one finds.
 */
function faultIn(check: () => unknown): InputError | undefined {
	try {
		check();
	} catch (error) {
		if (error instanceof InputError) return error;
	}
	return undefined;
}

/** Refuses a wait with an operation that does not exist. Throws an InputError. */
function refuseOtherOperation(operation: unknown): void {
	if (operation === 'wait') return;
	const what = `operation must be wait, but is ${JSON.stringify(operation)}`;
	throw new InputError('operation', what, 'Choose one from the list.');
}

/** Refuses a wait that stands next and is for another External ID. Throws an InputError. */
function refuseOtherId(wait: WaitBehind, read: ReadParameter, external_id: string): void {
	if (!wait.isNext) return;
	const waitsFor = parseExternalId(read('external_id'), WAIT_IDENTIFIER);
	if (waitsFor !== external_id) throw otherIdAwaited(waitsFor, external_id);
}

/**
 * Why a wait could not begin; undefined where nothing is known.
 * @param asking the name of the node that asks for the postback
 * @param expectation what the wait is certainly for, if it is known
 */
function faultOf(
	wait: WaitBehind,
	asking: string,
	expectation: Expectation | undefined,
): InputError | undefined {
	const read: ReadParameter = (name) => {
		const value = wait.parameters[name];
		if (mayBeExpression(value)) throw new NotYetKnown();
		return value;
	};
	const fault =
		faultIn(() => refuseOtherOperation(read('operation'))) ??
		faultIn(() => refuseMisplacedCondition(wait.parameters, resumeCondition.name)) ??
		faultIn(() => readCondition(read, resumeCondition)) ??
		faultIn(() => readWaitLimit(read));
	if (fault !== undefined || expectation === undefined) return fault;
	const { external_id, status } = expectation;
	return (
		faultIn(() =>
			matchOf(
				readCondition(read, resumeCondition),
				status,
				resumeCondition.name,
				`Open the credential of "${asking}".`,
			),
		) ?? faultIn(() => refuseOtherId(wait, read, external_id))
	);
}

/**
 * Why none of the first waits behind a node could begin; undefined where one may.
 * @param asking the name of the node
 * @param isForTheseItems whether the waits are certainly for the items that it sends now
 */
export function refusalOfWaits(
	{ waits, mayBeForOthers }: FirstWaits,
	asking: string,
	expectation: Expectation,
	isForTheseItems: boolean,
): InputError | undefined {
	const expected = isForTheseItems && !mayBeForOthers ? expectation : undefined;
	let first: InputError | undefined;
	for (const wait of waits) {
		const fault = faultOf(wait, asking, expected);
		if (fault === undefined) return undefined;
		first ??= cannotBegin(wait.name, fault);
	}
	return first;
}
