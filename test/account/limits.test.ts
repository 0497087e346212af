import { readLimits } from '../../nodes/Pay/account/account';
import { InputError } from '../../nodes/Pay/base/inputError';

const CANNOT_BE_READ =
	'No money is sent, because a limit in the Pay API credential cannot be read: ';

/** @param unresolved those of the fields that were typed as an expression */
const limitsOf = (fields: object, unresolved = {}) =>
	readLimits({ limitPayments: true, ...fields }, { ...fields, ...unresolved });

test.each<{ name: string; fields: object }>([
	{ name: 'nothing is said', fields: {} },
	{ name: 'they are off', fields: { limitPayments: false, highestPayment: 'no amount' } },
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
	{ name: 'a number', onlyRecipients: 12345678, expected: ['12345678'] },
])('the recipients that may be paid are read: $name', ({ onlyRecipients, expected }) => {
	expect(limitsOf({ onlyRecipients })).toMatchObject({ onlyRecipients: new Set(expected) });
});

test('the members that may vary are paths, one a line, and count only beside Only Recipients', () => {
	const variableMembers = ' creditParty.taxId\r\n\n tags[].name ';
	expect(limitsOf({ onlyRecipients: 'a', variableMembers })).toStrictEqual({
		onlyRecipients: new Set(['a']),
		variableMembers: new Set(['creditParty.taxId', 'tags[].name']),
	});
	expect(limitsOf({ onlyRecipients: 'a', variableMembers: '' })).not.toHaveProperty(
		'variableMembers',
	);
	expect(limitsOf({ highestSum: 5, onlyRecipients: '', variableMembers })).toStrictEqual({
		highestSum: 5,
	});
});

test.each(['a, b', 'a b', '.', 'a.', '$.taxId', '"a.b"', '[0]', '*[0]'])(
	'%j is no path of a member that may vary, so no money goes out',
	(path) => {
		const limits = limitsOf({ onlyRecipients: 'a', variableMembers: `x\n${path}` });
		expect(limits).toBeInstanceOf(InputError);
		expect(limits).toMatchObject({ field: 'variableMembers' });
	},
);

test('where n8n does not say what an expression left empty, an empty limit is none that is known', () => {
	const NOT_KNOWN = {
		message: `${CANNOT_BE_READ}Highest Sum per Execution (highestSum) is empty, and n8n does not say whether an expression caused that`,
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

test.each<{ name: string; fields: object; unresolved: object; field: string }>([
	{
		name: 'an amount that is none',
		fields: { highestPayment: 'much' },
		unresolved: {},
		field: 'highestPayment',
	},
	{ name: 'a sum of 0', fields: { highestSum: '0' }, unresolved: {}, field: 'highestSum' },
	{
		name: 'an amount that an expression leaves empty',
		fields: { highestPayment: '', highestSum: 5 },
		unresolved: { highestPayment: '={{ $vars.most }}' },
		field: 'highestPayment',
	},
	{
		name: 'a switch that is neither on nor off',
		fields: { limitPayments: 'yes', highestPayment: 5 },
		unresolved: {},
		field: 'limitPayments',
	},
	{
		name: 'a switch that an expression leaves undefined',
		fields: { limitPayments: undefined },
		unresolved: {},
		field: 'limitPayments',
	},
	{
		name: 'recipients that an expression leaves empty',
		fields: { onlyRecipients: '' },
		unresolved: { onlyRecipients: '={{ $vars.keys }}' },
		field: 'onlyRecipients',
	},
	{
		name: 'recipients that are blank',
		fields: { onlyRecipients: ' \n' },
		unresolved: {},
		field: 'onlyRecipients',
	},
	{
		name: 'limits of nothing',
		fields: { highestPayment: '', highestSum: '', onlyRecipients: '' },
		unresolved: {},
		field: 'limitPayments',
	},
])('nothing goes out with $name', ({ fields, unresolved, field }) => {
	const limits = limitsOf(fields, unresolved);
	expect(limits).toBeInstanceOf(InputError);
	expect(limits).toMatchObject({ field });
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
