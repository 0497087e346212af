import type { ComparedFields, ResponseWords, StatusWords } from '../parameters/description';
import { inBoth, isUnset, readFieldMatch, readPaths, readValues } from '../parameters/fieldMatch';
import { credentialField, wrongInCredential } from './wrongField';

/** What the service says, as the credential describes it; the document shows none of it. */
export interface ServiceDescription {
	responseWords?: ResponseWords;
	/** Where a response holds the QR code's text, if that is not known by its own form: paths, one a line. */
	qrCodePath?: string;
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
	| 'amountField'
	| 'idField';
type DescriptionFields = Readonly<Partial<Record<FieldName, unknown>>>;

/** Reads the paths of a field, "" where nothing was entered. Throws an InputError. */
function readPathsOf(fields: DescriptionFields, name: FieldName): string {
	return readPaths(fields[name], (what, advice) => wrongInCredential(name, what, advice));
}

/** Reads the words of a field. Throws an InputError. */
function readWordsOf(fields: DescriptionFields, name: FieldName): string[] {
	return readValues(fields[name], (what, advice) => wrongInCredential(name, what, advice));
}

/** Refuses a word that stands in two fields: it would mean yes and no. Throws an InputError. */
function refuseWordInBoth(fields: DescriptionFields, one: FieldName, other: FieldName): void {
	const word = inBoth(readWordsOf(fields, one), readWordsOf(fields, other));
	if (word === undefined) return;
	throw wrongInCredential(
		other,
		`have ${JSON.stringify(word)}, and the ${credentialField(one).displayName} have it too`,
		'Remove it from one of them: upper and lower case do not count.',
	);
}

/**
 * Reads the field that two lists of words are for; undefined where neither field nor words were
 * entered. Throws an InputError.
 */
function readFieldOfWords(
	fields: DescriptionFields,
	name: FieldName,
	one: FieldName,
	other: FieldName,
): string | undefined {
	const entered = fields[name];
	const words = [fields[one], fields[other]].flat();
	if (isUnset(entered, words)) return undefined;
	const { field } = readFieldMatch(entered, words, (what, advice) =>
		wrongInCredential(name, what, advice),
	);
	refuseWordInBoth(fields, one, other);
	return field;
}

/** Reads the fields that are compared; undefined where there are none. Throws an InputError. */
function readCompared(fields: DescriptionFields): ComparedFields | undefined {
	const amount = readPathsOf(fields, 'amountField');
	const id = readPathsOf(fields, 'idField');
	if (amount === '' && id === '') return undefined;
	if (isUnset(fields.statusField, [fields.paidValues, fields.failedValues].flat())) {
		throw wrongInCredential(
			amount === '' ? 'idField' : 'amountField',
			'is there without a Status Field',
			'Enter the Status Field and the Paid Values too: it does not say by itself what was paid.',
		);
	}
	return { amount: amount || undefined, id: id || undefined };
}

function readStatusWords(fields: DescriptionFields): StatusWords | undefined {
	const compared = readCompared(fields);
	const field = readFieldOfWords(fields, 'statusField', 'paidValues', 'failedValues');
	if (field === undefined) return undefined;
	const status: StatusWords = {
		field,
		paid: readWordsOf(fields, 'paidValues'),
		failed: readWordsOf(fields, 'failedValues'),
	};
	if (compared !== undefined) status.compared = compared;
	return status;
}

function readResponseWords(fields: DescriptionFields): ResponseWords | undefined {
	const field = readFieldOfWords(fields, 'resultField', 'acceptedValues', 'rejectedValues');
	if (field === undefined) return undefined;
	return {
		field,
		accepted: readWordsOf(fields, 'acceptedValues'),
		rejected: readWordsOf(fields, 'rejectedValues'),
	};
}

/** Reads what a credential says of its service; throws an InputError. */
export function readDescription(
	fields: DescriptionFields & { readonly describeService?: unknown },
): ServiceDescription {
	const { describeService = false } = fields;
	if (describeService === false) return {};
	if (describeService !== true) {
		throw wrongInCredential('describeService', 'must be true or false', 'Turn it on or off.');
	}
	return {
		responseWords: readResponseWords(fields),
		qrCodePath: readPathsOf(fields, 'qrCodePath') || undefined,
		statusWords: readStatusWords(fields),
	};
}
