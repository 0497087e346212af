import { readDescription } from '../../nodes/Pay/credential/description';
import { InputError } from '../../nodes/Pay/inputError';
import {
	isAmount,
	isSameAmount,
	otherAmountIn,
	otherIdIn,
	stateOf,
} from '../../nodes/Pay/parameters/description';
import { refusalOf } from '../refusal';

const described = (fields: object) => readDescription({ describeService: true, ...fields });
const NOTHING = { responseWords: undefined, qrCodePath: undefined, statusWords: undefined };

test.each([
	['nothing', {}],
	['empty fields', { resultField: '', acceptedValues: '', statusField: '', qrCodePath: '' }],
	[
		'blank lines',
		{ resultField: ' ', acceptedValues: ' \r\n\n', paidValues: '\n', failedValues: [''] },
	],
	[
		'what an expression left empty',
		{ resultField: null, paidValues: undefined, failedValues: [null] },
	],
])('%s describes nothing: every 2xx is an acceptance, no postback has a state', (_what, fields) => {
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
	['success', 'true', ['true']],
	[' success ', ' true \r\n\r\n yes\rok\n', ['true', 'yes', 'ok']],
	['data.code', [0, '1', ''], ['0', '1']],
	['ok', true, ['true']],
])('the Result Field %j with %j is taken', (resultField, acceptedValues, values) => {
	expect(described({ resultField, acceptedValues })).toStrictEqual({
		...NOTHING,
		responseWords: { field: resultField.trim(), accepted: values, rejected: [] },
	});
});

test.each([
	['one a line', 'PAID\nsettled', 'failed', { paid: ['PAID', 'settled'], failed: ['failed'] }],
	['words for paid alone', 'paid', '', { paid: ['paid'], failed: [] }],
	['words for failed alone', '', ['failed', 7], { paid: [], failed: ['failed', '7'] }],
])('the words of a status: %s', (_what, paidValues, failedValues, words) => {
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
		paid: ['PAID', '1'],
		failed: ['3'],
		compared: { amount: 'amount\nvalue.total', id: 'order' },
	};
	const PROVEN = { external_id: 'order-7', amount: 49.9 };

	test.each<[string, object, string]>([
		['paid', { status: 'paid', amount: 49.9 }, 'paid'],
		['paid, the amount as text', { status: 'PAID', amount: '49.90' }, 'paid'],
		['paid, at the second paths', { statusCode: { statusId: 1 }, value: { total: 49.9 } }, 'paid'],
		['an object at the first path', { status: { code: 3 }, statusCode: { statusId: 3 } }, 'failed'],
		['paid with its amount in a list', { status: 'paid', amount: [49.9] }, 'otherAmount'],
		['the first path that is there counts', { status: 'x', statusCode: { statusId: 1 } }, 'other'],
		['failed, whatever the amount', { statusCode: { statusId: 3 } }, 'failed'],
		['running', { statusCode: { statusId: 2 } }, 'other'],
		['paid with another amount', { status: 'paid', amount: 0.01 }, 'otherAmount'],
		['paid with the amount in cents', { status: 'paid', amount: 4990 }, 'otherAmount'],
		['paid with an amount of words', { status: 'paid', amount: '49,90' }, 'otherAmount'],
		['paid without an amount', { status: 'paid' }, 'otherAmount'],
		['of another order, paid', { order: 'order-8', status: 'paid', amount: 49.9 }, 'other'],
		['of another order, failed', { order: 'order-8', status: '3' }, 'other'],
		['of no order', { order: undefined, status: 'paid', amount: 49.9 }, 'other'],
	])('%s', (_what, body, state) => {
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
test.each<[string, object, string, RegExp]>([
	['a field without values', { resultField: 'ok' }, 'resultField', BOTH],
	['values without a field', { acceptedValues: 'true' }, 'resultField', BOTH],
	['an object as a value', { resultField: 'ok', acceptedValues: [{}] }, 'resultField', /texts and/],
	['a field that is no text', { resultField: 5, acceptedValues: 'true' }, 'resultField', BOTH],
	['several values in a line', SPLIT, 'resultField', /"a, b", which holds a comma/],
	['a path without words', { statusField: 'status' }, 'statusField', BOTH],
	['words for paid without a path', { paidValues: 'paid' }, 'statusField', BOTH],
	['words for failed without a path', { failedValues: 'failed' }, 'statusField', BOTH],
	['several words in a line', WORDS, 'statusField', /"paid,done", which holds a comma/],
	['a word that is both', TWICE, 'failedValues', /have "Done", and the Paid Values have it too/],
	['a path that is a list', { qrCodePath: ['a'] }, 'qrCodePath', /must be text/],
	['two paths in a line', { qrCodePath: 'a\nb, c' }, 'qrCodePath', /read in line 2, "b, c"$/],
	['a path with a gap', { ...RESULT, resultField: 'a..b' }, 'resultField', /in line 1, "a\.\.b"$/],
	['a path of JSONPath', { ...RESULT, resultField: '$.a' }, 'resultField', /in line 1, "\$\.a"$/],
	['an amount without a status', { amountField: 'a' }, 'amountField', /without a Status Field$/],
	[
		'a word for yes and no',
		{ ...RESULT, rejectedValues: 'OK' },
		'rejectedValues',
		/have "ok", and the Accepted Values have it too/,
	],
])('%s: refused, and the field named', (_what, fields, field, message) => {
	expect(() => described(fields)).toThrow(message);
	expect(() => described(fields)).toThrow(expect.objectContaining({ field, name: 'InputError' }));
});

const IN_CREDENTIAL = 'of the Pay API credential';
test.each<[string, object, string, string, string]>([
	[
		'a switch that is neither on nor off',
		{ describeService: 'on' },
		'describeService',
		`The switch Describe the Service ${IN_CREDENTIAL} must be true or false`,
		'Turn it on or off.',
	],
	[
		'a word of two meanings',
		TWICE,
		'failedValues',
		`The Failed Values ${IN_CREDENTIAL} have "Done", and the Paid Values have it too`,
		'Remove it from one of them: upper and lower case do not count.',
	],
	[
		'an amount without a status',
		{ amountField: 'a' },
		'amountField',
		`The Amount Field ${IN_CREDENTIAL} is there without a Status Field`,
		'Enter the Status Field and the Paid Values too: it does not say by itself what was paid.',
	],
	[
		'an identifier without a status',
		{ idField: 'a' },
		'idField',
		`The External ID Field ${IN_CREDENTIAL} is there without a Status Field`,
		'Enter the Status Field and the Paid Values too: it does not say by itself what was paid.',
	],
])('%s is refused in these words', (_name, fields, field, message, advice) => {
	expect(refusalOf(() => described(fields))).toMatchObject({ field, message, advice });
});

test.each<[unknown, boolean]>([
	[49.9, true],
	['49.90', true],
	[' +49.90 ', true],
	['-1', true],
	['49,90', false],
	['49.', false],
	['.5', false],
	['1e3', false],
	['EUR 5', false],
	['5 EUR', false],
	['', false],
	[null, false],
	[[5], false],
])('%j can be compared with an amount: %p', (value, expected) => {
	expect(isAmount(value)).toBe(expected);
});

test.each<[unknown, number, boolean]>([
	['49.90', 49.9, true],
	[49.9, 49.9, true],
	['49.91', 49.9, false],
	['', 0, false],
	[null, 0, false],
	[[5], 5, false],
])('%j is the amount %d: %p', (value, amount, expected) => {
	expect(isSameAmount(value, amount)).toBe(expected);
});

describe('a log says why a postback', () => {
	const PROVEN = { external_id: 'order-7', amount: 49.9 };

	test.each<
		[
			string,
			Parameters<typeof otherIdIn>[0],
			Parameters<typeof otherIdIn>[1],
			unknown,
			string | undefined,
		]
	>([
		['is, where no field is compared', undefined, PROVEN, { order: 'x' }, undefined],
		['is, by its identifier', 'order', PROVEN, { order: ' order-7 ' }, undefined],
		['is, by a number', 'order', { external_id: '7' }, { order: 7 }, undefined],
		[
			'is not, where nothing is proven',
			'order',
			null,
			{ order: 'order-7' },
			'nothing proves what was asked for, so no External ID can be compared',
		],
		['is not, without one', 'order', PROVEN, {}, 'the field "order" is missing'],
		[
			'is not, by another',
			'id\norder',
			PROVEN,
			{ order: 'order-8' },
			'the field "order" names another charge or payment',
		],
		[
			'is not, by what is no text',
			'order',
			{ external_id: 'true' },
			{ order: true },
			'the field "order" names another charge or payment',
		],
	])('is about its charge: %s', (_name, field, proven, body, why) => {
		expect(otherIdIn(field, proven, [body])).toBe(why);
	});

	test.each<
		[
			string,
			Parameters<typeof otherAmountIn>[0],
			Parameters<typeof otherAmountIn>[1],
			unknown,
			string | undefined,
		]
	>([
		['does, where no field is compared', undefined, null, {}, undefined],
		['does, by its amount', 'amount', PROVEN, { amount: '49.90' }, undefined],
		[
			'does, where no amount was asked for',
			'amount',
			{ external_id: 'a' },
			{ amount: 1 },
			undefined,
		],
		[
			'does not, where nothing is proven',
			'amount',
			null,
			{ amount: 49.9 },
			'nothing proves what was asked for, so no amount can be compared',
		],
		['does not, without one', 'amount', PROVEN, {}, 'the field "amount" is missing'],
		[
			'does not, by another',
			'amount',
			PROVEN,
			{ amount: 49.89 },
			'the field "amount" has another amount than the charge or payment',
		],
	])('says its amount: %s', (_name, field, proven, body, why) => {
		expect(otherAmountIn(field, proven, [body])).toBe(why);
	});
});
