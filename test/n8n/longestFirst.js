/** What takes minutes, longest first: begun last, it would end alone. */
const LONGEST = ['payoutRegister', 'queue', 'editor', 'waitsBegin', 'payOnce', 'money', 'examples'];

/** The same order on every machine: jest's own goes by the durations of earlier runs. */
module.exports = class LongestFirst {
	sort(tests) {
		const rank = ({ path }) => {
			const found = LONGEST.findIndex((name) => path.endsWith(`/${name}.n8n.ts`));
			return found === -1 ? LONGEST.length : found;
		};
		return [...tests].sort((a, b) => rank(a) - rank(b) || a.path.localeCompare(b.path));
	}

	allFailedTests(tests) {
		return tests;
	}

	cacheResults() {}
};
