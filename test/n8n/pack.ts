import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packPackage } from '../../dev/install';

/** Builds and packs once for all files; they install the tarball as a user does. */
export default async function pack() {
	// Apart from the tarball that `npm start` and the soak make, which other tests run meanwhile.
	process.env.PAY_TARBALL = await packPackage(mkdtempSync(join(tmpdir(), 'pay-tarball-')));
}
