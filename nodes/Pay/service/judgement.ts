import { firstValue, mismatchOf, Sources } from './fieldMatch';
import type { Reason } from './reason';

/** What a response says became of its request, in the words of the account. */
export interface ResponseWords {
	/** As `FieldMatch` has it. */
	field: string;
	/** Words of an acceptance; without any, each 2xx is one that says nothing else. */
	accepted: string[];
	/** Words that mean that the request was certainly not carried out. */
	rejected: string[];
}

/** What the words of a response mean, and why. */
type Judgement =
	/** One of the Rejected Values: rejected below 500; from there on the status counts. */
	| { means: 'rejected'; reason: Reason }
	/** None of the Accepted Values: a 2xx is unknown. */
	| { means: 'notConfirmed'; reason: Reason }
	/** One of the Accepted Values: a 2xx is accepted; against a status that says no it is unknown. */
	| { means: 'confirmed'; reason: Reason };

/**
 * What a response says by the words of the account; undefined where it says neither yes nor no.
 * @param response its body, parsed where it is JSON, secrets and all
 */
export function judge(
	{ field, accepted, rejected }: ResponseWords,
	response: unknown,
): Judgement | undefined {
	// The output shows the body as `response`, so a path may begin with it.
	const sources = new Sources(response, { response });
	const path = firstValue(field, sources)?.path ?? field;
	if (mismatchOf({ field, values: rejected }, sources) === undefined) {
		return { means: 'rejected', reason: { is: 'saidNo', path } };
	}
	if (accepted.length === 0) return undefined;
	if (mismatchOf({ field, values: accepted }, sources) === undefined) {
		return { means: 'confirmed', reason: { is: 'saidYes', path } };
	}
	return { means: 'notConfirmed', reason: { is: 'notConfirmed', field } };
}
