import type { IDataObject } from 'n8n-workflow';
import { resources, sendingOperations } from '../nodes/Pay/operations';
import type { RequestOperation } from '../nodes/Pay/execution/read';
import { fullFormsOf, refusedIn } from '../nodes/Pay/parameters/member';
import type { ReadParameter } from '../nodes/Pay/parameters/parameter';
import { isTree, type Kind, type MemberTree } from '../nodes/Pay/service/contract';

export type { Kind } from '../nodes/Pay/service/contract';

/** The operations of the service that the Pay node offers, with where they stand. */
export const REGISTERED = sendingOperations.map(({ requestOperation, form, ...rest }) => ({
	...rest,
	fullForms: fullFormsOf(form),
	refused: refusedIn(form),
	operation: requestOperation,
	kind: requestOperation.kind,
}));

/** Something of each operation, by its kind. */
function byKind<Value>(valueOf: (each: (typeof REGISTERED)[number]) => Value) {
	return Object.fromEntries(REGISTERED.map((each) => [each.kind, valueOf(each)])) as Record<
		Kind,
		Value
	>;
}

/** The operations of the service by their kind. */
export const OPERATIONS = byKind<RequestOperation>(({ operation }) => operation);

export const KINDS = Object.keys(OPERATIONS) as Kind[];

/** How each reads the body of an item. */
export const READ_REQUEST = byKind<(read: ReadParameter) => object>(
	({ readRequest }) => readRequest,
);

/** The forms of each, every field of the body filled in, as a workflow holds them. */
export const ALL_FULL_FORMS = byKind(({ resource, option, fullForms }) =>
	fullForms.map(
		({ typed }): IDataObject => ({ resource, operation: option.value, ...typed, options: {} }),
	),
);

/** The first of these. */
export const FULL_FORMS = byKind(({ kind }) => ALL_FULL_FORMS[kind][0]!);

/** The single values of each that stand in a field or a collection, not in a list: their paths. */
export const TYPED_PATHS = byKind(({ operation }) =>
	operation.leaves.map(({ path }) => path).filter((path) => !path.includes('[]')),
);

/** A form with another value in one field, which may stand in a collection. */
export function withValue(form: IDataObject, path: string, value: unknown): IDataObject {
	const [name, inside] = path.split('.') as [string, string | undefined];
	const typed = inside === undefined ? value : { ...(form[name] as object), [inside]: value };
	return { ...form, [name]: typed } as IDataObject;
}

/** The paths of all members that a form can set: amount, payer.name … */
export function memberPaths(members: MemberTree, path = ''): string[] {
	return Object.entries(members).flatMap(([name, below]) =>
		isTree(below) ? memberPaths(below, `${path}${name}.`) : [path + name],
	);
}

/** The names of a resource's operations, as an error lists them. */
export function operationNames(resource: string): string {
	const operations = resources.find(({ value }) => value === resource)?.operations ?? [];
	return operations.map(({ option }) => option.value).join(', ');
}
