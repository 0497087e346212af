import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { builtPayNode } from './nodeProcess';
import { NAMES_OF_FAULTS, withFault } from './putBack';

test('3,000 scenarios: nothing is paid twice, and what is told is what happened', () => {
	// Without jest's own bookkeeping around each of them it takes half the time.
	const { stdout, stderr, status } = spawnSync(
		process.execPath,
		['-r', 'ts-node/register', join(__dirname, 'simulate.ts')],
		{
			...{ encoding: 'utf8', maxBuffer: 2 ** 26 },
			// Always the same ones, so that a change is judged by itself; `npm run simulate` looks for others.
			env: { ...process.env, SIMULATION_SEED: '1', SIMULATION_RUNS: '3000' },
		},
	);
	console.log(stdout.trim());
	expect([status, stderr]).toStrictEqual([0, '']);
	expect(stdout).toMatch(/^3000 of 3000 scenarios from seed \d+ in \d+ s: nothing paid twice/m);
});

const code = builtPayNode();
test.each(NAMES_OF_FAULTS)('the edit that puts back "%s" fits the code', (fault) => {
	expect(withFault(code, fault)).not.toBe(code);
});

test('each edit that does not fit is named with its file and text', () => {
	const fault = 'an attempt is written down after its response';
	const one = String.raw`In nodes/Pay/execution/\w+\.ts, 0 times: .*`;
	expect(() => withFault('', fault)).toThrow(new RegExp(`^${fault}: .*\n${one}\n+${one}`));
});
