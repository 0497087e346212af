import type { IExecuteFunctions, IWorkflowExecuteAdditionalData } from 'n8n-workflow';
import { refuseItemData } from '../parameters/typed';
import { readAccount, type Account, type PayCredential } from './connection';

type CredentialContext = Pick<IExecuteFunctions, 'getCredentials' | 'getNode' | 'getMode'>;

/** The credential as it was typed; undefined where n8n does not give it. Rejects where n8n fails. */
async function typedCredential(context: CredentialContext): Promise<PayCredential | undefined> {
	const { additionalData } = context as { additionalData?: IWorkflowExecuteAdditionalData };
	const which = context.getNode().credentials?.payApi;
	if (additionalData === undefined || which === undefined) return undefined;
	const { credentialsHelper } = additionalData;
	const mode = context.getMode();
	const about = [additionalData, which, 'payApi', mode, undefined, true] as const;
	const typed: PayCredential = await credentialsHelper.getDecrypted(...about);
	// n8n fills this hidden field in where it resolves a credential, which was not asked for.
	return Object.hasOwn(typed, 'isResolved') ? undefined : typed;
}

/**
 * Gives each item's account: read once for all where no field of the credential, as it was typed, is
 * an expression, else for each item. What the field was typed as and what it came to must be the same.
 */
export async function accountReader(
	context: CredentialContext,
	isTool = false,
): Promise<(index: number) => Account | Promise<Account>> {
	const resolve = async (index: number) =>
		await context.getCredentials<PayCredential>('payApi', index);
	const [typed, first] = await Promise.all([
		typedCredential(context).catch(() => undefined),
		resolve(0).catch(() => undefined),
	]);
	if (isTool && typed !== undefined) refuseItemData(Object.keys(typed), typed);
	// An expression never comes to its own text.
	const isPlain = ([name, value]: [string, unknown]) => value === first?.[name];
	if (typed === undefined || first === undefined || !Object.entries(typed).every(isPlain)) {
		return async (index) => readAccount(await resolve(index), typed);
	}
	let account: Account | undefined;
	return () => (account ??= readAccount(first));
}
