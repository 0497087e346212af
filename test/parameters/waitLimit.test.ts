import { readWaitLimit } from '../../nodes/Pay/parameters/waitLimit';
import { refusalOf } from '../refusal';

const limitOf = (resumeAmount: unknown, resumeUnit: unknown, limitWaitTime: unknown = true) => {
	const values: Record<string, unknown> = { limitWaitTime, resumeAmount, resumeUnit };
	return readWaitLimit((name) => values[name]);
};

test.each([
	[2, 'seconds', 2000],
	[3, 'minutes', 180_000],
	[1, 'hours', 3_600_000],
	[1.5, 'days', 129_600_000],
	[0, 'days', 0],
	[' 15 ', 'minutes', 900_000],
])('a wait of %j %s lasts so many milliseconds at most', (amount, unit, expected) => {
	expect(limitOf(amount, unit)).toBe(expected);
});

test('without a limit a wait has no end', () => {
	expect(limitOf('x', 'x', false)).toBe(Infinity);
});

test.each([
	['true', '"true"'],
	[1, '1'],
	[null, 'null'],
	[undefined, 'undefined'],
])('whether there is a limit cannot be %j', (limitWaitTime, shown) => {
	const values: Record<string, unknown> = { limitWaitTime, resumeAmount: 5, resumeUnit: 'minutes' };
	expect(refusalOf(() => readWaitLimit((name) => values[name]))).toMatchObject({
		field: 'limitWaitTime',
		message: `Limit Wait Time (limitWaitTime) must be true or false, but is ${shown}`,
		advice: 'Turn it on or off.',
	});
});

test.each([
	[-1, '-1'],
	['soon', '"soon"'],
	[' ', '" "'],
	['', '""'],
	[NaN, 'null'],
	[null, 'null'],
	[undefined, 'undefined'],
	[[1], '[1]'],
])('a wait of %j is refused', (amount, shown) => {
	expect(refusalOf(() => limitOf(amount, 'minutes'))).toMatchObject({
		field: 'resumeAmount',
		message: `Wait at Most (resumeAmount) must be 0 or more, but is ${shown}`,
		advice: 'Enter how long to wait.',
	});
});

test.each(['weeks', 'toString', undefined, 5])('a wait in %j is refused', (unit) => {
	expect(refusalOf(() => limitOf(1, unit))).toMatchObject({
		field: 'resumeUnit',
		message: 'Wait at Most (Unit) (resumeUnit) must be one of seconds, minutes, hours, days',
		advice: 'Choose one from the list.',
	});
});
