import type { INodeExecutionData } from 'n8n-workflow';
import type { Outcome } from '../../../nodes/Pay/service/outcome';
import { isSameItem, type NodeRun, type RunItem, type Send } from './send';
import type { World } from './world';

/** How a run of the node ended. */
export type Result = { returned: INodeExecutionData[] } | { thrown: unknown };

/** What a run says of an item: its outcome, or, in an error, that it did not come to it. */
export type ReportedEnd = Outcome | 'notReached';

const OUTCOMES: readonly unknown[] = ['accepted', 'rejected', 'duplicate', 'notSent', 'unknown'];

export function isOutcome(name: unknown): name is Outcome {
	return OUTCOMES.includes(name);
}

export function isEnd(name: unknown): name is ReportedEnd {
	return name === 'notReached' || isOutcome(name);
}

/** What a run says of its items. */
export interface Report {
	/** By item. */
	ends: ReportedEnd[][];
	/** Whether every item has to be in it. */
	isComplete: boolean;
	/** What is wrong with its form. */
	mistakes: string[];
}

export function readReport(world: World, run: NodeRun, result: Result): Report {
	return 'returned' in result
		? readItems(world, run, result.returned)
		: readError(world, run, result.thrown);
}

/** The text of all that a run gave. */
export function textOf(result: Result): string {
	if ('returned' in result) return JSON.stringify(result.returned);
	const { message, description, context } = result.thrown as ThrownError;
	return [message, description, JSON.stringify(context)].join(' ');
}

/** An item's own outcome, or that of its error. */
interface Facts {
	external_id?: string;
	outcome: Outcome;
}

function readItems(world: World, run: NodeRun, returned: INodeExecutionData[]): Report {
	const report: Report = { ends: run.items.map(() => []), isComplete: true, mistakes: [] };
	for (const { json, pairedItem } of returned) {
		// In the error output the facts are inside the error.
		const facts = { ...(json.error as object), ...json } as unknown as Facts;
		const index = (pairedItem as { item: number } | undefined)?.item ?? -1;
		if (!isAbout(world, run, run.items[index], facts)) {
			report.mistakes.push(`output item for ${facts.external_id} is paired with ${index}`);
			continue;
		}
		report.ends[index]?.push(facts.outcome);
	}
	return report;
}

function isAbout(world: World, run: NodeRun, item: RunItem | undefined, facts: Facts): boolean {
	if (item === undefined) return false;
	if (facts.external_id === undefined) return true;
	return isNameOf(world, run, item, facts.external_id);
}

/** Whether an item is called so: by its id, or by the one that it was sent under in an earlier run. */
function isNameOf(world: World, run: NodeRun, item: RunItem, id: unknown): boolean {
	return id === item.id || earlierSends(world, run, item).some((send) => send.id === id);
}

/** Requests for an item or with its external_id that a run's ledger knows of, of other runs. */
export function earlierSends(world: World, run: NodeRun, item: RunItem): Send[] {
	return world.sends.filter((send) => {
		if (send.kind !== run.kind || send.run === run || !run.knows.has(send.run)) return false;
		return send.id === item.id || isSameItem(send, run, item);
	});
}

interface ThrownError {
	message: string;
	description?: string;
	context?: { data?: Facts } & Record<string, unknown>;
}

function readError(world: World, run: NodeRun, thrown: unknown): Report {
	const { context } = thrown as ThrownError;
	const report: Report = { ends: run.items.map(() => []), isComplete: false, mistakes: [] };
	const add = (id: unknown, end: ReportedEnd) => {
		for (const [index, item] of run.items.entries()) {
			const ends = report.ends[index]!;
			if (isNameOf(world, run, item, id) && !ends.includes(end)) ends.push(end);
		}
	};
	for (const { end, ids } of listsIn(context)) {
		report.isComplete = true;
		for (const id of ids) add(id, end);
	}
	const facts = context?.data;
	if (isOutcome(facts?.outcome)) add(facts.external_id, facts.outcome);
	return report;
}

interface IdsOfEnd {
	end: ReportedEnd;
	ids: unknown[];
}

/** Lists of external_ids by what became of them, wherever an error's context keeps them. */
function listsIn(value: unknown): IdsOfEnd[] {
	if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
	const lists: IdsOfEnd[] = [];
	for (const [name, member] of Object.entries(value)) {
		if (Array.isArray(member) && isEnd(name)) lists.push({ end: name, ids: member });
		else lists.push(...listsIn(member));
	}
	return lists;
}

/** Whether a line of the log says that a run did not come to an item. */
export function wasLoggedAsNotReached({ logged }: NodeRun, id: string): boolean {
	for (const line of logged) {
		const start = line.indexOf('{');
		if (start < 0) continue;
		const { notReached = [] } = JSON.parse(line.slice(start)) as { notReached?: string[] };
		if (notReached.includes(id)) return true;
	}
	return false;
}
