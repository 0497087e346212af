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
import { join, relative } from 'node:path';
import { temporaryFolder } from '../../dev/children';
import { exampleNames } from '../../dev/examples';
import { freePort, until } from '../../dev/n8n';

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
