import type { INodeExecutionData, INodeProperties } from 'n8n-workflow';
import { asError } from '../base/inputError';
import { amountField, readAmountOfItem } from '../fields/amount';
import { readSwitch, type ReadParameter } from '../fields/expressions';
import { wrongField } from '../fields/label';
import { readSplit, splitFields } from '../fields/split';
import {
	readCellText,
	externalIdField,
	readText,
	OWN_ID,
	readExternalId,
	payerQuestionField,
	readMembers,
} from '../fields/text';
import { postbackFields } from '../postback/target';
import { amountInCode, amountTextIn, findQrSource } from '../qr/code';
import { type Image, imageFileName, qrPng } from '../qr/image';
import type { Finish } from '../run/item';
import { joinSentences, otherAmountInCode, unreadableAmountInCode } from '../run/words';
import type { Paths } from '../service/paths';
import { defineOperation } from './operation';

const binaryPropertyField: INodeProperties = {
	displayName: 'Output Binary Field',
	name: 'binaryPropertyName',
	type: 'string',
	default: 'data',
	required: true,
	displayOptions: { show: { qrCodeImage: [true] } },
	hint: 'The name of the output binary field to put the image in',
};

const imageField: INodeProperties = {
	displayName: 'Put QR Code Image in Binary Field',
	name: 'qrCodeImage',
	type: 'boolean',
	default: false,
	description:
		'Whether to add an image of the QR code to the output, to send on or to print: a PNG, or the image that the service gave instead of a text',
};

const payerNameField: INodeProperties = {
	displayName: 'Name',
	name: 'name',
	type: 'string',
	default: '',
	description: 'Name of the payer',
};

const payerDocumentField: INodeProperties = {
	displayName: 'Document',
	name: 'document',
	type: 'string',
	default: '',
	description: 'Document of the payer, as text. The service does not document its format.',
};

const payerEmailField: INodeProperties = {
	displayName: 'Email',
	name: 'email',
	type: 'string',
	default: '',
	placeholder: 'e.g. nathan@example.com',
	description: 'Email address of the payer',
};

const payerField: INodeProperties = {
	displayName: 'Payer',
	name: 'payer',
	type: 'collection',
	placeholder: 'Add Field',
	default: {},
	description: 'Who pays. Fields that you leave empty are not sent.',
	// As n8n lists them: by their names.
	options: [payerDocumentField, payerEmailField, payerNameField],
};

const descriptionField = payerQuestionField('Order 1042');

/** Reads where to put the image, if one is wanted: now, since nothing may fail once the charge exists. */
function readImageField(read: ReadParameter): string | undefined {
	const isWanted = read(imageField.name);
	// A workflow that a program wrote may leave it out.
	if (isWanted === undefined || !readSwitch(isWanted, imageField)) return undefined;
	const property = readText(read(binaryPropertyField.name), binaryPropertyField)?.trim() ?? '';
	if (property !== '' && property !== '__proto__') return property;
	throw wrongField(
		binaryPropertyField,
		'is missing',
		'Enter the name of the binary field that the image goes to, for example data.',
	);
}

/** Draws a text, unless the service gave an image; a hint where it is too long. */
async function imageOf(
	source: { text: string } | { image: Image },
): Promise<{ image: Image } | { hint: string }> {
	// As it came, with its own type: an SVG may hold scripts, and passes for nothing else.
	if ('image' in source) return source;
	try {
		const bytes = await qrPng(source.text);
		return { image: { bytes, mimeType: 'image/png', extension: 'png' } };
	} catch (error) {
		const { message } = asError(error);
		return { hint: `No QR image: the payload does not fit into a QR code (${message}).` };
	}
}

/**
 * Adds the text to copy, and the amount that it asks its payer for. Gives a hint where that is another
 * amount than the request's, or cannot be compared with it.
 */
function addCode(item: INodeExecutionData, text: string): string | undefined {
	const { response, ...facts } = item.json;
	const external_id = String(facts.external_id);
	const requested = Number(facts.amount);
	const inCode = amountInCode(text);
	if (inCode === undefined) {
		item.json = { ...facts, qrCode: text, response };
		const written = amountTextIn(text);
		if (written === undefined) return undefined;
		return unreadableAmountInCode(external_id, written, requested);
	}
	item.json = { ...facts, qrCode: text, qrCodeAmount: inCode, response };
	if (inCode === requested) return undefined;
	return otherAmountInCode(external_id, inCode, requested);
}

/**
 * Adds what an accepted response holds for the customer: the text to copy, and the image if it is
 * wanted. The charge exists already, so whatever is wrong with the image is a hint.
 * @param property the binary field of the image; undefined where none is wanted
 */
function finishWith(property: string | undefined, qrCodePath: Paths | undefined): Finish {
	const addCodeAndImage: Finish = async (item, prepareBinaryData) => {
		const source = findQrSource(item.json.response, qrCodePath);
		// Said even if no image is wanted: without a code there is nothing to copy either.
		if ('hint' in source) return source.hint;
		const hint = 'text' in source ? addCode(item, source.text) : undefined;
		if (property === undefined) return hint;
		const drawn = await imageOf(source);
		if ('hint' in drawn) return joinSentences(hint, drawn.hint);
		const { bytes, mimeType, extension } = drawn.image;
		const fileName = imageFileName(String(item.json.external_id), extension);
		item.binary = { [property]: await prepareBinaryData(bytes, fileName, mimeType) };
		return hint;
	};
	return async (item, prepareBinaryData) => {
		try {
			return await addCodeAndImage(item, prepareBinaryData);
		} catch (error) {
			const { message } = asError(error);
			return `No QR image for "${String(item.json.external_id)}", which was accepted: ${message}`;
		}
	};
}

/** Creates a QR code for each item (sections 2.1 and 4.1). */
export const createQrCode = defineOperation({
	kind: 'qrCode',
	path: 'qrcode',
	words: {
		noun: 'QR code',
		plural: 'QR codes',
		pastParticiple: 'created',
		whenUnknown: {
			warning: undefined,
			advice: () => 'A second QR code does no harm unless both are paid, so run this item again.',
			reminder: undefined,
		},
	},
	isMoneyOut: false,
	agentPermission: 'not needed',
	resource: 'qrCode',
	option: {
		name: 'Create',
		value: 'create',
		action: 'Create QR code',
		description: 'Create a QR code that a customer pays (cash-in)',
	},
	batchSize: 50,
	fields: [
		amountField,
		externalIdField,
		descriptionField,
		imageField,
		binaryPropertyField,
		...postbackFields,
		payerField,
		...splitFields,
	],
	ownOptions: [],
	meanings: {
		amount: 'amount',
		external_id: 'control',
		payerQuestion: 'text',
		postbackUrl: 'control',
		'payer.name': 'identity',
		'payer.document': 'identity',
		'payer.email': 'identity',
		'split[].username': 'recipient',
		'split[].percentageSplit': 'identity',
	},
	neverEmpty: [],
	readBody: (read) => ({
		amount: readAmountOfItem(read),
		external_id: readExternalId(read('external_id'), OWN_ID),
		payerQuestion: readText(read('payerQuestion'), descriptionField),
		payer: readMembers(read('payer'), payerField, [
			{ field: payerNameField, read: readText },
			{ field: payerDocumentField, read: readCellText },
			{ field: payerEmailField, read: readText },
		]),
		split: readSplit(read),
	}),
	readExtras: (read, _body, { qrCodePath }) => ({
		finish: finishWith(readImageField(read), qrCodePath),
	}),
});
