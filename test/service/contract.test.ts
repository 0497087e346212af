import { requestPath, PATHS, valuesAt } from '../../nodes/Pay/service/contract';

test.each(PATHS)('the path of %s has the name of the scheme', (path) => {
	expect(requestPath({ path }, 'a-scheme')).toBe(`/v2/a-scheme/${path}`);
});

const BODY = {
	amount: 5,
	creditParty: { key: 'a' },
	split: [{ username: 'x' }, { percentage: 10 }, { username: 'y' }],
};

test.each<{ path: string; values: unknown[] }>([
	{ path: 'amount', values: [5] },
	{ path: 'creditParty.key', values: ['a'] },
	{ path: 'creditParty.name', values: [] },
	{ path: 'payer.name', values: [] },
	{ path: 'split[].username', values: ['x', 'y'] },
	{ path: 'split', values: [BODY.split] },
	// What an item wrongly has in place of a list counts too: nothing of it may be missed.
	{ path: 'creditParty[].key', values: ['a'] },
])('a body has at $path the values $values', ({ path, values }) => {
	expect(valuesAt(BODY, path)).toStrictEqual(values);
});

test('of a body that is none nothing is found', () => {
	expect(valuesAt(undefined, 'amount')).toStrictEqual([]);
});
