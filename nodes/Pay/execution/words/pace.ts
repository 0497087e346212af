import { joinSentences } from './sentences';

/** How a run sends. */
export interface Pace {
	/** At most so many items are in flight. */
	batchSize: number;
	/** How many items came in. */
	items: number;
}

/** How to send more slowly. */
function slower({ batchSize, items }: Pace): string {
	if (items === 1) return 'In a loop, put a Wait node before the Pay node.';
	if (batchSize === 1) return 'Set a Batch Interval (Ms) under Options, Batching.';
	return 'Lower Items per Batch under Options, Batching, or set a Batch Interval (Ms) there.';
}

/**
 * What to do where a service had too many requests.
 * @param seconds how long it wants none; undefined where it did not say
 */
export function adviceOnPace(seconds: number | undefined, pace: Pace | undefined): string {
	const wait = seconds === undefined ? 'Wait a while' : `Wait ${seconds} s`;
	return joinSentences(`${wait}, then run again.`, pace === undefined ? undefined : slower(pace));
}
