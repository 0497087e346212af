import { createHash } from 'crypto';
import type {
	ICredentialsExpressionResolveValues,
	IExecuteFunctions,
	IHookFunctions,
} from 'n8n-workflow';
import { BoundedMap } from '../base/boundedMap';
import { InputError } from '../base/inputError';
import { additionalDataOf, isExpression } from '../base/n8n';
import { refuseItemDataInTool } from '../fields/expressions';
import { type Account, readAccount, readResolved } from './account';
import type { PayCredential } from './fields';
import { credentialField } from './label';

type CredentialContext = Pick<IExecuteFunctions, 'getNode' | 'getMode'>;

/** Takes the place of n8n's expression engine: it resolves nothing, and keeps the fields that it is given. */
class UnresolvedFields {
	fields: PayCredential | undefined;

	getParameterValue(fields: PayCredential): PayCredential {
		this.fields = { ...fields };
		return fields;
	}
}

/**
 * The credential with its expressions as text: what was typed, what an operator adds to it
 * (CREDENTIALS_OVERWRITE_DATA), and the defaults. n8n has no function that gives this. So it is asked to
 * resolve the credential by an expression engine of ours, {@link UnresolvedFields}. The typed fields alone
 * would not do: an operator's expression may come to nothing, or to a default, for the first item alone.
 * Undefined if this n8n works differently. Rejects if n8n fails. These are the calls inside n8n:
 *
 *     getDecrypted -> applyDefaultsAndOverwrites: an operator's fields, then defaults
 *       -> resolveWith.workflow.expression.getParameterValue(fields, …)    replaced by ours, which keeps the fields
 */
async function unresolvedCredential(
	context: CredentialContext,
): Promise<PayCredential | undefined> {
	const additionalData = additionalDataOf(context);
	const node = context.getNode();
	const selected = node.credentials?.payApi;
	if (additionalData === undefined || selected === undefined) return undefined;
	const expression = new UnresolvedFields();
	const resolveWith = {
		workflow: { expression },
		node,
		itemIndex: 0,
		runIndex: 0,
		runExecutionData: null,
		connectionInputData: [],
	};
	await additionalData.credentialsHelper.getDecrypted(
		additionalData,
		selected,
		'payApi',
		context.getMode(),
		{ node, data: {}, source: null },
		false,
		resolveWith as unknown as ICredentialsExpressionResolveValues,
	);
	return expression.fields;
}

/** No field is an expression where each was resolved to the very text that it is. */
function isPlain(unresolved: PayCredential, resolved: PayCredential): boolean {
	const names = new Set([...Object.keys(unresolved), ...Object.keys(resolved)]);
	for (const name of names) {
		const text = unresolved[name];
		if (text !== resolved[name]) return false;
		// The first item may hold the very text of an expression.
		if (isExpression(text)) return false;
	}
	return true;
}

/**
 * Gives each item's account: read once for all where no field of the credential is an expression, else
 * for each item.
 */
export async function accountReader(
	context: CredentialContext & Pick<IExecuteFunctions, 'getCredentials'>,
	isTool = false,
): Promise<(index: number) => Account | Promise<Account>> {
	const resolve = async (index: number) =>
		await context.getCredentials<PayCredential>('payApi', index);
	const [unresolved, first] = await Promise.all([
		unresolvedCredential(context).catch(() => undefined),
		resolve(0).catch(() => undefined),
	]);
	if (isTool && unresolved !== undefined) {
		refuseItemDataInTool(Object.keys(unresolved).map(credentialField), unresolved);
	}
	if (unresolved === undefined || first === undefined || !isPlain(unresolved, first)) {
		return async (index) => readAccount(await resolve(index), unresolved);
	}
	let account: Account | undefined;
	return () => {
		account ??= readAccount(first, unresolved);
		return account;
	};
}

/** One that is dropped is resolved once more. */
const MOST_CREDENTIALS = 1_000;
/** The fields of each credential that proved to have no expression, as a hash: no secret stays in memory. */
const plainFields = new BoundedMap<string, string>(MOST_CREDENTIALS);

/**
 * A trigger's credential. It is read for each postback, so a secret that was removed is refused at once.
 * It is resolved only when it has changed: n8n 2 makes an isolate for that each time. Rejects with an
 * InputError where an expression in it gives nothing.
 */
export async function credentialOfTrigger(
	context: CredentialContext & Pick<IHookFunctions, 'getCredentials'>,
): Promise<PayCredential> {
	const unresolved = await unresolvedCredential(context).catch(() => undefined);
	if (unresolved === undefined) {
		return readResolved(await context.getCredentials<PayCredential>('payApi'));
	}
	const credentialId = context.getNode().credentials?.payApi?.id ?? '';
	const hash = createHash('sha256').update(JSON.stringify(unresolved)).digest('base64');
	if (plainFields.get(credentialId) === hash) return unresolved;
	plainFields.delete(credentialId);
	const credential = readResolved(await context.getCredentials<PayCredential>('payApi'));
	if (isPlain(unresolved, credential)) plainFields.set(credentialId, hash);
	return credential;
}

/**
 * The credential of a wait; undefined where none is selected. A wait needs one only to check the service's
 * signature. Expressions in it stay text: n8n resolves them only where a node has to have a credential.
 * Rejects with an InputError where n8n does not give it.
 */
export async function credentialOfWait(
	context: CredentialContext,
): Promise<PayCredential | undefined> {
	if (context.getNode().credentials?.payApi === undefined) return undefined;
	const fields = await unresolvedCredential(context).catch(() => undefined);
	if (fields !== undefined) return fields;
	throw new InputError(
		'',
		'The Pay API credential of this wait cannot be read',
		"It is needed only to check the service's signature. Select another one, or none.",
	);
}
