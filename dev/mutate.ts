import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import ts from 'typescript';
import { startChild } from './children';
import { installStryker } from './install';

/*
 * `npm run mutate` changes pure code in some thousand small ways, one at a time, and sees which of them
 * a test notices. It goes through all files that have a goal; `npm run mutate --
 * nodes/Pay/parameters/amount.ts` through one. It prints what no test noticed, and ends with an error
 * where a file is below its goal. Texts are left as they are: test/execution/sentences.txt and the frozen
 * form hold them. So are whole functions, lists and objects, which would be emptied: the changes inside
 * mostly show the same.
 */

const ROOT = join(__dirname, '..');
const CONFIG = join(ROOT, 'test', 'mutation', 'stryker.config.json');

/** What test/mutation/goals.json says of a file. */
interface Goal {
	/** How many of a hundred mutants a test must notice at least. */
	noticed: number;
	/** Why mutants survive that were looked at: by function and mutator, as they are printed. */
	survivors?: Record<string, string>;
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

/** What lives of a file, a line for each mutant: where, what it became, and why that is known. */
function survivorsOf(path: string, source: string, mutants: Mutant[], goal?: Goal): string[] {
	const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true);
	return mutants
		.filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
		.map(({ mutatorName, replacement, location }) => {
			const name = `${functionAt(file, location.start)}, ${mutatorName}`;
			const why = goal?.survivors?.[name] ?? 'not looked at';
			return `\tline ${location.start.line}, ${name} -> ${short(replacement)}: ${why}`;
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

/** Runs Stryker over a file. With all files at once it took twice as long for each mutant. */
async function measure(stryker: string, { config, report }: Lane, file: string): Promise<Report> {
	const child = startChild(process.execPath, [stryker, 'run', config, '--mutate', file], {
		cwd: ROOT,
		// Random tests draw a tenth as often: each mutant plays them again.
		env: { ...process.env, PAY_SHARE: '0.1' },
		stdio: ['ignore', 'inherit', 'inherit'],
	});
	const [status] = (await once(child, 'exit')) as [number | null];
	if (status !== 0) throw new Error('Stryker failed; what it said stands above');
	return JSON.parse(readFileSync(report, 'utf8')) as Report;
}

/** Prints what a test noticed of a file's mutants, and what none did; whether that reaches its goal. */
function tell(path: string, { source, mutants }: Report['files'][string], goal?: Goal): boolean {
	const counted = mutants.filter(({ status }) => !/Ignored|CompileError/.test(status));
	if (counted.length === 0) return true;
	// Red too: a test file that cannot even be loaded with it, or that untilOneFails.js did not need any more.
	const noticed = counted.filter(({ status }) => /Killed|Timeout|RuntimeError/.test(status)).length;
	const share = (100 * noticed) / counted.length;
	const aim = goal === undefined ? 'no goal' : `goal ${goal.noticed}`;
	console.log(`${path}: ${noticed} of ${counted.length} noticed, ${share.toFixed(1)} % (${aim})`);
	for (const line of survivorsOf(path, source, mutants, goal)) console.log(line);
	return goal !== undefined && share >= goal.noticed;
}

async function main() {
	const goals = JSON.parse(readFileSync(join(ROOT, 'test/mutation/goals.json'), 'utf8')) as Record<
		string,
		Goal
	>;
	const all = Object.keys(goals);
	const named = process.argv.slice(2);
	const isThere = (path: string) => existsSync(join(ROOT, path));
	const stryker = join(await installStryker(), 'core', 'bin', 'stryker.js');
	const below: string[] = [];
	const waiting = (named.length > 0 ? named : all).filter(isThere);
	// A file for each core: half of the time of a short one Stryker prepares, on one core.
	const lanes = Array.from({ length: availableParallelism() }, async (_, number) => {
		const lane = laneOf(number);
		for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
			const { files } = await measure(stryker, lane, path);
			for (const [each, file] of Object.entries(files)) {
				if (!tell(each, file, goals[each])) below.push(each);
			}
		}
	});
	await Promise.all(lanes);
	for (const path of below) console.error(`Below its goal, or without one: ${path}`);
	const gone = [...all, ...named].filter((path) => !isThere(path));
	for (const path of gone) console.error(`Is no file, and has a goal or was named: ${path}`);
	if (below.length > 0 || gone.length > 0) process.exitCode = 1;
}

if (require.main === module) void main();
