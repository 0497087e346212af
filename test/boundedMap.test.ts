import { BoundedMap } from '../nodes/Pay/base/boundedMap';

test('an entry beyond the bound throws out the one that was set longest ago', () => {
	const map = new BoundedMap<string, number>(2);
	map.set('a', 1);
	map.set('b', 2);
	map.set('c', 3);
	expect([...map.entries()]).toStrictEqual([
		['b', 2],
		['c', 3],
	]);
	expect(map.size).toBe(2);
	expect(map.has('a')).toBe(false);
	expect(map.get('a')).toBeUndefined();
	expect(map.get('b')).toBe(2);
});

test('what is set again is the newest, and takes the place of no other', () => {
	const map = new BoundedMap<string, number>(2);
	map.set('a', 1);
	map.set('b', 2);
	map.set('a', 3);
	expect([...map.entries()]).toStrictEqual([
		['b', 2],
		['a', 3],
	]);
	map.set('c', 4);
	expect([...map.entries()]).toStrictEqual([
		['a', 3],
		['c', 4],
	]);
});

test('to read an entry makes it no newer', () => {
	const map = new BoundedMap<string, number>(2);
	map.set('a', 1);
	map.set('b', 2);
	map.get('a');
	map.has('a');
	map.set('c', 3);
	expect(map.has('a')).toBe(false);
});

test('what is deleted leaves its place to another', () => {
	const map = new BoundedMap<string, number>(2);
	map.set('a', 1);
	map.set('b', 2);
	expect(map.delete('b')).toBe(true);
	expect(map.delete('b')).toBe(false);
	map.set('c', 3);
	expect(map.has('a')).toBe(true);
});

test('an entry that may not go stays, and a younger one goes in its place', () => {
	const map = new BoundedMap<string, { isBusy: boolean }>(2, ({ isBusy }) => !isBusy);
	map.set('a', { isBusy: true });
	map.set('b', { isBusy: false });
	map.set('c', { isBusy: false });
	expect([...map.entries()].map(([key]) => key)).toStrictEqual(['a', 'c']);
});

test('where no entry may go it holds more than its bound, and throws out later what it could not', () => {
	const map = new BoundedMap<number, { isBusy: boolean }>(2, ({ isBusy }) => !isBusy);
	const entries = [1, 2, 3, 4].map((key) => ({ key, value: { isBusy: true } }));
	for (const { key, value } of entries) map.set(key, value);
	expect(map.size).toBe(4);
	for (const { value } of entries) value.isBusy = false;
	map.set(5, { isBusy: false });
	expect([...map.entries()].map(([key]) => key)).toStrictEqual([4, 5]);
});
