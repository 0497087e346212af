import { InputError } from '../inputError';
import { unitsOf } from '../parameters/amount';
import { sumOf, type Ledger } from './ledger';
import type { Ready } from './read';
import { abovePayment, aboveSum, otherRecipient } from './words/refusal';

/** Why an item may not go out, whatever else does. */
function refusalOf({ account, request }: Ready): InputError | undefined {
	const { limits } = account;
	if (limits instanceof InputError) return limits;
	const { highestPayment, onlyRecipients } = limits;
	const { amount = 0, creditParty } = request;
	if (highestPayment !== undefined && amount > highestPayment) {
		return abovePayment(amount, highestPayment);
	}
	if (onlyRecipients !== undefined && !onlyRecipients.has(creditParty?.key ?? '')) {
		return otherRecipient(creditParty?.key);
	}
	return undefined;
}

/** The highest sum that all of these items allow; Infinity without one. */
function highestSumOf(items: Ready[]): number {
	const sums = items.map(({ account }) => {
		const { limits } = account;
		return limits instanceof InputError ? undefined : limits.highestSum;
	});
	return Math.min(...sums.map((sum) => sum ?? Infinity));
}

/** Why all items of an account may not go out together, given what went out before in this execution. */
function refusalOfAll(ledger: Ledger, accountId: string, items: Ready[]): InputError | undefined {
	const highestSum = highestSumOf(items);
	if (highestSum === Infinity) return undefined;
	let sum = sumOf(ledger, accountId);
	for (const { request } of items) sum += unitsOf(request.amount ?? 0);
	return sum > unitsOf(highestSum) ? aboveSum(sum, highestSum) : undefined;
}

/**
 * Items that the limits of their accounts do not let out, and why. Together with what went out before
 * in this execution, all items of an account are above its Highest Sum, or none.
 */
export function refusedByLimits(ledger: Ledger, items: Ready[]): Map<Ready, InputError> {
	const refused = new Map<Ready, InputError>();
	if (!ledger.operation.policy.countsAgainstLimits) return refused;
	const itemsOfAccount = new Map<string, Ready[]>();
	for (const item of items) {
		const error = refusalOf(item);
		if (error !== undefined) {
			refused.set(item, error);
			continue;
		}
		const sameAccount = itemsOfAccount.get(item.accountId);
		if (sameAccount === undefined) itemsOfAccount.set(item.accountId, [item]);
		else sameAccount.push(item);
	}
	for (const [accountId, together] of itemsOfAccount) {
		const error = refusalOfAll(ledger, accountId, together);
		if (error === undefined) continue;
		for (const item of together) refused.set(item, error);
	}
	return refused;
}
