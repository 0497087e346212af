import type { PostbackMatch } from '../parameters/condition';
import { entriesOf, mismatchOf, Sources, tellsApart, type Entry } from '../service/fieldMatch';
import {
	claimsOf,
	isOfAnother,
	stateOf,
	whyEntryIsRefused,
	type Claimed,
	type JudgedState,
	type StatusWords,
} from '../service/postbackState';
import type { Postback } from './postback';
import type { Reference } from './proof';

/**
 * A verified postback, as its fields are read, and what it says in the words of the account: judged once,
 * for the condition of the workflow and for the item.
 */
export interface JudgedPostback {
	postback: Postback;
	reference: Reference | null;
	sources: Sources;
	/** The words of the account, if it has any. */
	words?: StatusWords;
	/** Absent without such words. */
	verdict?: JudgedState;
	/** What it says of itself, where nothing proves what it is about. */
	claimed?: Claimed;
	/** The entry of its list that says so; absent where the whole of it does. */
	entry?: Entry;
}

/** Where fields are looked for of what the service did not sign. */
export function unsignedSources(shown: Pick<Postback, 'body' | 'query' | 'headers'>): Sources {
	const { body, query } = shown;
	return new Sources(body, query, shown, { postback: shown });
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

/**
 * What a postback says became of its charge or payment.
 * @param words those of the account, if it has any
 */
export function judgePostback(
	postback: Postback,
	reference: Reference | null,
	words: StatusWords | undefined,
): JudgedPostback {
	const sources = sourcesOf(postback);
	const judged: JudgedPostback = { postback, reference, sources };
	if (words === undefined) return judged;
	judged.words = words;
	judged.verdict = stateOf(words, reference, sources);
	return judged;
}

/** Why a field of a postback has none of some values: of a list, in no entry that may be about the charge. */
function whyNoEntryMatches(
	match: Extract<PostbackMatch, { field: string }>,
	{ sources, words, reference, entry: claimedEntry }: JudgedPostback,
): string | undefined {
	// An entry that was claimed by itself: the others say nothing of it.
	if (claimedEntry !== undefined && tellsApart(match.field, claimedEntry, sources)) {
		return mismatchOf(match, sources, claimedEntry);
	}
	const entries = entriesOf([match.field], sources);
	if (entries.length === 0) return mismatchOf(match, sources);
	let why = 'no entry of the list is about this charge or payment';
	for (const entry of entries) {
		if (words !== undefined && isOfAnother(entry, words, reference, sources)) continue;
		const mismatch =
			mismatchOf(match, sources, entry) ??
			(words && whyEntryIsRefused(entry, words, reference, sources));
		if (mismatch === undefined) return undefined;
		why = mismatch;
	}
	return why;
}

/** Why the workflow does not go on with a postback, in words without a value; undefined where it does. */
export function whyNotAwaited(
	match: PostbackMatch | undefined,
	judged: JudgedPostback,
): string | undefined {
	if (match === undefined) return undefined;
	const { verdict } = judged;
	if ('states' in match) {
		if (verdict === undefined) return 'no words of the account say what it means';
		if (match.states.includes(verdict.state)) return undefined;
		return verdict.reason ?? 'it says "paid"';
	}
	const mismatch = whyNoEntryMatches(match, judged);
	if (mismatch !== undefined) return mismatch;
	// "Paid" with another amount is not what a person means by it; what is pending or failed may say another one.
	const isRefused = verdict?.isDisregarded === true || verdict?.state === 'otherAmount';
	return isRefused ? verdict.reason : undefined;
}

/**
 * Takes a postback of a known sender apart that no proof is about: what it says of itself, by entries.
 * @returns in words, why of the others nothing can be told
 */
export function claimsIn(judged: JudgedPostback): { claims: JudgedPostback[]; faults: string[] } {
	const { postback, reference, sources, words } = judged;
	if (words === undefined) return { claims: [{ ...judged, claimed: {} }], faults: [] };
	const claims: JudgedPostback[] = [];
	const faults: string[] = [];
	for (const claim of claimsOf(words, sources)) {
		if ('fault' in claim) {
			faults.push(claim.fault);
			continue;
		}
		const { claimed, verdict, entry } = claim;
		claims.push({ postback, reference, sources, words, verdict, claimed, entry });
	}
	return { claims, faults };
}

/** As many names, of so many characters, tell a person what a postback has instead of a field. */
const MOST_NAMES = 20;
const LONGEST_NAME = 40;

/** The names that a postback's body has, for a log: one line, without anything that its terminal obeys. */
export function namesIn({ sources }: JudgedPostback): string {
	const names = sources.names(MOST_NAMES).map((name) => {
		return name.slice(0, LONGEST_NAME).replace(/[^\p{L}\p{N} _.@:/[\]-]/gu, '?');
	});
	return names.length === 0 ? 'no fields' : names.join(', ');
}
