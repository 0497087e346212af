/** Where an attempt was made: in an AI agent's tool, which has no items, or for an item of a node's run. */
export type Place =
	| { isTool: true; node: string }
	| { isTool: false; node: string; run: string; item: number };

/** A place as text, by which stored maps know it. */
export function placeKey(place: Place): string {
	return place.isTool
		? `${place.node}, tool`
		: `${place.node}, run ${place.run}, item ${place.item}`;
}

/** Whether two attempts were made by the same tool, or for the same item of the same run. */
export function isSamePlace(one: Place, other: Place): boolean {
	if (one.node !== other.node) return false;
	if (one.isTool || other.isTool) return one.isTool === other.isTool;
	return one.run === other.run && one.item === other.item;
}

const STORED_ITEM = /^(.*), run (\d+), item (\d+)$/s;
const STORED_TOOL = /^(.*), tool$/s;

/** A place as 0.1.0 stored it: the text of {@link placeKey}. */
export function placeInStoredText(text: string): Place {
	const [, tool] = STORED_TOOL.exec(text) ?? [];
	if (tool !== undefined) return { isTool: true, node: tool };
	const [, node = '', run = '', item = ''] = STORED_ITEM.exec(text) ?? [];
	return { isTool: false, node, run, item: Number(item) };
}
