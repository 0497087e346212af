import type { INodeProperties } from 'n8n-workflow';

/** Every field that a person can set, with those inside collections. */
export const fieldsIn = (fields: INodeProperties[]): INodeProperties[] =>
	fields.flatMap((field) => {
		const inner = (field.options ?? []).flatMap((option) =>
			'values' in option ? option.values : 'type' in option ? [option] : [],
		);
		return [field, ...fieldsIn(inner)];
	});
