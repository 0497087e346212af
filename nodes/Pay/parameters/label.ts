import type { INodeProperties, INodePropertyCollection } from 'n8n-workflow';
import { InputError } from '../inputError';

/** A field as errors call it. */
export interface NamedField {
	/** Its path in the API: `amount`, or `creditParty.key` inside of another. */
	readonly name: string;
	/** What the form calls it. */
	readonly displayName: string;
}

/** A field inside of another one, which stands at a path. */
export function fieldInside(path: string, { name, displayName }: NamedField): NamedField {
	return { name: `${path}.${name}`, displayName };
}

/** The form's label and the API's own name: "Key (creditParty.key)". */
export function labelOf({ name, displayName }: NamedField): string {
	// "Amount (amount)" would say one thing twice.
	const isSame = displayName === name || displayName.toLowerCase() === name;
	return isSame ? displayName : `${displayName} (${name})`;
}

/** An {@link InputError} that begins with what the form calls the field. */
export const wrongField = (field: NamedField, what: string, advice: string) =>
	new InputError(field.name, `${labelOf(field)} ${what}`, advice);

type FieldOrGroup = INodeProperties | INodePropertyCollection;

/** The fields of a collection, or the groups of one that may be repeated and their fields. */
function fieldsInside(field: FieldOrGroup): readonly FieldOrGroup[] {
	if ('values' in field) return field.values;
	const isCollection = field.type === 'collection' || field.type === 'fixedCollection';
	return isCollection ? (field.options as FieldOrGroup[]) : [];
}

/** The field of a form that stands at a path; one that the form lacks is called by its path. */
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
