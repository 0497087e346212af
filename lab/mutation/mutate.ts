import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import ts from 'typescript';
import { startChild } from '../../dev/children';
import { installStryker } from '../../dev/install';

/*
 * `npx ts-node lab/mutation/mutate.ts` changes pure code in some thousand small ways, one at a time, and sees which of them
 * a test notices. It goes through the files of lab/mutation/goals.json; with `nodes/Pay/fields/amount.ts`
 * behind it, through that one. It prints what no test noticed, and ends with an error
 * where a file is below the floor, or all together below the total. Texts are left as they are: test/run/sentences.txt and the frozen
 * form hold them. So are whole functions, lists and objects, which would be emptied: the changes inside
 * mostly show the same.
 */

const ROOT = join(__dirname, '..', '..');
const CONFIG = join(__dirname, 'stryker.config.json');
const GOALS = join(__dirname, 'goals.json');

/** What lab/mutation/goals.json asks for: how many of a hundred mutants a test must notice at least. */
interface Goals {
	/** Of all files together. */
	total: number;
	/** Of each file. */
	floor: number;
	files: string[];
	/**
	 * Files with a floor of their own, which do not count in the total. Where whole nodes are needed to notice a
	 * mutant, the test files to ask are listed; otherwise the tests of the file's room are asked.
	 */
	ownFloors: Record<string, { floor: number; tests?: string[] }>;
}

/** What is read of Stryker's report (the mutation testing report schema). */
interface Report {
	files: Record<string, { source: string; mutants: Mutant[] }>;
}

interface Mutant {
	mutatorName: string;
	replacement?: string;
	status: string;
	/** Lines and columns count from 1. */
	location: { start: { line: number; column: number } };
}

/** The name of the innermost function with a name around a place, or of what is declared there. */
function functionAt(file: ts.SourceFile, { line, column }: Mutant['location']['start']): string {
	const position = file.getPositionOfLineAndCharacter(line - 1, column - 1);
	let name = 'the file';
	const visit = (node: ts.Node) => {
		if (position < node.getStart(file) || position >= node.end) return;
		const isNamed =
			ts.isFunctionDeclaration(node) ||
			ts.isMethodDeclaration(node) ||
			ts.isClassDeclaration(node) ||
			(ts.isVariableDeclaration(node) && node.parent.parent.parent === file);
		if (isNamed && node.name !== undefined) name = node.name.getText(file);
		ts.forEachChild(node, visit);
	};
	visit(file);
	return name;
}

/** One line of a text, its end left out where it is long. */
function short(text = ''): string {
	const flat = text.replace(/\s+/g, ' ');
	return flat.length > 60 ? `${flat.slice(0, 60)}…` : flat;
}

/** What lives of a file, a line for each mutant: where, and what it became. */
function survivorsOf(path: string, source: string, mutants: Mutant[]): string[] {
	const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true);
	return mutants
		.filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
		.map(({ mutatorName, replacement, location }) => {
			const name = `${functionAt(file, location.start)}, ${mutatorName}`;
			return `\tline ${location.start.line}, ${name} -> ${short(replacement)}`;
		});
}

/** What one Stryker of several works with: files of its own, and one process for tests. */
interface Lane {
	config: string;
	report: string;
}

function laneOf(number: number): Lane {
	const folder = join('.cache', 'mutation', String(number));
	const lane = {
		config: join(ROOT, folder, 'stryker.config.json'),
		report: join(ROOT, folder, 'report.json'),
	};
	mkdirSync(join(ROOT, folder), { recursive: true });
	const config = {
		...(JSON.parse(readFileSync(CONFIG, 'utf8')) as object),
		jsonReporter: { fileName: lane.report },
		tempDirName: join(folder, 'sandbox'),
	};
	writeFileSync(lane.config, JSON.stringify(config));
	return lane;
}

/**
 * Runs Stryker over a file, with its room's tests or with those that are named. With all files at once it took
 * twice as long for each mutant.
 */
async function measure(
	stryker: string,
	{ config, report }: Lane,
	file: string,
	tests?: string[],
): Promise<Report> {
	// Tests of whole nodes run beside each other, so Stryker cannot see which of them a change has to do with.
	const coverage = tests === undefined ? 'perTest' : 'off';
	const ignored = tests === undefined ? ['--ignoreStatic'] : [];
	const args = ['run', config, '--mutate', file, '--coverageAnalysis', coverage, ...ignored];
	const child = startChild(process.execPath, [stryker, ...args], {
		cwd: ROOT,
		// Random tests draw a tenth as often: each mutant plays them again.
		env: { ...process.env, PAY_SHARE: '0.1', PAY_MUTATION_TESTS: tests?.join(',') },
		stdio: ['ignore', 'inherit', 'inherit'],
	});
	const [status] = (await once(child, 'exit')) as [number | null];
	if (status !== 0) throw new Error('Stryker failed; what it said stands above');
	return JSON.parse(readFileSync(report, 'utf8')) as Report;
}

/** How many mutants there were, and how many of them a test noticed. */
interface Count {
	mutants: number;
	noticed: number;
}

const shareOf = ({ mutants, noticed }: Count) => (mutants === 0 ? 100 : (100 * noticed) / mutants);

/** Prints what a test noticed of a file's mutants, and what none did. */
function tell(path: string, { source, mutants }: Report['files'][string]): Count {
	const counted = mutants.filter(({ status }) => !/Ignored|CompileError/.test(status));
	// Red too: a test file that cannot even be loaded with it, or that untilOneFails.js did not need any more.
	const noticed = counted.filter(({ status }) => /Killed|Timeout|RuntimeError/.test(status)).length;
	const count = { mutants: counted.length, noticed };
	console.log(`${path}: ${noticed} of ${counted.length} noticed, ${shareOf(count).toFixed(1)} %`);
	for (const line of survivorsOf(path, source, mutants)) console.log(line);
	return count;
}

async function main() {
	const goals = JSON.parse(readFileSync(GOALS, 'utf8')) as Goals;
	const named = process.argv.slice(2);
	const isThere = (path: string) => existsSync(join(ROOT, path));
	const stryker = join(await installStryker(), 'core', 'bin', 'stryker.js');
	const below: string[] = [];
	const total: Count = { mutants: 0, noticed: 0 };
	const waiting = (
		named.length > 0 ? named : [...goals.files, ...Object.keys(goals.ownFloors)]
	).filter(isThere);
	// A file for each core: half of the time of a short one Stryker prepares, on one core.
	const lanes = Array.from({ length: availableParallelism() }, async (_, number) => {
		const lane = laneOf(number);
		for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
			const own = goals.ownFloors[path];
			const { files } = await measure(stryker, lane, path, own?.tests);
			for (const [each, file] of Object.entries(files)) {
				const count = tell(each, file);
				if (shareOf(count) < (own?.floor ?? goals.floor)) below.push(each);
				if (own !== undefined) continue;
				total.mutants += count.mutants;
				total.noticed += count.noticed;
			}
		}
	});
	await Promise.all(lanes);
	console.log(
		`In all ${total.noticed} of ${total.mutants} noticed, ${shareOf(total).toFixed(1)} % (${goals.total} is asked for)`,
	);
	for (const path of below) console.error(`Below ${goals.floor} %: ${path}`);
	const gone = [...goals.files, ...Object.keys(goals.ownFloors), ...named].filter(
		(path) => !isThere(path),
	);
	for (const path of gone) console.error(`Is no file, and is listed or was named: ${path}`);
	const isTooLow = named.length === 0 && shareOf(total) < goals.total;
	if (isTooLow || below.length > 0 || gone.length > 0) process.exitCode = 1;
}

if (require.main === module) void main();
