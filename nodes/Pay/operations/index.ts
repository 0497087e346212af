import type {
	IExecuteFunctions,
	INodeCredentialDescription,
	INodeExecutionData,
	INodeProperties,
	INodePropertyOptions,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import type { RequestOperation } from '../execution/read';
import { failAll } from '../execution/report/n8nError';
import { InputError } from '../inputError';
import type { FormPart } from '../parameters/member';
import type { ReadParameter } from '../parameters/parameter';
import type { ServiceRequest } from '../service/contract';
import { createPayment } from './payment/create.operation';
import { createQrCode } from './qrCode/create.operation';
import { waitForPostback } from './wait';

/** An operation of the Pay node: what the editor shows of it, and what it does. */
interface NodeOperation {
	option: INodePropertyOptions & { value: string };
	description: INodeProperties[];
	execute(context: IExecuteFunctions): Promise<INodeExecutionData[][]>;
}

/** One that sends nothing. */
interface SilentOperation extends NodeOperation {
	requestOperation?: undefined;
	/** Takes a call to the resume URL of an execution that waits in this operation. */
	receive?(context: IWebhookFunctions): Promise<IWebhookResponseData>;
}

/** One that sends requests to the service. */
interface SendingOperation extends NodeOperation {
	resource: string;
	/** The sections of docs/service.md that say its members and its path. */
	sections: { members: string; path: string };
	requestOperation: RequestOperation;
	/** What its items hold beside what all have. */
	ownOutput: Readonly<Record<string, 'string' | 'number'>>;
	/** Reads the body of an item. @throws InputError */
	readRequest(read: ReadParameter): ServiceRequest;
	/** With the examples of its members, of which documents and tests are made. */
	form: readonly FormPart[];
	receive?: undefined;
}

type Operation = SilentOperation | SendingOperation;

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

/** The operations that send something to the service. */
export const sendingOperations: SendingOperation[] = resources
	.flatMap(({ operations }) => operations)
	.filter((operation): operation is SendingOperation => operation.requestOperation !== undefined);

/** The resources of which something is sent to the service. */
const resourcesThatSend = [...new Set(sendingOperations.map(({ resource }) => resource))];

/**
 * What sends needs a credential; a wait may have one, to check the service's signature. n8n itself reads
 * the first of these two. The second names the same resources under `hide`: if all values of Resource
 * stood under `show`, n8n's editor would believe that Resource chooses an authentication. It would hide
 * Resource, and change it with the credential, so that a charge becomes a payment.
 */
export const credentials: INodeCredentialDescription[] = [
	{
		name: 'payApi',
		required: true,
		testedBy: 'testPayCredential',
		displayOptions: { show: { resource: resourcesThatSend } },
	},
	{
		name: 'payApi',
		required: false,
		testedBy: 'testPayCredential',
		displayOptions: { hide: { resource: resourcesThatSend } },
	},
];

const CHOOSE = 'Choose one from the list, or correct it in the JSON of the workflow.';

/** The operation that was chosen. Throws an InputError for a name that a person or program made up. */
export function findOperation(resource: string, operationName: string): Operation {
	const foundResource = resources.find(({ value }) => value === resource);
	if (foundResource === undefined) {
		const names = resources.map(({ value }) => value).join(', ');
		throw new InputError('resource', `There is no resource "${resource}", only ${names}`, CHOOSE);
	}
	const { operations } = foundResource;
	const found = operations.find(({ option }) => option.value === operationName);
	if (found !== undefined) return found;
	const names = operations.map(({ option }) => option.value).join(', ');
	const what = `There is no operation "${operationName}" of "${resource}", only ${names}`;
	throw new InputError('operation', what, CHOOSE);
}

/** Carries out the operation that the node's parameters choose. */
export async function executeChosen(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	let operation: Operation;
	try {
		const resource = String(context.getNodeParameter('resource', 0));
		// Of an unknown resource n8n knows no operation, and would throw without a fallback.
		operation = findOperation(resource, String(context.getNodeParameter('operation', 0, '')));
	} catch (error) {
		return failAll(context, error);
	}
	return await operation.execute(context);
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
