import type { INodeProperties } from 'n8n-workflow';
import { InputError } from '../base/inputError';
import { isJsonObject } from '../base/json';
import { type FieldMatch, listsOf } from '../service/paths';
import { pathsOfEntries, type State, STATES, type StatusWords } from '../service/state';
import { readChoice, type ReadParameter } from './expressions';
import type { NamedField } from './label';
import { readFieldMatch, refuseOneEntry } from './paths';

const CONDITIONS = ['any', 'paid', 'paidOrFailed', 'match'] as const;

/** What a postback must say for a workflow to continue: one of some states, or a value in a field. Waits store it. */
export type PostbackMatch = { states: readonly State[] } | FieldMatch;

/** The postbacks with which a workflow continues, as a person chose them. */
export type Condition = Exclude<(typeof CONDITIONS)[number], 'match'> | FieldMatch;

/** The states that meet each condition. A refund or another amount needs a person, so it is not "paid". */
const STATES_OF_CONDITIONS: Record<'paid' | 'paidOrFailed', State[]> = {
	paid: ['paid'],
	paidOrFailed: STATES.filter(({ isFinal }) => isFinal).map(({ state }) => state),
};

const IN_CREDENTIAL = 'Uses the words in the credential';
const CHOICES: Record<(typeof CONDITIONS)[number], { name: string; description: string }> = {
	any: {
		name: 'On Any Postback',
		description: 'Continue with any postback, even one that says "pending" or "failed"',
	},
	paid: {
		name: 'When Paid',
		description: `${IN_CREDENTIAL}. If it has fields for them, a refund or another amount does not count.`,
	},
	paidOrFailed: {
		name: 'When Paid or Failed',
		description: `${IN_CREDENTIAL}. Includes a refund and another amount, so look at "state".`,
	},
	match: {
		name: 'When a Field Has a Value',
		description:
			'The field and its values are below. What the credential asks for, such as Required Values, must hold too.',
	},
};

/** The field that says which postbacks count. */
type ConditionField = Pick<
	INodeProperties,
	'displayName' | 'name' | 'description' | 'noDataExpression'
>;

export const startCondition: ConditionField = {
	displayName: 'Start',
	name: 'startWhen',
	noDataExpression: true,
	description: 'Which postbacks start the workflow',
};

export const resumeCondition: ConditionField = {
	displayName: 'Resume',
	name: 'resumeWhen',
	description: 'Which postback lets the workflow continue',
};

export const matchField: NamedField = { displayName: 'Field', name: 'matchField' };

/** The fields by which a wait and a trigger say which postbacks count. */
export function conditionFields(field: ConditionField): INodeProperties[] {
	const { name, noDataExpression } = field;
	const options = CONDITIONS.map((value) => ({ value, ...CHOICES[value] }));
	const displayOptions = { show: { [name]: ['match'] } };
	return [
		{ ...field, type: 'options', options, default: 'any' },
		{
			displayName:
				'The workflow continues after every postback, even one that says "pending" or "failed". If you deliver something afterwards, choose When Paid, When Paid or Failed, or When a Field Has a Value.',
			name: 'anyPostbackNotice',
			type: 'notice',
			default: '',
			displayOptions: { show: { [name]: ['any'] } },
		},
		{
			...matchField,
			type: 'string',
			noDataExpression,
			default: '',
			required: true,
			placeholder: 'e.g. data.status',
			displayOptions,
			description:
				"Field of the postback's body or query, with dots between the levels; body.data.status works too, pix[].status reads each entry of a list, and headers.x-event reads a header. The service does not document the form of the body, so look at one postback in a Pay Trigger first.",
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
				'Values of that field that let the workflow continue, each entered separately. Upper and lower case count as the same. * means any value that is not empty.',
		},
	];
}

const NAMES_OF_CONDITIONS = [startCondition.name, resumeCondition.name];

/**
 * Refuses a condition where this node does not read it, as programs write it. Otherwise the workflow would continue
 * even with "failed".
 * @param typed the node's parameters as they were typed
 * @param fieldOfNode the name of the field that this node reads
 */
export function refuseMisplacedCondition(typed: object, fieldOfNode: string): void {
	const { options, ...parameters } = typed as Readonly<Record<string, unknown>>;
	for (const field of NAMES_OF_CONDITIONS) {
		const isInOptions = isJsonObject(options) && Object.hasOwn(options, field);
		const isOther = field !== fieldOfNode && Object.hasOwn(parameters, field);
		if (!isInOptions && !isOther) continue;
		const place = isInOptions ? `options.${field}` : field;
		throw new InputError(
			place,
			`The node has "${place}", which it does not read`,
			`Enter the condition as "${fieldOfNode}" among its parameters, and remove "${place}".`,
		);
	}
}

/** Reads the fields of {@link conditionFields}. */
export function readCondition(read: ReadParameter, field: NamedField): Condition {
	const choice = readChoice(read(field.name), field, CONDITIONS);
	if (choice !== 'match') return choice;
	return readFieldMatch(read('matchField'), read('matchValues'), matchField, {
		mayHaveLists: true,
	});
}

/** The names of the credential's word lists, by what their words mean. */
const LISTS_OF_WORDS = { paid: 'Paid Values', failed: 'Failed Values' };

/**
 * What a postback must hold for a condition, undefined where any will do.
 * @param statusWords the words of the account; an InputError where they are needed and missing
 * @param name the field of the condition, which such an error is about
 * @param whereWordsBelong a sentence that says which credential to open for them
 */
export function matchOf(
	condition: Condition,
	statusWords: StatusWords | undefined,
	name: string,
	whereWordsBelong: string,
): PostbackMatch | undefined {
	if (condition === 'any') return undefined;
	if (typeof condition === 'object') {
		const ofWords = statusWords === undefined ? [] : pathsOfEntries(statusWords);
		refuseOneEntry(condition.field, listsOf([...condition.field, ...ofWords]), matchField);
		return condition;
	}
	const { paid = [], failed = [], refundField } = statusWords ?? {};
	const missing: Array<'paid' | 'failed'> = [];
	if (paid.length === 0) missing.push('paid');
	// Some services report only money that came, and money that went back.
	const knowsFailure = failed.length > 0 || refundField !== undefined;
	if (condition === 'paidOrFailed' && !knowsFailure) missing.push('failed');
	if (missing.length > 0) {
		const meanings = missing.map((meaning) => `"${meaning}"`).join(' and ');
		throw new InputError(
			name,
			`No credential says which words of the service mean ${meanings}`,
			`${whereWordsBelong} ${enterWords(missing, statusWords !== undefined)}`,
		);
	}
	return { states: STATES_OF_CONDITIONS[condition] };
}

/** A sentence that says what to enter in a credential that lacks words. */
function enterWords(missing: Array<'paid' | 'failed'>, hasOthers: boolean): string {
	const lists = missing.map((meaning) => LISTS_OF_WORDS[meaning]).join(' and ');
	if (hasOthers) return `Under Describe the Service, enter ${lists}.`;
	const separator = missing.length === 1 ? ' and' : ',';
	return `Turn on Describe the Service, and enter Status Field${separator} ${lists}.`;
}
