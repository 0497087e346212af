const { readFileSync } = require('node:fs');
const { join, relative } = require('node:path');

const ROOT = join(__dirname, '..');

/** Processor time of a process that runs, without that of its children, in seconds (Linux). */
function processorTimeOf(pid) {
	const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
	const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
	// In hundredths of a second, of which some is of the system.
	return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** The n8n that all files of this run attach to (test/n8n/pack.ts). */
function pidOfShared() {
	const running = Object.entries(process.env).find(([name]) => name.startsWith('PAY_RUNNING_'));
	return running && JSON.parse(running[1]).pid;
}

/**
 * Ends a run with its counts on one plain line, which any build server can read, and with where its time
 * went. With the option `progress` it also tells of each test as it ends, since a file of the slow ones takes
 * minutes. With the option `mayNotSkip` a test that did not run fails a run of all tests: a committed `.only`
 * would leave the others of its file out.
 */
module.exports = class CountReporter {
	constructor(globalConfig, options) {
		this.progress = options?.progress === true;
		this.mayNotSkip = options?.mayNotSkip === true && !globalConfig.testNamePattern;
		this.skipped = [];
		// One file after the other: what n8n takes meanwhile, it takes for this file.
		this.shared = globalConfig.maxWorkers === 1 ? pidOfShared() : undefined;
		this.files = [];
	}

	onTestFileStart() {
		this.before = this.shared && processorTimeOf(this.shared);
	}

	onTestFileResult({ path }, { perfStats, testResults }) {
		for (const { status, fullName } of testResults) {
			if (status === 'pending' || status === 'todo') this.skipped.push(fullName);
		}
		const seconds = perfStats.runtime / 1000;
		const name = relative(ROOT, path).replace(/^test\//, '');
		const ofN8n = this.shared && processorTimeOf(this.shared) - this.before;
		this.files.push({ name, seconds, ofN8n });
	}

	onTestCaseResult(_test, { fullName, status, duration, failureMessages }) {
		if (!this.progress) return;
		process.stderr.write(`${status} (${duration} ms): ${fullName}\n`);
		// Jest tells of failures when the file ends; a run that is cut short before still says why.
		for (const message of failureMessages) {
			process.stderr.write(`${message.split('\n').slice(0, 12).join('\n')}\n`);
		}
	}

	onRunComplete(
		_contexts,
		{ numPassedTests, numFailedTests, numPendingTests, numRuntimeErrorTestSuites },
	) {
		const longest = this.files.sort((a, b) => b.seconds - a.seconds).slice(0, 15);
		const lines = longest.map(({ name, seconds, ofN8n }) => {
			const line = `${seconds.toFixed(1).padStart(7)} s  ${name}`;
			return ofN8n === undefined ? line : `${line}, ${ofN8n.toFixed(1)} s of n8n's processor time`;
		});
		console.log(`Where the time went:\n${lines.join('\n')}`);
		const failed = numFailedTests + numRuntimeErrorTestSuites;
		console.log(`${numPassedTests} passed, ${failed} failed, ${numPendingTests} skipped`);
		if (this.mayNotSkip && this.skipped.length > 0) {
			console.log(`Fails, since these did not run:\n${this.skipped.slice(0, 15).join('\n')}`);
		}
	}

	/** Asked by Jest when all is done: an error fails the run. */
	getLastError() {
		if (this.mayNotSkip && this.skipped.length > 0) return new Error('Tests were skipped');
		return undefined;
	}
};
