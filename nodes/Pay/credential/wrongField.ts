import { InputError } from '../inputError';
import { fieldAt, type NamedField } from '../parameters/label';
import { credentialFields } from './fields';

/** A field of the credential, as its form calls it. */
export const credentialField = (name: string): NamedField => fieldAt(credentialFields, name);

const isSwitch = (name: string) =>
	credentialFields.some((field) => field.name === name && field.type === 'boolean');

/** An {@link InputError} about a field of the credential. */
export function wrongInCredential(name: string, what: string, advice: string): InputError {
	const { displayName } = credentialField(name);
	const called = isSwitch(name) ? `The switch ${displayName}` : `The ${displayName}`;
	return new InputError(name, `${called} of the Pay API credential ${what}`, advice);
}
