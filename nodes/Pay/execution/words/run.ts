import type { Outcome } from '../../service/outcome';
import { idsByOutcome, type Summary } from '../summary';
import { OUTCOME_WORDS } from './outcome';
import { joinSentences, quotedIds } from './sentences';

const OUTCOMES = Object.keys(OUTCOME_WORDS) as Outcome[];
/** As many failures as the error of one item names beside its own. */
const MOST_FAILURES = 20;

function nounOf({ items, operation }: Summary): string {
	const { noun, plural } = operation.words;
	return items === 1 ? noun : plural;
}

/** How many items came to each outcome; what was not reached was not sent. */
function countOutcomes({ items, done }: Summary): Record<Outcome, number> {
	const counts = { accepted: 0, rejected: 0, unknown: 0, duplicate: 0, notSent: 0 };
	for (const { result } of done) counts[result.outcome] += 1;
	counts.notSent += items - done.length;
	return counts;
}

/** "2 accepted, 1 not sent": counts of the given outcomes, without zeros. */
function countsInWords(counts: Record<Outcome, number>, outcomes: Outcome[]): string {
	return outcomes
		.filter((outcome) => counts[outcome] > 0)
		.map((outcome) => `${counts[outcome]} ${OUTCOME_WORDS[outcome]}`)
		.join(', ');
}

/** A hint for a run that goes on after failures, for it looks like a success; none if it is one. */
export function failuresInWords(run: Summary): string | undefined {
	const counts = countOutcomes(run);
	const failures = countsInWords(counts, ['rejected', 'duplicate', 'notSent']);
	if (counts.unknown > 0) {
		const also = failures === '' ? undefined : `Also: ${failures}.`;
		const { reminder } = run.operation.words.whenUnknown;
		return joinSentences(unknownSentence(run, counts.unknown), reminder, also);
	}
	if (failures === '') return undefined;
	const accepted =
		counts.accepted > 0 ? `${counts.accepted} accepted` : 'none accepted in this run';
	return `Of ${run.items} ${nounOf(run)}: ${accepted}, ${failures}.`;
}

function unknownSentence(run: Summary, count: number): string {
	const ids = quotedIds(idsByOutcome(run).unknown);
	const verb = count === 1 ? 'is' : 'are';
	return `${count} of ${run.items} ${nounOf(run)} ${verb} unknown: ${ids}.`;
}

/** What became of the other items of a run that stops, beside the one that the error is about. */
export function othersInWords(run: Summary, itemIndex: number): string | undefined {
	if (run.items === 1) return undefined;
	const { external_id = '' } = run.done.find(({ index }) => index === itemIndex)?.result ?? {};
	const counts = countsInWords(countOutcomes(run), OUTCOMES);
	return joinSentences(
		`This is about "${external_id}" (item ${itemIndex}, counted from 0).`,
		`Of ${run.items} ${nounOf(run)}: ${counts}.`,
		otherFailuresSentence(run, itemIndex),
		"The error's context holds every external_id by outcome.",
	);
}

function otherFailuresSentence({ done }: Summary, itemIndex: number): string | undefined {
	const others = done.filter(
		({ index, result }) => index !== itemIndex && result.outcome !== 'accepted',
	);
	if (others.length === 0) return undefined;
	const named = others.slice(0, MOST_FAILURES).map(({ index, result }) => {
		const { external_id = '', outcome } = result;
		return `"${external_id}" (item ${index}) ${OUTCOME_WORDS[outcome]}`;
	});
	const more = others.length - named.length;
	if (more > 0) named.push(`and ${more} more`);
	return `Also failed: ${named.join('; ')}.`;
}
