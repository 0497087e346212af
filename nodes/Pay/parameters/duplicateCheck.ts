import type { INodeProperties } from 'n8n-workflow';
import { InputError } from '../inputError';
import { labelOf } from './label';

/** How far the check before a payment looks: see docs/money.md. */
export type DuplicateCheck = 'workflow' | 'workers' | 'execution';

const DEFAULT: DuplicateCheck = 'workflow';

export const duplicateCheckOption = {
	displayName: 'Duplicate Check',
	name: 'duplicateCheck',
	type: 'options',
	options: [
		{
			name: 'Across Executions',
			value: 'workflow',
			description:
				'Refuse an External ID that this node has sent in an earlier execution. Between n8n processes (queue mode), two executions that start within the same moment can both pass.',
		},
		{
			name: 'Across Executions and Workers',
			value: 'workers',
			description:
				'The same, and simultaneous executions on several workers are told apart. Costs a pause before each batch.',
		},
		{
			name: 'Within This Execution',
			value: 'execution',
			description:
				'Refuse an External ID only when this very execution has sent it. What is sent is remembered all the same. A Retry after n8n was killed or the execution stopped pays again.',
		},
	],
	default: DEFAULT,
	description:
		'How far back to look before a payment is sent. Each Pay node remembers its last 10,000 payments.',
} satisfies INodeProperties;

/**
 * Reads the option {@link duplicateCheckOption}.
 * @throws InputError for anything but its values: a check that is misspelt must not be no check
 */
export function readDuplicateCheck(value: unknown): DuplicateCheck {
	if (value === undefined) return DEFAULT;
	if (value === 'workflow' || value === 'workers' || value === 'execution') return value;
	throw new InputError(
		'duplicateCheck',
		`${labelOf('duplicateCheck')} must be one of workflow, workers and execution, but is ${JSON.stringify(value) ?? 'undefined'}`,
		'Choose one from the list under Options.',
	);
}
