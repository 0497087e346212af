import { firstValue, mismatchOf, missingInWords } from '../../nodes/Pay/service/fieldMatch';

describe('a field has one of some values', () => {
	const match = { field: 'status', values: ['paid', '7', 'true'] };

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
			expect(mismatchOf({ field, values: ['paid'] }, source)).toBeUndefined();
		},
	);
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
	expect(missingInWords(field, sources)).toBe(expected);
});
