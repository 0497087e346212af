import { treeOf } from '../../nodes/Pay/parameters/member';
import { split } from '../../nodes/Pay/parameters/split';
import { refusalOf } from '../refusal';

const readSplit = (values: Readonly<Record<string, unknown>>) => split.read((name) => values[name]);
const inFields = (recipient: unknown, options = {}) =>
	readSplit({ specifySplit: 'fields', split: { recipient }, options });
const inJson = (splitJson: unknown) => readSplit({ specifySplit: 'json', splitJson });

test.each([undefined, 'none'])('with %j there is no split, whatever is typed', (specifySplit) => {
	const typed = { specifySplit, split: { recipient: [{}] }, splitJson: 'no JSON' };
	expect(readSplit(typed)).toBeUndefined();
});

test('recipients typed in fields are read, in their order', () => {
	const typed = [
		{ username: ' shop ', percentageSplit: '12.5' },
		{ username: 'partner', percentageSplit: 0 },
	];
	expect(inFields(typed)).toStrictEqual([
		{ username: 'shop', percentageSplit: 12.5 },
		{ username: 'partner', percentageSplit: 0 },
	]);
});

test('a percentage with a decimal comma is read where the comma was chosen, and only there', () => {
	const typed = [{ username: 'shop', percentageSplit: '12,5' }];
	expect(inFields(typed, { decimalSign: 'comma' })).toStrictEqual([
		{ username: 'shop', percentageSplit: 12.5 },
	]);
	expect(refusalOf(() => inFields(typed))?.field).toBe('split[0].percentageSplit');
});

test.each([
	{
		how: 'as text',
		typed: ' [{ "username": "shop", "percentageSplit": 10 }] ',
	},
	{
		how: 'as a list of an expression',
		typed: [{ username: 'shop', percentageSplit: 10 }],
	},
])('recipients in JSON are read $how', ({ typed }) => {
	expect(inJson(typed)).toStrictEqual([{ username: 'shop', percentageSplit: 10 }]);
});

test.each([
	{
		name: 'fields',
		shown: '"Fields"',
		specifySplit: 'Fields',
	},
	{
		name: 'nothing',
		shown: 'null',
		specifySplit: null,
	},
])('a split by $name that is no choice is refused', ({ shown, specifySplit }) => {
	expect(refusalOf(() => readSplit({ specifySplit }))).toMatchObject({
		field: 'specifySplit',
		message: `Split (specifySplit) must be one of none, fields, json, but is ${shown}`,
		advice: 'Choose one from the list.',
	});
});

const AS_OBJECT = 'Write each recipient as { "username": "…", "percentageSplit": 10 }.';
const AS_LIST = 'Write the recipients as a list: [{ "username": "…", "percentageSplit": 10 }].';
const ADD = 'Add one, or choose No Split.';
const ENTER = 'Enter it, or check the expression that gives it.';
test.each<{ name: string; read: () => unknown; expected: object }>([
	{
		name: 'fields without a recipient',
		read: () => inFields([]),
		expected: { field: 'split', message: 'Split Recipients (split) has no recipient', advice: ADD },
	},
	{
		name: 'fields that were not opened',
		read: () => readSplit({ specifySplit: 'fields' }),
		expected: { field: 'split', message: 'Split Recipients (split) has no recipient', advice: ADD },
	},
	{
		name: 'JSON without a recipient',
		read: () => inJson('[]'),
		expected: {
			field: 'splitJson',
			message: 'Split (JSON) (splitJson) has no recipient',
			advice: ADD,
		},
	},
	{
		name: 'JSON that is blank',
		read: () => inJson(' '),
		expected: {
			field: 'splitJson',
			message: 'Split (JSON) (splitJson) has no recipient',
			advice: ADD,
		},
	},
	{
		name: 'JSON that is an object',
		read: () => inJson('{}'),
		expected: {
			field: 'splitJson',
			message: 'Split (JSON) (splitJson) must be a list',
			advice: AS_LIST,
		},
	},
	{
		name: 'a recipient that is a text',
		read: () => inJson('["shop"]'),
		expected: {
			field: 'splitJson[0]',
			message: 'Split (JSON) (splitJson[0]) must be an object with username, percentageSplit',
			advice: AS_OBJECT,
		},
	},
	{
		name: 'a recipient with another member',
		read: () => inJson('[{ "username": "shop", "percentageSplit": 1, "share": 2 }]'),
		expected: {
			field: 'splitJson[0]',
			message:
				'Split (JSON) (splitJson[0]) has a member "share", which the service does not document',
		},
	},
	{
		name: 'a recipient without a name',
		read: () => inFields([{ username: 'shop', percentageSplit: 1 }, { percentageSplit: 1 }]),
		expected: {
			field: 'split[1].username',
			message: 'Username (split[1].username) is missing',
			advice: ENTER,
		},
	},
	{
		name: 'a percentage below 0',
		read: () => inFields([{ username: 'shop', percentageSplit: -1 }]),
		expected: {
			field: 'split[0].percentageSplit',
			message: 'Percentage (split[0].percentageSplit) must be 0 or more, but is -1',
		},
	},
	{
		name: 'a recipient without a percentage',
		read: () => inFields([{ username: 'shop' }]),
		expected: {
			field: 'split[0].percentageSplit',
			message: 'Percentage (split[0].percentageSplit) is missing',
		},
	},
])('$name is refused', ({ read, expected }) => {
	expect(refusalOf(read)).toMatchObject(expected);
});

test('JSON that is broken is refused, with its mistake and what to do', () => {
	const error = refusalOf(() => inJson('[{]'));
	expect(error).toMatchObject({ field: 'splitJson', advice: 'Correct the JSON.' });
	expect(error?.message.startsWith('Split (JSON) (splitJson) must be valid JSON: ')).toBe(true);
});

test('a body holds a list of recipients with these two members', () => {
	expect(split.name).toBe('split');
	expect(treeOf([split])).toStrictEqual({
		split: [{ username: 'string', percentageSplit: 'number' }],
	});
});
