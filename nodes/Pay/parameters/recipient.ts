import { fieldInside } from './label';
import { groupMember, groupText } from './member';
import { documentText, optionalIdentifier } from './text';

const key = groupText(
	{
		displayName: 'Key',
		name: 'key',
		placeholder: 'e.g. ana@example.com',
		description: 'Payment key that the money goes to',
	},
	{
		means: 'recipient',
		examples: [{ typed: '+5511999999999', sent: '+5511999999999' }],
		parse: optionalIdentifier,
		refused: [' ', 'a\u200bb', '#REF!'],
		neverEmpty: true,
	},
);

/** Who receives a payment (`creditParty`, section 2.2). */
export const creditParty = groupMember(
	{
		displayName: 'Recipient',
		name: 'creditParty',
		description:
			'Who receives the payment (creditParty of the API). A Key is needed; other empty fields are left out.',
	},
	[
		key,
		groupText(
			{
				displayName: 'Key Type',
				name: 'keyType',
				placeholder: 'e.g. email',
				description: 'Kind of the key. The allowed values are not documented: ask the service.',
			},
			{
				means: 'recipient',
				examples: [{ typed: 'PHONE', sent: 'PHONE' }],
				parse: documentText,
				refused: ['#N/A'],
			},
		),
		groupText(
			{
				displayName: 'Document',
				name: 'document',
				description: 'Document of the recipient, as text. Its format is not documented.',
			},
			{
				means: 'identity',
				examples: [{ typed: '00012345678', sent: '00012345678' }],
				parse: documentText,
				refused: ['1,23457E+10'],
			},
		),
		groupText(
			{ displayName: 'Name', name: 'name', description: 'Name of the recipient' },
			{ means: 'identity', examples: [{ typed: 'Ana é', sent: 'Ana é' }] },
		),
	],
	// These two are open from the start: a payment needs a recipient.
	{ key: '', keyType: '' },
);

/** The recipient's key, as errors call it. */
export const recipientKey = fieldInside(creditParty.name, key.field);
