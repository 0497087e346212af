import { createHash } from 'crypto';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import type { PostbackMatch } from '../fields/condition';
import {
	entriesOf,
	type Entry,
	type FieldMatch,
	listsOf,
	mismatchOf,
	Sources,
	tellsApart,
} from '../service/paths';
import {
	type Claimed,
	claimsOf,
	judgeEntries,
	NOT_TOLD_APART,
	type JudgedEntry,
	type JudgedState,
	pathsInWords,
	type State,
	stateOf,
	type StatusWords,
} from '../service/state';
import { aboutInJson, type Postback, toJson } from './postback';
import type { Reference } from './proof';

/** A verified postback, and where its fields are looked for. */
export interface TakenPostback {
	postback: Postback;
	reference: Reference | null;
	sources: Sources;
}

/** A postback, and what it says in the words of the account: judged once, for the condition and for the item. */
export interface JudgedPostback extends TakenPostback {
	/** The words of the account that it was judged by, if it has any. */
	words?: StatusWords;
	/** What it says; absent without words of the account. */
	verdict?: JudgedState;
	/** What each entry of its lists says. */
	entries: readonly JudgedEntry[];
	/** What it says of itself, where nothing proves what it is about. */
	claimed?: Claimed;
	/** The entry of its list that says so; absent where the whole of it does. */
	entry?: Entry;
}

export function takenPostback(postback: Postback, reference: Reference | null): TakenPostback {
	return { postback, reference, sources: sourcesOf(postback) };
}

/** Where a postback's fields are looked for. A person may type a path as the panel shows it, `body.status`. */
function sourcesOf(postback: Postback): Sources {
	const { body, query, headers, isSignedByService, signedHeaders } = postback;
	if (!isSignedByService) return unsignedSources({ body, query, headers });
	// Anybody can add to what the service did not sign.
	const names = Object.entries(headers).filter(([name]) => signedHeaders.includes(name));
	const signed = { body, headers: Object.fromEntries(names) };
	return new Sources(body, signed, { postback: signed });
}

/** Where the fields of a request that the service did not sign are looked for. */
export function unsignedSources(shown: Pick<Postback, 'body' | 'query' | 'headers'>): Sources {
	const { body, query } = shown;
	return new Sources(body, query, shown, { postback: shown });
}

/**
 * Each entry is judged, and each that starts a workflow becomes an item with the whole body, which the nodes after
 * the trigger copy.
 */
const MOST_ENTRIES = 1000;

/** True if all lists that are looked through have more entries together than are judged. */
export function hasTooManyEntries(
	{ sources }: TakenPostback,
	words: StatusWords | undefined,
	match: PostbackMatch | undefined,
): boolean {
	const paths = pathsInWords(words);
	if (match !== undefined && 'field' in match) paths.push(...match.field);
	return entriesOf(paths, sources).length > MOST_ENTRIES;
}

/**
 * Judges what a postback says became of its charge or payment.
 * @param words those of the account, if it has any
 */
export function judgePostback(
	taken: TakenPostback,
	words: StatusWords | undefined,
): JudgedPostback {
	if (words === undefined) return { ...taken, entries: [] };
	const { reference, sources } = taken;
	const entries = judgeEntries(words, reference, sources);
	return { ...taken, words, entries, verdict: stateOf(words, reference, sources, entries) };
}

/**
 * Judges a postback of a known sender that no proof is about by what it says of itself, each entry apart.
 * @returns in words, why of the others nothing can be told
 */
export function judgeClaims(
	taken: TakenPostback,
	words: StatusWords | undefined,
): { claims: JudgedPostback[]; faults: string[] } {
	if (words === undefined) return { claims: [{ ...taken, entries: [], claimed: {} }], faults: [] };
	const claims: JudgedPostback[] = [];
	const faults: string[] = [];
	for (const claim of claimsOf(words, taken.sources)) {
		if ('fault' in claim) faults.push(claim.fault);
		else claims.push({ ...taken, words, entries: [], ...claim });
	}
	return { claims, faults };
}

/** Why the workflow does not go on with a postback, in words without a value; undefined where it does. */
export function whyNotAwaited(
	match: PostbackMatch | undefined,
	judged: JudgedPostback,
): string | undefined {
	if (match === undefined) return undefined;
	if ('states' in match) return whyOtherState(match.states, judged);
	return whyNoEntryMatches(match, judged) ?? whyDisregarded(judged.verdict);
}

function whyOtherState(states: readonly State[], { verdict }: JudgedPostback): string | undefined {
	if (verdict === undefined) return 'the credential has no words that say what it means';
	if (states.includes(verdict.state)) return undefined;
	// Only "paid" has no reason, and each condition that a person can choose goes on with it.
	return verdict.reason ?? 'it says "paid"';
}

/**
 * Why a node's own Field counts for nothing in a postback, or in an entry of its list. "Paid" with another amount is
 * not what a person means by it; what is pending or failed may have another one.
 */
function whyDisregarded(verdict: JudgedState | undefined): string | undefined {
	const isDisregarded = verdict?.disregardedFor !== undefined || verdict?.state === 'otherAmount';
	return isDisregarded ? verdict.reason : undefined;
}

/**
 * Why a field of a postback has none of some values: of a list, in no entry that is about the charge. One reason
 * is told, the last entry's; which it is matters to nobody, because nothing goes on.
 */
function whyNoEntryMatches(match: FieldMatch, judged: JudgedPostback): string | undefined {
	const { sources, entries, entry: claimedEntry } = judged;
	// An entry that was claimed by itself: the others say nothing of it.
	if (claimedEntry !== undefined && tellsApart(match.field, claimedEntry, sources)) {
		return mismatchOf(match, sources, claimedEntry);
	}
	const candidates = entriesOf(match.field, sources);
	if (candidates.length === 0) return mismatchOf(match, sources);
	const verdictsOf = new Map<object, JudgedState[]>();
	for (const { list, at, verdict } of entries) {
		const verdicts = verdictsOf.get(list) ?? [];
		verdicts[at] = verdict;
		verdictsOf.set(list, verdicts);
	}
	let lastReason = 'no entry of the list is about this charge or payment';
	for (const entry of candidates) {
		const verdict = verdictsOf.get(entry.list)?.[entry.at];
		if (verdict?.disregardedFor === 'otherId') continue;
		const mismatch = isToldApart(entry, judged)
			? (mismatchOf(match, sources, entry) ?? whyDisregarded(verdict))
			: NOT_TOLD_APART;
		if (mismatch === undefined) return undefined;
		lastReason = mismatch;
	}
	return lastReason;
}

/**
 * Whether it is known which charge an entry is about: by an External ID of its own, by one beside all lists, or
 * because there is no other entry.
 */
function isToldApart(
	entry: Entry,
	{ sources, words, reference, entry: claimedEntry }: JudgedPostback,
): boolean {
	if (entry.isAlone) return true;
	// The item says nothing of one charge, so no entry can be mistaken for it.
	if (reference === null && claimedEntry === undefined) return true;
	if (words?.idField === undefined) return false;
	return listsOf(words.idField).length === 0 || tellsApart(words.idField, entry, sources);
}

/** So many names, and characters of each, are enough to see what a postback has instead of a field. */
const MOST_NAMES = 20;
const MOST_NAME_CHARACTERS = 40;

/** The names that a postback's body has, for a log: one line, without anything that a terminal obeys. */
export function namesIn({ sources }: TakenPostback): string {
	const names = sources.names(MOST_NAMES).map((name) => {
		return name.slice(0, MOST_NAME_CHARACTERS).replace(/[^\p{L}\p{N} _.@:/[\]-]/gu, '?');
	});
	return names.length === 0 ? 'no fields' : names.join(', ');
}

/**
 * Makes the item of a postback. If an item waited for it, that one goes on with the postback as a field.
 * @param input the item that waited, if one did
 */
export function toPostbackItem(
	{ postback, reference, verdict, claimed }: JudgedPostback,
	input?: INodeExecutionData,
): INodeExecutionData {
	const json = toJson(postback, { reference, verdict, claimed });
	if (input === undefined) return { json };
	const item: INodeExecutionData = {
		json: { ...input.json, postback: json },
		pairedItem: { item: 0 },
	};
	if (input.binary !== undefined) item.binary = input.binary;
	return item;
}

/**
 * Makes one item for each claim of a postback. They share its body, but each has its own claim, state and event.
 */
export function toPostbackItems(claims: JudgedPostback[]): INodeExecutionData[] {
	const [first] = claims;
	if (first === undefined) return [];
	const item = toPostbackItem(first);
	if (claims.length === 1) return [item];
	const { body, receivedAt, method, query, headers, rawBody } = item.json;
	return claims.map(({ reference, claimed, verdict }, index) => {
		const eventId = createHash('sha256')
			.update(`${String(item.json.eventId)} ${index}`)
			.digest('hex');
		const about = aboutInJson({ reference, claimed, verdict });
		return {
			json: { ...about, body, eventId, receivedAt, method, query, headers, rawBody } as IDataObject,
		};
	});
}
