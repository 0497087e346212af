import { resources } from '../nodes/Pay/operations';
import { createPayment } from '../nodes/Pay/operations/payment/create.operation';
import { createQrCode } from '../nodes/Pay/operations/qrCode/create.operation';
import type { ReadParameter } from '../nodes/Pay/parameters/parameter';
import { isTree, type MemberTree } from '../nodes/Pay/service/contract';

/** The operations of the service by their kind. */
export const OPERATIONS = {
	payment: createPayment.requestOperation,
	qrCode: createQrCode.requestOperation,
};

export type Kind = keyof typeof OPERATIONS;

export const KINDS = Object.keys(OPERATIONS) as Kind[];

/** The paths of all members that a form can set: amount, payer.name … */
export function memberPaths(members: MemberTree, path = ''): string[] {
	return Object.entries(members).flatMap(([name, below]) =>
		isTree(below) ? memberPaths(below, `${path}${name}.`) : [path + name],
	);
}

/** How each reads the body of an item. */
export const READ_REQUEST: Record<Kind, (read: ReadParameter) => object> = {
	payment: createPayment.readRequest,
	qrCode: createQrCode.readRequest,
};

/** The operations of the service that the Pay node offers, with where they stand. */
export const REGISTERED = resources.flatMap(({ value: resource, operations }) =>
	operations.flatMap((each) => {
		if (each.requestOperation === undefined) return [];
		const { requestOperation: operation, description, option, readRequest, fullForms } = each;
		return [{ resource, operation, description, option, readRequest, fullForms }];
	}),
);

/** The names of a resource's operations, as an error lists them. */
export function operationNames(resource: string): string {
	const operations = resources.find(({ value }) => value === resource)?.operations ?? [];
	return operations.map(({ option }) => option.value).join(', ');
}
