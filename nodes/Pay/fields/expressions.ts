import type { INodeProperties, INodePropertyCollection } from 'n8n-workflow';
import { isJsonObject } from '../base/json';
import { isExpression } from '../base/n8n';
import { fieldAt, type NamedField, quoted, wrongField } from './label';

/** Reads one parameter of one item, with its expressions resolved. */
export type ReadParameter = (name: string) => unknown;

function isCollection({ type }: INodeProperties): boolean {
	return type === 'collection' || type === 'fixedCollection';
}

/**
 * A field, and after a collection a hidden field of the same name. If a whole collection is one expression, n8n puts
 * an empty collection in its place before a node can look, and the expression would vanish without a word. With the
 * hidden field n8n keeps what was typed, and the editor still shows only the first field.
 */
export const asTyped = (field: INodeProperties): INodeProperties[] =>
	isCollection(field)
		? [field, { ...field, type: 'hidden', typeOptions: undefined, options: undefined }]
		: [field];

/** What to do if an option is not one of its list. */
export const CHOOSE_UNDER_OPTIONS = 'Choose one from the list under Options.';

/** Reads a field that is chosen from a list. */
export function readChoice<Choice extends string>(
	value: unknown,
	field: NamedField,
	choices: readonly Choice[],
	advice = 'Choose one from the list.',
): Choice {
	const found = choices.find((choice) => choice === value);
	if (found !== undefined) return found;
	const what = `must be one of ${choices.join(', ')}, but is ${quoted(value)}`;
	throw wrongField(field, what, advice);
}

/** Describes a value that may be a secret. */
function kindOf(value: unknown): string {
	if (value === undefined || value === null) return String(value);
	if (typeof value === 'string') return 'text';
	return typeof value === 'number' ? 'a number' : 'an object';
}

/** Reads a field that is on or off, in a node or a credential. */
export function readSwitch(value: unknown, field: NamedField): boolean {
	if (typeof value === 'boolean') return value;
	throw wrongField(
		field,
		`must be true or false, but is ${kindOf(value)}`,
		'Turn it on or off. An expression in it must return true or false.',
	);
}

/** The same fields, shown for one resource and operation only. */
export function showFor(
	fields: INodeProperties[],
	resource: string,
	operation: string,
): INodeProperties[] {
	return fields.flatMap(asTyped).map((field) => ({
		...field,
		displayOptions: {
			...field.displayOptions,
			show: { resource: [resource], operation: [operation], ...field.displayOptions?.show },
		},
	}));
}

const pathIn = (path: string, name: string) => (path === '' ? name : `${path}.${name}`);

const FIELD_BY_FIELD = 'Fill in its fields. Each of them may have an expression of its own.';

/** The members of a collection as they were typed; none if nothing was. */
function membersOf(typed: unknown, field: NamedField): Readonly<Record<string, unknown>> {
	if (typed === undefined) return {};
	if (isJsonObject(typed)) return typed;
	throw wrongField(
		field,
		'must be filled in field by field, not as one expression',
		FIELD_BY_FIELD,
	);
}

/** Refuses a collection, at any depth, that is not filled in field by field. */
export function readFieldByField(fields: INodeProperties[], typed: object, path = ''): void {
	const values = typed as Readonly<Record<string, unknown>>;
	for (const field of fields) {
		const at = pathIn(path, field.name);
		const fieldHere: NamedField = { name: at, displayName: field.displayName };
		if (field.type === 'collection') {
			const members = membersOf(values[field.name], fieldHere);
			readFieldByField(field.options as INodeProperties[], members, at);
		}
		if (field.type === 'fixedCollection') {
			const groups = membersOf(values[field.name], fieldHere);
			for (const { name, values: fieldsOfGroup } of field.options as INodePropertyCollection[]) {
				for (const entry of [groups[name]].flat()) {
					readFieldByField(fieldsOfGroup, membersOf(entry, fieldHere), at);
				}
			}
		}
	}
}

/**
 * Refuses an expression in an option that only a person may set. Otherwise an item, or what a language model says,
 * would decide.
 */
export function refuseExpressions(
	options: readonly INodeProperties[],
	typedOptions: unknown,
): void {
	if (!isJsonObject(typedOptions)) return;
	for (const option of options) {
		const typed = typedOptions[option.name];
		if (!isExpression(typed)) continue;
		throw wrongField(option, 'is an expression', 'Choose it under Options, without an expression.');
	}
}

/** True also for a parameter that was not typed, because its default may be an expression. */
export function mayBeExpression(typed: unknown): boolean {
	if (typed === undefined) return true;
	if (typeof typed !== 'object' || typed === null) return isExpression(typed);
	return Object.values(typed).some(mayBeExpression);
}

/**
 * An expression that reads its item: `$json.amount`, `$('Order').item.json`, `$input.first()`. Not
 * `$('Order').first().json`. In a tool the item is always the first one, or contains what the model says.
 */
const ITEM = /\$(json|binary|input|item|node)\b|\)\s*\??\.\s*(item\b|pairedItem)/;

/** @param typed a parameter as it was typed; its members may be expressions */
function readsItem(typed: unknown): boolean {
	if (typeof typed === 'string') return isExpression(typed) && ITEM.test(typed);
	return Object.values(typed ?? {}).some(readsItem);
}

/** Refuses expressions that read the item in a tool, because a tool has no item of its own. */
export function refuseItemDataInTool(
	fields: readonly NamedField[],
	typed: Readonly<Record<string, unknown>>,
): void {
	const field = fields.find(({ name }) => readsItem(typed[name]));
	if (field === undefined) return;
	throw wrongField(
		field,
		'reads its input item, which in a tool is always the first one, or contains what the model says',
		"Let the model fill it in ($fromAI), or take it from a node: {{ $('Invoice').first().json.amount }}.",
	);
}

interface Form {
	readonly description: readonly INodeProperties[];
	/**
	 * The paths of the fields in which an empty text counts as nothing too. In other fields it is ordinary: a table
	 * has empty cells.
	 */
	readonly neverEmpty: ReadonlySet<string>;
}

/** Refuses an expression, at any depth of a parameter, that gives nothing. */
export function readGivenValues(typed: unknown, value: unknown, path: string, form: Form): void {
	if (isExpression(typed)) {
		readGivenValue(value, path, form);
		return;
	}
	if (typeof typed !== 'object' || typed === null) return;
	for (const [name, typedBelow] of Object.entries(typed)) {
		const at = Array.isArray(typed) ? `${path}[${name}]` : `${path}.${name}`;
		// A typed value with members may have become a text, or nothing.
		const valueBelow = (value as Readonly<Record<string, unknown>> | undefined)?.[name];
		readGivenValues(typedBelow, valueBelow, at, form);
	}
}

function readGivenValue(value: unknown, path: string, { description, neverEmpty }: Form): void {
	const isNothing = value === undefined || value === null;
	const isBlank = typeof value === 'string' && value.trim() === '';
	if (!isNothing && !(isBlank && neverEmpty.has(path))) return;
	const { displayName } = fieldAt(description, path);
	throw wrongField(
		// The editor calls an option by its own name, without "options".
		{ name: path.replace(/^options\./, ''), displayName },
		'is missing: its expression returns nothing',
		'Check that the input item has the field that the expression reads.',
	);
}
