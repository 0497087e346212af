import {
	inBoth,
	isUnset,
	readFieldMatch,
	readPaths,
	readRequiredValues,
	readValues,
} from '../../nodes/Pay/fields/paths';
import { refusalOf } from '../refusal';

const FIELD = { name: 'field', displayName: 'Field', called: 'It' };

test.each<{ name: string; field: unknown; values: unknown; expected: boolean }>([
	{ name: 'neither', field: '', values: '', expected: true },
	{ name: 'nothing at all', field: undefined, values: undefined, expected: true },
	{ name: 'blanks and blank lines', field: ' ', values: [' ', '\n', null], expected: true },
	{ name: 'a field', field: 'status', values: '', expected: false },
	{ name: 'a value', field: '', values: 'paid', expected: false },
	{ name: 'a value in a list within a list', field: '', values: [['paid']], expected: false },
	{ name: 'both', field: 'status', values: ['paid'], expected: false },
])('where $name is entered, it is unset: $expected', ({ field, values, expected }) => {
	expect(isUnset(field, values)).toBe(expected);
});

test.each<{ entered: unknown; expected: string[] }>([
	{ entered: undefined, expected: [] },
	{ entered: ' \n ', expected: [] },
	{ entered: 'status', expected: ['status'] },
	{
		entered: ' data.status \r\n\r\n statusCode.statusId\rstate\n',
		expected: ['data.status', 'statusCode.statusId', 'state'],
	},
])('the paths $entered are read', ({ entered, expected }) => {
	expect(readPaths(entered, FIELD)).toStrictEqual(expected);
});

test.each<{ entered: unknown }>([
	{ entered: 7 },
	{ entered: ['status'] },
	{ entered: 'status\ndata..status' },
	{ entered: '.status' },
	{ entered: 'status.' },
	{ entered: 'status, state' },
	{ entered: '{{status}}' },
	{ entered: 'data}' },
	{ entered: '$json' },
])('the paths $entered are refused, by the name of the field', ({ entered }) => {
	expect(refusalOf(() => readPaths(entered, FIELD))?.field).toBe('field');
});

test.each([
	{ path: 'headers.x-webhook-token', isRefused: true },
	{ path: 'postback.headers[X-Api-Key]', isRefused: true },
	{ path: 'headers.Authorization', isRefused: true },
	{ path: 'query.hmac', isRefused: true },
	{ path: 'headers.x-event', isRefused: false },
	{ path: 'query.token', isRefused: false },
	{ path: 'data.token', isRefused: false },
])('$path, which a postback shows as *** or not at all, is refused: $isRefused', (row) => {
	const { path, isRefused } = row;
	const refusal = refusalOf(() => readPaths(path, FIELD, { mayHaveLists: true }));
	expect(refusal?.field).toBe(isRefused ? 'field' : undefined);
	const required = refusalOf(() => readRequiredValues(`${path} = a`, FIELD));
	expect(required?.field).toBe(isRefused ? 'field' : undefined);
	// A challenge is given back as it was sent.
	expect(readPaths(path, FIELD)).toStrictEqual([path]);
});

describe('a path through a list', () => {
	const refusal = (path: string, mayHaveLists: boolean) =>
		refusalOf(() => readPaths(path, FIELD, { mayHaveLists }));

	test.each(['pix[].status', 'data.pix[].status', 'pix[]', 'pix.0.status'])(
		'%s is read in fields of a postback',
		(path) => {
			expect(readPaths(path, FIELD, { mayHaveLists: true })).toStrictEqual([path]);
		},
	);

	test.each(['pix[].events[].status', '[]pix.status', 'p[]ix.status', 'pix[][].status'])(
		'%s is refused: [] stands once, behind a name',
		(path) => {
			expect(refusal(path, true)).toBeDefined();
		},
	);

	test('is refused elsewhere', () => {
		expect(refusal('pix[].status', false)?.field).toBe('field');
		expect(refusalOf(() => readPaths('pix[].status', FIELD))).toBeDefined();
	});
});

test.each<{ entered: unknown; expected: string[] }>([
	{ entered: 'paid', expected: ['paid'] },
	{ entered: ' paid \r\n\r\n settled\rdone\n', expected: ['paid', 'settled', 'done'] },
	{
		entered: ['paid', ' ', null, 7, true, ['late', 0]],
		expected: ['paid', '7', 'true', 'late', '0'],
	},
	{ entered: 1, expected: ['1'] },
	{ entered: undefined, expected: [] },
])('the values $entered are read', ({ entered, expected }) => {
	expect(readValues(entered, FIELD)).toStrictEqual(expected);
});

test.each<{ entered: unknown }>([
	{ entered: {} },
	{ entered: ['paid', {}] },
	{ entered: ['done', ' paid, approved '] },
	{ entered: ['paid', '{{ $json.word }}'] },
])('the values $entered are refused, by the name of the field', ({ entered }) => {
	expect(refusalOf(() => readValues(entered, FIELD))?.field).toBe('field');
});

test.each<{ field: unknown; values: unknown }>([
	{ field: '', values: ['paid'] },
	{ field: 'status', values: ['', ' '] },
	{ field: ['status'], values: ['paid'] },
])('a field $field with the values $values is refused: both must be there', ({ field, values }) => {
	expect(refusalOf(() => readFieldMatch(field, values, FIELD))?.field).toBe('field');
});

test('a field may have several paths, and all its values count', () => {
	expect(readFieldMatch(' a.b \n c', 'paid\n7', FIELD)).toStrictEqual({
		field: ['a.b', 'c'],
		values: ['paid', '7'],
	});
});

test.each<{ one: string[]; other: string[]; expected: string | undefined }>([
	{ one: ['paid', 'Done'], other: ['failed', 'DONE '], expected: undefined },
	{ one: ['paid', ' Done'], other: ['failed', 'DONE'], expected: ' Done' },
	{ one: ['a', 'b'], other: ['b', 'a'], expected: 'a' },
	{ one: [], other: ['a'], expected: undefined },
])('the first word of $one that is in $other is $expected', ({ one, other, expected }) => {
	expect(inBoth(one, other)).toBe(expected);
});
