import type { INodeProperties, INodePropertyCollection } from 'n8n-workflow';
import { isMembers } from '../json';
import { wrongField } from './label';

/** Reads one parameter of one item, expressions resolved. */
export type ReadParameter = (name: string) => unknown;

function isCollection({ type }: INodeProperties): boolean {
	return type === 'collection' || type === 'fixedCollection';
}

/**
 * A field, and behind a collection a hidden one of its name: where a collection holds an expression,
 * n8n puts an empty one in its place before a node can look; a hidden field keeps what was typed.
 */
export const asTyped = (field: INodeProperties): INodeProperties[] =>
	isCollection(field)
		? [field, { ...field, type: 'hidden', typeOptions: undefined, options: undefined }]
		: [field];

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

/** Refuses a collection, at any depth, that is not filled in field by field. Throws an InputError. */
export function refuseWholes(fields: INodeProperties[], typed: object, path = ''): void {
	for (const field of fields.filter(isCollection)) {
		const at = pathIn(path, field.name);
		const inside = (value: unknown, below: INodeProperties[]) => {
			if (value === undefined) return;
			if (isMembers(value)) return refuseWholes(below, value, at);
			const advice = 'Fill in its fields. Each of them may hold an expression of its own.';
			throw wrongField(at, 'must be filled in field by field, not as one expression', advice);
		};
		const value = (typed as Record<string, unknown>)[field.name];
		if (field.type === 'collection') inside(value, field.options as INodeProperties[]);
		else inside(value, []);
		if (field.type === 'collection' || !isMembers(value)) continue;
		for (const { name, values } of field.options as INodePropertyCollection[]) {
			const entries = value[name];
			for (const entry of Array.isArray(entries) ? entries : [entries]) inside(entry, values);
		}
	}
}

/** Whether a parameter can differ from item to item: a default that is not typed may be an expression. */
export const mayBeExpression = (typed: unknown): boolean =>
	typeof typed === 'object' && typed !== null
		? Object.values(typed).some(mayBeExpression)
		: typed === undefined || (typeof typed === 'string' && typed.startsWith('='));

/** What an expression reads of its item. Of a tool that is the first one, or holds what the model says. */
const ITEM = /\$(json|binary|input|item|node)\b|\)\s*\??\.\s*(item\b|pairedItem)/;

const readsItem = (typed: unknown): boolean =>
	typeof typed === 'string'
		? typed.startsWith('=') && ITEM.test(typed)
		: Object.values(typed ?? {}).some(readsItem);

/** Refuses what a tool would read of an item: a tool has none of its own. Throws an InputError. */
export function refuseItemData(names: string[], typed: Readonly<Record<string, unknown>>): void {
	const name = names.find((each) => readsItem(typed[each]));
	if (name === undefined) return;
	throw wrongField(
		name,
		'reads its item, which in a tool is the first one, or holds what the model says',
		"Let the model fill it in ($fromAI), or take it from a node: {{ $('Invoice').first().json.amount }}.",
	);
}

/** Fields for which an empty text is nothing too: others come empty from an ordinary table. */
const NEVER_EMPTY = /\b(key|additionalMembers)$/;

/** Refuses an expression, at any depth, that gives nothing, with the field's name. Throws an InputError. */
export function refuseNothing(typed: unknown, value: unknown, path: string): void {
	if (typeof typed === 'string' && typed.startsWith('=')) {
		const isBlank = typeof value === 'string' && value.trim() === '' && NEVER_EMPTY.test(path);
		if (value !== undefined && value !== null && !isBlank) return;
		throw wrongField(
			path.replace(/^options\./, ''),
			'is missing: its expression gives nothing',
			'Check that the input item has the field that the expression asks for.',
		);
	}
	if (typeof typed !== 'object' || typed === null) return;
	for (const [name, below] of Object.entries(typed)) {
		const at = Array.isArray(typed) ? `${path}[${name}]` : `${path}.${name}`;
		refuseNothing(below, (value as Record<string, unknown> | undefined)?.[name], at);
	}
}
