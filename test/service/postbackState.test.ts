import fc from 'fast-check';
import { readDescription } from '../../nodes/Pay/credential/description';
import { InputError } from '../../nodes/Pay/inputError';
import { Sources } from '../../nodes/Pay/service/fieldMatch';
import {
	claimsOf,
	stateOf,
	type Proven,
	type StatusWords,
} from '../../nodes/Pay/service/postbackState';
import { refusalOf } from '../refusal';
import { runs } from '../runs';

const described = (fields: object) => readDescription({ describeService: true, ...fields });
const stateIn = (words: StatusWords, proven: Proven, ...bodies: unknown[]) =>
	stateOf(words, proven, new Sources(...bodies)).state;
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
			amountField: 'h\ni',
			amountUnit: 'same',
			idField: 'j',
		},
	});
});

describe('what a postback says', () => {
	const status = {
		field: 'status\nstatusCode.statusId',
		paid: ['paid', '1'],
		failed: ['3'],
		amountField: 'amount\nvalue.total',
		idField: 'order',
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
			what: 'paid with an amount that has two readings',
			body: { status: 'paid', amount: '49,900' },
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
		expect(stateIn(status, PROVEN, { order: 'order-7', ...body })).toBe(state);
	});

	test('is paid without an Amount Field, and of what has no amount; not where nothing is proven', () => {
		const body = { status: 'paid', amount: 1 };
		const plain = { field: 'status', paid: ['paid'], failed: [] };
		const amount = { ...plain, amountField: 'amount' };
		expect(stateIn(plain, null, body)).toBe('paid');
		expect(stateIn(amount, { external_id: 'a' }, body)).toBe('paid');
		expect(stateIn(amount, null, body)).toBe('otherAmount');
		expect(stateIn(status, null, body)).toBe('other');
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
		what: 'a refund without a status',
		fields: { refundField: 'a' },
		field: 'refundField',
		message: /without a Status Field$/,
	},
	{
		what: 'anything as a failure',
		fields: { statusField: 's', paidValues: 'paid', failedValues: 'no\n *' },
		field: 'failedValues',
		message: /cannot have \*, which means anything that is not empty$/,
	},
	{
		what: 'anything as a rejection',
		fields: { ...RESULT, rejectedValues: '*' },
		field: 'rejectedValues',
		message: /cannot have \*/,
	},
	{
		what: 'anything as an acceptance',
		fields: { ...RESULT, acceptedValues: '*' },
		field: 'acceptedValues',
		message: /cannot have \*/,
	},
	{
		what: 'a list of a response',
		fields: { ...RESULT, resultField: 'results[].code' },
		field: 'resultField',
		message: /in line 1, "results\[\]\.code"$/,
	},
	{
		what: 'a list for the QR code',
		fields: { qrCodePath: 'a\ncodes[].text' },
		field: 'qrCodePath',
		message: /in line 2, "codes\[\]\.text"$/,
	},
	{
		what: 'a list in a list',
		fields: { statusField: 'a[].b[].c', paidValues: 'paid' },
		field: 'statusField',
		message: /in line 1, "a\[\]\.b\[\]\.c"$/,
	},
	{
		what: 'a list whose name goes on',
		fields: { statusField: 's', paidValues: 'paid', idField: 'a[]b.c' },
		field: 'idField',
		message: /in line 1, "a\[\]b\.c"$/,
	},
	{
		what: 'a unit that is none',
		fields: { statusField: 's', paidValues: 'paid', amountField: 'a', amountUnit: 'cents' },
		field: 'amountUnit',
		message: /must be one of same, hundredths$/,
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

describe('why a postback does not say "paid"', () => {
	const words: StatusWords = {
		field: 'status\nstate',
		paid: ['paid'],
		failed: ['expired'],
		refundField: 'refunds\nreturned',
		amountField: 'amount',
		idField: 'id\norder',
	};
	const PROVEN = { external_id: 'order-7', amount: 49.9 };
	const GOOD = { status: 'paid', amount: '49.90', order: ' order-7 ' };

	test.each<{ name: string; proven?: Proven; body: object; reason: string | undefined }>([
		{
			name: 'it does',
			body: GOOD,
			reason: undefined,
		},
		{
			name: 'nothing is proven',
			proven: null,
			body: GOOD,
			reason: 'nothing proves what was asked for, so no External ID can be compared',
		},
		{
			name: 'no identifier',
			body: { ...GOOD, order: undefined },
			reason: 'the fields "id" and "order" are missing',
		},
		{
			name: 'another identifier',
			body: { ...GOOD, order: 'order-8' },
			reason: 'the field "order" names another charge or payment',
		},
		{
			name: 'an identifier that is no text',
			proven: { external_id: 'true' },
			body: { ...GOOD, order: true },
			reason: 'the field "order" names another charge or payment',
		},
		{
			name: 'money that went back',
			body: { ...GOOD, refunds: [], returned: '2026-11-25' },
			reason: 'the field "returned" says that the money went back',
		},
		{
			name: 'no status',
			body: { ...GOOD, status: null },
			reason: 'the fields "status" and "state" are missing',
		},
		{
			name: 'failed',
			body: { ...GOOD, status: 'EXPIRED' },
			reason: 'the field "status" has one of the Failed Values',
		},
		{
			name: 'another word',
			body: { ...GOOD, status: 'pending' },
			reason: 'the field "status" has none of the Paid Values',
		},
		{
			name: 'no amount',
			body: { ...GOOD, amount: undefined },
			reason: 'the field "amount" is missing',
		},
		{
			name: 'another amount',
			body: { ...GOOD, amount: 49.89 },
			reason: 'the field "amount" has another amount than the charge or payment',
		},
		{
			name: 'an amount that has two readings',
			body: { ...GOOD, amount: '49,900' },
			reason: 'the field "amount" is no amount, or can be read as two',
		},
	])('$name', ({ proven = PROVEN, body, reason }) => {
		expect(stateOf(words, proven, new Sources(body)).reason).toBe(reason);
	});
});

describe('money that went back', () => {
	const words = {
		field: 'status',
		paid: ['paid'],
		failed: ['failed'],
		refundField: 'refunds\nback',
	};

	test.each<{ body: object; state: string }>([
		{ body: { status: 'paid' }, state: 'paid' },
		{ body: { status: 'paid', refunds: [{ id: 1 }] }, state: 'refunded' },
		{ body: { status: 'failed', refunds: [{ id: 1 }] }, state: 'refunded' },
		{ body: { refunds: { id: 1 } }, state: 'refunded' },
		{ body: { status: 'paid', refunds: '[{"id":1}]' }, state: 'refunded' },
		{ body: { status: 'paid', refunds: '', back: 12.5 }, state: 'refunded' },
		{ body: { status: 'paid', refunds: [1], back: '' }, state: 'refunded' },
		{ body: { status: 'paid', refunds: 'yes' }, state: 'refunded' },
		{ body: { status: 'paid', refunds: [] }, state: 'paid' },
		{ body: { status: 'paid', refunds: {} }, state: 'paid' },
		{ body: { status: 'paid', refunds: '[]' }, state: 'paid' },
		{ body: { status: 'paid', refunds: null, back: 0 }, state: 'paid' },
		{ body: { status: 'paid', refunds: false, back: '0.00' }, state: 'paid' },
		{ body: { status: 'paid', refunds: 'false', back: ' ' }, state: 'paid' },
	])('$body is $state', ({ body, state }) => {
		expect(stateIn(words, null, body)).toBe(state);
	});
});

describe('a list of charges', () => {
	const words: StatusWords = {
		field: 'pix[].status',
		paid: ['paid'],
		failed: ['failed'],
		refundField: 'pix[].refunds',
		amountField: 'pix[].valor',
		idField: 'pix[].txid',
	};
	const { idField: _, ...withoutId } = words;
	const PROVEN = { external_id: 'a', amount: 10 };
	const entry = (txid: string, status: string, valor: string, more = {}) => {
		return { txid, status, valor, ...more };
	};
	const SEVERAL = 'the list has several entries, and no External ID Field tells them apart';
	const NONE = 'no entry of the list is about this charge or payment';

	test.each<{ what: string; pix: unknown; words?: StatusWords; state: string; reason?: string }>([
		{
			what: 'the second entry is about it',
			pix: [entry('b', 'failed', '1.00'), entry('a', 'paid', '10.00')],
			state: 'paid',
		},
		{
			what: 'its own entry is pending, and another one is paid',
			pix: [entry('a', 'pending', '10.00'), entry('b', 'paid', '10.00')],
			state: 'other',
			reason: 'the field "pix[].status" has none of the Paid Values',
		},
		{
			what: 'two entries share what would be "paid 10.00"',
			pix: [entry('a', 'pending', '10.00'), entry('a', 'paid', '0.01')],
			state: 'otherAmount',
			reason: 'the field "pix[].valor" has another amount than the charge or payment',
		},
		{
			what: 'it failed once, and was paid then',
			pix: [entry('a', 'failed', '10.00'), entry('a', 'paid', '10.00')],
			state: 'paid',
		},
		{
			what: 'it was paid, and failed then',
			pix: [entry('a', 'paid', '10.00'), entry('a', 'failed', '10.00')],
			state: 'paid',
		},
		{
			what: 'it was pending, and failed then',
			pix: [entry('a', 'pending', '10.00'), entry('a', 'failed', '10.00')],
			state: 'failed',
			reason: 'the field "pix[].status" has one of the Failed Values',
		},
		{
			what: 'it was paid, and went back',
			pix: [entry('a', 'paid', '10.00'), entry('a', 'paid', '10.00', { refunds: [{ id: 1 }] })],
			state: 'refunded',
			reason: 'the field "pix[].refunds" says that the money went back',
		},
		{
			what: 'the refund of another one',
			pix: [entry('a', 'paid', '10.00'), entry('b', 'paid', '10.00', { refunds: [{ id: 1 }] })],
			state: 'paid',
		},
		{
			what: 'none is about it',
			pix: [entry('b', 'paid', '10.00'), entry('c', 'paid', '10.00')],
			state: 'other',
			reason: NONE,
		},
		{
			what: 'one alone, about another',
			pix: [entry('b', 'paid', '10.00')],
			state: 'other',
			reason: 'the field "pix[].txid" names another charge or payment',
		},
		{
			what: 'one without an identifier among several',
			pix: [{ status: 'paid', valor: '10.00' }, entry('b', 'paid', '10.00')],
			state: 'other',
			reason: NONE,
		},
		{
			what: 'several, and nothing tells them apart',
			pix: [entry('a', 'paid', '10.00'), entry('a', 'paid', '10.00')],
			words: withoutId,
			state: 'other',
			reason: SEVERAL,
		},
		{
			what: 'one alone, and no identifier is compared',
			pix: [entry('b', 'paid', '10.00')],
			words: withoutId,
			state: 'paid',
		},
		{
			what: 'several, and the identifier stands beside the list',
			pix: [entry('a', 'paid', '10.00'), entry('a', 'paid', '10.00')],
			words: { ...words, idField: 'id' },
			state: 'other',
			reason:
				'the list has several entries, and the External ID Field does not go through that list',
		},
		{
			what: 'one alone, and the identifier stands beside the list',
			pix: [entry('x', 'paid', '10.00')],
			words: { ...words, idField: 'id' },
			state: 'paid',
		},
		{
			what: 'several, and the amount stands beside the list',
			pix: [entry('a', 'paid', '0.01'), entry('b', 'paid', '10.00')],
			words: { ...words, amountField: 'total' },
			state: 'otherAmount',
			reason: 'the field "total" is missing',
		},
		{
			what: 'one alone, and the amount stands beside the list',
			pix: [entry('a', 'paid', '0.01')],
			words: { ...words, amountField: 'total' },
			state: 'paid',
		},
		{
			what: 'several, and the word stands beside the list',
			pix: [entry('a', '', '10.00'), entry('b', '', '0.01')],
			words: { ...words, field: 'event' },
			state: 'paid',
		},
		{
			what: 'an empty list',
			pix: [],
			state: 'other',
			reason: 'the field "pix[].txid" is missing',
		},
		{
			what: 'one object in place of the list, as XML has it',
			pix: entry('a', 'paid', '10.00'),
			state: 'paid',
		},
		{
			what: 'a text that holds the list',
			pix: JSON.stringify([entry('b', 'paid', '0.01'), entry('a', 'paid', '10.00')]),
			state: 'paid',
		},
		{
			what: 'texts that hold the entries',
			pix: [
				JSON.stringify(entry('b', 'paid', '0.01')),
				JSON.stringify(entry('a', 'paid', '10.00')),
			],
			state: 'paid',
		},
		{
			what: 'entries that are no objects',
			pix: ['a', 7, null],
			state: 'other',
			reason: NONE,
		},
	])('$what', ({ pix, words: own = words, state, reason }) => {
		const body = { pix, id: 'a', total: 10, event: 'paid' };
		const verdict = stateOf(own, PROVEN, new Sources(body, {}, { body }));
		expect({ state: verdict.state, reason: verdict.reason }).toStrictEqual({ state, reason });
	});

	test('that is the whole body, and one that is named as the panel shows it', () => {
		const list = [entry('b', 'pending', '1'), entry('a', 'paid', '10')];
		const through = (before: string): StatusWords => ({
			field: `${before}[].status`,
			paid: ['paid'],
			failed: [],
			amountField: `${before}[].valor`,
			idField: `${before}[].txid`,
		});
		const shown = { body: list };
		const sources = () => new Sources(list, {}, shown, { postback: shown });
		expect(stateOf(through(''), PROVEN, sources())).toStrictEqual({ state: 'paid' });
		expect(stateOf(through('body'), PROVEN, sources())).toStrictEqual({ state: 'paid' });
		const mixed = { ...through('postback.body'), idField: '[].txid' };
		expect(stateOf(mixed, PROVEN, sources())).toStrictEqual({ state: 'paid' });
	});

	test('beside one of refunds is refunded, whichever entry that is about', () => {
		const beside = { ...words, refundField: 'refunds[].id' };
		const pix = [entry('a', 'paid', '10.00'), entry('b', 'paid', '10.00')];
		expect(stateIn(beside, PROVEN, { pix, refunds: [{ id: '' }, { id: 'r-1' }] })).toBe('refunded');
		expect(stateIn(beside, PROVEN, { pix: [pix[0]], refunds: [{ id: 'r-1' }] })).toBe('refunded');
		expect(stateIn(beside, PROVEN, { pix, refunds: [] })).toBe('paid');
		const plain = { field: 'status', paid: ['paid'], failed: [], refundField: 'refunds[].id' };
		const body = { status: 'paid', refunds: [{ id: 1 }, { id: 2 }] };
		expect(stateIn(plain, null, body)).toBe('refunded');
	});

	test('of two lists the one counts that has the charge', () => {
		const both: StatusWords = {
			field: 'charges[].status\npayouts[].state',
			paid: ['paid'],
			failed: [],
			amountField: 'charges[].amount\npayouts[].amount',
			idField: 'charges[].id\npayouts[].id',
		};
		const body = {
			charges: [{ id: 'x', status: 'paid', amount: 1 }],
			payouts: [{ id: 'a', state: 'paid', amount: 10 }],
		};
		expect(stateIn(both, PROVEN, body)).toBe('paid');
		expect(stateIn(both, { external_id: 'x', amount: 10 }, body)).toBe('otherAmount');
	});

	test('says "paid" only where one entry says all of it', () => {
		const some = fc.record({
			txid: fc.constantFrom('a', ' a ', 'b', null, 7),
			status: fc.constantFrom('paid', 'PAID', 'pending', 'failed', '', null),
			valor: fc.constantFrom('10.00', 10, '10,00', '0.01', '1,000', null),
			refunds: fc.constantFrom(undefined, [], [1]),
		});
		fc.assert(
			fc.property(fc.array(some, { maxLength: 4 }), (pix) => {
				const own = pix.filter(({ txid }) => String(txid).trim() === 'a');
				const isPaid = own.some(
					({ status, valor }) =>
						String(status).toLowerCase() === 'paid' &&
						['10.00', 10, '10,00'].includes(valor as never),
				);
				const isRefunded = own.some(({ refunds }) => refunds?.length === 1);
				const state = stateIn(words, PROVEN, { pix, status: 'paid', valor: 10, txid: 'a' });
				expect(state === 'paid').toBe(isPaid && !isRefunded);
				expect(state === 'refunded').toBe(isRefunded);
			}),
			{ numRuns: runs(2_000) },
		);
	});

	test('of 50,000 entries is read in a moment', () => {
		const pix = Array.from({ length: 50_000 }, (_each, index) => entry(`${index}`, 'paid', '10'));
		const before = process.cpuUsage();
		expect(stateIn(words, { external_id: '49999', amount: 10 }, { pix })).toBe('paid');
		const { user, system } = process.cpuUsage(before);
		// It takes some 100 ms; squared it would be minutes.
		expect((user + system) / 1000).toBeLessThan(2_000);
	});
});

test('of 20,000 entries beside as many refunds is read in a moment, too', () => {
	const words: StatusWords = {
		field: 'pix[].status',
		paid: ['paid'],
		failed: [],
		refundField: 'refunds[].id\nrefund',
		idField: 'pix[].txid',
	};
	const pix = Array.from({ length: 20_000 }, () => ({ txid: 'a', status: 'paid' }));
	const refunds = Array.from({ length: 20_000 }, () => ({ id: 0 }));
	const before = process.cpuUsage();
	expect(stateIn(words, { external_id: 'a' }, { pix, refunds, refund: '[]' })).toBe('paid');
	const { user, system } = process.cpuUsage(before);
	// It takes some 100 ms; each entry with each refund takes minutes.
	expect((user + system) / 1000).toBeLessThan(2_000);
});

test('what an entry says of itself goes before what is said of all of them', () => {
	const words: StatusWords = {
		field: 'status\npix[].status',
		paid: ['paid'],
		failed: [],
		idField: 'pix[].txid',
	};
	const pending = { txid: 'a', status: 'pending' };
	const paid = { txid: 'b', status: 'paid' };
	const body = { status: 'paid', pix: [pending, paid, { txid: 'c' }] };
	const stateFor = (external_id: string) => stateIn(words, { external_id }, body);
	expect(['a', 'b', 'c'].map(stateFor)).toStrictEqual(['other', 'paid', 'paid']);
});

describe('names of every object', () => {
	const words = {
		field: 'constructor.name',
		paid: ['Object'],
		failed: [],
		refundField: '__proto__',
	};
	test('are no fields of a postback', () => {
		expect(stateIn(words, null, {})).toBe('other');
		expect(stateIn(words, null, { pix: [] })).toBe('other');
	});

	test('are fields where the service sends them', () => {
		const body: unknown = JSON.parse('{"__proto__":{"a":1},"constructor":{"name":"Object"}}');
		expect(stateIn(words, null, body)).toBe('refunded');
	});
});

describe('what a postback claims by itself', () => {
	const words: StatusWords = {
		field: 'pix[].status\nstatus',
		paid: ['paid'],
		failed: ['failed'],
		amountField: 'pix[].cents\ncents',
		amountUnit: 'hundredths',
		idField: 'pix[].txid\ntxid',
	};

	test.each<{ what: string; body: object; claims: unknown[] }>([
		{
			what: 'of one charge',
			body: { txid: ' a ', status: 'paid', cents: 1250 },
			claims: [{ claimed: { external_id: 'a', amount: 12.5 }, verdict: { state: 'paid' } }],
		},
		{
			what: 'of each entry of a list',
			body: {
				txid: 'beside',
				pix: [
					{ txid: 'a', status: 'paid', cents: '1250' },
					{ txid: 'b', status: 'failed', cents: 435 },
				],
			},
			claims: [
				{ claimed: { external_id: 'a', amount: 12.5 }, verdict: { state: 'paid' } },
				{
					claimed: { external_id: 'b', amount: 4.35 },
					verdict: {
						state: 'failed',
						reason: 'the field "pix[].status" has one of the Failed Values',
					},
				},
			],
		},
		{
			what: 'without an identifier',
			body: { status: 'paid', cents: 1250 },
			claims: [{ fault: 'the fields "pix[].txid" and "txid" are missing' }],
		},
		{
			what: 'with an identifier that is none',
			body: { txid: ' ', status: 'paid', cents: 1250 },
			claims: [{ fault: 'the field "txid" is no External ID' }],
		},
		{
			what: 'without an amount',
			body: { txid: 'a', status: 'paid' },
			claims: [{ fault: 'the fields "pix[].cents" and "cents" are missing' }],
		},
		{
			what: 'with an amount that has two readings',
			body: { txid: 'a', status: 'paid', cents: '1,250' },
			claims: [{ fault: 'the field "cents" is no amount, or can be read as two' }],
		},
	])('$what', ({ body, claims }) => {
		const found = claimsOf(words, new Sources(body)).map((claim) => {
			return 'fault' in claim ? claim : { claimed: claim.claimed, verdict: claim.verdict };
		});
		expect(found).toStrictEqual(claims);
	});

	test('where no field is compared', () => {
		const plain = { field: 'status', paid: ['paid'], failed: [] };
		const claims = [{ claimed: {}, verdict: { state: 'paid' } }];
		expect(claimsOf(plain, new Sources({ status: 'paid' }))).toStrictEqual(claims);
	});
});
