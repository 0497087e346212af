import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { runChild } from './children';
import {
	AS_OF,
	isPinned,
	majorOf,
	manifestOf,
	MATRIX,
	NODES,
	type NpmVersion,
	type NodeMajor,
	PROGRAMS,
} from './versions';

export type { N8nVersion } from './versions';

const ROOT = join(__dirname, '..');
const CACHE = join(ROOT, '.cache');
const TOOLS = join(CACHE, 'tools');
/** n8n 2 needs Node 24, which npm can bring beside the Node that runs this. */
const TOOL_PACKAGES = [`node@${NODES[24]}`, PROGRAMS.pnpm];

export const NODE_24 = join(TOOLS, 'node_modules', '.bin', 'node');

/** Where an n8n was installed, and the Node that it runs on. */
export interface Installed {
	bin: string;
	node: string;
	/** Its folder, with package.json and lockfile. */
	folder: string;
}

/** Says what is going on, and that it still is, while something long runs. */
async function step(
	what: string,
	command: string,
	args: string[],
	cwd: string,
	node = NODE_24,
): Promise<void> {
	const begun = Date.now();
	const seconds = () => `${Math.round((Date.now() - begun) / 1000)} s`;
	process.stderr.write(`${what} …\n`);
	// npm hands its settings on; our ignore-scripts would keep n8n's SQLite from being built.
	const inherited = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name));
	const env = {
		...Object.fromEntries(inherited),
		PATH: join(node, '..') + delimiter + process.env.PATH,
		CI: 'true',
	};
	const beat = setInterval(() => process.stderr.write(`${what} … ${seconds()}\n`), 15_000);
	try {
		await runChild(command, args, { cwd, env });
	} catch (error) {
		throw new Error(`${what} failed: ${String(error)}`);
	} finally {
		clearInterval(beat);
	}
	process.stderr.write(`${what}: done in ${seconds()}\n`);
}

/** Runs the work once for a given content of its inputs. */
async function once(marker: string, inputs: string, work: () => Promise<void>): Promise<void> {
	const hash = createHash('sha256').update(inputs).digest('hex');
	if (existsSync(marker) && readFileSync(marker, 'utf8') === hash) return;
	await work();
	writeFileSync(marker, hash);
}

/**
 * Installs packages that something here runs, apart from the project's own.
 * @param overrides versions to take instead of what the packages ask for
 * @param scripts whether the packages' own scripts are run, which build what is not JavaScript
 * @returns their `node_modules`
 */
export async function installTools(
	what: string,
	packages: string[],
	{ folder = join(TOOLS, what), overrides = {}, scripts = true } = {},
): Promise<string> {
	mkdirSync(folder, { recursive: true });
	await once(join(folder, '.installed'), packages.join(), async () => {
		writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, overrides }));
		const flags = [`--ignore-scripts=${!scripts}`, '--no-audit', '--no-fund', '--prefix', folder];
		await step(`Installing ${what}`, 'npm', ['install', ...flags, ...packages], folder);
	});
	return join(folder, 'node_modules');
}

/**
 * Mutation testing is no part of `npm test`, so it costs `npm ci` nothing.
 * @returns the folder of Stryker's packages
 */
export async function installStryker(): Promise<string> {
	const folder = join(CACHE, 'mutation', 'stryker');
	return join(await installTools('Stryker', PROGRAMS.stryker, { folder }), '@stryker-mutator');
}

/** The Node of a major version, beside the one that runs this. */
async function installNode(major: NodeMajor): Promise<string> {
	if (major === 24) return NODE_24;
	return join(await installTools(`node-${major}`, [`node@${NODES[major]}`]), '.bin', 'node');
}

/**
 * Installs an n8n, nothing to do when that was done before: a pinned one as its lockfile says, any
 * other below `.cache/versions`, one of the matrix as of its day.
 */
export async function installN8n(version: NpmVersion): Promise<Installed> {
	await installTools('Node 24 and pnpm', TOOL_PACKAGES, { folder: TOOLS });
	const inMatrix = MATRIX.find((one) => one.version === version);
	const node = await installNode(inMatrix?.node ?? 24);
	const folder = isPinned(version) ? join(__dirname, version) : describe(version);
	const inputs = isPinned(version) ? 'pnpm-lock.yaml' : 'package.json';
	const age = inMatrix && Math.floor((Date.now() - AS_OF.getTime()) / 60_000);
	const flags = isPinned(version)
		? ['--frozen-lockfile']
		: ['--no-frozen-lockfile', ...(age ? [`--config.minimum-release-age=${age}`] : [])];
	await once(
		join(CACHE, `${version}.installed`),
		readFileSync(join(folder, inputs), 'utf8'),
		async () => {
			// What an earlier attempt left would be preferred: a resolution begins anew, to be the same
			// each time.
			if (!isPinned(version)) {
				rmSync(join(folder, 'pnpm-lock.yaml'), { force: true });
				discard(join(folder, 'node_modules'));
			}
			const pnpm = join(TOOLS, 'node_modules', '.bin', 'pnpm');
			await step(`Installing n8n (${version})`, pnpm, ['install', ...flags], folder, node);
		},
	);
	return { bin: join(folder, 'node_modules', 'n8n', 'bin', 'n8n'), node, folder };
}

/** Writes down what is to be installed, with the exceptions of the pinned one of its major. */
function describe(version: NpmVersion): string {
	const { pnpm } = manifestOf(majorOf(version) === 1 ? 'n8n1' : 'n8n2');
	const overrides = {
		...pnpm.overrides,
		...MATRIX.find((one) => one.version === version)?.overrides,
	};
	const manifest = {
		name: 'n8n',
		private: true,
		dependencies: { n8n: version },
		pnpm: { ...pnpm, overrides },
	};
	const folder = join(CACHE, 'versions', version);
	mkdirSync(folder, { recursive: true });
	writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest, null, 2));
	writeFileSync(join(folder, '.npmrc'), 'node-linker=hoisted\n');
	return folder;
}

/** Builds and packs this package as npm would publish it; gives the tarball's path. */
export async function packPackage(folder = CACHE): Promise<string> {
	mkdirSync(folder, { recursive: true });
	await step('Building the package', 'npx', ['gulp', 'build'], ROOT);
	const printed = execFileSync(
		'npm',
		['pack', '--silent', '--ignore-scripts', '--pack-destination', folder],
		{
			cwd: ROOT,
			encoding: 'utf8',
			stdio: ['ignore', 'pipe', 'ignore'],
		},
	);
	return join(folder, printed.trim().split('\n').at(-1) ?? '');
}

/** Installs the tarball into an n8n's data folder, as a user does by hand. */
export async function installPackage(tarball: string, userFolder: string): Promise<void> {
	const nodes = join(userFolder, '.n8n', 'nodes');
	mkdirSync(nodes, { recursive: true });
	const flags = ['--no-audit', '--no-fund', '--prefix', nodes];
	await step('Installing the package in n8n', 'npm', ['install', ...flags, tarball], nodes);
}

/** Throws away what a run left; a folder that is in use is moved aside first. */
export function discard(folder: string): void {
	if (!existsSync(folder)) return;
	const aside = `${folder}.old`;
	renameSync(folder, aside);
	rmSync(aside, { recursive: true, force: true, maxRetries: 5 });
}
