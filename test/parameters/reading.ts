import type { ReadParameter } from '../../nodes/Pay/parameters/parameter';

/** Reads parameters from an object, as n8n gives those of an item. */
export const reading =
	(values: Readonly<Record<string, unknown>>): ReadParameter =>
	(name) =>
		values[name];
