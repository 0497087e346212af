import type { Attempt, Place } from '../item';
import { lineInWords } from './sentences';

/** A place as people read it. The first run of a node is not counted: most nodes run once. */
function placeInWords(place: Place): string {
	if (place.isTool) return `the tool "${place.node}"`;
	const line = `${lineInWords(place.item)} in "${place.node}"`;
	return place.run === '0' ? line : `${line}, run ${Number(place.run) + 1}`;
}

/** Whose attempt it was, in words. */
export function attemptInWords({ place, amount }: Attempt): string {
	return `${placeInWords(place)}, amount ${amount}`;
}
