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

/** Where a postback says what became of a charge or payment, and the service's words for it. */
export interface StatusValues {
	/** As `FieldMatch` has it. */
	field: string;
	paid: string[];
	failed: string[];
	/** Where it says how much was paid, as `FieldMatch` has a field; absent where it is not compared. */
	amountField?: string;
}

/** What a response says became of its request. */
export interface ResultValues {
	/** As `FieldMatch` has it. */
	field: string;
	/** Words of an acceptance; without any, each 2xx is one that says nothing else. */
	accepted: string[];
	/** Words that mean that the request was certainly not carried out. */
	rejected: string[];
}

/** What the service says, as the credential describes it; the document shows none of it. */
export interface ServiceDescription {
	result?: ResultValues;
	/** Where a response holds the QR code's text, if that is not known by its own form: paths, one a line. */
	qrCodePath?: string;
	status?: StatusValues;
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

function readStatus(fields: DescriptionFields): StatusValues | undefined {
	const amountField = readPaths(fields.amountField, wrong('amountField'));
	const found = readWords(fields, 'statusField', 'paidValues', 'failedValues');
	if (found === undefined) {
		if (amountField === '') return undefined;
		throw wrong('amountField')(
			'is there without a Status Field',
			'Enter the Status Field and the Paid Values too: an amount alone does not say that it was paid.',
		);
	}
	const [paid, failed] = found.words;
	const status: StatusValues = { field: found.field, paid, failed };
	if (amountField !== '') status.amountField = amountField;
	return status;
}

function readResult(fields: DescriptionFields): ResultValues | undefined {
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
		result: readResult(fields),
		qrCodePath: readPaths(qrCodePath, wrong('qrCodePath')) || undefined,
		status: readStatus(fields),
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
type Proven = { amount?: number } | null;

/** Why a postback does not say that the amount of its reference was paid, in words for a log. */
export function amountMismatchOf(field: string, proven: Proven, sources: unknown[]) {
	if (proven === null) return 'nothing proves which amount was asked for, so none can be compared';
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
	{ field, paid, failed, amountField }: StatusValues,
	proven: Proven,
	...sources: unknown[]
): State {
	const says = (values: FieldMatch['values']) =>
		mismatchOf({ field, values }, ...sources) === undefined;
	if (says(failed)) return 'failed';
	if (!says(paid)) return 'other';
	if (amountField === undefined) return 'paid';
	return amountMismatchOf(amountField, proven, sources) === undefined ? 'paid' : 'otherAmount';
}
