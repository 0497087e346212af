import type { IExecuteFunctions, INodeParameters } from 'n8n-workflow';
import { InputError } from '../inputError';
import { matchOf, readCondition, refuseMisplacedCondition } from '../parameters/condition';
import { wrongField } from '../parameters/label';
import { mayBeExpression, type ReadParameter } from '../parameters/parameter';
import { parseExternalId } from '../parameters/text';
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
export interface FirstWaits {
	waits: WaitBehind[];
	/** Whether another charge or payment stands before one of them, for which it may be. */
	isForOthers: boolean;
}

/** Whether another Pay node that sends something stands anywhere before a node. */
function othersBefore(context: IExecuteFunctions, name: string): boolean {
	const { name: ownName, type } = context.getNode();
	return context
		.getParentNodes(name, { includeNodeParameters: true })
		.some(
			(node) =>
				node.type === type &&
				node.name !== ownName &&
				!node.disabled &&
				node.parameters?.resource !== 'postback',
		);
}

/**
 * Finds the waits behind a node, up to the first one on each way; undefined where this n8n does not tell
 * its nodes. A disabled node lets everything through.
 */
export function firstWaitsBehind(context: IExecuteFunctions): FirstWaits | undefined {
	try {
		const { name: ownName, type } = context.getNode();
		const nodes = context.getChildNodes(ownName, { includeNodeParameters: true });
		// Before n8n 1.100 or so the depth counts for nothing: then all waits seem to be first.
		const parents = new Map(
			nodes.map(({ name }) => [
				name,
				context.getParentNodes(name, { depth: 1 }).map((parent) => parent.name),
			]),
		);
		const found: FirstWaits = { waits: [], isForOthers: false };
		const reached = new Set([ownName]);
		for (const from of reached) {
			for (const { name, type: itsType, disabled, parameters = {} } of nodes) {
				if (reached.has(name) || !parents.get(name)?.includes(from)) continue;
				const isPay = itsType === type && !disabled;
				if (isPay && parameters.resource === 'postback') {
					if (found.waits.some((wait) => wait.name === name)) continue;
					found.waits.push({ name, parameters, isNext: from === ownName });
					found.isForOthers ||= othersBefore(context, name);
					continue;
				}
				reached.add(name);
			}
		}
		return found;
	} catch {
		return undefined;
	}
}

/** Thrown where a parameter has no value before the wait begins. */
class NotYetKnown extends Error {}

function readerOf({ parameters }: WaitBehind): ReadParameter {
	return (name) => {
		const value = parameters[name];
		if (mayBeExpression(value)) throw new NotYetKnown();
		return value;
	};
}

/** What a check finds wrong; undefined where it finds nothing, or cannot tell. */
function faultIn(check: () => void): InputError | undefined {
	try {
		check();
	} catch (error) {
		if (error instanceof InputError) return error;
	}
	return undefined;
}

function faultOf(
	wait: WaitBehind,
	asking: string,
	awaited: Expectation | undefined,
): InputError | undefined {
	const read = readerOf(wait);
	const toCredential = `Open the credential of "${asking}"`;
	const checks = [
		() => {
			const operation = read('operation');
			if (operation === 'wait') return;
			const what = `must be wait, but is ${JSON.stringify(operation)}`;
			throw wrongField('operation', what, 'Choose one from the list.');
		},
		() => refuseMisplacedCondition(wait.parameters, 'resumeWhen'),
		() => void readCondition(read, 'resumeWhen'),
		() => void readWaitLimit(read),
	];
	if (awaited !== undefined) {
		const { external_id, status } = awaited;
		checks.push(
			() => void matchOf(readCondition(read, 'resumeWhen'), status, 'resumeWhen', toCredential),
			() => {
				if (!wait.isNext) return;
				const waitsFor = parseExternalId(read('external_id'));
				if (waitsFor !== external_id) throw otherIdAwaited(waitsFor, external_id);
			},
		);
	}
	for (const check of checks) {
		const fault = faultIn(check);
		if (fault !== undefined) return fault;
	}
	return undefined;
}

/**
 * Why none of the first waits behind a node could begin; undefined where one may.
 * @param asking the node's name
 * @param isForIt whether what is awaited is certainly this request's postback
 */
export function refusalOfWaits(
	{ waits, isForOthers }: FirstWaits,
	asking: string,
	expectation: Expectation,
	isForIt: boolean,
): InputError | undefined {
	const awaited = isForIt && !isForOthers ? expectation : undefined;
	let first: InputError | undefined;
	for (const wait of waits) {
		const fault = faultOf(wait, asking, awaited);
		if (fault === undefined) return undefined;
		first ??= cannotBegin(wait.name, fault);
	}
	return first;
}
