import { InputError } from '../base/inputError';
import { addedPaths } from '../fields/members';
import { unitsOf } from '../service/amounts';
import { type Recipient, valuesAt } from '../service/contract';
import type { Ready } from './item';
import { type Ledger, outlayOf, sumOf } from './ledger';
import {
	abovePayment,
	aboveSum,
	alsoOtherRecipient,
	membersMayChange,
	moreInRecipient,
	otherRecipient,
} from './refusals';

/** A recipient's key and its type, which are compared together. */
const KEY_AND_TYPE = ['creditParty.key', 'creditParty.keyType'];

/** A list names a recipient by its key, or by its key type and its key. */
function isListed(recipients: ReadonlySet<string>, { key, keyType }: Recipient): boolean {
	if (key === undefined) return false;
	if (recipients.has(key)) return true;
	return keyType !== undefined && recipients.has(`${keyType} ${key}`);
}

/** Why an item may not go out, whatever else does. */
function judgeItem(ledger: Ledger, item: Ready): InputError | undefined {
	const { limits } = item.account;
	if (limits instanceof InputError) return limits;
	const { highestPayment, onlyRecipients, variableMembers = new Set<string>() } = limits;
	if (highestPayment !== undefined) {
		const outlay = outlayOf(ledger, item);
		if (outlay > unitsOf(highestPayment)) return abovePayment(outlay, highestPayment);
	}
	if (onlyRecipients === undefined) return undefined;
	return (
		judgeRecipients(onlyRecipients, item, ledger.operation) ??
		judgeMembers(variableMembers, item, ledger.operation)
	);
}

/** Why the recipient of an item may be none of the list, as far as the form says it. */
function judgeRecipients(
	recipients: ReadonlySet<string>,
	{ request }: Ready,
	{ meanings }: Ledger['operation'],
): InputError | undefined {
	const { creditParty = {} } = request;
	if (!isListed(recipients, creditParty)) return otherRecipient(creditParty);
	for (const [path, means] of Object.entries(meanings)) {
		if (means !== 'recipient' || KEY_AND_TYPE.includes(path)) continue;
		for (const value of valuesAt(request, path)) {
			if (!recipients.has(String(value))) return alsoOtherRecipient(path, String(value));
		}
	}
	return undefined;
}

/**
 * Why the additional members of an item may name another recipient. Which of them a service reads so, nobody
 * knows: those that a person typed stand in the workflow, and no item and no model chooses them. The account
 * says of which ones it is known that they do not.
 */
function judgeMembers(
	variable: ReadonlySet<string>,
	{ request, membersMayChange: mayChange }: Ready,
	{ meanings }: Ledger['operation'],
): InputError | undefined {
	// Refused before the first item that has one, and not with it.
	if (mayChange && variable.size === 0) return membersMayChange();
	for (const path of addedPaths(request, meanings)) {
		if (variable.has(path)) continue;
		if (path.startsWith('creditParty.')) return moreInRecipient(path);
		if (mayChange) return membersMayChange(path);
	}
	return undefined;
}

/** The highest sum that all of these items allow; Infinity without one. */
function highestSumOf(items: Ready[]): number {
	let lowest = Infinity;
	for (const { account } of items) {
		const { limits } = account;
		if (limits instanceof InputError || limits.highestSum === undefined) continue;
		lowest = Math.min(lowest, limits.highestSum);
	}
	return lowest;
}

/** Why all items of an account may not go out together, given what went out before in this execution. */
function judgeSum(ledger: Ledger, items: [Ready, ...Ready[]]): InputError | undefined {
	const highestSum = highestSumOf(items);
	if (highestSum === Infinity) return undefined;
	let sum = sumOf(ledger, items[0]);
	for (const item of items) sum += outlayOf(ledger, item);
	return sum > unitsOf(highestSum) ? aboveSum(ledger.operation.words, sum, highestSum) : undefined;
}

/**
 * Items that the limits of their accounts do not let out, and why. Together with what went out before
 * in this execution, all items of an account are above its Highest Sum per Execution, or none.
 */
export function judgeLimits(ledger: Ledger, items: Ready[]): Map<Ready, InputError> {
	const refused = new Map<Ready, InputError>();
	if (!ledger.operation.isMoneyOut) return refused;
	const itemsOfAccount = new Map<string, [Ready, ...Ready[]]>();
	for (const item of items) {
		const error = judgeItem(ledger, item);
		if (error !== undefined) {
			refused.set(item, error);
			continue;
		}
		const account = `${item.accountId} ${item.tokenId}`;
		const sameAccount = itemsOfAccount.get(account);
		if (sameAccount === undefined) itemsOfAccount.set(account, [item]);
		else sameAccount.push(item);
	}
	for (const together of itemsOfAccount.values()) {
		const error = judgeSum(ledger, together);
		if (error === undefined) continue;
		for (const item of together) refused.set(item, error);
	}
	return refused;
}
