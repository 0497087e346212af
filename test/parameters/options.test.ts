import { InputError } from '../../nodes/Pay/inputError';
import { readBatching, readTimeout, refuseMovedOptions } from '../../nodes/Pay/parameters/options';
import { refusalOf } from '../refusal';

const HOUR = 3_600_000;
const fieldOf = (work: () => unknown) => {
	try {
		return work();
	} catch (error) {
		expect(error).toBeInstanceOf(InputError);
		return `refused: ${(error as InputError).field}`;
	}
};
const size = (batchSize: unknown) =>
	fieldOf(() => readBatching({ batch: { batchSize } }, 7).batchSize);
const pause = (batchInterval: unknown) =>
	fieldOf(() => readBatching({ batch: { batchInterval } }, 7).batchInterval);
const timeout = (value: unknown) => fieldOf(() => readTimeout(value));

test.each<[string, unknown, unknown]>([
	['a batch that is not set', size(undefined), 7],
	['an empty batch size', size(''), 7],
	['a batch of one', size(1), 1],
	['the largest batch', size(1000), 1000],
	['a batch of none', size(0), 'refused: batchSize'],
	['a batch that is too large', size(1001), 'refused: batchSize'],
	['a batch size as text', size('5'), 'refused: batchSize'],
	['half a batch', size(1.5), 'refused: batchSize'],
	['a batch size of null', size(null), 'refused: batchSize'],
	['no pause', pause(undefined), 0],
	['a pause of nothing', pause(0), 0],
	['an hour', pause(HOUR), HOUR],
	['more than an hour', pause(HOUR + 1), 'refused: batchInterval'],
	['a pause before now', pause(-1), 'refused: batchInterval'],
	['no time-out', timeout(undefined), 60_000],
	['the shortest time-out', timeout(1), 1],
	['the longest time-out', timeout(HOUR), HOUR],
	['no time at all', timeout(0), 'refused: timeout'],
	['too much time', timeout(HOUR + 1), 'refused: timeout'],
	['no options at all', readBatching(undefined, 3), { batchSize: 3, batchInterval: 0 }],
	['options without a batch', readBatching({}, 3), { batchSize: 3, batchInterval: 0 }],
])('%s', (_what, read, expected) => {
	expect(read).toStrictEqual(expected);
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
