import { batchingOption, readBatching, readTimeout } from '../../nodes/Pay/fields/options';
import { refusalOf } from '../refusal';

const HOUR = 3_600_000;
const size = (batchSize: unknown) => readBatching({ batch: { batchSize } }, 7).batchSize;
const pause = (batchInterval: unknown) =>
	readBatching({ batch: { batchInterval } }, 7).batchInterval;

test.each<{ what: string; read: (value: unknown) => unknown; value: unknown; expected: unknown }>([
	{ what: 'a batch that is not set', read: size, value: undefined, expected: 7 },
	{ what: 'an empty batch size', read: size, value: '', expected: 7 },
	{ what: 'a batch of one', read: size, value: 1, expected: 1 },
	{ what: 'the largest batch', read: size, value: 1000, expected: 1000 },
	{ what: 'no pause', read: pause, value: undefined, expected: 0 },
	{ what: 'a pause of nothing', read: pause, value: 0, expected: 0 },
	{ what: 'an hour', read: pause, value: HOUR, expected: HOUR },
	{ what: 'no time-out', read: readTimeout, value: undefined, expected: 60_000 },
	{ what: 'the shortest time-out', read: readTimeout, value: 1, expected: 1 },
	{ what: 'the longest time-out', read: readTimeout, value: HOUR, expected: HOUR },
])('$what is read as $expected', ({ read, value, expected }) => {
	expect(read(value)).toBe(expected);
});

test.each([undefined, null, {}])('the options %j have no batch', (options) => {
	expect(readBatching(options, 3)).toStrictEqual({ batchSize: 3, batchInterval: 0 });
});

test.each<{ what: string; read: (value: unknown) => unknown; value: unknown; field: string }>([
	{ what: 'a batch of none', read: size, value: 0, field: 'batchSize' },
	{ what: 'a batch that is too large', read: size, value: 1001, field: 'batchSize' },
	{ what: 'a batch size as text', read: size, value: '5', field: 'batchSize' },
	{ what: 'half a batch', read: size, value: 1.5, field: 'batchSize' },
	{ what: 'a batch size of null', read: size, value: null, field: 'batchSize' },
	{ what: 'more than an hour', read: pause, value: HOUR + 1, field: 'batchInterval' },
	{ what: 'a pause before now', read: pause, value: -1, field: 'batchInterval' },
	{ what: 'no time at all', read: readTimeout, value: 0, field: 'timeout' },
	{ what: 'too much time', read: readTimeout, value: HOUR + 1, field: 'timeout' },
])('$what is refused', ({ read, value, field }) => {
	expect(refusalOf(() => read(value))?.field).toBe(field);
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
