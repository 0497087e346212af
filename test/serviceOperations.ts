import type { IDataObject } from 'n8n-workflow';
import type { Account } from '../nodes/Pay/account/account';
import { sendingOperations } from '../nodes/Pay/operations';
import type { RequestOperation } from '../nodes/Pay/run/read';
import type { ReadParameter } from '../nodes/Pay/fields/expressions';
import type { Kind } from '../nodes/Pay/service/contract';
import { EXAMPLES } from './fullForms';

export type { Kind } from '../nodes/Pay/service/contract';

/** The operations of the service that the Pay node offers, with examples of their forms. */
export const REGISTERED = sendingOperations.map(
	({ requestOperation, resource, option, description }) => ({
		kind: requestOperation.kind,
		operation: requestOperation,
		resource,
		option,
		description,
		...EXAMPLES[requestOperation.kind],
	}),
);

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

/** How each reads the body of an item; throws an InputError. */
export const READ_REQUEST = byKind(
	({ operation }) =>
		(read: ReadParameter): object =>
			operation.readPlan(read, {} as Account).request,
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
	Object.keys(operation.meanings).filter((path) => !path.includes('[]')),
);

/** A form with another value in one field, which may stand in a collection. */
export function withValue(form: IDataObject, path: string, value: unknown): IDataObject {
	const [name, inside] = path.split('.') as [string, string | undefined];
	const typed = inside === undefined ? value : { ...(form[name] as object), [inside]: value };
	return { ...form, [name]: typed } as IDataObject;
}
