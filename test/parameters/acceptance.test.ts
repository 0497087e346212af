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

test.each<[unknown, unknown]>([
	['success', []],
	['success', undefined],
	['success', [' ']],
	['success', [null]],
	['success', [{ true: true }]],
	['success', ['true', { true: true }]],
	['success', { value: 'true' }],
	['', ['true']],
	[undefined, ['true']],
	[' ', 'true'],
	[{}, ['true']],
	[5, ['true']],
])('%j with %j is refused, and the field named', (field, values) => {
	const read = () => readAcceptance(field, values);
	expect(read).toThrow(InputError);
	expect(read).toThrow(/^Accepted When Field \(acceptedField\) and its values must both be there/);
	expect(read).toThrow(expect.objectContaining({ field: 'acceptedField' }));
});
