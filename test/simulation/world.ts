import type { Scheduler } from 'fast-check';
import type { Outcome } from '../../nodes/Pay/service/outcome';
import { Clock } from './clock';
import { DuplicateStore, storedForm, type Moment, type Write } from './duplicateStore';
import { EXCEPTIONS, type Repetition } from './exceptions';
import { NodeProcess } from './nodeProcess';
import type { Fate, TokenFate } from './service';

export type Kind = 'payment' | 'qrCode';

/** What a person typed for one item, expressions resolved. */
export interface TypedItem {
	id: string;
	/** Whether the id is an expression that gives another text at each try. */
	changing?: boolean;
	/** Node, run and item. */
	place: string;
	amount: unknown;
	/** The number that the amount plainly is; undefined where the item has to be refused. */
	value: number | undefined;
	key: string;
	/** Whose account pays: number of the token and of the base address. */
	account: number;
	/** This item's own Timeout, where the option is an expression. */
	timeout?: number;
	/** Additional Members, as typed. */
	members?: string;
}

export interface Options {
	/** Whether Result Field is set. */
	confirmed: boolean;
	batchSize: number;
	timeout: number;
}

/** One run of the node's execute(), as n8n calls it: Retry On Fail makes several. */
export interface Try {
	execution: { name: string; cancelled: boolean; ended: boolean };
	/** Tries whose ledger this one was given, this one included. */
	knows: Set<Try>;
	process: NodeProcess;
	node: string;
	kind: Kind;
	items: TypedItem[];
	options: Options;
	continues: boolean;
	/** Whether an AI agent runs the node as its tool. */
	isTool: boolean;
	begun: number;
	ended: number | undefined;
	crashed: boolean;
	storeFailed: boolean;
	sends: Send[];
	logged: string[];
}

/** A request that the node made, and what came of it. */
export interface Send {
	by: Try;
	item: TypedItem;
	kind: Kind;
	id: string;
	at: number;
	arrived: boolean;
	/** Whether the service carries it out. */
	booked: boolean;
	/** What the node was told, once it was: an answer's meaning, or that it failed provenly unsent. */
	heard: Exclude<Outcome, 'duplicate'> | undefined;
	heardAt: number;
	token: string;
	/** The HTTP status that the node heard. */
	status: number | undefined;
}

/** A fault of one call to the store. */
export type StoreFate =
	| { does: 'fail'; at: Moment }
	| { does: 'hang'; at: Moment }
	| { does: 'slow'; at: Moment; ms: number }
	/** Neither new nor processed. */
	| { does: 'junk' };

export interface Settings {
	/** Whether a credential's fields come from the item. */
	accountPerItem: boolean;
	/** How n8n answers for an item beyond the last where the credential depends on the item. */
	beyondLast: 'throws' | 'differs';
	/** Whether n8n's request helper honours an abort signal. */
	honoursAbort: boolean;
	/** Whether n8n gives a status as an error where it is told to: n8n 2 does, n8n 1 does not. */
	statusErrors: boolean;
	/** Whether n8n saves an execution after each node. */
	savesProgress: boolean;
	/** How long n8n takes between reading a list and writing it, in ms; far less than any pause. */
	changeMs: number;
	fates: Fate[];
	/** Whether tokens are fetched by client credentials. */
	clientCredentials: boolean;
	tokenFates: TokenFate[];
	storeFates: Array<StoreFate | undefined>;
	/** What the credential limits; some of it cannot be read. */
	limits: { highestPayment?: string; highestSum?: string; onlyRecipients?: string } | undefined;
	/** How many payments a list keeps at least: as few as a scenario can fill, or as many as it does. */
	remembered: number;
	/** Whether there was a payment before: the first record of a list is an INSERT. */
	warm: boolean;
}

/** Something that must not happen; `rule` names the promise that is broken. */
export class Violation extends Error {
	constructor(
		readonly rule: string,
		text: string,
	) {
		super(`${rule}: ${text}`);
	}
}

const timeoutOf = ({ items, options }: Try, item = items[0]) => item?.timeout ?? options.timeout;

/** Whether an item's option is not that of item 0, which holds for the whole run. */
export const isOptionOdd = (item: TypedItem, by: Try) => timeoutOf(by, item) !== timeoutOf(by);

/** The token of an account; one that was fetched has a number behind it. */
export const tokenOf = (account: number) => `token-of-account-${account}`;

/**
 * Whether an earlier request was for the item that a try is about: the same place in the workflow; of
 * tools, which have no items, the same request.
 */
export function isSameItem(earlier: Send, by: Try, item: TypedItem): boolean {
	if (earlier.kind !== by.kind || earlier.by.isTool !== by.isTool) return false;
	if (!by.isTool) return earlier.item.place === item.place;
	const { value, key, account } = earlier.item;
	return value === item.value && key === item.key && account === item.account;
}

/** Whether the node heard that the token is not taken, of a payment. */
export function isRejectedForToken({ kind, heard, status }: Send): boolean {
	return kind === 'payment' && heard === 'rejected' && (status === 401 || status === 403);
}

/** Whether a try is of an execution that its process runs again from an earlier state. */
function isRunAgain(one: Try, two: Try): boolean {
	if (one.execution === two.execution || one.process !== two.process) return false;
	return one.execution.name === two.execution.name;
}

/** The item of which most is true, the first of several. */
function bestOf(items: TypedItem[], tests: Array<(item: TypedItem) => boolean>) {
	const score = (item: TypedItem) => tests.filter((test) => test(item)).length;
	return items.reduce<TypedItem | undefined>(
		(best, item) => (best === undefined || score(item) > score(best) ? item : best),
		undefined,
	);
}

/** Words of the promise that a send breaks or keeps. */
const describe = ({ id, by, at }: Send) =>
	`"${id}" by ${by.execution.name}, ${by.node} on ${by.process.name} at ${at} ms`;

let worlds = 0;

/** The service, the store and the processes, and what must be true of them at any time. */
export class World {
	readonly clock: Clock;
	readonly store: DuplicateStore;
	/** One of its own: what a process keeps in memory of others' does not meet it. */
	/** The names of the executions that n8n runs more than once. */
	readonly runAgain = new Set<string>();
	readonly workflow = { id: `workflow-${(worlds += 1)}`, name: 'Payouts', active: true };
	readonly sends: Send[] = [];
	readonly processes: NodeProcess[] = [];
	/** Records that a write of somebody else ever dropped. */
	private readonly dropped = new Set<string>();
	/** Those of them that a process wrote over which had stood still meanwhile. */
	private readonly droppedByFrozen = new Set<string>();
	/** Records that a full list let go, with the process that wrote it. */
	private readonly trimmed = new Map<string, Set<NodeProcess | undefined>>();
	/** What a try's list held when it first asked. */
	private readonly known = new WeakMap<Try, ReadonlySet<string>>();
	/** Whose call to the store it is, by what the call hands over. */
	readonly callers = new WeakMap<object, Try>();
	/** Records that the node took back, and the tries that did. */
	private readonly takenBack = new Map<string, Set<Try>>();
	/** What the node recorded for an external_id, as the store keeps it. */
	private readonly records = new Map<string, Set<string>>();
	/** Whether anything slowed, froze, or failed that the pauses of the node count on. */
	slowStore = false;
	/** Whether any call to the store met a fault. */
	storeFailed = false;
	readonly history: string[] = [];
	violation: Violation | undefined;
	echoed = false;
	private requests = 0;
	private tokens = 0;
	private storeCalls = 0;
	private born = 0;

	constructor(
		readonly settings: Settings,
		scheduler: Scheduler,
		/** Rules that are not looked at: to find what is behind a known fault. */
		private readonly ignored: ReadonlySet<string>,
		private readonly fresh: boolean,
	) {
		this.clock = new Clock(scheduler);
		this.store = new DuplicateStore({ written: (write, call) => this.written(write, call) });
	}

	/** Lists that already hold a record: the first one of a list is made in another way. */
	async warmUp() {
		const { workflow } = this;
		for (const id of ['node-1', 'node-2']) {
			const contextData = { node: { id } as never, workflow };
			const options = { mode: 'entries', maxEntries: 10_000 } as const;
			await this.store.checkProcessedAndRecord(['warm'], 'node', contextData, options);
		}
	}

	process(index: number): NodeProcess {
		return (this.processes[index] ??= this.newProcess(index));
	}

	private newProcess(index: number) {
		this.born += 1;
		// Each has a name of its own, as chance has to differ between them.
		const { remembered } = this.settings;
		return new NodeProcess(`process ${index}.${this.born}`, this.clock, remembered, this.fresh);
	}

	/** Ends a process where it stands. A new one takes its place. */
	crash(index: number): NodeProcess | undefined {
		const process = this.processes[index];
		if (process === undefined) return undefined;
		process.dead = true;
		delete this.processes[index];
		this.note(`${process.name} dies`);
		return process;
	}

	note(text: string) {
		this.history.push(`${this.clock.now} ms: ${text}`);
	}

	/** The first broken promise ends the scenario, at the end of the step. */
	violate(rule: string, text: string) {
		if (this.ignored.has(rule)) return;
		this.violation ??= new Violation(rule, text);
	}

	/** What the next request meets: an ordinary answer unless the scenario says otherwise. */
	nextFate(): Fate {
		return this.settings.fates[this.requests++] ?? { does: 'answer', status: 200, books: true };
	}

	/** What the next request for a token meets, and its number. */
	nextToken(): { fate: TokenFate; number: number } {
		const number = this.tokens++;
		return { fate: this.settings.tokenFates[number] ?? { does: 'give' }, number };
	}

	nextStoreFate(): StoreFate | undefined {
		return this.settings.storeFates[this.storeCalls++];
	}

	private written({ before, after, removed, trimmed }: Write, call: object) {
		if (before.length === 0) return;
		const by = this.callers.get(call);
		const now = new Set(after);
		for (const hash of trimmed) {
			const writers = this.trimmed.get(hash) ?? new Set();
			this.trimmed.set(hash, writers.add(by?.process));
		}
		for (const hash of before) {
			if (now.has(hash)) continue;
			if (removed.includes(hash)) {
				const takers = this.takenBack.get(hash) ?? new Set();
				this.takenBack.set(hash, takers);
				if (by !== undefined) takers.add(by);
				continue;
			}
			this.dropped.add(hash);
			if (by !== undefined && this.wasFrozen(by)) this.droppedByFrozen.add(hash);
		}
	}

	/** Notes what a try's list holds, the first time that it asks. */
	asks(by: Try) {
		if (this.known.has(by)) return;
		const where = { node: { id: by.node } as never, workflow: this.workflow };
		this.known.set(by, new Set(this.store.list(where)));
	}

	/** Whether a full list had let its record go before a try asked, or another process did. */
	private isTooOld(id: string, by: Try) {
		return [...(this.records.get(id) ?? [])].some((hash) => {
			const writers = this.trimmed.get(hash);
			if (writers === undefined) return false;
			return !this.known.get(by)?.has(hash) || [...writers].some((one) => one !== by.process);
		});
	}

	/** Notes what a process records, to know which record stands for which payment. */
	recording(items: readonly unknown[]) {
		for (const item of items) {
			const [id] = /id-[^:]*$/.exec(String(item)) ?? [];
			if (id === undefined) continue;
			let known = this.records.get(id);
			if (known === undefined) this.records.set(id, (known = new Set()));
			known.add(storedForm(String(item)));
		}
	}

	/** The tries that took a record of it back. */
	private takersOf(id: string): Try[] {
		return [...(this.records.get(id) ?? [])].flatMap((hash) => [
			...(this.takenBack.get(hash) ?? []),
		]);
	}

	private recordsIn(list: { has(hash: string): boolean }, id: string) {
		return [...(this.records.get(id) ?? [])].some((hash) => list.has(hash));
	}

	/** Whether a record of it was ever dropped or taken back. */
	isForgotten(id: string) {
		return this.recordsIn(this.dropped, id) || this.recordsIn(this.takenBack, id);
	}

	/** Whether something held up, broke or failed that a try counts on. */
	isDisturbed(by: Try) {
		return this.storeFailed || this.wasFrozen(by);
	}

	/** Whether the node ever recorded this external_id. */
	wasRecorded(id: string) {
		return this.records.has(id);
	}

	/** A request leaves: whether it may, and whether it says what was typed. */
	send(by: Try, url: string, token: string, body: Record<string, unknown>): Send {
		const kind: Kind = url.endsWith('/qrcode') ? 'qrCode' : 'payment';
		const id = String(body.external_id);
		const typed = by.items.filter((item) => item.id === id);
		const party = body.creditParty as { key?: string } | undefined;
		// Of equals one that was not sent; a QR code may be sent once more after a 401.
		const unsent = typed.filter((one) => !by.sends.some((send) => send.item === one));
		const item = bestOf(
			[...unsent, ...typed],
			[
				({ value }) => value === body.amount,
				({ key }) => kind === 'qrCode' || key === party?.key,
				(one) => token.startsWith(tokenOf(one.account)),
				(one) => !isOptionOdd(one, by),
			],
		);
		if (item === undefined) {
			throw new Violation('typed', `"${id}" was sent, which no item asked for`);
		}
		const send: Send = {
			by,
			item,
			kind,
			id,
			at: this.clock.now,
			arrived: false,
			booked: false,
			heard: undefined,
			heardAt: Infinity,
			token,
			status: undefined,
		};
		const what = describe(send);
		this.note(`sends ${what}, amount ${String(body.amount)}`);
		this.checkTyped(send, url, token, body, what);
		this.checkOrder(send, what);
		this.checkAccount(send, what);
		if (kind === 'payment') this.checkOnce(send, what);
		if (kind === 'payment') this.checkLimits(send, what);
		by.sends.push(send);
		this.sends.push(send);
		return send;
	}

	private checkTyped(
		{ item, kind, by }: Send,
		url: string,
		token: string,
		body: Record<string, unknown>,
		what: string,
	) {
		const { value, key, account } = item;
		if (value === undefined || body.amount !== value) {
			this.violate('amount', `${what}: typed ${String(item.amount)}, sent ${String(body.amount)}`);
		}
		const party = body.creditParty as { key?: string } | undefined;
		if (kind === 'payment' && party?.key !== key) {
			this.violate('recipient', `${what}: typed ${key}, sent ${party?.key}`);
		}
		if (
			!token.startsWith(tokenOf(account)) ||
			!url.startsWith(`https://bank-${account}.example.com/`)
		) {
			this.violate('account', `${what}: account ${account}, but ${token} to ${url}`);
		}
		if (isOptionOdd(item, by)) {
			this.violate('options', `${what}: its Timeout is not that of item 0`);
		}
	}

	/** A token that the service refused does not go out again in the same run of a node. */
	private checkAccount({ by, token }: Send, what: string) {
		const isRefused = (send: Send) => send.token === token && send.status === 401;
		if (by.sends.some((send) => send.heardAt < this.clock.now && isRefused(send))) {
			this.violate('refused account', `${what}: the token was refused before`);
		}
	}

	private checkOrder(send: Send, what: string) {
		const { by } = send;
		if (by.execution.cancelled) this.violate('cancelled', `${what}: the execution was cancelled`);
		if (by.continues) {
			// A request that never ends is given up by the node's own clock.
			const since = this.clock.now - timeoutOf(by);
			const isInFlight = ({ heard, at }: Send) => heard === undefined && at > since;
			const inFlight = by.sends.filter(isInFlight).length;
			if (inFlight >= by.options.batchSize) this.violate('batch', `${what}: ${inFlight} in flight`);
			return;
		}
		const bad = by.items.find(({ value }) => value === undefined);
		if (bad) this.violate('validation', `${what}: item "${bad.id}" cannot be sent`);
		// A QR code that is refused for its token has not failed yet: it may be sent once more.
		const mayGoOn = by.kind === 'qrCode' && this.settings.clientCredentials;
		const failed = by.sends.find(
			({ heard, id }) => id !== send.id && heard && heard !== 'accepted' && !mayGoOn,
		);
		const inFlight = by.sends.some(({ heard }) => heard === undefined);
		if (failed && !inFlight) this.violate('stop', `${what}: "${failed.id}" had failed`);
	}

	/**
	 * A payment that may have been carried out never goes out again; and by itself the node sends none
	 * twice in one try, whatever was answered, nor in one execution where its token was rejected.
	 */
	private checkOnce(later: Send, what: string) {
		for (const earlier of this.sends) {
			if (earlier.kind !== 'payment') continue;
			const [one, two] = [earlier.by, later.by];
			const inLedger = one === two || two.knows.has(one);
			const isKnown = inLedger || isRunAgain(one, two);
			const sameItem = isKnown && isSameItem(earlier, two, later.item);
			if (earlier.id !== later.id && !sameItem) continue;
			const mayBePaid = earlier.heard !== 'rejected' && earlier.heard !== 'notSent';
			// A gateway says so of what was carried out: Retry On Fail must not send it with the next token.
			const isRepeated =
				sameItem && isRejectedForToken(earlier) && one.execution.name === two.execution.name;
			if (!mayBePaid && one !== two && !isRepeated) continue;
			const takers = this.takersOf(later.id);
			const repetition: Repetition = {
				inLedger,
				sameNode: one.node === two.node,
				sameProcess: one.process === two.process,
				overlapped:
					one.execution !== two.execution && (one.ended === undefined || one.ended >= two.begun),
				vanished: this.recordsIn(this.dropped, later.id),
				tooOld: this.isTooOld(later.id, two),
				takenBackBeside: takers.some(({ process }) => process !== one.process),
				disturbed:
					this.slowStore ||
					one.crashed ||
					one.storeFailed ||
					this.recordsIn(this.droppedByFrozen, later.id) ||
					this.wasFrozen(one) ||
					this.wasFrozen(two),
			};
			if (EXCEPTIONS.some((holds) => holds(repetition))) continue;
			const ended = `which ended ${earlier.heard ?? 'open'} (${JSON.stringify(repetition)})`;
			this.violate('once', `${what} after ${describe(earlier)}, ${ended}`);
		}
	}

	/** No payment is above a limit: alone, and with all that its execution may have paid before. */
	private checkLimits({ by, item }: Send, what: string) {
		const { highestPayment, highestSum, onlyRecipients } = this.settings.limits ?? {};
		const mayBePaid = ({ heard, arrived }: Send) =>
			heard === undefined || heard === 'accepted' || (heard === 'unknown' && arrived);
		const counted = this.sends.filter(
			(send) =>
				(send.by === by || by.knows.has(send.by)) &&
				send.kind === 'payment' &&
				send.item.account === item.account &&
				mayBePaid(send),
		);
		const sum = counted.reduce((total, send) => total + (send.item.value ?? 0), item.value ?? 0);
		// What is no number is above nothing and below nothing.
		const isWithin = (value: number, limit?: string) =>
			limit === undefined || value <= Number(limit);
		if (!isWithin(item.value ?? 0, highestPayment)) this.violate('limit', `${what}: too much`);
		if (!isWithin(sum, highestSum)) this.violate('limit', `${what}: the sum is ${sum}`);
		if (onlyRecipients !== undefined && onlyRecipients !== item.key) {
			this.violate('limit', `${what}: to ${item.key}`);
		}
	}

	/** Whether a try's process stood still meanwhile. */
	wasFrozen({ process, begun }: Try) {
		return process.frozenUntil >= begun || process.frozen !== undefined;
	}

	/** What the node was told of a request. */
	heard(send: Send, what: NonNullable<Send['heard']>) {
		send.heard = what;
		send.heardAt = this.clock.now;
		this.note(`${describe(send)} ends ${what}`);
	}

	arrive(send: Send, fate: Fate) {
		send.arrived = true;
		send.booked = 'books' in fate && fate.books;
		this.note(`${describe(send)} arrives: ${JSON.stringify(fate)}`);
		if (fate.does === 'answer' && fate.echo) this.echoed = true;
	}
}
