import { isUnset, mismatchOf, readFieldMatch, type FieldMatch } from './fieldMatch';
import { wrongInCredential } from './label';
import { optionalText } from './text';

/** Where a postback says what became of a charge or payment, and the service's words for it. */
export interface StatusValues {
	field: string;
	paid: string[];
	failed: string[];
}

/** What the service says, as the credential describes it; the document shows none of it. */
export interface ServiceDescription {
	/** What confirms an acceptance; without it each 2xx does. */
	acceptance?: FieldMatch;
	/** Where a response holds the QR code's text, if that is not known by its own form. */
	qrCodePath?: string;
	status?: StatusValues;
}

function readStatus(fields: Readonly<Record<string, unknown>>): StatusValues | undefined {
	const { statusField, paidValues, failedValues } = fields;
	const all = [paidValues, failedValues].flat();
	if (isUnset(statusField, all)) return undefined;
	const refusal = (what: string, advice: string) =>
		wrongInCredential('statusField', 'The Status Field', what, advice);
	const { field } = readFieldMatch(statusField, all, refusal);
	const wordsOf = (values: unknown) =>
		isUnset('', values) ? [] : readFieldMatch(field, values, refusal).values;
	const paid = wordsOf(paidValues);
	const failed = wordsOf(failedValues);
	const isFailed = (word: string) => mismatchOf({ field, values: failed }, { [field]: word });
	const both = paid.find((word) => isFailed(word) === undefined);
	if (both === undefined) return { field, paid, failed };
	throw wrongInCredential(
		'failedValues',
		'The Failed Values',
		`have ${JSON.stringify(both)}, and the Paid Values have it too`,
		'Remove it from one of them: upper and lower case do not count.',
	);
}

function readAcceptance(field: unknown, values: unknown): FieldMatch | undefined {
	if (isUnset(field, values)) return undefined;
	return readFieldMatch(field, values, (what, advice) =>
		wrongInCredential('acceptedField', 'The Accepted When Field', what, advice),
	);
}

/** Reads what a credential says of its service; throws an InputError. */
export function readDescription(fields: Readonly<Record<string, unknown>>): ServiceDescription {
	const { describeService = false, acceptedField, acceptedValues, qrCodePath } = fields;
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
		acceptance: readAcceptance(acceptedField, acceptedValues),
		qrCodePath: optionalText(qrCodePath, 'qrCodePath')?.trim(),
		status: readStatus(fields),
	};
}

/** What a postback says became of its charge or payment, in the words of the account. */
export function stateOf({ field, paid, failed }: StatusValues, ...sources: unknown[]) {
	const says = (values: string[]) => mismatchOf({ field, values }, ...sources) === undefined;
	if (says(paid)) return 'paid';
	return says(failed) ? 'failed' : 'other';
}
