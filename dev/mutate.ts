import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { installStryker } from './install';

/*
 * `npm run mutate` changes the code in some thousand small ways and sees which of them a test
 * notices; `npm run mutate -- service/client parameters` does so for some files only. It prints what
 * no test noticed, with its reason where test/mutation/survivors.json has one, and ends with an error
 * where a file's score is below its goal. The whole takes hours: `npm run mutate -- --sample=100`
 * changes a hundred places of five lines, drawn from all files.
 */

const ROOT = join(__dirname, '..');
/** What Stryker knows of earlier runs; of a sample it has to know none. */
const REPORT = join('.cache', 'mutation', 'incremental.json');
const SAMPLE_REPORT = join('.cache', 'mutation', 'sample.json');
const REASONS = join(ROOT, 'test', 'mutation', 'survivors.json');

/** The files that decide about money and forgery, below `nodes/Pay`. */
export const STRICT = [
	...['service/outcome', 'service/client', 'service/exchange'],
	...['execution/ledger', 'execution/memory/PaymentList', 'execution/memory/RunRecords'],
	...['execution/run', 'execution/send', 'execution/tally'],
	...['parameters/amount', 'parameters/text'],
	...['postback/proof', 'postback/postback', 'postback/expectation', 'postback/receive'],
].map((path) => `nodes/Pay/${path}.ts`);
/** The least per cent of a file's mutants that a test must notice. */
const goalOf = (file: string) => (STRICT.includes(file) ? 90 : 80);

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

/** One line, its middle left out where it is long. */
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

const percent = ({ died, all }: Pick<Score, 'died' | 'all'>) => (100 * died) / all;

/** The measured files with their scores, and under each what lives. */
function tableOf(scores: Score[]): string {
	const reasons = JSON.parse(readFileSync(REASONS, 'utf8')) as Record<
		string,
		Record<string, string>
	>;
	return scores
		.flatMap((score) => {
			const { file, died, all, living } = score;
			const goal = goalOf(file);
			return [
				`${file}: ${died} of ${all} noticed, ${percent(score).toFixed(1)} % (goal ${goal})`,
				...living.map((name) => `\t${name}: ${reasons[file]?.[name] ?? 'not looked at'}`),
			];
		})
		.join('\n');
}

const LINES_OF_A_PLACE = 5;

/** Places drawn from all of the code, each line as likely as any other, as Stryker takes them. */
function sample(places: number): string[] {
	const all = ['nodes', 'credentials'].flatMap((folder) =>
		readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
			.filter((name) => name.endsWith('.ts') && !name.endsWith('lowestN8n.ts'))
			.map((name) => join(folder, name))
			.flatMap((file) => {
				const lines = readFileSync(join(ROOT, file), 'utf8').split('\n').length;
				return Array.from({ length: Math.ceil(lines / LINES_OF_A_PLACE) }, (_, place) => {
					const first = place * LINES_OF_A_PLACE + 1;
					return `${file}:${first}-${first + LINES_OF_A_PLACE - 1}`;
				});
			}),
	);
	const draw = () => all.splice(randomInt(all.length), 1);
	return Array.from({ length: Math.min(places, all.length) }, draw).flat();
}

/** The files that are meant, as Stryker takes them: each a file, or all below a folder. */
const filesOf = (some: string[]) =>
	some
		.map((part) => part.replace(/\.ts$/, ''))
		.map((part) => (part.startsWith('credentials/') ? part : `nodes/Pay/${part}`))
		.flatMap((path) => [`${path}*.ts`, `${path}*/**/*.ts`]);

/** Runs Stryker over some code, or all; gives whether there is a report. */
async function measure(mutate: string[], report: string): Promise<boolean> {
	const stryker = await installStryker();
	const { status } = spawnSync(
		process.execPath,
		[
			...[stryker, 'run', 'test/mutation/stryker.config.mjs', '--incrementalFile', report],
			...(mutate.length === 0 ? [] : ['--mutate', mutate.join()]),
		],
		{ cwd: ROOT, stdio: 'inherit' },
	);
	return status === 0 && existsSync(join(ROOT, report));
}

async function main() {
	const asked = process.argv.slice(2);
	const places = Number(/^--sample=(\d+)$/.exec(asked[0] ?? '')?.[1] ?? 0);
	const report = places > 0 ? SAMPLE_REPORT : REPORT;
	if (places > 0) rmSync(join(ROOT, report), { force: true });
	if (!(await measure(places > 0 ? sample(places) : filesOf(asked), report))) {
		process.exitCode = 1;
		return;
	}
	const scores = scoresOf(JSON.parse(readFileSync(join(ROOT, report), 'utf8')) as Report);
	console.log(tableOf(scores));
	const [died, all] = (['died', 'all'] as const).map((what) =>
		scores.reduce((sum, score) => sum + score[what], 0),
	) as [number, number];
	console.log(`Together: ${died} of ${all} noticed, ${percent({ died, all }).toFixed(1)} %`);
	// Of a file a sample has a few mutants.
	const below = places > 0 ? [] : scores.filter((score) => percent(score) < goalOf(score.file));
	for (const score of below) console.error(`Below its goal: ${score.file}`);
	if (below.length > 0) process.exitCode = 1;
}

if (require.main === module) void main();
