import { InputError } from '../../nodes/Pay/inputError';
import { readAcceptance } from '../../nodes/Pay/parameters/acceptance';

test.each([
	[undefined, undefined],
	['', []],
	[null, null],
	['  ', ['', ' ']],
])('%j with %j: every 2xx is an acceptance', (field, values) => {
	expect(readAcceptance(field, values)).toBeUndefined();
});

test.each([
	['success', ['true'], ['true']],
	[' success ', [' true '], ['true']],
	['data.code', [0, '1', ''], ['0', '1']],
	['ok', true, ['true']],
	['ok', 'yes', ['yes']],
])('%j with %j is taken', (field, values, texts) => {
	expect(readAcceptance(field, values)).toStrictEqual({ field: field.trim(), values: texts });
});

test.each<[unknown, unknown, string]>([
	['success', [], 'acceptedValues'],
	['success', undefined, 'acceptedValues'],
	['success', [' '], 'acceptedValues'],
	['success', [null], 'acceptedValues'],
	['success', ['true', undefined], 'acceptedValues'],
	['success', [{ true: true }], 'acceptedValues'],
	['success', { value: 'true' }, 'acceptedValues'],
	['', ['true'], 'acceptedField'],
	[undefined, ['true'], 'acceptedField'],
	[' ', 'true', 'acceptedField'],
	[{}, ['true'], 'acceptedField'],
	[5, ['true'], 'acceptedField'],
])('%j with %j is refused, and %s named', (field, values, named) => {
	const label = named === 'acceptedField' ? 'Accepted When Field' : 'Accepted When Values';
	expect(() => readAcceptance(field, values)).toThrow(InputError);
	expect(() => readAcceptance(field, values)).toThrow(new RegExp(`^${label}`));
});
