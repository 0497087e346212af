import { execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { demo } from './demo';
import { installN8n } from './install';
import { majorOf, manifestOf, numberOf, type NpmVersion, type PinnedVersion } from './versions';

/*
 * `npx ts-node dev/bump.ts`: moves the two pinned n8ns to the newest releases of their majors. Each is
 * resolved and installed beside the pinned one, and takes its place only if the demo runs on it.
 */

const inOrder = (one: string, other: string) => one.localeCompare(other, 'en', { numeric: true });

/** The newest release of a major version among some versions, no pre-release. */
export function newestOf(major: number, versions: string[]): NpmVersion {
	const released = versions.filter((one) => new RegExp(`^${major}\\.\\d+\\.\\d+$`).test(one));
	return released.sort(inOrder).at(-1) as NpmVersion;
}

/** The majors among some versions that none of ours is of, and that are later, pre-releases too. */
export function newMajors(versions: string[]): number[] {
	const majors = new Set(versions.map((one) => Number.parseInt(one, 10)));
	return [...majors].filter((major) => major > majorOf('n8n2')).sort((one, other) => one - other);
}

/** Every version of n8n that npm has. */
function publishedVersions(): string[] {
	const printed = execFileSync('npm', ['view', 'n8n', 'versions', '--json'], {
		encoding: 'utf8',
		stdio: ['ignore', 'pipe', 'ignore'],
	});
	return JSON.parse(printed) as string[];
}

/** Puts another n8n into a pin's place, as it was resolved in a folder. */
function pin(version: PinnedVersion, n8n: string, resolvedIn: string): void {
	const folder = join(__dirname, version);
	const manifest = { ...manifestOf(version), dependencies: { n8n } };
	writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
	copyFileSync(join(resolvedIn, 'pnpm-lock.yaml'), join(folder, 'pnpm-lock.yaml'));
	if (version === 'n8n1') return;
	const compose = join(__dirname, 'compose.yaml');
	const text = readFileSync(compose, 'utf8');
	writeFileSync(compose, text.replace(/(image: n8nio\/n8n:)\S+/, `$1${n8n}`));
}

/** Why a release was not installed, in words: as pnpm says it, unless n8n published it in part only. */
export function whyNot(to: string, error: unknown): string {
	const said = error instanceof Error ? error.message : String(error);
	const [, missing] = /ERR_PNPM_NO_MATCHING_VERSION\s.*? for (\S+@\d\S*)/.exec(said) ?? [];
	return missing === undefined
		? `${to} does not do:\n${said}`
		: `${to} cannot be installed as it was published: it needs ${missing}, which npm does not have. n8n may not be done with publishing it: try again in a day.`;
}

/** Gives what became of a pin, in words. */
async function bump(version: PinnedVersion, published: string[]): Promise<string> {
	const from = numberOf(version);
	const to = newestOf(majorOf(version), published);
	if (from === to) return `dev/${version} stays at ${from}, the newest.`;
	try {
		const { folder } = await installN8n(to);
		await demo(to);
		pin(version, to, folder);
		return `dev/${version} goes from ${from} to ${to}: the demo runs on it. Now: npm run test:n8n`;
	} catch (error) {
		process.exitCode = 1;
		return `dev/${version} stays at ${from}, since ${whyNot(to, error)}`;
	}
}

async function main() {
	const published = publishedVersions();
	for (const version of ['n8n2', 'n8n1'] as const) console.log(await bump(version, published));
	for (const major of newMajors(published)) {
		console.log(`npm has an n8n ${major}. No pin is of it: read n8n's "Breaking changes" first.`);
	}
}

if (require.main === module) {
	main().catch((error: unknown) => {
		console.error(error instanceof Error ? error.message : error);
		process.exitCode = 1;
	});
}
