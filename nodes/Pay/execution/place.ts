/** Where an attempt was made: in an AI agent's tool, which has no items, or for an item of a node's run. */
export type Place =
	| { isTool: true; node: string }
	| { isTool: false; node: string; run: string; item: number };

/**
 * What an item is known by when its external_id changes with each try: its place. A model that calls a tool
 * has no items and may call another tool for the same, so a tool's call is known by what it asks for.
 * @param fingerprint of the request, see `fingerprintOf`
 */
export function itemKey(place: Place, fingerprint: string): string {
	const parts = place.isTool ? [fingerprint] : [place.node, place.run, place.item];
	return JSON.stringify(parts);
}
