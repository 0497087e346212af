import { spawn } from 'node:child_process';
import { join } from 'node:path';
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
		await until(`npm run ${name} to say ${sign}`, async () => sign.test(output), 150);
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

test('npm start keeps n8n and the sandbox open, and Ctrl+C ends both', async () => {
	const port = String(await freePort());
	const { output, end } = await script('start', { N8N_TRY_PORT: port }, /Press Ctrl\+C/);
	const [, editor] = /n8n editor: +(\S+)/.exec(output()) ?? [];
	const [, sandbox] = /sandbox: +(http\S+)/.exec(output()) ?? [];
	expect(editor).toContain(port);
	expect(await answers(editor!)).toBe(true);
	expect(await answers(sandbox!)).toBe(true);
	await end();
	expect([await answers(editor!), await answers(sandbox!)]).toEqual([false, false]);
});

test('npm run sandbox serves its page', async () => {
	const port = String(await freePort());
	const { end } = await script('sandbox', { SANDBOX_PORT: port }, /Sandbox service/);
	expect(await answers(`http://127.0.0.1:${port}`)).toBe(true);
	await end();
	expect(await answers(`http://127.0.0.1:${port}`)).toBe(false);
});

test.each(['build', 'watch'])('npm run %s builds the package', async (name) => {
	const { end, ended } = await script(name, {}, /Finished 'bundle'/);
	if (name === 'watch') await end();
	else expect(await ended).toBe(0);
});

test('npm run soak finds no payment twice and no postback lost, here in seconds', async () => {
	const { output, ended } = await script('soak', {}, /"failures"/, ['--minutes=0.2']);
	expect(await ended).toBe(0);
	expect(output()).toMatch(/"paymentsArrivedTwice": 0/);
	expect(output()).toMatch(/"acknowledgedButNotStored": 0/);
	expect(output()).toMatch(/"payments": [1-9]/);
});
