import type { INodeProperties } from 'n8n-workflow';
import { Pay } from '../../nodes/Pay/Pay.node';
import { PayTrigger } from '../../nodes/Pay/PayTrigger.node';
import { PayApi } from '../../credentials/PayApi.credentials';
import { readDescription } from '../../nodes/Pay/credential/description';
import { readAccount } from '../../nodes/Pay/credential/connection';
import { readLimits } from '../../nodes/Pay/credential/limits';
import { readSignatureRule } from '../../nodes/Pay/credential/signature';
import { InputError } from '../../nodes/Pay/inputError';
import {
	readCondition,
	startCondition,
	resumeCondition,
} from '../../nodes/Pay/parameters/condition';
import { fieldAt, labelOf } from '../../nodes/Pay/parameters/label';
import { readAuthentication, refuseWrongResponse } from '../../nodes/Pay/parameters/trigger';
import { readWaitLimit } from '../../nodes/Pay/parameters/waitLimit';
import { refusalOf } from '../refusal';
import { OPERATIONS, REGISTERED } from '../serviceOperations';

const { properties: payForm } = new Pay().description;
const payForms = [...REGISTERED.map(({ description }) => description), payForm];
const { properties: triggerForm } = new PayTrigger().description;
const { properties: credentialForm } = new PayApi();

/** Parameters that are right; a row makes one of them wrong. */
const PAYMENT = { amount: 1, external_id: 'a', creditParty: { key: 'k' }, options: {} };
const QR_CODE = { amount: 1, external_id: 'a', payer: {}, options: {} };
const ACCOUNT = {
	baseUrl: 'https://api.example.com',
	authentication: 'accessToken',
	accessToken: 'token',
};
const CLIENT = {
	...ACCOUNT,
	authentication: 'clientCredentials',
	tokenUrl: 'https://api.example.com/token',
	clientId: 'id',
	clientSecret: 'secret',
};

const ofPayment = (wrong: object) => () =>
	OPERATIONS.payment.readPlan(
		(name) => ({ ...PAYMENT, ...wrong })[name as 'amount'],
		readAccount(ACCOUNT),
	);
const ofQrCode = (wrong: object) => () =>
	OPERATIONS.qrCode.readPlan(
		(name) => ({ ...QR_CODE, ...wrong })[name as 'amount'],
		readAccount(ACCOUNT),
	);
const ofTrigger = (wrong: Record<string, unknown>) => () =>
	readCondition((name) => wrong[name], startCondition);
const ofWait = (wrong: Record<string, unknown>) => () =>
	readCondition((name) => wrong[name], resumeCondition);
const ofLimit = (wrong: Record<string, unknown>) => () => readWaitLimit((name) => wrong[name]);
const ofAccount = (wrong: object) => () => readAccount({ ...ACCOUNT, ...wrong });
const ofClient = (wrong: object) => () => readAccount({ ...CLIENT, ...wrong });

/** What reads each field that may be wrong, with a value that is. */
type Wrong = readonly [path: string, read: () => unknown];

/** That an error begins with what the forms call the field at a path, and its name in the API once. */
function beginsWithLabel(forms: INodeProperties[][], [path, read]: Wrong): void {
	const error = refusalOf(read);
	expect([path, error?.field]).toStrictEqual([path, path.replace(/^options\./, '')]);
	// Each operation has Options of its own, and only one of them may have the field.
	const displayNames = forms.map((form) => fieldAt(form, path).displayName);
	const displayName = displayNames.find((each) => each !== path) ?? path;
	expect(displayName).not.toBe(path);
	const label = labelOf({ name: error!.field, displayName });
	expect(error!.message.slice(0, label.length + 1)).toBe(`${label} `);
}

const OF_PAY: Wrong[] = [
	['amount', ofPayment({ amount: '' })],
	['external_id', ofPayment({ external_id: '' })],
	['payerQuestion', ofPayment({ payerQuestion: {} })],
	['creditParty', ofPayment({ creditParty: 'k' })],
	['creditParty.key', ofPayment({ creditParty: { key: null } })],
	['creditParty.keyType', ofPayment({ creditParty: { key: 'k', keyType: null } })],
	['creditParty.document', ofPayment({ creditParty: { key: 'k', document: null } })],
	['creditParty.name', ofPayment({ creditParty: { key: 'k', name: null } })],
	['options.additionalMembers', ofPayment({ options: { additionalMembers: '[]' } })],
	['options.decimalSign', ofPayment({ options: { decimalSign: 'x' } })],
	['payer', ofQrCode({ payer: 'a' })],
	['payer.email', ofQrCode({ payer: { email: null } })],
	['binaryPropertyName', ofQrCode({ qrCodeImage: true, binaryPropertyName: '' })],
	['specifySplit', ofQrCode({ specifySplit: 'x' })],
	['split', ofQrCode({ specifySplit: 'fields', split: {} })],
	['splitJson', ofQrCode({ specifySplit: 'json', splitJson: '[' })],
	['resumeWhen', ofWait({ resumeWhen: 'x' })],
	['matchField', ofWait({ resumeWhen: 'match' })],
	['limitWaitTime', ofLimit({ limitWaitTime: 'x' })],
	['resumeAmount', ofLimit({ limitWaitTime: true, resumeAmount: 'x' })],
	['resumeUnit', ofLimit({ limitWaitTime: true, resumeAmount: 1, resumeUnit: 'x' })],
];

const OF_TRIGGER: Wrong[] = [
	['authentication', () => readAuthentication('none', 'x')],
	['startWhen', ofTrigger({ startWhen: 'x' })],
	['matchField', ofTrigger({ startWhen: 'match' })],
	['options.respond', () => refuseWrongResponse({ respond: 'x' })],
	['options.responseCode', () => refuseWrongResponse({ responseCode: 404 })],
];

test.each(OF_PAY)('an error of the Pay node calls %s as its form does', (...wrong) => {
	beginsWithLabel(payForms, wrong);
});

test.each(OF_TRIGGER)('an error of the trigger calls %s as its form does', (...wrong) => {
	beginsWithLabel([triggerForm], wrong);
});

const described = (wrong: object) => () => readDescription({ describeService: true, ...wrong });
const signed = (wrong: object) => () => readSignatureRule({ verifySignature: true, ...wrong });
const WITH_SECRET = { signatureSecret: 'secret', signatureHeader: 'X-Signature' };

test.each<[name: string, read: () => unknown]>([
	['baseUrl', ofAccount({ baseUrl: '' })],
	['authentication', ofAccount({ authentication: 'x' })],
	['accessToken', ofAccount({ accessToken: '' })],
	['tokenUrl', ofClient({ tokenUrl: '' })],
	['clientId', ofClient({ clientId: '' })],
	['clientSecret', ofClient({ clientSecret: '' })],
	['clientAuthentication', ofClient({ clientAuthentication: 'x' })],
	['scope', ofClient({ scope: null })],
	['postbackSecret', ofAccount({ postbackSecret: 'short' })],
	['previousPostbackSecret', ofAccount({ previousPostbackSecret: 'short' })],
	['schemeName', ofAccount({ describeService: true, schemeName: 'a/b' })],
	['externalIdHeader', ofAccount({ describeService: true, externalIdHeader: 'a b' })],
	['describeService', () => readDescription({ describeService: 'x' })],
	['statusField', described({ statusField: 7 })],
	['failedValues', described({ statusField: 'a', paidValues: 'x', failedValues: 'x' })],
	['amountField', described({ amountField: 'a' })],
	['idField', described({ idField: 'a' })],
	['resultField', described({ resultField: 7 })],
	['rejectedValues', described({ resultField: 'a', acceptedValues: 'x', rejectedValues: 'x' })],
	['qrCodePath', described({ qrCodePath: 'a,b' })],
	['verifySignature', () => readSignatureRule({ verifySignature: 'x' })],
	['signatureSecret', signed({})],
	['signatureHeader', signed({ signatureSecret: 'secret' })],
	['signatureAlgorithm', signed({ ...WITH_SECRET, signatureAlgorithm: 'x' })],
	['signedContent', signed({ ...WITH_SECRET, signedContent: 'x' })],
	['timestampHeader', signed({ ...WITH_SECRET, signedContent: 'timestampAndBody' })],
])('an error of the credential calls %s as its form does', (name, read) => {
	const { displayName } = credentialForm.find((field) => field.name === name)!;
	const error = refusalOf(read);
	expect(error).toMatchObject({ field: name });
	expect(error?.message).toContain(`${displayName} of the Pay API credential `);
});

test.each(['limitPayments', 'highestPayment', 'highestSum', 'onlyRecipients'])(
	'an error of a limit calls %s as its form does',
	(name) => {
		const isOn = name !== 'limitPayments';
		const fields = { limitPayments: isOn || 'x', [name]: isOn ? {} : 'x' };
		const limits = readLimits(fields, fields);
		const label = labelOf(fieldAt(credentialForm, name));
		expect(limits).toBeInstanceOf(InputError);
		expect((limits as InputError).message).toContain(` cannot be read: ${label} `);
	},
);

test('a field that a form lacks is called by its path', () => {
	const path = 'creditParty.iban';
	expect(labelOf(fieldAt(payForm, path))).toBe(path);
});
