import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../dev/children';

/** Gives what is in a tarball of this package, under another number, in a new folder. */
export function unpack(
	tarball: string,
	version: string,
	into = temporaryFolder('unpacked'),
): string {
	mkdirSync(into, { recursive: true });
	execFileSync('tar', ['-xzf', tarball, '-C', into, '--strip-components=1']);
	const file = join(into, 'package.json');
	// As the workflow that publishes takes away what refuses a checkout; provenance is GitHub's to give.
	const { private: _, publishConfig: __, ...manifest } = JSON.parse(readFileSync(file, 'utf8'));
	writeFileSync(file, JSON.stringify({ ...manifest, version }));
	return into;
}
