import { cpSync, mkdirSync } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { startChild } from './children';
import { discard, installTools } from './install';
import { PROGRAMS } from './versions';

/*
 * `npx ts-node dev/strict.ts`: n8n's own linter (n8n-node lint) over the sources of what is published. In strict
 * mode it demands that eslint.config.mjs is its own, and lints every file of the folder it is in: so it
 * gets a copy without the tests and the programs of dev/, for which n8n's rules are not made.
 */

const PUBLISHED = ['nodes', 'credentials', 'index.js', 'package.json', 'tsconfig.json'];

async function main() {
	const modules = await installTools('node-cli', [PROGRAMS.nodeCli], { scripts: false });
	// Below both folders of modules: it finds the linter's, and the libraries that are bundled.
	const folder = join(modules, '..', 'published');
	discard(folder);
	mkdirSync(folder);
	const root = join(__dirname, '..');
	for (const name of [...PUBLISHED, 'eslint.config.mjs']) {
		cpSync(join(root, name), join(folder, name), { recursive: true });
	}
	const child = startChild(join(modules, '.bin', 'n8n-node'), ['lint'], {
		cwd: folder,
		stdio: ['ignore', 'inherit', 'inherit'],
	});
	const [code] = (await once(child, 'exit')) as [number | null];
	process.exitCode = code ?? 1;
	if (code === 0) console.log("n8n's own linter, strict: nothing found");
}

main().catch((error: unknown) => {
	console.error(error instanceof Error ? error.message : error);
	process.exitCode = 1;
});
