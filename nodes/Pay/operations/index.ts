import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeProperties,
	INodePropertyOptions,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import type { RequestOperation } from '../execution/read';
import { failAll } from '../execution/report';
import { createPayment } from './payment/create.operation';
import { createQrCode } from './qrCode/create.operation';
import { waitForPostback } from './wait';

/** An operation of the Pay node: what the editor shows of it, and what it does. */
interface Operation {
	option: INodePropertyOptions & { value: string };
	/** Of the service's own operations: how they are described to the run. */
	operation?: RequestOperation;
	description: INodeProperties[];
	execute(context: IExecuteFunctions): Promise<INodeExecutionData[][]>;
	/** Takes a call to the resume URL of an execution that waits in this operation. */
	receive?(context: IWebhookFunctions): Promise<IWebhookResponseData>;
}

interface Resource extends INodePropertyOptions {
	value: string;
	operations: Operation[];
	/** Saved workflows do not hold what is the default, so it stays the same for good. */
	defaultOperation: Operation;
}

/** All resources and operations; adding one touches its own file and this list. */
export const resources: Resource[] = [
	{
		name: 'Payment',
		value: 'payment',
		description: 'Money that goes out to a payment key',
		operations: [createPayment],
		defaultOperation: createPayment,
	},
	{
		name: 'Postback',
		value: 'postback',
		description: 'Status notification from the service',
		operations: [waitForPostback],
		defaultOperation: waitForPostback,
	},
	{
		name: 'QR Code',
		value: 'qrCode',
		description: 'Money that comes in from a customer',
		operations: [createQrCode],
		defaultOperation: createQrCode,
	},
];

/** What the canvas calls each operation, by its resource and its own name with a space between them. */
export function namesOnCanvas(): Record<string, string> {
	const names: Record<string, string> = {};
	for (const { value, operations } of resources) {
		for (const { option, operation } of operations) {
			const name = operation?.words.noun ?? option.action ?? option.name;
			names[`${value} ${option.value}`] = name.charAt(0).toUpperCase() + name.slice(1);
		}
	}
	return names;
}

/** The operation that was chosen; only a hand-made workflow has another. */
export function findOperation(resource: string, operation: string): Operation {
	const found = resources
		.find(({ value }) => value === resource)
		?.operations.find(({ option }) => option.value === operation);
	if (found === undefined) throw new Error(`There is no operation "${operation}" of "${resource}"`);
	return found;
}

/** Carries out the operation that the node's parameters choose. */
export async function executeChosen(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	let chosen: Operation;
	try {
		const resource = String(context.getNodeParameter('resource', 0));
		chosen = findOperation(resource, String(context.getNodeParameter('operation', 0)));
	} catch (error) {
		return failAll(context, error);
	}
	return await chosen.execute(context);
}

const operationField: INodeProperties = {
	displayName: 'Operation',
	name: 'operation',
	type: 'options',
	noDataExpression: true,
	default: '',
};

/** The node's parameters: the choice of resource and operation, then each operation's own. */
export const properties: INodeProperties[] = [
	{
		displayName: 'Resource',
		name: 'resource',
		type: 'options',
		noDataExpression: true,
		options: resources.map(({ name, value, description }) => ({ name, value, description })),
		default: 'qrCode',
	},
	...resources.map(
		({ value, operations, defaultOperation }): INodeProperties => ({
			...operationField,
			displayOptions: { show: { resource: [value] } },
			options: operations.map(({ option }) => option),
			default: defaultOperation.option.value,
		}),
	),
	...resources.flatMap(({ operations }) => operations.flatMap(({ description }) => description)),
];
