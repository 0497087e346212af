import { readSwitch } from '../fields/expressions';
import {
	inBoth,
	isUnset,
	type PathRules,
	readFieldMatch,
	readPaths,
	readRequiredValues,
	readValues,
	refuseOneEntry,
} from '../fields/paths';
import { AMOUNT_UNITS } from '../service/amounts';
import type { ResponseWords } from '../service/client';
import { ANYTHING, listsOf, type Paths } from '../service/paths';
import { fieldsInWords, pathsOfEntries, type StatusWords } from '../service/state';
import { credentialField, fieldInCredential, readChosen, wrongInCredential } from './label';

/** What the service says, as the credential describes it; the document shows none of it. */
export interface ServiceDescription {
	responseWords?: ResponseWords;
	/** Where a response holds the QR code's text, if that is not known by its own form. */
	qrCodePath?: Paths;
	statusWords?: StatusWords;
}

type FieldName =
	| 'resultField'
	| 'acceptedValues'
	| 'rejectedValues'
	| 'qrCodePath'
	| 'statusField'
	| 'paidValues'
	| 'failedValues'
	| 'requiredValues'
	| 'refundField'
	| 'refundedValues'
	| 'amountField'
	| 'amountUnit'
	| 'idField';
type DescriptionFields = Readonly<Partial<Record<FieldName, unknown>>>;

/** The fields that belong together: where something is said, and the words for yes and for no. */
interface WordFields {
	field: FieldName;
	yes: FieldName;
	no: FieldName;
}

const RESULT: WordFields = {
	field: 'resultField',
	yes: 'acceptedValues',
	no: 'rejectedValues',
};

const STATUS: WordFields = {
	field: 'statusField',
	yes: 'paidValues',
	no: 'failedValues',
};

/** The words of both lists, as they were entered. */
const enteredWords = (fields: DescriptionFields, { yes, no }: WordFields) =>
	[fields[yes], fields[no]].flat();

/** Reads the paths of a field, undefined where nothing was entered. */
function readField(
	fields: DescriptionFields,
	name: FieldName,
	rules?: PathRules,
): Paths | undefined {
	const paths = readPaths(fields[name], fieldInCredential(name), rules);
	return paths.length === 0 ? undefined : paths;
}

const readFieldOfPostback = (fields: DescriptionFields, name: FieldName) =>
	readField(fields, name, { mayHaveLists: true, mayHaveListsInside: name === 'refundField' });

/** Refuses a word that stands in both lists: it would mean yes and no. */
function refuseWordInBoth(yesWords: string[], noWords: string[], { yes, no }: WordFields): void {
	const word = inBoth(yesWords, noWords);
	if (word === undefined) return;
	throw wrongInCredential(
		no,
		`contain ${JSON.stringify(word)}, and so do the ${credentialField(yes).displayName}`,
		'Remove it from one of them. Upper and lower case count as the same.',
	);
}

/** Refuses values that mean too much where they say no. */
function refuseAnything(values: string[], name: FieldName): void {
	if (!values.includes(ANYTHING)) return;
	throw wrongInCredential(
		name,
		`cannot contain ${ANYTHING}, which means anything that is not empty`,
		'Enter the words of the service, one per line.',
	);
}

/** Reads a field and its words; undefined where neither was entered. */
function readWords(
	fields: DescriptionFields,
	names: WordFields,
	rules?: PathRules,
): { field: Paths; yes: string[]; no: string[] } | undefined {
	const paths = fields[names.field];
	const words = enteredWords(fields, names);
	if (isUnset(paths, words)) return undefined;
	const { field } = readFieldMatch(paths, words, fieldInCredential(names.field), rules);
	const yes = readValues(fields[names.yes], fieldInCredential(names.yes));
	const no = readValues(fields[names.no], fieldInCredential(names.no));
	refuseWordInBoth(yes, no, names);
	return { field, yes, no };
}

const readRequired = (fields: DescriptionFields) =>
	readRequiredValues(fields.requiredValues, fieldInCredential('requiredValues'));

/** Refuses a path of which nothing says which entry of a list it is about. */
function refuseOtherLists(status: StatusWords): void {
	const lists = listsOf(pathsOfEntries(status));
	for (const [name, field] of Object.entries(fieldsInWords(status))) {
		refuseOneEntry(field, lists, fieldInCredential(name));
	}
	for (const { path } of status.required ?? []) {
		const [list] = listsOf([path]);
		if (list === undefined || lists.includes(list)) continue;
		throw wrongInCredential(
			'requiredValues',
			`cannot contain ${JSON.stringify(path)}, which goes through a different list than the Status, Amount and External ID Fields`,
			'Name a field of the list that they go through, or one beside it.',
		);
	}
}

/** Reads the words that say that money went back, undefined where anything does. */
function readRefunded(fields: DescriptionFields): string[] | undefined {
	const words = readValues(fields.refundedValues, fieldInCredential('refundedValues'));
	return words.every((word) => word === ANYTHING) ? undefined : words;
}

/** Refuses words for a refund that no field could have. */
function refuseWithoutRefundField(fields: DescriptionFields): void {
	if (readRefunded(fields) === undefined) return;
	throw wrongInCredential(
		'refundedValues',
		'cannot be used without a Refund Field',
		`Enter the Refund Field too, or make ${ANYTHING} the only value again.`,
	);
}

/** The fields of a postback that say nothing without its status. */
const BESIDE_STATUS = ['refundField', 'amountField', 'idField'] as const;

/** Refuses a field that says by itself nothing of what was paid. */
function refuseWithoutStatus(fields: DescriptionFields): void {
	let name: FieldName | undefined = BESIDE_STATUS.find((field) => {
		return readFieldOfPostback(fields, field) !== undefined;
	});
	if (readRequired(fields).length > 0) name = 'requiredValues';
	if (name === undefined) return;
	throw wrongInCredential(
		name,
		'cannot be used without a Status Field',
		'Enter the Status Field and the Paid Values too, or clear this field, because by itself it does not say what was paid.',
	);
}

function readStatusWords(fields: DescriptionFields): StatusWords | undefined {
	const words = readWords(fields, STATUS, { mayHaveLists: true });
	const refundField = readFieldOfPostback(fields, 'refundField');
	if (refundField === undefined) refuseWithoutRefundField(fields);
	if (words === undefined) {
		refuseWithoutStatus(fields);
		return undefined;
	}
	const status: StatusWords = {
		field: words.field,
		paid: words.yes,
		failed: words.no,
	};
	const refunded = readRefunded(fields);
	const amountField = readFieldOfPostback(fields, 'amountField');
	const idField = readFieldOfPostback(fields, 'idField');
	if (refundField !== undefined) status.refundField = refundField;
	if (refunded !== undefined) status.refunded = refunded;
	if (amountField !== undefined) {
		status.amountField = amountField;
		status.amountUnit = readChosen(fields, 'amountUnit', AMOUNT_UNITS);
	}
	if (idField !== undefined) status.idField = idField;
	const required = readRequired(fields);
	if (required.length > 0) status.required = required;
	refuseOtherLists(status);
	return status;
}

function readResponseWords(fields: DescriptionFields): ResponseWords | undefined {
	const words = readWords(fields, RESULT);
	if (words === undefined) return undefined;
	refuseAnything(words.yes, 'acceptedValues');
	refuseAnything(words.no, 'rejectedValues');
	return {
		field: words.field,
		accepted: words.yes,
		rejected: words.no,
	};
}

export function readDescription(
	fields: DescriptionFields & { readonly describeService?: unknown },
): ServiceDescription {
	const { describeService = false } = fields;
	if (!readSwitch(describeService, fieldInCredential('describeService'))) return {};
	return {
		responseWords: readResponseWords(fields),
		qrCodePath: readField(fields, 'qrCodePath'),
		statusWords: readStatusWords(fields),
	};
}
