import {
	isSamePlace,
	placeInStoredText,
	placeKey,
	type Place,
} from '../../nodes/Pay/execution/place';

test.each<[string, Place]>([
	['Pay, run 0, item 12', { isTool: false, node: 'Pay', run: '0', item: 12 }],
	['Pay, tool', { isTool: true, node: 'Pay' }],
	['Pay, run 1, item 2, tool', { isTool: true, node: 'Pay, run 1, item 2' }],
	['a\nb, run 1, item 2', { isTool: false, node: 'a\nb', run: '1', item: 2 }],
	['a\nb, tool', { isTool: true, node: 'a\nb' }],
	[
		'Pay, run 1, item 2, run 13, item 4',
		{ isTool: false, node: 'Pay, run 1, item 2', run: '13', item: 4 },
	],
	['a tool, run 0, item 0', { isTool: false, node: 'a tool', run: '0', item: 0 }],
])('%j is the place that 0.1.0 stored so', (text, place) => {
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
test.each<[string, Place, Place, boolean]>([
	['an item and itself', ITEM, { ...ITEM }, true],
	['a tool and itself', TOOL, { ...TOOL }, true],
	['an item and a tool', ITEM, TOOL, false],
	['a tool and an item', TOOL, ITEM, false],
	['items of two nodes', ITEM, { ...ITEM, node: 'Pay again' }, false],
	['tools of two nodes', TOOL, { ...TOOL, node: 'Pay again' }, false],
	['two runs', ITEM, { ...ITEM, run: '1' }, false],
	['two items', ITEM, { ...ITEM, item: 2 }, false],
])('%s are one place or not', (_name, one, other, expected) => {
	expect(isSamePlace(one, other)).toBe(expected);
});
