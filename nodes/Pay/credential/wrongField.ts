import type { InputError } from '../inputError';
import { fieldAt, wrongField, type NamedField } from '../parameters/label';
import { credentialFields } from './fields';

/** A field of the credential, as its form calls it. */
export const credentialField = (name: string): NamedField => fieldAt(credentialFields, name);

const isSwitch = (name: string) =>
	credentialFields.some((field) => field.name === name && field.type === 'boolean');

/** The same field, for errors in which nothing else says that it is the credential's. */
export function fieldInCredential(name: string): NamedField {
	const { displayName } = credentialField(name);
	const noun = isSwitch(name) ? `The switch ${displayName}` : `The ${displayName}`;
	return { name, displayName, called: `${noun} of the Pay API credential` };
}

/** An {@link InputError} about a field of the credential. */
export function wrongInCredential(name: string, what: string, advice: string): InputError {
	return wrongField(fieldInCredential(name), what, advice);
}
