import type { InputError } from '../base/inputError';
import { fieldAt, type NamedField, wrongField } from '../fields/label';
import { credentialFields, type PayCredential } from './fields';

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

/** What to do where a field of the credential is none of its list. */
export const CHOOSE_IN_CREDENTIAL = 'Open the credential and choose one from the list.';

/** Reads a field of the credential that is chosen from a list, the first of it by default. */
export function readChosen<Choice extends string>(
	credential: PayCredential,
	name: string,
	choices: readonly [Choice, ...Choice[]],
): Choice {
	const { [name]: value = choices[0] } = credential;
	const choice = choices.find((each) => each === value);
	if (choice !== undefined) return choice;
	throw wrongInCredential(name, `must be one of ${choices.join(', ')}`, CHOOSE_IN_CREDENTIAL);
}
