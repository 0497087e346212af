import * as fc from 'fast-check';
import { play, scenarios } from './scenario';

/** How many scenarios, and which: a failure prints its seed and its path. */
const {
	SIMULATION_RUNS = '20000',
	SIMULATION_SEED,
	SIMULATION_PATH,
	SIMULATION_COMMANDS,
	SIMULATION_IGNORE = '',
} = process.env;
const ignored = new Set(SIMULATION_IGNORE.split(',').filter(Boolean));

test(`${SIMULATION_RUNS} scenarios: nothing is paid twice, and what is told is what happened`, async () => {
	await fc.assert(
		fc.asyncProperty(scenarios(SIMULATION_COMMANDS), async (drawn) => {
			await play(drawn, ignored);
		}),
		{
			numRuns: Number(SIMULATION_RUNS),
			...(SIMULATION_SEED ? { seed: Number(SIMULATION_SEED) } : {}),
			...(SIMULATION_PATH ? { path: SIMULATION_PATH } : {}),
		},
	);
}, 3_600_000);
