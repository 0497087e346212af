import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { Clock, Machine } from './clock';
import { LoadedNode } from './nodeProcess';
import { NAMES_OF_FAULTS } from './putBack';

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
	expect(stdout).toMatch(
		/^1500 of 1500 scenarios from seed \d+ in \d+ s: nothing paid twice, resumed twice/m,
	);
});

test.each(NAMES_OF_FAULTS)('the node loads with "%s"', (fault) => {
	const { pay } = new LoadedNode({} as Clock, {} as Machine, fault);
	expect(pay.description.name).toBe('pay');
});

test('a fault that is not known is no node', () => {
	expect(() => new LoadedNode({} as Clock, {} as Machine, 'none')).toThrow(
		'There is no fault "none"',
	);
});
