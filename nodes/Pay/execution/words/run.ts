import { idsByOutcome, type End, type Summary } from '../summary';
import { OUTCOME_WORDS } from './outcome';
import { joinSentences, lineInWords, quotedIds } from './sentences';

const ENDS = Object.keys(OUTCOME_WORDS) as End[];
/** As many failures as the error of one item names beside its own. */
const MOST_FAILURES = 20;
/** As many doubts as an error says in words. */
const MOST_DOUBTS = 10;

function nounOf({ items, operation }: Summary): string {
	const { noun, plural } = operation.words;
	return items === 1 ? noun : plural;
}

/** How many items came to each end. */
function countEnds({ items, done }: Summary): Record<End, number> {
	const counts: Record<End, number> = {
		accepted: 0,
		rejected: 0,
		unknown: 0,
		duplicate: 0,
		notSent: 0,
		notReached: items - done.length,
	};
	for (const { result } of done) counts[result.outcome ?? 'notReached'] += 1;
	return counts;
}

/** "2 accepted, 1 not sent": counts of the given ends, without zeros. */
function countsInWords(counts: Record<End, number>, ends: End[]): string {
	return ends
		.filter((end) => counts[end] > 0)
		.map((end) => `${counts[end]} ${OUTCOME_WORDS[end]}`)
		.join(', ');
}

/** What a run did not come to is not known to be unsent: people would pay it again. */
function notReachedSentence({ notReached }: Record<End, number>): string | undefined {
	return notReached > 0 ? 'An earlier run may have sent what was not reached.' : undefined;
}

/** A hint for a run that goes on after failures, for it looks like a success; none if it is one. */
export function failuresInWords(run: Summary): string | undefined {
	const counts = countEnds(run);
	if (counts.unknown > 0) return unknownAndOthers(run, counts);
	const failures = countsInWords(counts, ['rejected', 'duplicate', 'notSent', 'notReached']);
	if (failures === '') return undefined;
	if (run.items === 1) return onlyFailureSentence(run, counts);
	const accepted =
		counts.accepted > 0 ? `${counts.accepted} accepted` : 'none accepted in this run';
	return joinSentences(
		`Of ${run.items} ${nounOf(run)}: ${accepted}, ${failures}.`,
		notReachedSentence(counts),
	);
}

/** The hint of a run with unknown items: they come first. */
function unknownAndOthers(run: Summary, counts: Record<End, number>): string {
	const others = countsInWords(
		counts,
		ENDS.filter((end) => end !== 'unknown'),
	);
	return joinSentences(
		unknownSentence(run, counts.unknown),
		run.operation.words.whenUnknown.reminder,
		others === '' ? undefined : `Of the others: ${others}.`,
		notReachedSentence(counts),
	);
}

/** The item of a run that has no other. */
function onlyItem(run: Summary): string {
	const { noun } = run.operation.words;
	const [external_id] = Object.values(idsByOutcome(run)).flat();
	return external_id === undefined ? `The ${noun}` : `The ${noun} "${external_id}"`;
}

function onlyFailureSentence(run: Summary, counts: Record<End, number>): string {
	if (counts.notReached > 0) {
		return `${onlyItem(run)} was not reached in this run. An earlier run may have sent it.`;
	}
	const end = ENDS.find((each) => counts[each] > 0) ?? 'notReached';
	return `${onlyItem(run)} was not accepted in this run: ${OUTCOME_WORDS[end]}.`;
}

function unknownSentence(run: Summary, count: number): string {
	const ids = quotedIds(idsByOutcome(run).unknown);
	if (run.items === 1) return `${onlyItem(run)} is unknown.`;
	const verb = count === 1 ? 'is' : 'are';
	return `${count} of ${run.items} ${nounOf(run)} ${verb} unknown: ${ids}.`;
}

/** For n8n's log, about a run that somebody stopped: n8n shows nothing of it. */
export function stoppedInWords(
	{ operation }: Pick<Summary, 'operation'>,
	areSomeInFlight: boolean,
): string {
	return joinSentences(
		`Pay: the execution was stopped while it sent ${operation.words.plural}.`,
		areSomeInFlight
			? 'Requests in flight are still awaited.'
			: 'This is what became of its requests.',
	);
}

/** What acceptances say that their requests did not, as far as a person reads on. */
export function doubtsInWords({ doubts }: Pick<Summary, 'doubts'>): string | undefined {
	if (doubts.size === 0) return undefined;
	const shown = [...doubts].slice(0, MOST_DOUBTS).join(' ');
	const more = doubts.size - MOST_DOUBTS;
	if (more <= 0) return shown;
	if (more === 1) return `${shown} One more response says something else than its request.`;
	return `${shown} ${more} more responses say something else than their requests.`;
}

/** An item by its External ID and its line, or by its line alone, as where no External ID could be read. */
function itemInWords(index: number, external_id = ''): string {
	const line = lineInWords(index);
	return external_id === '' ? line : `"${external_id}" (${line})`;
}

/** What became of the other items of a run that stops, beside the one that the error is about. */
export function othersInWords(run: Summary, itemIndex: number): string | undefined {
	if (run.items === 1) return undefined;
	const { external_id } = run.done.find(({ index }) => index === itemIndex)?.result ?? {};
	const counts = countEnds(run);
	return joinSentences(
		`This is about ${itemInWords(itemIndex, external_id)}.`,
		`Of ${run.items} ${nounOf(run)}: ${countsInWords(counts, ENDS)}.`,
		notReachedSentence(counts),
		otherFailuresSentence(run, itemIndex),
		"The error's context holds every external_id by outcome.",
	);
}

function otherFailuresSentence({ done }: Summary, itemIndex: number): string | undefined {
	const others = done.filter(({ index, result }) => {
		if (index === itemIndex || result.outcome === undefined) return false;
		return result.outcome !== 'accepted';
	});
	if (others.length === 0) return undefined;
	const named = others.slice(0, MOST_FAILURES).map(({ index, result }) => {
		const { external_id, outcome = 'notReached' } = result;
		return `${itemInWords(index, external_id)} ${OUTCOME_WORDS[outcome]}`;
	});
	const more = others.length - named.length;
	if (more > 0) named.push(`and ${more} more`);
	return `Also failed: ${named.join('; ')}.`;
}
