import { readWaitLimit } from '../../nodes/Pay/fields/options';
import { refusalOf } from '../refusal';
import { reading } from './reading';

const limitOf = (resumeAmount: unknown, resumeUnit: unknown, limitWaitTime: unknown = true) => {
	const values: Record<string, unknown> = { limitWaitTime, resumeAmount, resumeUnit };
	return readWaitLimit(reading(values));
};

test.each([
	{ amount: 2, unit: 'seconds', expected: 2000 },
	{ amount: 3, unit: 'minutes', expected: 180_000 },
	{ amount: 1, unit: 'hours', expected: 3_600_000 },
	{ amount: 1.5, unit: 'days', expected: 129_600_000 },
	{ amount: 0, unit: 'days', expected: 0 },
	{ amount: ' 15 ', unit: 'minutes', expected: 900_000 },
])('a wait of $amount $unit lasts so many milliseconds at most', ({ amount, unit, expected }) => {
	expect(limitOf(amount, unit)).toBe(expected);
});

test('without a limit a wait has no end', () => {
	expect(limitOf('x', 'x', false)).toBe(Infinity);
});

test.each(['true', 1, [], null])('whether there is a limit cannot be %j', (limit) => {
	expect(refusalOf(() => limitOf(5, 'minutes', limit))?.field).toBe('limitWaitTime');
});

test('nothing for whether there is a limit is no default', () => {
	const values: Record<string, unknown> = { resumeAmount: 5, resumeUnit: 'minutes' };
	expect(refusalOf(() => readWaitLimit(reading(values)))?.field).toBe('limitWaitTime');
});

test.each([-1, 'soon', ' ', '', NaN, null, undefined, [1]])('a wait of %p is refused', (amount) => {
	expect(refusalOf(() => limitOf(amount, 'minutes'))?.field).toBe('resumeAmount');
});

test('a wait that is too short is refused in these words', () => {
	expect(refusalOf(() => limitOf(-1, 'minutes'))).toMatchObject({
		message: 'Wait at Most (resumeAmount) must be 0 or more, but is -1',
		advice: 'Enter how long to wait.',
	});
});

test.each(['weeks', 'toString', undefined, 5])('a wait in %j is refused', (unit) => {
	expect(refusalOf(() => limitOf(1, unit))?.field).toBe('resumeUnit');
});
