import { spawnSync } from 'node:child_process';
import { runChild } from './children';
import { numberOf, type ImageVersion } from './versions';

/*
 * An n8n in its official image, for releases that are not on npm, as from n8n 3 on. It is on the
 * host's network and sees its data folder under the same path, so a client does not notice.
 */

/** The image of an n8n, and the program that runs it. */
export interface Image {
	engine: 'docker' | 'podman';
	name: string;
}

/** The first of docker and podman that works here. */
export function containerEngine(): Image['engine'] | undefined {
	for (const engine of ['docker', 'podman'] as const) {
		// A client without its service answers only that.
		const { status } = spawnSync(engine, ['info'], { stdio: 'ignore', timeout: 30_000 });
		if (status === 0) return engine;
	}
	return undefined;
}

export const WITHOUT_ENGINE =
	'An n8n in its image needs docker or podman, and neither works here: nothing of it is tried.';

/** Fetches the image of a version. */
export async function pullImage(version: ImageVersion): Promise<Image> {
	const engine = containerEngine();
	if (engine === undefined) throw new Error(WITHOUT_ENGINE);
	const name = `docker.io/n8nio/n8n:${numberOf(version)}`;
	process.stderr.write(`Fetching ${name} …\n`);
	await runChild(engine, ['pull', '--quiet', name]);
	return { engine, name };
}

/**
 * Runs n8n and ends with its standard input: that closes when whoever started the container ends, be it
 * by `kill -9`, which the container itself does not notice.
 */
const ENTRY = `
	n8n "$@" </dev/null &
	n8n=$!
	trap 'kill -TERM $n8n' TERM INT
	exec 3<&0
	(read -r line <&3; kill -KILL $n8n) &
	wait $n8n
	wait $n8n`;

/** The command line that runs n8n in a container; its standard input must be an open pipe. */
export function inContainer(
	{ engine, name }: Image,
	args: string[],
	folder: string,
	env: NodeJS.ProcessEnv,
): string[] {
	const user = `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`;
	const line = [engine, 'run', '--rm', '--interactive', '--network', 'host', '--user', user];
	line.push('--volume', `${folder}:${folder}`, '--workdir', folder);
	for (const [variable, value] of Object.entries(env)) {
		// The image has its own.
		if (variable !== 'PATH') line.push('--env', `${variable}=${value}`);
	}
	line.push('--entrypoint', 'sh', name, '-c', ENTRY, 'n8n', ...args);
	return line;
}
