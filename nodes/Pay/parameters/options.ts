import type { INodeProperties } from 'n8n-workflow';
import { quoted, wrongField } from './label';

/** How many items are in flight at once, and the pause after them in milliseconds. */
export interface Batching {
	batchSize: number;
	batchInterval: number;
}

/** Below what the duplicate check remembers, so that no batch pushes its own items out of it. */
const MAX_BATCH_SIZE = 1000;
/** The most that a pause or a request may take; timers of more than 2^31 ms would fire at once. */
const HOUR_MS = 3_600_000;

/** A field for a whole number between two bounds, both included. */
interface WholeNumberField extends INodeProperties {
	type: 'number';
	typeOptions: { minValue: number; maxValue: number };
	/** Also what holds where nothing was entered. */
	default: number;
}

/** Reads such a field; throws an InputError. */
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
	typeOptions: { minValue: 1, maxValue: MAX_BATCH_SIZE },
	default: defaultSize,
	description: 'How many items are in flight at once, at most',
});

const batchIntervalField: WholeNumberField = {
	displayName: 'Batch Interval (Ms)',
	name: 'batchInterval',
	type: 'number',
	typeOptions: { minValue: 0, maxValue: HOUR_MS },
	default: 0,
	description: 'Pause after a batch has finished, in milliseconds',
};

/** Batching as the HTTP Request node has it; other defaults, for payments go one by one. */
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

/** Reads the option {@link batchingOption}; throws an InputError. */
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
	description: 'How long one request may take, until the end of its response, in milliseconds',
};

/** Reads the option {@link timeoutOption}, in milliseconds; throws an InputError. */
export const readTimeout = (value: unknown) => readWholeNumber(value, timeoutOption);
