import { unitsOf } from '../../service/amounts';
import { valuesAt, type Meanings } from '../../service/contract';
import type { Ready } from '../item';

/* What may have gone out in an execution, for the Highest Sum per Execution of its accounts. */

/** What may have gone out of one account, with one token of one credential. */
export interface Outlay {
	accountId: string;
	tokenId: string;
	credentialId: string;
	/** `unitsOf` it, as text. */
	units: string;
}

/** The outlays of an execution, as a ledger holds them. */
interface Outlays {
	readonly paid: Outlay[];
	readonly credentialId: string;
	/** The pasted tokens of this run, by `tokenIdOf`. */
	readonly tokenIds: ReadonlySet<string>;
}

/** The account and the token that an item goes out of. */
type ItemAccount = Pick<Ready, 'accountId' | 'tokenId'>;

/** Whether an earlier outlay was of the account that an item goes out of. */
function isOfAccount(
	outlay: Outlay,
	{ tokenIds, credentialId }: Outlays,
	item: ItemAccount,
): boolean {
	if (outlay.accountId !== item.accountId) return false;
	if (outlay.tokenId === item.tokenId) return true;
	// Another pasted token in another credential: another account.
	if (outlay.credentialId !== credentialId) return false;
	// Two pasted tokens in one run are two accounts. Else the token was renewed, and the sum goes on.
	return !tokenIds.has(outlay.tokenId);
}

/** What may have gone out of an item's account in this execution, as `unitsOf` has it. */
export function sumOf(outlays: Outlays, item: ItemAccount): bigint {
	let sum = 0n;
	for (const each of outlays.paid) {
		if (isOfAccount(each, outlays, item)) sum += BigInt(each.units);
	}
	return sum;
}

/** What an item would let out, as `unitsOf` has it: every amount of its body. */
export function outlayOf(
	{ operation }: { operation: { meanings: Meanings } },
	{ request }: Pick<Ready, 'request'>,
): bigint {
	let units = 0n;
	for (const [path, means] of Object.entries(operation.meanings)) {
		if (means !== 'amount') continue;
		for (const amount of valuesAt(request, path)) units += unitsOf(Number(amount));
	}
	return units;
}

/** Counts what an item lets out; negative units take it back. */
export function addToSum({ paid, credentialId }: Outlays, item: ItemAccount, units: bigint): void {
	const { accountId, tokenId } = item;
	const found = paid.find(
		(each) =>
			each.accountId === accountId &&
			each.tokenId === tokenId &&
			each.credentialId === credentialId,
	);
	if (found === undefined) {
		paid.push({ accountId, tokenId, credentialId, units: String(units) });
	} else {
		found.units = String(BigInt(found.units) + units);
	}
}
