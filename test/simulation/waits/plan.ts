import * as fc from 'fast-check';

/*
 * What may happen to an execution that waits for a postback, goes on, and waits again: postbacks that
 * begin and end at any moment, in one process of n8n or in two, time limits, a database that fails.
 * All times are in milliseconds.
 */

/** A postback to come. */
export interface PlannedPostback {
	/** To the URL of which charge: that of the first wait is 0. */
	wait: number;
	/** From the moment at which that charge was sent. */
	after: number;
	/** From the postback's head to the end of its body. */
	late: number;
	/** The number of the process that takes it. */
	process: number;
	status: 'paid' | 'pending';
}

export interface Plan {
	/** The major version of n8n. */
	major: 1 | 2;
	processes: 1 | 2;
	/** The time limit of each wait; undefined without one. */
	limits: Array<number | undefined>;
	/** How long n8n takes to load an execution from its database. */
	loadTime: number;
	/** How long n8n takes to store that an execution goes on. */
	storeTime: number;
	/** How long what follows a wait takes. */
	workTime: number;
	/** Which of n8n's attempts to store that the execution goes on fail. */
	failures: number[];
	postbacks: PlannedPostback[];
}

const limit = fc.oneof(
	{ weight: 2, arbitrary: fc.constant(undefined) },
	{ weight: 1, arbitrary: fc.integer({ min: 50, max: 2_000 }) },
);

const postback: fc.Arbitrary<PlannedPostback> = fc.record({
	wait: fc.nat(2),
	// Services send a postback twice at almost the same moment.
	after: fc.oneof(fc.nat(2_000), fc.constantFrom(100, 110)),
	late: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 3_000 })),
	process: fc.nat(1),
	status: fc.constantFrom('paid' as const, 'paid' as const, 'pending' as const),
});

export const plan: fc.Arbitrary<Plan> = fc.record({
	major: fc.constantFrom(1 as const, 2 as const),
	processes: fc.constantFrom(1 as const, 2 as const),
	limits: fc.array(limit, { minLength: 1, maxLength: 3 }),
	loadTime: fc.nat(40),
	storeTime: fc.nat(40),
	workTime: fc.nat(500),
	failures: fc.oneof(
		{ weight: 3, arbitrary: fc.constant<number[]>([]) },
		{ weight: 1, arbitrary: fc.array(fc.nat(2), { maxLength: 2 }) },
	),
	postbacks: fc.array(postback, { minLength: 1, maxLength: 6 }),
});
