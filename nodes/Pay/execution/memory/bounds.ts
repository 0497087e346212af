/* How much a workflow's list of payments holds, and how long its changes and looks take. */

/** n8n reads and writes the whole list at each change, so what is older than so many may be dropped. */
export const REMEMBERED_PAYMENTS = 10_000;

/** Beyond so many, marks of what was accepted are cleared when a run adds its first ones: 135 kB. */
export const MOST_MARKS = 5_000;
/** A mark is a help, and holds no payment up as long as a record may. */
export const TIME_LIMIT_OF_MARKS_MS = 5_000;

/** No change waits longer for n8n's database: a silent connection must not stop all payments. */
export const TIME_LIMIT_MS = 30_000;
/**
 * A pause is longer than a change takes: several times the slowest of the last ones, at least this. With a
 * pause of 0.3 s alone, of 60 payments at once on two workers whose changes took 3 s now and then, 23 were
 * forgotten, and 12 of them paid again (CONTRIBUTING.md).
 */
export const SLOWEST_TIMES = 4;
export const SHORTEST_PAUSE_MS = 300;
export const LONGEST_PAUSE_MS = 5_000;
export const CHANGES_KEPT = 20;
/** A change that takes longer was frozen, not slow: n8n may have given its execution to another worker. */
export const LONGEST_CHANGE_MS = 10_000;

/** So many of its last payments a process records again where the list has lost the newest of them. */
export const RECORDED_AGAIN = 1_000;
/** So many are dropped at most for each payment: one more than it adds, so that a long list shrinks. */
export const DROPPED_FOR_EACH = 2;
/** How often one run tries again when the store fails while it looks. */
export const LOOKS_THAT_MAY_FAIL = 3;
/** How long one run waits until all it recorded lasts. */
export const LONGEST_LOOKING_MS = 60_000;
