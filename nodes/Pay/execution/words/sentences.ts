/** Whole sentences as one text; those that are not needed are undefined. */
export function joinSentences(...sentences: Array<string | undefined>): string {
	return sentences.filter((sentence) => sentence !== undefined).join(' ');
}

/** An item as people count: from 1. */
export function lineInWords(index: number): string {
	return `line ${index + 1} of the list`;
}

/** Two items as people count. */
export function linesInWords(one: number, other: number): string {
	return `lines ${one + 1} and ${other + 1} of the list`;
}

/** As many external_ids as a person reads. */
const MOST_IDS = 10;

/** Some external_ids within a sentence. */
export function quotedIds(ids: ReadonlyArray<string | undefined>): string {
	const quoted = ids.slice(0, MOST_IDS).map((id) => `"${id}"`);
	const more = ids.length - MOST_IDS;
	return more > 0 ? `${quoted.join(', ')} and ${more} more` : quoted.join(', ');
}
