import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';
import type { ReadParameter } from '../../execution/read';
import { runRequests } from '../../execution/run';
import { parseAmount } from '../../parameters/amount';
import { batchingOption, requestFields, showFor, timeoutOption } from '../../parameters/fields';
import {
	optionalIdentifier,
	optionalText,
	parseExternalId,
	withoutEmpty,
} from '../../parameters/text';
import type { CreditParty, PaymentRequest } from '../../service/contract';

/** One payment at a time, so that a stop leaves the fewest in doubt. */
const BATCH_SIZE = 1;

export const option = {
	name: 'Create',
	value: 'create',
	action: 'Make a payment',
	description: 'Pay to a payment key (cash-out)',
};

export const description: INodeProperties[] = showFor(
	[
		...requestFields,
		{
			displayName: 'Credit Party',
			name: 'creditParty',
			type: 'collection',
			placeholder: 'Add Field',
			default: {},
			description: 'Who receives the payment. Empty fields are left out.',
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
					description: 'Payment key that the money goes to',
				},
				{
					displayName: 'Key Type',
					name: 'keyType',
					type: 'string',
					default: '',
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
		{
			displayName: 'Options',
			name: 'options',
			type: 'collection',
			placeholder: 'Add Option',
			default: {},
			options: [
				{
					displayName: 'Allow Payments by AI Agents',
					name: 'allowAiPayments',
					type: 'boolean',
					default: false,
					description: 'Whether an AI agent that has this node as a tool may make payments',
				},
				batchingOption(BATCH_SIZE),
				{
					displayName: 'Duplicate Check',
					name: 'duplicateCheck',
					type: 'options',
					options: [
						{
							name: 'Across Executions of This Workflow',
							value: 'workflow',
							description:
								'Refuse an External ID that an earlier execution has sent. Best effort: executions that start at the same moment in different n8n processes can both pass.',
						},
						{
							name: 'Within This Execution',
							value: 'execution',
							description: 'Refuse an External ID only when this very execution has sent it',
						},
					],
					default: 'workflow',
					description:
						'How far back to look before a payment is sent. The last 10,000 payments of the workflow are remembered. The check is not atomic across n8n processes.',
				},
				timeoutOption,
			],
		},
	],
	'payment',
	'create',
);

function readCreditParty(value: unknown): CreditParty | undefined {
	const party = (value ?? {}) as Record<keyof CreditParty, unknown>;
	return withoutEmpty<CreditParty>({
		key: optionalIdentifier(party.key, 'creditParty.key'),
		keyType: optionalText(party.keyType, 'creditParty.keyType'),
		document: optionalText(party.document, 'creditParty.document'),
		name: optionalText(party.name, 'creditParty.name'),
	});
}

/** Reads the parameters into the body of "Make payment" (section 2.2). */
export function readRequest(read: ReadParameter): PaymentRequest {
	return withoutEmpty<PaymentRequest>({
		amount: parseAmount(read('amount'), 'amount'),
		external_id: parseExternalId(read('external_id')),
		payerQuestion: optionalText(read('payerQuestion'), 'payerQuestion'),
		creditParty: readCreditParty(read('creditParty')),
	}) as PaymentRequest;
}

/** Makes a payment for each item (section 4.2). */
export async function execute(context: IExecuteFunctions) {
	return await runRequests(context, { kind: 'payment', batchSize: BATCH_SIZE, readRequest });
}
