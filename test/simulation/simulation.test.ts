import * as fc from 'fast-check';
import { play, scenarios, type Playing } from './scenario';

/*
 * A failure prints its smallest scenario, what happened in it, and `seed`, `path` and `replayPath`:
 * with these as SIMULATION_SEED, SIMULATION_PATH and SIMULATION_COMMANDS it is played again.
 * SIMULATION_RUNS says how many scenarios, SIMULATION_IGNORE which rules are not looked at
 * (separated by commas), to see what is behind a known fault. Where a promise does not hold stands
 * in exceptions.ts.
 */
const {
	SIMULATION_RUNS = '20000',
	SIMULATION_SEED,
	SIMULATION_PATH,
	SIMULATION_COMMANDS,
	SIMULATION_IGNORE = '',
} = process.env;
const ignored = new Set(SIMULATION_IGNORE.split(',').filter(Boolean));

const property = (playing: Playing) =>
	fc.asyncProperty(scenarios(SIMULATION_COMMANDS), async (drawn) => {
		await play(drawn, { ignored, ...playing });
	});

test(`${SIMULATION_RUNS} scenarios: nothing is paid twice, and what is told is what happened`, async () => {
	// n8n's error classes look at the stack; nobody reads it here.
	Error.stackTraceLimit = 0;
	const seed = SIMULATION_SEED ? Number(SIMULATION_SEED) : undefined;
	const once = SIMULATION_PATH ? { seed, path: SIMULATION_PATH } : undefined;
	const found =
		once ??
		(await fc.check(property({}), {
			numRuns: Number(SIMULATION_RUNS),
			...(seed === undefined ? {} : { seed }),
			endOnFailure: true,
		}));
	if (once === undefined && 'failed' in found && !found.failed) return;
	// Again on processes that no other scenario used, down to the smallest one that fails.
	const path = 'counterexamplePath' in found ? (found.counterexamplePath ?? '') : found.path;
	await fc.assert(property({ fresh: true }), { seed: found.seed, path });
	if (once === undefined) {
		throw new Error(`Scenario ${path} of seed ${found.seed} fails only after others`);
	}
}, 3_600_000);
