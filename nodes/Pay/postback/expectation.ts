import type { Reference } from './proof';

/** What a waiting execution expects of the postback that resumes it. */
export interface Expectation {
	external_id: string;
	/** Whether the credential has a secret, so that a postback has to prove its reference. */
	signed: boolean;
	/** Given when only some values of one field of the body resume. */
	match?: { field: string; values: string[] };
}

/** What to do with a postback that calls a waiting execution. */
export type Decision =
	/** It is the one: go on. */
	| 'resume'
	/** It is genuine, but not final: take it and keep waiting. */
	| 'keepWaiting'
	/** It proves nothing. */
	| 'unsigned'
	/** It is proven, but about another charge or payment. */
	| 'foreign';

/** The value at a dot path ("data.0.status"), looking at own members only. */
function valueAt(body: unknown, path: string): unknown {
	let value = body;
	for (const name of path.split('.')) {
		if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name))
			return undefined;
		value = (value as Record<string, unknown>)[name];
	}
	return value;
}

/**
 * Decides about one postback.
 * @param reference what its URL proved, see `verifyQuery`
 * @param body its parsed body, whose form is not documented (section 6)
 */
export function decide(
	{ external_id, signed, match }: Expectation,
	reference: Reference | null,
	body: unknown,
): Decision {
	if (signed && reference === null) return 'unsigned';
	if (reference !== null && reference.external_id !== external_id) return 'foreign';
	if (match === undefined) return 'resume';
	const value = valueAt(body, match.field);
	const isScalar = ['string', 'number', 'boolean'].includes(typeof value);
	return isScalar && match.values.includes(String(value)) ? 'resume' : 'keepWaiting';
}
