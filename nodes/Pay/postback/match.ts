import type { PostbackMatch } from '../parameters/condition';
import {
	otherAmountIn,
	otherIdIn,
	stateOf,
	type State,
	type StatusWords,
} from '../service/postbackState';
import { mismatchOf } from '../service/fieldMatch';
import type { Postback } from './postback';
import type { Reference } from './proof';

/** Where a postback's fields are looked for. A person may type a path as the panel shows it, `body.status`. */
function sourcesOf({ body, query, isSignedByService }: Postback): unknown[] {
	// The service's signature is over the body: anybody can add to a query.
	if (isSignedByService) return [body, { body }, { postback: { body } }];
	const shown = { body, query };
	return [body, query, shown, { postback: shown }];
}

/**
 * Why the workflow does not go on with a postback; undefined where it does.
 * @param statusWords the words of the account, if it has any
 */
export function whyNotAwaited(
	match: PostbackMatch | undefined,
	postback: Postback,
	reference: Reference | null,
	statusWords: StatusWords | undefined,
): string | undefined {
	if (match === undefined) return undefined;
	const sources = sourcesOf(postback);
	const { amount, id } = match.compared ?? {};
	const mismatch = mismatchOf(match, ...sources) ?? otherIdIn(id, reference, sources);
	if (mismatch !== undefined) return mismatch;
	const state = statusWords && stateIn(postback, reference, statusWords);
	// Only "paid" must come with the amount, and has this state where it does not. What is pending or failed
	// may say another amount, or none.
	if (state !== undefined && state !== 'otherAmount') return undefined;
	return otherAmountIn(amount, reference, sources);
}

/** What a postback says became of its charge or payment, in the words of the account. */
export function stateIn(
	postback: Postback,
	reference: Reference | null,
	statusWords: StatusWords,
): State {
	return stateOf(statusWords, reference, ...sourcesOf(postback));
}
