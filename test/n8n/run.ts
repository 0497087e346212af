import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startChild } from '../../dev/children';
import { prepare } from './pack';
import { isTier, runsOf, type Tier } from './tiers';

/*
 * `npm run test:n8n`: the gate. With `-- nightly` or `-- weekly` that tier, with `-- versions` every n8n of the
 * matrix, and with anything else what Jest takes, such as `-- money -t 'sent once'`, on an n8n that is started
 * for it.
 */

const ROOT = join(__dirname, '..', '..');
const JEST = join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js');
const CONFIG = join(__dirname, 'jest.config.ts');
const CONFIG_OF_VERSIONS = join(ROOT, 'lab', 'versions', 'jest.config.ts');

/** Runs Jest; every line of it begins with the label, if there is one. @returns its exit code */
async function jest(args: string[], label?: string, config = CONFIG): Promise<number> {
	const child = startChild(process.execPath, [JEST, '--config', config, ...args], {
		cwd: ROOT,
		stdio: ['ignore', label ? 'pipe' : 'inherit', label ? 'pipe' : 'inherit'],
	});
	for (const stream of [child.stdout, child.stderr]) {
		if (stream === null) continue;
		createInterface({ input: stream }).on('line', (line) => console.log(`[${label}] ${line}`));
	}
	const [code] = (await once(child, 'close')) as [number | null];
	return code ?? 1;
}

/** Two thirds of the time of a file it waits for what n8n does. */
const AT_ONCE = availableParallelism() + 2;

/** @returns the exit code of each run */
async function runTier(tier: Tier, options: string[]): Promise<number[]> {
	if (tier === 'weekly') process.env.PAY_QUEUE ??= 'long';
	const runs = Object.entries(runsOf(tier));
	const lanes = runs.length > 1;
	return await Promise.all(
		runs.map(async ([name, files]) => {
			const how = lanes ? '--runInBand' : `--maxWorkers=${AT_ONCE}`;
			return await jest([how, ...options, '--runTestsByPath', ...files], lanes ? name : undefined);
		}),
	);
}

async function main() {
	const [, , first, ...rest] = process.argv;
	if (first === 'versions') {
		process.exitCode = await jest(rest, undefined, CONFIG_OF_VERSIONS);
		return;
	}
	const tier = first === undefined ? 'gate' : first;
	if (isTier(tier)) process.env.PAY_TIER = tier;
	// At night several files run beside each other, on n8ns of their own: n8n 1 breaks on saves at once.
	const isShared = !isTier(tier) || tier === 'gate';
	const n8ns = await prepare(isShared);
	const codes = isTier(tier)
		? await runTier(tier, rest)
		: [await jest(['--runInBand', tier, ...rest])];
	for (const n8n of n8ns) await n8n.stop();
	if (codes.some((code) => code !== 0)) process.exitCode = 1;
}

main().catch((error: unknown) => {
	console.error(error instanceof Error ? error.message : error);
	// At once: n8ns that run would keep it. They end with it (dev/children.ts).
	process.exit(1);
});
