import { chmodSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../dev/children';
import { installN8n, packPackage } from '../../dev/install';
import { homeOf, startN8n, VERSIONS } from './nodes';

/**
 * Builds and packs once for all files, and installs the tarball as a user does, once for each n8n:
 * the first start makes its database, which takes as much processor time as all the rest of a start.
 */
export default async function pack() {
	// What browsers and npm leave in a temporary folder goes with this run.
	const temporary = temporaryFolder('tests');
	// Servers that run as users of their own get to their folders inside.
	chmodSync(temporary, 0o711);
	process.env.TMPDIR = temporary;
	// Before any test's time begins, and not in two workers at once.
	for (const version of VERSIONS) await installN8n(version);
	// Apart from the tarball that `npm start` and the demo make, which other tests run meanwhile.
	const folder = temporaryFolder('tarball');
	process.env.PAY_TARBALL = await packPackage(folder);
	await Promise.all(
		VERSIONS.map(async (version) => {
			const userFolder = join(folder, version);
			const n8n = await startN8n(version, { userFolder });
			await n8n.stop();
			rmSync(n8n.logFile);
			process.env[homeOf(version)] = userFolder;
		}),
	);
}
