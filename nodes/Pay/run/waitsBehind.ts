import type { IExecuteFunctions, INodeParameters, NodeTypeAndVersion } from 'n8n-workflow';
import type { Account } from '../account/account';
import { refuseUnsignedMatch } from '../account/sender';
import { InputError } from '../base/inputError';
import { workflowNode } from '../base/n8n';
import { matchOf, resumeCondition } from '../fields/condition';
import { mayBeExpression, type ReadParameter } from '../fields/expressions';
import { readWait } from '../postback/waitFields';
import type { Expectation } from '../postback/waiting';
import { cannotBegin, otherIdAwaited } from './refusals';

/*
 * What is wrong with a wait is found before the charge or payment that it waits for goes out, as far as
 * its typed text alone shows it. What cannot be told is no fault: the wait itself says it later.
 */

/** A wait as it stands in the workflow, nothing of it resolved. */
export interface WaitBehind {
	name: string;
	parameters: INodeParameters;
	/** Whether nothing stands between: else an item may be changed on the way. */
	isNext: boolean;
	/** Whether it has the credential of the node that asks; else nothing is known of its own. */
	hasSameCredential: boolean;
}

/** Whether a wait has the credential of the node that asks, as far as this n8n tells it. */
function hasCredentialOf(context: IExecuteFunctions, wait: string): boolean {
	// No function of n8n gives the credentials of another node.
	const asking = context.getNode().credentials?.payApi?.id;
	return asking !== undefined && workflowNode(context, wait)?.credentials?.payApi?.id === asking;
}

/** The enabled waits behind a node, however far; undefined where this n8n does not tell its nodes. */
export function waitsBehind(context: IExecuteFunctions): WaitBehind[] | undefined {
	const asking = context.getNode();
	const waits: WaitBehind[] = [];
	try {
		for (const node of context.getChildNodes(asking.name, { includeNodeParameters: true })) {
			const { name, type, disabled, parameters = {} } = node;
			if (type !== asking.type || disabled || parameters.resource !== 'postback') continue;
			// Before n8n 1.100 or so the depth counts for nothing: then each node before it seems to be next.
			const before = context.getParentNodes(name, { depth: 1 });
			waits.push({
				name,
				parameters,
				isNext: before.some((each) => each.name === asking.name),
				hasSameCredential: hasCredentialOf(context, name),
			});
		}
	} catch {
		return undefined;
	}
	return waits;
}

/** A node that asks for a postback, as far as the waits behind it depend on it. */
interface Asking {
	name: string;
	expectation: Expectation;
	sender: Account['senderForWaits'];
}

/** Why a wait could not begin; undefined where nothing is known. */
function faultOf(wait: WaitBehind, { name, expectation, sender }: Asking): InputError | undefined {
	const { external_id, status } = expectation;
	/** What an expression will give is not known yet, so it is taken for something that is right. */
	const standIns: Readonly<Record<string, unknown>> = {
		operation: 'wait',
		external_id,
		resumeWhen: 'any',
		matchField: 'status',
		matchValues: ['paid'],
		limitWaitTime: false,
		resumeAmount: 1,
		resumeUnit: 'hours',
	};
	const read: ReadParameter = (field) => {
		const typed = wait.parameters[field];
		return mayBeExpression(typed) ? standIns[field] : typed;
	};
	try {
		readOperation(read);
		const { condition, external_id: waitsFor } = readWait(wait.parameters, read);
		const whereWordsBelong = `Open the credential of "${name}".`;
		const match = matchOf(condition, status, resumeCondition.name, whereWordsBelong);
		if (wait.isNext && waitsFor !== external_id) return otherIdAwaited(waitsFor, external_id);
		if (!wait.hasSameCredential) return undefined;
		if (sender instanceof InputError) return sender;
		refuseUnsignedMatch(match, sender, status);
		return undefined;
	} catch (error) {
		return error instanceof InputError ? error : undefined;
	}
}

function readOperation(read: ReadParameter): void {
	const operation = read('operation');
	if (operation === 'wait') return;
	const what = `operation must be wait, but is ${JSON.stringify(operation)}`;
	throw new InputError('operation', what, 'Choose one from the list.');
}

/** Why none of some waits could begin; undefined where one may. */
export function faultOfAll(waits: WaitBehind[], asking: Asking): InputError | undefined {
	let first: InputError | undefined;
	for (const wait of waits) {
		const fault = faultOf(wait, asking);
		if (fault === undefined) return undefined;
		first ??= cannotBegin(wait.name, fault);
	}
	return first;
}

/*
 * An execution hears a postback only in the wait for it. What puts the execution to sleep before that loses
 * it: n8n answers 404 or 409, and the wait begins afterwards and never ends (tried with a Form page on 2.41.1).
 */

/** n8n's own nodes that wait for time, a call or a person, whatever their operation is. */
const PAUSING_TYPES = [
	'n8n-nodes-base.wait',
	'n8n-nodes-base.form',
	'@n8n/n8n-nodes-langchain.chat',
];
/** The operations of n8n's other nodes that wait for a person, or for a run elsewhere. */
const PAUSING_OPERATIONS = ['sendAndWait', 'dispatchAndWait'];

/** A node that asks for the postback of an external_id. */
interface AskingNode {
	name: string;
	/** The type of the Pay node. */
	type: string;
	external_id: string;
}

const isWait = ({ type, parameters }: NodeTypeAndVersion, asking: AskingNode) =>
	type === asking.type && parameters?.resource === 'postback';

/** Tells from its typed text alone that a wait is for something else than what a node asks for. */
function isForAnother({ external_id }: INodeParameters, asking: AskingNode): boolean {
	if (!mayBeExpression(external_id)) return external_id !== asking.external_id;
	// What a wait takes from its own item is for the charge or payment before it.
	const text = String(external_id);
	return text.includes('$(') && !text.includes(asking.name);
}

/** Tells whether a node can put the execution to sleep before a wait. */
function canPause(node: NodeTypeAndVersion, wait: NodeTypeAndVersion, asking: AskingNode): boolean {
	const { type, disabled, parameters = {} } = node;
	if (disabled) return false;
	if (PAUSING_TYPES.includes(type)) return true;
	if (!isWait(node, asking)) return PAUSING_OPERATIONS.includes(String(parameters.operation));
	// The first wait for this postback takes it. A later one waits for the next.
	if (parameters.external_id === wait.parameters?.external_id) return false;
	return isForAnother(parameters, asking);
}

/** All that is reached from a node over steps, and not beyond the nodes at which a way ends. */
function reachedFrom(
	start: string,
	stepsFrom: (name: string) => string[],
	ends: ReadonlySet<string>,
): Set<string> {
	const reached = new Set<string>();
	const left = [start];
	for (let name = left.pop(); name !== undefined; name = left.pop()) {
		for (const next of stepsFrom(name)) {
			if (reached.has(next) || ends.has(next)) continue;
			reached.add(next);
			left.push(next);
		}
	}
	return reached;
}

function findPauses(context: IExecuteFunctions, asking: AskingNode, waitName: string): string[] {
	const behind = context.getChildNodes(asking.name, { includeNodeParameters: true });
	const wait = behind.find(({ name }) => name === waitName);
	if (wait === undefined) return [];
	const pauses = behind.filter((node) => canPause(node, wait, asking)).map(({ name }) => name);
	if (pauses.length === 0) return [];
	const ends = new Set([asking.name, waitName]);
	/** By the name of each node behind the asking one, the nodes directly before it. */
	const before = new Map<string, string[]>();
	for (const node of behind) {
		const { name, disabled } = node;
		if (!disabled && isWait(node, asking) && !pauses.includes(name)) ends.add(name);
		before.set(
			name,
			context.getParentNodes(name, { depth: 1 }).map((parent) => parent.name),
		);
	}
	const stepsForward = (name: string) =>
		[...before.keys()].filter((next) => before.get(next)?.includes(name));
	const afterAsking = reachedFrom(asking.name, stepsForward, ends);
	const beforeWait = reachedFrom(waitName, (name) => before.get(name) ?? [], ends);
	return pauses.filter((name) => afterAsking.has(name) && beforeWait.has(name));
}

/**
 * The names of the nodes that can put an execution to sleep on some way from the node that asks for a
 * postback to the wait for it; none where this n8n does not tell its nodes. A way ends at a wait for the same
 * postback, so nothing behind one counts.
 */
export function pausesBetween(
	context: IExecuteFunctions,
	asking: AskingNode,
	waitName: string,
): string[] {
	try {
		return findPauses(context, asking, waitName);
	} catch {
		return [];
	}
}

/** The same for a wait that begins: those that have run since, by the name of each node that asks. */
export function pausesBefore(
	context: IExecuteFunctions,
	external_id: string,
): Map<string, string[]> {
	const { name: waitName, type } = context.getNode();
	const pauses = new Map<string, string[]>();
	try {
		const data = context.getWorkflowDataProxy(0);
		const hasRun = (name: string) => (data.$(name) as { isExecuted: boolean }).isExecuted;
		const nodes = context.getParentNodes(waitName, { includeNodeParameters: true });
		for (const { name, type: other, parameters } of nodes) {
			if (other !== type || parameters?.postback !== 'resume' || !hasRun(name)) continue;
			const found = pausesBetween(context, { name, type, external_id }, waitName).filter(hasRun);
			if (found.length > 0) pauses.set(name, found);
		}
	} catch {
		// A hint less: the wait begins all the same.
	}
	return pauses;
}
