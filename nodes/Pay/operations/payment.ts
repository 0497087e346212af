import type { INodeProperties } from 'n8n-workflow';
import { amountField, readAmountOfItem } from '../fields/amount';
import type { ReadParameter } from '../fields/expressions';
import { wrongField } from '../fields/label';
import { readRecipient, recipientField, recipientKey } from '../fields/recipient';
import {
	externalIdField,
	readText,
	OWN_ID,
	readExternalId,
	payerQuestionField,
} from '../fields/text';
import { postbackFields } from '../postback/target';
import type { ServiceRequest } from '../service/contract';
import { defineOperation } from './operation';

const allowNoKeyOption = {
	displayName: 'Allow Payments Without a Key',
	name: 'allowNoKey',
	type: 'boolean',
	noDataExpression: true,
	default: false,
	description:
		'Whether a payment may go out without a Key, for a service that identifies recipients in another way, for example by Additional Members',
} satisfies INodeProperties;

/** Refuses a payment that would not say where the money goes. */
function refuseWithoutKey({ creditParty }: ServiceRequest, options: unknown): void {
	if (creditParty?.key !== undefined) return;
	const { allowNoKey } = (options ?? {}) as { allowNoKey?: unknown };
	if (allowNoKey === true) return;
	throw wrongField(
		recipientKey,
		'is missing, so the request would not say where the money goes',
		`Enter the recipient's Key. If the service identifies recipients in another way, turn on "${allowNoKeyOption.displayName}" under Options.`,
	);
}

const NUMBER_KEY =
	'A Key came as a number, so zeros at its start may already be lost. Pass keys as text.';

function hintAtNumberKey(read: ReadParameter): string | undefined {
	const { key } = (read('creditParty') ?? {}) as { key?: unknown };
	return typeof key === 'number' ? NUMBER_KEY : undefined;
}

const descriptionField = payerQuestionField('Invoice 2041');

/** Makes a payment for each item (sections 2.2 and 4.2). */
export const createPayment = defineOperation({
	kind: 'payment',
	path: 'payment',
	words: {
		noun: 'payment',
		plural: 'payments',
		pastParticiple: 'made',
		whenUnknown: {
			warning: 'Do not pay again yet.',
			advice: (external_id) =>
				`Ask the service whether "${external_id}" was paid: this node does not send it a second time.`,
			reminder: 'Ask the service before you pay again.',
		},
		whenTokenRejected: (external_id) =>
			`A gateway on the way may say this even though the payment was made, so this execution does not send it again. Before you run it again, ask the service whether "${external_id}" was paid.`,
	},
	isMoneyOut: true,
	agentPermission: {
		name: 'allowAiPayments',
		displayName: 'Allow Payments by AI Agents',
		description: 'Whether an AI agent that has this node as a tool may make payments',
	},
	resource: 'payment',
	option: {
		name: 'Create',
		value: 'create',
		action: 'Create payment',
		description: 'Send money to a payment key (cash-out)',
	},
	// One at a time, so that as few as possible are in doubt if the run stops.
	batchSize: 1,
	fields: [recipientField, amountField, externalIdField, descriptionField, ...postbackFields],
	ownOptions: [allowNoKeyOption],
	meanings: {
		'creditParty.key': 'recipient',
		'creditParty.keyType': 'recipient',
		'creditParty.document': 'identity',
		'creditParty.name': 'identity',
		amount: 'amount',
		external_id: 'control',
		payerQuestion: 'text',
		postbackUrl: 'control',
	},
	neverEmpty: ['creditParty.key'],
	readBody: (read) => ({
		amount: readAmountOfItem(read),
		external_id: readExternalId(read('external_id'), OWN_ID),
		payerQuestion: readText(read('payerQuestion'), descriptionField),
		creditParty: readRecipient(read),
	}),
	readExtras: (read, body) => {
		refuseWithoutKey(body, read('options'));
		return { hint: hintAtNumberKey(read) };
	},
});
