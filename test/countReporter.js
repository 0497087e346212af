/**
 * Ends a run with its counts on one plain line, which any build server can read. With the option
 * `progress` it also tells of each test as it ends, since a file of the slow ones takes minutes.
 */
module.exports = class CountReporter {
	constructor(_globalConfig, options) {
		this.progress = options?.progress === true;
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
		const failed = numFailedTests + numRuntimeErrorTestSuites;
		console.log(`${numPassedTests} passed, ${failed} failed, ${numPendingTests} skipped`);
	}
};
