import { InputError } from '../inputError';

/** A field of a JSON value, and the values of it that are looked for. */
export interface FieldMatch {
	/** A key, or a path with dots between the levels ("data.0.status"). */
	field: string;
	/** As text; numbers and booleans are compared as JSON writes them. */
	values: string[];
}

/**
 * The value at a path, looking at own members only: the path as a key of its own first, then with
 * its dots as levels.
 * @returns undefined where there is none
 */
export function valueAt(value: unknown, path: string): unknown {
	if (typeof value !== 'object' || value === null) return undefined;
	const members = value as Record<string, unknown>;
	if (Object.hasOwn(members, path)) return members[path];
	for (let dot = path.indexOf('.'); dot !== -1; dot = path.indexOf('.', dot + 1)) {
		const head = path.slice(0, dot);
		if (!Object.hasOwn(members, head)) continue;
		const found = valueAt(members[head], path.slice(dot + 1));
		if (found !== undefined) return found;
	}
	return undefined;
}

/** Whether a field of a value is a text, number or boolean that is one of those looked for. */
export function isMatch(value: unknown, { field, values }: FieldMatch): boolean {
	const found = valueAt(value, field);
	return ['string', 'number', 'boolean'].includes(typeof found) && values.includes(String(found));
}

/**
 * Reads a field and the values of it that are looked for.
 * @param name the parameter's name, for the error
 * @throws InputError where one of the two is missing
 */
export function readFieldMatch(field: unknown, values: unknown, name: string): FieldMatch {
	const match = {
		field: String(field ?? '').trim(),
		values: [values ?? []].flat().map(String),
	};
	if (match.field === '' || match.values.length === 0) {
		throw new InputError(
			name,
			'The field or its values are missing',
			'Enter the field to look at and at least one value.',
		);
	}
	return match;
}
