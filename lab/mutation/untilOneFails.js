const { TestEnvironment } = require('jest-environment-node');

/** The mutant that a test has noticed. */
let noticed;

/** The mutant that is tried, as Stryker gives it; undefined in its first run, which has none. */
const mutant = () => process.env.__STRYKER_ACTIVE_MUTANT__;
const isNoticed = () => mutant() !== undefined && mutant() === noticed;

/**
 * Once a test has noticed a mutant, the others need not run: neither those of its file, which Jest would
 * run, nor other files, whose loading takes most of a second. Such a file ends with an error, which Stryker
 * calls a RuntimeError; mutate.ts counts it as noticed, as it is.
 */
module.exports = class UntilOneFails extends TestEnvironment {
	async setup() {
		if (isNoticed()) throw new Error('A test of another file has noticed this mutant');
		await super.setup();
	}

	async handleTestEvent({ name, test }) {
		if (name === 'test_fn_failure') noticed = mutant();
		if (name === 'test_start' && isNoticed()) test.mode = 'skip';
	}
};
