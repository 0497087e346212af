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
		{
			name: 'in the body',
			sources: [{ status: 'paid' }],
			expected: true,
		},
		{
			name: 'with spaces around it',
			sources: [{ status: ' paid ' }],
			expected: true,
		},
		{
			name: 'as a number',
			sources: [{ status: 7 }],
			expected: true,
		},
		{
			name: 'as a boolean',
			sources: [{ status: true }],
			expected: true,
		},
		{
			name: 'in the query, where the body is a text',
			sources: ['x', { status: 'paid' }],
			expected: true,
		},
		{
			name: 'in the query, where the body has no such field',
			sources: [{ a: 1 }, { status: 'paid' }],
			expected: true,
		},
		{
			name: 'in the query, where the body has null',
			sources: [{ status: null }, { status: 'paid' }],
			expected: true,
		},
		{
			name: 'not in the query, where the body has another',
			sources: [{ status: 'no' }, { status: 'paid' }],
			expected: false,
		},
		{
			name: 'in capitals',
			sources: [{ status: 'PAID' }],
			expected: true,
		},
		{
			name: 'under a name in capitals',
			sources: [{ STATUS: 'paid' }],
			expected: true,
		},
		{
			name: 'under its own spelling first',
			sources: [{ Status: 'no', status: 'paid' }],
			expected: true,
		},
		{
			name: 'not under another spelling of it',
			sources: [{ Status: 'paid', status: 'no' }],
			expected: false,
		},
		{
			name: 'not within a list',
			sources: [{ status: ['paid'] }],
			expected: false,
		},
		{
			name: 'not empty',
			sources: [{ status: '' }],
			expected: false,
		},
		{
			name: 'nowhere',
			sources: [undefined, null],
			expected: false,
		},
	])('$name', ({ sources, expected }) => {
		expect(mismatchOf(match, ...sources) === undefined).toBe(expected);
	});

	test.each([
		{
			name: 'missing',
			sources: [{ state: 'paid' }, {}],
			why: 'the field "status" is missing',
		},
		{
			name: 'another',
			sources: [{ status: 'secret-value' }],
			why: 'the field "status" has another value',
		},
		{
			name: 'in a list at the top',
			sources: [[{ status: 'paid' }], {}],
			why: 'the field "status" is missing, and the first entry of the list would be "0.status"',
		},
		{
			name: 'a list',
			sources: [{ status: ['paid'] }],
			why: 'the field "status" is not a single value',
		},
	])('why it does not match, without the value: $name', ({ sources, why }) => {
		expect(mismatchOf(match, ...sources)).toBe(why);
	});

	test.each([
		{
			field: 'data.status',
			source: { 'data[status]': 'paid' },
		},
		{
			field: 'data[status]',
			source: { data: { status: 'paid' } },
		},
		{
			field: 'data[Status]',
			source: { 'data[status]': 'paid' },
		},
		{
			field: 'list.0.a',
			source: { 'list[0][a]': 'paid' },
		},
		{
			field: '0.status',
			source: [{ status: 'paid' }],
		},
		{
			field: 'Data.Status',
			source: { data: { status: 'paid' } },
		},
		{
			field: 'DATA.0.status',
			source: { data: [{ Status: 'paid' }] },
		},
	])(
		'$field is found in a form as in a query, however it is spelled: $source',
		({ field, source }) => {
			expect(mismatchOf(readFieldMatch(field, ['paid'], refusal), source)).toBeUndefined();
		},
	);

	test.each([
		{
			name: 'no field',
			field: '',
			values: ['paid'],
		},
		{
			name: 'no values',
			field: 'status',
			values: [],
		},
		{
			name: 'only empty values',
			field: 'status',
			values: ['', ' '],
		},
		{
			name: 'nothing',
			field: undefined,
			values: undefined,
		},
		{
			name: 'several values as one',
			field: 'status',
			values: ['paid, approved'],
		},
		{
			name: 'one of them',
			field: 'status',
			values: ['paid', 'a,b'],
		},
	])('$name is refused', ({ field, values }) => {
		expect(() => readFieldMatch(field, values, refusal)).toThrow(InputError);
	});
});

test.each<{ name: string; field: unknown; values: unknown; expected: boolean }>([
	{
		name: 'neither',
		field: '',
		values: '',
		expected: true,
	},
	{
		name: 'nothing at all',
		field: undefined,
		values: undefined,
		expected: true,
	},
	{
		name: 'blanks and blank lines',
		field: ' ',
		values: [' ', '\n', null],
		expected: true,
	},
	{
		name: 'a field',
		field: 'status',
		values: '',
		expected: false,
	},
	{
		name: 'a value',
		field: '',
		values: 'paid',
		expected: false,
	},
	{
		name: 'a value in a list within a list',
		field: '',
		values: [['paid']],
		expected: false,
	},
	{
		name: 'both',
		field: 'status',
		values: ['paid'],
		expected: false,
	},
])('$name entered is unset or not', ({ field, values, expected }) => {
	expect(isUnset(field, values)).toBe(expected);
});

test.each<{ entered: unknown; expected: string }>([
	{
		entered: undefined,
		expected: '',
	},
	{
		entered: ' \n ',
		expected: '',
	},
	{
		entered: 'status',
		expected: 'status',
	},
	{
		entered: ' data.status \r\n\r\n statusCode.statusId\rstate\n',
		expected: 'data.status\nstatusCode.statusId\nstate',
	},
])('the paths $entered are read', ({ entered, expected }) => {
	expect(readPaths(entered, refusal)).toBe(expected);
});

const DOTS = 'Enter one path a line, with dots between the levels, for example data.status.';
test.each<{ entered: unknown; message: string; advice: string }>([
	{
		entered: 7,
		message: 'must be text',
		advice: 'Enter one path a line.',
	},
	{
		entered: ['status'],
		message: 'must be text',
		advice: 'Enter one path a line.',
	},
	{
		entered: 'status\ndata..status',
		message: 'cannot be read in line 2, "data..status"',
		advice: DOTS,
	},
	{
		entered: '.status',
		message: 'cannot be read in line 1, ".status"',
		advice: DOTS,
	},
	{
		entered: 'status.',
		message: 'cannot be read in line 1, "status."',
		advice: DOTS,
	},
	{
		entered: 'status, state',
		message: 'cannot be read in line 1, "status, state"',
		advice: DOTS,
	},
	{
		entered: '{{status}}',
		message: 'cannot be read in line 1, "{{status}}"',
		advice: DOTS,
	},
	{
		entered: 'data}',
		message: 'cannot be read in line 1, "data}"',
		advice: DOTS,
	},
	{
		entered: '$json',
		message: 'cannot be read in line 1, "$json"',
		advice: DOTS,
	},
])('the paths $entered are refused', ({ entered, message, advice }) => {
	expect(refusalOf(() => readPaths(entered, refusal))).toMatchObject({ message, advice });
});

test.each<{ entered: unknown; expected: string[] }>([
	{
		entered: 'paid',
		expected: ['paid'],
	},
	{
		entered: ' paid \r\n\r\n settled\rdone\n',
		expected: ['paid', 'settled', 'done'],
	},
	{
		entered: ['paid', ' ', null, 7, true, ['late', 0]],
		expected: ['paid', '7', 'true', 'late', '0'],
	},
	{
		entered: 1,
		expected: ['1'],
	},
	{
		entered: undefined,
		expected: [],
	},
])('the values $entered are read', ({ entered, expected }) => {
	expect(readValues(entered, refusal)).toStrictEqual(expected);
});

test.each<{ entered: unknown; message: string; advice: string }>([
	{
		entered: {},
		message: 'can have texts and numbers as values only',
		advice: 'Enter one value a line.',
	},
	{
		entered: ['paid', {}],
		message: 'can have texts and numbers as values only',
		advice: 'Enter one value a line.',
	},
	{
		entered: ['done', ' paid, approved '],
		message: 'cannot have the value "paid, approved", which holds a comma',
		advice: 'Enter each value by itself.',
	},
])('the values $entered are refused', ({ entered, message, advice }) => {
	expect(refusalOf(() => readValues(entered, refusal))).toMatchObject({ message, advice });
});

test.each<{ field: unknown; values: unknown }>([
	{
		field: '',
		values: ['paid'],
	},
	{
		field: 'status',
		values: [],
	},
	{
		field: ['status'],
		values: ['paid'],
	},
])('a field $field with the values $values is refused: both must be there', ({ field, values }) => {
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

test.each<{ name: string; field: string; sources: unknown[]; expected: object | undefined }>([
	{
		name: 'of the first path',
		field: 'a\nb',
		sources: [{ b: 2, a: 1 }],
		expected: { path: 'a', value: 1 },
	},
	{
		name: 'of the first path, in a later source',
		field: 'a\nb',
		sources: [{ b: 2 }, { a: 1 }],
		expected: { path: 'a', value: 1 },
	},
	{
		name: 'of a later path, where the first is null',
		field: 'a\nb',
		sources: [{ a: null, b: 2 }],
		expected: { path: 'b', value: 2 },
	},
	{
		name: 'of a later path before an object',
		field: 'a\nb',
		sources: [{ a: {}, b: false }],
		expected: { path: 'b', value: false },
	},
	{
		name: 'that is an object, the first of them',
		field: 'a\nb',
		sources: [{ a: [1], b: {} }],
		expected: { path: 'a', value: [1] },
	},
	{
		name: 'nowhere',
		field: 'a\nb',
		sources: [{ c: 1 }, undefined],
		expected: undefined,
	},
	{
		name: 'null alone',
		field: 'a',
		sources: [{ a: null }],
		expected: undefined,
	},
])('the value $name', ({ field, sources, expected }) => {
	expect(firstValue(field, sources)).toStrictEqual(expected);
});

test.each<{ field: string; sources: unknown[]; expected: string }>([
	{
		field: 'status',
		sources: [{}],
		expected: 'the field "status" is missing',
	},
	{
		field: 'status\nstate',
		sources: [{}],
		expected: 'the fields "status" and "state" are missing',
	},
	{
		field: 'status\nstate',
		sources: [[{}]],
		expected: 'the fields "status" and "state" are missing',
	},
	{
		field: 'status',
		sources: [[], {}],
		expected: 'the field "status" is missing, and the first entry of the list would be "0.status"',
	},
	{
		field: 'status',
		sources: [{}, []],
		expected: 'the field "status" is missing',
	},
])('that $field is missing from $sources is said', ({ field, sources, expected }) => {
	expect(missing(field, sources)).toBe(expected);
});

test.each<{ one: string[]; other: string[]; expected: string | undefined }>([
	{
		one: ['paid', 'Done'],
		other: ['failed', 'DONE '],
		expected: undefined,
	},
	{
		one: ['paid', ' Done'],
		other: ['failed', 'DONE'],
		expected: ' Done',
	},
	{
		one: ['a', 'b'],
		other: ['b', 'a'],
		expected: 'a',
	},
	{
		one: [],
		other: ['a'],
		expected: undefined,
	},
])('the first word of $one that is in $other', ({ one, other, expected }) => {
	expect(inBoth(one, other)).toBe(expected);
});
