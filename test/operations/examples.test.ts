import type { IDataObject } from 'n8n-workflow';
import { valuesAt } from '../../nodes/Pay/service/contract';
import { refusalOf } from '../refusal';
import { REGISTERED } from '../serviceOperations';

/** A form with other values: those of a collection stand beside its others. */
function withValues(form: IDataObject, values: Readonly<IDataObject>): IDataObject {
	const changed = { ...form };
	for (const [name, value] of Object.entries(values)) {
		const isGroup = typeof value === 'object' && value !== null && !Array.isArray(value);
		changed[name] = isGroup ? { ...(form[name] as object), ...value } : value;
	}
	return changed;
}

describe.each(REGISTERED.map((each) => [each.kind, each] as const))(
	'the examples of a %s',
	(_kind, { operation, readRequest, fullForms, refused }) => {
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

		test.each(fullForms.map((form, way) => [way, form] as const))(
			'are read as they say where their numbers have a comma, in way %i',
			(_way, { typed, sent }) => {
				const written = JSON.stringify(typed).replace(/"(\d+)\.(\d+)"/g, '"$1,$2"');
				const values = JSON.parse(written) as IDataObject;
				values.options = { decimalSign: 'comma' };
				const { postbackUrl: _added, ...body } = sent as Record<string, unknown>;
				expect(readRequest((name) => values[name])).toStrictEqual(body);
			},
		);

		test('of what its members refuse are refused', () => {
			const form = fullForms[0]!.typed;
			for (const { typed, field } of refused) {
				const values = withValues(form, typed);
				expect([typed, refusalOf(() => readRequest((name) => values[name]))?.field]).toStrictEqual([
					typed,
					field,
				]);
			}
		});
	},
);
