import type { INodeProperties } from 'n8n-workflow';
import { readChoice, readSwitch, type ReadParameter } from './expressions';
import { quoted, wrongField } from './label';

/** How many items are in flight at once, and the pause after them in milliseconds. */
export interface Batching {
	batchSize: number;
	batchInterval: number;
}

/** Fewer than the duplicate check remembers, so that no batch pushes its own items out of it. */
const MOST_PER_BATCH = 1000;
/** The most that a pause or a request may take; timers of more than 2^31 ms would fire at once. */
const HOUR_MS = 3_600_000;

/** A field for a whole number between two bounds, both included. */
interface WholeNumberField extends INodeProperties {
	type: 'number';
	typeOptions: { minValue: number; maxValue: number };
	/** Also counts where nothing was entered. */
	default: number;
}

function readWholeNumber(value: unknown, field: WholeNumberField): number {
	if (value === undefined || value === '') return field.default;
	const { minValue, maxValue } = field.typeOptions;
	const isWhole = typeof value === 'number' && Number.isInteger(value);
	if (isWhole && value >= minValue && value <= maxValue) return value;
	throw wrongField(
		field,
		`must be a whole number from ${minValue} to ${maxValue}, but is ${quoted(value)}`,
		'Correct it under Options.',
	);
}

const batchSizeField = (defaultSize: number): WholeNumberField => ({
	displayName: 'Items per Batch',
	name: 'batchSize',
	type: 'number',
	typeOptions: { minValue: 1, maxValue: MOST_PER_BATCH },
	default: defaultSize,
	description: 'The maximum number of items in flight at the same time',
});

const batchIntervalField: WholeNumberField = {
	displayName: 'Batch Interval (Ms)',
	name: 'batchInterval',
	type: 'number',
	typeOptions: { minValue: 0, maxValue: HOUR_MS },
	default: 0,
	description: 'Pause after a batch has finished, in milliseconds',
};

/** Batching as in the HTTP Request node, but with other defaults, because payments are made one by one. */
export function batchingOption(defaultSize: number): INodeProperties {
	return {
		displayName: 'Batching',
		name: 'batching',
		type: 'fixedCollection',
		placeholder: 'Add Batching',
		default: { batch: {} },
		options: [
			{
				displayName: 'Batching',
				name: 'batch',
				values: [batchSizeField(defaultSize), batchIntervalField],
			},
		],
	};
}

export function readBatching(value: unknown, defaultSize: number): Batching {
	const { batch } = (value ?? {}) as { batch?: { batchSize?: unknown; batchInterval?: unknown } };
	return {
		batchSize: readWholeNumber(batch?.batchSize, batchSizeField(defaultSize)),
		batchInterval: readWholeNumber(batch?.batchInterval, batchIntervalField),
	};
}

/** How long one request may take. */
export const timeoutOption: WholeNumberField = {
	displayName: 'Timeout',
	name: 'timeout',
	type: 'number',
	typeOptions: { minValue: 1, maxValue: HOUR_MS },
	default: 60_000,
	description: 'How long a request may take, including its whole response, in milliseconds',
};

/** Reads the option {@link timeoutOption}, in milliseconds. */
export const readTimeout = (value: unknown) => readWholeNumber(value, timeoutOption);

const limitWaitTimeField: INodeProperties = {
	displayName: 'Limit Wait Time',
	name: 'limitWaitTime',
	type: 'boolean',
	default: false,
	description:
		'Whether to continue without a postback after some time. The item then has no "postback" field.',
};

const resumeAmountField: INodeProperties = {
	displayName: 'Wait at Most',
	name: 'resumeAmount',
	type: 'number',
	typeOptions: { minValue: 0, numberPrecision: 2 },
	default: 1,
	displayOptions: { show: { limitWaitTime: [true] } },
	description:
		'How long to wait, in the unit below. N8n checks for ended waits about once a minute.',
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

export const waitLimitFields = [limitWaitTimeField, resumeAmountField, resumeUnitField];

const UNITS = ['seconds', 'minutes', 'hours', 'days'] as const;
const MINUTE = 60_000;
const MILLISECONDS: Readonly<Record<(typeof UNITS)[number], number>> = {
	seconds: 1000,
	minutes: MINUTE,
	hours: 60 * MINUTE,
	days: 24 * 60 * MINUTE,
};

/** Reads how long a wait lasts at most, in milliseconds; an expression may give the number as text. */
export function readWaitLimit(read: ReadParameter): number {
	// Undefined is refused too: n8n fills in the default, so it comes from an expression that found nothing.
	if (!readSwitch(read('limitWaitTime'), limitWaitTimeField)) return Infinity;
	const typedAmount = read('resumeAmount');
	const text = typeof typedAmount === 'string' ? typedAmount.trim() : '';
	const amount = text === '' ? typedAmount : Number(text);
	if (typeof amount !== 'number' || !(amount >= 0)) {
		const what = `must be 0 or more, but is ${quoted(typedAmount)}`;
		throw wrongField(resumeAmountField, what, 'Enter how long to wait.');
	}
	const unit = readChoice(read('resumeUnit'), resumeUnitField, UNITS);
	return amount * MILLISECONDS[unit];
}

/**
 * With this in `options`, n8n leaves a request's body to the node. Otherwise n8n reads it before any proof, and
 * refuses charsets such as ISO-8859-1 (measured on 2.41 and 1.123). n8n looks for it only in nodes of version 1.
 */
export const BODY_UNREAD = { binaryData: true };

/** The same as a hidden option, which the default of `options` contains. */
export const bodyUnreadOption: INodeProperties = {
	displayName: 'Leave the Body to This Node',
	name: 'binaryData',
	type: 'hidden',
	default: true,
};

/** True if n8n leaves the body to a node with these options. Workflows that a program wrote may lack them. */
export const isBodyUnread = (options: unknown) =>
	(options as typeof BODY_UNREAD | undefined)?.binaryData === true;
