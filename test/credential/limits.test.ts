import { InputError } from '../../nodes/Pay/inputError';
import { readLimits } from '../../nodes/Pay/credential/limits';

/** @param unresolved those of the fields that were typed as an expression */
const limitsOf = (fields: object, unresolved = {}) =>
	readLimits({ limitPayments: true, ...fields }, { ...fields, ...unresolved });

test.each<[string, object]>([
	['nothing is said', {}],
	['they are off', { limitPayments: false, highestPayment: 'no amount' }],
])('there are no limits where %s', (_name, fields) => {
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
	['one a line', 'a@example.com\r\nb@example.com', ['a@example.com', 'b@example.com']],
	['blank lines left out', '\n a@example.com \n\n \r', ['a@example.com']],
	[
		'a key type and its key',
		'email  a@example.com',
		['email a@example.com', 'email  a@example.com'],
	],
	['a number', 12345678, ['12345678']],
])('the recipients that may be paid: %s', (_name, onlyRecipients, expected) => {
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
test.each<[string, object, object, string, string, string]>([
	[
		'an amount that is none',
		{ highestPayment: 'much' },
		{},
		'highestPayment',
		'Highest Payment (highestPayment) must be a number, but is "much"',
		'Write digits with an optional decimal point, for example 10.50: no currency sign, no separators, no exponent.',
	],
	[
		'a sum of 0',
		{ highestSum: '0' },
		{},
		'highestSum',
		'Highest Sum per Execution (highestSum) must be above 0, but is "0"',
		'Check the value and where it comes from.',
	],
	[
		'an amount that an expression leaves empty',
		{ highestPayment: '', highestSum: 5 },
		{ highestPayment: '={{ $vars.most }}' },
		'highestPayment',
		'Highest Payment (highestPayment) is missing',
		'Enter a number above 0. If it comes from an expression, check that the input item has the value the expression asks for.',
	],
	[
		'recipients that an expression leaves empty',
		{ onlyRecipients: '' },
		{ onlyRecipients: '={{ $vars.keys }}' },
		'onlyRecipients',
		'Only Recipients (onlyRecipients) holds no key',
		'Enter the keys that may be paid, one a line.',
	],
	[
		'recipients that are blank',
		{ onlyRecipients: ' \n' },
		{},
		'onlyRecipients',
		'Only Recipients (onlyRecipients) holds no key',
		'Enter the keys that may be paid, one a line.',
	],
	[
		'limits of nothing',
		{ highestPayment: '', highestSum: '', onlyRecipients: '' },
		{},
		'limitPayments',
		'Limit Payments (limitPayments) is on without a limit',
		'Enter a limit, or turn it off.',
	],
	[
		'a switch that is neither on nor off',
		{ limitPayments: 'yes', highestPayment: 5 },
		{},
		'limitPayments',
		'Limit Payments (limitPayments) must be on or off',
		'Let the expression give true or false.',
	],
	[
		'a switch that an expression leaves undefined',
		{ limitPayments: undefined },
		{},
		'limitPayments',
		'Limit Payments (limitPayments) must be on or off',
		'Let the expression give true or false.',
	],
])('nothing goes out with %s', (_name, fields, unresolved, field, why, advice) => {
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
