import type { INodeProperties } from 'n8n-workflow';
import type { Identifier, Member, MemberTree } from '../service/contract';
import { amountField, parseAmount, readDecimalSign } from './amount';
import type { NamedField } from './label';
import type { ReadParameter } from './parameter';
import { externalIdField, optionalText, parseExternalId, readMembers } from './text';

/** A member of a request body: its fields in the editor, what JSON holds there, how it is read. */
export interface BodyMember<Name extends string = string, Value = unknown> {
	readonly name: Name;
	readonly fields: INodeProperties[];
	readonly type: Member;
	/**
	 * Whether another value makes it another request: then what was accepted before does not stand for it.
	 * False for a text that people let change with each try.
	 */
	readonly identifiesRequest: boolean;
	/** Members of its own that an expression must not leave empty. */
	readonly neverEmpty?: readonly string[];
	/** Reads it, undefined where it is left out; throws an InputError. */
	readonly read: (read: ReadParameter) => Value;
}

type Named<Name extends string> = Pick<INodeProperties, 'displayName' | 'description'> & {
	name: Name;
	placeholder?: string;
};
type Parse<Value> = (value: unknown, field: NamedField) => Value;

/** The field of a text, which is empty at first. */
const textField = (field: Named<string>): INodeProperties => ({
	type: 'string',
	default: '',
	...field,
});

/** A text of a group, with the rule by which it is read. */
export const groupText = <const Name extends string>(
	field: Named<Name>,
	{ parse = optionalText, neverEmpty = false } = {},
) => ({
	name: field.name,
	field: textField(field),
	parse,
	/** Whether an expression must not leave it empty. Other texts are left out where they are empty. */
	neverEmpty,
});

function singleMember<const Name extends string, Value>(
	name: Name,
	field: INodeProperties,
	facts: Pick<BodyMember, 'type' | 'identifiesRequest'>,
	parse: Parse<Value>,
): BodyMember<Name, Value> {
	return {
		name,
		fields: [field],
		type: facts.type,
		identifiesRequest: facts.identifiesRequest,
		read: (read) => parse(read(name), field),
	};
}

/**
 * An object of optional texts (creditParty, payer): a collection in the editor.
 * @param openFields the texts whose fields stand there from the start, each empty
 */
export function groupMember<const Name extends string, const Text extends string>(
	field: Named<Name>,
	{ identifiesRequest }: Pick<BodyMember, 'identifiesRequest'>,
	texts: Array<ReturnType<typeof groupText<Text>>>,
	openFields: INodeProperties['default'] = {},
): BodyMember<Name, Partial<Record<Text, string>> | undefined> {
	// n8n lists the fields of a collection by their names; a body has them as the document does.
	const options = texts
		.map((each) => each.field)
		.sort((a, b) => (a.displayName < b.displayName ? -1 : 1));
	const collection = {
		type: 'collection',
		placeholder: 'Add Field',
		default: openFields,
		options,
	} as const;
	const type = Object.fromEntries(texts.map(({ name }) => [name, 'string' as const]));
	const neverEmpty = texts.filter((each) => each.neverEmpty).map(({ name }) => name);
	return {
		...singleMember(field.name, { ...collection, ...field }, { type, identifiesRequest }, (value) =>
			readMembers(value, field, texts),
		),
		neverEmpty,
	};
}

/** A text that a body may hold. */
export const textMember = <const Name extends string>(
	field: Named<Name>,
	{
		identifiesRequest,
		parse = optionalText,
	}: Pick<BodyMember, 'identifiesRequest'> & { parse?: typeof optionalText },
) => singleMember(field.name, textField(field), { type: 'string', identifiesRequest }, parse);

/** Members that both bodies have (sections 2.1 and 2.2). */
export const amount: BodyMember<'amount', number> = {
	name: 'amount',
	fields: [amountField],
	type: 'number',
	identifiesRequest: true,
	read: (read) => parseAmount(read('amount'), amountField, { decimalSign: readDecimalSign(read) }),
};
/**
 * As {@link amount}. An operation's own External ID does not tell which request it is, since people let it
 * change with each try. The External ID of something else does.
 */
export const externalId = (identifier: Identifier) =>
	singleMember(
		'external_id',
		externalIdField(identifier),
		{ type: 'string', identifiesRequest: identifier !== 'its own' },
		(value) => parseExternalId(value, identifier),
	);
/** As {@link amount}; the placeholder is an example of the operation's own. */
export const payerQuestion = (placeholder: string) =>
	textMember(
		{
			displayName: 'Description',
			name: 'payerQuestion',
			placeholder,
			description:
				'Text shown with the transaction (payerQuestion of the API). Left out when empty.',
		},
		{ identifiesRequest: false },
	);

/** What a form is made of: members of the body, and fields that are none. */
export type FormPart = BodyMember | INodeProperties;

const isBodyMember = (part: FormPart): part is BodyMember => 'fields' in part;

/** What the form of such a body is made of: no member that the body lacks. */
export type FormOf<Body extends object> = ReadonlyArray<
	BodyMember<keyof Body & string> | INodeProperties
>;

/** The body of a form. */
type BodyOf<Form extends readonly FormPart[]> = {
	[Part in Extract<Form[number], BodyMember> as Part['name']]: ReturnType<Part['read']>;
};

/** What a body of this form may hold. */
export function treeOf(form: readonly FormPart[]): MemberTree {
	const tree: Record<string, Member> = {};
	for (const { name, type } of form.filter(isBodyMember)) tree[name] = type;
	return tree;
}

/** The members of a form that may change while it stays the same request. */
export function notIdentifyingIn(form: readonly FormPart[]): string[] {
	return form
		.filter(isBodyMember)
		.filter(({ identifiesRequest }) => !identifiesRequest)
		.map(({ name }) => name);
}

/** The paths of the texts in a form that an expression must not leave empty. */
export function neverEmptyIn(form: readonly FormPart[]): string[] {
	const paths: string[] = [];
	for (const { name, neverEmpty = [] } of form.filter(isBodyMember)) {
		for (const inside of neverEmpty) paths.push(`${name}.${inside}`);
	}
	return paths;
}

/** The fields of a form, in their order. */
export function fieldsOf(form: readonly FormPart[]): INodeProperties[] {
	return form.flatMap((part) => (isBodyMember(part) ? part.fields : [part]));
}

/** Reads every member of a form; throws an InputError. Objects and lists last: errors name simple fields first. */
export function bodyOf<Form extends readonly FormPart[]>(
	form: Form,
	read: ReadParameter,
): BodyOf<Form> {
	const members = form.filter(isBodyMember);
	const single = members.filter(({ type }) => typeof type === 'string');
	const composed = members.filter(({ type }) => typeof type !== 'string');
	const body: Record<string, unknown> = {};
	for (const member of [...single, ...composed]) body[member.name] = member.read(read);
	return body as BodyOf<Form>;
}
