import type { IDataObject, INodeProperties } from 'n8n-workflow';
import { refusalOf } from '../refusal';
import { READ_REQUEST, REGISTERED } from '../serviceOperations';

/** A form with other values: those of a collection stand beside its others. */
function withValues(form: IDataObject, values: Readonly<IDataObject>): IDataObject {
	const changed = { ...form };
	for (const [name, value] of Object.entries(values)) {
		const isGroup = typeof value === 'object' && value !== null && !Array.isArray(value);
		changed[name] = isGroup ? { ...(form[name] as object), ...value } : value;
	}
	return changed;
}

/** Where the single values of an object stand: amount, payer.name, split[].username … */
function pathsIn(value: unknown, path = ''): string[] {
	if (Array.isArray(value)) return value.flatMap((entry) => pathsIn(entry, `${path}[]`));
	if (typeof value !== 'object' || value === null) return [path];
	return Object.entries(value).flatMap(([name, below]) =>
		pathsIn(below, path === '' ? name : `${path}.${name}`),
	);
}

/** Where the values of fields stand, as {@link pathsIn} has them. */
function pathsOfFields(fields: INodeProperties[], path = ''): string[] {
	return fields.flatMap((field) => {
		const at = path + field.name;
		// Another field has the same name, and shows what is typed there.
		if (field.type === 'hidden') return [];
		return (field.options ?? [])
			.flatMap((option) => {
				if ('values' in option) return pathsOfFields(option.values, `${at}.${option.name}[].`);
				return 'type' in option ? pathsOfFields([option], `${at}.`) : [at];
			})
			.concat(field.options === undefined ? [at] : []);
	});
}

describe.each(REGISTERED.map((each) => [each.kind, each] as const))(
	'the examples of a %s',
	(kind, { operation, description, fullForms, besideBody, refused }) => {
		const readRequest = READ_REQUEST[kind];

		test.each(fullForms.map((form, way) => [way, form] as const))(
			'are read as they say, in way %i of typing them',
			(_way, { typed, sent }) => {
				// The run adds it, since it depends on the account.
				const { postbackUrl: _added, ...body } = sent as Record<string, unknown>;
				expect(readRequest((name) => typed[name])).toStrictEqual(body);
			},
		);

		test('hold every value that has a meaning, and no other', () => {
			const paths = new Set(fullForms.flatMap(({ sent }) => pathsIn(sent)));
			expect([...paths].sort()).toStrictEqual(Object.keys(operation.meanings).sort());
		});

		test('fill in every field of its form, but for those that are no part of the body', () => {
			const filledIn = new Set(fullForms.flatMap(({ typed }) => pathsIn(typed)));
			const fields = description.filter(({ name }) => name !== 'options');
			const paths = pathsOfFields(fields).filter((path) => !besideBody.includes(path));
			expect([...filledIn].sort()).toStrictEqual([...new Set(paths)].sort());
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
