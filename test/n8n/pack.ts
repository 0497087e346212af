import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../dev/children';
import { installN8n, packPackage } from '../../dev/install';
import type { N8n } from '../../dev/n8n';
import { homeOf, runningOf, startN8n } from './nodes';
import { versionsOf } from './tiers';

/**
 * Builds and packs once for all files, and installs the tarball as a user does, once for each n8n: the first
 * start makes its database, which takes as much processor time as all the rest of a start. What else is
 * started begins as a copy of it.
 * @param isShared whether these n8ns go on, for tests to attach to
 * @returns the n8ns, for whoever called this to stop
 */
export async function prepare(isShared: boolean): Promise<N8n[]> {
	// What browsers and npm leave in a temporary folder goes with this run.
	const temporary = temporaryFolder('tests');
	// Servers that run as users of their own get to their folders inside.
	chmodSync(temporary, 0o711);
	process.env.TMPDIR = temporary;
	// Before any test's time begins, and not in two workers at once.
	const versions = versionsOf(process.env);
	for (const version of versions) await installN8n(version);
	if (process.env.PAY_TIER === 'gate') await installN8n('n8n1');
	// Apart from the tarball that `npm start` and the demo make, which other tests run meanwhile.
	const folder = temporaryFolder('tarball');
	process.env.PAY_TARBALL = await packPackage(folder);
	return await Promise.all(
		versions.map(async (version) => {
			const n8n = await startN8n(version);
			const home = join(folder, version);
			n8n.copyTo(home);
			process.env[homeOf(version)] = home;
			if (isShared) process.env[runningOf(version)] = JSON.stringify(n8n.running);
			else await n8n.stop();
			return n8n;
		}),
	);
}

/** For Jest without `npm run test:n8n` before it, as for lab/versions: each file starts its own n8n. */
export default async function pack() {
	if (process.env.PAY_TARBALL === undefined) await prepare(false);
}
