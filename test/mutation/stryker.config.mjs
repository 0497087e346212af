// Mutation testing: `npm run mutate` (dev/mutate.ts), which installs Stryker when it is needed.
export default {
	mutate: [
		...['nodes/**/*.ts', 'credentials/**/*.ts'],
		// test/package.test.ts loads it beside another n8n-workflow, which this runner cannot.
		'!nodes/Pay/lowestN8n.ts',
	],
	plugins: ['./test/mutation/runner.mjs', './test/mutation/wording.mjs'],
	testRunner: 'loaded',
	coverageAnalysis: 'perTest',
	ignorers: ['wording'],
	// More than cores: most of an engine test's time is the pause of the duplicate check.
	concurrency: 10,
	// A test that waits for what never comes; n8n-core is loaded anew after it.
	timeoutMS: 15_000,
	incremental: true,
	incrementalFile: '.cache/mutation/incremental.json',
	reporters: ['json', 'progress-append-only'],
	jsonReporter: { fileName: '.cache/mutation/report.json' },
	tempDirName: '.cache/mutation/sandbox',
	ignorePatterns: ['.cache', 'dist', 'examples', 'dev/n8n1', 'dev/n8n2', 'test/n8n'],
	allowEmpty: true,
};
