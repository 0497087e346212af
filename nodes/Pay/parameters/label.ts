import { InputError } from '../inputError';

/** What the form calls the members that a request can have; a test compares them with the form. */
export const LABELS: Readonly<Record<string, string>> = {
	amount: 'Amount',
	authentication: 'Authentication',
	external_id: 'External ID',
	payerQuestion: 'Description',
	creditParty: 'Recipient',
	key: 'Key',
	keyType: 'Key Type',
	document: 'Document',
	name: 'Name',
	email: 'Email',
	payer: 'Payer',
	specifySplit: 'Split',
	split: 'Split Recipients',
	splitJson: 'Split (JSON)',
	options: 'Options',
	batching: 'Batching',
	username: 'Username',
	percentageSplit: 'Percentage',
	matchField: 'Field',
	limitWaitTime: 'Limit Wait Time',
	resumeAmount: 'Wait at Most',
	resumeUnit: 'Wait at Most (Unit)',
	startWhen: 'Start',
	resumeWhen: 'Resume',
	additionalMembers: 'Additional Members',
	postbackUrl: 'Postback URL',
	binaryPropertyName: 'Output Binary Field',
	batchSize: 'Items per Batch',
	batchInterval: 'Batch Interval',
	timeout: 'Timeout',
	decimalSign: 'Decimal Sign',
	allowNoKey: 'Allow Payments Without a Key',
	respond: 'Respond',
	responseCode: 'Response Code',
	postback: 'Postback',
	postbackSecret: 'Postback Secret',
	previousPostbackSecret: 'Previous Postback Secret',
	limitPayments: 'Limit Payments',
	highestPayment: 'Highest Payment',
	highestSum: 'Highest Sum per Execution',
	onlyRecipients: 'Only Recipients',
};

/** A field as an error calls it: the form's label, and the API's own name once. */
export function labelOf(field: string): string {
	const [, member = ''] = /(\w+)(?:\[\d+\])?$/.exec(field) ?? [];
	const label = LABELS[member];
	if (label === undefined) return field;
	// "Amount (amount)" would say one thing twice.
	return label.toLowerCase() === field ? label : `${label} (${field})`;
}

/** An {@link InputError} that begins with what the form calls the field. */
export const wrongField = (field: string, what: string, advice: string) =>
	new InputError(field, `${labelOf(field)} ${what}`, advice);

/** An {@link InputError} about a field of the credential. */
export const wrongInCredential = (field: string, label: string, what: string, advice: string) =>
	new InputError(field, `${label} of the Pay API credential ${what}`, advice);
