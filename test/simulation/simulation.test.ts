import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { NAMES_OF_FAULTS, patchesOf } from './putBack';
import { patchedSource } from './source';

test('1,500 scenarios: no payment is made twice, no wait goes on twice, no "paid" is lost, and what is told is what happened', () => {
	// Without jest's own bookkeeping around each of them it takes half the time.
	const { stdout, stderr, status } = spawnSync(
		process.execPath,
		['-r', 'ts-node/register', join(__dirname, 'simulate.ts')],
		{
			encoding: 'utf8',
			maxBuffer: 2 ** 26,
			// Always the same ones, so that a change is judged by itself; `npm run simulate` looks for others.
			env: { ...process.env, SIMULATION_SEED: '1', SIMULATION_RUNS: '1500' },
		},
	);
	console.log(stdout.trim());
	expect([status, stderr]).toStrictEqual([0, '']);
	expect(stdout).toContain('1500 of 1500 scenarios');
});

test('each fault that the simulation has to find fits the source that it is put back into', () => {
	const misfits: string[] = [];
	for (const fault of NAMES_OF_FAULTS) {
		try {
			patchedSource(patchesOf(fault));
		} catch (error) {
			misfits.push(`${fault}: ${(error as Error).message}`);
		}
	}
	expect(misfits).toStrictEqual([]);
});
