import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';
import type { ItemPlan, Options } from '../../execution/read';
import { runRequests } from '../../execution/run';
import { acceptanceOptions } from '../../parameters/acceptance';
import { additionalMembersOption, withAdditionalMembers } from '../../parameters/additionalMembers';
import { amountField, parseAmount } from '../../parameters/amount';
import { batchingOption } from '../../parameters/batching';
import { showFor, type ReadParameter } from '../../parameters/parameter';
import {
	externalIdField,
	optionalIdentifier,
	optionalText,
	parseExternalId,
	payerQuestionField,
	readMembers,
} from '../../parameters/text';
import { timeoutOption } from '../../parameters/wholeNumber';
import { postbackFields } from '../../postback/target';
import type { RequestOf } from '../../service/contract';

/** One payment at a time, so that as few as possible are in doubt if the run stops. */
const BATCH_SIZE = 1;

export const option = {
	name: 'Create',
	value: 'create',
	action: 'Make a payment',
	description: 'Pay to a payment key (cash-out)',
};

export const description: INodeProperties[] = showFor(
	[
		{
			displayName: 'Recipient',
			name: 'creditParty',
			type: 'collection',
			placeholder: 'Add Field',
			// These two are open from the start: a payment needs a recipient.
			default: { key: '', keyType: '' },
			description: 'Who receives the payment (creditParty of the API). Empty fields are left out.',
			options: [
				{
					displayName: 'Document',
					name: 'document',
					type: 'string',
					default: '',
					description: 'Document of the recipient, as text. Its format is not documented.',
				},
				{
					displayName: 'Key',
					name: 'key',
					type: 'string',
					default: '',
					placeholder: 'e.g. ana@example.com',
					description: 'Payment key that the money goes to',
				},
				{
					displayName: 'Key Type',
					name: 'keyType',
					type: 'string',
					default: '',
					placeholder: 'e.g. email',
					description: 'Kind of the key. The allowed values are not documented: ask the service.',
				},
				{
					displayName: 'Name',
					name: 'name',
					type: 'string',
					default: '',
					description: 'Name of the recipient',
				},
			],
		},
		amountField,
		externalIdField,
		payerQuestionField,
		...postbackFields,
		{
			displayName: 'Options',
			name: 'options',
			type: 'collection',
			placeholder: 'Add Option',
			default: {},
			options: [
				...acceptanceOptions,
				additionalMembersOption,
				{
					displayName: 'Allow Payments by AI Agents',
					name: 'allowAiPayments',
					type: 'boolean',
					default: false,
					description: 'Whether an AI agent that has this node as a tool may make payments',
				},
				batchingOption(BATCH_SIZE),
				timeoutOption,
			],
		},
	],
	'payment',
	'create',
);

const CREDIT_PARTY = {
	key: optionalIdentifier,
	keyType: optionalText,
	document: optionalText,
	name: optionalText,
} satisfies Record<keyof NonNullable<RequestOf['payment']['creditParty']>, unknown>;

/** Reads the body of "Make payment" (section 2.2), except `postbackUrl`; throws an InputError. */
export function readRequest(read: ReadParameter): RequestOf['payment'] {
	const { additionalMembers } = (read('options') ?? {}) as Options;
	const request: RequestOf['payment'] = {
		amount: parseAmount(read('amount'), 'amount'),
		external_id: parseExternalId(read('external_id')),
		payerQuestion: optionalText(read('payerQuestion'), 'payerQuestion'),
		creditParty: readMembers(read('creditParty'), 'creditParty', CREDIT_PARTY),
	};
	return withAdditionalMembers(request, additionalMembers, 'payment');
}

const NO_KEY = 'This payment has no recipient key: the request did not say where the money goes.';

function readPlan(read: ReadParameter): ItemPlan {
	const request = readRequest(read);
	return { request, hint: request.creditParty?.key === undefined ? NO_KEY : undefined };
}

/** Makes a payment for each item (section 4.2). */
export async function execute(context: IExecuteFunctions) {
	return await runRequests(context, { kind: 'payment', batchSize: BATCH_SIZE, readPlan });
}
