import { InputError } from '../../nodes/Pay/inputError';
import {
	firstValue,
	inBoth,
	isUnset,
	mismatchOf,
	missing,
	readFieldMatch,
	readPaths,
	readValues,
} from '../../nodes/Pay/parameters/fieldMatch';
import { refusalOf } from '../refusal';

const refusal = (what: string, advice: string) => new InputError('field', what, advice);

describe('a field has one of some values', () => {
	const match = readFieldMatch(' status ', [' paid ', '', 7, true], refusal);

	test.each([
		['in the body', [{ status: 'paid' }], true],
		['with spaces around it', [{ status: ' paid ' }], true],
		['as a number', [{ status: 7 }], true],
		['as a boolean', [{ status: true }], true],
		['in the query, where the body is a text', ['x', { status: 'paid' }], true],
		['in the query, where the body has no such field', [{ a: 1 }, { status: 'paid' }], true],
		['in the query, where the body has null', [{ status: null }, { status: 'paid' }], true],
		['not in the query, where the body has another', [{ status: 'no' }, { status: 'paid' }], false],
		['in capitals', [{ status: 'PAID' }], true],
		['under a name in capitals', [{ STATUS: 'True' }], true],
		['under its own spelling first', [{ Status: 'no', status: 'paid' }], true],
		['not under another spelling of it', [{ Status: 'paid', status: 'no' }], false],
		['not within a list', [{ status: ['paid'] }], false],
		['not empty', [{ status: '' }], false],
		['nowhere', [undefined, null], false],
	])('%s', (_name, sources, expected) => {
		expect(mismatchOf(match, ...sources) === undefined).toBe(expected);
	});

	test.each([
		['missing', [{ state: 'paid' }, {}], 'the field "status" is missing'],
		['another', [{ status: 'secret-value' }], 'the field "status" has another value'],
		[
			'in a list at the top',
			[[{ status: 'paid' }], {}],
			'the field "status" is missing, and the first entry of the list would be "0.status"',
		],
		['a list', [{ status: ['paid'] }], 'the field "status" is not a single value'],
	])('why it does not match, without the value: %s', (_name, sources, why) => {
		expect(mismatchOf(match, ...sources)).toBe(why);
	});

	test.each([
		['data.status', { 'data[status]': 'paid' }],
		['data[status]', { data: { status: 'paid' } }],
		['data[Status]', { 'data[status]': 'paid' }],
		['list.0.a', { 'list[0][a]': 'paid' }],
		['0.status', [{ status: 'paid' }]],
		['Data.Status', { data: { status: 'PAID' } }],
		['data.status', { data: { status: 'PAID' } }],
		['DATA.0.status', { data: [{ Status: 'Paid' }] }],
	])('%s is found in a form as in a query, however it is spelled: %j', (field, source) => {
		expect(mismatchOf(readFieldMatch(field, ['paid'], refusal), source)).toBeUndefined();
	});

	test.each([
		['no field', '', ['paid']],
		['no values', 'status', []],
		['only empty values', 'status', ['', ' ']],
		['nothing', undefined, undefined],
		['several values as one', 'status', ['paid, approved']],
		['one of them', 'status', ['paid', 'a,b']],
	])('%s is refused', (_name, field, values) => {
		expect(() => readFieldMatch(field, values, refusal)).toThrow(InputError);
	});
});

test.each<[string, unknown, unknown, boolean]>([
	['neither', '', '', true],
	['nothing at all', undefined, undefined, true],
	['blanks and blank lines', ' ', [' ', '\n', null], true],
	['a field', 'status', '', false],
	['a value', '', 'paid', false],
	['a value in a list within a list', '', [['paid']], false],
	['both', 'status', ['paid'], false],
])('%s entered is unset or not', (_name, field, values, expected) => {
	expect(isUnset(field, values)).toBe(expected);
});

test.each<[unknown, string]>([
	[undefined, ''],
	[' \n ', ''],
	['status', 'status'],
	[' data.status \r\n\r\n statusCode.statusId\rstate\n', 'data.status\nstatusCode.statusId\nstate'],
])('the paths %j are read', (entered, expected) => {
	expect(readPaths(entered, refusal)).toBe(expected);
});

const DOTS = 'Enter one path a line, with dots between the levels, for example data.status.';
test.each<[unknown, string, string]>([
	[7, 'must be text', 'Enter one path a line.'],
	[['status'], 'must be text', 'Enter one path a line.'],
	['status\ndata..status', 'cannot be read in line 2, "data..status"', DOTS],
	['.status', 'cannot be read in line 1, ".status"', DOTS],
	['status.', 'cannot be read in line 1, "status."', DOTS],
	['status, state', 'cannot be read in line 1, "status, state"', DOTS],
	['{{status}}', 'cannot be read in line 1, "{{status}}"', DOTS],
	['data}', 'cannot be read in line 1, "data}"', DOTS],
	['$json', 'cannot be read in line 1, "$json"', DOTS],
])('the paths %j are refused', (entered, message, advice) => {
	expect(refusalOf(() => readPaths(entered, refusal))).toMatchObject({ message, advice });
});

test.each<[unknown, string[]]>([
	['paid', ['paid']],
	[' paid \r\n\r\n settled\rdone\n', ['paid', 'settled', 'done']],
	[
		['paid', ' ', null, 7, true, ['late', 0]],
		['paid', '7', 'true', 'late', '0'],
	],
	[1, ['1']],
	[undefined, []],
])('the values %j are read', (entered, expected) => {
	expect(readValues(entered, refusal)).toStrictEqual(expected);
});

test.each<[unknown, string, string]>([
	[{}, 'can have texts and numbers as values only', 'Enter one value a line.'],
	[['paid', {}], 'can have texts and numbers as values only', 'Enter one value a line.'],
	[
		['done', ' paid, approved '],
		'cannot have the value "paid, approved", which holds a comma',
		'Enter each value by itself.',
	],
])('the values %j are refused', (entered, message, advice) => {
	expect(refusalOf(() => readValues(entered, refusal))).toMatchObject({ message, advice });
});

test.each<[unknown, unknown]>([
	['', ['paid']],
	['status', []],
	[['status'], ['paid']],
])('a field %j with the values %j is refused: both must be there', (field, values) => {
	expect(refusalOf(() => readFieldMatch(field, values, refusal))).toMatchObject({
		message: 'and its values must both be there, as text',
		advice:
			'Enter the field to look at, for example data.status, and at least one value, for example paid.',
	});
});

test('a field may have several paths, and all its values count', () => {
	expect(readFieldMatch(' a.b \n c', 'paid\n7', refusal)).toStrictEqual({
		field: 'a.b\nc',
		values: ['paid', '7'],
	});
});

test.each<[string, string, unknown[], object | undefined]>([
	['of the first path', 'a\nb', [{ b: 2, a: 1 }], { path: 'a', value: 1 }],
	['of the first path, in a later source', 'a\nb', [{ b: 2 }, { a: 1 }], { path: 'a', value: 1 }],
	[
		'of a later path, where the first is null',
		'a\nb',
		[{ a: null, b: 2 }],
		{ path: 'b', value: 2 },
	],
	['of a later path before an object', 'a\nb', [{ a: {}, b: false }], { path: 'b', value: false }],
	['that is an object, the first of them', 'a\nb', [{ a: [1], b: {} }], { path: 'a', value: [1] }],
	['nowhere', 'a\nb', [{ c: 1 }, undefined], undefined],
	['null alone', 'a', [{ a: null }], undefined],
])('the value %s', (_name, field, sources, expected) => {
	expect(firstValue(field, sources)).toStrictEqual(expected);
});

test.each<[string, unknown[], string]>([
	['status', [{}], 'the field "status" is missing'],
	['status\nstate', [{}], 'the fields "status" and "state" are missing'],
	['status\nstate', [[{}]], 'the fields "status" and "state" are missing'],
	[
		'status',
		[[], {}],
		'the field "status" is missing, and the first entry of the list would be "0.status"',
	],
	['status', [{}, []], 'the field "status" is missing'],
])('that %j is missing from %j is said', (field, sources, expected) => {
	expect(missing(field, sources)).toBe(expected);
});

test.each<[string[], string[], string | undefined]>([
	[['paid', 'Done'], ['failed', 'DONE '], undefined],
	[['paid', ' Done'], ['failed', 'DONE'], ' Done'],
	[['a', 'b'], ['b', 'a'], 'a'],
	[[], ['a'], undefined],
])('the first word of %j that is in %j', (one, other, expected) => {
	expect(inBoth(one, other)).toBe(expected);
});
