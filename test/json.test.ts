import { isMembers, isTooDeep, jsonOrText, parseTypedJson, valueAt } from '../nodes/Pay/json';

test.each<[string, unknown, boolean]>([
	['an object', {}, true],
	['an object without a prototype', Object.create(null), true],
	['a list', [], false],
	['null', null, false],
	['a text', 'a', false],
	['nothing', undefined, false],
])('%s has members or not', (_name, value, expected) => {
	expect(isMembers(value)).toBe(expected);
});

/** A value below so many lists. */
function nested(levels: number): unknown {
	let value: unknown = 1;
	for (let level = 0; level < levels; level++) value = [value];
	return value;
}

test.each<[string, unknown, number | undefined, boolean]>([
	['a text', 'a', 0, false],
	['null', null, 0, false],
	['an object, where no level may be', {}, 0, true],
	['an object, where one may be', { a: 1 }, 1, false],
	['a list in an object, where one may be', { a: 1, b: [] }, 1, true],
	['a list in an object, where two may be', { a: 1, b: [] }, 2, false],
	['a hundred levels', nested(100), undefined, false],
	['a hundred and one levels', nested(101), undefined, true],
])('%s is too deep or not', (_name, value, levels, expected) => {
	expect(isTooDeep(value, levels)).toBe(expected);
});

describe('JSON or text', () => {
	const INSIDE = `${'['.repeat(50)}1${']'.repeat(50)}`;
	const brackets = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

	test.each<[string, string, unknown]>([
		['an object', ' {"a": [1, true, null]} ', { a: [1, true, null] }],
		['a text that is no JSON', 'a=1', 'a=1'],
		['an empty text', '', ''],
		['the largest safe integer', '{"a":9007199254740991}', { a: 9007199254740991 }],
		['an integer beyond it', '{"a":9007199254740993}', { a: '9007199254740993' }],
		['a negative one', '[-9007199254740993]', ['-9007199254740993']],
		['a long fraction', '[0.1234567890123456]', [0.1234567890123456]],
		['a number beyond all', '[1e999,1234567890123456]', ['1e999', 1234567890123456]],
		['a name that comes twice', '{"a":1234567890123456,"a":2}', { a: 2 }],
		['a long integer in broken JSON', '[1234567890123456', '[1234567890123456'],
		['lists beside each other', `[${INSIDE},${INSIDE},${INSIDE}]`, [0, 1, 2].map(() => nested(50))],
		['brackets in a text', JSON.stringify('[{'.repeat(200)), '[{'.repeat(200)],
		[
			'brackets behind an escaped quote',
			JSON.stringify(`"${'['.repeat(200)}`),
			`"${'['.repeat(200)}`,
		],
		['commas in a text', JSON.stringify(','.repeat(100_002)), ','.repeat(100_002)],
	])('%s', (_name, text, expected) => {
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
	expect(parseTypedJson('{"a":[1.5]}')).toStrictEqual({ parsed: { a: [1.5] } });
	expect(parseTypedJson('[12345678901234567890]')).toStrictEqual({
		mistake:
			'the number 12345678901234567890 has too many digits to keep them all; write it as text',
	});
	const { parsed, mistake } = parseTypedJson('{');
	expect(parsed).toBeUndefined();
	expect(typeof mistake).toBe('string');
});

test.each<[string, unknown, string, unknown]>([
	['a member', { status: 'paid' }, 'status', 'paid'],
	['a member of a member', { data: { status: 'paid' } }, 'data.status', 'paid'],
	['a member of a list', { data: [{ status: 'paid' }] }, 'data.0.status', 'paid'],
	['a key with a dot', { 'data.status': 'paid' }, 'data.status', 'paid'],
	['the key before the levels', { 'a.b': 1, a: { b: 2 } }, 'a.b', 1],
	['the key before the levels, in any order', { a: { b: 2 }, 'a.b': 1 }, 'a.b', 1],
	['a key with a dot on the way', { 'a.b': { c: 1 } }, 'a.b.c', 1],
	['a key with a dot at the end', { a: { 'b.c': 1 } }, 'a.b.c', 1],
	['a way that ends, then another', { 'a.b': {}, a: { b: { c: 1 } } }, 'a.b.c', 1],
	['null', { a: null }, 'a', null],
	['nothing inherited', {}, 'constructor.name', undefined],
	['nothing of a text', { a: 'text' }, 'a.length', undefined],
	['an own __proto__', JSON.parse('{"__proto__":{"a":1}}'), '__proto__.a', 1],
	['nothing at an empty path', { '': 1 }, '', undefined],
	['nothing of null', null, 'a', undefined],
	['nothing under a name that only begins so', { ab: 1 }, 'a', undefined],
	['nothing under a longer name', { a: { b: 1 } }, 'ab', undefined],
])('valueAt finds %s', (_name, value, path, expected) => {
	expect(valueAt(value, path)).toStrictEqual(expected);
});

test('valueAt compares names as they are written, at any depth', () => {
	const lower = (name: string) => name.toLowerCase();
	expect(valueAt({ Data: { STATUS: 'paid' } }, 'data.status', lower)).toBe('paid');
	expect(valueAt({ Data: { STATUS: 'paid' } }, 'data.status')).toBeUndefined();
});
