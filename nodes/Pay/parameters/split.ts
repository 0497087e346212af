import type { INodeProperties } from 'n8n-workflow';
import { parseTypedJson } from '../json';
import { parseAmount, readDecimalSign, type DecimalSign } from './amount';
import { wrongField } from './label';
import type { BodyMember } from './member';
import type { ReadParameter } from './parameter';
import { documentedMembers, parseIdentifier } from './text';

type SplitRecipient = { username?: string; percentageSplit?: number };

const splitFields: INodeProperties[] = [
	{
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
	},
	{
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
				values: [
					{
						displayName: 'Username',
						name: 'username',
						type: 'string',
						default: '',
						description: 'Username of the recipient at the service',
					},
					{
						displayName: 'Percentage',
						name: 'percentageSplit',
						// A text, as the amount is: number inputs drop a typed comma.
						type: 'string',
						default: '',
						placeholder: 'e.g. 12.5',
						description:
							'Share of the recipient in percent. Its bounds and what the shares must add up to are not documented.',
					},
				],
			},
		],
	},
	{
		displayName: 'Split (JSON)',
		name: 'splitJson',
		type: 'json',
		default: '[]',
		displayOptions: { show: { specifySplit: ['json'] } },
		description: 'Recipients as a list, for example [{ "username": "…", "percentageSplit": 10 }]',
	},
];

function readRecipient(value: unknown, field: string, decimalSign: DecimalSign): SplitRecipient {
	const { username, percentageSplit } = documentedMembers(
		value,
		field,
		['username', 'percentageSplit'],
		'Write each recipient as { "username": "…", "percentageSplit": 10 }.',
	);
	return {
		username: parseIdentifier(username, `${field}.username`),
		percentageSplit: parseAmount(percentageSplit, `${field}.percentageSplit`, {
			bound: '0 or more',
			decimalSign,
		}),
	};
}

function parseSplitJson(value: unknown): unknown {
	if (typeof value !== 'string') return value;
	if (value.trim() === '') return undefined;
	const { parsed, mistake } = parseTypedJson(value);
	if (mistake === undefined) return parsed;
	throw wrongField('splitJson', `must be valid JSON: ${mistake}`, 'Correct the JSON.');
}

/** Reads the recipients; undefined without a split. Throws an InputError. */
function readSplit(read: ReadParameter): SplitRecipient[] | undefined {
	const how = read('specifySplit');
	if (how === undefined || how === 'none') return undefined;
	if (how !== 'fields' && how !== 'json') {
		const what = `must be one of none, fields, json, but is ${JSON.stringify(how)}`;
		throw wrongField('specifySplit', what, 'Choose one from the list.');
	}
	const [field, recipients] =
		how === 'json'
			? ['splitJson', parseSplitJson(read('splitJson'))]
			: ['split', (read('split') as { recipient?: unknown } | undefined)?.recipient];
	const list = recipients ?? [];
	if (!Array.isArray(list)) {
		throw wrongField(
			field,
			`must be a list`,
			'Write the recipients as a list: [{ "username": "…", "percentageSplit": 10 }].',
		);
	}
	if (list.length === 0) {
		throw wrongField(field, 'has no recipient', 'Add one, or choose No Split.');
	}
	const decimalSign = readDecimalSign(read);
	return list.map((recipient: unknown, position) =>
		readRecipient(recipient, `${field}[${position}]`, decimalSign),
	);
}

/** The recipients who share the amount of a QR code (section 2.1), typed in fields or as JSON. */
export const split: BodyMember<'split', SplitRecipient[] | undefined> = {
	name: 'split',
	fields: splitFields,
	read: readSplit,
	type: [{ username: 'string', percentageSplit: 'number' }],
};
