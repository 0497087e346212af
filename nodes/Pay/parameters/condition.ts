import type { INodeProperties } from 'n8n-workflow';
import { InputError } from '../inputError';
import { isMembers } from '../json';
import type { ComparedFields, StatusValues } from './description';
import { readFieldMatch, type FieldMatch } from './fieldMatch';
import { wrongField } from './label';
import type { ReadParameter } from './parameter';

const CONDITIONS = ['any', 'paid', 'paidOrFailed', 'match'] as const;

/** What a postback must hold for a workflow to go on with it; waits store it. */
export interface PostbackMatch extends FieldMatch {
	/** What else it must say of its reference. */
	compared?: ComparedFields;
}

/** Which postbacks a workflow goes on with, as a person chose it. */
type Condition = Exclude<(typeof CONDITIONS)[number], 'match'> | FieldMatch;

const IN_CREDENTIAL = 'The words for it are in the credential, under Describe the Service';
const CHOICES: Record<(typeof CONDITIONS)[number], { name: string; description: string }> = {
	any: {
		name: 'On Any Postback',
		description: 'Go on with each, also when it says "pending" or "failed"',
	},
	paid: {
		name: 'When Paid',
		description: `${IN_CREDENTIAL}. Not with another amount, where that has an Amount Field.`,
	},
	paidOrFailed: {
		name: 'When Paid or Failed',
		description: IN_CREDENTIAL,
	},
	match: {
		name: 'When a Field Has a Value',
		description: 'Others are verified and answered too, but not stored: n8n logs that they came',
	},
};

/** The fields by which a wait and a trigger say which postbacks count. */
export function conditionFields(
	field: Pick<INodeProperties, 'displayName' | 'name' | 'description' | 'noDataExpression'>,
): INodeProperties[] {
	const { name, noDataExpression } = field;
	const options = CONDITIONS.map((value) => ({ value, ...CHOICES[value] }));
	const displayOptions = { show: { [name]: ['match'] } };
	return [
		{ ...field, type: 'options', options, default: 'any' },
		{
			displayName:
				'The workflow goes on with every postback, also with one that says "pending" or "failed". Where something is delivered afterwards, choose When Paid.',
			name: 'anyPostbackNotice',
			type: 'notice',
			default: '',
			displayOptions: { show: { [name]: ['any'] } },
		},
		{
			displayName: 'Field',
			name: 'matchField',
			type: 'string',
			noDataExpression,
			default: '',
			required: true,
			placeholder: 'e.g. data.status',
			displayOptions,
			description:
				"Field of the postback's body, or of its query, with dots between the levels; body.data.status is taken too. The form of the body is not documented: look at one postback in a Pay Trigger first.",
		},
		{
			displayName: 'Values',
			name: 'matchValues',
			type: 'string',
			noDataExpression,
			typeOptions: { multipleValues: true, multipleValueButtonText: 'Add Value' },
			default: [],
			required: true,
			displayOptions,
			description:
				'Values of that field that let the workflow go on, each by itself. Upper and lower case do not count.',
		},
	];
}

/** The names of the two fields that say which postbacks count: a trigger's and a wait's. */
const CONDITION_FIELDS = ['startWhen', 'resumeWhen'];

/**
 * Refuses a condition that stands where this node does not read it, as programs write it: the workflow
 * would go on with "failed". Throws an InputError.
 * @param typed the node's parameters as they were typed
 * @param own the name of the node's own field
 */
export function refuseMisplacedCondition(typed: object, own: string): void {
	const { options, ...parameters } = typed as Readonly<Record<string, unknown>>;
	for (const field of CONDITION_FIELDS) {
		const isInOptions = isMembers(options) && Object.hasOwn(options, field);
		const isOther = field !== own && Object.hasOwn(parameters, field);
		if (!isInOptions && !isOther) continue;
		const place = isInOptions ? `options.${field}` : field;
		throw new InputError(
			place,
			`The node has "${place}", which it does not read`,
			`Enter the condition as "${own}" among its parameters, and remove "${place}".`,
		);
	}
}

/** Reads the fields of {@link conditionFields}; throws an InputError. */
export function readCondition(read: ReadParameter, name: string): Condition {
	const value = read(name);
	const choice = CONDITIONS.find((each) => each === value);
	if (choice === undefined) {
		const what = `must be one of ${CONDITIONS.join(', ')}, but is ${JSON.stringify(value)}`;
		throw wrongField(name, what, 'Choose one from the list.');
	}
	if (choice !== 'match') return choice;
	return readFieldMatch(read('matchField'), read('matchValues'), (what, advice) =>
		wrongField('matchField', what, advice),
	);
}

/**
 * What a postback must hold for a condition, undefined where any will do.
 * @param status the words of the account; an InputError where they are needed and missing
 * @param toCredential the way to the credential they belong in, as advice
 */
export function matchOf(
	condition: Condition,
	status: StatusValues | undefined,
	name: string,
	toCredential: string,
): PostbackMatch | undefined {
	if (condition === 'any') return undefined;
	if (typeof condition === 'object') return condition;
	const { field = '', paid = [], failed = [], compared } = status ?? {};
	if (condition === 'paid' && paid.length > 0) {
		return { field, values: paid, compared };
	}
	if (condition === 'paidOrFailed' && paid.length > 0 && failed.length > 0) {
		return { field, values: [...paid, ...failed], compared: { id: compared?.id } };
	}
	const [words, fields] =
		condition === 'paid'
			? ['"paid"', 'Status Field and Paid Values']
			: ['"paid" and "failed"', 'Status Field, Paid Values and Failed Values'];
	throw new InputError(
		name,
		`No credential says which words of the service mean ${words}`,
		`${toCredential}, turn on Describe the Service, and enter ${fields}.`,
	);
}
