import { amountIn, isSameAmount, type AmountUnit } from './amounts';
import {
	entriesOf,
	firstValue,
	inOneForm,
	isAmong,
	missingInWords,
	ownValue,
	pathThere,
	tellsApart,
	type Entry,
	type Sources,
} from './fieldMatch';

/* What a postback says became of its charge or payment, in the words that the credential has for it. */

/** Where a postback says what became of a charge or payment, and the service's words for it. */
export interface StatusWords {
	/** As `FieldMatch` has it; so the fields below. */
	field: string;
	paid: string[];
	failed: string[];
	/** Where there is something once the money went back. */
	refundField?: string;
	/** Where it says how much was paid, and in which unit. */
	amountField?: string;
	amountUnit?: AmountUnit;
	/** Where it repeats the External ID. */
	idField?: string;
}

/** What a postback says became of its charge or payment. */
export type State = 'paid' | 'failed' | 'refunded' | 'otherAmount' | 'other';

/** Of several entries about one charge or payment, the first of these counts. */
const ORDER: State[] = ['refunded', 'paid', 'otherAmount', 'failed', 'other'];

/** What a postback says, and why it does not say "paid". */
export interface JudgedState {
	state: State;
	/** Which field was missing, or which rule failed: never a value. Absent where the state is "paid". */
	reason?: string;
	/** Whether it is about another charge or payment, or may be. */
	isOfAnother?: true;
}

/** What a postback is about, as something proves it; null where nothing does. An operation may have no amount. */
export type Proven = { external_id: string; amount?: number } | null;

/** What an entry is about, as it says itself. */
export interface Claimed {
	/** Absent where the account has no field for it. */
	external_id?: string;
	amount?: number;
}

const inQuotes = (found: { path: string }) => JSON.stringify(found.path);

/** The identifier that a value is; undefined where it is none. */
function idIn(value: unknown): string | undefined {
	if (typeof value !== 'string' && typeof value !== 'number') return undefined;
	return inOneForm(String(value)) || undefined;
}

/** Why an entry is not about what is proven, in words; undefined where it is, or where no field says it. */
function otherIdIn(
	{ idField }: StatusWords,
	proven: Proven,
	sources: Sources,
	entry?: Entry,
): string | undefined {
	if (idField === undefined) return undefined;
	if (proven === null) {
		return 'nothing proves what was asked for, so no External ID can be compared';
	}
	const found = ownValue(idField, sources, entry);
	if (found === undefined) return missingInWords(idField, sources);
	if (idIn(found.value) === proven.external_id) return undefined;
	return `the field ${inQuotes(found)} names another charge or payment`;
}

/** Why an entry does not say that the proven amount was paid, in words; undefined as for {@link otherIdIn}. */
function otherAmountIn(
	{ amountField, amountUnit }: StatusWords,
	proven: Proven,
	sources: Sources,
	entry?: Entry,
): string | undefined {
	if (amountField === undefined) return undefined;
	if (proven === null) return 'nothing proves what was asked for, so no amount can be compared';
	if (proven.amount === undefined) return undefined;
	const found = ownValue(amountField, sources, entry);
	if (found === undefined) return missingInWords(amountField, sources);
	if (isSameAmount(found.value, proven.amount, amountUnit)) return undefined;
	if (amountIn(found.value, amountUnit) === undefined) {
		return `the field ${inQuotes(found)} is no amount, or can be read as two`;
	}
	return `the field ${inQuotes(found)} has another amount than the charge or payment`;
}

/** What one entry says, or a postback without a list: all of it is read from there. */
function stateOfEntry(
	words: StatusWords,
	proven: Proven,
	sources: Sources,
	entry?: Entry,
): JudgedState {
	const otherId = otherIdIn(words, proven, sources, entry);
	if (otherId !== undefined) return { state: 'other', reason: otherId, isOfAnother: true };
	const refund = words.refundField && pathThere(words.refundField, sources, entry);
	if (refund) {
		const reason = `the field ${JSON.stringify(refund)} says that the money went back`;
		return { state: 'refunded', reason };
	}
	// One status may be that of all entries; what an entry says of itself goes before it.
	const found = ownValue(words.field, sources, entry) ?? firstValue(words.field, sources, entry);
	if (found === undefined) return { state: 'other', reason: missingInWords(words.field, sources) };
	if (isAmong(found.value, words.failed)) {
		return { state: 'failed', reason: `the field ${inQuotes(found)} has one of the Failed Values` };
	}
	if (!isAmong(found.value, words.paid)) {
		return { state: 'other', reason: `the field ${inQuotes(found)} has none of the Paid Values` };
	}
	const otherAmount = otherAmountIn(words, proven, sources, entry);
	if (otherAmount !== undefined) return { state: 'otherAmount', reason: otherAmount };
	return { state: 'paid' };
}

/** The entries of a postback's lists, as far as the words of an account go through them. */
function entriesFor(words: StatusWords, sources: Sources): Entry[] {
	// Refunds may have a list of their own, which is about no other charge.
	const fields = [words.field, words.amountField, words.idField];
	return entriesOf(
		fields.filter((field) => field !== undefined),
		sources,
	);
}

/** Whether an entry of a list is about something else than what is proven, by the External ID in it. */
export function isOfAnother(
	entry: Entry,
	words: StatusWords,
	proven: Proven,
	sources: Sources,
): boolean {
	const { idField } = words;
	if (idField === undefined || !tellsApart(idField, entry, sources)) return false;
	return otherIdIn(words, proven, sources, entry) !== undefined;
}

/**
 * Why an entry of a list that says "paid" does so with another amount than is proven, in words; undefined
 * where it does not, or says nothing of amounts.
 */
export function otherAmountPaidIn(
	entry: Entry,
	words: StatusWords,
	proven: Proven,
	sources: Sources,
): string | undefined {
	const { amountField } = words;
	if (proven === null || amountField === undefined) return undefined;
	if (!tellsApart(amountField, entry, sources)) return undefined;
	const { state, reason } = stateOfEntry(words, proven, sources, entry);
	return state === 'otherAmount' ? reason : undefined;
}

/**
 * What a postback says. Of a list that entry counts that is about what is proven; where nothing tells the
 * entries apart, a list of several says nothing.
 */
export function stateOf(words: StatusWords, proven: Proven, sources: Sources): JudgedState {
	const entries = entriesFor(words, sources);
	if (entries.length <= 1) return stateOfEntry(words, proven, sources, entries[0]);
	const { idField } = words;
	if (idField === undefined) {
		const reason = 'the list has several entries, and no External ID Field tells them apart';
		return { state: 'other', reason };
	}
	const candidates = entries.filter((entry) => tellsApart(idField, entry, sources));
	if (candidates.length === 0) {
		const reason =
			'the list has several entries, and the External ID Field does not go through that list';
		return { state: 'other', reason, isOfAnother: true };
	}
	let first: JudgedState = {
		state: 'other',
		reason: 'no entry of the list is about this charge or payment',
		isOfAnother: true,
	};
	for (const entry of candidates) {
		if (otherIdIn(words, proven, sources, entry) !== undefined) continue;
		const verdict = stateOfEntry(words, proven, sources, entry);
		const isFirst = ORDER.indexOf(verdict.state) < ORDER.indexOf(first.state);
		if (isFirst || first.isOfAnother) first = verdict;
	}
	return first;
}

/** What a postback, or an entry of its list, says of itself, and what became of that. */
interface Claim {
	claimed: Claimed;
	verdict: JudgedState;
	/** Absent where no path goes through a list that is there. */
	entry?: Entry;
}

/** What an entry says of itself; in words, why that cannot be told. */
function claimedIn(
	{ idField, amountField, amountUnit }: StatusWords,
	sources: Sources,
	entry?: Entry,
): Claimed | string {
	const claimed: Claimed = {};
	if (idField !== undefined) {
		const found = ownValue(idField, sources, entry);
		if (found === undefined) return missingInWords(idField, sources);
		claimed.external_id = idIn(found.value);
		if (claimed.external_id === undefined) return `the field ${inQuotes(found)} is no External ID`;
	}
	if (amountField !== undefined) {
		const found = ownValue(amountField, sources, entry);
		if (found === undefined) return missingInWords(amountField, sources);
		claimed.amount = amountIn(found.value, amountUnit);
		if (claimed.amount === undefined) {
			return `the field ${inQuotes(found)} is no amount, or can be read as two`;
		}
	}
	return claimed;
}

/**
 * What a postback says whose sender is known, while nothing proves what it is about: for each entry of its
 * list what that claims, or, in words, why it claims nothing that can be told.
 */
export function claimsOf(words: StatusWords, sources: Sources): Array<Claim | { fault: string }> {
	const entries: Array<Entry | undefined> = entriesFor(words, sources);
	if (entries.length === 0) entries.push(undefined);
	return entries.map((entry) => {
		const claimed = claimedIn(words, sources, entry);
		if (typeof claimed === 'string') return { fault: claimed };
		const { external_id = '', amount } = claimed;
		const verdict = stateOfEntry(words, { external_id, amount }, sources, entry);
		return entry === undefined ? { claimed, verdict } : { claimed, verdict, entry };
	});
}
