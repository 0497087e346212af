import type { INodeProperties } from 'n8n-workflow';
import { readTypedJson } from '../base/json';
import { type DecimalSign, readAmount, readDecimalSign } from './amount';
import { readChoice, type ReadParameter } from './expressions';
import { fieldInside, type NamedField, wrongField } from './label';
import { documentedMembers, readIdentifier } from './text';

type SplitRecipient = { username?: string; percentageSplit?: number };

const WAYS_TO_ENTER = ['none', 'fields', 'json'] as const;

const specifySplitField: INodeProperties = {
	displayName: 'Split',
	name: 'specifySplit',
	type: 'options',
	options: [
		{ name: 'No Split', value: 'none' },
		{ name: 'Using Fields Below', value: 'fields' },
		{ name: 'Using JSON', value: 'json' },
	],
	default: 'none',
	description: 'Whether recipients share the amount, and how to enter them',
};

const usernameField: INodeProperties = {
	displayName: 'Username',
	name: 'username',
	type: 'string',
	default: '',
	description: 'Username of the recipient at the service',
};

const percentageField: INodeProperties = {
	displayName: 'Percentage',
	name: 'percentageSplit',
	// A text, as the amount is: number inputs drop a typed comma.
	type: 'string',
	default: '',
	placeholder: 'e.g. 12.5',
	description:
		"The recipient's share in percent. The service does not document its limits, or what the shares must add up to.",
};

const recipientsField: INodeProperties = {
	displayName: 'Split Recipients',
	name: 'split',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true },
	placeholder: 'Add Recipient',
	default: {},
	displayOptions: { show: { specifySplit: ['fields'] } },
	description: 'Recipients who share the amount',
	options: [
		{
			displayName: 'Recipient',
			name: 'recipient',
			values: [usernameField, percentageField],
		},
	],
};

const jsonField: INodeProperties = {
	displayName: 'Split (JSON)',
	name: 'splitJson',
	type: 'json',
	default: '[]',
	displayOptions: { show: { specifySplit: ['json'] } },
	description: 'Recipients as a list, for example [{ "username": "…", "percentageSplit": 10 }]',
};

/** The recipients who share the amount of a QR code (section 2.1), typed in fields or as JSON. */
export const splitFields: INodeProperties[] = [specifySplitField, recipientsField, jsonField];

/** Reads one recipient of a list, which is called by its place there. */
function readRecipient(
	value: unknown,
	field: NamedField,
	decimalSign: DecimalSign,
): SplitRecipient {
	const { username, percentageSplit } = documentedMembers(
		value,
		field,
		[usernameField.name, percentageField.name],
		'Write each recipient as { "username": "…", "percentageSplit": 10 }.',
	);
	return {
		username: readIdentifier(username, fieldInside(field.name, usernameField)),
		percentageSplit: readAmount(percentageSplit, fieldInside(field.name, percentageField), {
			isPercentage: true,
			decimalSign,
		}),
	};
}

function readSplitJson(value: unknown): unknown {
	if (typeof value !== 'string') return value;
	if (value.trim() === '') return undefined;
	const { parsed, mistake } = readTypedJson(value);
	if (mistake === undefined) return parsed;
	throw wrongField(jsonField, `must be valid JSON: ${mistake}`, 'Correct the JSON.');
}

function readSplitFields(value: unknown): unknown {
	return (value as { recipient?: unknown } | undefined)?.recipient;
}

/** Reads the recipients of a list, as one of two fields holds it. */
function readRecipients(value: unknown, field: NamedField, read: ReadParameter): SplitRecipient[] {
	const list = value ?? [];
	if (!Array.isArray(list)) {
		throw wrongField(
			field,
			'must be a list',
			'Write the recipients as a list: [{ "username": "…", "percentageSplit": 10 }].',
		);
	}
	if (list.length === 0) {
		throw wrongField(field, 'has no recipient', 'Add one, or choose No Split.');
	}
	const { name, displayName } = field;
	const decimalSign = readDecimalSign(read);
	return list.map((recipient: unknown, position) =>
		readRecipient(recipient, { name: `${name}[${position}]`, displayName }, decimalSign),
	);
}

/** Reads the recipients; undefined without a split. */
export function readSplit(read: ReadParameter): SplitRecipient[] | undefined {
	const typedWay = read('specifySplit');
	if (typedWay === undefined) return undefined;
	switch (readChoice(typedWay, specifySplitField, WAYS_TO_ENTER)) {
		case 'none':
			return undefined;
		case 'fields':
			return readRecipients(readSplitFields(read('split')), recipientsField, read);
		case 'json':
			return readRecipients(readSplitJson(read('splitJson')), jsonField, read);
	}
}
