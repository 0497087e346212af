import { refuseWrongTime } from '../../nodes/Pay/operations/trigger';
import { refuseWrongResponse } from '../../nodes/Pay/postback/respond';
import { refusalOf } from '../refusal';

describe('the response to postbacks', () => {
	test.each([
		{ options: undefined },
		{ options: {} },
		{ options: { respond: 'lastNode' } },
		{ options: { responseCode: 200 } },
		{ options: { responseCode: 299 } },
		{ options: { responseCode: '204' } },
	])('$options can be given', ({ options }) => {
		expect(refusalOf(() => refuseWrongResponse(options))).toBeUndefined();
		expect(refusalOf(() => refuseWrongTime(options))).toBeUndefined();
	});

	test.each([199, 300, 204.5, 'abc', 500])(
		'the code %s is refused: the service repeats',
		(code) => {
			const shown = typeof code === 'string' ? `"${code}"` : String(code);
			expect(refusalOf(() => refuseWrongResponse({ responseCode: code }))?.message).toBe(
				`Response Code (responseCode) must be a whole number from 200 to 299, but is ${shown}`,
			);
		},
	);

	test('an expression as the body is refused by name', () => {
		const typed = { responseBody: '={{ $json.id }}' };
		expect(refusalOf(() => refuseWrongResponse(typed, { responseBody: '7' }))?.message).toBe(
			'Response Body (responseBody) is an expression, and there is no item yet that it could read',
		);
	});

	test('a time to respond that the list does not have is refused', () => {
		expect(refusalOf(() => refuseWrongTime({ respond: 'never' }))).toBeDefined();
	});
});
