import {
	earlierSends,
	isEnd,
	isOutcome,
	readReport,
	textOf,
	wasLoggedAsNotReached,
	type Report,
	type ReportedEnd,
	type Result,
} from './report';
import { isException, repetitionOf } from './repetition';
import {
	inWords,
	isOptionOdd,
	isRejectedForToken,
	isSameItem,
	moreInRecipient,
	recipientOf,
	timeoutOf,
	wasFrozen,
	type NodeRun,
	type RunItem,
	type Send,
} from './send';
import { OPERATION_FACTS, tokenOf } from './service';
import type { World } from './world';

/*
 * What must never happen. First what is looked at whenever a request leaves the node, then what is
 * looked at when a run of the node has ended. A function of a rule gives what is wrong, or undefined.
 */

interface Rule {
	/** The promise. */
	name: string;
	mistakeOf(send: Send, world: World): string | undefined;
}

const RULES: readonly Rule[] = [
	{ name: 'evaluation', mistakeOf: paidForTest },
	{ name: 'amount', mistakeOf: otherAmount },
	{ name: 'recipient', mistakeOf: otherRecipient },
	{ name: 'account', mistakeOf: otherAccount },
	{ name: 'options', mistakeOf: otherOptions },
	{ name: 'cancelled', mistakeOf: sentAfterCancel },
	{ name: 'batch', mistakeOf: tooManyAtOnce },
	{ name: 'validation', mistakeOf: sentBesideRefusedItem },
	{ name: 'stop', mistakeOf: sentAfterFailure },
	{ name: 'shared record', mistakeOf: sentBesideSharedRecord },
	{ name: 'refused account', mistakeOf: refusedToken },
	{ name: 'too many requests', mistakeOf: sentAfter429 },
	{ name: 'once', mistakeOf: paidTwice },
	{ name: 'limit', mistakeOf: aboveHighestPayment },
	{ name: 'limit', mistakeOf: aboveHighestSum },
	{ name: 'limit', mistakeOf: otherRecipientThanAllowed },
];

/** Judges a request that leaves, before it counts among those that left. */
export function judgeSend(world: World, send: Send): void {
	for (const { name, mistakeOf } of RULES) {
		const mistake = mistakeOf(send, world);
		if (mistake !== undefined) world.violate(name, `${inWords(send)}: ${mistake}`);
	}
}

function goesOutOnce({ kind }: Send | NodeRun): boolean {
	return OPERATION_FACTS[kind].goesOutOnce;
}

/** A row of a test data set moves no money. */
function paidForTest(send: Send): string | undefined {
	if (!goesOutOnce(send) || send.run.evaluation === undefined) return undefined;
	return `n8n runs it for a test data set, as its ${send.run.evaluation} says`;
}

function otherAmount({ item, body }: Send): string | undefined {
	if (!item.isRefused && body.amount === item.value) return undefined;
	return `typed ${String(item.amount)}, sent ${String(body.amount)}`;
}

function otherRecipient(send: Send): string | undefined {
	if (!OPERATION_FACTS[send.kind].hasRecipient) return undefined;
	if (recipientOf(send) === send.item.key) return undefined;
	return `typed ${send.item.key}, sent ${recipientOf(send)}`;
}

function otherAccount({ item, token, url }: Send): string | undefined {
	const isItsToken = token.startsWith(tokenOf(item.account));
	const isItsAddress = url.startsWith(`https://bank-${item.account}.example.com/`);
	if (isItsToken && isItsAddress) return undefined;
	return `account ${item.account}, but ${token} to ${url}`;
}

function otherOptions({ item, run }: Send): string | undefined {
	return isOptionOdd(item, run) ? 'its Timeout is not that of item 0' : undefined;
}

function sentAfterCancel({ run }: Send): string | undefined {
	return run.execution.cancelled ? 'the execution was cancelled' : undefined;
}

function tooManyAtOnce({ run }: Send, { clock }: World): string | undefined {
	if (!run.continues) return undefined;
	// A request that never ends is given up by the node's own clock.
	const since = clock.now - timeoutOf(run);
	const inFlight = run.sends.filter((send) => isOpen(send) && send.at > since).length;
	return inFlight >= run.options.batchSize ? `${inFlight} in flight` : undefined;
}

/** Where a run stops at errors, nothing is sent unless all can be. */
function sentBesideRefusedItem({ run }: Send): string | undefined {
	if (run.continues) return undefined;
	const refused = run.items.find(({ isRefused }) => isRefused);
	return refused && `item "${refused.id}" cannot be sent`;
}

/** Where a run stops at errors, nothing is sent after one. */
function sentAfterFailure({ run, id }: Send, { settings }: World): string | undefined {
	if (run.continues) return undefined;
	// A QR code that is refused for its token has not failed yet: it may be sent once more.
	if (!goesOutOnce(run) && settings.clientCredentials) return undefined;
	if (run.sends.some(isOpen)) return undefined;
	const failed = run.sends.find((send) => send.id !== id && send.outcome !== 'accepted');
	return failed && `"${failed.id}" had failed`;
}

/** Nothing is sent that a Remove Duplicates node of the workflow could make n8n forget. */
function sentBesideSharedRecord(send: Send, { settings }: World): string | undefined {
	if (!goesOutOnce(send) || !settings.sharesRecord) return undefined;
	return 'Remove Duplicates keeps its history in the record';
}

/** A token that the service refused does not go out again in the same execution. */
function refusedToken({ run, token }: Send, { clock, sends }: World): string | undefined {
	const wasRefused = sends.some(
		(send) =>
			send.run.execution === run.execution &&
			send.token === token &&
			send.status === 401 &&
			send.endedAt < clock.now,
	);
	return wasRefused ? 'the token was refused before' : undefined;
}

/** A service that had too many requests of an account gets no more of the same execution. */
function sentAfter429({ run, item }: Send, { clock, sends }: World): string | undefined {
	const hadTooMany = sends.some(
		(send) =>
			send.run.execution === run.execution &&
			send.item.account === item.account &&
			send.status === 429 &&
			send.endedAt < clock.now,
	);
	return hadTooMany ? 'the service had too many requests' : undefined;
}

/**
 * A payment that may have been carried out never goes out again; and by itself the node sends none
 * twice in one run, whatever was answered, nor in one execution where its token was rejected.
 */
function paidTwice(later: Send, world: World): string | undefined {
	if (!goesOutOnce(later)) return undefined;
	for (const earlier of world.sends) {
		if (!isSamePayment(earlier, later)) continue;
		const isRepeatedByItself = earlier.run === later.run || isRepeatedWithNextToken(earlier, later);
		if (!mayBePaid(earlier) && !isRepeatedByItself) continue;
		const repetition = repetitionOf(world, earlier, later);
		if (isException(repetition)) continue;
		const ended = earlier.outcome ?? 'open';
		return `after ${inWords(earlier)}, which ended ${ended} (${JSON.stringify(repetition)})`;
	}
	return undefined;
}

function isSamePayment(earlier: Send, later: Send): boolean {
	if (!goesOutOnce(earlier) || earlier.kind !== later.kind) return false;
	if (earlier.id === later.id) return true;
	return isKnownTo(later.run, earlier.run) && isSameItem(earlier, later.run, later.item);
}

/**
 * A gateway may reject the token of what was carried out: neither Retry On Fail nor another node of the execution
 * must send it again. Of two processes that run one execution at once, one does not know what the other was told.
 */
function isRepeatedWithNextToken(earlier: Send, later: Send): boolean {
	if (!isRejectedForToken(earlier) || !isKnownTo(later.run, earlier.run)) return false;
	return earlier.run.execution.name === later.run.execution.name;
}

/** Whether a run can look up what an earlier one was told, in its execution or in its process. */
function isKnownTo(later: NodeRun, earlier: NodeRun): boolean {
	return earlier === later || later.knows.has(earlier) || isRunAgain(earlier, later);
}

/** Whether a run is of an execution that its process runs again from an earlier state. */
function isRunAgain(one: NodeRun, two: NodeRun): boolean {
	if (one.execution === two.execution || one.process !== two.process) return false;
	return one.execution.name === two.execution.name;
}

function mayBePaid({ outcome }: Send): boolean {
	return outcome !== 'rejected' && outcome !== 'notSent';
}

function aboveHighestPayment({ kind, item }: Send, { settings }: World): string | undefined {
	if (!OPERATION_FACTS[kind].isLimited) return undefined;
	return isWithin(item.value ?? 0, settings.limits?.highestPayment) ? undefined : 'too much';
}

/** A sum is that of an execution: what it may have paid before counts. */
function aboveHighestSum({ kind, item, run }: Send, world: World): string | undefined {
	if (!OPERATION_FACTS[kind].isLimited) return undefined;
	let sum = item.value ?? 0;
	for (const send of world.sends) {
		if (send.run !== run && !run.knows.has(send.run)) continue;
		if (!OPERATION_FACTS[send.kind].isLimited || send.item.account !== item.account) continue;
		if (countsInSum(send)) sum += send.item.value ?? 0;
	}
	return isWithin(sum, world.settings.limits?.highestSum) ? undefined : `the sum is ${sum}`;
}

function countsInSum({ outcome, arrived }: Send): boolean {
	if (outcome === 'unknown') return arrived;
	return outcome === undefined || outcome === 'accepted';
}

/** What is no number is above nothing and below nothing: such a limit lets nothing out. */
function isWithin(value: number, limit: string | undefined): boolean {
	return limit === undefined || value <= Number(limit);
}

function otherRecipientThanAllowed(send: Send, { settings }: World): string | undefined {
	const { kind, item } = send;
	const allowed = settings.limits?.onlyRecipients;
	if (!OPERATION_FACTS[kind].isLimited || allowed === undefined) return undefined;
	if (allowed !== item.key) return `to ${item.key}`;
	const more = moreInRecipient(send);
	return more && `to ${item.key}, with the account ${more}`;
}

/** Judges what a run of the node gave when it ended against what happened. */
export function judgeReport(world: World, run: NodeRun, result: Result): void {
	const name = `${run.execution.name}, ${run.node}`;
	if (run.execution.cancelled) {
		// n8n drops what a cancelled node gives: the log is all there is.
		for (const send of run.sends) judgeLog(world, run, send, name);
		return;
	}
	if ('thrown' in result && run.continues) {
		world.violate('throws', `${name} threw under Continue: ${String(result.thrown)}`);
	}
	// Such a payment is refused before its External ID is read, so no item can name it.
	if (goesOutOnce(run) && run.evaluation !== undefined) return;
	const report = readReport(world, run, result);
	for (const mistake of report.mistakes) world.violate('report', `${name}: ${mistake}`);
	for (const index of run.items.keys()) judgeItem(world, run, result, report, index);
	judgeAcceptedBefore(world, name, result);
	if (world.isTokenEchoed && textOf(result).includes('token-of-account')) {
		world.violate('token', `${name}: the access token is in what the node gave`);
	}
}

/** Nothing is called accepted that the service did not accept; of what was lost nothing need be said. */
function judgeAcceptedBefore(world: World, name: string, result: Result): void {
	for (const [, id] of textOf(result).matchAll(/"([^"\\]+)\\?" was accepted earlier in this/g)) {
		world.acceptedBefore += 1;
		const wasAccepted = world.sends.some((send) => send.id === id && send.outcome === 'accepted');
		if (!wasAccepted) world.violate('accepted before', `${name} says it of "${id}"`);
	}
}

/** What may have been paid when a run was cancelled is in the log, and not as if it had not gone out. */
function judgeLog(world: World, run: NodeRun, send: Send, name: string): void {
	const isLogged = run.logged.some((line) => line.includes(send.id));
	if (goesOutOnce(send) && isOpenOrAccepted(send) && !isLogged) {
		world.violate('cancelledLog', `${name}: nothing was logged of "${send.id}", ${send.outcome}`);
	}
	if (isOnlyOne(run, send.item) && wasLoggedAsNotReached(run, send.id)) {
		world.violate('cancelledLog', `${name}: "${send.id}" was logged as not reached, and sent`);
	}
}

/** Every item is reported, once, with an outcome that agrees with what happened. */
function judgeItem(
	world: World,
	run: NodeRun,
	result: Result,
	report: Report,
	index: number,
): void {
	const item = run.items[index]!;
	const ends = report.ends[index]!;
	const name = `${run.execution.name}, ${run.node}`;
	const what = `${name}: item ${index} "${item.id}" is told ${ends.join(' and ') || 'nothing'}`;
	world.note(what);
	const hasThrown = 'thrown' in result;
	const [end] = ends;
	if (end === undefined) {
		// What is refused before its items are read names none of them.
		if (goesOutOnce(run) && world.settings.sharesRecord) return;
		// An error names external_ids, which cannot say of two items with one which is meant.
		const isExpected = report.isComplete || run.sends.length > 0;
		if (isExpected && (isOnlyOne(run, item) || !hasThrown)) world.violate('missing', what);
		return;
	}
	if (isOnlyOne(run, item) && ends.length > 1) return world.violate('report', what);
	if (!isOnlyOne(run, item) && hasThrown) return;
	// An item has an outcome; only an error speaks of what was not reached.
	const isKnown = hasThrown ? isEnd(end) : isOutcome(end);
	if (!isKnown) return world.violate('report', what);
	const contradiction = contradictionOf(world, run, item, end);
	if (contradiction !== undefined) world.violate(`told ${end}`, `${what}, but ${contradiction}`);
}

/** What happened that cannot be where an item's end is the one that was reported. */
function contradictionOf(
	world: World,
	run: NodeRun,
	item: RunItem,
	end: ReportedEnd,
): string | undefined {
	// QR codes may share an id, and then nobody can tell which is which.
	if (!goesOutOnce(run) && !isOnlyOne(run, item)) return undefined;
	const sends = run.sends.filter((send) => send.item === item);
	if (sends.length > 0) return contradictionOfSent(sends, end);
	switch (end) {
		case 'accepted':
			return contradictionOfAccepted(world, run, item);
		case 'rejected':
			return contradictionOfRejected(world, run, item);
		case 'unknown':
			return contradictionOfUnknown(world, run, item);
		case 'duplicate':
			return contradictionOfDuplicate(world, run, item);
		case 'notSent':
			return contradictionOfNotSent(world, run, item);
		case 'notReached':
			return undefined;
	}
}

/** An item that this run sent ended as its request did. */
function contradictionOfSent(sends: Send[], end: ReportedEnd): string | undefined {
	const last = sends.at(-1)!;
	// A QR code that was refused for its token and sent once more: what arrived is what counts.
	const wasRepeated = sends.length > 1 && last.outcome === 'notSent';
	const counted = wasRepeated ? sends[0]! : last;
	const outcome = counted.outcome ?? 'unknown';
	if (end === outcome) return undefined;
	if (outcome === 'notSent' && end === 'unknown') return undefined;
	if (outcome === 'unknown' && end === 'notSent' && !last.arrived) return undefined;
	return `it was sent and ended ${outcome}`;
}

/** "Accepted" without a request is what the ledger remembers of the same payment. */
function contradictionOfAccepted(world: World, run: NodeRun, item: RunItem): string | undefined {
	const { hasRecipient } = OPERATION_FACTS[run.kind];
	for (const send of earlierSends(world, run, item)) {
		if (send.outcome !== 'accepted') continue;
		const { value, key, account, members } = send.item;
		const isSameRecipient = !hasRecipient || (key === item.key && members === item.members);
		if (isSameRecipient && value === item.value && account === item.account) return undefined;
	}
	return 'nothing like it was sent and accepted in this execution';
}

/** "Rejected" without a request is what the ledger remembers of a token that was rejected. */
function contradictionOfRejected(world: World, run: NodeRun, item: RunItem): string | undefined {
	const isRemembered = earlierSends(world, run, item).some((send) => {
		return isRejectedForToken(send) && send.run.execution.name === run.execution.name;
	});
	return isRemembered ? undefined : 'it was not sent';
}

function contradictionOfUnknown(world: World, run: NodeRun, item: RunItem): string | undefined {
	// Of two tools at once the one is told while the request of the other is still out.
	const isInDoubt = earlierSends(world, run, item).some(
		(send) => isInDoubtOrOpen(send) || send.endedAt >= run.begun,
	);
	return isInDoubt ? undefined : 'no request of this execution is open';
}

function contradictionOfDuplicate(world: World, run: NodeRun, item: RunItem): string | undefined {
	if (world.runAgain.has(run.execution.name)) return undefined;
	if (!isOnlyOne(run, item) || world.records.wasRecorded(item.id)) return undefined;
	if (earlierSends(world, run, item).length > 0) return undefined;
	return 'it was never recorded before';
}

/** "Not sent" says that it may be paid by another run: nobody may have paid it. */
function contradictionOfNotSent(world: World, run: NodeRun, item: RunItem): string | undefined {
	if (!goesOutOnce(run) || !isOnlyOne(run, item)) return undefined;
	if (item.isRefused || isOptionOdd(item, run)) return undefined;
	const before = sentByEarlierExecution(world, run, item);
	// What is above a limit is not asked after in the duplicate check.
	if (before !== undefined && world.settings.limits === undefined) {
		return `${before.run.execution.name} sent it, which ended ${before.outcome}`;
	}
	for (const send of earlierSends(world, run, item)) {
		// Of two tools at once the other may have begun after this one had looked.
		if (run.isTool && send.at >= run.begun) continue;
		if (isOpenOrAccepted(send)) return `an earlier run ended ${send.outcome ?? 'open'}`;
	}
	return undefined;
}

/**
 * A payment of an earlier execution, which nobody may report as not sent: this run refuses it as a
 * duplicate, or did not come to it.
 */
function sentByEarlierExecution(world: World, run: NodeRun, item: RunItem): Send | undefined {
	if (world.hasStoreFailed || wasFrozen(run) || world.records.wasForgotten(item.id)) {
		return undefined;
	}
	return world.sends.find((send) => {
		if (send.id !== item.id || send.kind !== run.kind || !mayBePaid(send)) return false;
		const { ended } = send.run;
		return ended !== undefined && ended < run.begun;
	});
}

/** Whether no other item of its run has its external_id. */
function isOnlyOne({ items }: NodeRun, item: RunItem): boolean {
	return items.filter(({ id }) => id === item.id).length === 1;
}

/** Whether the node has not been told yet what became of a request. */
function isOpen({ outcome }: Send): boolean {
	return outcome === undefined;
}

function isInDoubtOrOpen({ outcome }: Send): boolean {
	return outcome === undefined || outcome === 'unknown';
}

function isOpenOrAccepted(send: Send): boolean {
	return isInDoubtOrOpen(send) || send.outcome === 'accepted';
}
