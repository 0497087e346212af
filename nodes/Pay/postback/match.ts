import type { PostbackMatch } from '../parameters/condition';
import {
	otherAmountIn,
	otherIdIn,
	stateOf,
	type State,
	type StatusWords,
} from '../parameters/postbackState';
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

/** What a postback says became of its charge or payment, in the words of the account. */
export function stateIn(
	postback: Postback,
	reference: Reference | null,
	statusWords: StatusWords,
): State {
	return stateOf(statusWords, reference, ...sourcesOf(postback));
}

/**
 * Why the workflow does not go on with a postback; undefined where it does.
 * @param state what {@link stateIn} gives; undefined where the account has no words for it
 */
export function whyNotAwaited(
	match: PostbackMatch,
	postback: Postback,
	reference: Reference | null,
	state: State | undefined,
): string | undefined {
	const sources = sourcesOf(postback);
	const mismatch = mismatchOf(match, ...sources);
	if (mismatch !== undefined) return mismatch;
	const { amount, id } = match.compared ?? {};
	const otherId = otherIdIn(id, reference, sources);
	if (otherId !== undefined) return otherId;
	// Only "paid" must come with the amount: what is pending or failed may say another one, or none. Without
	// words nobody knows which of them it is, so the amount counts.
	const mayBePaid = state === undefined || state === 'otherAmount';
	return mayBePaid ? otherAmountIn(amount, reference, sources) : undefined;
}
