import type { Outcome } from '../../service/outcome';

/** The word for each outcome, wherever people read it; also the order in which they are counted. */
export const OUTCOME_WORDS: Readonly<Record<Outcome, string>> = {
	accepted: 'accepted',
	rejected: 'rejected',
	unknown: 'unknown',
	duplicate: 'duplicate',
	notSent: 'not sent',
};
