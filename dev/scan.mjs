// Runs the checks of n8n's own package scan, inline disables ignored, over the sources and over the
// packed files, which is what n8n does with a published version.
//
//   node dev/scan.mjs             packs what is in dist, as it was built before
//   node dev/scan.mjs FILE.tgz    looks into a tarball that is there
//
// n8n's own command exits with 0 when the scan fails; this one with 1.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import {
	analyzePackage,
	SOURCE_FILE_PATTERNS,
} from '../node_modules/@n8n/scan-community-package/scanner/scanner.mjs';

const run = (command, ...args) =>
	execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trimEnd();
const folder = mkdtempSync(join(tmpdir(), 'pay-scan-'));
try {
	const tarball =
		process.argv[2] ??
		// Packing would build again.
		join(folder, run('npm', 'pack', '--silent', '--ignore-scripts', '--pack-destination', folder));
	run('tar', '-xzf', tarball, '-C', folder);
	console.log(`${basename(tarball)}: ${statSync(tarball).size} bytes packed`);
	const unpacked = join(folder, 'package');
	console.log(run('find', unpacked, '-type', 'f', '-printf', '%8s  %P\n'));

	const checks = {
		sources: [process.cwd(), SOURCE_FILE_PATTERNS],
		'packed files': [unpacked, ['**/*.js', 'package.json']],
	};
	for (const [what, [place, patterns]] of Object.entries(checks)) {
		const { passed, message, details } = await analyzePackage(place, patterns);
		console.log(`scan of the ${what}: ${passed ? 'clean' : `${message}\n${details ?? ''}`}`);
		if (!passed) process.exitCode = 1;
	}
} finally {
	rmSync(folder, { recursive: true });
}
