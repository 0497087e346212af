import type { Limits } from '../credential/limits';
import { InputError } from '../inputError';
import { unitsOf } from '../parameters/amount';
import { sumOf, type Ledger } from './ledger';
import type { Ready } from './read';
import { abovePayment, aboveSum, otherRecipient } from './words/refusal';

/** Why an item may not go out, whatever else does; its account's limits can be read. */
function refusalOf({ request }: Ready, { highestPayment, onlyRecipients }: Limits) {
	const { amount = 0, creditParty: { key } = {} } = request;
	if (highestPayment !== undefined && amount > highestPayment) {
		return abovePayment(amount, highestPayment);
	}
	const isOther = onlyRecipients !== undefined && !onlyRecipients.has(key ?? '');
	return isOther ? otherRecipient(key) : undefined;
}

/**
 * Items that the limits of their accounts do not let out, and why. Together with what went out before
 * in this execution, all items of an account are above its Highest Sum, or none.
 */
export function refusedByLimits(ledger: Ledger, items: Ready[]): Map<Ready, InputError> {
	const refused = new Map<Ready, InputError>();
	if (!ledger.operation.policy.countsAgainstLimits) return refused;
	const accounts = new Map<string, { sum: bigint; highestSum: number; items: Ready[] }>();
	for (const item of items) {
		const { accountId, account, request } = item;
		const { limits } = account;
		const error = limits instanceof InputError ? limits : refusalOf(item, limits);
		if (error !== undefined) refused.set(item, error);
		if (error !== undefined || limits instanceof InputError) continue;
		const none = { sum: sumOf(ledger, accountId), highestSum: Infinity, items: [] };
		const total = accounts.get(accountId) ?? none;
		accounts.set(accountId, total);
		total.sum += unitsOf(request.amount ?? 0);
		total.highestSum = Math.min(total.highestSum, limits.highestSum ?? Infinity);
		total.items.push(item);
	}
	for (const { sum, highestSum, items: together } of accounts.values()) {
		if (highestSum === Infinity || sum <= unitsOf(highestSum)) continue;
		for (const item of together) refused.set(item, aboveSum(sum, highestSum));
	}
	return refused;
}
