import type { ChildProcess, StdioOptions } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import * as fc from 'fast-check';
import { startChild } from '../../dev/children';
import { isFaultOfWaits, NAMES_OF_FAULTS } from './putBack';
import { play, scenarios } from './payments/play';
import { plan } from './waits/plan';
import { World as WaitingWorld } from './waits/world';
import { Violation } from './violation';

/*
 * Plays SIMULATION_RUNS scenarios of payments and as many of waits, a process for each core, from
 * SIMULATION_SEED on. README.md says how to play a failure again. With the argument `faults` it plays
 * with one fault after the other put back, and has to find each.
 */
const {
	SIMULATION_RUNS = '20000',
	SIMULATION_SEED,
	SIMULATION_PATH,
	SIMULATION_COMMANDS,
	SIMULATION_IGNORE = '',
	SIMULATION_OF = 'payments',
	SIMULATION_FAULT,
} = process.env;
const ignoredRules = new Set(SIMULATION_IGNORE.split(',').filter(Boolean));
/** So many at a time, for progress to be seen. */
const SLICE = 5000;

/** It prints where this program does, and may send it messages. */
const WITH_MESSAGES: StdioOptions = ['ignore', 'inherit', 'inherit', 'ipc'];

/** Starts this program in a process of its own. */
function startAnother(args: string[], env: Record<string, string> = {}): ChildProcess {
	return startChild(
		process.execPath,
		// With room for what is soon thrown away it takes an eighth less time.
		['--max-semi-space-size=64', '-r', 'ts-node/register', __filename, ...args],
		{ env: { ...process.env, ...env }, stdio: WITH_MESSAGES },
	);
}

async function exitCodeOf(child: ChildProcess): Promise<number | null> {
	const [code] = (await once(child, 'exit')) as [number | null];
	return code;
}

function payments(isFresh: boolean) {
	return fc.asyncProperty(scenarios(SIMULATION_COMMANDS), async (scenario) => {
		await play(scenario, { ignoredRules, isFresh });
	});
}

const waits = fc.asyncProperty(fc.scheduler(), plan, async (scheduler, drawn) => {
	await new WaitingWorld(scheduler, drawn).play();
});

/** Plays a failure again, on processes that no other scenario used, down to the smallest one. */
async function replay(seed: number, path: string, of: string): Promise<never> {
	if (of === 'waits') await fc.assert(waits, { seed, path });
	else await fc.assert(payments(true), { seed, path });
	throw new Error(`Scenario ${path} of seed ${seed} fails only after others`);
}

/** One process's share; @throws with the smallest scenario that fails */
async function playAll(runs: number, seed: number): Promise<void> {
	// n8n's error classes look at the stack; nobody reads it here.
	Error.stackTraceLimit = 0;
	for (let done = 0; done < runs; done += SLICE) {
		const numRuns = Math.min(SLICE, runs - done);
		const how = { numRuns, seed: seed + done, endOnFailure: true };
		const sent = await fc.check(payments(false), how);
		if (sent.failed) await replay(sent.seed, sent.counterexamplePath ?? '', 'payments');
		const waited = await fc.check(waits, how);
		if (waited.failed) await replay(waited.seed, waited.counterexamplePath ?? '', 'waits');
		process.send?.(numRuns);
	}
}

/** So many seeds have to find each fault, within so many scenarios. */
const SEEDS = 10;
const RUNS_FOR_A_FAULT = 8000;

/** Plays until the fault that is put back is found, with one seed after the other; says how. */
async function find(fault: string, firstSeed: number): Promise<void> {
	Error.stackTraceLimit = 0;
	const begun = Date.now();
	const runsNeeded: number[] = [];
	let rule = '';
	for (let seed = firstSeed; seed < firstSeed + SEEDS; seed++) {
		const how = { numRuns: RUNS_FOR_A_FAULT, seed, endOnFailure: true };
		const found = isFaultOfWaits(fault)
			? await fc.check(waits, how)
			: await fc.check(payments(false), how);
		if (!found.failed) continue;
		// Whatever else goes wrong, an edit that no longer fits the code above all, is no find.
		if (!(found.errorInstance instanceof Violation)) {
			console.log(`${fault}: NOT PUT BACK: ${String(found.errorInstance)}`);
			process.exitCode = 1;
			return;
		}
		runsNeeded.push(found.numRuns);
		if (rule === '') rule = found.errorInstance.rule;
	}
	if (runsNeeded.length < SEEDS) process.exitCode = 1;
	const latest = Math.max(0, ...runsNeeded);
	const seconds = Math.round((Date.now() - begun) / 1000);
	console.log(
		`${fault}: found with ${runsNeeded.length} of ${SEEDS} seeds from ${firstSeed} on, at the latest by scenario ${latest} (${rule}), in ${seconds} s`,
	);
}

/** Puts back each fault in a process of its own, as many at a time as there are cores. */
async function findAll(seed: number): Promise<void> {
	const left = [...NAMES_OF_FAULTS];
	const findNext = async () => {
		for (let fault = left.shift(); fault !== undefined; fault = left.shift()) {
			const child = startAnother(['faults', String(seed)], { SIMULATION_FAULT: fault });
			if ((await exitCodeOf(child)) !== 0) process.exitCode = 1;
		}
	};
	await Promise.all(Array.from({ length: availableParallelism() }, findNext));
}

/** How many seconds lie between two lines about progress. */
const BETWEEN_LINES = 15;

/** Shares the scenarios among as many processes as there are cores. */
async function shareAll(runs: number, seed: number): Promise<void> {
	const begun = Date.now();
	const seconds = () => Math.round((Date.now() - begun) / 1000);
	let played = 0;
	let lastLine = 0;
	const tellProgress = (count: unknown) => {
		played += Number(count);
		if (seconds() - lastLine < BETWEEN_LINES) return;
		lastLine = seconds();
		console.log(`${played} of ${runs} scenarios in ${lastLine} s`);
	};

	const cores = availableParallelism();
	const children = Array.from({ length: cores }, (_, index) => {
		const share = Math.floor(runs / cores) + (index < runs % cores ? 1 : 0);
		const child = startAnother([String(share), String(seed + index * runs)]);
		child.on('message', tellProgress);
		return child;
	});
	const codes = await Promise.all(children.map(exitCodeOf));

	const hasFailed = codes.some((code) => code !== 0);
	const result = hasFailed ? 'FAILED' : 'nothing paid twice, resumed twice or told wrongly';
	console.log(`${played} of ${runs} scenarios from seed ${seed} in ${seconds()} s: ${result}`);
	if (hasFailed) process.exitCode = 1;
}

async function main(): Promise<void> {
	const [, , share, from] = process.argv;
	const seed = Number(from ?? SIMULATION_SEED ?? randomInt(2 ** 30));
	if (SIMULATION_PATH) return await replay(seed, SIMULATION_PATH, SIMULATION_OF);
	if (SIMULATION_FAULT !== undefined) return await find(SIMULATION_FAULT, seed);
	if (share === 'faults') return await findAll(seed);
	if (share !== undefined) {
		await playAll(Number(share), seed);
		if (process.send === undefined)
			console.log(`${share} scenarios from seed ${seed}: nothing found`);
		return;
	}
	await shareAll(Number(SIMULATION_RUNS), seed);
}

main().catch((error: unknown) => {
	const { message, cause } = error as Error;
	// What was violated is the cause of fast-check's error.
	console.error(cause instanceof Error ? `${message}\n${cause.message}` : message);
	process.exitCode = 1;
});
