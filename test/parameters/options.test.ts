import {
	batchingOption,
	readBatching,
	readTimeout,
	refuseMovedOptions,
} from '../../nodes/Pay/parameters/options';
import { refusalOf } from '../refusal';

const HOUR = 3_600_000;
const size = (batchSize: unknown) => readBatching({ batch: { batchSize } }, 7).batchSize;
const pause = (batchInterval: unknown) =>
	readBatching({ batch: { batchInterval } }, 7).batchInterval;

test.each<[string, (value: unknown) => unknown, unknown, unknown]>([
	['a batch that is not set', size, undefined, 7],
	['an empty batch size', size, '', 7],
	['a batch of one', size, 1, 1],
	['the largest batch', size, 1000, 1000],
	['no pause', pause, undefined, 0],
	['a pause of nothing', pause, 0, 0],
	['an hour', pause, HOUR, HOUR],
	['no time-out', readTimeout, undefined, 60_000],
	['the shortest time-out', readTimeout, 1, 1],
	['the longest time-out', readTimeout, HOUR, HOUR],
])('%s', (_what, read, value, expected) => {
	expect(read(value)).toBe(expected);
});

test.each([undefined, null, {}])('the options %j have no batch', (options) => {
	expect(readBatching(options, 3)).toStrictEqual({ batchSize: 3, batchInterval: 0 });
});

const SIZE = 'Items per Batch (batchSize) must be a whole number from 1 to 1000';
const PAUSE = 'Batch Interval (Ms) (batchInterval) must be a whole number from 0 to 3600000';
const TIMEOUT = 'Timeout must be a whole number from 1 to 3600000';
test.each<[string, (value: unknown) => unknown, unknown, string]>([
	['a batch of none', size, 0, `${SIZE}, but is 0`],
	['a batch that is too large', size, 1001, `${SIZE}, but is 1001`],
	['a batch size as text', size, '5', `${SIZE}, but is "5"`],
	['half a batch', size, 1.5, `${SIZE}, but is 1.5`],
	['a batch size of null', size, null, `${SIZE}, but is null`],
	['a batch size that JSON does not know', size, () => 1, `${SIZE}, but is undefined`],
	['more than an hour', pause, HOUR + 1, `${PAUSE}, but is 3600001`],
	['a pause before now', pause, -1, `${PAUSE}, but is -1`],
	['no time at all', readTimeout, 0, `${TIMEOUT}, but is 0`],
	['too much time', readTimeout, HOUR + 1, `${TIMEOUT}, but is 3600001`],
])('%s is refused', (_what, read, value, message) => {
	expect(refusalOf(() => read(value))).toMatchObject({
		message,
		advice: 'Correct it under Options.',
	});
});

test('the form takes the same bounds, and the default that is given', () => {
	expect(batchingOption(7).options).toMatchObject([
		{
			name: 'batch',
			values: [
				{ name: 'batchSize', typeOptions: { minValue: 1, maxValue: 1000 }, default: 7 },
				{ name: 'batchInterval', typeOptions: { minValue: 0, maxValue: HOUR }, default: 0 },
			],
		},
	]);
});

describe('options that have moved', () => {
	test.each([
		['acceptedField', 'Result Field in the Pay API credential, under Describe the Service'],
		['acceptedValues', 'Accepted Values in the Pay API credential, under Describe the Service'],
		['qrCodePath', 'QR Code Path in the Pay API credential, under Describe the Service'],
		['startWhen', 'the field Start, above the options'],
	])('%s is refused with its place', (name, place) => {
		expect(refusalOf(() => refuseMovedOptions({ timeout: 5, [name]: 'success' }))).toMatchObject({
			field: `options.${name}`,
			message: `The options hold "${name}", which has moved`,
			advice: `Enter it as ${place}. Then remove it from the options: in the JSON of the workflow, or by adding this node anew.`,
		});
	});

	test.each([undefined, null, '', {}, { timeout: 5 }, '={{ $json }}'])(
		'%j holds none of them',
		(options) => {
			expect(() => refuseMovedOptions(options)).not.toThrow();
		},
	);
});
