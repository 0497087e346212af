import type { INodeProperties } from 'n8n-workflow';
import type { Recipient } from '../service/contract';
import type { ReadParameter } from './expressions';
import { fieldInside } from './label';
import { readCellText, readOptionalIdentifier, readText, readMembers } from './text';

const keyField: INodeProperties = {
	displayName: 'Key',
	name: 'key',
	type: 'string',
	default: '',
	placeholder: 'e.g. ana@example.com',
	description: 'Payment key that the money goes to',
};

const keyTypeField: INodeProperties = {
	displayName: 'Key Type',
	name: 'keyType',
	type: 'string',
	default: '',
	placeholder: 'e.g. email',
	description:
		'What kind of key it is. The service does not document the allowed values, so ask it.',
};

const documentField: INodeProperties = {
	displayName: 'Document',
	name: 'document',
	type: 'string',
	default: '',
	description: 'Document of the recipient, as text. The service does not document its format.',
};

const nameField: INodeProperties = {
	displayName: 'Name',
	name: 'name',
	type: 'string',
	default: '',
	description: 'Name of the recipient',
};

/** Who receives a payment (`creditParty`, section 2.2). */
export const recipientField: INodeProperties = {
	displayName: 'Recipient',
	name: 'creditParty',
	type: 'collection',
	placeholder: 'Add Field',
	// These two are open from the start: a payment needs a recipient.
	default: { key: '', keyType: '' },
	description:
		'Who receives the payment (creditParty in the API). Key is required; fields that you leave empty are not sent.',
	// As n8n lists them: by their names.
	options: [documentField, keyField, keyTypeField, nameField],
};

/** The recipient's key, as errors call it. */
export const recipientKey = fieldInside(recipientField.name, keyField);

/** Reads the recipient of a payment, undefined where nothing is filled in. */
export function readRecipient(read: ReadParameter): Recipient | undefined {
	return readMembers(read(recipientField.name), recipientField, [
		{ field: keyField, read: readOptionalIdentifier },
		{ field: keyTypeField, read: readCellText },
		{ field: documentField, read: readCellText },
		{ field: nameField, read: readText },
	]);
}
