import { isTree, pathOf, PATHS } from '../../nodes/Pay/service/contract';

test.each<{ name: string; member: Parameters<typeof isTree>[0]; expected: boolean }>([
	{ name: 'an object', member: { name: 'string' }, expected: true },
	{ name: 'a list', member: [{ username: 'string' }], expected: false },
	{ name: 'a text', member: 'string', expected: false },
	{ name: 'a number', member: 'number', expected: false },
	{ name: 'nothing', member: undefined, expected: false },
])('$name has members of its own: $member', ({ member, expected }) => {
	expect(isTree(member)).toBe(expected);
});

test.each(PATHS)('the path of %s has the name of the scheme', (path) => {
	expect(pathOf({ path }, 'a-scheme')).toBe(`/v2/a-scheme/${path}`);
});
