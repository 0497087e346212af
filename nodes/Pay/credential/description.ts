import type { ComparedFields, StatusWords } from '../service/postbackState';
import {
	inBoth,
	isUnset,
	readFieldMatch,
	readPaths,
	readValues,
} from '../parameters/fieldAndValues';
import { parseSwitch } from '../parameters/parameter';
import type { ResponseWords } from '../service/judgement';
import { credentialField, fieldInCredential, wrongInCredential } from './wrongField';

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

/** Reads the paths of a field, "" where nothing was entered. Throws an InputError. */
function readPathsOf(fields: DescriptionFields, name: FieldName): string {
	return readPaths(fields[name], fieldInCredential(name));
}

/** Refuses a word that stands in both lists: it would mean yes and no. Throws an InputError. */
function refuseWordInBoth(yesWords: string[], noWords: string[], { yes, no }: WordFields): void {
	const word = inBoth(yesWords, noWords);
	if (word === undefined) return;
	throw wrongInCredential(
		no,
		`have ${JSON.stringify(word)}, and the ${credentialField(yes).displayName} have it too`,
		'Remove it from one of them: upper and lower case do not count.',
	);
}

/** Reads a field and its words; undefined where neither was entered. Throws an InputError. */
function readWords(
	fields: DescriptionFields,
	names: WordFields,
): { field: string; yes: string[]; no: string[] } | undefined {
	const paths = fields[names.field];
	const words = enteredWords(fields, names);
	if (isUnset(paths, words)) return undefined;
	const { field } = readFieldMatch(paths, words, fieldInCredential(names.field));
	const yes = readValues(fields[names.yes], fieldInCredential(names.yes));
	const no = readValues(fields[names.no], fieldInCredential(names.no));
	refuseWordInBoth(yes, no, names);
	return { field, yes, no };
}

/** Reads the fields that are compared; undefined where there are none. Throws an InputError. */
function readCompared(fields: DescriptionFields): ComparedFields | undefined {
	const amount = readPathsOf(fields, 'amountField');
	const id = readPathsOf(fields, 'idField');
	if (amount === '' && id === '') return undefined;
	if (isUnset(fields.statusField, enteredWords(fields, STATUS))) {
		throw wrongInCredential(
			amount === '' ? 'idField' : 'amountField',
			'is there without a Status Field',
			'Enter the Status Field and the Paid Values too, or empty it: it does not say by itself what was paid.',
		);
	}
	return { amount: amount || undefined, id: id || undefined };
}

function readStatusWords(fields: DescriptionFields): StatusWords | undefined {
	const compared = readCompared(fields);
	const words = readWords(fields, STATUS);
	if (words === undefined) return undefined;
	const status: StatusWords = {
		field: words.field,
		paid: words.yes,
		failed: words.no,
	};
	if (compared !== undefined) status.compared = compared;
	return status;
}

function readResponseWords(fields: DescriptionFields): ResponseWords | undefined {
	const words = readWords(fields, RESULT);
	if (words === undefined) return undefined;
	return {
		field: words.field,
		accepted: words.yes,
		rejected: words.no,
	};
}

/** Reads what a credential says of its service; throws an InputError. */
export function readDescription(
	fields: DescriptionFields & { readonly describeService?: unknown },
): ServiceDescription {
	const { describeService = false } = fields;
	if (!parseSwitch(describeService, fieldInCredential('describeService'))) return {};
	return {
		responseWords: readResponseWords(fields),
		qrCodePath: readPathsOf(fields, 'qrCodePath') || undefined,
		statusWords: readStatusWords(fields),
	};
}
