import { existsSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { STRICT } from '../../dev/mutate';
import survivors from './survivors.json';

const ROOT = join(__dirname, '../..');
const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const oneLine = (text: string) => text.replace(/\s+/g, ' ');

test('a file that has the higher goal exists', () => {
	expect(STRICT.filter((path) => !existsSync(join(ROOT, path)))).toStrictEqual([]);
});

test('a mutant that is known to survive is one of code that exists', () => {
	const gone = Object.entries(survivors).flatMap(([path, mutants]) => {
		if (!existsSync(join(ROOT, path))) return [path];
		const code = oneLine(textOf(path));
		const isThere = (mutant: string) => {
			const original = mutant.slice(0, mutant.lastIndexOf(' -> '));
			// Where it is long its middle is left out.
			const [begin = '', end = ''] = original.split(' … ');
			const at = code.indexOf(begin);
			return at !== -1 && code.includes(end, at + begin.length);
		};
		const names = Object.keys(mutants).filter((mutant) => !isThere(mutant));
		return names.map((mutant) => `${path}: ${mutant}`);
	});
	expect(gone).toStrictEqual([]);
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
