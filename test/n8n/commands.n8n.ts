import { execFileSync, spawn } from 'node:child_process';
import {
	cpSync,
	existsSync,
	readdirSync,
	readFileSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from 'node:fs';
import { basename, join, relative } from 'node:path';
import { temporaryFolder } from '../../dev/children';
import { exampleNames } from '../../dev/examples';
import { packPackage } from '../../dev/install';
import { freePort, until } from '../../dev/n8n';
import { startN8n, VERSIONS } from './nodes';

const ROOT = join(__dirname, '..', '..');

/** Starts a script that stays, as a person does, until it has printed something. */
async function script(
	name: string,
	env: Record<string, string>,
	sign: RegExp,
	args: string[] = [],
) {
	// A group of its own, so that it can be ended as Ctrl+C ends what runs in a terminal.
	const child = spawn('npm', ['run', name, '--', ...args], {
		cwd: ROOT,
		env: { ...process.env, ...env },
		detached: true,
		stdio: ['ignore', 'pipe', 'pipe'],
	});
	let output = '';
	for (const stream of [child.stdout, child.stderr]) {
		stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
	}
	const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
	/** As Ctrl+C does; or as a system does that tells the program it knows, npm, to end. */
	const end = async (how: 'Ctrl+C' | 'npm is told to end' = 'Ctrl+C') => {
		if (how === 'Ctrl+C') process.kill(-child.pid!, 'SIGINT');
		else process.kill(child.pid!, 'SIGTERM');
		await ended;
	};
	try {
		await until(`npm run ${name} to say ${sign}`, async () => sign.test(output), 400);
	} catch (error) {
		await end();
		throw new Error(`${String(error)}\n${output}`);
	}
	return { output: () => output, end, ended };
}

const answers = async (url: string) =>
	await fetch(url).then(
		({ ok }) => ok,
		() => false,
	);

test('npm start opens n8n with every example, and the sandbox; what is there is kept, and --fresh begins anew', async () => {
	const folder = temporaryFolder('start');
	const env = {
		N8N_TRY_PORT: String(await freePort()),
		SANDBOX_PORT: String(await freePort()),
		N8N_TRY_FOLDER: folder,
	};
	const n8n = `http://127.0.0.1:${env.N8N_TRY_PORT}`;
	/** The names of the workflows and credentials, as the owner whose password is printed sees them. */
	async function contents(output: string) {
		const [, email, password] = /sign in: +(\S+) \/ (\S+)/.exec(output)!;
		const headers = { 'Content-Type': 'application/json', 'browser-id': 'test' };
		const login = await fetch(`${n8n}/rest/login`, {
			method: 'POST',
			headers,
			body: JSON.stringify({ email, emailOrLdapLoginId: email, password }),
		});
		const cookie = login.headers.getSetCookie().map((set) => set.split(';')[0]);
		const names = async (what: string) => {
			const answer = await fetch(`${n8n}/rest/${what}`, {
				headers: { ...headers, Cookie: cookie.join('; ') },
			});
			const { data } = (await answer.json()) as { data: Array<{ id: string; name: string }> };
			return data;
		};
		return { workflows: await names('workflows'), credentials: await names('credentials') };
	}
	const start = async (how: 'Ctrl+C' | 'npm is told to end', ...args: string[]) => {
		const { output, end } = await script('start', env, /Press Ctrl\+C/, args);
		const found = await contents(output());
		const [, sandbox] = /sandbox: +(http\S+)/.exec(output())!;
		expect([await answers(n8n), await answers(sandbox!)]).toStrictEqual([true, true]);
		await end(how);
		expect([await answers(n8n), await answers(sandbox!)]).toStrictEqual([false, false]);
		return { ...found, output: output() };
	};
	// What an earlier start left: its ports, which this one must not take, and its data.
	writeFileSync(join(folder, 'start.json'), JSON.stringify({ port: 1, sandboxPort: 1 }));
	const left = join(folder, 'data');
	writeFileSync(left, '');
	const first = await start('Ctrl+C', '--fresh');
	// With the two of the demo.
	expect(first.workflows).toHaveLength(exampleNames().length + 2);
	expect(first.credentials.map(({ name }) => name).sort()).toStrictEqual(['Approver', 'Sandbox']);
	expect(first.output).toMatch(/payment +\S+ +[\d.]+: accepted/);
	expect(existsSync(left)).toBe(false);
	const ids = ({ workflows }: typeof first) => workflows.map(({ id }) => id).sort();
	expect(ids(await start('npm is told to end'))).toStrictEqual(ids(first));
	rmSync(folder, { recursive: true });
});

test('npm run sandbox serves its page', async () => {
	const port = String(await freePort());
	const { end } = await script('sandbox', { SANDBOX_PORT: port }, /Sandbox service/);
	expect(await answers(`http://127.0.0.1:${port}`)).toBe(true);
	await end();
	expect(await answers(`http://127.0.0.1:${port}`)).toBe(false);
});

test('npm run build builds the package', async () => {
	const { ended } = await script('build', {}, /Finished 'bundle'/);
	expect(await ended).toBe(0);
});

test('two builds give the same package', async () => {
	const folder = temporaryFolder('again');
	const again = readFileSync(await packPackage(folder));
	expect(again.equals(readFileSync(process.env.PAY_TARBALL!))).toBe(true);
	rmSync(folder, { recursive: true });
}, 120_000);

test('a build of the same files in another folder gives the same files', () => {
	const folder = temporaryFolder('elsewhere');
	for (const name of ['nodes', 'credentials', 'gulpfile.js', 'package.json', 'tsconfig.json']) {
		cpSync(join(ROOT, name), join(folder, name), { recursive: true });
	}
	symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
	execFileSync(join(ROOT, 'node_modules', '.bin', 'gulp'), ['build'], { cwd: folder });
	const filesOf = (root: string) =>
		readdirSync(join(root, 'dist'), { recursive: true, withFileTypes: true })
			.filter((entry) => entry.isFile())
			.map(({ parentPath, name }) => join(parentPath, name))
			.map((path) => [relative(root, path), readFileSync(path, 'utf8')]);
	expect(Object.fromEntries(filesOf(folder))).toStrictEqual(Object.fromEntries(filesOf(ROOT)));
	rmSync(folder, { recursive: true });
});

/** A process, as /proc shows it (Linux). */
interface Seen {
	pid: number;
	command: string;
}

/** The processes that have a folder in their environment or command. */
function processesOf(folder: string): Seen[] {
	const found: Seen[] = [];
	for (const name of readdirSync('/proc')) {
		if (!/^\d+$/.test(name)) continue;
		try {
			const environment = readFileSync(`/proc/${name}/environ`, 'utf8');
			const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
			// One that has ended and is not collected yet has no command.
			if (command === '' || !`${environment} ${command}`.includes(folder)) continue;
			found.push({ pid: Number(name), command });
		} catch {
			// It ended meanwhile.
		}
	}
	return found;
}

/** What the first n8n with its data below a folder has logged; empty while there is none. */
function firstLog(folder: string): string {
	const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
	const log = files.find((file) => basename(file) === 'n8n.log');
	return log === undefined ? '' : readFileSync(join(folder, log), 'utf8');
}

// children.test.ts has other ways to end.
describe('a demo that is ended while n8n starts leaves no process and no folder', () => {
	test.each([
		['Ctrl+C', 'SIGINT', 'all'],
		['the demo is killed', 'SIGKILL', 'demo'],
	] as const)('%s', async (_how, signal, target) => {
		const folder = temporaryFolder('ended');
		const npm = spawn('npm', ['run', 'demo'], {
			cwd: ROOT,
			env: { ...process.env, TMPDIR: folder },
			detached: true,
			stdio: 'ignore',
		});
		const ended = new Promise((resolve) => npm.once('exit', resolve));
		try {
			await until('n8n to begin', async () => firstLog(folder).includes('Initializing n8n'));
			const running = processesOf(folder);
			expect(running.some(({ command }) => command.includes('n8n start'))).toBe(true);
			const demo = running.find(({ command }) => /^\S*node \S*ts-node dev\/demo/.test(command))!;
			process.kill(target === 'all' ? -npm.pid! : demo.pid, signal);
			await ended;
			// The rest are caches of Node and its tools, which keep them for the next time.
			const folders = () => readdirSync(folder).filter((name) => name.startsWith('pay-'));
			const left = () => [...processesOf(folder).map(({ command }) => command), ...folders()];
			await until('an end', async () => left().length === 0, 30).catch(() => undefined);
			expect(left()).toStrictEqual([]);
		} finally {
			for (const { pid } of processesOf(folder)) process.kill(pid, 'SIGKILL');
			rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
		}
	});
});

describe('what waits for an n8n ends with it', () => {
	const [version] = VERSIONS;

	test('while it starts, here without its database', async () => {
		const program = `require('./dev/n8n').N8n
			.start({ version: '${version}', env: { DB_TYPE: 'postgresdb', DB_POSTGRESDB_PORT: '9' } })
			.catch(({ message }) => console.log(message));`;
		const child = spawn(process.execPath, ['-r', 'ts-node/register', '-e', program], {
			cwd: ROOT,
			stdio: ['ignore', 'pipe', 'ignore'],
		});
		const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
		const printed = await new Promise<Buffer>((resolve) => child.stdout.once('data', resolve));
		expect(printed.toString()).toMatch(/^n8n ended with code 1:/);
		const patience = setTimeout(() => child.kill('SIGKILL'), 30_000);
		expect(await ended).toBe(0);
		clearTimeout(patience);
	});

	test('while an execution runs', async () => {
		const n8n = await startN8n(version!);
		const processes = processesOf(n8n.userFolder);
		const { pid } = processes.find(({ command }) => command.includes('n8n start'))!;
		const waits = n8n.finished('1');
		process.kill(pid, 'SIGKILL');
		await expect(waits).rejects.toThrow(/^n8n ended with code null:/);
		await n8n.stop();
	});
});
