import { readWaitLimit } from '../../nodes/Pay/parameters/waitLimit';
import { refusalOf } from '../refusal';

const limitOf = (resumeAmount: unknown, resumeUnit: unknown, limitWaitTime: unknown = true) => {
	const values: Record<string, unknown> = { limitWaitTime, resumeAmount, resumeUnit };
	return readWaitLimit((name) => values[name]);
};

test.each([
	{
		amount: 2,
		unit: 'seconds',
		expected: 2000,
	},
	{
		amount: 3,
		unit: 'minutes',
		expected: 180_000,
	},
	{
		amount: 1,
		unit: 'hours',
		expected: 3_600_000,
	},
	{
		amount: 1.5,
		unit: 'days',
		expected: 129_600_000,
	},
	{
		amount: 0,
		unit: 'days',
		expected: 0,
	},
	{
		amount: ' 15 ',
		unit: 'minutes',
		expected: 900_000,
	},
])('a wait of $amount $unit lasts so many milliseconds at most', ({ amount, unit, expected }) => {
	expect(limitOf(amount, unit)).toBe(expected);
});

test('without a limit a wait has no end', () => {
	expect(limitOf('x', 'x', false)).toBe(Infinity);
});

test.each([
	['true', 'text'],
	[1, 'a number'],
	[[], 'an object'],
	[null, 'null'],
	[undefined, 'undefined'],
])('whether there is a limit cannot be %j', (limitWaitTime, shown) => {
	const values: Record<string, unknown> = { limitWaitTime, resumeAmount: 5, resumeUnit: 'minutes' };
	expect(refusalOf(() => readWaitLimit((name) => values[name]))).toMatchObject({
		field: 'limitWaitTime',
		message: `Limit Wait Time (limitWaitTime) must be true or false, but is ${shown}`,
		advice: 'Turn it on or off. An expression in it must give true or false.',
	});
});

test.each([
	{
		amount: -1,
		shown: '-1',
	},
	{
		amount: 'soon',
		shown: '"soon"',
	},
	{
		amount: ' ',
		shown: '" "',
	},
	{
		amount: '',
		shown: '""',
	},
	{
		amount: NaN,
		shown: 'NaN',
	},
	{
		amount: null,
		shown: 'null',
	},
	{
		amount: undefined,
		shown: 'undefined',
	},
	{
		amount: [1],
		shown: '[1]',
	},
])('a wait of $amount is refused', ({ amount, shown }) => {
	expect(refusalOf(() => limitOf(amount, 'minutes'))).toMatchObject({
		field: 'resumeAmount',
		message: `Wait at Most (resumeAmount) must be 0 or more, but is ${shown}`,
		advice: 'Enter how long to wait.',
	});
});

test.each([
	['weeks', '"weeks"'],
	['toString', '"toString"'],
	[undefined, 'undefined'],
	[5, '5'],
])('a wait in %j is refused', (unit, shown) => {
	expect(refusalOf(() => limitOf(1, unit))).toMatchObject({
		field: 'resumeUnit',
		message: `Wait at Most (Unit) (resumeUnit) must be one of seconds, minutes, hours, days, but is ${shown}`,
		advice: 'Choose one from the list.',
	});
});
