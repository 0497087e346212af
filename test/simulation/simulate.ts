import type { StdioOptions } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import * as fc from 'fast-check';
import { startChild } from '../../dev/children';
import { isFaultOfWaits, NAMES_OF_FAULTS } from './putBack';
import { play, scenarios, type Playing } from './scenario';
import { plan } from './waits/plan';
import { World as WaitingWorld } from './waits/world';
import { Violation } from './world';

/*
 * Plays SIMULATION_RUNS scenarios, a process for each core, from SIMULATION_SEED on, and as many of
 * waits. What fails is printed with a seed and a path; SIMULATION_PATH (and SIMULATION_COMMANDS) play it
 * again, SIMULATION_OF=waits one of waits. With the
 * argument `faults` it plays with one fault after the other put back, and has to find each, with ten
 * seeds and 8,000 scenarios a seed.
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
const ignored = new Set(SIMULATION_IGNORE.split(',').filter(Boolean));
/** So many at a time, for progress to be seen. */
const SLICE = 5000;

/** It prints where this program does, and may send it messages. */
const WITH_MESSAGES: StdioOptions = ['ignore', 'inherit', 'inherit', 'ipc'];

/** This program in a process of its own. */
const again = (args: string[], env: Record<string, string> = {}) =>
	startChild(
		process.execPath,
		// With room for what is soon thrown away it takes an eighth less time.
		['--max-semi-space-size=64', '-r', 'ts-node/register', __filename, ...args],
		{ env: { ...process.env, ...env }, stdio: WITH_MESSAGES },
	);

const property = (playing: Playing) =>
	fc.asyncProperty(scenarios(SIMULATION_COMMANDS), async (drawn) => {
		await play(drawn, { ignored, ...playing });
	});

const waits = fc.asyncProperty(fc.scheduler(), plan, async (scheduler, drawn) => {
	await new WaitingWorld(scheduler, drawn).play();
});

/** Plays a failure again, on processes that no other scenario used, down to the smallest one. */
async function replay(seed: number, path: string, of: string): Promise<never> {
	if (of === 'waits') await fc.assert(waits, { seed, path });
	else await fc.assert(property({ fresh: true }), { seed, path });
	throw new Error(`Scenario ${path} of seed ${seed} fails only after others`);
}

/** One process's share; @throws with the smallest scenario that fails */
async function playAll(runs: number, seed: number): Promise<void> {
	// n8n's error classes look at the stack; nobody reads it here.
	Error.stackTraceLimit = 0;
	for (let done = 0; done < runs; done += SLICE) {
		const numRuns = Math.min(SLICE, runs - done);
		const how = { numRuns, seed: seed + done, endOnFailure: true };
		const sent = await fc.check(property({}), how);
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
async function find(fault: string, seed: number): Promise<void> {
	Error.stackTraceLimit = 0;
	const begun = Date.now();
	const needed: number[] = [];
	let why = '';
	for (let turn = 0; turn < SEEDS; turn++) {
		const how = { numRuns: RUNS_FOR_A_FAULT, seed: seed + turn, endOnFailure: true };
		const found = isFaultOfWaits(fault)
			? await fc.check(waits, how)
			: await fc.check(property({}), how);
		const error = found.errorInstance;
		// Whatever else goes wrong, an edit that no longer fits the code above all, is no find.
		if (found.failed && !(error instanceof Violation)) {
			console.log(`${fault}: NOT PUT BACK: ${String(error)}`);
			process.exitCode = 1;
			return;
		}
		if (found.failed) needed.push(found.numRuns);
		why ||= error instanceof Violation ? error.rule : '';
	}
	if (needed.length < SEEDS) process.exitCode = 1;
	const seconds = Math.round((Date.now() - begun) / 1000);
	const most = needed.length === 0 ? '' : `, at the latest by scenario ${Math.max(...needed)}`;
	console.log(
		`${fault}: found with ${needed.length} of ${SEEDS} seeds from ${seed} on${most} (${why}), in ${seconds} s`,
	);
}

/** Puts back each fault in a process of its own, as many at a time as there are cores. */
async function findAll(seed: number): Promise<void> {
	const left = [...NAMES_OF_FAULTS];
	const work = async () => {
		for (let fault = left.shift(); fault !== undefined; fault = left.shift()) {
			const child = again(['faults', String(seed)], { SIMULATION_FAULT: fault });
			if (((await once(child, 'exit')) as [number | null])[0] !== 0) process.exitCode = 1;
		}
	};
	await Promise.all(Array.from({ length: availableParallelism() }, work));
}

async function main() {
	const [, , share, from] = process.argv;
	const seed = Number(from ?? SIMULATION_SEED ?? randomInt(2 ** 30));
	if (SIMULATION_PATH) return await replay(seed, SIMULATION_PATH, SIMULATION_OF);
	if (SIMULATION_FAULT !== undefined) return await find(SIMULATION_FAULT, seed);
	if (share === 'faults') return await findAll(seed);
	if (share !== undefined) return await playAll(Number(share), seed);

	const [runs, parts, begun] = [Number(SIMULATION_RUNS), availableParallelism(), Date.now()];
	let [played, told] = [0, 0];
	const seconds = () => Math.round((Date.now() - begun) / 1000);
	const codes = await Promise.all(
		Array.from({ length: parts }, async (_, part) => {
			const mine = Math.floor(runs / parts) + (part < runs % parts ? 1 : 0);
			const child = again([String(mine), String(seed + part * runs)]);
			child.on('message', (count) => {
				played += Number(count);
				if (seconds() - told < 15) return;
				told = seconds();
				console.log(`${played} of ${runs} scenarios in ${told} s`);
			});
			return (await once(child, 'exit'))[0] as number | null;
		}),
	);
	const failed = codes.some((code) => code !== 0);
	console.log(
		`${played} of ${runs} scenarios from seed ${seed} in ${seconds()} s: ${failed ? 'FAILED' : 'nothing paid twice, resumed twice or told wrongly'}`,
	);
	process.exitCode = failed ? 1 : 0;
}

main().catch((error: unknown) => {
	const { message, cause } = error as Error;
	// What was violated is the cause of fast-check's error.
	console.error(cause instanceof Error ? `${message}\n${cause.message}` : message);
	process.exitCode = 1;
});
