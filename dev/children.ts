import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/*
 * Every process that is started here and runs until somebody ends it, and every temporary folder. None
 * of them outlives this process, however that ends: at its exit, by Ctrl+C, a closed terminal, an
 * uncaught error or `kill -9`.
 *
 * Handlers of signals could not see to that. They do not run at a `kill -9`, and the `process` that
 * jest gives to tests is a copy on which they are never called. So a keeper waits beside this process
 * until the pipe between the two closes, which the system does whatever happened.
 */

/**
 * Holds the temporary folders, the pid of this process as `owner`, and `processes`: an empty file for each
 * child, named by its pid. What is there when the pipe closes is ended and removed. The folder of another
 * process may be among the temporary ones, as that of a Jest worker is: it ends first, or it would start
 * more. Ended processes may write for another moment, so the removal is tried more than once.
 */
const KEEPER = `
	read -r line
	find "$1" -mindepth 2 -regex '.*/pay-[^/]*/owner' -exec cat {} + | xargs -r kill -s KILL
	find "$1" -regex '.*/pay-[^/]*/processes/[0-9]+' -printf '-%f\\n' | xargs -r kill -s KILL --
	for try in 1 2 3 4 5 6 7 8 9 10; do
		rm -rf "$1" && exit
		sleep 0.2
	done`;

let kept: string | undefined;

/** The folder of this process, made and given to a keeper when something needs it first. */
function keptFolder(): string {
	if (kept !== undefined) return kept;
	const folder = mkdtempSync(join(tmpdir(), 'pay-'));
	// A server that runs as a user of its own has to get to its folder inside.
	chmodSync(folder, 0o711);
	mkdirSync(join(folder, 'processes'));
	writeFileSync(join(folder, 'owner'), `${process.pid}\n`);
	const keeper = spawn('sh', ['-c', KEEPER, 'keeper', folder], {
		cwd: '/',
		// A session of its own: Ctrl+C and a closed terminal do not reach it.
		detached: true,
		stdio: ['pipe', 'ignore', 'ignore'],
	});
	// This process ends without waiting for its keeper.
	keeper.unref();
	(keeper.stdin as Socket).unref();
	kept = folder;
	return folder;
}

/** Makes a folder that goes with this process, unless it is removed before. */
export function temporaryFolder(name: string): string {
	return mkdtempSync(join(keptFolder(), `${name}-`));
}

/** Ends all that is left of a group of processes. */
function killGroup(leader: number): void {
	try {
		process.kill(-leader, 'SIGKILL');
	} catch {
		// Nobody is left.
	}
}

/**
 * Starts a program that does not outlive this process, and neither do those that it starts itself.
 * It is in a session of its own, so Ctrl+C ends it by way of this process alone.
 */
export function startChild(
	command: string,
	args: string[],
	options: Omit<SpawnOptions, 'detached'> = {},
): ChildProcess {
	const processes = join(keptFolder(), 'processes');
	const child = spawn(command, args, { ...options, detached: true });
	const { pid } = child;
	// It could not be started, which its event `error` says.
	if (pid === undefined) return child;
	const file = join(processes, String(pid));
	writeFileSync(file, '');
	child.once('exit', () => {
		killGroup(pid);
		rmSync(file, { force: true });
	});
	return child;
}

/** Runs a program to its end; gives what it printed. */
export async function runChild(
	command: string,
	args: string[],
	options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<string> {
	const child = startChild(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
	let printed = '';
	let complained = '';
	child.stdout?.on('data', (chunk: Buffer) => (printed += chunk.toString()));
	child.stderr?.on('data', (chunk: Buffer) => (complained += chunk.toString()));
	const ended = await new Promise<number | string | null>((resolve, reject) => {
		child.on('error', reject);
		child.on('close', (code, signal) => resolve(code ?? signal));
	});
	if (ended === 0) return printed;
	throw new Error(`${command} ended with ${ended}\n${(complained || printed).slice(-4000)}`);
}

/** Ends a child at once, or as the signal says; gives when it has ended. */
export async function endChild(
	child: ChildProcess | undefined,
	signal: NodeJS.Signals = 'SIGKILL',
): Promise<void> {
	if (child?.pid === undefined) return;
	if (child.exitCode !== null || child.signalCode !== null) return;
	const ended = new Promise((resolve) => child.once('exit', resolve));
	child.kill(signal);
	await ended;
}
