import {
	isSamePlace,
	placeInStoredText,
	placeKey,
	type Place,
} from '../../nodes/Pay/execution/place';

test.each<{ text: string; place: Place }>([
	{
		text: 'Pay, run 0, item 12',
		place: { isTool: false, node: 'Pay', run: '0', item: 12 },
	},
	{
		text: 'Pay, tool',
		place: { isTool: true, node: 'Pay' },
	},
	{
		text: 'Pay, run 1, item 2, tool',
		place: { isTool: true, node: 'Pay, run 1, item 2' },
	},
	{
		text: 'a\nb, run 1, item 2',
		place: { isTool: false, node: 'a\nb', run: '1', item: 2 },
	},
	{
		text: 'a\nb, tool',
		place: { isTool: true, node: 'a\nb' },
	},
	{
		text: 'Pay, run 1, item 2, run 13, item 4',
		place: { isTool: false, node: 'Pay, run 1, item 2', run: '13', item: 4 },
	},
	{
		text: 'a tool, run 0, item 0',
		place: { isTool: false, node: 'a tool', run: '0', item: 0 },
	},
])('$text is the place that 0.1.0 stored so', ({ text, place }) => {
	expect(placeInStoredText(text)).toStrictEqual(place);
	expect(placeKey(place)).toBe(text);
});

test.each(['of another form', 'Pay, run x, item 1', 'Pay, run 1, item 1 and more'])(
	'%j is no place of any node',
	(text) => {
		expect(placeInStoredText(text)).toStrictEqual({ isTool: false, node: '', run: '', item: 0 });
	},
);

const ITEM: Place = { isTool: false, node: 'Pay', run: '0', item: 1 };
const TOOL: Place = { isTool: true, node: 'Pay' };
test.each<{ name: string; one: Place; other: Place; expected: boolean }>([
	{
		name: 'an item and itself',
		one: ITEM,
		other: { ...ITEM },
		expected: true,
	},
	{
		name: 'a tool and itself',
		one: TOOL,
		other: { ...TOOL },
		expected: true,
	},
	{
		name: 'an item and a tool',
		one: ITEM,
		other: TOOL,
		expected: false,
	},
	{
		name: 'a tool and an item',
		one: TOOL,
		other: ITEM,
		expected: false,
	},
	{
		name: 'items of two nodes',
		one: ITEM,
		other: { ...ITEM, node: 'Pay again' },
		expected: false,
	},
	{
		name: 'tools of two nodes',
		one: TOOL,
		other: { ...TOOL, node: 'Pay again' },
		expected: false,
	},
	{
		name: 'two runs',
		one: ITEM,
		other: { ...ITEM, run: '1' },
		expected: false,
	},
	{
		name: 'two items',
		one: ITEM,
		other: { ...ITEM, item: 2 },
		expected: false,
	},
])('$name are one place or not', ({ one, other, expected }) => {
	expect(isSamePlace(one, other)).toBe(expected);
});
