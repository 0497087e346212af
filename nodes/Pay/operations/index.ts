import type {
	IExecuteFunctions,
	INodeCredentialDescription,
	INodeExecutionData,
	INodeProperties,
	INodePropertyOptions,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { InputError } from '../base/inputError';
import type { SendingOperation } from './operation';
import { createPayment } from './payment';
import { createQrCode } from './qrCode';
import { waitForPostback } from './wait';

/** An operation that sends nothing. */
interface SilentOperation {
	option: INodePropertyOptions & { value: string };
	description: INodeProperties[];
	requestOperation?: undefined;
	execute(context: IExecuteFunctions): Promise<INodeExecutionData[][]>;
	/** Takes a call to the resume URL of an execution that waits in this operation. */
	receive?(context: IWebhookFunctions): Promise<IWebhookResponseData>;
}

export type Operation = SilentOperation | SendingOperation;

/** A resource of the node, which has one operation. */
interface Resource {
	name: string;
	value: string;
	description: string;
	operation: Operation;
}

/** All resources, in the order of the editor. */
export const resources: Resource[] = [
	{
		name: 'Payment',
		value: 'payment',
		description: 'Money that goes out to a payment key',
		operation: createPayment,
	},
	{
		name: 'Postback',
		value: 'postback',
		description: 'Status notification from the service',
		operation: waitForPostback,
	},
	{
		name: 'QR Code',
		value: 'qrCode',
		description: 'Money that comes in from a customer',
		operation: createQrCode,
	},
];

/** The operations that send something to the service. */
export const sendingOperations: SendingOperation[] = [createPayment, createQrCode];

/** The resources of which something is sent to the service. */
const resourcesThatSend = sendingOperations.map(({ resource }) => resource);

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
	const { operation } = foundResource;
	const { value } = operation.option;
	if (value === operationName) return operation;
	const what = `There is no operation "${operationName}" of "${resource}", only ${value}`;
	throw new InputError('operation', what, CHOOSE);
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
		({ value, operation }): INodeProperties => ({
			...operationField,
			displayOptions: { show: { resource: [value] } },
			options: [operation.option],
			// Saved workflows do not hold what is the default, so it stays the same for good.
			default: operation.option.value,
		}),
	),
	...resources.flatMap(({ operation }) => operation.description),
];

/**
 * What the canvas shows below the node's name: JavaScript in n8n's double braces, so there are no two closing
 * braces in a row. It shows what was typed: on the canvas most expressions have no value, and asking for one
 * throws. n8n keeps what was typed for another resource, so each names its own fields.
 */
export const subtitle = `={{ (() => {
	const typed = (word, read) => {
		try {
			const value = read();
			return /^[^={]+$/.test(value ?? "") ? word + value : "";
		} catch {
			return "";
		}
	};
	const amount = () => typed(" of ", () => $parameter["amount"]);
	const key = () => typed(" to ", () => $parameter["creditParty"]["key"]);
	switch ($parameter["resource"]) {
		case "payment":
			return "Payment" + amount() + key();
		case "qrCode":
			return "QR code" + amount();
		case "postback":
			return "Wait for postback";
	}
	return "";
})() }}`;
