import { readDescription } from '../../nodes/Pay/credential/description';
import { InputError } from '../../nodes/Pay/inputError';
import {
	isAmount,
	isSameAmount,
	otherAmountIn,
	otherIdIn,
	stateOf,
} from '../../nodes/Pay/service/postbackState';
import { refusalOf } from '../refusal';

const described = (fields: object) => readDescription({ describeService: true, ...fields });
const NOTHING = { responseWords: undefined, qrCodePath: undefined, statusWords: undefined };

test.each([
	{
		what: 'nothing',
		fields: {},
	},
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
	expect(() => described(fields)).toThrow(InputError);
});

test.each(['true', 'false', '', null, 1])(
	'Describe the Service as %p is refused',
	(describeService) => {
		expect(() => readDescription({ describeService })).toThrow(/must be true or false/);
	},
);

test.each([
	{
		resultField: 'success',
		acceptedValues: 'true',
		values: ['true'],
	},
	{
		resultField: ' success ',
		acceptedValues: ' true \r\n\r\n yes\rok\n',
		values: ['true', 'yes', 'ok'],
	},
	{
		resultField: 'data.code',
		acceptedValues: [0, '1', ''],
		values: ['0', '1'],
	},
	{
		resultField: 'ok',
		acceptedValues: true,
		values: ['true'],
	},
])(
	'the Result Field $resultField with $acceptedValues is taken',
	({ resultField, acceptedValues, values }) => {
		expect(described({ resultField, acceptedValues })).toStrictEqual({
			...NOTHING,
			responseWords: { field: resultField.trim(), accepted: values, rejected: [] },
		});
	},
);

test.each([
	{
		what: 'one a line',
		paidValues: 'PAID\nsettled',
		failedValues: 'failed',
		words: { paid: ['PAID', 'settled'], failed: ['failed'] },
	},
	{
		what: 'words for paid alone',
		paidValues: 'paid',
		failedValues: '',
		words: { paid: ['paid'], failed: [] },
	},
	{
		what: 'words for failed alone',
		paidValues: '',
		failedValues: ['failed', 7],
		words: { paid: [], failed: ['failed', '7'] },
	},
])('the words of a status: $what', ({ paidValues, failedValues, words }) => {
	expect(described({ statusField: ' data.status ', paidValues, failedValues })).toStrictEqual({
		...NOTHING,
		statusWords: { field: 'data.status', ...words },
	});
});

test('each field may have several paths, one a line', () => {
	const fields = {
		resultField: 'a.b\r\n\n c ',
		acceptedValues: 'yes',
		rejectedValues: 'no',
		qrCodePath: 'd\ne',
		statusField: 'f\ng',
		paidValues: 'paid',
		amountField: 'h\ni',
		idField: 'j',
	};
	expect(described(fields)).toStrictEqual({
		responseWords: { field: 'a.b\nc', accepted: ['yes'], rejected: ['no'] },
		qrCodePath: 'd\ne',
		statusWords: {
			field: 'f\ng',
			paid: ['paid'],
			failed: [],
			compared: { amount: 'h\ni', id: 'j' },
		},
	});
});

describe('what a postback says', () => {
	const status = {
		field: 'status\nstatusCode.statusId',
		paid: ['paid', '1'],
		failed: ['3'],
		compared: { amount: 'amount\nvalue.total', id: 'order' },
	};
	const PROVEN = { external_id: 'order-7', amount: 49.9 };

	test.each<{ what: string; body: object; state: string }>([
		{
			what: 'paid',
			body: { status: 'paid', amount: 49.9 },
			state: 'paid',
		},
		{
			what: 'paid, in capitals',
			body: { status: 'PAID', amount: 49.9 },
			state: 'paid',
		},
		{
			what: 'paid, the amount as text',
			body: { status: 'paid', amount: '49.90' },
			state: 'paid',
		},
		{
			what: 'paid, at the second paths',
			body: { statusCode: { statusId: 1 }, value: { total: 49.9 } },
			state: 'paid',
		},
		{
			what: 'an object at the first path',
			body: { status: { code: 3 }, statusCode: { statusId: 3 } },
			state: 'failed',
		},
		{
			what: 'paid with its amount in a list',
			body: { status: 'paid', amount: [49.9] },
			state: 'otherAmount',
		},
		{
			what: 'the first path that is there counts',
			body: { status: 'x', statusCode: { statusId: 1 } },
			state: 'other',
		},
		{
			what: 'failed, whatever the amount',
			body: { statusCode: { statusId: 3 } },
			state: 'failed',
		},
		{
			what: 'running',
			body: { statusCode: { statusId: 2 } },
			state: 'other',
		},
		{
			what: 'paid with another amount',
			body: { status: 'paid', amount: 0.01 },
			state: 'otherAmount',
		},
		{
			what: 'paid with the amount in cents',
			body: { status: 'paid', amount: 4990 },
			state: 'otherAmount',
		},
		{
			what: 'paid with an amount of words',
			body: { status: 'paid', amount: '49,90' },
			state: 'otherAmount',
		},
		{
			what: 'paid without an amount',
			body: { status: 'paid' },
			state: 'otherAmount',
		},
		{
			what: 'of another order, paid',
			body: { order: 'order-8', status: 'paid', amount: 49.9 },
			state: 'other',
		},
		{
			what: 'of another order, failed',
			body: { order: 'order-8', status: '3' },
			state: 'other',
		},
		{
			what: 'of no order',
			body: { order: undefined, status: 'paid', amount: 49.9 },
			state: 'other',
		},
	])('$what', ({ body, state }) => {
		expect(stateOf(status, PROVEN, { order: 'order-7', ...body })).toBe(state);
	});

	test('is paid without an Amount Field, and of what has no amount; not where nothing is proven', () => {
		const body = { status: 'paid', amount: 1 };
		const { compared: _, ...plain } = status;
		const amount = { ...plain, compared: { amount: 'amount' } };
		expect(stateOf(plain, null, body)).toBe('paid');
		expect(stateOf(amount, { external_id: 'a' }, body)).toBe('paid');
		expect(stateOf(amount, null, body)).toBe('otherAmount');
		expect(stateOf(status, null, body)).toBe('other');
	});
});

test('the path of the QR code is taken without spaces around it', () => {
	expect(described({ qrCodePath: ' data.image\n' }).qrCodePath).toBe('data.image');
});

const SPLIT = { resultField: 'ok', acceptedValues: 'a, b' };
const RESULT = { resultField: 'result', acceptedValues: 'ok' };
const WORDS = { statusField: 's', paidValues: 'paid,done' };
const TWICE = { statusField: 's', paidValues: 'ok\nDone', failedValues: 'no\n done ' };
const BOTH =
	/^The (Result|Status) Field of the Pay API credential and its values must both be there/;
test.each<{ what: string; fields: object; field: string; message: RegExp }>([
	{
		what: 'a field without values',
		fields: { resultField: 'ok' },
		field: 'resultField',
		message: BOTH,
	},
	{
		what: 'values without a field',
		fields: { acceptedValues: 'true' },
		field: 'resultField',
		message: BOTH,
	},
	{
		what: 'an object as a value',
		fields: { resultField: 'ok', acceptedValues: [{}] },
		field: 'resultField',
		message: /texts and/,
	},
	{
		what: 'a field that is no text',
		fields: { resultField: 5, acceptedValues: 'true' },
		field: 'resultField',
		message: BOTH,
	},
	{
		what: 'several values in a line',
		fields: SPLIT,
		field: 'resultField',
		message: /"a, b", which holds a comma/,
	},
	{
		what: 'a path without words',
		fields: { statusField: 'status' },
		field: 'statusField',
		message: BOTH,
	},
	{
		what: 'words for paid without a path',
		fields: { paidValues: 'paid' },
		field: 'statusField',
		message: BOTH,
	},
	{
		what: 'words for failed without a path',
		fields: { failedValues: 'failed' },
		field: 'statusField',
		message: BOTH,
	},
	{
		what: 'several words in a line',
		fields: WORDS,
		field: 'statusField',
		message: /"paid,done", which holds a comma/,
	},
	{
		what: 'a word that is both, once in capitals',
		fields: TWICE,
		field: 'failedValues',
		message: /have "Done", and the Paid Values have it too/,
	},
	{
		what: 'a path that is a list',
		fields: { qrCodePath: ['a'] },
		field: 'qrCodePath',
		message: /must be text/,
	},
	{
		what: 'two paths in a line',
		fields: { qrCodePath: 'a\nb, c' },
		field: 'qrCodePath',
		message: /read in line 2, "b, c"$/,
	},
	{
		what: 'a path with a gap',
		fields: { ...RESULT, resultField: 'a..b' },
		field: 'resultField',
		message: /in line 1, "a\.\.b"$/,
	},
	{
		what: 'a path of JSONPath',
		fields: { ...RESULT, resultField: '$.a' },
		field: 'resultField',
		message: /in line 1, "\$\.a"$/,
	},
	{
		what: 'an amount without a status',
		fields: { amountField: 'a' },
		field: 'amountField',
		message: /without a Status Field$/,
	},
	{
		what: 'a word for yes and no, once in capitals',
		fields: { ...RESULT, rejectedValues: 'OK' },
		field: 'rejectedValues',
		message: /have "ok", and the Accepted Values have it too/,
	},
])('$what: refused, and the field named', ({ fields, field, message }) => {
	expect(() => described(fields)).toThrow(message);
	expect(() => described(fields)).toThrow(expect.objectContaining({ field, name: 'InputError' }));
});

const IN_CREDENTIAL = 'of the Pay API credential';
test.each<{ name: string; fields: object; field: string; message: string; advice: string }>([
	{
		name: 'a switch that is neither on nor off',
		fields: { describeService: 'on' },
		field: 'describeService',
		message: `The switch Describe the Service ${IN_CREDENTIAL} must be true or false, but is text`,
		advice: 'Turn it on or off. An expression in it must give true or false.',
	},
	{
		name: 'a word of two meanings',
		fields: TWICE,
		field: 'failedValues',
		message: `The Failed Values ${IN_CREDENTIAL} have "Done", and the Paid Values have it too`,
		advice: 'Remove it from one of them: upper and lower case do not count.',
	},
	{
		name: 'an amount without a status',
		fields: { amountField: 'a' },
		field: 'amountField',
		message: `The Amount Field ${IN_CREDENTIAL} is there without a Status Field`,
		advice:
			'Enter the Status Field and the Paid Values too, or empty it: it does not say by itself what was paid.',
	},
	{
		name: 'an identifier without a status',
		fields: { idField: 'a' },
		field: 'idField',
		message: `The External ID Field ${IN_CREDENTIAL} is there without a Status Field`,
		advice:
			'Enter the Status Field and the Paid Values too, or empty it: it does not say by itself what was paid.',
	},
])('$name is refused in these words', ({ fields, field, message, advice }) => {
	expect(refusalOf(() => described(fields))).toMatchObject({ field, message, advice });
});

test.each<{ value: unknown; expected: boolean }>([
	{
		value: 49.9,
		expected: true,
	},
	{
		value: '49.90',
		expected: true,
	},
	{
		value: ' +49.90 ',
		expected: true,
	},
	{
		value: '-1',
		expected: true,
	},
	{
		value: '49,90',
		expected: false,
	},
	{
		value: '49.',
		expected: false,
	},
	{
		value: '.5',
		expected: false,
	},
	{
		value: '1e3',
		expected: false,
	},
	{
		value: 'EUR 5',
		expected: false,
	},
	{
		value: '5 EUR',
		expected: false,
	},
	{
		value: '',
		expected: false,
	},
	{
		value: null,
		expected: false,
	},
	{
		value: [5],
		expected: false,
	},
])('$value can be compared with an amount: $expected', ({ value, expected }) => {
	expect(isAmount(value)).toBe(expected);
});

test.each<{ value: unknown; amount: number; expected: boolean }>([
	{
		value: '49.90',
		amount: 49.9,
		expected: true,
	},
	{
		value: 49.9,
		amount: 49.9,
		expected: true,
	},
	{
		value: '49.91',
		amount: 49.9,
		expected: false,
	},
	{
		value: '',
		amount: 0,
		expected: false,
	},
	{
		value: null,
		amount: 0,
		expected: false,
	},
	{
		value: [5],
		amount: 5,
		expected: false,
	},
])('$value is the amount $amount: $expected', ({ value, amount, expected }) => {
	expect(isSameAmount(value, amount)).toBe(expected);
});

describe('a log says why a postback', () => {
	const PROVEN = { external_id: 'order-7', amount: 49.9 };

	test.each<{
		name: string;
		field: Parameters<typeof otherIdIn>[0];
		proven: Parameters<typeof otherIdIn>[1];
		body: unknown;
		why: string | undefined;
	}>([
		{
			name: 'is, where no field is compared',
			field: undefined,
			proven: PROVEN,
			body: { order: 'x' },
			why: undefined,
		},
		{
			name: 'is, by its identifier',
			field: 'order',
			proven: PROVEN,
			body: { order: ' order-7 ' },
			why: undefined,
		},
		{
			name: 'is, by a number',
			field: 'order',
			proven: { external_id: '7' },
			body: { order: 7 },
			why: undefined,
		},
		{
			name: 'is not, where nothing is proven',
			field: 'order',
			proven: null,
			body: { order: 'order-7' },
			why: 'nothing proves what was asked for, so no External ID can be compared',
		},
		{
			name: 'is not, without one',
			field: 'order',
			proven: PROVEN,
			body: {},
			why: 'the field "order" is missing',
		},
		{
			name: 'is not, by another',
			field: 'id\norder',
			proven: PROVEN,
			body: { order: 'order-8' },
			why: 'the field "order" names another charge or payment',
		},
		{
			name: 'is not, by what is no text',
			field: 'order',
			proven: { external_id: 'true' },
			body: { order: true },
			why: 'the field "order" names another charge or payment',
		},
	])('is about its charge: $name', ({ field, proven, body, why }) => {
		expect(otherIdIn(field, proven, [body])).toBe(why);
	});

	test.each<{
		name: string;
		field: Parameters<typeof otherAmountIn>[0];
		proven: Parameters<typeof otherAmountIn>[1];
		body: unknown;
		why: string | undefined;
	}>([
		{
			name: 'does, where no field is compared',
			field: undefined,
			proven: null,
			body: {},
			why: undefined,
		},
		{
			name: 'does, by its amount',
			field: 'amount',
			proven: PROVEN,
			body: { amount: '49.90' },
			why: undefined,
		},
		{
			name: 'does, where no amount was asked for',
			field: 'amount',
			proven: { external_id: 'a' },
			body: { amount: 1 },
			why: undefined,
		},
		{
			name: 'does not, where nothing is proven',
			field: 'amount',
			proven: null,
			body: { amount: 49.9 },
			why: 'nothing proves what was asked for, so no amount can be compared',
		},
		{
			name: 'does not, without one',
			field: 'amount',
			proven: PROVEN,
			body: {},
			why: 'the field "amount" is missing',
		},
		{
			name: 'does not, by another',
			field: 'amount',
			proven: PROVEN,
			body: { amount: 49.89 },
			why: 'the field "amount" has another amount than the charge or payment',
		},
	])('says its amount: $name', ({ field, proven, body, why }) => {
		expect(otherAmountIn(field, proven, [body])).toBe(why);
	});
});
