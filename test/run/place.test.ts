import type { Place } from '../../nodes/Pay/run/item';
import { itemKey } from '../../nodes/Pay/run/ledger';

const ITEM: Place = { isTool: false, node: 'Pay', run: '0', item: 1 };
const TOOL: Place = { isTool: true, node: 'Pay' };
test.each<{ name: string; one: Place; other: Place; isOne: boolean }>([
	{ name: 'an item, whatever it asks for', one: ITEM, other: { ...ITEM }, isOne: true },
	{ name: 'items of two nodes', one: ITEM, other: { ...ITEM, node: 'Pay again' }, isOne: false },
	{ name: 'items of two runs', one: ITEM, other: { ...ITEM, run: '1' }, isOne: false },
	{ name: 'two items', one: ITEM, other: { ...ITEM, item: 2 }, isOne: false },
	{
		name: 'items of nodes whose names hold commas and quotes',
		one: { ...ITEM, node: 'Pay","0' },
		other: { ...ITEM, node: 'Pay', run: '0","0' },
		isOne: false,
	},
	{ name: 'calls of a tool for different things', one: TOOL, other: TOOL, isOne: false },
	{ name: 'an item and a tool', one: ITEM, other: TOOL, isOne: false },
])('$name: known as one is $isOne', ({ one, other, isOne }) => {
	expect(itemKey(one, 'this') === itemKey(other, 'that')).toBe(isOne);
});

test('calls of two tools for the same are known as one', () => {
	expect(itemKey(TOOL, 'this')).toBe(itemKey({ ...TOOL, node: 'Pay again' }, 'this'));
});
