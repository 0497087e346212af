import type { INodeProperties } from 'n8n-workflow';
import { isUnset, readFieldMatch, type FieldMatch } from './fieldMatch';

/** What an acceptance looks like, which the document does not show (sections 4.1 and 4.2). */
export const acceptanceOptions: INodeProperties[] = [
	{
		displayName: 'Accepted When Field',
		name: 'acceptedField',
		type: 'string',
		default: '',
		placeholder: 'e.g. success',
		description:
			'Field of the response that says whether the service accepted the request, with dots between the levels. A response without one of the values below is reported as unknown. Left empty, every 2xx response is an acceptance.',
	},
	{
		displayName: 'Accepted When Values',
		name: 'acceptedValues',
		type: 'string',
		typeOptions: { multipleValues: true, multipleValueButtonText: 'Add Value' },
		default: [],
		description:
			'Values of that field that mean an acceptance, each by itself. Upper and lower case do not count.',
	},
];

/** Reads the options {@link acceptanceOptions}; undefined where neither is set. Throws an InputError. */
export const readAcceptance = (field: unknown, values: unknown): FieldMatch | undefined =>
	isUnset(field, values) ? undefined : readFieldMatch(field, values, 'acceptedField');
