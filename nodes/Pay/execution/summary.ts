import type { Kind } from '../service/contract';
import type { Outcome } from '../service/outcome';

/** The items of a run by what became of them, see `Tally`. */
export interface Summary {
	readonly items: number;
	readonly done: ReadonlyArray<{
		index: number;
		result: { kind: Kind; outcome: Outcome; external_id?: string };
	}>;
	/** The external_ids of items that were read and not reached. */
	readonly waiting: ReadonlyMap<number, string>;
}

export const NOUN: Record<Kind, string> = { qrCode: 'QR code', payment: 'payment' };
const OUTCOMES = ['accepted', 'rejected', 'unknown', 'duplicate', 'notSent'] as const;

/** Some external_ids, as many as a person reads. */
export function quotedIds(ids: ReadonlyArray<string | undefined>): string {
	const some = ids.slice(0, 10).map((id) => `"${id}"`);
	return some.join(', ') + (ids.length > 10 ? ` and ${ids.length - 10} more` : '');
}

/** Every external_id of a run by outcome; items that were not reached are among `notSent`. */
export function idsByOutcome({ done, waiting }: Summary): Record<Outcome, string[]> {
	const ids: Record<Outcome, string[]> = {
		...{ accepted: [], rejected: [], duplicate: [], notSent: [], unknown: [] },
	};
	for (const { result } of done) {
		if (result.external_id !== undefined) ids[result.outcome].push(result.external_id);
	}
	ids.notSent.push(...waiting.values());
	return ids;
}

function countsInWords({ items, done }: Summary): string {
	const counts = OUTCOMES.flatMap((outcome) => {
		const some = done.filter(({ result }) => result.outcome === outcome);
		const count = some.length + (outcome === 'notSent' ? items - done.length : 0);
		const ids =
			outcome === 'unknown' ? ` (${quotedIds(some.map((one) => one.result.external_id))})` : '';
		return count === 0 ? [] : [`${count} ${outcome === 'notSent' ? 'not sent' : outcome}${ids}`];
	});
	const noun = NOUN[done[0]?.result.kind ?? 'payment'];
	return `Of ${items} ${noun}${items === 1 ? '' : 's'}: ${counts.join(', ')}.`;
}

/**
 * What needs a person where the node goes on after failures, for then the run looks like a success.
 * @returns words for a hint; undefined where all was accepted
 */
export function failuresInWords(summary: Summary): string | undefined {
	const failures = summary.done.filter(({ result }) => result.outcome !== 'accepted');
	if (failures.length === 0) return undefined;
	const isOpen = failures.some(
		({ result }) => result.outcome === 'unknown' && result.kind === 'payment',
	);
	return `${countsInWords(summary)}${isOpen ? ' Ask the service before you pay again.' : ''}`;
}

/** What became of the other items of a run that stops, beside the one that the error is about. */
export function othersInWords(summary: Summary, itemIndex: number): string {
	if (summary.items === 1) return '';
	const failed = summary.done
		.filter(({ index, result }) => result.outcome !== 'accepted' && index !== itemIndex)
		.map(
			({ index, result: { external_id = '', outcome } }) =>
				`item ${index} "${external_id}" ${outcome}`,
		);
	const more = failed.length > 20 ? `; and ${failed.length - 20} more` : '';
	const also = failed.length === 0 ? '' : ` Also failed: ${failed.slice(0, 20).join('; ')}${more}.`;
	return `${countsInWords(summary)}${also} The error's context holds every external_id by outcome.`;
}
