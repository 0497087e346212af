import { InputError } from '../../nodes/Pay/inputError';
import { readLimits } from '../../nodes/Pay/credential/limits';

/** @param unresolved those of the fields that were typed as an expression */
const limitsOf = (fields: object, unresolved = {}) =>
	readLimits({ limitPayments: true, ...fields }, { ...fields, ...unresolved });

test.each<{ name: string; fields: object }>([
	{
		name: 'nothing is said',
		fields: {},
	},
	{
		name: 'they are off',
		fields: { limitPayments: false, highestPayment: 'no amount' },
	},
])('there are no limits where $name', ({ fields }) => {
	expect(readLimits({ highestSum: 'no amount', ...fields }, undefined)).toStrictEqual({});
});

test('limits are read, and each may be left empty', () => {
	expect(limitsOf({ highestPayment: '49.90', highestSum: '', onlyRecipients: '' })).toStrictEqual({
		highestPayment: 49.9,
	});
	expect(limitsOf({ highestSum: 100 })).toStrictEqual({ highestSum: 100 });
	expect(limitsOf({ onlyRecipients: 'a@example.com' })).toStrictEqual({
		onlyRecipients: new Set(['a@example.com']),
	});
});

test.each([
	{
		name: 'one a line',
		onlyRecipients: 'a@example.com\r\nb@example.com',
		expected: ['a@example.com', 'b@example.com'],
	},
	{
		name: 'blank lines left out',
		onlyRecipients: '\n a@example.com \n\n \r',
		expected: ['a@example.com'],
	},
	{
		name: 'a key type and its key',
		onlyRecipients: 'email  a@example.com',
		expected: ['email a@example.com', 'email  a@example.com'],
	},
	{
		name: 'a number',
		onlyRecipients: 12345678,
		expected: ['12345678'],
	},
])('the recipients that may be paid: $name', ({ onlyRecipients, expected }) => {
	expect(limitsOf({ onlyRecipients })).toMatchObject({ onlyRecipients: new Set(expected) });
});

test('where n8n does not say what an expression left empty, an empty limit is none that is known', () => {
	const NOT_KNOWN = {
		message:
			'No money goes out, because a limit of the Pay API credential cannot be read: Highest Sum per Execution (highestSum) is empty, and n8n does not say whether an expression left it so',
		advice:
			'Run again. If that does not help, enter all three limits, or turn Limit Payments off and put the limits elsewhere.',
	};
	const on = { limitPayments: true, highestPayment: '5', onlyRecipients: 'a@example.com' };
	expect(readLimits({ ...on, highestSum: '' }, undefined)).toMatchObject(NOT_KNOWN);
	expect(readLimits({ ...on, highestSum: '10' }, undefined)).toMatchObject({ highestSum: 10 });
	expect(readLimits({ ...on, highestSum: '' }, on)).toMatchObject(NOT_KNOWN);
	expect(readLimits({ ...on, highestSum: '' }, { ...on, highestSum: '' })).toStrictEqual({
		highestPayment: 5,
		onlyRecipients: new Set(['a@example.com']),
	});
	expect(readLimits({ limitPayments: false, highestSum: '' }, undefined)).toStrictEqual({});
});

const CANNOT_BE_READ =
	'No money goes out, because a limit of the Pay API credential cannot be read: ';
test.each<{
	name: string;
	fields: object;
	unresolved: object;
	field: string;
	why: string;
	advice: string;
}>([
	{
		name: 'an amount that is none',
		fields: { highestPayment: 'much' },
		unresolved: {},
		field: 'highestPayment',
		why: 'Highest Payment (highestPayment) must be a number, but is "much"',
		advice:
			'Write digits with an optional decimal point, for example 10.50: no currency sign, no separators, no exponent.',
	},
	{
		name: 'a sum of 0',
		fields: { highestSum: '0' },
		unresolved: {},
		field: 'highestSum',
		why: 'Highest Sum per Execution (highestSum) must be above 0, but is "0"',
		advice: 'Check the value and where it comes from.',
	},
	{
		name: 'an amount that an expression leaves empty',
		fields: { highestPayment: '', highestSum: 5 },
		unresolved: { highestPayment: '={{ $vars.most }}' },
		field: 'highestPayment',
		why: 'Highest Payment (highestPayment) is missing',
		advice:
			'Enter a number above 0. If it comes from an expression, check that the input item has the value the expression asks for.',
	},
	{
		name: 'recipients that an expression leaves empty',
		fields: { onlyRecipients: '' },
		unresolved: { onlyRecipients: '={{ $vars.keys }}' },
		field: 'onlyRecipients',
		why: 'Only Recipients (onlyRecipients) holds no key',
		advice: 'Enter the keys that may be paid, one a line.',
	},
	{
		name: 'recipients that are blank',
		fields: { onlyRecipients: ' \n' },
		unresolved: {},
		field: 'onlyRecipients',
		why: 'Only Recipients (onlyRecipients) holds no key',
		advice: 'Enter the keys that may be paid, one a line.',
	},
	{
		name: 'limits of nothing',
		fields: { highestPayment: '', highestSum: '', onlyRecipients: '' },
		unresolved: {},
		field: 'limitPayments',
		why: 'Limit Payments (limitPayments) is on without a limit',
		advice: 'Enter a limit, or turn it off.',
	},
	{
		name: 'a switch that is neither on nor off',
		fields: { limitPayments: 'yes', highestPayment: 5 },
		unresolved: {},
		field: 'limitPayments',
		why: 'Limit Payments (limitPayments) must be true or false, but is text',
		advice: 'Turn it on or off. An expression in it must give true or false.',
	},
	{
		name: 'a switch that an expression leaves undefined',
		fields: { limitPayments: undefined },
		unresolved: {},
		field: 'limitPayments',
		why: 'Limit Payments (limitPayments) must be true or false, but is undefined',
		advice: 'Turn it on or off. An expression in it must give true or false.',
	},
])('nothing goes out with $name', ({ fields, unresolved, field, why, advice }) => {
	const limits = limitsOf(fields, unresolved);
	expect(limits).toBeInstanceOf(InputError);
	expect(limits).toMatchObject({ field, message: CANNOT_BE_READ + why, advice });
});

test('nothing goes out where a limit cannot be read for another reason', () => {
	const broken = {
		limitPayments: true,
		get highestPayment(): unknown {
			throw new TypeError('it broke');
		},
	};
	expect(readLimits(broken, undefined)).toMatchObject({
		field: 'limitPayments',
		message: `${CANNOT_BE_READ}it broke`,
		advice: '',
	});
});
