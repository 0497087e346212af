import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../dev/n8n';

const ROOT = join(__dirname, '..');

/** Starts a child that starts a child, and a folder; prints their pids and its path, and then does something. */
const script = (then: string) => `
	const { startChild, temporaryFolder } = require('./dev/children');
	const child = startChild('sh', ['-c', 'sleep 1000 & echo $!; wait'], {
		stdio: ['ignore', 'pipe', 'ignore'],
	});
	child.stdout.once('data', (grandchild) => {
		console.log(JSON.stringify([child.pid, Number(grandchild), temporaryFolder('test')]));
		setTimeout(() => { ${then} }, 0);
	});`;

function isRunning(pid: number): boolean {
	if (!existsSync(`/proc/${pid}/stat`)) return false;
	// An ended one that nobody has collected is a zombie.
	return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
}

describe('a child, its child and a temporary folder are gone after', () => {
	const stays = 'setInterval(() => {}, 1000)';
	// One keeper sees to all ways to end: these are the ones that differ most.
	test.each([
		{
			name: 'the end of all work',
			then: 'child.unref(); child.stdout.destroy()',
			signal: undefined,
		},
		{ name: 'an uncaught error', then: 'throw new Error()', signal: undefined },
		{ name: 'SIGINT', then: stays, signal: 'SIGINT' },
		{ name: 'SIGKILL', then: stays, signal: 'SIGKILL' },
	] as const)('they are gone after $name', async ({ then, signal }) => {
		const TMPDIR = mkdtempSync(join(tmpdir(), 'pay-children-'));
		const parent = spawn(process.execPath, ['-r', 'ts-node/register', '-e', script(then)], {
			cwd: ROOT,
			env: { ...process.env, TMPDIR },
			stdio: ['ignore', 'pipe', 'ignore'],
		});
		const ended = new Promise((resolve) => parent.once('exit', resolve));
		const printed = await new Promise<Buffer>((resolve) => parent.stdout.once('data', resolve));
		const [child, grandchild, folder] = JSON.parse(printed.toString()) as [number, number, string];
		// What is there is seen: else nothing below would say anything.
		if (signal !== undefined) {
			const seen = [isRunning(child), isRunning(grandchild), existsSync(folder)];
			expect(seen).toStrictEqual([true, true, true]);
			parent.kill(signal);
		}
		await ended;
		await until(
			'the end of all',
			// The rest are caches of Node and its tools, which keep them for the next time.
			async () =>
				!isRunning(child) &&
				!isRunning(grandchild) &&
				readdirSync(TMPDIR).every((name) => !name.startsWith('pay-')),
			60,
		);
		rmSync(TMPDIR, { recursive: true });
	});
});

test("after SIGKILL of a run of tests, a worker of its own and the worker's child are gone", async () => {
	const TMPDIR = mkdtempSync(join(tmpdir(), 'pay-children-'));
	// Jest starts its workers itself. Their temporary folders are in the run's (test/n8n/pack.ts).
	const worker = `
		const { startChild } = require('./dev/children');
		const { pid } = startChild('sleep', ['1000']);
		console.log(JSON.stringify([process.pid, pid]));
		setInterval(() => {}, 1000);`;
	const run = `
		const { temporaryFolder } = require('./dev/children');
		const env = { ...process.env, TMPDIR: temporaryFolder('tests') };
		const args = ['-r', 'ts-node/register', '-e', ${JSON.stringify(worker)}];
		require('node:child_process').spawn(process.execPath, args, { env, stdio: 'inherit' });`;
	const parent = spawn(process.execPath, ['-r', 'ts-node/register', '-e', run], {
		cwd: ROOT,
		env: { ...process.env, TMPDIR },
		stdio: ['ignore', 'pipe', 'ignore'],
	});
	const printed = await new Promise<Buffer>((resolve) => parent.stdout.once('data', resolve));
	const [workerPid, childPid] = JSON.parse(printed.toString()) as [number, number];
	expect([isRunning(workerPid), isRunning(childPid)]).toStrictEqual([true, true]);
	parent.kill('SIGKILL');
	await until('the end of both', async () => !isRunning(workerPid) && !isRunning(childPid), 25);
	rmSync(TMPDIR, { recursive: true });
});
