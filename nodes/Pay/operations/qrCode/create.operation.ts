import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';
import type { Finish, ItemPlan, Options } from '../../execution/read';
import { runRequests } from '../../execution/run';
import { asError } from '../../inputError';
import { acceptanceOptions } from '../../parameters/acceptance';
import { additionalMembersOption, withAdditionalMembers } from '../../parameters/additionalMembers';
import { amountField, parseAmount } from '../../parameters/amount';
import { batchingOption } from '../../parameters/batching';
import { wrongField } from '../../parameters/label';
import { showFor, type ReadParameter } from '../../parameters/parameter';
import { readSplit, splitFields } from '../../parameters/split';
import {
	externalIdField,
	optionalText,
	parseExternalId,
	payerQuestionField,
	readMembers,
} from '../../parameters/text';
import { timeoutOption } from '../../parameters/wholeNumber';
import { postbackFields } from '../../postback/target';
import { imageFileName, qrPng } from '../../qr/image';
import { findQrSource } from '../../qr/payload';
import type { RequestOf } from '../../service/contract';

const BATCH_SIZE = 25;

export const option = {
	name: 'Create',
	value: 'create',
	action: 'Create a QR code',
	description: 'Create a QR code that a customer pays (cash-in)',
};

export const description: INodeProperties[] = showFor(
	[
		amountField,
		externalIdField,
		payerQuestionField,
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
		...postbackFields,
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
		...splitFields,
		{
			displayName: 'Options',
			name: 'options',
			type: 'collection',
			placeholder: 'Add Option',
			default: {},
			options: [
				...acceptanceOptions,
				additionalMembersOption,
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

const PAYER = { name: optionalText, document: optionalText, email: optionalText } satisfies Record<
	keyof NonNullable<RequestOf['qrCode']['payer']>,
	unknown
>;

/** Reads the body of "Generate QR code" (section 2.1), except `postbackUrl`; throws an InputError. */
export function readRequest(read: ReadParameter): RequestOf['qrCode'] {
	const { additionalMembers } = (read('options') ?? {}) as Options;
	const request: RequestOf['qrCode'] = {
		amount: parseAmount(read('amount'), 'amount'),
		external_id: parseExternalId(read('external_id')),
		payerQuestion: optionalText(read('payerQuestion'), 'payerQuestion'),
		payer: readMembers(read('payer'), 'payer', PAYER),
		split: readSplit(read),
	};
	return withAdditionalMembers(request, additionalMembers, 'qrCode');
}

/** Reads where to put the image, if one is wanted: now, since nothing may fail once the charge exists. */
function readImageField(read: ReadParameter): string | undefined {
	if (read('qrCodeImage') !== true) return undefined;
	const property = optionalText(read('binaryPropertyName'), 'binaryPropertyName')?.trim() ?? '';
	if (property !== '' && property !== '__proto__') return property;
	throw wrongField(
		'binaryPropertyName',
		`is missing`,
		'Enter the name of the binary field that the image goes to, for example data.',
	);
}

/**
 * Adds what an accepted response holds for the customer: the text to copy, and the image if it is
 * wanted. The charge exists already, so whatever is wrong with the image is a hint.
 */
function finishWith(property: string | undefined, path: string): Finish {
	return async (item, prepareBinaryData) => {
		const { response, ...facts } = item.json;
		const found = findQrSource(response, path);
		// Also where no image is wanted: the item then lacks the text to copy.
		if ('hint' in found) return found.hint;
		const { source } = found;
		if ('text' in source) item.json = { ...facts, qrCode: source.text, response };
		if (property === undefined) return undefined;
		let png: Buffer;
		try {
			png = 'png' in source ? source.png : qrPng(source.text);
		} catch (error) {
			return `No QR image: the payload does not fit into a QR code (${asError(error).message}).`;
		}
		const fileName = imageFileName(String(facts.external_id));
		item.binary = { [property]: await prepareBinaryData(png, fileName, 'image/png') };
		return undefined;
	};
}

function readPlan(read: ReadParameter): ItemPlan {
	const { qrCodePath } = (read('options') ?? {}) as Options;
	const path = optionalText(qrCodePath, 'qrCodePath')?.trim() ?? '';
	return { request: readRequest(read), finish: finishWith(readImageField(read), path) };
}

/** Creates a QR code for each item (section 4.1). */
export async function execute(context: IExecuteFunctions) {
	return await runRequests(context, { kind: 'qrCode', batchSize: BATCH_SIZE, readPlan });
}
