import type { INodeProperties } from 'n8n-workflow';

/** `amount` (sections 2.1 and 2.2). */
export const amountField: INodeProperties = {
	displayName: 'Amount',
	name: 'amount',
	type: 'number',
	typeOptions: { minValue: 0 },
	default: 0,
	required: true,
	description:
		'Value of the transaction, above 0, with a decimal point. The unit is not documented by the service: ask it whether 10.50 or 1050 means ten and a half.',
};

/** `external_id` (sections 2.1 and 2.2). */
export const externalIdField: INodeProperties = {
	displayName: 'External ID',
	name: 'external_id',
	type: 'string',
	default: '',
	required: true,
	placeholder: 'e.g. order-1042',
	description:
		'Your own identifier of this charge or payment. Use a different one for each, for example the number of an order or payout.',
};

/** `payerQuestion` (sections 2.1 and 2.2). */
export const payerQuestionField: INodeProperties = {
	displayName: 'Payer Question',
	name: 'payerQuestion',
	type: 'string',
	default: '',
	placeholder: 'e.g. Order 1042',
	description: 'Description shown with the transaction. Left out when empty.',
};

/** Where the service sends its status notifications, and `postbackUrl` (sections 2.1, 2.2, 6). */
export const postbackFields: INodeProperties[] = [
	{
		displayName: 'Postback',
		name: 'postback',
		type: 'options',
		options: [
			{
				name: 'As Set in the Credential',
				value: 'credential',
				description:
					'Send postbacks to the Postback URL of the credential. Without one there, none are requested.',
			},
			{
				name: 'No Postback',
				value: 'none',
				description: 'Request no postback',
			},
			{
				name: 'Resume This Execution',
				value: 'resume',
				description: 'Send postbacks to a Wait for Postback operation further down this workflow',
			},
			{
				name: 'To a URL',
				value: 'url',
				description: 'Send postbacks to the URL entered below',
			},
		],
		default: 'credential',
		description: 'Where the service sends its status notifications about this item',
	},
	{
		displayName: 'Postback URL',
		name: 'postbackUrl',
		type: 'string',
		default: '',
		required: true,
		placeholder: 'e.g. https://n8n.example.com/webhook/…/postback',
		displayOptions: { show: { postback: ['url'] } },
		description:
			'URL that receives the notifications, for example the Production URL of a Pay Trigger',
	},
];

/** Fields of a kind that every request operation has, at the top of the form. */
export const requestFields: INodeProperties[] = [
	amountField,
	externalIdField,
	payerQuestionField,
	...postbackFields,
];

/** Batching as the HTTP Request node has it; other defaults, for payments go one by one. */
export function batchingOption(batchSize: number): INodeProperties {
	return {
		displayName: 'Batching',
		name: 'batching',
		type: 'fixedCollection',
		placeholder: 'Add Batching',
		default: { batch: {} },
		options: [
			{
				displayName: 'Batching',
				name: 'batch',
				values: [
					{
						displayName: 'Items per Batch',
						name: 'batchSize',
						type: 'number',
						typeOptions: { minValue: 1 },
						default: batchSize,
						description: 'How many items are in flight at once, at most',
					},
					{
						displayName: 'Batch Interval (Ms)',
						name: 'batchInterval',
						type: 'number',
						typeOptions: { minValue: 0 },
						default: 0,
						description: 'Pause after a batch has finished, in milliseconds',
					},
				],
			},
		],
	};
}

export const timeoutOption: INodeProperties = {
	displayName: 'Timeout',
	name: 'timeout',
	type: 'number',
	typeOptions: { minValue: 1 },
	default: 60000,
	description: 'How long to wait for the answer to one request, in milliseconds',
};

/** The same fields, shown for one resource and operation only. */
export function showFor(
	fields: INodeProperties[],
	resource: string,
	operation: string,
): INodeProperties[] {
	return fields.map((field) => ({
		...field,
		displayOptions: {
			...field.displayOptions,
			show: { resource: [resource], operation: [operation], ...field.displayOptions?.show },
		},
	}));
}
