import type { IExecuteFunctions } from 'n8n-workflow';
import { readAccount, type Account, type PayCredential } from './connection';

/*
 * Whose account an item is sent with. n8n resolves a credential for each item, in 2.2 to 6.6 ms, which
 * is most of what an item costs. So a credential that cannot depend on the item is resolved once.
 *
 * Why no item can be sent with another item's account:
 * 1. Resolving for each item is always right, and is what happens unless all of 2, 3 and 4 say no.
 * 2. The fields are looked at as they were typed. n8n gives them by a function that nodes are not
 *    promised: where it is missing, throws or gives nothing, each item's credential is resolved.
 * 3. A field may depend on the item unless it is no expression, or one in which nothing is left that
 *    could name anything: no `$` but those of SAME_FOR_ALL, no backslash, no `this`, no `random`.
 *    n8n's own names all begin with `$`, and JavaScript's other globals know no item.
 * 4. Should a later n8n give something else than what was typed, the first item's credential must
 *    also be the same as that of an index with no item. Most that depend on the item differ there.
 * A mistake in 2 to 4 that says "may depend" costs time, never the account.
 */

/** What an expression may name that is the same for every item of a run. */
const SAME_FOR_ALL = /\$(vars|secrets|now|today|env|execution|workflow)\b/g;

/** Whether a value of a credential, as it was typed, may come out differently for another item. */
export function mayDependOnItem(typed: unknown): boolean {
	if (typeof typed !== 'string' || !typed.startsWith('=')) return false;
	return /[$\\]|\bthis\b|\brandom\b/.test(typed.replace(SAME_FOR_ALL, ''));
}

type AccountContext = Pick<
	IExecuteFunctions,
	'getCredentials' | 'getInputData' | 'getNode' | 'getMode'
>;

/** n8n's credential as it was typed; the last argument says "raw", that is, unresolved. */
type GetDecrypted = (...args: unknown[]) => Promise<Record<string, unknown>>;

/**
 * The node's credential as it was typed, expressions and all.
 * @returns undefined where n8n does not give it
 */
export async function readTyped(
	context: Pick<AccountContext, 'getNode' | 'getMode'>,
): Promise<Record<string, unknown> | undefined> {
	try {
		const { additionalData } = context as {
			additionalData?: { credentialsHelper?: { getDecrypted?: GetDecrypted } };
		};
		const stored = context.getNode().credentials?.payApi;
		const rest = ['payApi', context.getMode(), undefined, true];
		return await additionalData?.credentialsHelper?.getDecrypted?.(additionalData, stored, ...rest);
	} catch {
		return undefined;
	}
}

/**
 * Reads the accounts that the items of a run are sent with.
 * @returns an item's account; throws InputError, or n8n's own error, for an item that has none
 */
export async function readAccounts(
	context: AccountContext,
): Promise<(itemIndex: number) => Promise<Account>> {
	const resolve = async (index: number) =>
		await context.getCredentials<PayCredential>('payApi', index);
	const resolvedText = async (index: number) =>
		await resolve(index).then(JSON.stringify, () => undefined);
	const typed = await readTyped(context);
	if (typed !== undefined && !Object.values(typed).some(mayDependOnItem)) {
		const first = await resolvedText(0);
		const noItem = context.getInputData().length;
		if (first !== undefined && first === (await resolvedText(noItem))) {
			const account = readAccount(JSON.parse(first) as PayCredential);
			return async () => account;
		}
	}
	return async (index) => readAccount(await resolve(index));
}
