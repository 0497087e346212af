import type { IExecuteFunctions, INodeExecutionData, INodeProperties } from 'n8n-workflow';
import type { ReadParameter } from '../../execution/read';
import { runRequests } from '../../execution/run';
import { parseAmount } from '../../parameters/amount';
import { batchingOption, requestFields, showFor, timeoutOption } from '../../parameters/fields';
import { InputError } from '../../inputError';
import {
	optionalIdentifier,
	optionalText,
	parseExternalId,
	withoutEmpty,
} from '../../parameters/text';
import type { Payer, QrCodeRequest, SplitRecipient } from '../../service/contract';
import { parseTypedJson } from '../../json';
import { imageFileName, qrPng } from '../../qr/image';
import { findQrSource } from '../../qr/payload';

const BATCH_SIZE = 25;

export const option = {
	name: 'Create',
	value: 'create',
	action: 'Create a QR code',
	description: 'Create a QR code that a customer pays (cash-in)',
};

export const description: INodeProperties[] = showFor(
	[
		...requestFields,
		{
			displayName: 'Payer',
			name: 'payer',
			type: 'collection',
			placeholder: 'Add Field',
			default: {},
			description: 'Who pays. Empty fields are left out.',
			options: [
				{
					displayName: 'Document',
					name: 'document',
					type: 'string',
					default: '',
					description: 'Document of the payer, as text. Its format is not documented.',
				},
				{
					displayName: 'Email',
					name: 'email',
					type: 'string',
					placeholder: 'e.g. nathan@example.com',
					default: '',
					description: 'Email address of the payer',
				},
				{
					displayName: 'Name',
					name: 'name',
					type: 'string',
					default: '',
					description: 'Name of the payer',
				},
			],
		},
		{
			displayName: 'Specify Split',
			name: 'specifySplit',
			type: 'options',
			options: [
				{ name: 'Using Fields Below', value: 'fields' },
				{ name: 'Using JSON', value: 'json' },
			],
			default: 'fields',
			description: 'How to enter the recipients who share the amount',
		},
		{
			displayName: 'Split',
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
							displayName: 'Percentage Split',
							name: 'percentageSplit',
							type: 'number',
							typeOptions: { minValue: 0 },
							default: 0,
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
		{
			displayName: 'Put QR Code Image in Binary Field',
			name: 'qrCodeImage',
			type: 'boolean',
			default: false,
			description: 'Whether to add a PNG of the QR code to the output, to send on or to print',
		},
		{
			displayName: 'Output Binary Field',
			name: 'binaryPropertyName',
			type: 'string',
			default: 'data',
			required: true,
			displayOptions: { show: { qrCodeImage: [true] } },
			hint: 'The name of the output binary field to put the image in',
		},
		{
			displayName: 'Options',
			name: 'options',
			type: 'collection',
			placeholder: 'Add Option',
			default: {},
			options: [
				batchingOption(BATCH_SIZE),
				{
					displayName: 'QR Code Path',
					name: 'qrCodePath',
					type: 'string',
					default: '',
					placeholder: 'e.g. data.qrCode',
					description:
						'Where in the response the payload of the QR image is, with dots between the levels. Only needed when it is not recognized by itself.',
				},
				timeoutOption,
			],
		},
	],
	'qrCode',
	'create',
);

function readPayer(value: unknown): Payer | undefined {
	const payer = (value ?? {}) as Record<keyof Payer, unknown>;
	return withoutEmpty<Payer>({
		name: optionalText(payer.name, 'payer.name'),
		document: optionalText(payer.document, 'payer.document'),
		email: optionalText(payer.email, 'payer.email'),
	});
}

function readRecipient(value: unknown, field: string): SplitRecipient | undefined {
	if (typeof value !== 'object' || value === null || Array.isArray(value)) {
		throw new InputError(
			field,
			`${field} is no object`,
			'Write each recipient as { "username": "…", "percentageSplit": 10 }.',
		);
	}
	const { username, percentageSplit, ...rest } = value as Record<string, unknown>;
	const [unknownKey] = Object.keys(rest);
	if (unknownKey !== undefined) {
		throw new InputError(
			field,
			`${field} has a member "${unknownKey}", which the service does not document`,
			'The documented members are username and percentageSplit.',
		);
	}
	return withoutEmpty<SplitRecipient>({
		username: optionalIdentifier(username, `${field}.username`),
		percentageSplit:
			'percentageSplit' in value
				? parseAmount(percentageSplit, `${field}.percentageSplit`, true)
				: undefined,
	});
}

function parseSplitJson(value: unknown): unknown {
	if (typeof value !== 'string') return value;
	if (value.trim() === '') return [];
	const { parsed, mistake } = parseTypedJson(value);
	if (mistake !== undefined) {
		throw new InputError(
			'splitJson',
			`splitJson is no valid JSON: ${mistake}`,
			'Correct the JSON.',
		);
	}
	return parsed;
}

function readSplit(read: ReadParameter): SplitRecipient[] | undefined {
	const fromJson = read('specifySplit') === 'json';
	const field = fromJson ? 'splitJson' : 'split';
	const recipients = fromJson
		? parseSplitJson(read('splitJson'))
		: (read('split') as { recipient?: unknown } | undefined)?.recipient;
	if (recipients === undefined || recipients === null) return undefined;
	if (!Array.isArray(recipients)) {
		throw new InputError(
			field,
			`${field} is no list`,
			'Write the recipients as a list: [{ "username": "…", "percentageSplit": 10 }].',
		);
	}
	const split = recipients.flatMap(
		(recipient, position) => readRecipient(recipient, `${field}[${position}]`) ?? [],
	);
	return split.length > 0 ? split : undefined;
}

/** Reads the parameters into the body of "Generate QR code" (section 2.1). */
export function readRequest(read: ReadParameter): QrCodeRequest {
	return withoutEmpty<QrCodeRequest>({
		amount: parseAmount(read('amount'), 'amount'),
		external_id: parseExternalId(read('external_id')),
		payerQuestion: optionalText(read('payerQuestion'), 'payerQuestion'),
		payer: readPayer(read('payer')),
		split: readSplit(read),
	}) as QrCodeRequest;
}

/**
 * Puts the image of an accepted QR code into the item's binary data, if the user wants it. The
 * charge exists already, so whatever is wrong with the image is a hint and never an error.
 */
async function addImage(
	context: IExecuteFunctions,
	item: INodeExecutionData,
	itemIndex: number,
): Promise<string | undefined> {
	if (context.getNodeParameter('qrCodeImage', itemIndex, false) !== true) return undefined;
	const path = String(context.getNodeParameter('options.qrCodePath', itemIndex, '') ?? '').trim();
	const found = findQrSource(item.json.response, path);
	if ('hint' in found) return found.hint;
	const { source } = found;
	let png: Buffer;
	try {
		png = 'png' in source ? source.png : qrPng(source.text);
	} catch (error) {
		const reason = error instanceof Error ? error.message : String(error);
		return `No QR image: the payload does not fit into a QR code (${reason}).`;
	}
	const property = String(context.getNodeParameter('binaryPropertyName', itemIndex, 'data'));
	const fileName = imageFileName(String(item.json.external_id));
	item.binary = { [property]: await context.helpers.prepareBinaryData(png, fileName, 'image/png') };
	return undefined;
}

/** Creates a QR code for each item (section 4.1). */
export async function execute(context: IExecuteFunctions) {
	const plan = {
		kind: 'qrCode',
		batchSize: BATCH_SIZE,
		readRequest,
		finish: addImage,
	} as const;
	return await runRequests(context, plan);
}
