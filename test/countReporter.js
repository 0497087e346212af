/**
 * Ends a run with its counts on one plain line, which any build server can read. With the option
 * `progress` it also tells of each test as it ends, since a file of the slow ones takes minutes.
 */
module.exports = class CountReporter {
	constructor(_globalConfig, options) {
		this.progress = options?.progress === true;
	}

	onTestCaseResult(_test, { fullName, status, duration }) {
		if (this.progress) process.stderr.write(`${status} (${duration} ms): ${fullName}\n`);
	}

	onRunComplete(
		_contexts,
		{ numPassedTests, numFailedTests, numPendingTests, numRuntimeErrorTestSuites },
	) {
		const failed = numFailedTests + numRuntimeErrorTestSuites;
		console.log(`${numPassedTests} passed, ${failed} failed, ${numPendingTests} skipped`);
	}
};
