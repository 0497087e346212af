import type { FunctionsBase, IExecuteFunctions } from 'n8n-workflow';
import { InputError } from '../inputError';
import {
	noPostbackSecret,
	parseSecrets,
	type SecretFields,
	type Secrets,
} from '../parameters/postbackSecret';
import { mayDependOnItem, readTyped } from './accountOfItem';

type CredentialReader = Pick<FunctionsBase, 'getCredentials'>;
type SecretOwner = Pick<FunctionsBase, 'getCredentials' | 'getNode' | 'getWorkflow'>;

const textsOf = (fields: SecretFields | undefined) => [
	fields?.postbackSecret,
	fields?.previousPostbackSecret,
];

/** Reads the Postback Secrets of a node's credential; throws an InputError for a wrong one. */
export async function readSecrets(context: CredentialReader): Promise<Secrets> {
	return parseSecrets(await context.getCredentials<SecretFields>('payApi'));
}

/**
 * Reads the Postback Secrets where an execution begins to wait. The call that ends the wait has no
 * item, so a secret that depends on the item is refused here. So is a credential without a secret:
 * n8n gives its own resume token to whoever fills in a form of the workflow.
 * @throws InputError
 */
export async function readSecretsOfWait(
	context: Pick<IExecuteFunctions, 'getCredentials' | 'getNode' | 'getMode'>,
): Promise<Secrets> {
	const typed = (await readTyped(context)) as SecretFields | undefined;
	const ofItem = await context.getCredentials<SecretFields>('payApi', 0);
	// Beyond the last item n8n resolves what does not depend on it, and throws or differs otherwise.
	const ofNone = await context.getCredentials<SecretFields>('payApi', 1).catch(() => undefined);
	if (
		// One that leads to another node's item looks the same for all items, until there are none.
		!textsOf(typed).some(mayDependOnItem) &&
		ofNone !== undefined &&
		JSON.stringify(textsOf(ofNone)) === JSON.stringify(textsOf(ofItem))
	) {
		const secrets = parseSecrets(ofItem);
		if (secrets.current === '') throw noPostbackSecret();
		return secrets;
	}
	throw new InputError(
		'postbackSecret',
		'The Pay API credential depends on the item, so the postback that ends this wait could not be verified',
		'A call from outside has no item. Remove expressions like {{ $json.… }} from the credential of this node, or wait with a credential per account.',
	);
}

/**
 * How long a trigger's secrets are kept, in milliseconds, and removed ones still taken: reading the
 * credential is what costs n8n 2 most in a postback.
 */
const KEEP = 10_000;
/** How many triggers' secrets are kept; those kept longest make room. */
const MOST = 1000;
const kept = new Map<string, { secrets: Secrets; since: number }>();

function triggerKey(context: SecretOwner): string {
	const { name, credentials } = context.getNode();
	return JSON.stringify([context.getWorkflow().id, name, credentials?.payApi?.id]);
}

/** The Postback Secrets of a trigger's credential, if they were read a moment ago. */
export function keptSecrets(context: SecretOwner): Secrets | undefined {
	const found = kept.get(triggerKey(context));
	// Not Date.now(): a wall clock that is set back would keep a removed secret alive.
	return found !== undefined && performance.now() - found.since < KEEP ? found.secrets : undefined;
}

/** Reads the Postback Secrets of a trigger's credential, for {@link keptSecrets} to find. */
export async function readAndKeepSecrets(context: SecretOwner): Promise<Secrets> {
	const key = triggerKey(context);
	kept.delete(key);
	const secrets = await readSecrets(context);
	kept.set(key, { secrets, since: performance.now() });
	const [oldest] = kept.keys();
	if (kept.size > MOST && oldest !== undefined) kept.delete(oldest);
	return secrets;
}
