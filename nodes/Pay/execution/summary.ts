import type { ServiceOperation } from '../service/contract';
import type { Outcome } from '../service/outcome';

/** The items of a run by what became of them, see `Tally`. */
export interface Summary {
	readonly items: number;
	readonly operation: Pick<ServiceOperation, 'words'>;
	readonly done: ReadonlyArray<{
		index: number;
		result: { outcome: Outcome; external_id?: string };
	}>;
	/** The external_ids of items that were read and not reached. */
	readonly waiting: ReadonlyMap<number, string>;
}

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

const idsWith = ({ done }: Summary, outcome: Outcome) =>
	done.filter(({ result }) => result.outcome === outcome).map(({ result }) => result.external_id);

/** "2 accepted, 1 not sent": counts of the given outcomes, without zeros. */
function countsInWords(summary: Summary, outcomes: readonly Outcome[]): string {
	const notReached = summary.items - summary.done.length;
	return outcomes
		.map((outcome) => {
			const count = idsWith(summary, outcome).length + (outcome === 'notSent' ? notReached : 0);
			return count === 0 ? '' : `${count} ${outcome === 'notSent' ? 'not sent' : outcome}`;
		})
		.filter((words) => words !== '')
		.join(', ');
}

function nounOf({ items, operation }: Summary): string {
	const { noun, plural } = operation.words;
	return items === 1 ? noun : plural;
}

/** A hint for a run that goes on after failures, for it looks like a success; none if it is one. */
export function failuresInWords(summary: Summary): string | undefined {
	const others = countsInWords(summary, ['rejected', 'duplicate', 'notSent']);
	const unknown = idsWith(summary, 'unknown');
	const noun = nounOf(summary);
	if (unknown.length === 0) {
		const accepted = countsInWords(summary, ['accepted']) || 'none accepted in this run';
		return others === '' ? undefined : `Of ${summary.items} ${noun}: ${accepted}, ${others}.`;
	}
	const verb = unknown.length === 1 ? 'is' : 'are';
	const { reminder } = summary.operation.words.whenUnknown;
	const advice = reminder === undefined ? '' : ` ${reminder}`;
	const more = others === '' ? '' : ` Also: ${others}.`;
	return `${unknown.length} of ${summary.items} ${noun} ${verb} unknown: ${quotedIds(unknown)}.${advice}${more}`;
}

/** What became of the other items of a run that stops, beside the one that the error is about. */
export function othersInWords(summary: Summary, itemIndex: number): string {
	if (summary.items === 1) return '';
	const own = summary.done.find(({ index }) => index === itemIndex)?.result.external_id ?? '';
	const failed = summary.done
		.filter(({ index, result }) => result.outcome !== 'accepted' && index !== itemIndex)
		.map(
			({ index, result: { external_id = '', outcome } }) =>
				`"${external_id}" (item ${index}) ${outcome}`,
		);
	const more = failed.length > 20 ? `; and ${failed.length - 20} more` : '';
	const also = failed.length === 0 ? '' : ` Also failed: ${failed.slice(0, 20).join('; ')}${more}.`;
	const counts = countsInWords(summary, OUTCOMES);
	return `This is about "${own}" (item ${itemIndex}, counted from 0). Of ${summary.items} ${nounOf(summary)}: ${counts}.${also} The error's context holds every external_id by outcome.`;
}
