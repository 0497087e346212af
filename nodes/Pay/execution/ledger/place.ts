import type { Place } from '../item';

/**
 * What an item is known by when its external_id changes with each try: its place. A model that calls a tool
 * has no items and may call another tool for the same, so a tool's call is known by what it asks for.
 * @param fingerprint of the request, see `fingerprintOf`
 */
export function itemKey(place: Place, fingerprint: string): string {
	const parts = place.isTool ? [fingerprint] : [place.node, place.run, place.item];
	return JSON.stringify(parts);
}
