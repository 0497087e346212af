import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runChild, temporaryFolder } from '../../dev/children';
import { demo } from '../../dev/demo';
import { containerEngine, inContainer, WITHOUT_ENGINE } from '../../dev/image';
import { installN8n } from '../../dev/install';
import { numberOf, type ImageVersion } from '../../dev/versions';

/*
 * n8n in its official image, the only form of n8n 3. N8N_TRY_IMAGE names another tag, such as `next`.
 */
const VERSION: ImageVersion = `image:${process.env.N8N_TRY_IMAGE ?? numberOf('n8n2')}`;

const isThere = containerEngine() !== undefined;
if (!isThere) process.stderr.write(`\nSKIPPED: ${WITHOUT_ENGINE}\n\n`);

const expectDemo = (report: string[]) => {
	expect(report[0]).toMatch(/^qrCode .*: accepted/);
	expect(report[1]).toMatch(/^payment .*: accepted/);
	expect(report.filter((line) => line.startsWith('postback: '))).toHaveLength(2);
};

(isThere ? test : test.skip)('the demo runs in the image', async () => {
	expectDemo(await demo(VERSION));
});

test('a container has the data folder, the environment and the command', () => {
	const image = { engine: 'docker', name: 'n8nio/n8n:3.0.0' } as const;
	const line = inContainer(image, ['start'], '/data', { PATH: '/bin', N8N_PORT: '1' });
	expect(line.slice(0, 3)).toStrictEqual(['docker', 'run', '--rm']);
	const text = line.join(' ');
	expect(text).toContain('--volume /data:/data --workdir /data --env N8N_PORT=1 --entrypoint sh');
	expect(text).not.toContain('PATH=');
	expect(line.at(-1)).toBe('start');
});

/** Stands for docker where it is not: it runs the same entry on this machine, with the pinned n8n. */
const STAND_IN = (bin: string, node: string) => `#!/bin/sh
case "$1" in info|pull) exit 0;; esac
while [ "$1" != --entrypoint ]; do
	case "$1" in
		--env) export "$2"; shift;;
		--workdir) cd "$2"; shift;;
	esac
	shift
done
shift 3
n8n() { exec ${node} ${bin} "$@"; }
entry="$2"; shift 3
eval "set -- \"\$@\"; $entry"
`;

test('the demo runs where a program does what docker is asked to', async () => {
	const { bin, node } = await installN8n('n8n2');
	const folder = temporaryFolder('docker');
	writeFileSync(join(folder, 'docker'), STAND_IN(bin, node));
	chmodSync(join(folder, 'docker'), 0o755);
	const printed = await runChild(process.execPath, ['-r', 'ts-node/register', 'dev/demo.ts'], {
		cwd: join(__dirname, '..', '..'),
		env: {
			...process.env,
			PATH: `${folder}:${process.env.PATH}`,
			N8N_TRY_VERSION: VERSION,
		},
	});
	expectDemo(printed.trim().split('\n'));
});
