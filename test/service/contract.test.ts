import { isTree, pathOf, PATHS } from '../../nodes/Pay/service/contract';

test.each<[string, Parameters<typeof isTree>[0], boolean]>([
	['an object', { name: 'string' }, true],
	['a list', [{ username: 'string' }], false],
	['a text', 'string', false],
	['a number', 'number', false],
	['nothing', undefined, false],
])('%s has members of its own: %p', (_name, member, expected) => {
	expect(isTree(member)).toBe(expected);
});

test.each(PATHS)('the path of %s has the name of the scheme', (path) => {
	expect(pathOf({ path }, 'a-scheme')).toBe(`/v2/a-scheme/${path}`);
});
