import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { transformSync } from 'esbuild';

const PAY = path.join(__dirname, '../../nodes/Pay');
const FILES = new Set(readdirSync(PAY, { recursive: true, encoding: 'utf8' }));

export type Exports = Record<string, unknown>;

type Compiled = (
	module: { exports: Exports },
	require: (name: string) => unknown,
	globals: Record<string, unknown>,
) => void;

/** Each file of the node is compiled once, however many copies of the node there are. */
const compiledFiles = new Map<string, Compiled>();

function compile(name: string, globals: readonly string[]): Compiled {
	const known = compiledFiles.get(name);
	if (known !== undefined) return known;
	const { code } = transformSync(readFileSync(path.join(PAY, `${name}.ts`), 'utf8'), {
		loader: 'ts',
		format: 'cjs',
		target: 'node20',
	});
	const start = `const { ${globals.join(', ')} } = globals;`;
	const compiled = new Function('module', 'require', 'globals', `${start}\n${code}`) as Compiled;
	compiledFiles.set(name, compiled);
	return compiled;
}

/** The module that a relative import means, by its path below nodes/Pay. */
function resolve(importer: string, imported: string): string {
	const name = path.join(path.dirname(importer), imported);
	return FILES.has(`${name}.ts`) ? name : path.join(name, 'index');
}

/** What a new copy of the node's modules is made with. */
export interface Surroundings {
	/** Libraries, by the name by which they are imported. */
	library(name: string): unknown;
	/** What the code finds in the place of global objects. */
	globals: Record<string, unknown>;
	/** What a module's importers get of it, given its own exports. */
	replace(module: string, exports: Exports): Exports;
}

/** Loads a module of the node and all that it imports: a copy with a memory of its own. */
export function loadModule(entry: string, surroundings: Surroundings): Exports {
	const { library, globals, replace } = surroundings;
	const loaded = new Map<string, Exports>();
	const load = (name: string): Exports => {
		const known = loaded.get(name);
		if (known !== undefined) return known;
		const module = { exports: {} };
		const requireFrom = (imported: string) =>
			imported.startsWith('.') ? load(resolve(name, imported)) : library(imported);
		compile(name, Object.keys(globals))(module, requireFrom, globals);
		const exports = replace(name, module.exports);
		loaded.set(name, exports);
		return exports;
	};
	return load(entry);
}
