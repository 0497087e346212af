import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The n8n versions the package is tried on; each has a folder with a lockfile here. */
export type N8nVersion = 'n8n2' | 'n8n1';

const ROOT = join(__dirname, '..');
const CACHE = join(ROOT, '.cache');
const TOOLS = join(CACHE, 'tools');
/** n8n 2 needs Node 24, which npm can bring beside the Node that runs this. */
const TOOL_PACKAGES = ['node@24.21.0', 'pnpm@10.34.9'];

export const NODE_24 = join(TOOLS, 'node_modules', '.bin', 'node');

/** Says what is going on, and that it still is, while something long runs. */
async function step(what: string, command: string, args: string[], cwd: string): Promise<void> {
	const begun = Date.now();
	const seconds = () => `${Math.round((Date.now() - begun) / 1000)} s`;
	process.stderr.write(`${what} …\n`);
	// npm hands its settings on; our ignore-scripts would keep n8n's SQLite from being built.
	const inherited = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name));
	const child = spawn(command, args, {
		cwd,
		env: {
			...Object.fromEntries(inherited),
			PATH: join(NODE_24, '..') + delimiter + process.env.PATH,
			CI: 'true',
		},
		stdio: ['ignore', 'pipe', 'pipe'],
	});
	let output = '';
	const keep = (chunk: Buffer) => (output += chunk.toString());
	child.stdout.on('data', keep);
	child.stderr.on('data', keep);
	const beat = setInterval(() => process.stderr.write(`${what} … ${seconds()}\n`), 15_000);
	const code = await new Promise<number | null>((resolve, reject) => {
		child.on('error', reject);
		child.on('close', resolve);
	}).finally(() => clearInterval(beat));
	if (code !== 0) throw new Error(`${what}: failed with code ${code}\n${output.slice(-4000)}`);
	process.stderr.write(`${what}: done in ${seconds()}\n`);
}

/** Runs the work once for a given content of its inputs. */
async function once(marker: string, inputs: string, work: () => Promise<void>): Promise<void> {
	const hash = createHash('sha256').update(inputs).digest('hex');
	if (existsSync(marker) && readFileSync(marker, 'utf8') === hash) return;
	await work();
	writeFileSync(marker, hash);
}

/** Mutation testing is no part of `npm test`, so it costs `npm ci` nothing. */
const STRYKER = '@stryker-mutator/core@9.6.1';

/** Installs Stryker, beside the project; gives the file to run with Node. */
export async function installStryker(): Promise<string> {
	const folder = join(CACHE, 'mutation', 'stryker');
	mkdirSync(folder, { recursive: true });
	await once(join(folder, '.installed'), STRYKER, async () => {
		const flags = ['--no-audit', '--no-fund', '--prefix', folder];
		await step('Installing Stryker', 'npm', ['install', ...flags, STRYKER], folder);
	});
	return join(folder, 'node_modules', '@stryker-mutator', 'core', 'bin', 'stryker.js');
}

/** Installs an n8n as its lockfile says, with Node 24; nothing to do when that was done before. */
export async function installN8n(version: N8nVersion): Promise<string> {
	mkdirSync(TOOLS, { recursive: true });
	await once(join(TOOLS, '.installed'), TOOL_PACKAGES.join(), async () => {
		const flags = ['--ignore-scripts=false', '--no-audit', '--no-fund', '--prefix', TOOLS];
		await step(
			'Installing Node 24 and pnpm',
			'npm',
			['install', ...flags, ...TOOL_PACKAGES],
			TOOLS,
		);
	});
	const folder = join(__dirname, version);
	const lock = readFileSync(join(folder, 'pnpm-lock.yaml'), 'utf8');
	await once(join(CACHE, `${version}.installed`), lock, async () => {
		const pnpm = join(TOOLS, 'node_modules', '.bin', 'pnpm');
		await step(`Installing n8n (${version})`, pnpm, ['install', '--frozen-lockfile'], folder);
	});
	return join(folder, 'node_modules', 'n8n', 'bin', 'n8n');
}

/** Builds and packs this package as npm would publish it; gives the tarball's path. */
export async function packPackage(folder = CACHE): Promise<string> {
	mkdirSync(folder, { recursive: true });
	await step('Building the package', 'npx', ['gulp', 'build'], ROOT);
	const printed = execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], {
		cwd: ROOT,
		encoding: 'utf8',
		stdio: ['ignore', 'pipe', 'ignore'],
	});
	return join(folder, printed.trim().split('\n').at(-1) ?? '');
}

/** Installs the tarball into an n8n's data folder, as a user does by hand. */
export async function installPackage(tarball: string, userFolder: string): Promise<void> {
	const nodes = join(userFolder, '.n8n', 'nodes');
	mkdirSync(nodes, { recursive: true });
	writeFileSync(join(nodes, 'package.json'), '{ "name": "installed-nodes", "private": true }');
	await step('Installing the package in n8n', 'npm', ['install', tarball], nodes);
}

/** Throws away what a run left; a folder that is in use is moved aside first. */
export function discard(folder: string): void {
	if (!existsSync(folder)) return;
	const aside = `${folder}.old`;
	renameSync(folder, aside);
	rmSync(aside, { recursive: true, force: true, maxRetries: 5 });
}
