import type { INodeProperties } from 'n8n-workflow';
import { quoted, wrongField } from './label';
import { parseChoice, parseSwitch, type ReadParameter } from './parameter';

const limitWaitTimeField: INodeProperties = {
	displayName: 'Limit Wait Time',
	name: 'limitWaitTime',
	type: 'boolean',
	default: false,
	description:
		'Whether to go on without a postback after a while. The item then has no "postback" field.',
};

const resumeAmountField: INodeProperties = {
	displayName: 'Wait at Most',
	name: 'resumeAmount',
	type: 'number',
	typeOptions: { minValue: 0, numberPrecision: 2 },
	default: 1,
	displayOptions: { show: { limitWaitTime: [true] } },
	description:
		'How many of the units below to wait. N8n looks for ended waits about once a minute.',
};

const resumeUnitField: INodeProperties = {
	displayName: 'Wait at Most (Unit)',
	name: 'resumeUnit',
	type: 'options',
	options: [
		{ name: 'Days', value: 'days' },
		{ name: 'Hours', value: 'hours' },
		{ name: 'Minutes', value: 'minutes' },
		{ name: 'Seconds', value: 'seconds' },
	],
	default: 'hours',
	displayOptions: { show: { limitWaitTime: [true] } },
	description: 'Unit of the time to wait',
};

/** How long a wait lasts at most. */
export const waitLimitFields = [limitWaitTimeField, resumeAmountField, resumeUnitField];

const UNITS = ['seconds', 'minutes', 'hours', 'days'] as const;
const MINUTE = 60_000;
const MILLISECONDS: Readonly<Record<(typeof UNITS)[number], number>> = {
	seconds: 1000,
	minutes: MINUTE,
	hours: 60 * MINUTE,
	days: 24 * 60 * MINUTE,
};

/**
 * Reads how long a wait lasts at most, in milliseconds; an expression may give the number as text. Throws
 * an InputError.
 */
export function readWaitLimit(read: ReadParameter): number {
	// Undefined is refused too: n8n fills in the default, so it comes from an expression that found nothing.
	if (!parseSwitch(read('limitWaitTime'), limitWaitTimeField)) return Infinity;
	const typedAmount = read('resumeAmount');
	const text = typeof typedAmount === 'string' ? typedAmount.trim() : '';
	const amount = text === '' ? typedAmount : Number(text);
	if (typeof amount !== 'number' || !(amount >= 0)) {
		const what = `must be 0 or more, but is ${quoted(typedAmount)}`;
		throw wrongField(resumeAmountField, what, 'Enter how long to wait.');
	}
	const unit = parseChoice(read('resumeUnit'), resumeUnitField, UNITS);
	return amount * MILLISECONDS[unit];
}
