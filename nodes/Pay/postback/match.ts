import { createHash } from 'crypto';
import type {
	IBinaryData,
	IBinaryKeyData,
	IDataObject,
	INodeExecutionData,
	IWebhookFunctions,
} from 'n8n-workflow';
import type { PostbackMatch } from '../fields/condition';
import {
	entriesOf,
	type Entry,
	type FieldMatch,
	mismatchOf,
	Sources,
	tellsApart,
} from '../service/paths';
import {
	type Claimed,
	claimsOf,
	fieldsInWords,
	judgeEntries,
	type JudgedEntry,
	type JudgedState,
	stateOf,
	type StatusWords,
} from '../service/state';
import type { PostedFile } from './body';
import { aboutInJson, type Postback, toJson } from './postback';
import type { Reference } from './proof';

/** A verified postback, as its fields are read. */
export interface TakenPostback {
	postback: Postback;
	reference: Reference | null;
	sources: Sources;
}

/** A postback, and what it says in the words of the account: judged once, for the condition and for the item. */
export interface JudgedPostback extends TakenPostback {
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

/** Where fields are looked for of what the service did not sign. */
export function unsignedSources(shown: Pick<Postback, 'body' | 'query' | 'headers'>): Sources {
	const { body, query } = shown;
	return new Sources(body, query, shown, { postback: shown });
}

/**
 * Each entry is judged, and each that starts a workflow becomes an item with the whole body, which nodes behind
 * the trigger copy.
 */
const MOST_ENTRIES = 1000;

/** Whether the lists that are looked through have more entries together than are judged. */
export function hasTooManyEntries(
	{ sources }: TakenPostback,
	words: StatusWords | undefined,
	match: PostbackMatch | undefined,
): boolean {
	const paths = words === undefined ? [] : Object.values(fieldsInWords(words)).flat();
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
	return { ...taken, entries, verdict: stateOf(words, reference, sources, entries) };
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
		else claims.push({ ...taken, entries: [], ...claim });
	}
	return { claims, faults };
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
		// Only "paid" has no reason, and each condition that a person can choose goes on with it.
		return verdict.reason ?? 'it says "paid"';
	}
	const mismatch = whyNoEntryMatches(match, judged);
	if (mismatch !== undefined) return mismatch;
	// "Paid" with another amount is not what a person means by it; what is pending or failed may say another one.
	const isRefused = verdict?.disregardedFor !== undefined || verdict?.state === 'otherAmount';
	return isRefused ? verdict.reason : undefined;
}

/**
 * Why a field of a postback has none of some values: of a list, in no entry that may be about the charge. One
 * reason is told, the last entry's; which it is matters to nobody, because nothing goes on.
 */
function whyNoEntryMatches(
	match: FieldMatch,
	{ sources, entries, entry: claimedEntry }: JudgedPostback,
): string | undefined {
	// An entry that was claimed by itself: the others say nothing of it.
	if (claimedEntry !== undefined && tellsApart(match.field, claimedEntry, sources)) {
		return mismatchOf(match, sources, claimedEntry);
	}
	const candidates = entriesOf(match.field, sources);
	if (candidates.length === 0) return mismatchOf(match, sources);
	const judgedAt = new Map<object, JudgedEntry[]>();
	for (const entry of entries) {
		const ofList = judgedAt.get(entry.list) ?? [];
		ofList[entry.at] = entry;
		judgedAt.set(entry.list, ofList);
	}
	let lastReason = 'no entry of the list is about this charge or payment';
	for (const entry of candidates) {
		const judged = judgedAt.get(entry.list)?.[entry.at];
		if (judged?.isOfAnother) continue;
		const mismatch = mismatchOf(match, sources, entry) ?? judged?.refusal;
		if (mismatch === undefined) return undefined;
		lastReason = mismatch;
	}
	return lastReason;
}

/** As many names, of so many characters, tell a person what a postback has instead of a field. */
const MOST_NAMES = 20;
const LONGEST_NAME = 40;

/** The names that a postback's body has, for a log: one line, without anything that its terminal obeys. */
export function namesIn({ sources }: TakenPostback): string {
	const names = sources.names(MOST_NAMES).map((name) => {
		return name.slice(0, LONGEST_NAME).replace(/[^\p{L}\p{N} _.@:/[\]-]/gu, '?');
	});
	return names.length === 0 ? 'no fields' : names.join(', ');
}

/** A file of a postback that n8n has stored. */
interface StoredFile {
	name: string;
	bytes: Buffer;
	data: IBinaryData;
}

/** Stores a file. Rejects where n8n cannot give or store it. */
async function store(
	{ helpers, nodeHelpers }: IWebhookFunctions,
	{ name, filename, type, content }: PostedFile,
): Promise<StoredFile> {
	if (Buffer.isBuffer(content)) {
		const data = await helpers.prepareBinaryData(content, filename, type);
		return { name, bytes: content, data };
	}
	const data = await nodeHelpers.copyBinaryFile(content.path, filename, type);
	const bytes =
		data.id === undefined
			? Buffer.from(data.data, 'base64')
			: await helpers.binaryToBuffer(await helpers.getBinaryStream(data.id));
	return { name, bytes, data };
}

/** The files of a postback beside those of an item, each under a name that is still free. */
function besideThoseOf(filesOfItem: IBinaryKeyData, files: StoredFile[]): IBinaryKeyData {
	// A map: a field may be called like a member of every object.
	const binary = new Map(Object.entries(filesOfItem));
	for (const { name, data } of files) {
		const base = Object.hasOwn(filesOfItem, name) ? `postback_${name}` : name;
		let freeName = base;
		for (let count = 2; binary.has(freeName); count++) freeName = `${base}_${count}`;
		binary.set(freeName, data);
	}
	return Object.fromEntries(binary);
}

/**
 * Makes the item of a postback. Where an item waited for it, that one goes on: it has the postback as a
 * field, and the postback's files beside its own. Rejects where n8n cannot give or store a file.
 * @param input the item that waited, if one did
 */
export async function toPostbackItem(
	context: IWebhookFunctions,
	{ postback, reference, verdict, claimed }: JudgedPostback,
	input?: INodeExecutionData,
): Promise<INodeExecutionData> {
	const files: StoredFile[] = [];
	for (const file of postback.files) files.push(await store(context, file));
	const json = toJson(postback, { reference, verdict, claimed }, files);
	const binary = besideThoseOf(input?.binary ?? {}, files);
	const item: INodeExecutionData = { json: input ? { ...input.json, postback: json } : json };
	if (Object.keys(binary).length > 0) item.binary = binary;
	if (input) item.pairedItem = { item: 0 };
	return item;
}

/**
 * Makes an item of one postback, or one for each of its claims. Those share its files and its body; what is
 * about an entry is its own, its event too. Rejects as {@link toPostbackItem}.
 */
export async function toPostbackItems(
	context: IWebhookFunctions,
	claims: JudgedPostback[],
): Promise<INodeExecutionData[]> {
	const [first] = claims;
	if (first === undefined) return [];
	const item = await toPostbackItem(context, first);
	if (claims.length === 1) return [item];
	const { json, binary } = item;
	return claims.map(({ reference, claimed, verdict }, index) => {
		const { body, receivedAt, method, query, headers, rawBody } = json;
		const eventId = createHash('sha256')
			.update(`${String(json.eventId)} ${index}`)
			.digest('hex');
		const about = aboutInJson({ reference, claimed, verdict });
		return {
			json: { ...about, body, eventId, receivedAt, method, query, headers, rawBody } as IDataObject,
			binary,
		};
	});
}
