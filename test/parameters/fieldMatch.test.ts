import { InputError } from '../../nodes/Pay/inputError';
import { valueAt } from '../../nodes/Pay/json';
import { mismatchOf, readFieldMatch } from '../../nodes/Pay/parameters/fieldMatch';

const refusal = (what: string, advice: string) => new InputError('field', what, advice);

test.each([
	['a member', { status: 'paid' }, 'status', 'paid'],
	['a member of a member', { data: { status: 'paid' } }, 'data.status', 'paid'],
	['a member of a list', { data: [{ status: 'paid' }] }, 'data.0.status', 'paid'],
	['a key with a dot', { 'data.status': 'paid' }, 'data.status', 'paid'],
	['the key before the levels', { 'a.b': 1, a: { b: 2 } }, 'a.b', 1],
	['a key with a dot on the way', { 'a.b': { c: 1 } }, 'a.b.c', 1],
	['a key with a dot at the end', { a: { 'b.c': 1 } }, 'a.b.c', 1],
	['a way that ends, then another', { 'a.b': {}, a: { b: { c: 1 } } }, 'a.b.c', 1],
	['null', { a: null }, 'a', null],
	['nothing inherited', {}, 'constructor.name', undefined],
	['nothing of a text', { a: 'text' }, 'a.length', undefined],
	['an own __proto__', JSON.parse('{"__proto__":{"a":1}}'), '__proto__.a', 1],
	['nothing at an empty path', { '': 1 }, '', undefined],
])('valueAt finds %s', (_name, value, path, expected) => {
	expect(valueAt(value, path)).toStrictEqual(expected);
});

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
