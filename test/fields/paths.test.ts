import {
	inBoth,
	isUnset,
	readFieldMatch,
	readPaths,
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

const DOTS = 'Enter one path a line, with dots between the levels, for example data.status.';
test.each<{ entered: unknown; message: string; advice: string }>([
	{ entered: 7, message: 'It must be text', advice: 'Enter one path a line.' },
	{ entered: ['status'], message: 'It must be text', advice: 'Enter one path a line.' },
	{
		entered: 'status\ndata..status',
		message: 'It cannot be read in line 2, "data..status"',
		advice: DOTS,
	},
	{ entered: '.status', message: 'It cannot be read in line 1, ".status"', advice: DOTS },
	{ entered: 'status.', message: 'It cannot be read in line 1, "status."', advice: DOTS },
	{
		entered: 'status, state',
		message: 'It cannot be read in line 1, "status, state"',
		advice: DOTS,
	},
	{ entered: '{{status}}', message: 'It cannot be read in line 1, "{{status}}"', advice: DOTS },
	{ entered: 'data}', message: 'It cannot be read in line 1, "data}"', advice: DOTS },
	{ entered: '$json', message: 'It cannot be read in line 1, "$json"', advice: DOTS },
])('the paths $entered are refused', ({ entered, message, advice }) => {
	expect(refusalOf(() => readPaths(entered, FIELD))).toMatchObject({ message, advice });
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

	test('is refused elsewhere, and told where it may stand', () => {
		expect(refusal('pix[].status', false)).toMatchObject({
			message: 'It cannot be read in line 1, "pix[].status"',
			advice: expect.stringContaining('only in fields of a postback'),
		});
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

test.each<{ entered: unknown; message: string; advice: string }>([
	{
		entered: {},
		message: 'It can have texts and numbers as values only',
		advice: 'Enter one value a line.',
	},
	{
		entered: ['paid', {}],
		message: 'It can have texts and numbers as values only',
		advice: 'Enter one value a line.',
	},
	{
		entered: ['done', ' paid, approved '],
		message: 'It cannot have the value "paid, approved", which holds a comma',
		advice: 'Enter each value by itself.',
	},
	{
		entered: ['paid', '{{ $json.word }}'],
		message: 'It holds an expression as plain text',
		advice:
			'n8n put no value in its place. Point at the field, and choose Expression above it. If the text comes from your data, correct it there.',
	},
])('the values $entered are refused', ({ entered, message, advice }) => {
	expect(refusalOf(() => readValues(entered, FIELD))).toMatchObject({ message, advice });
});

test.each<{ field: unknown; values: unknown }>([
	{ field: '', values: ['paid'] },
	{ field: 'status', values: ['', ' '] },
	{ field: ['status'], values: ['paid'] },
])('a field $field with the values $values is refused: both must be there', ({ field, values }) => {
	expect(refusalOf(() => readFieldMatch(field, values, FIELD))).toMatchObject({
		message: 'It and its values must both be there, as text',
		advice: 'Enter both: the field to look at, and at least one of its values.',
	});
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
])('the first word of $one that is in $other', ({ one, other, expected }) => {
	expect(inBoth(one, other)).toBe(expected);
});
