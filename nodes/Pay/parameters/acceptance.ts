import type { INodeProperties } from 'n8n-workflow';
import { InputError } from '../inputError';
import { readFieldMatch, type FieldMatch } from './fieldMatch';
import { labelOf } from './label';

/** What a good answer looks like, which the document does not show (sections 4.1 and 4.2). */
export const acceptanceOptions: INodeProperties[] = [
	{
		displayName: 'Accepted When Field',
		name: 'acceptedField',
		type: 'string',
		default: '',
		placeholder: 'e.g. success',
		description:
			'Field of the answer that says whether the service accepted the request, with dots between the levels. An answer without one of the values below is reported as unknown. Left empty, every 2xx answer is an acceptance.',
	},
	{
		displayName: 'Accepted When Values',
		name: 'acceptedValues',
		type: 'string',
		typeOptions: { multipleValues: true, multipleValueButtonText: 'Add Value' },
		default: [],
		description: 'Values of that field that mean an acceptance, upper and lower case as sent',
	},
];

/**
 * Reads the options {@link acceptanceOptions}.
 * @returns undefined where neither is set
 * @throws InputError where only one of the two is
 */
export function readAcceptance(field: unknown, values: unknown): FieldMatch | undefined {
	const given = [values ?? []].flat().filter((value) => value !== '');
	const unset = field === undefined || field === null || field === '';
	if (unset && given.length === 0) return undefined;
	const missing = unset || String(field).trim() === '' ? 'acceptedField' : 'acceptedValues';
	if (missing === 'acceptedField' || given.every((value) => String(value).trim() === '')) {
		throw new InputError(
			missing,
			`${labelOf(missing)} is missing: one of Accepted When Field and Accepted When Values says nothing without the other`,
			'Enter the field to look at, for example success, and at least one value, for example true; or empty both.',
		);
	}
	return readFieldMatch(field, given, 'acceptedField');
}
