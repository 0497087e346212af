import { execFileSync } from 'node:child_process';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { discard } from '../install';
import type { Comparison } from './figures';

/** Published packages of nodes to stand beside; installed for the measuring, never committed. */
const PEERS = [
	'n8n-nodes-razorpay@0.1.0',
	'n8n-nodes-evolution-api@1.0.4',
	'@mendable/n8n-nodes-firecrawl@2.1.2',
];

/** Inside the project, so that `require('n8n-workflow')` finds a copy, as it does in n8n. */
const FOLDER = join(__dirname, '..', '..', '.cache', 'bench');

/** Loads what a package tells n8n to load, and prints the milliseconds; n8n-workflow is there before. */
const LOAD = `
	require('n8n-workflow');
	const { join } = require('node:path');
	const folder = process.argv[1];
	const { n8n } = require(join(folder, 'package.json'));
	const begun = performance.now();
	for (const file of [...(n8n.nodes ?? []), ...(n8n.credentials ?? [])]) require(join(folder, file));
	console.log(performance.now() - begun);`;

const npm = (args: string[], cwd: string) =>
	execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });

/**
 * Load time and packed size of a package tarball beside its peers.
 * @returns one entry for each of the two; no target, since the peers do other things
 */
export async function loadAndSize(tarball: string, rounds: number): Promise<Comparison[]> {
	discard(FOLDER);
	mkdirSync(FOLDER, { recursive: true });
	const packages = ['n8n-nodes-pay', ...PEERS].map((spec) => {
		const name = spec.replace(/(?<!^)@.*$/, '');
		const folder = join(FOLDER, name.replace('/', '-'));
		mkdirSync(folder);
		writeFileSync(join(folder, 'package.json'), '{ "private": true }');
		const packed =
			name === 'n8n-nodes-pay'
				? tarball
				: join(folder, npm(['pack', '--silent', spec], folder).trim());
		const flags = ['--silent', '--no-audit', '--no-fund', '--legacy-peer-deps', '--omit=peer'];
		npm(['install', ...flags, packed], folder);
		return { spec, size: statSync(packed).size, installed: join(folder, 'node_modules', name) };
	});
	const times: Record<string, number[]> = {};
	for (let round = 0; round <= rounds; round++) {
		for (const { spec, installed } of packages) {
			const printed = execFileSync(process.execPath, ['-e', LOAD, installed], { encoding: 'utf8' });
			if (round > 0) (times[spec] ??= []).push(Number(printed));
		}
	}
	discard(FOLDER);
	return [
		{ name: 'Loading the package', unit: 'ms', sides: times },
		{
			name: 'Packed size',
			unit: 'kB',
			sides: Object.fromEntries(packages.map(({ spec, size }) => [spec, [size / 1000]])),
		},
	];
}
