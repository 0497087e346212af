import { asError, InputError, inWords } from '../nodes/Pay/inputError';

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

test.each<[string, unknown, string]>([
	[
		'an input that is refused',
		new InputError('amount', 'Amount is missing', 'Enter a number.'),
		'Amount is missing. Enter a number.',
	],
	['any other error', new TypeError('no such member'), 'no such member'],
	['a text', 'it failed', 'it failed'],
	['nothing', undefined, 'undefined'],
])('%s in one text', (_name, error, expected) => {
	expect(inWords(error)).toBe(expected);
});

test('an error stays itself, and what is none becomes one', () => {
	const error = new TypeError('no such member');
	expect(asError(error)).toBe(error);
	expect(asError(7)).toStrictEqual(new Error('7'));
});
