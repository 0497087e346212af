import type { IExecuteFunctions } from 'n8n-workflow';

/** n8n reads and writes the whole list at each check, so it has to have an end. */
export const REMEMBERED_PAYMENTS = 10_000;

/** Other nodes may keep lists of their own in the workflow's store. */
const PREFIX = 'n8n-nodes-pay:payment:';
const OPTIONS = { mode: 'entries', maxEntries: REMEMBERED_PAYMENTS } as const;

type Store = Pick<IExecuteFunctions['helpers'], 'checkProcessedAndRecord' | 'removeProcessed'>;

/**
 * n8n's store reads, changes and writes without a lock. One after the other within this process,
 * simultaneous executions cannot both see an id as new; other processes can (see the README).
 */
let last: Promise<unknown> = Promise.resolve();
function oneAtATime<T>(work: () => Promise<T>): Promise<T> {
	const next = last.then(work, work);
	last = next.catch(() => undefined);
	return next;
}

/**
 * Records payments in n8n's database before they are sent.
 * @returns those of the external_ids that an earlier execution of the workflow recorded
 */
export async function recordPayments(store: Store, ids: string[]): Promise<Set<string>> {
	const keys = ids.map((id) => PREFIX + id);
	const { processed } = await oneAtATime(
		async () => await store.checkProcessedAndRecord(keys, 'workflow', OPTIONS),
	);
	return new Set(processed.map((key) => String(key).slice(PREFIX.length)));
}

/** Takes back payments that certainly were not made, so that they can be sent again. */
export async function forgetPayments(store: Store, ids: string[]): Promise<void> {
	const keys = ids.map((id) => PREFIX + id);
	await oneAtATime(async () => await store.removeProcessed(keys, 'workflow', OPTIONS));
}
