import { isBodyLeft, LEAVE_BODY, leaveBodyOption } from '../../nodes/Pay/fields/options';

test.each<{ options: unknown; expected: boolean }>([
	{ options: LEAVE_BODY, expected: true },
	{ options: { binaryData: false }, expected: false },
	{ options: { binaryData: 'true' }, expected: false },
	{ options: {}, expected: false },
	{ options: undefined, expected: false },
])('the body is left to a node with the options $options: $expected', ({ options, expected }) => {
	expect(isBodyLeft(options)).toBe(expected);
});

test('the option is hidden, and on unless a workflow says otherwise', () => {
	expect(leaveBodyOption).toMatchObject({ name: 'binaryData', type: 'hidden', default: true });
});
