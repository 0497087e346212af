import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installN8n, packPackage } from '../../dev/install';
import { VERSIONS } from './nodes';

/** Builds and packs once for all files; they install the tarball as a user does. */
export default async function pack() {
	// Before any test's time begins, and not in two workers at once.
	for (const version of VERSIONS) await installN8n(version);
	// Apart from the tarball that `npm start` and the demo make, which other tests run meanwhile.
	process.env.PAY_TARBALL = await packPackage(mkdtempSync(join(tmpdir(), 'pay-tarball-')));
}
