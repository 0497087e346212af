import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * An n8n to try the package on: one of the two that the tests run on, each a folder with a lockfile
 * here; any by its number, from npm; or the official image, by its tag.
 */
export type PinnedVersion = 'n8n2' | 'n8n1';
export type ImageVersion = `image:${string}`;
export type NpmVersion = PinnedVersion | `${number}.${number}.${number}`;
export type N8nVersion = NpmVersion | ImageVersion;

/** npm's `node` packages, which bring other versions of Node beside the one that runs this. */
export const NODES = { 20: '20.20.2', 22: '22.23.3', 24: '24.21.0' };
export type NodeMajor = keyof typeof NODES;

/** Programs that are installed beside the package when something asks for them. Dependabot does not see this file. */
export const PROGRAMS = {
	pnpm: 'pnpm@10.34.9',
	nodeCli: '@n8n/node-cli@0.48.3',
	stryker: ['@stryker-mutator/core@9.6.1', '@stryker-mutator/jest-runner@9.6.1'],
	prism: '@stoplight/prism-cli@5.16.0',
	linters: ['@redocly/cli@2.77.0', '@stoplight/spectral-cli@6.16.3'],
	qrReaders: ['promptparse@1.6.0', 'pix-utils@2.8.2'],
	oidcProvider: 'oidc-provider@9.13.3',
	verdaccio: 'verdaccio@6.10.4',
};

/** The langchain packages of this day no longer load beside the zod that these versions name. */
const NEWER_ZOD = { zod: '3.25.76' };

/** As dev/n8n1 has it; the one of dev/n8n2 is too new for earlier n8n 2. */
const OLDER_LANGGRAPH = {
	'@langchain/langgraph': '1.0.2',
	'@langchain/langgraph-checkpoint': '1.0.0',
};

/**
 * What `npm run test:n8n -- versions` tries, oldest first, each with a Node that this n8n allows. The lowest
 * on which the package loads; agents before their tools had hints, and after; both pinned ones.
 */
export const MATRIX: ReadonlyArray<{
	version: NpmVersion;
	node: NodeMajor;
	overrides?: Record<string, string>;
}> = [
	{ version: '1.99.1', node: 20, overrides: NEWER_ZOD },
	{ version: '1.110.1', node: 22 },
	{ version: 'n8n1', node: 24 },
	{ version: '2.0.3', node: 22, overrides: OLDER_LANGGRAPH },
	{ version: '2.20.12', node: 24, overrides: OLDER_LANGGRAPH },
	{ version: 'n8n2', node: 24 },
];

/**
 * The day as of which those without a lockfile are resolved: what each needs is the newest that fits
 * and was published by then. Lockfiles would be 600 kB each.
 */
export const AS_OF = new Date('2026-11-20T00:00:00Z');

export const isPinned = (version: N8nVersion): version is PinnedVersion =>
	version === 'n8n1' || version === 'n8n2';

/** What is installed for a pinned version, and what its npm needs told to install it. */
export function manifestOf(version: PinnedVersion) {
	const text = readFileSync(join(__dirname, version, 'package.json'), 'utf8');
	return JSON.parse(text) as {
		dependencies: { n8n: string };
		pnpm: { overrides: Record<string, string> };
	};
}

export const isImage = (version: N8nVersion): version is ImageVersion =>
	version.startsWith('image:');

/** The number of an n8n: of a pinned one as its package.json has it, of an image its tag. */
export function numberOf(version: N8nVersion): string {
	if (isPinned(version)) return manifestOf(version).dependencies.n8n;
	return version.replace(/^image:/, '');
}

/** How a client has to talk to it: n8n 3 is taken to be like n8n 2. */
export const majorOf = (version: N8nVersion) => (numberOf(version).startsWith('1.') ? 1 : 2);
