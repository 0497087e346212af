import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { NAMES_OF_FAULTS, patchesOf } from './putBack';
import { patchedSource } from './source';

test('1,500 scenarios: no payment is made twice, no wait goes on twice, no "paid" is lost, and what is told is what happened', () => {
	// Without jest's own bookkeeping around each of them it takes half the time.
	const { stdout, stderr, status } = spawnSync(
		process.execPath,
		// In one process: the same scenarios on every machine, and the others have the other cores.
		// They are always the same, so that a change is judged by itself; `npm run simulate` looks for others.
		[
			'--max-semi-space-size=64',
			'-r',
			'ts-node/register',
			join(__dirname, 'simulate.ts'),
			'1500',
			'1',
		],
		{ encoding: 'utf8', maxBuffer: 2 ** 26 },
	);
	console.log(stdout.trim());
	expect([status, stderr]).toStrictEqual([0, '']);
	expect(stdout).toContain('1500 scenarios from seed 1');
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
