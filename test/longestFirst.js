/** What takes longest, first: begun last, it would end alone. */
const LONGEST = [
	// On a running n8n, minutes.
	'n8n/editor',
	'n8n/queue',
	'n8n/postbacks',
	'n8n/crash',
	'n8n/money',
	'n8n/commands',
	'n8n/examples/examples',
	'n8n/examples/payouts',
	'n8n/waits',
	'n8n/hostile',
	'lab/payOnce',
	'n8n/triggers',
	'lab/parts/postbacks',
	'n8n/examples/practice',
	// Without one, seconds.
	'simulation/simulation',
	'sandbox/rehearsals',
	'wire/wire',
	'engine/',
	'children',
	'run/acceptedMarks',
	'golden/',
	'run/records',
	'package',
	'postback/requests',
	'postback/postback',
	'service/client',
];

/** The same order on every machine: jest's own goes by the durations of earlier runs. */
module.exports = class LongestFirst {
	sort(tests) {
		const rank = ({ path }) => {
			const found = LONGEST.findIndex(
				(name) => path.includes(`/test/${name}`) || path.includes(`/${name}`),
			);
			return found === -1 ? LONGEST.length : found;
		};
		return [...tests].sort((a, b) => rank(a) - rank(b) || a.path.localeCompare(b.path));
	}

	allFailedTests(tests) {
		return tests;
	}

	cacheResults() {}
};
