import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { installStryker } from './install';

/*
 * `npm run mutate` changes the code in some thousand small ways and sees which of them a test
 * notices; `npm run mutate -- service/client parameters` does so for some files only, and
 * `npm run mutate -- --table` for none: it writes the table anew, with the reasons that were added.
 * It ends with an error where a file's score is below its goal.
 */

const ROOT = join(__dirname, '..');
const REPORT = join(ROOT, '.cache', 'mutation', 'incremental.json');
const TABLE = join(ROOT, 'test', 'mutation', 'scores.md');
const REASONS = join(ROOT, 'test', 'mutation', 'survivors.json');

/** The files that decide about money and forgery. */
const STRICT = new RegExp(
	[
		...['service/(outcome|client|exchange)', 'execution/(ledger|duplicateCheck|rememberedList)'],
		'execution/storedList',
		...['execution/(run|send|tally)', 'parameters/(amount|text)'],
		'postback/(proof|notification|expectation|receive)',
	].join('|'),
);
/** The least per cent of a file's mutants that a test must notice. */
const goalOf = (file: string) => (STRICT.test(file) ? 90 : 80);

interface Mutant {
	mutatorName: string;
	replacement?: string;
	status: string;
	location: Record<'start' | 'end', { line: number; column: number }>;
}

interface Report {
	files: Record<string, { source: string; mutants: Mutant[] }>;
}

/** What is known of one file: how many mutants died, and each that lives. */
interface Score {
	file: string;
	died: number;
	all: number;
	living: string[];
}

function short(text: string): string {
	const flat = text.replace(/\s+/g, ' ');
	return flat.length > 70 ? `${flat.slice(0, 45).trim()} … ${flat.slice(-20).trim()}` : flat;
}

/** A mutant in words that stay the same when the lines above it change. */
function nameOf(source: string, { location, replacement, mutatorName }: Mutant): string {
	const { start, end } = location;
	const lines = source.split('\n').slice(start.line - 1, end.line);
	lines[lines.length - 1] = lines.at(-1)!.slice(0, end.column - 1);
	lines[0] = lines[0]!.slice(start.column - 1);
	return `${short(lines.join('\n'))} -> ${short(replacement ?? mutatorName)}`;
}

function scoresOf({ files }: Report): Score[] {
	return Object.entries(files)
		.map(([file, { source, mutants }]) => {
			const counted = mutants.filter(({ status }) => status !== 'Ignored');
			const living = counted.filter(({ status }) => /Survived|NoCoverage/.test(status));
			return {
				file,
				died: counted.filter(({ status }) => /Killed|Timeout/.test(status)).length,
				all: counted.length,
				living: living.map((mutant) => nameOf(source, mutant)),
			};
		})
		.filter(({ all }) => all > 0);
}

/** What the table says already, of files that are still there. */
function tabulated(): Score[] {
	const [rows = '', ...sections] = readFileSync(TABLE, 'utf8').split(/^### /m);
	const living = new Map(
		sections.map((section) => {
			const names = [...section.matchAll(/^- (`+) ?(.+?) ?\1: /gm)].map(([, , name = '']) =>
				name.split(' -> ').map(short).join(' -> '),
			);
			return [section.split('\n', 1)[0]!.trim(), names];
		}),
	);
	return [...rows.matchAll(/^\| (\S+\.ts) *\| *(\d+) \| *(\d+) \|/gm)]
		.map(([, file = '', died, all]) => {
			return { file, died: Number(died), all: Number(all), living: living.get(file) ?? [] };
		})
		.filter(({ file }) => existsSync(join(ROOT, file)));
}

const percent = ({ died, all }: Pick<Score, 'died' | 'all'>) => (100 * died) / all;

/** The table of all files, and under it what lives, with a reason where one is known. */
function tableOf(scores: Score[]): string {
	const reasons = JSON.parse(readFileSync(REASONS, 'utf8')) as Record<
		string,
		Record<string, string>
	>;
	const sum = {
		died: scores.reduce((total, { died }) => total + died, 0),
		all: scores.reduce((total, { all }) => total + all, 0),
	};
	const rows = scores.map((score) =>
		[score.file, score.died, score.all, percent(score).toFixed(1), goalOf(score.file)].join(' | '),
	);
	const code = (text: string) => `\`\` ${text.replaceAll('``', "''")} \`\``;
	const living = scores.flatMap(({ file, living: names }) =>
		names.length === 0
			? []
			: [
					`\n### ${file}\n`,
					...names.map((name) => `- ${code(name)}: ${reasons[file]?.[name] ?? 'not looked at'}`),
				],
	);
	return [
		'# Mutation scores',
		'',
		'Written by `npm run mutate`. Wording (`wording.mjs`) is not counted; what timed out died. A run over some files replaces their rows alone; files that are not in the table have not been measured.',
		'',
		'| File | Died | Mutants | % | Goal |',
		'| --- | ---: | ---: | ---: | ---: |',
		...rows.map((row) => `| ${row} |`),
		`| All | ${sum.died} | ${sum.all} | ${percent(sum).toFixed(1)} | |`,
		'',
		'## What lives',
		...living,
		'',
	].join('\n');
}

/** Runs Stryker over some files, or all; gives whether there is a report. */
async function measure(some: string[]): Promise<boolean> {
	const stryker = await installStryker();
	const mutate = some
		.map((part) => part.replace(/\.ts$/, ''))
		.map((part) => (part.startsWith('credentials/') ? part : `nodes/Pay/${part}`))
		// A file, or all below a folder.
		.flatMap((path) => [`${path}*.ts`, `${path}*/**/*.ts`])
		.join();
	const { status } = spawnSync(
		process.execPath,
		[stryker, 'run', 'stryker.config.mjs', ...(mutate === '' ? [] : ['--mutate', mutate])],
		{ cwd: ROOT, stdio: 'inherit' },
	);
	return status === 0 && existsSync(REPORT);
}

async function main() {
	const some = process.argv.slice(2);
	const onlyTable = some.includes('--table');
	if (!onlyTable && !(await measure(some))) {
		process.exitCode = 1;
		return;
	}
	const measured = onlyTable ? [] : scoresOf(JSON.parse(readFileSync(REPORT, 'utf8')) as Report);
	const files = new Map([...tabulated(), ...measured].map((score) => [score.file, score]));
	const scores = [...files.values()].sort((a, b) => (a.file < b.file ? -1 : 1));
	const config = await resolveConfig(TABLE);
	const table = tableOf(scores);
	writeFileSync(TABLE, await format(table, { ...config, parser: 'markdown' }));
	console.log(table);
	const below = scores.filter((score) => percent(score) < goalOf(score.file));
	for (const score of below) console.error(`Below its goal: ${score.file}`);
	if (below.length > 0) process.exitCode = 1;
}

void main();
