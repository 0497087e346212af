// Runs the checks of n8n's own package scan, inline disables ignored, over the sources and over the
// packed files, which is what n8n does with a published version.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
	analyzePackage,
	SOURCE_FILE_PATTERNS,
} from '../node_modules/@n8n/scan-community-package/scanner/scanner.mjs';

// What is in dist, as it was built before; packing would build it again.
const PACK = ['pack', '--json', '--ignore-scripts', '--pack-destination'];
const folder = mkdtempSync(join(tmpdir(), 'pay-scan-'));
try {
	const packed = execFileSync('npm', [...PACK, folder], {
		encoding: 'utf8',
		stdio: ['ignore', 'pipe', 'ignore'],
	});
	const [{ filename, size, files }] = [JSON.parse(packed)].flatMap((all) =>
		Array.isArray(all) ? all : Object.values(all),
	);
	execFileSync('tar', ['-xzf', join(folder, filename), '-C', folder]);
	console.log(`${filename}: ${size} bytes packed`);
	for (const { path, size: bytes } of files) console.log(`${String(bytes).padStart(8)}  ${path}`);

	const checks = {
		sources: [process.cwd(), SOURCE_FILE_PATTERNS],
		'packed files': [join(folder, 'package'), ['**/*.js', 'package.json']],
	};
	for (const [what, [place, patterns]] of Object.entries(checks)) {
		const { passed, message, details } = await analyzePackage(place, patterns);
		console.log(`scan of the ${what}: ${passed ? 'clean' : `${message}\n${details ?? ''}`}`);
		if (!passed) process.exitCode = 1;
	}
} finally {
	rmSync(folder, { recursive: true });
}
