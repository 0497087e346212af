import type { INodeProperties } from 'n8n-workflow';
import { wrongField } from './label';

/** Reads an option that is a whole number between two bounds, both included; throws an InputError. */
export function readWholeNumber(
	value: unknown,
	field: string,
	[least, most]: readonly [number, number],
	unset: number,
): number {
	if (value === undefined || value === '') return unset;
	const whole = typeof value === 'number' && Number.isInteger(value);
	if (whole && value >= least && value <= most) return value;
	throw wrongField(
		field,
		`must be a whole number from ${least} to ${most}, but is ${JSON.stringify(value) ?? 'undefined'}`,
		'Correct it under Options.',
	);
}

const DEFAULT_TIMEOUT = 60_000;
/** An hour; timers of more than 2^31 ms would fire at once. */
const LONGEST_TIMEOUT = 3_600_000;

export const timeoutOption: INodeProperties = {
	displayName: 'Timeout',
	name: 'timeout',
	type: 'number',
	typeOptions: { minValue: 1, maxValue: LONGEST_TIMEOUT },
	default: DEFAULT_TIMEOUT,
	description: 'How long one request may take, until the end of its response, in milliseconds',
};

/** Reads the option {@link timeoutOption}; throws an InputError. */
export const readTimeout = (value: unknown) =>
	readWholeNumber(value, 'timeout', [1, LONGEST_TIMEOUT], DEFAULT_TIMEOUT);
