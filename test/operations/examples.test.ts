import { valuesAt } from '../../nodes/Pay/service/contract';
import { REGISTERED } from '../serviceOperations';

describe.each(REGISTERED.map((each) => [each.operation.kind, each] as const))(
	'the examples of a %s',
	(_kind, { operation, readRequest, fullForms }) => {
		test.each(fullForms.map((form, way) => [way, form] as const))(
			'are read as they say, in way %i of typing them',
			(_way, { typed, sent }) => {
				// The run adds it, since it depends on the account.
				const { postbackUrl: _added, ...body } = sent as Record<string, unknown>;
				expect(readRequest((name) => typed[name])).toStrictEqual(body);
			},
		);

		test('hold every value that its form can set, each of its type', () => {
			for (const { path, type } of operation.leaves) {
				const values = fullForms.flatMap(({ sent }) => valuesAt(sent, path));
				expect([path, ...new Set(values.map((value) => typeof value))]).toStrictEqual([path, type]);
			}
		});
	},
);
