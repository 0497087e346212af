import type { INodeProperties } from 'n8n-workflow';
import { Pay } from '../../nodes/Pay/Pay.node';
import { PayTrigger } from '../../nodes/Pay/PayTrigger.node';
import { PayApi } from '../../credentials/PayApi.credentials';
import { readDescription } from '../../nodes/Pay/credential/description';
import { readAccount } from '../../nodes/Pay/credential/connection';
import { readLimits } from '../../nodes/Pay/credential/limits';
import { readSenderRule } from '../../nodes/Pay/credential/sender';
import { InputError } from '../../nodes/Pay/inputError';
import {
	readCondition,
	startCondition,
	resumeCondition,
} from '../../nodes/Pay/parameters/condition';
import { fieldAt, labelOf } from '../../nodes/Pay/parameters/label';
import { readAuthentication, refuseWrongTime } from '../../nodes/Pay/operations/trigger/form';
import { readChallengeField } from '../../nodes/Pay/postback/challenge';
import { refuseWrongResponse } from '../../nodes/Pay/postback/response';
import { readWaitLimit } from '../../nodes/Pay/parameters/waitLimit';
import { refusalOf } from '../refusal';
import {
	FULL_FORMS,
	KINDS,
	OPERATIONS,
	READ_REQUEST,
	REGISTERED,
	TYPED_PATHS,
	withValue,
} from '../serviceOperations';

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

/** A field, and parameters of which it alone is wrong. */
interface WrongField {
	field: string;
	wrong: Record<string, unknown>;
}

/** That reading is refused, and that the error begins with what the forms call the field. */
function expectLabel(forms: INodeProperties[][], field: string, read: () => unknown): void {
	const error = refusalOf(read)!;
	expect(error.field).toBe(field.replace('options.', ''));
	// Each operation has Options of its own, and only one of them may have the field.
	const form = forms.find((each) => fieldAt(each, field).displayName !== field)!;
	const label = labelOf({ name: error.field, displayName: fieldAt(form, field).displayName });
	expect(error.message.slice(0, label.length + 1)).toBe(`${label} `);
}

test.each(KINDS)('an error of each value of a %s calls it as the form does', (kind) => {
	// An object is wrong everywhere. Where postbacks go is read elsewhere.
	const paths = TYPED_PATHS[kind].filter((path) => path !== 'postbackUrl');
	for (const path of paths) {
		const parameters = withValue(FULL_FORMS[kind], path, { a: 1 });
		expectLabel(payForms, path, () => READ_REQUEST[kind]((name) => parameters[name]));
	}
	expect(paths).toContain('external_id');
});

test.each<WrongField>([
	{ field: 'creditParty', wrong: { creditParty: 'k' } },
	{ field: 'options.additionalMembers', wrong: { options: { additionalMembers: '[]' } } },
	{ field: 'options.decimalSign', wrong: { options: { decimalSign: 'x' } } },
])('an error of a payment calls $field as the form does', ({ field, wrong }) => {
	const parameters: Record<string, unknown> = { ...PAYMENT, ...wrong };
	expectLabel(payForms, field, () =>
		OPERATIONS.payment.readPlan((name) => parameters[name], readAccount(ACCOUNT)),
	);
});

test.each<WrongField>([
	{ field: 'payer', wrong: { payer: 'a' } },
	{ field: 'binaryPropertyName', wrong: { qrCodeImage: true, binaryPropertyName: '' } },
	{ field: 'specifySplit', wrong: { specifySplit: 'x' } },
	{ field: 'split', wrong: { specifySplit: 'fields', split: {} } },
	{ field: 'splitJson', wrong: { specifySplit: 'json', splitJson: '[' } },
])('an error of a QR code calls $field as the form does', ({ field, wrong }) => {
	const parameters: Record<string, unknown> = { ...QR_CODE, ...wrong };
	expectLabel(payForms, field, () =>
		OPERATIONS.qrCode.readPlan((name) => parameters[name], readAccount(ACCOUNT)),
	);
});

test.each<WrongField>([
	{ field: 'resumeWhen', wrong: { resumeWhen: 'x' } },
	{ field: 'matchField', wrong: { resumeWhen: 'match' } },
])('an error of what a wait waits for calls $field as the form does', ({ field, wrong }) => {
	expectLabel(payForms, field, () => readCondition((name) => wrong[name], resumeCondition));
});

test.each<WrongField>([
	{ field: 'limitWaitTime', wrong: { limitWaitTime: 'x' } },
	{ field: 'resumeAmount', wrong: { limitWaitTime: true, resumeAmount: 'x' } },
	{ field: 'resumeUnit', wrong: { limitWaitTime: true, resumeAmount: 1, resumeUnit: 'x' } },
])('an error of the limit of a wait calls $field as the form does', ({ field, wrong }) => {
	expectLabel(payForms, field, () => readWaitLimit((name) => wrong[name]));
});

test.each<WrongField>([
	{ field: 'startWhen', wrong: { startWhen: 'x' } },
	{ field: 'matchField', wrong: { startWhen: 'match' } },
])('an error of what starts a trigger calls $field as its form does', ({ field, wrong }) => {
	expectLabel([triggerForm], field, () => readCondition((name) => wrong[name], startCondition));
});

test.each<WrongField>([
	{ field: 'options.respond', wrong: { respond: 'x' } },
	{ field: 'options.responseCode', wrong: { responseCode: 404 } },
	{ field: 'options.responseBody', wrong: { responseBody: '={{ 1 }}' } },
	{ field: 'options.challengeField', wrong: { challengeField: '={{ 1 }}' } },
])('an error of the response of a trigger calls $field as its form does', ({ field, wrong }) => {
	expectLabel([triggerForm], field, () => {
		refuseWrongTime(wrong);
		refuseWrongResponse(wrong);
		readChallengeField(wrong);
	});
});

test('an error of the authentication of a trigger calls it as its form does', () => {
	expectLabel([triggerForm], 'authentication', () => readAuthentication('none', 'x'));
});

/** The same for a field of the credential, whose errors say that they are about it. */
function expectLabelOfCredential(field: string, read: () => unknown): void {
	const { displayName } = credentialForm.find(({ name }) => name === field)!;
	const error = refusalOf(read)!;
	expect(error.field).toBe(field);
	expect(error.message).toContain(`${displayName} of the Pay API credential `);
}

test.each<WrongField>([
	{ field: 'baseUrl', wrong: { baseUrl: '' } },
	{ field: 'authentication', wrong: { authentication: 'x' } },
	{ field: 'accessToken', wrong: { accessToken: '' } },
	{ field: 'postbackSecret', wrong: { postbackSecret: 'short' } },
	{ field: 'previousPostbackSecret', wrong: { previousPostbackSecret: 'short' } },
	{ field: 'schemeName', wrong: { describeService: true, schemeName: 'a/b' } },
	{ field: 'externalIdHeader', wrong: { describeService: true, externalIdHeader: 'a b' } },
])('an error of the account calls $field as its form does', ({ field, wrong }) => {
	expectLabelOfCredential(field, () => readAccount({ ...ACCOUNT, ...wrong }));
});

test.each<WrongField>([
	{ field: 'tokenUrl', wrong: { tokenUrl: '' } },
	{ field: 'clientId', wrong: { clientId: '' } },
	{ field: 'clientSecret', wrong: { clientSecret: '' } },
	{ field: 'clientAuthentication', wrong: { clientAuthentication: 'x' } },
	{ field: 'scope', wrong: { scope: null } },
])('an error of the client credentials calls $field as its form does', ({ field, wrong }) => {
	expectLabelOfCredential(field, () => readAccount({ ...CLIENT, ...wrong }));
});

test.each<WrongField>([
	{ field: 'describeService', wrong: { describeService: 'x' } },
	{ field: 'statusField', wrong: { statusField: 7 } },
	{ field: 'failedValues', wrong: { statusField: 'a', paidValues: 'x', failedValues: 'x' } },
	{ field: 'amountField', wrong: { amountField: 'a' } },
	{ field: 'idField', wrong: { idField: 'a' } },
	{ field: 'refundField', wrong: { refundField: 'a' } },
	{
		field: 'amountUnit',
		wrong: { statusField: 'a', paidValues: 'x', amountField: 'b', amountUnit: 'x' },
	},
	{ field: 'resultField', wrong: { resultField: 7 } },
	{
		field: 'rejectedValues',
		wrong: { resultField: 'a', acceptedValues: 'x', rejectedValues: 'x' },
	},
	{ field: 'qrCodePath', wrong: { qrCodePath: 'a,b' } },
])('an error of what the service says calls $field as its form does', ({ field, wrong }) => {
	expectLabelOfCredential(field, () => readDescription({ describeService: true, ...wrong }));
});

const SIGNATURE = {
	senderCheck: 'signature',
	signatureSecret: 'secret',
	signatureHeader: 'X-Signature',
};

test.each<WrongField>([
	{ field: 'senderCheck', wrong: { senderCheck: 'x' } },
	{ field: 'signaturePublicKey', wrong: { signatureAlgorithm: 'rsaSha256' } },
	{ field: 'signedTemplate', wrong: { signedContent: 'template' } },
	{ field: 'secretHeaderName', wrong: { senderCheck: 'secretHeader' } },
	{ field: 'secretHeaderValue', wrong: { senderCheck: 'secretHeader', secretHeaderName: 'X' } },
	{ field: 'signatureSecret', wrong: { signatureSecret: '' } },
	{ field: 'signatureHeader', wrong: { signatureHeader: '' } },
	{ field: 'signatureAlgorithm', wrong: { signatureAlgorithm: 'x' } },
	{ field: 'signedContent', wrong: { signedContent: 'x' } },
	{ field: 'timestampHeader', wrong: { signedContent: 'timestampAndBody' } },
])('an error of the signature calls $field as its form does', ({ field, wrong }) => {
	expectLabelOfCredential(field, () => readSenderRule({ ...SIGNATURE, ...wrong }));
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
