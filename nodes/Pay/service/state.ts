import { amountIn, type AmountUnit, isSameAmount, namesOtherCurrency } from './amounts';
import {
	ANYTHING,
	entriesOf,
	type Entry,
	firstValue,
	inOneForm,
	isAmong,
	isLongText,
	isOneOf,
	isScalar,
	isThere,
	mismatchOf,
	missingInWords,
	type Paths,
	normalPath,
	ownValue,
	pathMeeting,
	type Sources,
	tellsApart,
} from './paths';

/* What a postback says became of its charge or payment, in the words that the credential has for it. */

/** Where a postback says what became of a charge or payment, and the service's words for it. */
export interface StatusWords {
	field: Paths;
	paid: string[];
	/** {@link ANYTHING} among them stands for any other single value. */
	failed: string[];
	/** What must hold too, whatever the status says. */
	required?: RequiredValue[];
	/** Where it says that all or part of the money went back. */
	refundField?: Paths;
	/** The words there that say so; absent where anything does that is not empty. */
	refunded?: string[];
	/** Where it says how much was paid, and in which unit. */
	amountField?: Paths;
	amountUnit?: AmountUnit;
	/** Where it repeats the External ID. */
	idField?: Paths;
}

/** The paths that the words of an account look at, by the field of the credential in which they stand. */
export function fieldsInWords(words: StatusWords): Record<string, Paths> {
	const required = words.required?.map(({ path }) => path);
	const fields: Record<string, Paths> = { statusField: words.field };
	if (required !== undefined) fields.requiredValues = required;
	if (words.refundField !== undefined) fields.refundField = words.refundField;
	if (words.amountField !== undefined) fields.amountField = words.amountField;
	if (words.idField !== undefined) fields.idField = words.idField;
	return fields;
}

/** All paths that the words of an account look at; none without words. */
export function pathsInWords(words: StatusWords | undefined): string[] {
	return words === undefined ? [] : Object.values(fieldsInWords(words)).flat();
}

/** The paths whose lists have an entry for each charge. Refunds may have a list of their own. */
export function pathsOfEntries({ field, amountField = [], idField = [] }: StatusWords): string[] {
	return [...field, ...amountField, ...idField];
}

/** A value that a postback must have. */
export interface RequiredValue {
	/** A path that may go through a list. */
	path: string;
	/** {@link ANYTHING} stands for whatever is not empty. */
	value: string;
}

/** What follows from a state, wherever it is asked. */
interface StateRules {
	state: string;
	/** Whether When Paid or Failed goes on with it. */
	isFinal: boolean;
	/** Whether a second one about the same charge or payment is a repeat, whatever else the request says. */
	isOncePerCharge: boolean;
	/** Whether money has moved: then no workflow may take the charge or payment for an unpaid one. */
	hasMoneyMoved: boolean;
}

/**
 * All that a postback can say became of its charge or payment. Of several entries about one charge or payment
 * that disagree, the state that stands first counts. Two payments of another amount are two, and no repeat.
 */
export const STATES = [
	{ state: 'refunded', isFinal: true, isOncePerCharge: false, hasMoneyMoved: true },
	{ state: 'paid', isFinal: true, isOncePerCharge: true, hasMoneyMoved: true },
	{ state: 'otherAmount', isFinal: true, isOncePerCharge: false, hasMoneyMoved: true },
	{ state: 'failed', isFinal: true, isOncePerCharge: true, hasMoneyMoved: false },
	{ state: 'other', isFinal: false, isOncePerCharge: false, hasMoneyMoved: false },
] as const satisfies readonly StateRules[];

/** What a postback says became of its charge or payment. */
export type State = (typeof STATES)[number]['state'];

/** What a postback says, and why it does not say "paid". */
export interface JudgedState {
	state: State;
	/** Which field was missing, or which rule failed: never a value. Absent where the state is "paid". */
	reason?: string;
	/**
	 * Set where it says nothing of the charge or payment: it is, or may be, about another one, or lacks a
	 * required value. Then no condition goes on with it.
	 */
	disregardedFor?: 'otherId' | 'lacksValue';
}

/** What a postback is about, as something proves it or as it claims itself; null where nothing does. */
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

/** Why an entry lacks one of some required values, in words; undefined where it has them all. */
function lackingIn(
	required: RequiredValue[] | undefined,
	sources: Sources,
	entry?: Entry,
): string | undefined {
	for (const { path, value } of required ?? []) {
		const mismatch = mismatchOf({ field: [path], values: [value] }, sources, entry);
		if (mismatch !== undefined) return `of the Required Values, ${mismatch}`;
	}
	return undefined;
}

/** Tells whether another path of a field goes on inside of what stands at this one. */
const leadsFurther = (path: string, field: Paths) =>
	field.some((other) => other.startsWith(`${path}.`) || other.startsWith(`${path}[]`));

/** Why all or part of the money went back, in words; undefined where it did not. */
function refundIn(
	{ refundField, refunded = [ANYTHING] }: StatusWords,
	sources: Sources,
	entry?: Entry,
): string | undefined {
	if (refundField === undefined) return undefined;
	const says = { name: 'refunded', isMet: (value: unknown) => isAmong(value, refunded) };
	const path = pathMeeting(refundField, says, sources, entry);
	if (path !== undefined) {
		return `the field ${JSON.stringify(path)} says that all or part of the money went back`;
	}
	// Who adds a word and leaves the path at a list of refunds would never hear of one again.
	const ends = refundField.filter((each) => !leadsFurther(each, refundField));
	const cannotSay = {
		name: 'no single value',
		isMet: (value: unknown) => isThere(value) && !isScalar(value),
	};
	const unclear = pathMeeting(ends, cannotSay, sources, entry);
	if (unclear === undefined) return undefined;
	return `the field ${JSON.stringify(unclear)} is not a single value, so no Refunded Value can be compared`;
}

/** The currencies that the Required Values allow; none where they do not say. */
function currenciesIn(required: RequiredValue[] = []): string[] {
	const named = required.filter(({ path }) => normalPath(path).endsWith('currency'));
	const values = named.map(({ value }) => value);
	return values.includes(ANYTHING) ? [] : values;
}

/** Why an entry does not say that the proven amount was paid, in words; undefined as for {@link otherIdIn}. */
function otherAmountIn(
	{ amountField, amountUnit, required }: StatusWords,
	proven: Proven,
	sources: Sources,
	entry?: Entry,
): string | undefined {
	if (amountField === undefined) return undefined;
	if (proven === null) return 'nothing proves what was asked for, so no amount can be compared';
	if (proven.amount === undefined) return undefined;
	const found = ownValue(amountField, sources, entry);
	if (found === undefined) return missingInWords(amountField, sources);
	const currencies = currenciesIn(required);
	if (currencies.length > 0 && namesOtherCurrency(found.value, currencies)) {
		return `the field ${inQuotes(found)} names a different currency than the Required Values`;
	}
	if (isSameAmount(found.value, proven.amount, amountUnit)) return undefined;
	if (amountIn(found.value, amountUnit) === undefined) {
		return `the field ${inQuotes(found)} is not an amount, or can be read in two ways`;
	}
	return `the field ${inQuotes(found)} has a different amount than the charge or payment`;
}

/** Whether a value is a single one that is there; `false` and 0 are. */
const isSingleValue = (value: unknown) =>
	isScalar(value) && (isLongText(value) || String(value).trim() !== '');

/** The status of an entry: its own, or else one beside the list, which is that of all entries. */
const statusFor = ({ field }: StatusWords, sources: Sources, entry?: Entry) =>
	ownValue(field, sources, entry) ?? firstValue(field, sources, entry);

/** What one entry says, or a postback without a list: all of it is read from there. */
function stateOfEntry(
	words: StatusWords,
	proven: Proven,
	sources: Sources,
	entry?: Entry,
): JudgedState {
	const otherId = otherIdIn(words, proven, sources, entry);
	if (otherId !== undefined) return { state: 'other', reason: otherId, disregardedFor: 'otherId' };
	const lacking = lackingIn(words.required, sources, entry);
	if (lacking !== undefined)
		return { state: 'other', reason: lacking, disregardedFor: 'lacksValue' };
	const refund = refundIn(words, sources, entry);
	if (refund !== undefined) return { state: 'refunded', reason: refund };
	const found = statusFor(words, sources, entry);
	if (found === undefined) return { state: 'other', reason: missingInWords(words.field, sources) };
	if (isScalar(found.value) && isOneOf(found.value, words.failed)) {
		return { state: 'failed', reason: `the field ${inQuotes(found)} has one of the Failed Values` };
	}
	if (!isAmong(found.value, words.paid)) {
		const reason = `the field ${inQuotes(found)} has none of the Paid Values`;
		if (!words.failed.includes(ANYTHING) || !isSingleValue(found.value)) {
			return { state: 'other', reason };
		}
		return {
			state: 'failed',
			reason: `${reason}, and ${ANYTHING} in the Failed Values means any other value`,
		};
	}
	const otherAmount = otherAmountIn(words, proven, sources, entry);
	if (otherAmount !== undefined) return { state: 'otherAmount', reason: otherAmount };
	return { state: 'paid' };
}

/** What an entry of a postback's list says. */
export interface JudgedEntry extends Entry {
	verdict: JudgedState;
}

/** Judges each entry of the lists that the words of an account go through. */
export function judgeEntries(words: StatusWords, proven: Proven, sources: Sources): JudgedEntry[] {
	return entriesFor(words, sources).map((entry) => {
		return { ...entry, verdict: stateOfEntry(words, proven, sources, entry) };
	});
}

/** The entries of a postback's lists, as far as the words of an account go through them. */
const entriesFor = (words: StatusWords, sources: Sources) =>
	entriesOf(pathsOfEntries(words), sources);

/** Why a list of several entries says nothing. */
export const NOT_TOLD_APART =
	'the list has several entries, and no External ID Field tells them apart';

/**
 * What a postback says. Of a list that entry counts that is about what is proven; where nothing tells the
 * entries apart, a list of several says nothing.
 * @param entries where they have been judged
 */
export function stateOf(
	words: StatusWords,
	proven: Proven,
	sources: Sources,
	entries: readonly JudgedEntry[] = judgeEntries(words, proven, sources),
): JudgedState {
	const [first] = entries;
	if (first === undefined) return stateOfEntry(words, proven, sources);
	if (entries.length === 1) return first.verdict;
	const { idField } = words;
	if (idField === undefined) {
		const lacking = entries.find(({ verdict }) => verdict.disregardedFor);
		if (lacking !== undefined) return lacking.verdict;
		return { state: 'other', reason: NOT_TOLD_APART };
	}
	const told = entries.filter((entry) => tellsApart(idField, entry, sources));
	if (told.length === 0) {
		const reason =
			'the list has several entries, and the External ID Field does not go through that list';
		return { state: 'other', reason, disregardedFor: 'otherId' };
	}
	const verdicts: JudgedState[] = [];
	for (const { verdict } of told) {
		if (verdict.disregardedFor !== 'otherId') verdicts.push(verdict);
	}
	for (const { state } of STATES) {
		const found = verdicts.find((verdict) => verdict.state === state && !verdict.disregardedFor);
		if (found !== undefined) return found;
	}
	const reason = 'no entry of the list is about this charge or payment';
	return verdicts.at(-1) ?? { state: 'other', reason, disregardedFor: 'otherId' };
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
		if (claimed.external_id === undefined)
			return `the field ${inQuotes(found)} is not an External ID`;
	}
	if (amountField !== undefined) {
		const found = ownValue(amountField, sources, entry);
		if (found === undefined) return missingInWords(amountField, sources);
		claimed.amount = amountIn(found.value, amountUnit);
		if (claimed.amount === undefined) {
			return `the field ${inQuotes(found)} is not an amount, or can be read in two ways`;
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
