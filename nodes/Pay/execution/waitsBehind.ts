import type { IExecuteFunctions, INodeParameters, Workflow } from 'n8n-workflow';
import type { Account } from '../credential/connection';
import { refuseUnsignedMatch } from '../credential/sender';
import { InputError } from '../inputError';
import {
	matchOf,
	readCondition,
	refuseMisplacedCondition,
	resumeCondition,
	type PostbackMatch,
} from '../parameters/condition';
import { mayBeExpression, type ReadParameter } from '../parameters/parameter';
import { parseExternalId, AWAITED_ID } from '../parameters/text';
import { readWaitLimit } from '../parameters/waitLimit';
import type { Expectation } from '../postback/expectation';
import { refuseWrongResponseOfWait } from '../postback/response';
import type { StatusWords } from '../service/postbackState';
import { cannotBegin, otherIdAwaited } from './words/refusal';

/*
 * What is wrong with a wait is found before the charge or payment that it waits for goes out, as far as
 * its typed text alone shows it. What cannot be told is no fault: the wait itself says it later.
 */

/** A wait as it stands in the workflow, nothing of it resolved. */
interface WaitBehind {
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
	const { workflow } = context as { workflow?: Pick<Workflow, 'getNode'> };
	const asking = context.getNode().credentials?.payApi?.id;
	return asking !== undefined && workflow?.getNode(wait)?.credentials?.payApi?.id === asking;
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

/** Thrown where a parameter has no value before the wait begins. */
class NotYetKnown extends Error {}

/** Refuses a wait with an operation that does not exist. Throws an InputError. */
function refuseOtherOperation(operation: unknown): void {
	if (operation === 'wait') return;
	const what = `operation must be wait, but is ${JSON.stringify(operation)}`;
	throw new InputError('operation', what, 'Choose one from the list.');
}

/** Refuses a wait that stands next and is for another External ID. Throws an InputError. */
function refuseOtherId(wait: WaitBehind, read: ReadParameter, external_id: string): void {
	if (!wait.isNext) return;
	const waitsFor = parseExternalId(read('external_id'), AWAITED_ID);
	if (waitsFor !== external_id) throw otherIdAwaited(waitsFor, external_id);
}

/** Refuses a wait whose own check of the sender would refuse it. Throws an InputError. */
function refuseUnsigned(
	{ hasSameCredential }: WaitBehind,
	sender: Asking['sender'],
	readMatch: () => PostbackMatch | undefined,
	status: StatusWords | undefined,
): void {
	if (!hasSameCredential) return;
	if (sender instanceof InputError) throw sender;
	refuseUnsignedMatch(readMatch(), sender, status);
}

/** A node that asks for a postback, as far as the waits behind it depend on it. */
interface Asking {
	name: string;
	expectation: Expectation;
	sender: Account['senderForWaits'];
}

/** Why a wait could not begin; undefined where nothing is known. */
function faultOf(wait: WaitBehind, asking: Asking): InputError | undefined {
	const { sender, expectation } = asking;
	const { external_id, status } = expectation;
	const read: ReadParameter = (name) => {
		const value = wait.parameters[name];
		if (mayBeExpression(value)) throw new NotYetKnown();
		return value;
	};
	const whereWordsBelong = `Open the credential of "${asking.name}".`;
	const readMatch = () =>
		matchOf(readCondition(read, resumeCondition), status, resumeCondition.name, whereWordsBelong);
	const checks = [
		() => refuseOtherOperation(read('operation')),
		() => refuseMisplacedCondition(wait.parameters, resumeCondition.name),
		readMatch,
		() => readWaitLimit(read),
		() => refuseWrongResponseOfWait(wait.parameters),
		() => refuseOtherId(wait, read, external_id),
		() => refuseUnsigned(wait, sender, readMatch, status),
	];
	// Each check stands alone: one that cannot tell yet does not hide what the next one finds.
	for (const check of checks) {
		try {
			check();
		} catch (error) {
			if (error instanceof InputError) return error;
		}
	}
	return undefined;
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
