import type { IExecuteFunctions, INodeParameters } from 'n8n-workflow';
import { BoundedMap } from '../base/boundedMap';
import { asError, type InputError } from '../base/inputError';
import { isJsonObject } from '../base/json';
import { workflowNodes } from '../base/n8n';
import { mayBeExpression } from '../fields/expressions';
import { claimPassage, type Passage } from '../n8n1/passage';
import type { ServiceOperation } from '../service/contract';
import { PaymentList } from './paymentList';
import { cancelled, checkFailed, listWasFull, mayBeForgotten } from './refusals';
import { MOST_CHANGE_MS, type Store } from './store';

/** More workflows than pay in one process. If a list is dropped, only n8n's own record still knows its payments. */
const MOST_LISTS = 1_000;
/** One per workflow and process: within a process changes of one list go one after the other. */
const lists = new BoundedMap<string, PaymentList>(MOST_LISTS, (list) => !list.isInUse);

function listOf(workflowId: string): PaymentList {
	const list = lists.get(workflowId) ?? new PaymentList();
	lists.set(workflowId, list);
	return list;
}

export interface RunOfNode {
	helpers: Store;
	/** n8n keeps a list for each workflow. */
	workflowId: string;
	operation: Pick<ServiceOperation, 'kind' | 'words'>;
	/** The execution's cancel signal. */
	signal?: AbortSignal;
	/** Whether a Pay node has tried such a thing in this execution before. */
	hasTriedBefore: boolean;
	/** The passage behind the wait from which the run goes on, on n8n 1. */
	passage?: Passage;
}

interface Removal {
	/** Ids whose records could not be removed. */
	remembered: string[];
	reason?: string;
}

/** What one run of a node records in n8n's duplicate store. */
export class RunRecords {
	private readonly list: PaymentList;
	/** What this run recorded and did not remove. */
	private readonly idsOfRun = new Set<string>();
	/** Whether some of this run's payments were recorded before, as when a list is run again. */
	private foundKnown = false;
	/** The key of a passage that this run claimed. */
	private passageKey?: string;
	/** Accepted payments that are not marked as accepted yet. */
	private readonly notYetMarked: string[] = [];
	/** Whether this run has marked payments as accepted. */
	private hasMarked = false;
	/** Whether marking or asking has failed, after which this run does neither again. */
	private haveMarksFailed = false;
	/** How many slow changes there had been when the run began. */
	private readonly slowChangesBefore: number;

	constructor(private readonly run: RunOfNode) {
		this.list = listOf(run.workflowId);
		this.list.beginRun(this);
		this.slowChangesBefore = this.list.turns.slowChanges;
	}

	private keyOf(id: string): string {
		return `n8n-nodes-pay:${this.run.operation.kind}:${id}`;
	}

	private keysOf(ids: Iterable<string>): string[] {
		return [...ids].map((id) => this.keyOf(id));
	}

	/**
	 * Whether this process was frozen in the middle of a change: then it wrote an old list over what others
	 * recorded, and n8n may have given its execution to another worker. What looks new may be paid already.
	 */
	private get wasFrozen(): boolean {
		return this.list.turns.hasFrozenSince(this.slowChangesBefore);
	}

	private frozenError(): InputError {
		const seconds = MOST_CHANGE_MS / 1000;
		const error = new Error(`n8n's database took longer than ${seconds} s for it`);
		return checkFailed(this.run.operation.words, error);
	}

	/** Drops nothing from the list until the run is closed, because more batches will come. */
	keepAll(): void {
		this.list.holdAllFor(this);
	}

	/** On n8n 1, claims what follows a wait for this process; false if another process has claimed it. */
	async claimPassage(): Promise<boolean> {
		const { helpers, operation, passage } = this.run;
		if (passage === undefined) return true;
		try {
			const { isOurs, key } = await claimPassage(passage, this.list, helpers);
			this.passageKey = key;
			return isOurs;
		} catch (error) {
			throw checkFailed(operation.words, asError(error));
		}
	}

	/** Records ids before they are sent; gives those that were recorded before. Throws an InputError. */
	async record(ids: readonly string[]): Promise<Set<string>> {
		const { signal } = this.run;
		if (this.wasFrozen) throw this.frozenError();
		const known = await this.addToList(ids);
		const fresh = ids.filter((id) => !known.has(id));
		if (this.wasFrozen) {
			// Another process may have recorded these too, so they must not be removed.
			this.list.forget(this.keysOf(fresh));
			throw this.frozenError();
		}
		for (const id of fresh) this.idsOfRun.add(id);
		if (signal?.aborted !== true) return known;
		throw await this.takeBackCancelled(fresh);
	}

	/** Adds ids to the list; gives those that were there before. */
	private async addToList(ids: readonly string[]): Promise<Set<string>> {
		const { helpers, operation } = this.run;
		let knownKeys: Set<string>;
		try {
			knownKeys = await this.list.record(helpers, this.keysOf(ids));
		} catch (error) {
			throw checkFailed(operation.words, asError(error));
		}
		const known = new Set(ids.filter((id) => knownKeys.has(this.keyOf(id))));
		this.foundKnown ||= known.size > 0;
		return known;
	}

	/** Removes the ids that a run recorded while it was cancelled; gives the error for its items. */
	private async takeBackCancelled(ids: readonly string[]): Promise<InputError> {
		const { remembered } = await this.takeBack(ids);
		// The list itself goes on remembering them: another run may have recorded them since.
		for (const id of remembered) this.idsOfRun.delete(id);
		return cancelled(remembered);
	}

	/** Removes ids that this run recorded, never others; gives those that stay. Never throws. */
	async takeBack(ids: readonly string[]): Promise<Removal> {
		const removable = ids.filter((id) => this.idsOfRun.has(id));
		if (removable.length === 0) return { remembered: [] };
		try {
			await this.list.takeBack(this.run.helpers, this.keysOf(removable));
		} catch (error) {
			return { remembered: removable, reason: `n8n's database failed (${asError(error).message})` };
		}
		for (const id of removable) this.idsOfRun.delete(id);
		return { remembered: [] };
	}

	/** Notes accepted payments, for the next {@link markAccepted} to mark. */
	noteAccepted(ids: readonly string[]): void {
		this.notYetMarked.push(...ids);
	}

	/** Marks what was accepted so far, so that a repeat can say so. Never throws. */
	async markAccepted(): Promise<void> {
		const { list, run } = this;
		const ids = this.notYetMarked.splice(0);
		if (this.haveMarksFailed || ids.length === 0) return;
		try {
			// Before this run's first mark, so that its own marks last until it ends.
			if (!this.hasMarked) await list.marks.shorten(run.helpers);
			this.hasMarked = true;
			await list.marks.add(run.helpers, this.keysOf(ids));
		} catch {
			this.haveMarksFailed = true;
		}
	}

	/** Gives the recorded ids that are known to have been accepted; the others may have been. Never throws. */
	async acceptedBefore(ids: readonly string[]): Promise<Set<string>> {
		const { list, run } = this;
		if (this.haveMarksFailed || ids.length === 0) return new Set();
		try {
			const accepted = await list.marks.find(run.helpers, this.keysOf(ids));
			return new Set(ids.filter((id) => accepted.has(this.keyOf(id))));
		} catch {
			this.haveMarksFailed = true;
			return new Set();
		}
	}

	/** Marks what was accepted, and looks again until all of it lasts; gives hints where that is not sure. Never throws. */
	async close(): Promise<string[]> {
		const { list, run, idsOfRun, foundKnown } = this;
		list.releaseFor(this);
		// If a list is run again, or a loop has more turns, a later run will look for what would be dropped.
		const mayDrop = !run.hasTriedBefore && !foundKnown;
		const keys = new Set(this.keysOf(idsOfRun));
		if (this.passageKey !== undefined) keys.add(this.passageKey);
		const marking = this.markAccepted();
		const { notSeen, reason } = await list.makeLast(run.helpers, keys, mayDrop);
		await marking;
		list.endRun(this);
		const hints = [this.hintAtFullList(), this.hintAtForgetting(notSeen, reason)];
		return hints.filter((hint) => hint !== undefined);
	}

	/** A hint where the list was full before this run, and may not have known older payments. */
	private hintAtFullList(): string | undefined {
		const { list, run, idsOfRun, foundKnown } = this;
		const before = list.length - idsOfRun.size;
		if (idsOfRun.size === 0 || before < list.remembered) return undefined;
		// Once is enough for a workflow that has simply paid that many.
		if (list.hasHintedFull && !foundKnown) return undefined;
		list.hasHintedFull = true;
		return listWasFull(run.operation.words, before);
	}

	/** A hint where some of this run's payments may not last in the list. */
	private hintAtForgetting(keys: string[], reason: Error | undefined): string | undefined {
		if (reason === undefined) return undefined;
		const notSeen = new Set(keys);
		const ids = [...this.idsOfRun].filter((id) => notSeen.has(this.keyOf(id)));
		return ids.length > 0 ? mayBeForgotten(ids, reason) : undefined;
	}
}

/*
 * n8n's Remove Duplicates node, where somebody gives it the Scope "Workflow", keeps its history in the row of the
 * workflow, which is our record too: it clears that, drops its oldest entries, or makes it a row of another kind.
 */

const REMOVE_DUPLICATES = 'n8n-nodes-base.removeDuplicates';
/** The operations that read or write a history, from version 2 of the node on. */
const WITH_HISTORY = ['removeItemsSeenInPreviousExecutions', 'clearDeduplicationHistory'];

interface OtherNode {
	name: string;
	type: string;
	typeVersion: number;
	disabled?: boolean;
	parameters?: INodeParameters;
}

/** An expression may give any value. */
function mayBeOneOf(typed: unknown, values: readonly string[]): boolean {
	if (typeof typed !== 'string') return false;
	return values.includes(typed) || mayBeExpression(typed);
}

function sharesRecord({ type, typeVersion, disabled, parameters }: OtherNode): boolean {
	if (type !== REMOVE_DUPLICATES || typeVersion < 2 || disabled === true) return false;
	if (!mayBeOneOf(parameters?.operation, WITH_HISTORY)) return false;
	// Where the options are one expression, n8n takes their default in its place, which has no scope.
	const options: unknown = parameters?.options;
	return isJsonObject(options) && mayBeOneOf(options.scope, ['workflow']);
}

/** The other nodes of the workflow; without n8n's own list of them those before and behind this one. */
function otherNodes(context: IExecuteFunctions): OtherNode[] {
	const nodes = workflowNodes(context);
	if (nodes !== undefined) return nodes;
	const { name } = context.getNode();
	const withParameters = { includeNodeParameters: true };
	try {
		const parents = context.getParentNodes(name, withParameters);
		return [...parents, ...context.getChildNodes(name, withParameters)];
	} catch {
		return [];
	}
}

/** The name of a Remove Duplicates node that shares the workflow's record; undefined where none is known to. */
export function nodeThatSharesRecord(context: IExecuteFunctions): string | undefined {
	return otherNodes(context).find(sharesRecord)?.name;
}
