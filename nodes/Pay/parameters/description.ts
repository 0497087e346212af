import {
	firstValue,
	inBoth,
	isUnset,
	mismatchOf,
	missing,
	readFieldMatch,
	readPaths,
	readValues,
	type FieldMatch,
} from './fieldMatch';
import { wrongInCredential } from './label';
import { inOneForm } from './text';

/** Where a postback says what became of a charge or payment, and the service's words for it. */
export interface StatusWords {
	/** As `FieldMatch` has it. */
	field: string;
	paid: string[];
	failed: string[];
	/** What else it must say, to be about what its URL proves. */
	compared?: ComparedFields;
}

/** Where a postback repeats what it is about, as `FieldMatch` has a field; absent where it does not. */
export interface ComparedFields {
	amount?: string;
	id?: string;
}

/** What a response says became of its request. */
export interface ResponseWords {
	/** As `FieldMatch` has it. */
	field: string;
	/** Words of an acceptance; without any, each 2xx is one that says nothing else. */
	accepted: string[];
	/** Words that mean that the request was certainly not carried out. */
	rejected: string[];
}

/** What the service says, as the credential describes it; the document shows none of it. */
export interface ServiceDescription {
	responseWords?: ResponseWords;
	/** Where a response holds the QR code's text, if that is not known by its own form: paths, one a line. */
	qrCodePath?: string;
	statusWords?: StatusWords;
}

const FIELDS = {
	resultField: 'The Result Field',
	acceptedValues: 'The Accepted Values',
	rejectedValues: 'The Rejected Values',
	qrCodePath: 'The QR Code Path',
	statusField: 'The Status Field',
	paidValues: 'The Paid Values',
	failedValues: 'The Failed Values',
	amountField: 'The Amount Field',
	idField: 'The External ID Field',
};

type FieldName = keyof typeof FIELDS;
type DescriptionFields = Readonly<Partial<Record<FieldName, unknown>>>;

const wrong = (name: FieldName) => (what: string, advice: string) =>
	wrongInCredential(name, FIELDS[name], what, advice);

/** Reads a field and two lists of words for it; undefined where nothing was entered. InputError. */
function readWords(fields: DescriptionFields, field: FieldName, one: FieldName, other: FieldName) {
	const all = [fields[one], fields[other]].flat();
	if (isUnset(fields[field], all)) return undefined;
	const match = readFieldMatch(fields[field], all, wrong(field));
	const ofOne = readValues(fields[one], wrong(one));
	const ofOther = readValues(fields[other], wrong(other));
	const both = inBoth(ofOne, ofOther);
	if (both === undefined) return { field: match.field, words: [ofOne, ofOther] as const };
	throw wrong(other)(
		`have ${JSON.stringify(both)}, and ${FIELDS[one].replace('The', 'the')} have it too`,
		'Remove it from one of them: upper and lower case do not count.',
	);
}

/** Reads the fields that are compared; undefined where there are none. Throws an InputError. */
function readCompared(fields: DescriptionFields): ComparedFields | undefined {
	const amount = readPaths(fields.amountField, wrong('amountField'));
	const id = readPaths(fields.idField, wrong('idField'));
	if (amount === '' && id === '') return undefined;
	if (isUnset(fields.statusField, [fields.paidValues, fields.failedValues].flat())) {
		throw wrong(amount === '' ? 'idField' : 'amountField')(
			'is there without a Status Field',
			'Enter the Status Field and the Paid Values too: it does not say by itself what was paid.',
		);
	}
	return { amount: amount || undefined, id: id || undefined };
}

function readStatusWords(fields: DescriptionFields): StatusWords | undefined {
	const compared = readCompared(fields);
	const found = readWords(fields, 'statusField', 'paidValues', 'failedValues');
	if (found === undefined) return undefined;
	const [paid, failed] = found.words;
	const status: StatusWords = { field: found.field, paid, failed };
	return compared === undefined ? status : { ...status, compared };
}

function readResponseWords(fields: DescriptionFields): ResponseWords | undefined {
	const found = readWords(fields, 'resultField', 'acceptedValues', 'rejectedValues');
	if (found === undefined) return undefined;
	const [accepted, rejected] = found.words;
	return { field: found.field, accepted, rejected };
}

/** Reads what a credential says of its service; throws an InputError. */
export function readDescription(
	fields: DescriptionFields & { readonly describeService?: unknown },
): ServiceDescription {
	const { describeService = false, qrCodePath } = fields;
	if (describeService === false) return {};
	if (describeService !== true) {
		throw wrongInCredential(
			'describeService',
			'The switch Describe the Service',
			'must be true or false',
			'Turn it on or off.',
		);
	}
	return {
		responseWords: readResponseWords(fields),
		qrCodePath: readPaths(qrCodePath, wrong('qrCodePath')) || undefined,
		statusWords: readStatusWords(fields),
	};
}

/** What a postback says became of its charge or payment. */
export type State = 'paid' | 'failed' | 'otherAmount' | 'other';

const DECIMAL = /^[+-]?\d+(\.\d+)?$/;

/** Whether a value of a service can be compared with an amount. */
export const isAmount = (value: unknown) =>
	typeof value === 'number' || (typeof value === 'string' && DECIMAL.test(value.trim()));

/** Whether a value says the same amount as another, compared as numbers: "10.5" is 10.50. */
export function isSameAmount(value: unknown, amount: number): boolean {
	return isAmount(value) && Number(value) === amount;
}

/** What a verified postback is about; null where nothing says it. An operation may have no amount. */
type Proven = { external_id: string; amount?: number } | null;

/** Why a postback is not about the reference of its URL, in words for a log. */
export function otherIdIn(field: string | undefined, proven: Proven, sources: unknown[]) {
	if (field === undefined) return undefined;
	if (proven === null)
		return 'nothing proves what was asked for, so no External ID can be compared';
	const found = firstValue(field, sources);
	if (found === undefined) return missing(field, sources);
	const isText = typeof found.value === 'string' || typeof found.value === 'number';
	if (isText && inOneForm(String(found.value)) === proven.external_id) return undefined;
	return `the field ${JSON.stringify(found.path)} names another charge or payment`;
}

/** Why a postback does not say that the amount of its reference was paid, in words for a log. */
export function otherAmountIn(field: string | undefined, proven: Proven, sources: unknown[]) {
	if (field === undefined) return undefined;
	if (proven === null) return 'nothing proves what was asked for, so no amount can be compared';
	if (proven.amount === undefined) return undefined;
	const found = firstValue(field, sources);
	if (found === undefined) return missing(field, sources);
	if (isSameAmount(found.value, proven.amount)) return undefined;
	return `the field ${JSON.stringify(found.path)} has another amount than the charge or payment`;
}

/**
 * What a postback says, in the words of the account.
 * @param proven its reference
 */
export function stateOf(
	{ field, paid, failed, compared = {} }: StatusWords,
	proven: Proven,
	...sources: unknown[]
): State {
	const says = (values: FieldMatch['values']) =>
		mismatchOf({ field, values }, ...sources) === undefined;
	if (otherIdIn(compared.id, proven, sources) !== undefined) return 'other';
	if (says(failed)) return 'failed';
	if (!says(paid)) return 'other';
	return otherAmountIn(compared.amount, proven, sources) === undefined ? 'paid' : 'otherAmount';
}
