import type { INodeProperties } from 'n8n-workflow';
import { readWholeNumber } from './wholeNumber';

const DEFAULT = 60_000;
/** An hour; timers of more than 2^31 ms would fire at once. */
const MOST = 3_600_000;

export const timeoutOption: INodeProperties = {
	displayName: 'Timeout',
	name: 'timeout',
	type: 'number',
	typeOptions: { minValue: 1, maxValue: MOST },
	default: DEFAULT,
	description: 'How long one request may take, until the end of its response, in milliseconds',
};

/** Reads the option {@link timeoutOption}; throws an InputError. */
export const readTimeout = (value: unknown) =>
	readWholeNumber(value, 'timeout', [1, MOST], DEFAULT);
