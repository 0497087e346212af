/** Where a table of the gate has fewer rows than that of the night. */
export const isGate = process.env.PAY_TIER === 'gate';

/**
 * Marks what the gate leaves to the night: another way to what is proven already, a quirk of n8n, or what
 * takes long. By its name, a file runs whole.
 */
export const nightly = {
	test: isGate ? test.skip : test,
	describe: isGate ? describe.skip : describe,
};

/** What only such tests need before they begin. */
export const beforeNightly: typeof beforeAll = (work, timeout) => {
	if (!isGate) beforeAll(work, timeout);
};
