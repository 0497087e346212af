import { isBodyLeft, LEAVE_BODY, leaveBodyOption } from '../../nodes/Pay/parameters/leaveBody';

test.each<[unknown, boolean]>([
	[LEAVE_BODY, true],
	[{ binaryData: false }, false],
	[{ binaryData: 'true' }, false],
	[{}, false],
	[undefined, false],
])('the body is left to a node with the options %j: %p', (options, expected) => {
	expect(isBodyLeft(options)).toBe(expected);
});

test('the option is hidden, and on unless a workflow says otherwise', () => {
	expect(leaveBodyOption).toMatchObject({ name: 'binaryData', type: 'hidden', default: true });
});
