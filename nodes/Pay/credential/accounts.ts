import type {
	IExecuteFunctions,
	IHookFunctions,
	IWorkflowExecuteAdditionalData,
} from 'n8n-workflow';
import { refuseItemData } from '../parameters/parameter';
import { readAccount, type Account, type PayCredential } from './connection';

type CredentialContext = Pick<IExecuteFunctions, 'getNode' | 'getMode'>;

/** The credential as it was typed; undefined where n8n does not give it. Rejects where n8n fails. */
async function typedCredential(context: CredentialContext): Promise<PayCredential | undefined> {
	const { additionalData } = context as { additionalData?: IWorkflowExecuteAdditionalData };
	const node = context.getNode();
	const which = node.credentials?.payApi;
	if (additionalData === undefined || which === undefined) return undefined;
	const { credentialsHelper } = additionalData;
	const asking = { node, data: {}, source: null };
	const about = [additionalData, which, 'payApi', context.getMode(), asking, true] as const;
	const typed: PayCredential = await credentialsHelper.getDecrypted(...about);
	// n8n fills this hidden field in where it resolves a credential, which was not asked for.
	return Object.hasOwn(typed, 'isResolved') ? undefined : typed;
}

/** Whether each field came to what it was typed as: an expression never comes to its own text. */
const isPlain = (typed: PayCredential, resolved: PayCredential) =>
	Object.entries(typed).every(([name, value]) => value === resolved[name]);

/**
 * Gives each item's account: read once for all where no field of the credential, as it was typed, is
 * an expression, else for each item. What the field was typed as and what it came to must be the same.
 */
export async function accountReader(
	context: CredentialContext & Pick<IExecuteFunctions, 'getCredentials'>,
	isTool = false,
): Promise<(index: number) => Account | Promise<Account>> {
	const resolve = async (index: number) =>
		await context.getCredentials<PayCredential>('payApi', index);
	const [typed, first] = await Promise.all([
		typedCredential(context).catch(() => undefined),
		resolve(0).catch(() => undefined),
	]);
	if (isTool && typed !== undefined) refuseItemData(Object.keys(typed), typed);
	if (typed === undefined || first === undefined || !isPlain(typed, first)) {
		return async (index) => readAccount(await resolve(index), typed);
	}
	let account: Account | undefined;
	return () => {
		account ??= readAccount(first);
		return account;
	};
}

const NO_SECRETS: PayCredential = { postbackSecret: '', previousPostbackSecret: '' };
/** For each credential without an expression: what was typed when n8n resolved it, and what that gave. */
const resolvedBefore = new Map<string, { text: string; credential: PayCredential }>();

/**
 * A trigger's credential. It is read for each postback, so a secret that was removed is refused at once.
 * It is resolved only when what was typed has changed: n8n 2 makes an isolate for that each time.
 */
export async function credentialOfTrigger(
	context: CredentialContext & Pick<IHookFunctions, 'getCredentials'>,
): Promise<PayCredential> {
	const typed = await typedCredential(context).catch(() => undefined);
	const id = context.getNode().credentials?.payApi?.id ?? '';
	const text = JSON.stringify(typed);
	const before = resolvedBefore.get(id);
	if (before !== undefined && before.text === text) return before.credential;
	const credential = await context.getCredentials<PayCredential>('payApi');
	// A secret that n8n's own settings add is not typed.
	const isWhole = isPlain({ ...NO_SECRETS, ...typed }, { ...NO_SECRETS, ...credential });
	if (typed && isWhole) resolvedBefore.set(id, { text, credential });
	return credential;
}
