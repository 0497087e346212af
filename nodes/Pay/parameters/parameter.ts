import type { INodeProperties } from 'n8n-workflow';
import { asTyped } from './typed';

/** Reads one parameter of one item, expressions resolved. */
export type ReadParameter = (name: string) => unknown;

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
