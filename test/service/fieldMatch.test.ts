import {
	entriesOf,
	firstValue,
	isThere,
	mismatchOf,
	missingInWords,
	Sources,
} from '../../nodes/Pay/service/paths';

describe('a field has one of some values', () => {
	const match = { field: ['status'], values: ['paid', '7', 'true'] };

	test.each([
		{ name: 'in the body', sources: [{ status: 'paid' }], expected: true },
		{ name: 'with spaces around it', sources: [{ status: ' paid ' }], expected: true },
		{ name: 'as a number', sources: [{ status: 7 }], expected: true },
		{ name: 'as a boolean', sources: [{ status: true }], expected: true },
		{
			name: 'in the query, where the body is a text',
			sources: ['x', { status: 'paid' }],
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
		{ name: 'in capitals', sources: [{ status: 'PAID' }], expected: true },
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
		{ name: 'not within a list', sources: [{ status: ['paid'] }], expected: false },
		{ name: 'not empty', sources: [{ status: '' }], expected: false },
		{ name: 'nowhere', sources: [undefined, null], expected: false },
	])('$name: that it has one is $expected', ({ sources, expected }) => {
		expect(mismatchOf(match, new Sources(...sources)) === undefined).toBe(expected);
	});

	test.each([
		{ name: 'missing', sources: [{ state: 'paid' }, {}], why: 'the field "status" is missing' },
		{
			name: 'another',
			sources: [{ status: 'secret-value' }],
			why: 'the field "status" has another value',
		},
		{
			name: 'in a list at the top',
			sources: [[{ status: 'paid' }], {}],
			why: 'the field "status" is missing, and the body is a list, whose entries are read with "[].status"',
		},
		{
			name: 'a list',
			sources: [{ status: ['paid'] }],
			why: 'the field "status" is not a single value',
		},
	])('why it does not match, without the value: $name', ({ sources, why }) => {
		expect(mismatchOf(match, new Sources(...sources))).toBe(why);
	});

	test.each([
		{ field: ['data.status'], source: { 'data[status]': 'paid' } },
		{ field: ['data[status]'], source: { data: { status: 'paid' } } },
		{ field: ['data[Status]'], source: { 'data[status]': 'paid' } },
		{ field: ['list.0.a'], source: { 'list[0][a]': 'paid' } },
		{ field: ['0.status'], source: [{ status: 'paid' }] },
		{ field: ['Data.Status'], source: { data: { status: 'paid' } } },
		{ field: ['DATA.0.status'], source: { data: [{ Status: 'paid' }] } },
	])(
		'$field is found in a form as in a query, however it is spelled: $source',
		({ field, source }) => {
			expect(mismatchOf({ field, values: ['paid'] }, new Sources(source))).toBeUndefined();
		},
	);
});

test.each<{ name: string; field: string[]; sources: unknown[]; expected: object | undefined }>([
	{
		name: 'of the first path',
		field: ['a', 'b'],
		sources: [{ b: 2, a: 1 }],
		expected: { path: 'a', value: 1 },
	},
	{
		name: 'of the first path, in a later source',
		field: ['a', 'b'],
		sources: [{ b: 2 }, { a: 1 }],
		expected: { path: 'a', value: 1 },
	},
	{
		name: 'of a later path, where the first is null',
		field: ['a', 'b'],
		sources: [{ a: null, b: 2 }],
		expected: { path: 'b', value: 2 },
	},
	{
		name: 'of a later path before an object',
		field: ['a', 'b'],
		sources: [{ a: {}, b: false }],
		expected: { path: 'b', value: false },
	},
	{
		name: 'that is an object, the first of them',
		field: ['a', 'b'],
		sources: [{ a: [1], b: {} }],
		expected: { path: 'a', value: [1] },
	},
	{ name: 'nowhere', field: ['a', 'b'], sources: [{ c: 1 }, undefined], expected: undefined },
	{ name: 'null alone', field: ['a'], sources: [{ a: null }], expected: undefined },
])('the value $name is found as $expected', ({ field, sources, expected }) => {
	expect(firstValue(field, new Sources(...sources))).toStrictEqual(expected);
});

test.each<{ field: string[]; sources: unknown[]; expected: string }>([
	{ field: ['status'], sources: [{}], expected: 'the field "status" is missing' },
	{
		field: ['status', 'state'],
		sources: [{}],
		expected: 'the fields "status" and "state" are missing',
	},
	{
		field: ['status', 'state'],
		sources: [[{}]],
		expected: 'the fields "status" and "state" are missing',
	},
	{
		field: ['status'],
		sources: [[], {}],
		expected:
			'the field "status" is missing, and the body is a list, whose entries are read with "[].status"',
	},
	{ field: ['status'], sources: [{}, []], expected: 'the field "status" is missing' },
])('that $field is missing from $sources is said', ({ field, sources, expected }) => {
	expect(missingInWords(field, new Sources(...sources))).toBe(expected);
});

describe('a text that holds JSON', () => {
	const match = { field: ['data.status'], values: ['paid'] };

	test.each<{ what: string; data: unknown; expected: boolean }>([
		{ what: 'is entered', data: '{"status":"paid"}', expected: true },
		{ what: 'is entered behind spaces', data: ' \n{"status":"paid"}', expected: true },
		{ what: 'is none where it is cut', data: '{"status":"paid"', expected: false },
		{
			what: 'is none where it is a text of JSON',
			data: '"{\\"status\\":\\"paid\\"}"',
			expected: false,
		},
		{
			what: 'is not read beyond the levels of a body',
			data: `{"status":"paid","a":${'['.repeat(100)}${']'.repeat(100)}}`,
			expected: false,
		},
		{
			what: 'is not read beyond the members of a body',
			data: `{"status":"paid","a":[${'1,'.repeat(100_001)}1]}`,
			expected: false,
		},
	])('$what, so that a field in it is found: $expected', ({ data, expected }) => {
		expect(mismatchOf(match, new Sources({ data })) === undefined).toBe(expected);
	});

	test('is entered wherever it stands: as the body, in a list, within another text', () => {
		const inner = JSON.stringify({ status: 'paid' });
		const within = JSON.stringify({ data: inner });
		expect(mismatchOf(match, new Sources(within))).toBeUndefined();
		const inList = { ...match, field: ['data.0.status'] };
		expect(mismatchOf(inList, new Sources({ data: [inner] }))).toBeUndefined();
	});

	test('of a form has its own names, and no others', () => {
		const proto = { ...match, field: ['data.__proto__.status'] };
		const source = new Sources({ data: '{}' });
		expect(mismatchOf(proto, source)).toBe('the field "data.__proto__.status" is missing');
	});
});

test.each<{ value: unknown; expected: boolean }>([
	{ value: 'x', expected: true },
	{ value: 7, expected: true },
	{ value: 0.01, expected: true },
	{ value: '0.01', expected: true },
	{ value: true, expected: true },
	{ value: [0], expected: true },
	{ value: { a: null }, expected: true },
	{ value: '{"a":1}', expected: true },
	{ value: 'оплачено', expected: true },
	{ value: undefined, expected: false },
	{ value: null, expected: false },
	{ value: false, expected: false },
	{ value: 0, expected: false },
	{ value: '', expected: false },
	{ value: ' \t', expected: false },
	{ value: '0', expected: false },
	{ value: '0,00', expected: false },
	{ value: '0000-00-00 00:00:00', expected: false },
	{ value: 'False', expected: false },
	{ value: 'null', expected: false },
	{ value: [], expected: false },
	{ value: {}, expected: false },
	{ value: '[]', expected: false },
	{ value: ' {} ', expected: false },
])('that $value says something: $expected', ({ value, expected }) => {
	expect(isThere(value)).toBe(expected);
	const why = mismatchOf({ field: ['a'], values: ['*'] }, new Sources({ a: value }));
	expect(why === undefined).toBe(expected);
});

test('a text that is too long for a word is none, and is not empty', () => {
	const sources = new Sources({ a: `paid${' '.repeat(1000)}` });
	expect(mismatchOf({ field: ['a'], values: ['paid'] }, sources)).toBe(
		'the field "a" has another value',
	);
	expect(mismatchOf({ field: ['a'], values: ['*'] }, sources)).toBeUndefined();
});

test('of a field that has nothing, a log says that it is empty', () => {
	const match = { field: ['a'], values: ['*'] };
	expect(mismatchOf(match, new Sources({ a: '' }))).toBe('the field "a" is empty');
});

test('a header is read by its name in any case, and only as one', () => {
	const shown = { body: {}, query: {}, headers: { 'x-event': 'paid' } };
	const sources = () => new Sources({}, {}, shown, { postback: shown });
	for (const field of ['headers.x-event', 'Headers.X-Event', 'postback.headers.x-event']) {
		expect(mismatchOf({ field: [field], values: ['paid'] }, sources())).toBeUndefined();
	}
	expect(mismatchOf({ field: ['x-event'], values: ['paid'] }, sources())).toBeDefined();
});

test('the entries of a list are those of the first part that has it', () => {
	const body = { pix: [1, 2] };
	const of = (field: string, ...parts: unknown[]) =>
		entriesOf([field], new Sources(...parts)).map(({ value, isAlone }) => [value, isAlone]);
	const two = [
		[1, false],
		[2, false],
	];
	expect(of('pix[].a', body, { pix: 'x' })).toStrictEqual(two);
	expect(of('pix[].a', {}, body)).toStrictEqual(two);
	expect(of('PIX[].a\nbody.pix[].b', body, {}, { body })).toStrictEqual(two);
	expect(of('[].a', [7])).toStrictEqual([[7, true]]);
	expect(of('[].a', { a: 1 })).toStrictEqual([]);
	expect(of('pix[].a', { pix: 'x' })).toStrictEqual([]);
	expect(of('pix.a', body)).toStrictEqual([]);
});

test('what a postback has instead of a field is told by names alone, of which there are few', () => {
	const body = {
		event: 'x',
		data: { id: 'secret', inner: '{"a":1}' },
		pix: [{ txid: 1 }],
		none: null,
		amount: ['10', '20'],
		refunds: [],
	};
	expect(new Sources(body).names(20)).toStrictEqual([
		'event',
		'none',
		'data.id',
		'amount[]',
		'refunds[]',
		'data.inner.a',
		'pix[].txid',
	]);
	const large = Object.fromEntries(
		Array.from({ length: 500 }, (_each, at) => [`n${at}`, { a: 1 }]),
	);
	expect(new Sources(large).names(20).length).toBeLessThanOrEqual(20);
	expect(new Sources('text').names(20)).toStrictEqual([]);
});
