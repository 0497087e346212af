import type { INodeExecutionData } from 'n8n-workflow';
import type { Outcome } from '../../nodes/Pay/service/outcome';
import {
	isOptionOdd,
	isRejectedForToken,
	isSameItem,
	type Send,
	type Try,
	type TypedItem,
	type World,
} from './world';

const OUTCOMES: readonly Outcome[] = ['accepted', 'rejected', 'duplicate', 'notSent', 'unknown'];

/** What a run says of an item: its outcome, or, in an error, that it did not come to it. */
type End = Outcome | 'notReached';
const isOutcome = (name: unknown): name is Outcome => OUTCOMES.includes(name as Outcome);
const isEnd = (name: unknown): name is End => name === 'notReached' || isOutcome(name);

/** How a run of the node ended. */
export type Result = { returned: INodeExecutionData[] } | { thrown: unknown };

/** What the node says of its items; by item where it returned, by external_id where it threw. */
interface Told {
	ofItem: Array<End[]>;
	/** Whether the list is meant to be complete. */
	lists: boolean;
	text: string;
}

type Json = Record<string, unknown>;

/** What an item may be called: its id, or the one that it was sent under in an earlier try. */
const isNameOf = (world: World, by: Try, item: TypedItem, id: unknown) =>
	id === item.id || earlierSends(world, by, item).some((send) => send.id === id);

function readReturned(returned: INodeExecutionData[], by: Try, world: World): Told {
	const { items } = by;
	const ofItem = items.map((): End[] => []);
	for (const { json, pairedItem } of returned) {
		const error = json.error as Json | undefined;
		const facts = (error ?? json) as Json;
		const index = (pairedItem as { item: number } | undefined)?.item ?? -1;
		const item = items[index];
		const named = facts.external_id;
		if (item === undefined || (named !== undefined && !isNameOf(world, by, item, named))) {
			world.violate(
				'report',
				`output item for ${String(facts.external_id)} is paired with ${index}`,
			);
			continue;
		}
		if (error !== undefined && Object.keys(json).length > 1) {
			world.violate('report', `an error item holds ${Object.keys(json).join()}`);
		}
		ofItem[index]?.push(facts.outcome as Outcome);
	}
	return { ofItem, lists: true, text: world.echoed ? JSON.stringify(returned) : '' };
}

/** Lists of external_ids by what became of them, wherever an error's context keeps them. */
function listsIn(value: unknown, found: Array<[End, unknown[]]>) {
	if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
	for (const [key, member] of Object.entries(value)) {
		if (Array.isArray(member) && isEnd(key)) found.push([key, member]);
		else listsIn(member, found);
	}
}

function readThrown(thrown: unknown, by: Try, world: World): Told {
	const { items } = by;
	const error = thrown as { message: string; description?: string; context?: Json };
	const ofItem = items.map((): End[] => []);
	const tell = (id: unknown, outcome: End) =>
		items.forEach((item, index) => {
			const isNamed = isNameOf(world, by, item, id);
			if (isNamed && !ofItem[index]?.includes(outcome)) ofItem[index]?.push(outcome);
		});
	const found: Array<[End, unknown[]]> = [];
	listsIn(error.context, found);
	for (const [outcome, ids] of found) ids.forEach((id) => tell(id, outcome));
	const facts = (error.context?.data ?? {}) as Json;
	if (isOutcome(facts.outcome)) tell(facts.external_id, facts.outcome);
	const text = world.echoed
		? [error.message, error.description, JSON.stringify(error.context)].join(' ')
		: '';
	return { ofItem, lists: found.length > 0, text };
}

/** Requests for an item or with its external_id that a try's ledger knows of, of other tries. */
function earlierSends(world: World, by: Try, item: TypedItem): Send[] {
	return world.sends.filter(
		(send) =>
			(send.id === item.id || isSameItem(send, by, item)) &&
			send.kind === by.kind &&
			send.by !== by &&
			by.knows.has(send.by),
	);
}

const isOpen = ({ heard }: Send) => heard === undefined || heard === 'unknown';

/**
 * A payment of an earlier execution, which nobody may tell as not sent: this try refuses it as a
 * duplicate, or did not come to it.
 */
function sentBefore(world: World, by: Try, item: TypedItem): Send | undefined {
	if (world.isDisturbed(by) || world.isForgotten(item.id)) return undefined;
	return world.sends.find(
		({ id, kind, by: other, heard }) =>
			id === item.id &&
			kind === 'payment' &&
			other.node === by.node &&
			other.ended !== undefined &&
			other.ended < by.begun &&
			heard !== 'rejected' &&
			heard !== 'notSent',
	);
}

/** What is wrong with an outcome that the node told of an item, or undefined. */
function contradiction(
	world: World,
	by: Try,
	item: TypedItem,
	outcome: End | undefined,
): string | undefined {
	const same = by.items.filter(({ id }) => id === item.id);
	// QR codes may share an id, and then nobody can tell which is which.
	if (same.length > 1 && by.kind === 'qrCode') return undefined;
	const own = by.sends.filter((send) => send.item === item);
	const earlier = earlierSends(world, by, item);
	const sent = own.at(-1);
	if (sent !== undefined) {
		// A QR code that was refused for its token and sent once more: what arrived is what counts.
		const repeated = own.length > 1 && sent.heard === 'notSent';
		const heard = (repeated ? own[0]?.heard : sent.heard) ?? 'unknown';
		if (outcome === heard) return undefined;
		if (heard === 'notSent' && outcome === 'unknown') return undefined;
		if (heard === 'unknown' && outcome === 'notSent' && !sent.arrived) return undefined;
		return `it was sent and ended ${heard}`;
	}
	switch (outcome) {
		case 'accepted': {
			const booking = [...earlier, ...own].find(
				(send) =>
					send.heard === 'accepted' &&
					send.item.value === item.value &&
					(by.kind === 'qrCode' || send.item.key === item.key) &&
					send.item.account === item.account,
			);
			return booking ? undefined : 'nothing like it was sent and accepted in this execution';
		}
		case 'rejected': {
			const isTold = earlier.some((send) => {
				return isRejectedForToken(send) && send.by.execution.name === by.execution.name;
			});
			return isTold ? undefined : 'it was not sent';
		}
		case 'unknown':
			// Of two tools at once the one is told while the request of the other is still out.
			return earlier.some((send) => isOpen(send) || send.heardAt >= by.begun) || own.length > 0
				? undefined
				: 'no request of this execution is open';
		case 'duplicate': {
			if (world.runAgain.has(by.execution.name)) return undefined;
			const known = earlier.length > 0 || same.length > 1 || world.wasRecorded(item.id);
			return known ? undefined : 'it was never recorded before';
		}
		case 'notSent': {
			if (same.length > 1 || item.value === undefined || isOptionOdd(item, by)) return undefined;
			if (by.kind === 'qrCode') return undefined;
			const before = sentBefore(world, by, item);
			// What is above a limit is not asked after in the duplicate check.
			if (before && world.settings.limits === undefined)
				return `${before.by.execution.name} sent it, which ended ${before.heard}`;
			const out = earlier.find(
				(send) =>
					(isOpen(send) || send.heard === 'accepted') &&
					// Of two tools at once the other may have begun after this one had looked.
					(!by.isTool || send.at < by.begun),
			);
			return out ? `an earlier try ended ${out.heard ?? 'open'}` : undefined;
		}
		default:
			return undefined;
	}
}

const isAlone = ({ items }: Try, item: TypedItem) =>
	items.filter(({ id }) => id === item.id).length === 1;

/** Whether a line of the log says that a run did not come to an item. */
function wasLoggedAsNotReached({ logged }: Try, id: string): boolean {
	return logged.some((line) => {
		const start = line.indexOf('{');
		if (start < 0) return false;
		const { notReached = [] } = JSON.parse(line.slice(start)) as { notReached?: string[] };
		return notReached.includes(id);
	});
}

/** Compares what a run of the node told with what happened. */
export function checkTold(world: World, by: Try, result: Result) {
	const name = `${by.execution.name}, ${by.node}`;
	if (by.execution.cancelled) {
		// n8n drops what a cancelled node gives: the log is all there is.
		const log = by.logged.join('\n');
		for (const send of by.sends) {
			const out = isOpen(send) || send.heard === 'accepted';
			if (out && send.kind === 'payment' && !log.includes(send.id)) {
				world.violate('cancelledLog', `${name}: nothing was logged of "${send.id}", ${send.heard}`);
			}
			if (isAlone(by, send.item) && wasLoggedAsNotReached(by, send.id)) {
				world.violate('cancelledLog', `${name}: "${send.id}" was logged as not reached, and sent`);
			}
		}
		return;
	}
	if ('thrown' in result && by.continues) {
		world.violate('throws', `${name} threw under Continue: ${String(result.thrown)}`);
	}
	const told =
		'returned' in result
			? readReturned(result.returned, by, world)
			: readThrown(result.thrown, by, world);
	by.items.forEach((item, index) => {
		const outcomes = told.ofItem[index] ?? [];
		const [outcome] = outcomes;
		const what = `${name}: item ${index} "${item.id}" is told ${outcomes.join(' and ') || 'nothing'}`;
		world.note(what);
		const alone = isAlone(by, item);
		if (outcome === undefined) {
			const expected = told.lists || by.sends.length > 0;
			if (expected && (alone || 'returned' in result)) world.violate('missing', what);
			return;
		}
		if (outcomes.length > 1 && alone) return world.violate('report', what);
		if (!alone && 'thrown' in result) return;
		// An item has an outcome; only an error speaks of what was not reached.
		const isKnown = 'thrown' in result ? isEnd(outcome) : isOutcome(outcome);
		if (!isKnown) return world.violate('report', what);
		const wrong = contradiction(world, by, item, outcome);
		if (wrong !== undefined) world.violate(`told ${outcome}`, `${what}, but ${wrong}`);
	});
	if (world.echoed && /token-of-account/.test(told.text)) {
		world.violate('token', `${name}: the access token is in what the node gave`);
	}
}
