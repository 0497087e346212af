import { existsSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { STRICT } from '../../dev/mutate';

const ROOT = join(__dirname, '../..');
const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8');

test('a file that has the higher goal exists', () => {
	expect(STRICT.filter((path) => !existsSync(join(ROOT, path)))).toStrictEqual([]);
});

test('a package that the runner loads is one that package.json names', () => {
	const { devDependencies } = JSON.parse(textOf('package.json')) as {
		devDependencies: Record<string, string>;
	};
	const loaded = ['runner', 'wording', 'stryker.config'].flatMap((file) =>
		[...textOf(`test/mutation/${file}.mjs`).matchAll(/(?:from|require\()\s*'([^'.][^']*)'/g)].map(
			([, name]) => name!,
		),
	);
	expect(loaded).toContain('jest-circus');
	const unnamed = loaded.filter((name) => !isBuiltin(name) && !(name in devDependencies));
	expect(unnamed).toStrictEqual([]);
});
