import { readSplit as readSplitOf } from '../../nodes/Pay/fields/split';
import { refusalOf } from '../refusal';
import { reading } from './reading';

const readSplit = (values: Readonly<Record<string, unknown>>) => readSplitOf(reading(values));
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
	{ how: 'as text', typed: ' [{ "username": "shop", "percentageSplit": 10 }] ' },
	{ how: 'as a list of an expression', typed: [{ username: 'shop', percentageSplit: 10 }] },
])('recipients in JSON are read $how', ({ typed }) => {
	expect(inJson(typed)).toStrictEqual([{ username: 'shop', percentageSplit: 10 }]);
});

test.each(['Fields', null])('a split by %p, which is no choice, is refused', (specifySplit) => {
	expect(refusalOf(() => readSplit({ specifySplit }))?.field).toBe('specifySplit');
});

test.each<{ name: string; read: () => unknown; field: string }>([
	{ name: 'fields without a recipient', read: () => inFields([]), field: 'split' },
	{
		name: 'fields that were not opened',
		read: () => readSplit({ specifySplit: 'fields' }),
		field: 'split',
	},
	{ name: 'fields with recipients that are null', read: () => inFields(null), field: 'split' },
	{ name: 'JSON without a recipient', read: () => inJson('[]'), field: 'splitJson' },
	{ name: 'JSON that is blank', read: () => inJson(' '), field: 'splitJson' },
	{ name: 'JSON that is null', read: () => inJson('null'), field: 'splitJson' },
])('$name is refused: a split that was chosen has a recipient', ({ read, field }) => {
	expect(refusalOf(read)?.field).toBe(field);
});

test.each<{ name: string; typed: string; field: string }>([
	{ name: 'an object', typed: '{}', field: 'splitJson' },
	{ name: 'broken', typed: '[{]', field: 'splitJson' },
	{ name: 'a list of texts', typed: '["shop"]', field: 'splitJson[0]' },
])('JSON that is $name is refused, by the name of its place', ({ typed, field }) => {
	expect(refusalOf(() => inJson(typed))?.field).toBe(field);
});

const SHOP = { username: 'shop', percentageSplit: 1 };
test.each<{ name: string; recipients: object[]; field: string }>([
	{ name: 'another member', recipients: [{ ...SHOP, share: 2 }], field: 'splitJson[0]' },
	{ name: 'no name', recipients: [SHOP, { percentageSplit: 1 }], field: 'splitJson[1].username' },
	{
		name: 'a name that an expression left',
		recipients: [{ ...SHOP, username: ' null ' }],
		field: 'splitJson[0].username',
	},
	{
		name: 'a percentage below 0',
		recipients: [{ ...SHOP, percentageSplit: -1 }],
		field: 'splitJson[0].percentageSplit',
	},
	{
		name: 'no percentage',
		recipients: [SHOP, { username: 'partner' }],
		field: 'splitJson[1].percentageSplit',
	},
])('a recipient with $name is refused at its place', ({ recipients, field }) => {
	expect(refusalOf(() => inJson(recipients))?.field).toBe(field);
});

test('a recipient of fields is named by its place there', () => {
	expect(refusalOf(() => inFields([SHOP, {}]))?.field).toBe('split[1].username');
});
