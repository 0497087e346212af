import type { INodeProperties } from 'n8n-workflow';
import { InputError } from '../inputError';
import { readFieldMatch, type FieldMatch } from './fieldMatch';
import { labelOf } from './label';

/** What a good response looks like, which the document does not show (sections 4.1 and 4.2). */
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

const invalid = (field: string, what: string) =>
	new InputError(
		field,
		`${labelOf(field)} ${what}`,
		'Enter the field to look at, for example success, and at least one value, for example true; or empty both.',
	);

/**
 * Reads the options {@link acceptanceOptions}.
 * @returns undefined where neither is set
 * @throws InputError where only one is, or where an expression gave what no response can match
 */
export function readAcceptance(field: unknown, values: unknown): FieldMatch | undefined {
	const name = field ?? '';
	if (typeof name !== 'string') throw invalid('acceptedField', 'must be text');
	const given = [values ?? []].flat();
	if (!given.every(isScalar)) throw invalid('acceptedValues', 'must hold text only');
	const none = given.every(isBlank);
	if (isBlank(name) && none) return undefined;
	if (isBlank(name))
		throw invalid('acceptedField', 'is missing, but Accepted When Values are there');
	if (none) throw invalid('acceptedValues', 'are missing, but Accepted When Field is there');
	return readFieldMatch(name, given, 'acceptedField');
}
