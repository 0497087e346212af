import type { IDataObject } from 'n8n-workflow';
import type { Kind } from '../nodes/Pay/service/contract';

/* Examples of what people type into the forms. Tests and the documents' blocks are made of them. */

/** A form with every field of its body filled in, and the body that is sent then. */
export interface FullForm {
	typed: Readonly<IDataObject>;
	sent: Readonly<Record<string, unknown>>;
}

interface Examples {
	/** The sections of sandbox/contract.md that say the operation's members and its path. */
	sections: { members: string; path: string };
	/** One for each way of typing some of its members. */
	fullForms: readonly [FullForm, ...FullForm[]];
	/** The fields of its form that are no part of the body. */
	besideBody: readonly string[];
	/** What is refused when it is typed in its fields, and the path that the error names. */
	refused: ReadonlyArray<{ typed: Readonly<IDataObject>; field: string }>;
	/** What its accepted items hold beside what all have, with their types. */
	ownOutput: Readonly<Record<string, 'string' | 'number'>>;
}

const POSTBACK_URL = 'https://n8n.example.com/webhook/x/postback';

// Texts are sent as they are typed.
const RECIPIENT = {
	key: '+5511999999999',
	keyType: 'PHONE',
	document: '00012345678',
	name: 'Ana é',
};
const PAYER = { name: 'Nathan é', document: '00012345678', email: 'nathan@example.com' };

/** The examples of each operation. */
export const EXAMPLES: Record<Kind, Examples> = {
	payment: {
		sections: { members: '2.2', path: '4.2' },
		fullForms: [
			{
				typed: {
					creditParty: RECIPIENT,
					amount: '12.50',
					external_id: 'order-1',
					payerQuestion: 'Invoice 2041',
					postback: 'url',
					postbackUrl: POSTBACK_URL,
				},
				sent: {
					creditParty: RECIPIENT,
					amount: 12.5,
					external_id: 'order-1',
					payerQuestion: 'Invoice 2041',
					postbackUrl: POSTBACK_URL,
				},
			},
		],
		besideBody: [],
		refused: [
			{ typed: { creditParty: { key: ' ' } }, field: 'creditParty.key' },
			{ typed: { creditParty: { key: 'a\u200bb' } }, field: 'creditParty.key' },
			{ typed: { creditParty: { key: '#REF!' } }, field: 'creditParty.key' },
			{ typed: { creditParty: { keyType: '#N/A' } }, field: 'creditParty.keyType' },
			{ typed: { creditParty: { document: '1,23457E+10' } }, field: 'creditParty.document' },
		],
		ownOutput: {},
	},
	qrCode: {
		sections: { members: '2.1', path: '4.1' },
		fullForms: [
			{
				typed: {
					amount: '12.50',
					external_id: 'order-1',
					payerQuestion: 'Order 1042',
					postback: 'url',
					postbackUrl: POSTBACK_URL,
					payer: PAYER,
					specifySplit: 'fields',
					split: {
						recipient: [
							{ username: 'shop', percentageSplit: '12.5' },
							{ username: 'courier', percentageSplit: '87.5' },
						],
					},
				},
				sent: {
					amount: 12.5,
					external_id: 'order-1',
					payerQuestion: 'Order 1042',
					postbackUrl: POSTBACK_URL,
					payer: PAYER,
					split: [
						{ username: 'shop', percentageSplit: 12.5 },
						{ username: 'courier', percentageSplit: 87.5 },
					],
				},
			},
			{
				typed: {
					amount: '12.50',
					external_id: 'order-1',
					payerQuestion: 'Order 1042',
					postback: 'url',
					postbackUrl: POSTBACK_URL,
					payer: PAYER,
					specifySplit: 'json',
					splitJson: '[{ "username": "shop", "percentageSplit": 10 }]',
				},
				sent: {
					amount: 12.5,
					external_id: 'order-1',
					payerQuestion: 'Order 1042',
					postbackUrl: POSTBACK_URL,
					payer: PAYER,
					split: [{ username: 'shop', percentageSplit: 10 }],
				},
			},
		],
		besideBody: ['qrCodeImage', 'binaryPropertyName'],
		refused: [{ typed: { payer: { document: '1,23457E+10' } }, field: 'payer.document' }],
		ownOutput: { qrCode: 'string', qrCodeAmount: 'number' },
	},
};
