import {
	isJsonObject,
	isTooDeep,
	jsonOrText,
	readTypedJson,
	valueAt,
} from '../nodes/Pay/base/json';

test.each<{ name: string; value: unknown; expected: boolean }>([
	{ name: 'an object', value: {}, expected: true },
	{ name: 'an object without a prototype', value: Object.create(null), expected: true },
	{ name: 'a list', value: [], expected: false },
	{ name: 'null', value: null, expected: false },
	{ name: 'a text', value: 'a', expected: false },
	{ name: 'nothing', value: undefined, expected: false },
])('$name has members of its own: $expected', ({ value, expected }) => {
	expect(isJsonObject(value)).toBe(expected);
});

/** A value below so many lists. */
function nested(levels: number): unknown {
	let value: unknown = 1;
	for (let level = 0; level < levels; level++) value = [value];
	return value;
}

test.each<{ name: string; value: unknown; levels: number | undefined; expected: boolean }>([
	{ name: 'a text', value: 'a', levels: 0, expected: false },
	{ name: 'null', value: null, levels: 0, expected: false },
	{ name: 'an object, where no level may be', value: {}, levels: 0, expected: true },
	{ name: 'an object, where one may be', value: { a: 1 }, levels: 1, expected: false },
	{
		name: 'a list in an object, where one may be',
		value: { a: 1, b: [] },
		levels: 1,
		expected: true,
	},
	{
		name: 'a list in an object, where two may be',
		value: { a: 1, b: [] },
		levels: 2,
		expected: false,
	},
	{ name: 'a hundred levels', value: nested(100), levels: undefined, expected: false },
	{ name: 'a hundred and one levels', value: nested(101), levels: undefined, expected: true },
])('$name is too deep: $expected', ({ value, levels, expected }) => {
	expect(isTooDeep(value, levels)).toBe(expected);
});

describe('JSON or text', () => {
	const INSIDE = `${'['.repeat(50)}1${']'.repeat(50)}`;
	const brackets = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

	test.each<{ name: string; text: string; expected: unknown }>([
		{ name: 'an object', text: ' {"a": [1, true, null]} ', expected: { a: [1, true, null] } },
		{ name: 'a text that is no JSON', text: 'a=1', expected: 'a=1' },
		{ name: 'an empty text', text: '', expected: '' },
		{
			name: 'the largest safe integer',
			text: '{"a":9007199254740991}',
			expected: { a: 9007199254740991 },
		},
		{
			name: 'an integer beyond it',
			text: '{"a":9007199254740993}',
			expected: { a: '9007199254740993' },
		},
		{ name: 'a negative one', text: '[-9007199254740993]', expected: ['-9007199254740993'] },
		{ name: 'a long fraction', text: '[0.1234567890123456]', expected: [0.1234567890123456] },
		{
			name: 'a number beyond all',
			text: '[1e999,1234567890123456]',
			expected: ['1e999', 1234567890123456],
		},
		{ name: 'a name that comes twice', text: '{"a":1234567890123456,"a":2}', expected: { a: 2 } },
		{
			name: 'a long integer in broken JSON',
			text: '[1234567890123456',
			expected: '[1234567890123456',
		},
		{
			name: 'lists beside each other',
			text: `[${INSIDE},${INSIDE},${INSIDE}]`,
			expected: [0, 1, 2].map(() => nested(50)),
		},
		{
			name: 'brackets in a text',
			text: JSON.stringify('[{'.repeat(200)),
			expected: '[{'.repeat(200),
		},
		{
			name: 'brackets behind an escaped quote',
			text: JSON.stringify(`"${'['.repeat(200)}`),
			expected: `"${'['.repeat(200)}`,
		},
		{
			name: 'commas in a text',
			text: JSON.stringify(','.repeat(100_002)),
			expected: ','.repeat(100_002),
		},
	])('$name is read as it was meant', ({ text, expected }) => {
		expect(jsonOrText(text)).toStrictEqual(expected);
	});

	test('a hundred levels are read, and one more stays text', () => {
		expect(typeof jsonOrText(brackets(100))).toBe('object');
		expect(jsonOrText(brackets(101))).toBe(brackets(101));
		const objects = `${'{"a":'.repeat(101)}1${'}'.repeat(101)}`;
		expect(jsonOrText(objects)).toBe(objects);
	});

	test('objects beside each other are no levels', () => {
		const text = `[${Array.from({ length: 200 }, () => '{}').join()}]`;
		expect(jsonOrText(text)).toStrictEqual(Array.from({ length: 200 }, () => ({})));
	});

	test('a hundred thousand commas are read, and one more stays text', () => {
		const list = (commas: number) => `[${'1,'.repeat(commas)}1]`;
		expect(jsonOrText(list(100_000))).toHaveLength(100_001);
		expect(jsonOrText(list(100_001))).toBe(list(100_001));
	});
});

test('typed JSON is parsed, or gives its mistake', () => {
	expect(readTypedJson('{"a":[1.5]}')).toStrictEqual({ parsed: { a: [1.5] } });
	expect(readTypedJson('[12345678901234567890]')).toStrictEqual({
		mistake:
			'the number 12345678901234567890 has too many digits to keep them all; write it as text',
	});
	const { parsed, mistake } = readTypedJson('{');
	expect(parsed).toBeUndefined();
	expect(typeof mistake).toBe('string');
});

test.each<{ name: string; value: unknown; path: string; expected: unknown }>([
	{ name: 'a member', value: { status: 'paid' }, path: 'status', expected: 'paid' },
	{
		name: 'a member of a member',
		value: { data: { status: 'paid' } },
		path: 'data.status',
		expected: 'paid',
	},
	{
		name: 'a member of a list',
		value: { data: [{ status: 'paid' }] },
		path: 'data.0.status',
		expected: 'paid',
	},
	{
		name: 'a key with a dot',
		value: { 'data.status': 'paid' },
		path: 'data.status',
		expected: 'paid',
	},
	{ name: 'the key before the levels', value: { 'a.b': 1, a: { b: 2 } }, path: 'a.b', expected: 1 },
	{
		name: 'the key before the levels, in any order',
		value: { a: { b: 2 }, 'a.b': 1 },
		path: 'a.b',
		expected: 1,
	},
	{ name: 'a key with a dot on the way', value: { 'a.b': { c: 1 } }, path: 'a.b.c', expected: 1 },
	{ name: 'a key with a dot at the end', value: { a: { 'b.c': 1 } }, path: 'a.b.c', expected: 1 },
	{
		name: 'a way that ends, then another',
		value: { 'a.b': {}, a: { b: { c: 1 } } },
		path: 'a.b.c',
		expected: 1,
	},
	{ name: 'null', value: { a: null }, path: 'a', expected: null },
	{ name: 'nothing inherited', value: {}, path: 'constructor.name', expected: undefined },
	{ name: 'nothing of a text', value: { a: 'text' }, path: 'a.length', expected: undefined },
	{
		name: 'an own __proto__',
		value: JSON.parse('{"__proto__":{"a":1}}'),
		path: '__proto__.a',
		expected: 1,
	},
	{ name: 'nothing at an empty path', value: { '': 1 }, path: '', expected: undefined },
	{ name: 'nothing of null', value: null, path: 'a', expected: undefined },
	{
		name: 'nothing under a name that only begins so',
		value: { ab: 1 },
		path: 'a',
		expected: undefined,
	},
	{ name: 'nothing under a longer name', value: { a: { b: 1 } }, path: 'ab', expected: undefined },
])('valueAt finds $name', ({ value, path, expected }) => {
	expect(valueAt(value, path)).toStrictEqual(expected);
});

test('valueAt goes into no member of another name, also one that is as long', () => {
	expect(valueAt({ info: { status: 'paid' } }, 'data.status')).toBeUndefined();
	expect(valueAt({ datum: { status: 'paid' } }, 'data.status')).toBeUndefined();
});

test('valueAt compares names as they are written, at any depth', () => {
	const lower = (name: string) => name.toLowerCase();
	expect(valueAt({ Data: { STATUS: 'paid' } }, 'data.status', lower)).toBe('paid');
	expect(valueAt({ Data: { STATUS: 'paid' } }, 'data.status')).toBeUndefined();
});
