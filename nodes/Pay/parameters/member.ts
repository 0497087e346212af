import type { IDataObject, INodeProperties } from 'n8n-workflow';
import type { Leaf, Meaning, MemberTree } from '../service/contract';
import { amountField, parseAmount, readDecimalSign } from './amount';
import type { NamedField } from './label';
import type { ReadParameter } from './parameter';
import { externalIdField, optionalText, OWN_ID, parseExternalId, readMembers } from './text';

/** One way of typing a value, and what is sent then. Tests, previews and documents are made of these. */
export interface Example<Typed = unknown> {
	readonly typed: Typed;
	readonly sent: unknown;
}

/** One for each way of typing it. */
type Examples<Typed = unknown> = readonly [Example<Typed>, ...Array<Example<Typed>>];

/** A member of a request body: its fields in the editor, what JSON holds there, how it is read. */
export interface BodyMember<Name extends string = string, Value = unknown> {
	readonly name: Name;
	readonly fields: INodeProperties[];
	/** The single values in it, and what each means. */
	readonly leaves: readonly Leaf[];
	/** What is typed in its fields, by their names. */
	readonly examples: Examples<Readonly<IDataObject>>;
	/** What is refused when it is typed in its fields, and the path that the error names. */
	readonly refused?: ReadonlyArray<{ typed: Readonly<IDataObject>; field: string }>;
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

/** What a text says of itself. */
type TextFacts = {
	means: Meaning;
	examples: Examples<string>;
} & (TextOfRule | { parse?: undefined; refused?: undefined });

/** A text that not any text will do for. */
interface TextOfRule {
	parse: typeof optionalText;
	/** Examples of what the rule refuses: without them nothing would notice that the rule is gone. */
	refused: readonly [string, ...string[]];
}

/** A text of a group, with the rule by which it is read. */
export const groupText = <const Name extends string>(
	field: Named<Name>,
	{
		means,
		examples,
		parse = optionalText,
		refused,
		neverEmpty = false,
	}: TextFacts & { neverEmpty?: boolean },
) => ({
	name: field.name,
	field: textField(field),
	means,
	examples,
	parse,
	refused: refused ?? [],
	/** Whether an expression must not leave it empty. Other texts are left out where they are empty. */
	neverEmpty,
});

/** A member that is one text, in one field. */
function singleText<const Name extends string, Value>(
	name: Name,
	field: INodeProperties,
	{ means, examples }: Pick<TextFacts, 'means' | 'examples'>,
	parse: Parse<Value>,
): BodyMember<Name, Value> {
	const inField = ({ typed, sent }: Example): Example<IDataObject> => ({
		typed: { [name]: typed as string },
		sent,
	});
	const [first, ...others] = examples;
	return {
		name,
		fields: [field],
		leaves: [{ path: name, type: 'string', means }],
		examples: [inField(first), ...others.map(inField)],
		read: (read) => parse(read(name), field),
	};
}

/** The example of a group: each of its texts as in its own first example. */
function exampleOf(name: string, texts: ReadonlyArray<ReturnType<typeof groupText>>) {
	const typed: IDataObject = {};
	const sent: IDataObject = {};
	for (const text of texts) {
		const [example] = text.examples;
		typed[text.name] = example.typed;
		sent[text.name] = example.sent as string;
	}
	return { typed: { [name]: typed }, sent };
}

/**
 * An object of optional texts (creditParty, payer): a collection in the editor.
 * @param openFields the texts whose fields stand there from the start, each empty
 */
export function groupMember<const Name extends string, const Text extends string>(
	field: Named<Name>,
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
	const { name } = field;
	return {
		name,
		fields: [{ ...collection, ...field }],
		leaves: texts.map((text) => ({
			path: `${name}.${text.name}`,
			type: 'string',
			means: text.means,
		})),
		examples: [exampleOf(name, texts)],
		refused: texts.flatMap((text) =>
			text.refused.map((typed) => ({
				typed: { [name]: { [text.name]: typed } },
				field: `${name}.${text.name}`,
			})),
		),
		neverEmpty: texts.filter((each) => each.neverEmpty).map((each) => each.name),
		read: (read) => readMembers(read(name), field, texts),
	};
}

/** A text that a body may hold. */
export const textMember = <const Name extends string>(
	field: Named<Name>,
	{ parse = optionalText, refused, ...facts }: TextFacts,
): BodyMember<Name, string | undefined> => ({
	...singleText(field.name, textField(field), facts, parse),
	refused: refused?.map((typed) => ({ typed: { [field.name]: typed }, field: field.name })),
});

/** Members that both bodies have (sections 2.1 and 2.2). */
export const amount: BodyMember<'amount', number> = {
	name: 'amount',
	fields: [amountField],
	leaves: [{ path: 'amount', type: 'number', means: 'amount' }],
	examples: [{ typed: { amount: '12.50' }, sent: 12.5 }],
	read: (read) => parseAmount(read('amount'), amountField, { decimalSign: readDecimalSign(read) }),
};
/** As {@link amount}. It does not tell which request it is, since people let it change with each try. */
export const externalId = singleText(
	'external_id',
	externalIdField,
	{ means: 'control', examples: [{ typed: 'order-1', sent: 'order-1' }] },
	(value) => parseExternalId(value, OWN_ID),
);
/** As {@link amount}; the example is the operation's own. */
export const payerQuestion = (example: string) =>
	textMember(
		{
			displayName: 'Description',
			name: 'payerQuestion',
			placeholder: `e.g. ${example}`,
			description:
				'Text shown with the transaction (payerQuestion of the API). Left out when empty.',
		},
		{ means: 'text', examples: [{ typed: example, sent: example }] },
	);

/** What a form is made of: members of the body, and fields that are none. */
export type FormPart = BodyMember | INodeProperties;

const isBodyMember = (part: FormPart): part is BodyMember => 'fields' in part;

/** The body of a form. */
export type BodyOf<Form extends readonly FormPart[]> = {
	[Part in Extract<Form[number], BodyMember> as Part['name']]: ReturnType<Part['read']>;
};

/** A {@link MemberTree} that is being made. */
interface MutableTree {
	[name: string]: Leaf['type'] | MutableTree | [MutableTree];
}

/** The members inside of one, which a step of a path names; it is made where it is not there. */
function levelAt(tree: MutableTree, step: string): MutableTree {
	const name = step.replace('[]', '');
	const found = tree[name];
	if (typeof found === 'object') return Array.isArray(found) ? found[0] : found;
	const made: MutableTree = {};
	tree[name] = step.endsWith('[]') ? [made] : made;
	return made;
}

/** What a body of this form may hold. */
export function treeOf(form: readonly FormPart[]): MemberTree {
	const tree: MutableTree = {};
	for (const { path, type } of leavesOf(form)) {
		const steps = path.split('.');
		const last = steps.pop() ?? '';
		let level = tree;
		for (const step of steps) level = levelAt(level, step);
		level[last] = type;
	}
	return tree;
}

/** The single values that a body of this form may hold. */
export function leavesOf(form: readonly FormPart[]): Leaf[] {
	return form.filter(isBodyMember).flatMap(({ leaves }) => leaves);
}

/** The paths of the texts in a form that an expression must not leave empty. */
export function neverEmptyIn(form: readonly FormPart[]): string[] {
	const paths: string[] = [];
	for (const { name, neverEmpty = [] } of form.filter(isBodyMember)) {
		for (const inside of neverEmpty) paths.push(`${name}.${inside}`);
	}
	return paths;
}

/**
 * Forms with every member filled in, as their examples have it: one for each way of typing some of them.
 * Without what the form does not put into the body.
 */
export function fullFormsOf(form: readonly FormPart[]): Array<Example<IDataObject>> {
	const members = form.filter(isBodyMember);
	const ways = Math.max(...members.map(({ examples }) => examples.length));
	return Array.from({ length: ways }, (_, way) => {
		const typed: IDataObject = {};
		const sent: Record<string, unknown> = {};
		for (const { name, examples } of members) {
			const example = examples[way] ?? examples[0];
			Object.assign(typed, example.typed);
			sent[name] = example.sent;
		}
		return { typed, sent };
	});
}

/** What members of a form refuse, and the paths that the errors name. */
export function refusedIn(form: readonly FormPart[]) {
	return form.filter(isBodyMember).flatMap(({ refused = [] }) => refused);
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
	const isSingle = ({ name, leaves }: BodyMember) => leaves.every(({ path }) => path === name);
	const single = members.filter(isSingle);
	const composed = members.filter((member) => !isSingle(member));
	const body: Record<string, unknown> = {};
	for (const member of [...single, ...composed]) body[member.name] = member.read(read);
	return body as BodyOf<Form>;
}
