const { execFileSync } = require('node:child_process');
const { existsSync, readFileSync, rmSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

const ROOT = join(__dirname, '..', '..');
const FACTS = join(ROOT, '.cache', 'versions', 'facts.jsonl');
const DOCUMENT = join(ROOT, 'docs', 'versions.md');
const BETWEEN = /(<!-- versions -->\n)(.*?)(\n<!-- \/versions -->)/s;
const SHOWN = { passed: 'yes', failed: '**no**' };

/** Reads the table of an earlier run: what, version, found. */
function readTable(text) {
	const lines = text.split('\n').filter((line) => line.startsWith('|') && !/^\|[\s-]*-/.test(line));
	const rows = lines.map((line) =>
		line
			.split('|')
			.slice(1, -1)
			.map((cell) => cell.trim()),
	);
	const [[, ...versions] = [], ...body] = rows;
	return body.flatMap(([what, ...cells]) =>
		cells.map((found, index) => ({ what, version: versions[index], found })),
	);
}

/**
 * Writes what `npm run test:n8n -- versions` found into docs/versions.md: all anew, or, for a run of one
 * version or one file, its part.
 */
module.exports = class Table {
	onRunStart() {
		rmSync(FACTS, { force: true });
	}

	onRunComplete(_contexts, { testResults, numPendingTests }) {
		const document = readFileSync(DOCUMENT, 'utf8');
		const facts = existsSync(FACTS) ? readFileSync(FACTS, 'utf8').trim().split('\n') : [];
		const isWhole = testResults.length === 4 && !process.env.N8N_TRY_VERSION;
		const found = [
			...(isWhole ? [] : readTable(BETWEEN.exec(document)[2])),
			...facts.map((line) => JSON.parse(line)),
			...testResults
				.flatMap((file) => file.testResults)
				.map(({ ancestorTitles: [version], title, status }) => {
					return { what: title, version, found: SHOWN[status] ?? '' };
				}),
		];
		const versions = [...new Set(found.map(({ version }) => version))].sort((one, other) =>
			one.localeCompare(other, 'en', { numeric: true }),
		);
		const rows = [...new Set(found.map(({ what }) => what))].map((what) => [
			what,
			...versions.map(
				(version) =>
					found.findLast((one) => one.what === what && one.version === version)?.found ?? '',
			),
		]);
		const lines = [['n8n', ...versions], ['---', ...versions.map(() => '---')], ...rows].map(
			(cells) => `| ${cells.join(' | ')} |`,
		);
		console.log(lines.join('\n'));
		if (numPendingTests > 0) return;
		writeFileSync(DOCUMENT, document.replace(BETWEEN, `$1\n${lines.join('\n')}\n$3`));
		execFileSync('npx', ['prettier', '--write', DOCUMENT], { cwd: ROOT, stdio: 'ignore' });
	}
};
