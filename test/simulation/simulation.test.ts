import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

test('20,000 scenarios: nothing is paid twice, and what is told is what happened', () => {
	// Without jest's own bookkeeping around each of them it takes half the time.
	const { stdout, stderr, status } = spawnSync(
		process.execPath,
		['-r', 'ts-node/register', join(__dirname, 'simulate.ts')],
		// Always the same ones, so that a change is judged by itself; `npm run simulate` looks for others.
		{ encoding: 'utf8', maxBuffer: 2 ** 26, env: { ...process.env, SIMULATION_SEED: '1' } },
	);
	console.log(stdout.trim());
	expect([status, stderr]).toStrictEqual([0, '']);
	expect(stdout).toMatch(/^20000 of 20000 scenarios from seed \d+ in \d+ s: nothing paid twice/m);
}, 300_000);
