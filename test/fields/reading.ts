import type { ReadParameter } from '../../nodes/Pay/fields/expressions';

/** Reads parameters from an object, as n8n gives those of an item. */
export const reading =
	(values: Readonly<Record<string, unknown>>): ReadParameter =>
	(name) =>
		values[name];
