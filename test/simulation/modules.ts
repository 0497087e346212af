import path from 'node:path';
import { transformSync } from 'esbuild';
import type { Source } from './source';

export type Exports = Record<string, unknown>;

type Compiled = (
	module: { exports: Exports },
	require: (name: string) => unknown,
	globals: Record<string, unknown>,
) => void;

/** Each text is compiled once, however many copies of the node there are. */
const compiledTexts = new Map<string, Compiled>();

function compile(text: string, globals: readonly string[]): Compiled {
	const known = compiledTexts.get(text);
	if (known !== undefined) return known;
	const { code } = transformSync(text, { loader: 'ts', format: 'cjs', target: 'node20' });
	const start = `const { ${globals.join(', ')} } = globals;`;
	const compiled = new Function('module', 'require', 'globals', `${start}\n${code}`) as Compiled;
	compiledTexts.set(text, compiled);
	return compiled;
}

/** The module that a relative import means, by its path below nodes/Pay. */
function resolve(source: Source, importer: string, imported: string): string {
	const name = path.join(path.dirname(importer), imported);
	return source.has(name) ? name : path.join(name, 'index');
}

/** What a new copy of the node's modules is made with. */
export interface Surroundings {
	source: Source;
	/** Libraries, by the name by which they are imported. */
	library(name: string): unknown;
	/** What the code finds in the place of global objects. */
	globals: Record<string, unknown>;
}

/** Loads a module of the node and all that it imports: a copy with a memory of its own. */
export function loadModule(entry: string, { source, library, globals }: Surroundings): Exports {
	const loaded = new Map<string, Exports>();
	const load = (name: string): Exports => {
		const known = loaded.get(name);
		if (known !== undefined) return known;
		const text = source.get(name);
		if (text === undefined) throw new Error(`nodes/Pay has no file ${name}.ts`);
		const module = { exports: {} };
		const requireFrom = (imported: string) =>
			imported.startsWith('.') ? load(resolve(source, name, imported)) : library(imported);
		compile(text, Object.keys(globals))(module, requireFrom, globals);
		loaded.set(name, module.exports);
		return module.exports;
	};
	return load(entry);
}
