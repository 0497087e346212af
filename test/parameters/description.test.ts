import { InputError } from '../../nodes/Pay/inputError';
import { readDescription } from '../../nodes/Pay/parameters/description';

const described = (fields: object) => readDescription({ describeService: true, ...fields });
const NOTHING = { acceptance: undefined, qrCodePath: undefined, status: undefined };

test.each([
	['nothing', {}],
	['empty fields', { acceptedField: '', acceptedValues: '', statusField: '', qrCodePath: '' }],
	[
		'blank lines',
		{ acceptedField: ' ', acceptedValues: ' \r\n\n', paidValues: '\n', failedValues: [''] },
	],
	[
		'what an expression left empty',
		{ acceptedField: null, paidValues: undefined, failedValues: [null] },
	],
])('%s describes nothing: every 2xx is an acceptance, no postback has a state', (_what, fields) => {
	expect(described(fields)).toStrictEqual(NOTHING);
});

test('what was entered counts only while Describe the Service is on', () => {
	const fields = { acceptedField: 'ok', acceptedValues: 'true', statusField: 'half' };
	expect(readDescription(fields)).toStrictEqual({});
	expect(readDescription({ ...fields, describeService: false })).toStrictEqual({});
	expect(() => described(fields)).toThrow(InputError);
});

test.each(['true', 'false', '', null, 1])(
	'Describe the Service as %p is refused',
	(describeService) => {
		expect(() => readDescription({ describeService })).toThrow(/must be true or false/);
	},
);

test.each([
	['success', 'true', ['true']],
	[' success ', ' true \r\n\r\n yes\rok\n', ['true', 'yes', 'ok']],
	['data.code', [0, '1', ''], ['0', '1']],
	['ok', true, ['true']],
])('Accepted When %j with %j is taken', (acceptedField, acceptedValues, values) => {
	expect(described({ acceptedField, acceptedValues })).toStrictEqual({
		...NOTHING,
		acceptance: { field: acceptedField.trim(), values },
	});
});

test.each([
	['one a line', 'PAID\nsettled', 'failed', { paid: ['PAID', 'settled'], failed: ['failed'] }],
	['words for paid alone', 'paid', '', { paid: ['paid'], failed: [] }],
	['words for failed alone', '', ['failed', 7], { paid: [], failed: ['failed', '7'] }],
])('the words of a status: %s', (_what, paidValues, failedValues, words) => {
	expect(described({ statusField: ' data.status ', paidValues, failedValues })).toStrictEqual({
		...NOTHING,
		status: { field: 'data.status', ...words },
	});
});

test('the path of the QR code is taken without spaces around it', () => {
	expect(described({ qrCodePath: ' data.image\n' }).qrCodePath).toBe('data.image');
});

const SPLIT = { acceptedField: 'ok', acceptedValues: 'a, b' };
const WORDS = { statusField: 's', paidValues: 'paid,done' };
const TWICE = { statusField: 's', paidValues: 'ok\nDone', failedValues: 'no\n done ' };
const BOTH =
	/^The (Accepted When|Status) Field of the Pay API credential and its values must both be there/;
test.each<[string, object, string, RegExp]>([
	['a field without values', { acceptedField: 'ok' }, 'acceptedField', BOTH],
	['values without a field', { acceptedValues: 'true' }, 'acceptedField', BOTH],
	['an object as a value', { acceptedField: 'ok', acceptedValues: [{}] }, 'acceptedField', BOTH],
	['a field that is no text', { acceptedField: 5, acceptedValues: 'true' }, 'acceptedField', BOTH],
	['several values in a line', SPLIT, 'acceptedField', /"a, b", which holds a comma/],
	['a path without words', { statusField: 'status' }, 'statusField', BOTH],
	['words for paid without a path', { paidValues: 'paid' }, 'statusField', BOTH],
	['words for failed without a path', { failedValues: 'failed' }, 'statusField', BOTH],
	['several words in a line', WORDS, 'statusField', /"paid,done", which holds a comma/],
	['a word that is both', TWICE, 'failedValues', /have "Done", and the Paid Values have it too/],
	['a path that is a list', { qrCodePath: ['a'] }, 'qrCodePath', /must be text, but is a list/],
])('%s: refused, and the field named', (_what, fields, field, message) => {
	expect(() => described(fields)).toThrow(message);
	expect(() => described(fields)).toThrow(expect.objectContaining({ field, name: 'InputError' }));
});
