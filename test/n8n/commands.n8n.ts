import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exampleNames } from '../../dev/examples';
import { packPackage } from '../../dev/install';
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
	const end = async () => {
		process.kill(-child.pid!, 'SIGINT');
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

test('npm start opens n8n with every example, and the sandbox; what is there is kept until --fresh', async () => {
	const folder = mkdtempSync(join(tmpdir(), 'pay-start-'));
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
	const start = async (...args: string[]) => {
		const { output, end } = await script('start', env, /Press Ctrl\+C/, args);
		const found = await contents(output());
		const [, sandbox] = /sandbox: +(http\S+)/.exec(output())!;
		expect([await answers(n8n), await answers(sandbox!)]).toStrictEqual([true, true]);
		await end();
		expect([await answers(n8n), await answers(sandbox!)]).toStrictEqual([false, false]);
		return { ...found, output: output() };
	};
	const first = await start();
	expect(first.workflows).toHaveLength(exampleNames().length);
	expect(first.credentials.map(({ name }) => name).sort()).toStrictEqual(['Approver', 'Sandbox']);
	expect(first.output).toMatch(/payment +\S+ +[\d.]+: accepted/);
	const ids = ({ workflows }: typeof first) => workflows.map(({ id }) => id).sort();
	expect(ids(await start())).toStrictEqual(ids(first));
	const fresh = ids(await start('--fresh'));
	expect(fresh.filter((id) => ids(first).includes(id))).toStrictEqual([]);
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
	const folder = mkdtempSync(join(tmpdir(), 'pay-again-'));
	const again = readFileSync(await packPackage(folder));
	expect(again.equals(readFileSync(process.env.PAY_TARBALL!))).toBe(true);
	rmSync(folder, { recursive: true });
}, 120_000);
