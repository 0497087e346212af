import type { INodeProperties } from 'n8n-workflow';
import { readFieldMatch, type FieldMatch } from './fieldMatch';
import { wrongField } from './label';

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

const isScalar = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value);
const isBlank = (value: unknown) => String(value).trim() === '';

const ADVICE =
	'Enter the field to look at, for example success, and at least one value, for example true; or empty both.';

/**
 * Reads the options {@link acceptanceOptions}; undefined where neither is set.
 * @throws InputError where only one is set, or where no response could match
 */
export function readAcceptance(field: unknown, values: unknown): FieldMatch | undefined {
	const name = field ?? '';
	const given = [values ?? []].flat();
	if (typeof name !== 'string') throw wrongField('acceptedField', 'must be text', ADVICE);
	if (!given.every(isScalar)) throw wrongField('acceptedValues', 'must hold text only', ADVICE);
	const hasNoValues = given.every(isBlank);
	if (isBlank(name)) {
		if (hasNoValues) return undefined;
		throw wrongField('acceptedField', 'is missing, but Accepted When Values are there', ADVICE);
	}
	if (!hasNoValues) return readFieldMatch(name, given, 'acceptedField');
	throw wrongField('acceptedValues', 'are missing, but Accepted When Field is there', ADVICE);
}
