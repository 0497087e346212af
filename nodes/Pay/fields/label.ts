import type { INodeProperties, INodePropertyCollection } from 'n8n-workflow';
import { InputError } from '../base/inputError';

/** A field as errors call it. */
export interface NamedField {
	/** Its path in the API: `amount`, or `creditParty.key` inside another one. */
	readonly name: string;
	/** What the form calls it. */
	readonly displayName: string;
	/** The name for errors, if label and name do not say which form the field is in. */
	readonly called?: string;
}

/** A field inside another one, which is at a path. */
export function fieldInside(path: string, { name, displayName }: NamedField): NamedField {
	return { name: `${path}.${name}`, displayName };
}

/** The form's label and the API's own name: "Key (creditParty.key)". */
export function labelOf({ name, displayName, called }: NamedField): string {
	if (called !== undefined) return called;
	// "Amount (amount)" would say one thing twice.
	const isSame = displayName === name || displayName.toLowerCase() === name;
	return isSame ? displayName : `${displayName} (${name})`;
}

/** An {@link InputError} that begins with what the form calls the field. */
export const wrongField = (field: NamedField, what: string, advice: string) =>
	new InputError(field.name, `${labelOf(field)} ${what}`, advice);

/** No more characters of a value are shown in an error. */
const MOST_QUOTED = 60;

/** A value as an error shows it: text in quotes, anything else as JSON, or by its type. */
export function quoted(value: unknown): string {
	if (typeof value === 'string') return `"${value.slice(0, MOST_QUOTED)}"`;
	// What JSON makes of a bigint depends on which libraries n8n has loaded.
	if (typeof value === 'number' || typeof value === 'bigint') return String(value);
	if (value === undefined) return 'undefined';
	try {
		return JSON.stringify(value).slice(0, MOST_QUOTED);
	} catch {
		return `a value of type ${typeof value}`;
	}
}

type FieldOrGroup = INodeProperties | INodePropertyCollection;

/** The fields of a collection, or the groups of one that may be repeated and their fields. */
function fieldsInside(field: FieldOrGroup): readonly FieldOrGroup[] {
	if ('values' in field) return field.values;
	const isCollection = field.type === 'collection' || field.type === 'fixedCollection';
	return isCollection ? (field.options as FieldOrGroup[]) : [];
}

/** The field at a path of a form; one that the form lacks is called by its path. */
export function fieldAt(form: readonly INodeProperties[], path: string): NamedField {
	let fields: readonly FieldOrGroup[] = form;
	let label = path;
	// Without the places in lists: "split.recipient[0].username".
	for (const name of path.replace(/\[\d+\]/g, '').split('.')) {
		const field = fields.find((each) => each.name === name);
		if (field === undefined) return { name: path, displayName: path };
		label = field.displayName;
		fields = fieldsInside(field);
	}
	return { name: path, displayName: label };
}
