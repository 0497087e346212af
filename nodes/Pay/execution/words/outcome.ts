import type { End } from '../summary';

/** The word for each outcome, wherever people read it; also the order in which they are counted. */
export const OUTCOME_WORDS: Readonly<Record<End, string>> = {
	accepted: 'accepted',
	rejected: 'rejected',
	unknown: 'unknown',
	duplicate: 'duplicate',
	notSent: 'not sent',
	notReached: 'not reached in this run',
};
