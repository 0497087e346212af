import { readDescription } from '../../nodes/Pay/account/describe';
import { refusalOf } from '../refusal';

const described = (fields: object) => readDescription({ describeService: true, ...fields });
const NOTHING = { responseWords: undefined, qrCodePath: undefined, statusWords: undefined };

test.each([
	{ what: 'nothing', fields: {} },
	{
		what: 'empty fields',
		fields: { resultField: '', acceptedValues: '', statusField: '', qrCodePath: '' },
	},
	{
		what: 'blank lines',
		fields: { resultField: ' ', acceptedValues: ' \r\n\n', paidValues: '\n', failedValues: [''] },
	},
	{
		what: 'what an expression left empty',
		fields: { resultField: null, paidValues: undefined, failedValues: [null] },
	},
])('$what describes nothing: every 2xx is an acceptance, no postback has a state', ({ fields }) => {
	expect(described(fields)).toStrictEqual(NOTHING);
});

test('what was entered counts only while Describe the Service is on', () => {
	const fields = { resultField: 'ok', acceptedValues: 'true', statusField: 'half' };
	expect(readDescription(fields)).toStrictEqual({});
	expect(readDescription({ ...fields, describeService: false })).toStrictEqual({});
	expect(refusalOf(() => described(fields))?.field).toBe('statusField');
});

test.each(['true', '', null, 1])('Describe the Service as %p is refused', (describeService) => {
	expect(refusalOf(() => readDescription({ describeService }))?.field).toBe('describeService');
});

test('each field may have several paths, and each list of words several words', () => {
	const fields = {
		resultField: 'a.b\r\n\n c ',
		acceptedValues: ' yes \r\n\r\n ok\n',
		rejectedValues: ['no', 0, ''],
		qrCodePath: ' d\ne ',
		statusField: 'f\ng',
		paidValues: 'PAID\nsettled',
		failedValues: ['failed', 7],
		requiredValues: ' l = x y \r\n\nj[].m=*\n data[n] = a=b ',
		refundField: 'k[].o[].p',
		refundedValues: 'back\n partly',
		amountField: 'h\ni',
		idField: 'j[].id',
	};
	expect(described(fields)).toStrictEqual({
		responseWords: { field: ['a.b', 'c'], accepted: ['yes', 'ok'], rejected: ['no', '0'] },
		qrCodePath: ['d', 'e'],
		statusWords: {
			field: ['f', 'g'],
			paid: ['PAID', 'settled'],
			failed: ['failed', '7'],
			required: [
				{ path: 'l', value: 'x y' },
				{ path: 'j[].m', value: '*' },
				{ path: 'data[n]', value: 'a=b' },
			],
			refundField: ['k[].o[].p'],
			refunded: ['back', 'partly'],
			amountField: ['h', 'i'],
			amountUnit: 'same',
			idField: ['j[].id'],
		},
	});
});

test.each([
	{ paidValues: 'paid', failedValues: '', words: { paid: ['paid'], failed: [] } },
	{ paidValues: '', failedValues: 'failed', words: { paid: [], failed: ['failed'] } },
])('a status may have words for one end alone: $words', ({ paidValues, failedValues, words }) => {
	const { statusWords } = described({ statusField: 'status', paidValues, failedValues });
	expect(statusWords).toStrictEqual({ field: ['status'], ...words });
});

const RESULT = { resultField: 'result', acceptedValues: 'ok' };
const STATUS = { statusField: 's', paidValues: 'paid' };

test('a result and a status are taken (the control of the next)', () => {
	expect(described({ ...RESULT, ...STATUS })).toMatchObject({
		responseWords: { field: ['result'] },
		statusWords: { field: ['s'] },
	});
});

test.each<{ what: string; fields: object; field: string }>([
	{ what: 'a field without values', fields: { resultField: 'ok' }, field: 'resultField' },
	{ what: 'values without a field', fields: { acceptedValues: 'true' }, field: 'resultField' },
	{ what: 'a path without words', fields: { statusField: 's' }, field: 'statusField' },
	{ what: 'words for paid alone', fields: { paidValues: 'paid' }, field: 'statusField' },
	{ what: 'words for failed alone', fields: { failedValues: 'failed' }, field: 'statusField' },
	{
		what: 'several words in a line',
		fields: { ...STATUS, paidValues: 'paid,done' },
		field: 'statusField',
	},
	{
		what: 'a word for paid and failed, once in capitals',
		fields: { ...STATUS, failedValues: 'no\n Paid ' },
		field: 'failedValues',
	},
	{
		what: 'a word for yes and no, once in capitals',
		fields: { ...RESULT, rejectedValues: 'OK' },
		field: 'rejectedValues',
	},
	{
		what: 'anything as paid and as a failure',
		fields: { ...STATUS, paidValues: '*', failedValues: 'no\n *' },
		field: 'failedValues',
	},
	{
		what: 'anything as a rejection',
		fields: { ...RESULT, rejectedValues: '*' },
		field: 'rejectedValues',
	},
	{
		what: 'anything as an acceptance',
		fields: { ...RESULT, acceptedValues: '*' },
		field: 'acceptedValues',
	},
	{ what: 'an amount without a status', fields: { amountField: 'a' }, field: 'amountField' },
	{ what: 'a refund without a status', fields: { refundField: 'a' }, field: 'refundField' },
	{
		what: 'a required value without a status',
		fields: { requiredValues: 'a = b' },
		field: 'requiredValues',
	},
	{
		what: 'words for a refund without a field for it',
		fields: { ...STATUS, refundedValues: 'done' },
		field: 'refundedValues',
	},
	{
		what: 'words for a refund, and nothing else',
		fields: { refundedValues: 'done' },
		field: 'refundedValues',
	},
	{
		what: 'a list in a list in a list of refunds',
		fields: { ...STATUS, refundField: 'a[].b[].c[].d' },
		field: 'refundField',
	},
	{ what: 'an identifier without a status', fields: { idField: 'a' }, field: 'idField' },
	{
		what: 'a unit that is none',
		fields: { ...STATUS, amountField: 'a', amountUnit: 'cents' },
		field: 'amountUnit',
	},
	{
		what: 'a list of a response',
		fields: { ...RESULT, resultField: 'results[].code' },
		field: 'resultField',
	},
	{
		what: 'a list for the QR code',
		fields: { qrCodePath: 'a\ncodes[].text' },
		field: 'qrCodePath',
	},
	{
		what: 'a list in a list',
		fields: { ...STATUS, statusField: 'a[].b[].c' },
		field: 'statusField',
	},
	{ what: 'a list whose name goes on', fields: { ...STATUS, idField: 'a[]b.c' }, field: 'idField' },
	{
		what: 'a switch that is neither on nor off',
		fields: { describeService: 'on' },
		field: 'describeService',
	},
])('$what is refused, and the field named', ({ fields, field }) => {
	expect(refusalOf(() => described(fields))?.field).toBe(field);
});

test.each([undefined, '*', '', ' * \n*'])('Refunded Values %j are whatever is there', (words) => {
	const fields = { ...STATUS, refundField: 'a', refundedValues: words };
	expect(described(fields).statusWords).toStrictEqual({
		field: ['s'],
		paid: ['paid'],
		failed: [],
		refundField: ['a'],
	});
	// As n8n fills the hidden field in, where no Refund Field is entered.
	expect(described({ ...STATUS, refundedValues: words }).statusWords).toBeDefined();
});

test('anything may be a failure where paid has words of its own', () => {
	const { statusWords } = described({ ...STATUS, failedValues: 'no\n*' });
	expect(statusWords?.failed).toStrictEqual(['no', '*']);
});

test.each([
	{ field: 'statusField', path: 'pix.0.status' },
	{ field: 'statusField', path: 'status\nbody.PIX[1].status' },
	{ field: 'amountField', path: 'pix.0.amount' },
	{ field: 'refundField', path: 'pix.0.refund' },
])('$field cannot be $path, which is that of another charge, beside a list', ({ field, path }) => {
	const listed = { ...STATUS, idField: 'pix[].txid' };
	expect(refusalOf(() => described({ ...listed, [field]: path }))).toMatchObject({
		field,
		message: expect.stringContaining('names one entry of a list'),
	});
	const ofOne = { ...STATUS, idField: 'pix.0.txid' };
	expect(refusalOf(() => described({ ...ofOne, [field]: path }))).toBeUndefined();
});

describe('Required Values', () => {
	const LIST = { statusField: 'status\npix[].status', paidValues: 'paid' };
	const refused = (requiredValues: unknown, more: object = LIST) =>
		refusalOf(() => described({ ...more, requiredValues }));

	test.each([
		{ fields: LIST, path: 'pix[].live' },
		{ fields: LIST, path: 'body.PIX[].live' },
		{ fields: { ...LIST, statusField: 'body.pix[].status' }, path: 'pix[].live' },
		{ fields: { ...LIST, statusField: '[].status' }, path: 'body[].live' },
		{ fields: { ...STATUS, idField: 'pix[].id' }, path: 'pix[].live' },
		{ fields: { ...STATUS, amountField: 'pix[].amount' }, path: 'pix[].live' },
		{ fields: STATUS, path: 'data.live' },
		{ fields: STATUS, path: 'headers.x-mode' },
	])('may have $path beside $fields', ({ fields, path }) => {
		expect(refused(`${path} = true`, fields)).toBeUndefined();
	});

	test.each([
		'success',
		'success: true',
		'success == true',
		'success === true',
		'success != false',
		'amount > 5',
		'amount >= 5',
		'amount <= 5',
		'success => true',
		'success =',
		'status = paid, done',
		'success = "true"',
		'.success = true',
	])('cannot have the line %s', (line) => {
		expect(refused(`live = 1\n${line}`)?.field).toBe('requiredValues');
	});

	test.each([
		['a = 1', 'A = 2'],
		['a.b = 1', 'body.a.b = 1'],
		['a.b = 1', 'a[b] = 2'],
	])('cannot have a path twice: %s and %s', (one, other) => {
		expect(refused(`${one}\n${other}`)?.field).toBe('requiredValues');
	});

	test.each(['refunds[].live = true', '[].live = true', 'pix.items[].live = true'])(
		'cannot go through another list than the status: %s',
		(line) => {
			expect(refused(line)?.field).toBe('requiredValues');
		},
	);

	test.each([
		{ fields: LIST, path: 'pix.0.live' },
		{ fields: LIST, path: 'body.PIX[1].live' },
		{ fields: { ...LIST, statusField: '[].status' }, path: 'body.0.live' },
	])('cannot have $path, which is that of another charge, beside $fields', ({ fields, path }) => {
		expect(refused(`${path} = true`, fields)?.field).toBe('requiredValues');
	});

	test.each(['pix[].a[].b = 1', '{{ $json.a }} = 1', 'a = {{ $json.b }}', true, ['a = b']])(
		'cannot be %j',
		(entered) => {
			expect(refused(entered)?.field).toBe('requiredValues');
		},
	);

	test.each(['', ' \n\n', null, undefined])('%j are none', (entered) => {
		const { statusWords } = described({ ...STATUS, requiredValues: entered });
		expect(statusWords).not.toHaveProperty('required');
	});
});
