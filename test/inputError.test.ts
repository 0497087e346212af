import { asError, InputError, inWords } from '../nodes/Pay/base/inputError';

test('an input that is refused has its field, what is wrong and what to do', () => {
	const error = new InputError('amount', 'Amount is missing', 'Enter a number.');
	expect(error).toBeInstanceOf(Error);
	expect(error).toMatchObject({
		name: 'InputError',
		field: 'amount',
		message: 'Amount is missing',
		advice: 'Enter a number.',
	});
});

test.each<{ name: string; error: unknown; expected: string }>([
	{
		name: 'an input that is refused',
		error: new InputError('amount', 'Amount is missing', 'Enter a number.'),
		expected: 'Amount is missing. Enter a number.',
	},
	{ name: 'any other error', error: new TypeError('no such member'), expected: 'no such member' },
	{ name: 'a text', error: 'it failed', expected: 'it failed' },
	{ name: 'nothing', error: undefined, expected: 'undefined' },
])('$name in one text', ({ error, expected }) => {
	expect(inWords(error)).toBe(expected);
});

test('an error stays itself, and what is none becomes one', () => {
	const error = new TypeError('no such member');
	expect(asError(error)).toBe(error);
	expect(asError(7)).toStrictEqual(new Error('7'));
});
