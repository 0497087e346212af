import { isBodyUnread, BODY_UNREAD, bodyUnreadOption } from '../../nodes/Pay/fields/options';

test.each<{ options: unknown; expected: boolean }>([
	{ options: BODY_UNREAD, expected: true },
	{ options: { binaryData: false }, expected: false },
	{ options: { binaryData: 'true' }, expected: false },
	{ options: {}, expected: false },
	{ options: undefined, expected: false },
])('the body is left to a node with the options $options: $expected', ({ options, expected }) => {
	expect(isBodyUnread(options)).toBe(expected);
});

test('the option is hidden, and on unless a workflow says otherwise', () => {
	expect(bodyUnreadOption).toMatchObject({ name: 'binaryData', type: 'hidden', default: true });
});
